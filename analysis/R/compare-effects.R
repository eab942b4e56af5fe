# SPDX-License-Identifier: BSD-3-Clause
# Tests and effect sizes for two sides of launch medians. Each copes with ties, constant data and
# single launches by `NA`, never by an error.

#' Welch's t-test for unequal variances, on times.
#'
#' @param x,y launch medians (s).
#' @param level of the interval of the difference; 0.99 as in the study `watter`.
#' @return list: `mean_x`, `mean_y`, `difference`, `low`, `high` (s), `t`, `df`, `p`; `NA` where
#'   a side has one launch or neither side varies.
#' @references Welch 1947, Biometrika 34.
#' @export
welch <- function(x, y, level = 0.99) {
  out <- list(
    mean_x = mean(x), mean_y = mean(y), difference = mean(x) - mean(y),
    low = NA_real_, high = NA_real_, t = NA_real_, df = NA_real_, p = NA_real_
  )
  if (min(length(x), length(y)) < 2L) {
    return(out)
  }
  u <- stats::var(x) / length(x)
  v <- stats::var(y) / length(y)
  error <- sqrt(u + v)
  # Rounding leaves a spread of some 1e-16 of the mean in data that does not vary.
  if (!is.finite(error) || error <= 10 * .Machine$double.eps * max(abs(c(x, y)))) {
    return(out)
  }
  out$df <- (u + v)^2 / (u^2 / (length(x) - 1) + v^2 / (length(y) - 1))
  out$t <- out$difference / error
  out$p <- 2 * stats::pt(-abs(out$t), out$df)
  reach <- stats::qt((1 + level) / 2, out$df) * error
  out$low <- out$difference - reach
  out$high <- out$difference + reach
  out
}

#' Cliff's delta: P(x > y) - P(x < y), -1 to 1; -1 when every launch of x is faster.
#'
#' @param x,y launch medians (s).
#' @references Cliff 1993, Psychological Bulletin 114.
#' @export
cliffs_delta <- function(x, y) {
  mean(sign(outer(x, y, `-`)))
}
