# SPDX-License-Identifier: BSD-3-Clause
# Verbs that need more than the time of an operation: the parts of overlap, overheads, spread.

#' Launch medians of a measure in place of the time, for the launches and rows of an exhibit.
#'
#' @param measure a column of the samples in seconds, such as `alone_s`, or `time_s` itself.
#' @param only number of the one repetition to take; all by default.
#' @return as [summarise_launches()], restricted to the exhibit's configurations.
#' @noRd
summary_of_measure <- function(exhibit, measure, only = NULL) {
  samples <- exhibit$results$samples
  if (!measure %in% names(samples)) await("launches with the column ", measure)
  wanted <- unique(as.character(exhibit$summary$key))
  samples <- samples[key %in% wanted & !is.na(samples[[measure]])]
  if (!is.null(only)) samples <- samples[repetition == as.integer(only)]
  samples[, time_s := as.numeric(samples[[measure]])]
  setattr(samples, "roles", attr(exhibit$results$samples, "roles"))
  summary <- summarise_launches(list(launches = exhibit$results$launches, samples = samples))
  by <- c("key", "operation", "bytes", attr(summary, "factors"))
  keys <- unique(exhibit$summary[, by, with = FALSE])
  rows <- summary[keys, on = by, nomatch = NULL, which = TRUE]
  keep_rows(summary, rows)
}

#' Time against computation: the operation, its parts, the computation alone.
#'
#' x is the time of the computation alone (`alone_s`), so that MPIs and launches whose steps were
#' calibrated apart share an axis. Arguments: `measures` (columns of the samples, a curve each),
#' `series` (columns that tell further curves apart), `panel`.
#' @noRd
exhibit_overlap <- function(exhibit) {
  measures <- argument(exhibit, "measures", "time_s")
  summary <- rbindlist(lapply(measures, function(measure) {
    cbind(summary_of_measure(exhibit, measure), measure = measure)
  }))
  alone <- summary_of_measure(exhibit, "alone_s")
  factors <- attr(exhibit$summary, "factors")
  by <- c("key", "operation", "bytes", factors)
  summary <- alone[, c(by, "median_s"), with = FALSE][
    , alone_s := median_s
  ][, !"median_s"][summary, on = by]
  curve <- exhibit
  curve$arguments$series <- c(if (length(measures) > 1L) "measure", argument(exhibit, "series"))
  curve$arguments$series <- curve$arguments$series %or_none% "measure"
  setattr(summary, "factors", c(factors, "measure"))
  curve$summary <- summary
  curve$medians <- summarise_configurations(summary)
  tables <- lapply(exhibit_curves(curve, "step"), add_values, UNITS$us)
  where <- summary[, list(x = 1e6 * stats::median(alone_s)),
    by = c(setdiff(configuration_columns(summary), "measure"), "bytes")
  ]
  tables <- lapply(tables, function(table) {
    where[table, on = intersect(names(where), setdiff(names(table), "x"))]
  })
  plot <- draw_curves(tables$points, tables$medians, "free", jitter = 0) +
    ggplot2::scale_x_continuous("computation alone (\u00b5s)", labels = format_axis) +
    y_axis("time (\u00b5s)", "linear") +
    ggplot2::labs(title = exhibit$spec$title, caption = caption_of_exhibit(exhibit, paste(
      WHAT_CURVES_SHOW, "A curve that does not rise hides the computation."
    ), tables$medians$n))
  with_data(plot, tidy_data(tables$medians))
}

`%or_none%` <- function(a, b) if (length(a)) a else b

#' Overheads by message size: by the time of calls, and by overlap (time with more computation
#' than a gap can hide, less that computation alone).
#' @noRd
exhibit_overheads <- function(exhibit) {
  exhibit <- with_overheads(exhibit)
  plot_exhibit(exhibit, "bytes")
}

#' Take the computation off the operations measured by overlap.
#' @noRd
with_overheads <- function(exhibit) {
  by <- c("key", "operation", "bytes", attr(exhibit$summary, "factors"))
  alone <- summary_of_measure(exhibit, "alone_s")
  alone <- alone[, c(by, "median_s"), with = FALSE]
  setnames(alone, "median_s", "alone_s")
  summary <- alone[exhibit$summary, on = by]
  overlapped <- endsWith(summary$operation, "-overlap")
  summary[overlapped, median_s := pmax(median_s - alone_s, 0)]
  setattr(summary, "factors", attr(exhibit$summary, "factors"))
  exhibit$summary <- summary[]
  exhibit$medians <- summarise_configurations(summary)
  exhibit
}

