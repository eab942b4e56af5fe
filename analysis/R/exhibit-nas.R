# SPDX-License-Identifier: BSD-3-Clause
# Verbs for the NAS kernels: rates by cores and language, and the division of cores into ranks and
# threads.
#
# The columns `mop` (operations of a run in millions) and `threads` are in every sample.

#' @describeIn exhibit_by_size NAS kernels: Mop/s by cores, separately for ranks and threads, and
#'   the speed-up over one core.
exhibit_rate <- function(exhibit, series = NULL, panel = NULL) {
  apart <- argument(exhibit, "series")
  tables <- rates_of(exhibit, "cores", c("way", apart))
  axis <- axis_of("cores", tables$medians$cores, "log")
  shown <- lapply(tables, function(table) {
    set(table, j = "x", value = axis$place(table$cores, table$level))
    with_speedups(table, tables$medians[cores == 1], apart)
  })
  plot <- draw_curves(shown$points, shown$medians, "free_y") +
    axis$scale + y_axis("rate (Mop/s), and speed-up over one core", "linear") +
    ggplot2::labs(caption = caption_of_exhibit(
      exhibit, paste(
        words_of_caption("curves"),
        "Operations as NAS counts them. Speed-up: over the median of one core."
      ), tables$medians$n
    ))
  data <- tidy_rates(with_speedup(tables$medians, tables$medians[cores == 1], apart))
  with_finding(with_data(plot, data), finding_of_curves(
    tables$medians, "cores", "rate (Mop/s)", "highest", c("way", apart)
  ))
}

# Add `speedup`: a rate over that of one core, in the same panel and series; `NA` without one.
with_speedup <- function(table, alone, apart) {
  by <- c("panel", apart)
  set(table, j = "speedup", value = alone[table, on = by, mult = "first"]$y)
  table[, speedup := y / speedup][]
}

# Rates, and below them panels of their speed-ups, if there is a rate for one core.
with_speedups <- function(table, alone, apart) {
  rates <- with_speedup(copy(table), alone, apart)
  faster <- rates[!is.na(speedup)]
  columns <- intersect(c("y", "y_low", "y_high"), names(faster))
  faster[, (columns) := lapply(.SD, `*`, speedup / y), .SDcols = columns]
  names <- levels(rates$panel)
  cells <- c(join_cells(names, "Mop/s"), join_cells(names, "speed-up"))
  rates[, panel := factor(join_cells(as.character(panel), "Mop/s"), cells)]
  faster[, panel := factor(join_cells(as.character(panel), "speed-up"), cells)]
  rbind(rates, faster)
}

#' @describeIn exhibit_by_size NAS kernels: Mop/s by threads of each rank, a curve a number of
#'   cores, and the best split.
exhibit_splits <- function(exhibit, panel = NULL) {
  tables <- rates_of(exhibit, "threads", "cores")
  if (uniqueN(tables$medians$threads) < 2L) await("launches with several threads a rank")
  axis <- axis_of("threads", tables$medians$threads, "log")
  tables <- lapply(tables, function(table) {
    set(table, j = "x", value = axis$place(table$threads, table$level))
  })
  best <- best_splits(tables$medians)
  plot <- draw_curves(tables$points, tables$medians, "free_y") +
    axis$scale + y_axis("rate (Mop/s)", "linear") +
    ggplot2::labs(caption = caption_of_exhibit(
      exhibit, c(words_of_caption("curves"), best$said), tables$medians$n
    ))
  data <- tidy_rates(tables$medians)
  data[, best := best$split[match(as.character(panel), best$panel)] == split]
  splits <- unique(best$split)
  with_finding(with_data(plot, data[]), sprintf(
    "The best split of the cores, ranks x threads, is %s", in_series(splits, "or")
  ))
}

