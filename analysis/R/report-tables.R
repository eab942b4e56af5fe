# SPDX-License-Identifier: BSD-3-Clause
# Tables for readers: data.tables of texts, and their HTML.

#' Medians of configurations in a row a size, a column an MPI.
#'
#' @param medians what [summarise_configurations()] returned.
#' @return data.table of texts: site, experiment, operation, transport, placement, settings,
#'   size, and for each MPI `median [95 % interval]` in microseconds and `n`.
#' @export
table_medians <- function(medians) {
  table <- copy(medians)
  table[, text := format_interval(median_s * 1e6, low_s * 1e6, high_s * 1e6, 4L)]
  table[, text := sprintf("%s (n = %d)", text, n)]
  table[, mpi := paste(title_of(mpi), "(\u00b5s)")]
  rows <- c(
    "site", "simulated", "scale", "experiment", "test", "operation", "transport", "placement",
    "hosts", "ranks", "settings", "parameters", factor_names(medians), "bytes"
  )
  if (!nrow(table)) {
    return(table[, rows, with = FALSE])
  }
  wide <- dcast(
    table, stats::as.formula(paste(paste0("`", rows, "`", collapse = "+"), "~ mpi")),
    value.var = "text", fill = ""
  )
  wide[]
}

#' Split a table by its strata, other tools' benchmarks after our own.
#' @noRd
split_strata <- function(table, by = c("site", "test", "operation", "transport")) {
  parts <- split(table, by = by, sorted = FALSE)
  foreign <- vapply(parts, function(part) startsWith(part$operation[[1L]], "imb-"), NA)
  parts[order(foreign)]
}

#' Columns of strata that do not say the same in every row, named for readers.
#' @noRd
varying_strata <- function(table) {
  strata <- c(
    site = "Site", simulated = "Simulated", scale = "Scale", test = "Test",
    operation = "Operation", mpi = "MPI", transport = "Transport", placement = "Placement",
    hosts = "Hosts", ranks = "Ranks", settings = "Settings", parameters = "Parameters"
  )
  strata <- strata[names(strata) %in% names(table)]
  many <- vapply(names(strata), function(s) length(unique(table[[s]])) > 1L, NA)
  shown <- lapply(names(strata)[many], function(s) title_of(table[[s]]))
  if (length(shown)) setDT(stats::setNames(shown, strata[many])) else NULL
}

#' The comparison as readers want it.
#' @noRd
table_comparison <- function(comparison) {
  shown <- data.table(
    First = title_of(comparison$a), Second = title_of(comparison$b),
    Size = format_bytes(comparison$bytes),
    `n` = ifelse(
      comparison$n_a == comparison$n_b, comparison$n_a, paste(comparison$n_a, comparison$n_b)
    ),
    first_us = format_us(comparison$median_a_s),
    second_us = format_us(comparison$median_b_s),
    `Ratio [95 %]` = format_interval(comparison$ratio, comparison$low, comparison$high, 4L),
    cliff = sprintf("%+.2f", comparison$cliffs_delta),
    `p, all sizes` = format_p(comparison$p_joint),
    `Welch p` = format_p(comparison$welch_p),
    welch_us = ifelse(is.na(comparison$welch_low_s), "NA", sprintf(
      "%s .. %s", format_digits(comparison$welch_low_s * 1e6),
      format_digits(comparison$welch_high_s * 1e6)
    )),
    `First is` = fcase(
      is.na(comparison$verdict), comparison$note,
      comparison$verdict == "undecided", paste0(
        "undecided: ",
        sub(" would.*", "", say_more(comparison$more_launches, comparison$more_sessions))
      ),
      rep(TRUE, nrow(comparison)), paste(comparison$verdict, comparison$scope)
    )
  )
  setnames(shown, c("first_us", "second_us", "cliff", "welch_us"), c(
    "First (\u00b5s)", "Second (\u00b5s)", "Cliff's \u03b4",
    "Welch 99 % of difference (\u00b5s)"
  ))
  cbind(varying_strata(comparison), shown)
}

#' Launches that stand out, a row a launch and operation, with its furthest size.
#' @noRd
table_outlying <- function(outlying) {
  furthest <- outlying[order(-abs(log(times_median)))][, list(
    sizes = .N, bytes = bytes[[1L]], median_s = median_s[[1L]], times = times_median[[1L]]
  ), keyby = c("id", "operation")]
  shown <- furthest[, list(
    id, title_of(operation), sizes, format_bytes(bytes), format_us(median_s), format_digits(times)
  )]
  setnames(shown, c(
    "Launch", "Operation", "Sizes", "Furthest at", "Median there (\u00b5s)",
    "Times its configuration's median"
  ))
  shown[]
}

#' The drift of sessions as readers want it.
#' @noRd
table_drift <- function(drift) {
  change <- function(x) sprintf("%+.1f %%", 100 * x)
  data.table(
    Site = drift$site, Session = drift$session, Transport = title_of(drift$transport),
    Blocks = drift$blocks, Change = change(drift$change), p = format_p(drift$p),
    `Blocks from` = change(drift$lowest - 1), to = change(drift$highest - 1),
    `First block` = fifelse(is.na(drift$first), "NA", paste0(
      change(drift$first), fifelse(drift$warm_up, ", warming up", "")
    ))
  )
}

#' The build audit: all items, and those in which the MPIs differ.
#' @noRd
table_audit <- function(audit) {
  if (!nrow(audit)) {
    return(list(all = audit, differing = audit))
  }
  latest <- unique(audit, by = c("site", "mpi", "item"), fromLast = TRUE)
  latest[, mpi := title_of(mpi)]
  wide <- dcast(latest, site + item ~ mpi, value.var = "value", fill = "")
  mpis <- setdiff(names(wide), c("site", "item"))
  differs <- apply(as.matrix(wide[, mpis, with = FALSE]), 1L, function(v) length(unique(v)) > 1L)
  setnames(wide, c("site", "item"), c("Site", "Item"))
  list(all = wide, differing = wide[differs])
}

#' The account of sessions, what is used first.
#' @noRd
table_account <- function(account) {
  shown <- account[order(site, test, -xtfrm(session))]
  data.table(
    Site = shown$site, Test = shown$test, Session = shown$session, Status = shown$status,
    Launches = shown$launches, Used = shown$used, Why = shown$why
  )
}