#' Overhead at one size: the gap without computation, the hidden computation, their difference.
#'
#' The computation hidden is what the operation with the most computation did not grow by:
#' C = g - (T - A), T its time, A that computation alone; so the overhead is o = g - C = T - A, at
#' least none and at most the gap.
#' @noRd
exhibit_overhead_table <- function(exhibit) {
  time <- exhibit$summary
  alone <- summary_of_measure(exhibit, "alone_s")
  by <- c("key", "operation", "bytes", "step")
  both <- alone[, c(by, "median_s"), with = FALSE][
    , `:=`(alone_s = median_s)
  ][, !"median_s"][time, on = by]
  both[, step := as.integer(step)]
  setorderv(both, c("key", "bytes", "step"))
  launches <- both[, list(
    gap = median_s[[1L]], overhead = median_s[[.N]] - alone_s[[.N]]
  ), by = c("key", "mpi", "transport", "placement", "bytes")]
  launches[, overhead := pmin(pmax(overhead, 0), gap)]
  launches[, hidden := gap - overhead]
  rows <- launches[, c(list(n = .N), unlist(lapply(
    list(gap = gap, hidden = hidden, overhead = overhead), bootstrap_median
  ), recursive = FALSE)), keyby = c("mpi", "transport", "placement", "bytes")]
  cell <- function(name) {
    column <- function(what) 1e6 * rows[[paste0(name, ".", what)]]
    format_interval(column("median"), column("low"), column("high"))
  }
  shown <- data.table(
    Configuration = as.character(level_of(rows, c("mpi", "transport", "placement"))),
    Size = format_bytes(rows$bytes), n = rows$n, gap = cell("gap"), hidden = cell("hidden"),
    overhead = cell("overhead")
  )
  setnames(shown, c("gap", "hidden", "overhead"), c(
    "Gap g (\u00b5s)", "Hidden computation C (\u00b5s)", "Overhead g - C (\u00b5s)"
  ))
  with_table(shown, rows, caption_of_exhibit(
    exhibit, "Medians over launches with their 95 % bootstrap intervals.", rows$n
  ))
}

#' Standard error of the mean over launches, relative to the mean, by a parameter.
#'
#' Arguments: `x`, `series`, `panel`.
#' @noRd
exhibit_spread <- function(exhibit) {
  x <- argument(exhibit, "x", "ranks")
  tables <- exhibit_curves(exhibit, x)
  medians <- tables$medians[n > 1L]
  if (!nrow(medians)) await("a second launch")
  medians[, `:=`(y = 100 * cv / sqrt(n), y_low = NA_real_, y_high = NA_real_)]
  axis <- axis_of(x, as.numeric(medians[[x]]), "log")
  medians[, x := axis$place(as.numeric(medians[[x]]), level)]
  plot <- draw_curves(medians[0L], medians) + axis$scale +
    y_axis("relative standard error over launches (%)", "linear") +
    ggplot2::labs(title = exhibit$spec$title, caption = caption_of_exhibit(
      exhibit, "Points: standard error of the mean of the launch medians, in % of that mean.",
      medians$n
    ))
  with_data(plot, medians[, !c("x", "y_low", "y_high")])
}

#' A check whose true time is known: the measured time less the true one, by a parameter.
#'
#' Arguments: as [exhibit_by_parameter()], and `truth`: `up` (n ranks take n waits) or `null` (no
#' time).
#' @noRd
exhibit_wait_pattern <- function(exhibit) {
  unit <- UNITS$ns
  x <- argument(exhibit, "x", "ranks")
  tables <- lapply(exhibit_curves(exhibit, x), add_values, unit)
  options <- unique(exhibit$summary, by = c("key", "ranks"))
  true_s <- function(ranks) {
    if (argument(exhibit, "truth") == "null") {
      return(0)
    }
    wait <- unique(as.numeric(options$option_wait))
    if (length(wait) != 1L) refuse(paste0(exhibit$spec$name, ": launches with several --wait"))
    ranks * wait
  }
  tables <- lapply(tables, function(table) {
    off <- unit$factor * true_s(table$ranks)
    for (column in intersect(c("y", "y_low", "y_high"), names(table))) {
      set(table, j = column, value = table[[column]] - off)
    }
    table
  })
  axis <- axis_of(x, as.numeric(tables$medians[[x]]), "log")
  for (table in tables) {
    set(table, j = "x", value = axis$place(as.numeric(table[[x]]), table$level))
  }
  plot <- draw_curves(tables$points, tables$medians) + axis$scale +
    ggplot2::geom_hline(yintercept = 0, linewidth = 0.3, colour = "grey40") +
    ggplot2::scale_y_continuous("measured less true time (ns)", labels = format_axis) +
    ggplot2::labs(title = exhibit$spec$title, caption = caption_of_exhibit(exhibit, paste(
      WHAT_CURVES_SHOW, "At 0 what is measured is true."
    ), tables$medians$n))
  with_data(plot, tidy_data(tables$medians))
}
