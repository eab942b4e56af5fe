# SPDX-License-Identifier: BSD-3-Clause
# Verbs for measures other than the time of an operation: parts of overlap, overheads, spread.

#' @describeIn exhibit_by_size Time against computation: the operation, its parts, the computation
#'   alone. x is the time of the computation alone (`alone_s`). So MPIs and launches with
#'   separately calibrated steps share an axis.
exhibit_overlap <- function(exhibit, series = NULL, panel = NULL, measures = NULL) {
  measures <- argument(exhibit, "measures", "time_s")
  summary <- rbindlist(lapply(measures, \(measure) summary_of_measure(exhibit, measure)))
  setnames(summary, "value", "median_s")
  alone <- summary_of_measure(exhibit, "alone_s")
  by <- c("key", "operation", "bytes", factor_names(exhibit$summary))
  alone <- setnames(alone[, c(by, "value"), with = FALSE], "value", "alone_s")
  summary <- alone[summary, on = by]
  curve <- exhibit
  series <- c(if (length(measures) > 1L) "measure", argument(exhibit, "series"))
  curve$arguments$series <- if (length(series)) series else "measure"
  curve$summary <- summary
  curve$medians <- summarise_configurations(summary)
  tables <- lapply(curves_of_exhibit(curve, "step"), add_values, UNITS$us)
  where <- summary[, list(x = 1e6 * stats::median(alone_s)),
    by = c(setdiff(configuration_columns(summary), "measure"), "bytes")
  ]
  tables <- lapply(tables, function(table) {
    where[table, on = intersect(names(where), setdiff(names(table), "x"))]
  })
  plot <- draw_curves(tables$points, tables$medians, "free") +
    ggplot2::scale_x_continuous("computation alone (\u00b5s)", labels = format_axis) +
    y_axis("time (\u00b5s)", "linear") +
    ggplot2::labs(caption = caption_of_exhibit(exhibit, paste(
      words_of_caption("curves"), "A curve that does not rise hides the computation."
    ), tables$medians$n))
  with_finding(
    with_data(plot, tidy_data(tables$medians)),
    finding_of_overlap(tables$medians[tables$medians$measure == "time_s"])
  )
}

#' @describeIn exhibit_by_size The median, the upper quantiles and the maximum of many messages,
#'   beside each other. The quantiles are those of [summarise_launches()]. Launches with too few
#'   messages for them are left out.
exhibit_tails <- function(exhibit, series = NULL, panel = NULL, unit = NULL) {
  many <- which(!is.na(value_or_na(exhibit$summary, "p999_s")))
  if (!length(many)) await("launches with ", LEAST_OF_EXTREMES, " messages of a size")
  launches <- keep_rows(exhibit$summary, many)
  # Rates are those of the medians.
  exhibit$summary <- rbindlist(lapply(names(SHOWN_QUANTILES), function(quantile) {
    copy(launches)[, `:=`(measure = quantile, median_s = launches[[SHOWN_QUANTILES[[quantile]]]])]
  }))
  exhibit$medians <- summarise_configurations(exhibit$summary)
  exhibit$arguments <- c(exhibit$arguments, x = "measure", scale = "log")
  exhibit_values(exhibit)
}

# Columns of a summary by the quantile that they contain.
SHOWN_QUANTILES <- c(`0.5` = "median_s", `0.99` = "p99_s", `0.999` = "p999_s", `1` = "max_s")

# Only the results of an exhibit's launches.
results_of <- function(exhibit) {
  results_of_launches(exhibit$results, unique(exhibit$summary$key))
}

#' @describeIn exhibit_by_size Overheads by message size, by the time of calls and by overlap.
exhibit_overheads <- function(exhibit, series = NULL, panel = NULL, unit = NULL, scale = NULL) {
  parameters <- logp_parameters(results_of(exhibit))
  summary <- copy(exhibit$summary)
  row <- match(paste(summary$key, summary$bytes), paste(parameters$key, parameters$bytes))
  column <- gsub("-", "_", sub("^logp-(.*)$", "\\1_s", summary$operation))
  for (name in unique(column)) {
    set(summary, which(column == name), "median_s", parameters[[name]][row[column == name]])
  }
  exhibit$summary <- summary
  exhibit$medians <- summarise_configurations(summary)
  plot_exhibit(exhibit, "bytes")
}

