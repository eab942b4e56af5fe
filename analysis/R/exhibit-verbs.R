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
by_size <- function(series = NULL, panel = NULL, unit = NULL, scale = NULL) drawing("by_size")

#' Time or bandwidth by a parameter, at fixed sizes.
#'
#' @inheritParams by_size
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`, `"KiB"` of a measure.
#' @param measure a column of the samples that is drawn in place of the time, with its own unit.
#' @return the drawing, for [exhibit()].
#' @keywords internal
by_parameter <- function(x = NULL, series = NULL, panel = NULL, unit = NULL, scale = NULL,
                         measure = NULL) {
  drawing("by_parameter")
}

#' Time or bandwidth by size, and below it the gain of one level over another.
#'
#' @inheritParams by_size
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @return the drawing, for [exhibit()].
#' @keywords internal
gain <- function(by = NULL, series = NULL, panel = NULL, unit = NULL, scale = NULL) drawing("gain")

#' Performance or time, in % of that of one level.
#'
#' @inheritParams gain
#' @param reference the level with which others are compared; a pattern with stars is allowed, and
#' the first matching level counts.
#' @param of `"performance"` (the default), or `"time"` where the original study drew the time.
#' @return the drawing, for [exhibit()].
#' @keywords internal
relative <- function(by = NULL, series = NULL, panel = NULL, reference = NULL, of = NULL) {
  drawing("relative")
}

#' The ratio of each pair, by the levels of another column.
#'
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
ratio <- function(by = NULL, x = NULL) drawing("ratio")

#' The ratio of each pair, by the arrival times of the ranks.
#'
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @param x name of the column along the axis: `option_arrival`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
arrivals <- function(by = NULL, x = NULL) drawing("arrivals")

#' Error of a way of measuring, by size.
#'
#' @param series names of the columns shown by colour: `mpi`, or `c(mpi, transport)`.
#' @param wrong operations with the wrong way of measuring.
#' @param right the same number of operations with the right way of measuring.
#' @param repetition the only repetition that counts; for first calls, 0 is the first call of the
#' launch.
#' @return the drawing, for [exhibit()].
#' @keywords internal
error <- function(series = NULL, wrong = NULL, right = NULL, repetition = NULL) drawing("error")

#' Time of an operation against the inserted computation.
#'
#' @inheritParams by_size
#' @param measures columns of the samples; each is one curve or phase.
#' @return the drawing, for [exhibit()].
#' @keywords internal
overlap <- function(series = NULL, panel = NULL, measures = NULL) drawing("overlap")

#' Overheads by size, without the computation.
#'
#' @inheritParams by_size
#' @return the drawing, for [exhibit()].
#' @keywords internal
overheads <- function(series = NULL, panel = NULL, unit = NULL, scale = NULL) drawing("overheads")

#' The share of a message's time that hides computation, by size.
#'
#' @inheritParams by_size
#' @return the drawing, for [exhibit()].
#' @keywords internal
opportunity <- function(series = NULL, panel = NULL, scale = NULL) drawing("opportunity")

#' Share of a non-blocking collective that is hidden by simultaneous computation.
#'
#' @inheritParams by_size
#' @return the drawing, for [exhibit()].
#' @keywords internal
hidden_share <- function(series = NULL, panel = NULL, scale = NULL) drawing("hidden_share")

#' A check whose true time is known: measured time minus true time.
#'
#' @inheritParams by_size
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @param truth `"up"` (n ranks take n waits) or `"null"` (no time).
#' @return the drawing, for [exhibit()].
#' @keywords internal
wait_pattern <- function(x = NULL, series = NULL, panel = NULL, truth = NULL, unit = NULL) {
  drawing("wait_pattern")
}

#' NAS kernels: Mop/s by cores, separately for ranks and threads, and the speed-up over one core.
#'
#' @inheritParams by_size
#' @return the drawing, for [exhibit()].
#' @keywords internal
rate <- function(series = NULL, panel = NULL) drawing("rate")

#' NAS kernels: Mop/s by threads of each rank, and the best split.
#'
#' @param panel names of the columns shown by panel: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
splits <- function(panel = NULL) drawing("splits")

#' Several operations next to each other.
#'
#' @inheritParams by_size
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
values <- function(x = NULL, series = NULL, panel = NULL, unit = NULL) drawing("values")

#' The median, the upper quantiles and the maximum of many messages, beside each other.
#'
#' @inheritParams by_size
#' @param unit `"us"`, `"ms"`, `"ns"`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
tails <- function(series = NULL, panel = NULL, unit = NULL) drawing("tails")

#' Times of all pairs of ranks, as a heat map that shows slow ranks or links.
#'
#' @inheritParams by_size
#' @return the drawing, for [exhibit()].
#' @keywords internal
pair_map <- function(panel = NULL, unit = NULL) drawing("pair_map")

#' Standard error over launches.
#'
#' @inheritParams by_parameter
#' @return the drawing, for [exhibit()].
#' @keywords internal
spread <- function(x = NULL, series = NULL, panel = NULL) drawing("spread")

#' Phases of a program, stacked.
#'
#' @inheritParams by_parameter
#' @param measures columns of the samples; each is one curve or phase.
#' @return the drawing, for [exhibit()].
#' @keywords internal
phases <- function(x = NULL, series = NULL, panel = NULL, measures = NULL) drawing("phases")

#' Speed-up and efficiency by ranks.
#'
#' @inheritParams by_size
#' @param work `"fixed"`, or `"per-rank"` for weak scaling.
#' @return the drawing, for [exhibit()].
#' @keywords internal
scaling <- function(series = NULL, panel = NULL, work = NULL) drawing("scaling")
