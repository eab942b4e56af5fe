# SPDX-License-Identifier: BSD-3-Clause
# Tests and effect sizes for two groups of launch medians. Ties, constant data and single launches
# give `NA`, never an error.

#' Welch's t-test for unequal variances (Welch 1947, Biometrika 34), of each column of two matrices
#' of times.
#'
#' @param x,y launch medians (s); `NA` values are ignored.
#' @return list: `mean_x`, `mean_y`, `difference`, `low`, `high` (s, 99 % as in the study
#'   `watter`), `t`, `df`, `p`, a value for each column; `NA` where a group has one launch or
#'   neither group varies.
#' @noRd
welch_of_columns <- function(x, y) {
  sides <- lapply(list(x, y), function(side) {
    n <- colSums(!is.na(side))
    mean <- colMeans(side, na.rm = TRUE)
    apart <- side - rep(mean, each = nrow(side))
    list(n = n, mean = mean, error = colSums(apart^2, na.rm = TRUE) / (n - 1) / n)
  })
  u <- sides[[1L]]
  v <- sides[[2L]]
  difference <- u$mean - v$mean
  error <- sqrt(u$error + v$error)
  # In data that does not vary, rounding leaves a spread of about 1e-16 of the mean.
  rounding <- 10 * .Machine$double.eps * apply(rbind(abs(x), abs(y)), 2L, max, 0, na.rm = TRUE)
  none <- !(pmin(u$n, v$n) >= 2L & is.finite(error) & error > rounding)
  of <- function(values) replace(values, none, NA_real_)
  df <- of((u$error + v$error)^2 / (u$error^2 / (u$n - 1) + v$error^2 / (v$n - 1)))
  t <- of(difference / error)
  reach <- of(stats::qt(0.995, df) * error)
  list(
    mean_x = u$mean, mean_y = v$mean, difference = difference, low = difference - reach,
    high = difference + reach, t = t, df = df, p = of(2 * stats::pt(-abs(t), df))
  )
}

#' Cliff's delta: P(x > y) - P(x < y), -1 to 1; -1 when every launch of x is faster.
#'
#' @param x,y launch medians (s).
#' @references Cliff 1993, Psychological Bulletin 114.
#' @examples
#' cliffs_delta(c(1, 2, 3), c(2, 4, 6))
#' @export
cliffs_delta <- function(x, y) {
  cliffs_delta_of_columns(matrix(x, ncol = 1L), matrix(y, ncol = 1L))
}

# Cliff's delta of each column of two matrices; `NA` values are ignored.
cliffs_delta_of_columns <- function(x, y) {
  sums <- numeric(ncol(x))
  for (i in seq_len(nrow(x))) {
    sums <- sums + colSums(sign(rep(x[i, ], each = nrow(y)) - y), na.rm = TRUE)
  }
  sums / colSums(!is.na(x)) / colSums(!is.na(y))
}
