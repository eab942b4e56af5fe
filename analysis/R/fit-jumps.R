# SPDX-License-Identifier: BSD-3-Clause
# Tests whether a curve of times jumps between two regimes, or only bends.
#
# A segmented fit cuts every curved line into pieces, and bootstrap draws then agree on the cuts.
# A change is a jump only if the two lines beside it predict launches that were left out better
# than curves without a jump do: a spline with as many parameters, and a continuous line with
# two bends.

# Parameters of two lines and of the place between them.
SMOOTH_PARAMETERS <- 5L

# Times of a smooth curve: a natural cubic spline of log time over log size, least squares.
smooth_curve <- function(bytes, seconds) {
  degrees <- min(SMOOTH_PARAMETERS, length(bytes)) - 1L
  basis <- cbind(1, splines::ns(log(pmax(bytes, 1)), df = degrees))
  left <- stats::lm.fit(basis, log(seconds))$residuals
  exp(log(seconds) - left)
}

# Times of a continuous line with bends at half and at twice the size of a change, by least
# relative squares: a gradual bend, as where messages leave a cache.
continuous_lines <- function(bytes, seconds, first) {
  middle <- sqrt(bytes[[first]] * bytes[[first + 1L]])
  basis <- cbind(1, bytes, pmax(bytes - middle / 2, 0), pmax(bytes - 2 * middle, 0)) / max(bytes)
  fit <- stats::.lm.fit(basis / seconds, rep(1, length(bytes)))
  seconds * (1 - fit$residuals)
}

# Times of the two lines of `relative_line()` below and above a change.
two_lines <- function(bytes, seconds, first) {
  parts <- split(seq_along(bytes), seq_along(bytes) > first)
  unlist(lapply(unname(parts), function(at) {
    line <- relative_line(bytes[at], seconds[at])
    line[[1L]] + line[[2L]] * bytes[at]
  }))
}

#' Whether each change of a segmented fit is a jump.
#'
#' @param bytes sizes, rising; `times` matrix, a row a launch and a column a size (s).
#' @param breaks numbers of the last points of all regimes but the last.
#' @return logical, a value a change: the two regimes beside it predict a launch that was left out
#'   better than the curves without a jump do, by more than two standard errors over launches.
#'   `NA` with fewer than `MIN_LAUNCHES` launches.
#' @noRd
jumps_at <- function(bytes, times, breaks) {
  if (nrow(times) < MIN_LAUNCHES) {
    return(rep(NA, length(breaks)))
  }
  from <- c(1L, breaks + 1L)
  to <- c(breaks, length(bytes))
  vapply(seq_along(breaks), function(i) {
    at <- from[[i]]:to[[i + 1L]]
    first <- breaks[[i]] - from[[i]] + 1L
    gains <- vapply(seq_len(nrow(times)), function(launch) {
      trained <- column_medians(times[-launch, at, drop = FALSE])
      # A launch that is slower by the same factor at all sizes gives no information about the
      # shape.
      level <- stats::median(times[launch, at] / trained)
      error <- function(curve) mean((curve * level / times[launch, at] - 1)^2)
      c(
        error(smooth_curve(bytes[at], trained)), error(continuous_lines(bytes[at], trained, first))
      ) - error(two_lines(bytes[at], trained, first))
    }, c(0, 0))
    all(rowMeans(gains) > 2 * apply(gains, 1L, stats::sd) / sqrt(ncol(gains)))
  }, NA)
}

# Line of least relative squares with slope >= 0: latency (s) and time per byte (s/B).
relative_line <- function(bytes, seconds) {
  weights <- 1 / seconds^2
  fit <- weighted_lines(bytes, seconds, weights)
  if (!is.finite(fit[[2L]]) || fit[[2L]] < 0) fit <- c(stats::weighted.mean(seconds, weights), 0)
  stats::setNames(fit, c("alpha_s", "beta_s_per_byte"))
}

#' Lines of weighted least squares, as [stats::lm.wfit()] finds them, without its extra results: a
#' bootstrap calls this function thousands of times.
#'
#' @param seconds times, or a matrix with one column per line.
#' @return two coefficients, or two rows of them; the slope is `NA` where there is only one size.
#' @noRd
weighted_lines <- function(bytes, seconds, weights) {
  root <- sqrt(weights)
  fit <- stats::.lm.fit(cbind(1, bytes) * root, seconds * root)
  found <- as.matrix(fit$coefficients)
  if (fit$rank < 2L) found[2L, ] <- NA_real_
  colnames(found) <- colnames(seconds)
  drop(found)
}
