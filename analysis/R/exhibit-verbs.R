# SPDX-License-Identifier: BSD-3-Clause
# The verbs that exhibits are drawn by: what each takes. The functions that draw them have their
# names with exhibit_ before them.

#' Time or bandwidth by message size.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return for [exhibit()].
#' @keywords internal
by_size <- function(series = NULL, panel = NULL, unit = NULL, scale = NULL) {
  drawing(
    "by_size", list(series = substitute(series), panel = substitute(panel)),
    unit = unit, scale = scale
  )
}

#' Time or bandwidth by a parameter, at fixed sizes.
#'
#' @param x the column along the axis, by name: `mpi`, or `c(mpi, transport)`.
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`, `"KiB"` of a measure.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @param measure a column of the samples that is drawn in place of the time, with its own unit.
#' @return for [exhibit()].
#' @keywords internal
by_parameter <- function(x = NULL, series = NULL, panel = NULL, unit = NULL, scale = NULL,
                         measure = NULL) {
  drawing(
    "by_parameter",
    list(x = substitute(x), series = substitute(series), panel = substitute(panel)),
    unit = unit, scale = scale, measure = measure
  )
}

#' Time or bandwidth by size, and below it what one level gains over another.
#'
#' @param by columns compared, of several the first that differs in these launches, by name.
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return for [exhibit()].
#' @keywords internal
gain <- function(by = NULL, series = NULL, panel = NULL, unit = NULL, scale = NULL) {
  drawing(
    "gain", list(by = substitute(by), series = substitute(series), panel = substitute(panel)),
    unit = unit, scale = scale
  )
}

#' Performance, or time, in % of that of one level.
#'
#' @param by columns compared, of several the first that differs in these launches, by name.
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param reference the level that others are held against; may have stars, of several the first
#' that is there.
#' @param of `"performance"` (the default), or `"time"` where the study drew that.
#' @return for [exhibit()].
#' @keywords internal
relative <- function(by = NULL, series = NULL, panel = NULL, reference = NULL, of = NULL) {
  drawing(
    "relative",
    list(by = substitute(by), series = substitute(series), panel = substitute(panel)),
    reference = reference, of = of
  )
}

#' The ratio of each pair, in the levels of another column.
#'
#' @param by columns compared, of several the first that differs in these launches, by name.
#' @param x the column along the axis, by name: `mpi`, or `c(mpi, transport)`.
#' @return for [exhibit()].
#' @keywords internal
ratio <- function(by = NULL, x = NULL) {
  drawing("ratio", list(by = substitute(by), x = substitute(x)))
}

#' The ratio of each pair, by when ranks arrive.
#'
#' @param by columns compared, of several the first that differs in these launches, by name.
#' @param x the column along the axis, by name: `option_arrival`.
#' @return for [exhibit()].
#' @keywords internal
arrivals <- function(by = NULL, x = NULL) {
  drawing("arrivals", list(by = substitute(by), x = substitute(x)))
}

#' How wrong a way of measuring is, by size.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param wrong operations that measure wrongly.
#' @param right operations that measure rightly, as many.
#' @param repetition the only repetition that counts; of first calls 0 is the first of the
#' launch.
#' @return for [exhibit()].
#' @keywords internal
error <- function(series = NULL, wrong = NULL, right = NULL, repetition = NULL) {
  drawing(
    "error", list(series = substitute(series)),
    wrong = wrong, right = right, repetition = repetition
  )
}

#' Time against the computation put in.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param measures columns of the samples, a curve or a phase each.
#' @return for [exhibit()].
#' @keywords internal
overlap <- function(series = NULL, panel = NULL, measures = NULL) {
  drawing(
    "overlap", list(series = substitute(series), panel = substitute(panel)),
    measures = measures
  )
}

#' Overheads by size, with the computation taken off.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return for [exhibit()].
#' @keywords internal
overheads <- function(series = NULL, panel = NULL, unit = NULL, scale = NULL) {
  drawing(
    "overheads", list(series = substitute(series), panel = substitute(panel)),
    unit = unit, scale = scale
  )
}

#' The share of a message's time that hides computation, by size.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return for [exhibit()].
#' @keywords internal
opportunity <- function(series = NULL, panel = NULL, scale = NULL) {
  drawing(
    "opportunity", list(series = substitute(series), panel = substitute(panel)),
    scale = scale
  )
}

#' How much of a non-blocking collective a computation beside it hides.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @return for [exhibit()].
#' @keywords internal
hidden_share <- function(series = NULL, panel = NULL, scale = NULL) {
  drawing(
    "hidden_share", list(series = substitute(series), panel = substitute(panel)),
    scale = scale
  )
}

#' A check whose true time is known: measured less true time.
#'
#' @param x the column along the axis, by name: `mpi`, or `c(mpi, transport)`.
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param truth `"up"` (n ranks take n waits) or `"null"` (no time).
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return for [exhibit()].
#' @keywords internal
wait_pattern <- function(x = NULL, series = NULL, panel = NULL, truth = NULL, unit = NULL) {
  drawing(
    "wait_pattern",
    list(x = substitute(x), series = substitute(series), panel = substitute(panel)),
    truth = truth, unit = unit
  )
}

#' NAS kernels: Mop/s by cores, ranks and threads apart, and the speed-up over one core.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @return for [exhibit()].
#' @keywords internal
rate <- function(series = NULL, panel = NULL) {
  drawing("rate", list(series = substitute(series), panel = substitute(panel)))
}

#' NAS kernels: Mop/s by threads of each rank, and the best split.
#'
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @return for [exhibit()].
#' @keywords internal
splits <- function(panel = NULL) {
  drawing("splits", list(panel = substitute(panel)))
}

#' Several operations side by side.
#'
#' @param x the column along the axis, by name: `mpi`, or `c(mpi, transport)`.
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return for [exhibit()].
#' @keywords internal
values <- function(x = NULL, series = NULL, panel = NULL, unit = NULL) {
  drawing(
    "values", list(x = substitute(x), series = substitute(series), panel = substitute(panel)),
    unit = unit
  )
}

#' Times of all pairs of ranks, as a heat map: which rank or link is slow.
#'
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return for [exhibit()].
#' @keywords internal
pair_map <- function(panel = NULL, unit = NULL) {
  drawing("pair_map", list(panel = substitute(panel)), unit = unit)
}

#' Standard error over launches.
#'
#' @param x the column along the axis, by name: `mpi`, or `c(mpi, transport)`.
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @return for [exhibit()].
#' @keywords internal
spread <- function(x = NULL, series = NULL, panel = NULL) {
  drawing(
    "spread", list(x = substitute(x), series = substitute(series), panel = substitute(panel))
  )
}

#' Phases of a program, one on the other.
#'
#' @param x the column along the axis, by name: `mpi`, or `c(mpi, transport)`.
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param measures columns of the samples, a curve or a phase each.
#' @return for [exhibit()].
#' @keywords internal
phases <- function(x = NULL, series = NULL, panel = NULL, measures = NULL) {
  drawing(
    "phases", list(x = substitute(x), series = substitute(series), panel = substitute(panel)),
    measures = measures
  )
}

#' Speed-up and efficiency by ranks.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param work `"fixed"`, or `"per-rank"` for weak scaling.
#' @return for [exhibit()].
#' @keywords internal
scaling <- function(series = NULL, panel = NULL, work = NULL) {
  drawing("scaling", list(series = substitute(series), panel = substitute(panel)), work = work)
}
