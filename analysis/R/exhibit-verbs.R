# SPDX-License-Identifier: BSD-3-Clause
# The verbs of figures, with their arguments. The function that draws a verb has the verb's name
# with exhibit_ before it.

#' Time or bandwidth by message size.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return the drawing, for [exhibit()].
#' @keywords internal
by_size <- function(series = NULL, panel = NULL, unit = NULL, scale = NULL) {
  drawing(
    "by_size", list(series = substitute(series), panel = substitute(panel)),
    unit = unit, scale = scale
  )
}

#' Time or bandwidth by a parameter, at fixed sizes.
#'
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`, `"KiB"` of a measure.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @param measure a column of the samples that is drawn in place of the time, with its own unit.
#' @return the drawing, for [exhibit()].
#' @keywords internal
by_parameter <- function(x = NULL, series = NULL, panel = NULL, unit = NULL, scale = NULL,
                         measure = NULL) {
  drawing(
    "by_parameter",
    list(x = substitute(x), series = substitute(series), panel = substitute(panel)),
    unit = unit, scale = scale, measure = measure
  )
}

#' Time or bandwidth by size, and below it the gain of one level over another.
#'
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return the drawing, for [exhibit()].
#' @keywords internal
gain <- function(by = NULL, series = NULL, panel = NULL, unit = NULL, scale = NULL) {
  drawing(
    "gain", list(by = substitute(by), series = substitute(series), panel = substitute(panel)),
    unit = unit, scale = scale
  )
}

#' Performance or time, in % of that of one level.
#'
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param reference the level with which others are compared; a pattern with stars is allowed, and
#' the first matching level counts.
#' @param of `"performance"` (the default), or `"time"` where the original study drew the time.
#' @return the drawing, for [exhibit()].
#' @keywords internal
relative <- function(by = NULL, series = NULL, panel = NULL, reference = NULL, of = NULL) {
  drawing(
    "relative",
    list(by = substitute(by), series = substitute(series), panel = substitute(panel)),
    reference = reference, of = of
  )
}

#' The ratio of each pair, by the levels of another column.
#'
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
ratio <- function(by = NULL, x = NULL) {
  drawing("ratio", list(by = substitute(by), x = substitute(x)))
}

#' The ratio of each pair, by the arrival times of the ranks.
#'
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @param x name of the column along the axis: `option_arrival`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
arrivals <- function(by = NULL, x = NULL) {
  drawing("arrivals", list(by = substitute(by), x = substitute(x)))
}

#' Error of a way of measuring, by size.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param wrong operations with the wrong way of measuring.
#' @param right the same number of operations with the right way of measuring.
#' @param repetition the only repetition that counts; for first calls, 0 is the first call of the
#' launch.
#' @return the drawing, for [exhibit()].
#' @keywords internal
error <- function(series = NULL, wrong = NULL, right = NULL, repetition = NULL) {
  drawing(
    "error", list(series = substitute(series)),
    wrong = wrong, right = right, repetition = repetition
  )
}

#' Time of an operation against the inserted computation.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param measures columns of the samples; each is one curve or phase.
#' @return the drawing, for [exhibit()].
#' @keywords internal
overlap <- function(series = NULL, panel = NULL, measures = NULL) {
  drawing(
    "overlap", list(series = substitute(series), panel = substitute(panel)),
    measures = measures
  )
}

#' Overheads by size, without the computation.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return the drawing, for [exhibit()].
#' @keywords internal
overheads <- function(series = NULL, panel = NULL, unit = NULL, scale = NULL) {
  drawing(
    "overheads", list(series = substitute(series), panel = substitute(panel)),
    unit = unit, scale = scale
  )
}

#' The share of a message's time that hides computation, by size.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return the drawing, for [exhibit()].
#' @keywords internal
opportunity <- function(series = NULL, panel = NULL, scale = NULL) {
  drawing(
    "opportunity", list(series = substitute(series), panel = substitute(panel)),
    scale = scale
  )
}

#' Share of a non-blocking collective that is hidden by simultaneous computation.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return the drawing, for [exhibit()].
#' @keywords internal
hidden_share <- function(series = NULL, panel = NULL, scale = NULL) {
  drawing(
    "hidden_share", list(series = substitute(series), panel = substitute(panel)),
    scale = scale
  )
}

#' A check whose true time is known: measured time minus true time.
#'
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param truth `"up"` (n ranks take n waits) or `"null"` (no time).
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
wait_pattern <- function(x = NULL, series = NULL, panel = NULL, truth = NULL, unit = NULL) {
  drawing(
    "wait_pattern",
    list(x = substitute(x), series = substitute(series), panel = substitute(panel)),
    truth = truth, unit = unit
  )
}

#' NAS kernels: Mop/s by cores, separately for ranks and threads, and the speed-up over one core.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
rate <- function(series = NULL, panel = NULL) {
  drawing("rate", list(series = substitute(series), panel = substitute(panel)))
}

#' NAS kernels: Mop/s by threads of each rank, and the best split.
#'
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
splits <- function(panel = NULL) {
  drawing("splits", list(panel = substitute(panel)))
}

#' Several operations next to each other.
#'
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
values <- function(x = NULL, series = NULL, panel = NULL, unit = NULL) {
  drawing(
    "values", list(x = substitute(x), series = substitute(series), panel = substitute(panel)),
    unit = unit
  )
}

#' The median, the upper quantiles and the maximum of many messages, beside each other.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
tails <- function(series = NULL, panel = NULL, unit = NULL) {
  drawing("tails", list(series = substitute(series), panel = substitute(panel)), unit = unit)
}

#' Times of all pairs of ranks, as a heat map that shows slow ranks or links.
#'
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
pair_map <- function(panel = NULL, unit = NULL) {
  drawing("pair_map", list(panel = substitute(panel)), unit = unit)
}

#' Standard error over launches.
#'
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
spread <- function(x = NULL, series = NULL, panel = NULL) {
  drawing(
    "spread", list(x = substitute(x), series = substitute(series), panel = substitute(panel))
  )
}

#' Phases of a program, stacked.
#'
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param measures columns of the samples; each is one curve or phase.
#' @return the drawing, for [exhibit()].
#' @keywords internal
phases <- function(x = NULL, series = NULL, panel = NULL, measures = NULL) {
  drawing(
    "phases", list(x = substitute(x), series = substitute(series), panel = substitute(panel)),
    measures = measures
  )
}

#' Speed-up and efficiency by ranks.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @param work `"fixed"`, or `"per-rank"` for weak scaling.
#' @return the drawing, for [exhibit()].
#' @keywords internal
scaling <- function(series = NULL, panel = NULL, work = NULL) {
  drawing("scaling", list(series = substitute(series), panel = substitute(panel)), work = work)
}
