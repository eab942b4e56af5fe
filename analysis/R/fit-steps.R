# SPDX-License-Identifier: BSD-3-Clause
# Tests whether a series has a step, or only drifts, wanders or has outliers.
#
# The sessions of a machine are not exchangeable: successive sessions resemble each other, and
# machines drift. A step is therefore compared with series that change without a step: a linear
# trend plus white noise, serially dependent noise (AR(1)), a random walk, or a random walk seen
# with noise (local level model; Durbin and Koopman 2012, chapter 2). The statistic is the gain in
# log likelihood that a step brings over the best of these models. Its distribution without a step
# comes from a parametric bootstrap under that best model, and from permutations of the series,
# which keep its outliers.

# Significance level of steps, to be divided by the number of tested steps of the series. A step is
# reported only if a series without a step gains as much with at most this probability.
STEP_LEVEL <- 0.02
STEP_REPLICATES <- 499L

#' Pull points far from the running median towards it.
#'
#' @param x logarithms of the points.
#' @param spread standard deviation of a point, see [spread_of_series()].
#' @noRd
pull_outliers <- function(x, spread = spread_of_series(x)) {
  n <- length(x)
  near <- stats::runmed(x, min(5L, n - (n + 1L) %% 2L), endrule = "median")
  near + pmax(pmin(x - near, FAR * spread), -FAR * spread)
}

# Standard deviation of a point, from the differences of neighbours, which few steps affect.
spread_of_series <- function(x) {
  # A few differences underestimate the spread often; 3/n allows for that.
  1.4826 * median(abs(diff(x))) / sqrt(2) * (1 + 3 / length(x))
}

# Covariance matrices (n x n, up to a factor) of series that change without a step.
stepless_covariances <- function(n) {
  t <- seq_len(n)
  lag <- abs(outer(t, t, "-"))
  walk <- outer(t, t, pmin)
  c(
    list(diag(n)),
    lapply(c(0.3, 0.5, 0.7, 0.85, 0.95), function(rho) rho^lag),
    lapply(c(0.03, 0.1, 0.3, 1), function(q) diag(n) + q * walk),
    list(walk + 1e-6 * diag(n))
  )
}

#' One model of a series without a step, prepared for many series of the same length.
#'
#' @param covariance of the series; `fixed` matrix of its regressors; `begins` points at which a
#'   step may begin.
#' @return list: `root` (Cholesky factor), `log_det`, `base` (QR of the whitened regressors),
#'   `begins` and `steps` (whitened steps as rows of length 1, orthogonal to the regressors).
#' @noRd
stepless_model <- function(covariance, fixed, begins) {
  root <- chol(covariance)
  whiten <- function(y) backsolve(root, y, transpose = TRUE)
  base <- qr(whiten(fixed))
  steps <- qr.resid(base, whiten(outer(seq_len(nrow(fixed)), begins, ">=") + 0))
  squared <- colSums(steps^2)
  usable <- squared > 1e-8
  list(
    root = root, log_det = sum(log(diag(root))), base = base, begins = begins[usable],
    steps = t(steps[, usable, drop = FALSE]) / sqrt(squared[usable])
  )
}

#' Gain in log likelihood by one step, over the best model without it.
#'
#' @param models of [stepless_model()].
#' @param y matrix, a series a column.
#' @param near only steps within `ABOUT` points of this point; `NULL`: all steps.
#' @return list: `gain` and `best` (number of the best model without a step), a value a series.
#' @noRd
gain_by_step <- function(models, y, near = NULL) {
  n <- nrow(y)
  without <- rep(-Inf, ncol(y))
  with <- without
  best <- integer(ncol(y))
  for (i in seq_along(models)) {
    model <- models[[i]]
    left <- qr.resid(model$base, backsolve(model$root, y, transpose = TRUE))
    squares <- colSums(left^2)
    likelihood <- function(squares) -n / 2 * log(pmax(squares, 1e-300)) - model$log_det
    value <- likelihood(squares)
    best[value > without] <- i
    without <- pmax(without, value)
    steps <- model$steps
    if (!is.null(near)) steps <- steps[abs(model$begins - near) <= ABOUT, , drop = FALSE]
    if (nrow(steps)) {
      explained <- apply((steps %*% left)^2, 2L, max)
      with <- pmax(with, likelihood(squares - explained))
    }
  }
  list(gain = with - without, best = best)
}

#' Probability that a series without this step gains as much by any step.
#'
#' @param x logarithms of the points; at least six.
#' @param at point at which the step begins; `others` points at which further steps begin.
#' @return p value, the larger one of bootstrap and permutations.
#' @noRd
p_of_step <- function(x, at, others = integer(), replicates = STEP_REPLICATES) {
  n <- length(x)
  fixed <- cbind(1, seq_len(n), outer(seq_len(n), others, ">=") + 0)
  begins <- setdiff(seq.int(1L + LEAST_STRETCH, n - LEAST_STRETCH + 1L), others)
  models <- lapply(stepless_covariances(n), stepless_model, fixed, begins)
  found <- gain_by_step(models, matrix(pull_outliers(x)), near = at)
  # The same random numbers each time, so that a series has one answer.
  drawn <- with_seed(1L, list(
    crossprod(models[[found$best]]$root, matrix(stats::rnorm(n * replicates), n)),
    vapply(seq_len(replicates), function(i) pull_outliers(sample(x)), numeric(n))
  ))
  max(vapply(drawn, function(y) {
    (1 + sum(gain_by_step(models, y)$gain >= found$gain)) / (replicates + 1)
  }, 0))
}

# Points around a boundary whose probabilities count as one change.
ABOUT <- 3L

# Minimum number of points of a stretch: a single point is an outlying session.
LEAST_STRETCH <- 2L