#' @describeIn exhibit_by_size Overhead at one size: the gap without computation, the hidden
#'   computation and their difference.
exhibit_overhead_table <- function(exhibit) {
  curves <- overlap_curves(results_of(exhibit))
  sizes <- unique(exhibit$summary$bytes)
  rows <- estimate_overlap(curves[curves$bytes %in% sizes])
  cell <- function(name) format_columns(rows, paste0(name, "_s"), 1e6)
  # If no step went beyond the knee, the hidden part may be larger and the overhead smaller.
  bound <- function(name, sign) paste0(ifelse(rows$knee_seen, "", sign), cell(name))
  shown <- data.table(
    Configuration = as.character(level_of(
      rows, c("mpi", "transport", "placement", if (uniqueN(rows$parameters) > 1L) "parameters")
    )),
    Size = format_bytes(rows$bytes), n = rows$n, "Gap g (\u00b5s)" = cell("base"),
    "Hidden computation C (\u00b5s)" = bound("hidden", "\u2265 "),
    "Overhead g - C (\u00b5s)" = bound("overhead", "\u2264 "),
    "By the time of calls (\u00b5s)" = cell("call")
  )
  with_table(shown, rows, caption_of_exhibit(exhibit, WHAT_TABLES_SHOW, rows$n))
}

#' @describeIn exhibit_by_size Standard error of the mean over launches, relative to the mean, by a
#'   parameter.
exhibit_spread <- function(exhibit, x = NULL, series = NULL, panel = NULL) {
  x <- argument(exhibit, "x", "ranks")
  tables <- curves_of_exhibit(exhibit, x)
  medians <- tables$medians[n > 1L]
  if (!nrow(medians)) await("a second launch")
  medians[, `:=`(y = 100 * cv / sqrt(n), y_low = NA_real_, y_high = NA_real_)]
  axis <- axis_of(x, as.numeric(medians[[x]]), "log")
  medians[, x := axis$place(as.numeric(medians[[x]]), level)]
  plot <- draw_curves(medians[0L], medians) + axis$scale +
    y_axis("relative standard error over launches (%)", "linear") +
    ggplot2::labs(caption = caption_of_exhibit(
      exhibit, "Points: standard error of the mean of the launch medians, in % of that mean.",
      medians$n
    ))
  with_finding(with_data(plot, medians[, !c("x", "y_low", "y_high")]), finding_of_curves(
    medians, x, "relative standard error (%)", "lowest", argument(exhibit, "series", "mpi")
  ))
}

#' @describeIn exhibit_by_size A check with a known true time: the measured time minus the true
#'   time, by a parameter.
exhibit_wait_pattern <- function(exhibit, x = NULL, series = NULL, panel = NULL, truth = NULL,
                                 unit = NULL) {
  unit <- UNITS$ns
  x <- argument(exhibit, "x", "ranks")
  options <- unique(exhibit$summary, by = c("key", "ranks"))
  true_s <- function(ranks) {
    if (argument(exhibit, "truth") == "null") {
      return(0)
    }
    wait <- unique(as.numeric(options$option_wait))
    if (length(wait) != 1L) refuse(paste0(exhibit$spec$name, ": launches with several --wait"))
    ranks * wait
  }
  tables <- lapply(curves_of_exhibit(exhibit, x), function(table) {
    table <- add_values(table, unit)
    columns <- intersect(c("y", "y_low", "y_high"), names(table))
    table[, (columns) := lapply(.SD, `-`, unit$factor * true_s(ranks)), .SDcols = columns][]
  })
  axis <- axis_of(x, as.numeric(tables$medians[[x]]), "log")
  for (table in tables) {
    set(table, j = "x", value = axis$place(as.numeric(table[[x]]), table$level))
  }
  plot <- draw_curves(tables$points, tables$medians) + axis$scale +
    ggplot2::geom_hline(yintercept = 0, linewidth = 0.3, colour = "grey40") +
    ggplot2::scale_y_continuous("measured less true time (ns)", labels = format_axis) +
    ggplot2::labs(caption = caption_of_exhibit(exhibit, paste(
      words_of_caption("curves"), "At 0 the measured value is the true one."
    ), tables$medians$n))
  with_finding(with_data(plot, tidy_data(tables$medians)), sprintf(
    "The measured time minus the true time is %s ns", say_range(tables$medians$y)
  ))
}
