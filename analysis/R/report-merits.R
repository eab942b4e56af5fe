# SPDX-License-Identifier: BSD-3-Clause
# Figures of merit of programs that are not part of cotejo, in their own units. Samples contain
# them as times (docs/data.md), so that they are compared like times. This file converts them back.

MERIT_TIMES <- c(s = 1, ms = 1e-3, us = 1e-6, ns = 1e-9, min = 60, h = 3600)
# Other figures for which less is better: seconds per unit in the samples.
MERIT_LESS <- 1e-9

# Rows of a table that are times, not figures of merit, with the attributes of the table.
timed_only <- function(table) {
  if (is.null(table$figure_unit)) {
    return(table)
  }
  keep_rows(table, which(is.na(table$figure_unit)))
}

#' A study with its figures of merit separated from its times.
#'
#' @param study what [compare_results()] returned.
#' @return `study` with `merits`: a list of `medians` and `comparison`, the rows of these tables
#'   that are figures of merit. These rows are removed from its `medians`, `comparison` and
#'   `summary`.
#' @noRd
with_merits <- function(study) {
  tables <- c("medians", "comparison")
  study$merits <- lapply(study[tables], function(table) {
    keep_rows(table, which(if (is.null(table$figure_unit)) FALSE else !is.na(table$figure_unit)))
  })
  study[tables] <- lapply(study[tables], timed_only)
  study
}

#' The figure of merit that a time represents.
#'
#' @param time_s times of the samples, s.
#' @param unit,better of the figure.
#' @return numbers in `unit`.
#' @noRd
merit_of <- function(time_s, unit, better) {
  scale <- fcoalesce(unname(MERIT_TIMES[unit]), MERIT_LESS)
  fifelse(better == "more", 1 / time_s, time_s / scale)
}

# Medians of figures of merit as a table for readers.
table_merits <- function(medians) {
  value <- function(times) merit_of(times, medians$figure_unit, medians$figure_better)
  more <- medians$figure_better == "more"
  low <- value(fifelse(more, medians$high_s, medians$low_s))
  high <- value(fifelse(more, medians$low_s, medians$high_s))
  out <- data.table(
    Figure = medians$operation, MPI = title_of(medians$mpi),
    Transport = title_of(medians$transport), Placement = medians$placement
  )
  if (any(medians$bytes > 0)) set(out, j = "Size", value = format_bytes(medians$bytes))
  if (any(nzchar(medians$settings))) set(out, j = "Settings", value = medians$settings)
  set(out, j = c("Median [95 %]", "Unit", "Better", "n"), value = list(
    format_interval(value(medians$median_s), low, high, 4L), medians$figure_unit,
    medians$figure_better, medians$n
  ))
  out[]
}

# Ratio of figures, first over second, with its interval. For figures where more is better, it is
# the reciprocal of the ratio of times.
merit_ratios <- function(comparison) {
  turned_to(comparison, turn = comparison$figure_better == "more")[, c("ratio", "low", "high")]
}

# Verdicts on times -> verdicts on figures: a rate is not called "faster".
MERIT_WORDS <- c(
  faster = "better", slower = "worse", within = "within", `not settled` = "not settled"
)

# Ratios of figures of merit as a table for readers.
table_merit_ratios <- function(comparison) {
  found <- merit_ratios(comparison)
  out <- data.table(
    Figure = comparison$operation, Transport = title_of(comparison$transport),
    Placement = comparison$placement
  )
  if (any(comparison$bytes > 0)) set(out, j = "Size", value = format_bytes(comparison$bytes))
  if (any(nzchar(comparison$settings))) set(out, j = "Settings", value = comparison$settings)
  set(out, j = c("First", "Second", "n", "Ratio [interval]", "p", "First is"), value = list(
    title_of(comparison$a), title_of(comparison$b), pmin(comparison$n_a, comparison$n_b),
    format_interval(found$ratio, found$low, found$high, 4L), format_p(comparison$q),
    fifelse(
      comparison$verdict == "not tested", comparison$note,
      paste0(MERIT_WORDS[comparison$verdict], fifelse(
        comparison$verdict == "within", paste0(" ", say_percent(comparison$at_most)), ""
      ), " ", comparison$scope)
    )
  ))
  out[]
}