#' The split with the highest rate on all cores of each panel, in words.
#'
#' @param medians what `rates_of()` gives.
#' @return data.table: `panel`, `split` ("2 x 1": ranks x threads), `said` (the words). A split is
#'   the single best only if its interval does not overlap the next one's.
#' @noRd
best_splits <- function(medians) {
  all_cores <- medians[, .SD[cores == max(cores)], by = "panel"]
  setorderv(all_cores, c("panel", "y"), c(1L, -1L))
  all_cores[, list(
    split = split[[1L]],
    said = {
      clear <- .N > 1L && isTRUE(y_low[[1L]] > y_high[[2L]])
      sprintf(
        "%s: best %s (ranks x threads), %s Mop/s%s.", panel[[1L]], split[[1L]],
        format_interval(y[[1L]], y_low[[1L]], y_high[[1L]]),
        if (.N == 1L) {
          ", the only one"
        } else {
          text_if(!clear, paste0(", not distinguishable from ", split[[2L]]))
        }
      )
    }
  ), by = "panel"]
}

#' @describeIn exhibit_by_size The distribution of the zones of a multi-zone kernel, and the share
#'   of time for exchanges.
exhibit_balance_table <- function(exhibit) {
  exhibit$arguments$panel <- c("operation", "mpi")
  exhibit$arguments$series <- "threads"
  measures <- c("time_s", "balance_planned", "balance_seen", "exchange_s")
  parts <- medians_of_measures(exhibit, measures, "ranks")
  by <- c("panel", "level", "ranks")
  seen <- parts[measure == "balance_seen"]
  of <- function(what) parts[measure == what][seen, on = by]$value
  table <- seen[, list(
    panel, ranks,
    threads = as.integer(as.character(threads)), n, seen = value, seen_low = value_low,
    seen_high = value_high, planned = of("balance_planned"),
    exchange = 100 * of("exchange_s") / of("time_s")
  )]
  setorderv(table, c("panel", "ranks", "threads"))
  shown <- table[, list(
    Configuration = as.character(panel), Ranks = ranks, Threads = threads, n,
    "Balance planned (%)" = format_digits(planned),
    "Balance seen (%)" = format_interval(seen, seen_low, seen_high),
    "Exchange (% of time)" = format_digits(exchange)
  )]
  with_table(shown, table, caption_of_exhibit(exhibit, paste(
    "Work of the mean rank over that of the busiest: planned in points of their zones, seen in",
    "time inside of zones, with its 95 % interval over launches. Exchange: time on the",
    "rank that waited longest."
  ), table$n))
}

# Points and medians with the rate as `y`, and the columns `cores`, `way`, `split`.
rates_of <- function(exhibit, x, series) {
  need_columns(exhibit$summary, c("mop", "threads"), "the launches of NAS kernels")
  derived <- exhibit$summary[, list(
    cores = ranks * threads, split = paste(ranks, "x", threads),
    way = fcase(
      ranks * threads == 1, "one core", threads == 1, "ranks", ranks == 1, "threads",
      rep(TRUE, length(ranks)), "ranks and threads"
    )
  )]
  exhibit$summary <- cbind(exhibit$summary, derived)
  exhibit$arguments$series <- series
  exhibit$arguments$panel <- unique(c("operation", argument(exhibit, "panel", "mpi")))
  tables <- curves_of_exhibit(exhibit, x)
  by <- c(configuration_columns(exhibit$summary), "bytes")
  absent <- setdiff(c("cores", "split", "way", series), names(tables$medians))
  known <- unique(tables$points[, c(by, absent), with = FALSE])
  medians <- known[tables$medians, on = by]
  list(
    points = tables$points[, y := mop / median_s][],
    medians = medians[, c("y", "y_low", "y_high") := list(
      mop / median_s, mop / high_s, mop / low_s
    )][]
  )
}

tidy_rates <- function(medians) {
  out <- copy(medians)
  setnames(out, c("y", "y_low", "y_high"), c("rate_mops", "rate_low_mops", "rate_high_mops"))
  out[, setdiff(names(out), "x"), with = FALSE]
}
