# SPDX-License-Identifier: BSD-3-Clause
# Makes captions: the source, the site, n, differences from the study, and warnings.

#' The caption of an exhibit.
#'
#' @param exhibit what [exhibit_data()] returned.
#' @param what sentences that describe the drawing.
#' @param n launches behind each point.
#' @noRd
caption_of_exhibit <- function(exhibit, what, n) {
  columns <- intersect(c(
    "key", "site", "test", "transport", "hosts", "cpu_model", "simulated", "observed_cpus",
    "observed_hosts"
  ), names(exhibit$summary))
  launches <- unique(exhibit$summary[, columns, with = FALSE], by = "key")
  warnings <- c(shared_cores(launches), crowded_threads(exhibit$summary), launches$simulated)
  caption_of(
    paste(c(what, origin_of(exhibit, launches), exhibit$spec$differs), collapse = " "), n, warnings
  )
}

origin_of <- function(exhibit, launches) {
  published <- exhibit$spec$study != "cotejo"
  cpus <- distinct(launches$cpu_model[ground_of(launches$simulated) != "simulated"])
  c(
    if (published) {
      sprintf("Same comparison as %s.", printed_exhibit(exhibit$spec$study, exhibit$spec$exhibit))
    },
    sprintf("Test %s.", toString(distinct(launches$test))),
    if (length(cpus) > 1L) {
      sprintf("Measured on several CPUs, whose times are not to be compared: %s.", toString(cpus))
    },
    if (any(launches$transport == "tcp" & launches$hosts == 1L)) {
      "TCP stays within one host: no network is in it."
    },
    if (isTRUE(exhibit$spec$circular) && all(ground_of(launches$simulated) == "simulated")) {
      "Circular: the simulated machine was fitted to values that the study printed here."
    }
  )
}

# A warning if ranks have to share a processor, in words; otherwise nothing.
shared_cores <- function(launches) {
  ranks <- strsplit(launches$observed_cpus, "|", fixed = TRUE)
  hosts <- strsplit(launches$observed_hosts, "|", fixed = TRUE)
  crowded <- mapply(function(cpus, host) {
    single <- grepl("^[0-9]+$", cpus)
    anyDuplicated(paste(host, cpus)[single]) > 0L
  }, ranks, hosts)
  if (any(crowded)) "ranks share processors"
}

#' A warning if threads have to share the cores of their rank, in words; otherwise nothing.
#'
#' @param summary launch summaries. Tests with threads have the columns `threads` and
#'   `thread_cores` (cores available to the rank with the fewest).
#' @noRd
crowded_threads <- function(summary) {
  if (!all(c("threads", "thread_cores") %in% names(summary))) {
    return(NULL)
  }
  threads <- as.numeric(summary$threads)
  cores <- as.numeric(summary$thread_cores)
  crowded <- which(threads > cores)
  if (length(crowded)) {
    sprintf(
      "from %g threads on they take turns on the %s of their rank", min(threads[crowded]),
      if (max(cores[crowded]) == 1) "one core" else sprintf("%g cores", max(cores[crowded]))
    )
  }
}

# How a time or a rate is shown: columns of points and of medians, factor, axis title.
unit_with <- function(factor, axis, columns = c("median_s", "low_s", "high_s"), rate = FALSE) {
  if (length(columns) == 1L) columns <- paste0(columns, c("", "_low", "_high"))
  list(columns = columns, factor = factor, axis = axis, rate = rate)
}
UNITS <- list(
  ns = unit_with(1e9, "time (ns)"), us = unit_with(1e6, "time (\u00b5s)"),
  ms = unit_with(1e3, "time (ms)"),
  "MB/s" = unit_with(1e-6, "bandwidth (MB/s)", "bytes_per_s"),
  "Mbit/s" = unit_with(8e-6, "bandwidth (Mbit/s)", "bytes_per_s"),
  "%" = unit_with(100, "hidden share (%)", "share"),
  # In the time of an operation each pair of ranks, or of their threads, moves one message.
  "messages/s" = unit_with(
    1e-6, "rate of all pairs (million messages/s)", c("median_s", "high_s", "low_s"), TRUE
  ),
  # For measures other than the time.
  KiB = unit_with(1 / 1024, "memory (KiB)", "value")
)

unit_of <- function(exhibit) {
  name <- argument(exhibit, "unit", "us")
  unit <- UNITS[[name]]
  if (is.null(unit)) {
    refuse(sprintf(
      "%s: no unit %s; there are %s", exhibit$spec$name, name, toString(names(UNITS))
    ))
  }
  unit
}

# Add the columns `y`, `y_low`, `y_high` in a unit to a table; points have no interval.
add_values <- function(table, unit) {
  columns <- intersect(unit$columns, names(table))
  threads <- if ("threads" %in% names(table)) fcoalesce(as.numeric(table$threads), 1) else 1
  for (i in seq_along(columns)) {
    value <- table[[columns[[i]]]]
    if (isTRUE(unit$rate)) value <- as.numeric(table$ranks) / 2 * threads / value
    set(table, j = c("y", "y_low", "y_high")[[i]], value = value * unit$factor)
  }
  table[]
}

# A published exhibit in words, such as "figure 4.1 of Stival (2006)"; an exhibit without a number
# is part of the text.
printed_exhibit <- function(study, exhibit) {
  kinds <- c(fig = "figure", tab = "table")
  kind <- sub("-.*", "", exhibit)
  of <- if (study %in% names(SHORT_STUDIES)) SHORT_STUDIES[[study]] else study
  if (kind %in% names(kinds)) {
    paste(kinds[[kind]], sub("^[a-z]+-", "", exhibit), "of", of)
  } else {
    paste("the measurements of", of)
  }
}

# The studies as captions name them, in ASCII for every locale.
SHORT_STUDIES <- c(
  stival = "Stival (2006)", watter = "Watter (2006)", mpiperf = "Kurnosov (2012)",
  finisterrae = "the Finis Terrae study (2009)", tinetti = "Tinetti and Barbieri"
)
