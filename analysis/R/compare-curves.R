# SPDX-License-Identifier: BSD-3-Clause
# The statistical model of all comparisons: moderated t statistics of log ratios, and intervals
# that invert them.
#
# The data of one pair and size are log ratios of launch medians, one for each common block.
# Without common blocks they are the log medians of two groups of launches. The centre is a trimmed
# mean, and its standard error that of Yuen (1974). The variances of the sizes of one curve are
# moderated by an empirical-Bayes prior (Smyth 2004, package limma). A launch moves all of its
# sizes together. So the prior counts at most the degrees of freedom of the independent sizes.
#
# Errors are controlled within a question by the false discovery rate (Benjamini and Hochberg
# 1995). The interval of a comparison has the level at which the procedure judged it (Benjamini
# and Yekutieli 2005), so that it excludes 1 exactly where the comparison is called different.

# Fewer blocks, or fewer launches of one configuration, are not tested.
LEAST_BLOCKS <- 4L
# With fewer launches a trimmed mean would cost more power than outliers do.
TRIM_FROM <- 8L
TRIMMED <- 1 / 6
ALPHA <- 0.05
# Log ratios that differ by less are equal but for rounding.
ROUNDING <- 1e-12

#' Trimmed means of the columns of a matrix, with the values that their standard errors need.
#'
#' @param x matrix, a row a block or launch, a column a size; `NA` where a block lacks a size.
#' @param least launches by column that decide whether values are trimmed.
#' @param count how often each value occurs: a matrix like `x`, or one number for all.
#' @return list: `n`, `effect`, `kept` (values within the trimmed mean), `spread` (squared, so that
#'   `spread / kept` is the squared standard error), `apart` (weighted winsorised residuals).
#' @noRd
trimmed_moments <- function(x, least = n, count = 1) {
  rows <- nrow(x)
  known <- count * !is.na(x)
  n <- colSums(known)
  # The number of values that are left out at each end.
  cut <- fifelse(least < TRIM_FROM, 0, floor(n * TRIMMED))
  place <- order(col(x), x, method = "radix")
  sorted <- matrix(x[place], rows)
  each <- function(values) rep(values, each = rows)
  # The rank of each value, the highest if it occurs several times.
  rank <- matrix(cumsum(known[place]), rows) - each(cumsum(n) - n)
  inside <- pmax(0, pmin(rank, each(n - cut)) - pmax(rank - known[place], each(cut)))
  kept <- n - 2 * cut
  effect <- colSums(replace(sorted, inside == 0, 0) * inside) / kept
  at <- \(i) sorted[cbind(pmin(1 + colSums(rank < each(i)), rows), seq_along(n))]
  apart <- pmin(pmax(x, each(at(cut + 1))), each(at(n - cut)))
  equal <- length(count) == 1L
  middle <- if (equal) colMeans(apart, na.rm = TRUE) else colSums(known * apart, na.rm = TRUE) / n
  apart <- sqrt(known) * (apart - each(middle))
  apart[is.na(apart)] <- 0
  # A centre or a spread below the rounding error counts as 0.
  effect[which(abs(effect) < ROUNDING)] <- 0
  spread <- colSums(apart^2) / (kept - 1)
  spread[which(spread < ROUNDING^2)] <- 0
  list(n = n, effect = effect, kept = kept, spread = spread, apart = apart)
}

#' Variances of sizes, moderated by the variances of the other sizes of the same curve.
#'
#' The prior is that of `limma::squeezeVar()`, computed for many curves at once. Calling
#' `squeezeVar()` for each curve would take most of the time of a forecast.
#' @param spread variances, `df` their degrees of freedom, `apart` the residuals they come from.
#' @param curve number of the curve of each variance.
#' @return list: `spread`, `df`.
#' @noRd
moderate <- function(spread, df, apart, curve = rep(1L, length(spread))) {
  known <- which(df > 0 & is.finite(spread))
  typical <- mean_by(spread[known], curve[known])
  usable <- typical > 0 & (tabulate(curve[known])[curve[known]] >= 3L)
  known <- known[usable]
  if (!length(known)) {
    return(list(spread = spread, df = df))
  }
  of <- curve[known]
  # Equal values, as from a coarse timer, do not prove a very small spread.
  at <- pmax(spread[known], typical[usable] * LEAST_SPREAD)
  prior <- prior_of(at, df[known], of)
  most <- (independent_sizes(apart[, known, drop = FALSE], of) - 1) * mean_by(df[known], of)
  weight <- pmin(prior$df, most)
  spread[known] <- (weight * prior$spread + df[known] * at) / (weight + df[known])
  df[known] <- df[known] + weight
  list(spread = spread, df = df)
}
# Smallest variance of a size, relative to the mean of its curve.
LEAST_SPREAD <- 1e-3

# The mean of the group of each value.
mean_by <- function(x, group) {
  at <- match(group, unique(group))
  (rowsum(x, at, reorder = FALSE)[, 1L] / tabulate(at))[at]
}

#' The prior of variances by the moments of their logarithms (Smyth 2004).
#'
#' @return list: `spread`, `df` (`Inf`: the variances differ by no more than chance), of the curve
#'   of each variance.
#' @noRd
prior_of <- function(spread, df, curve) {
  e <- log(spread) - digamma(df / 2) + log(df / 2)
  middle <- mean_by(e, curve)
  sizes <- tabulate(curve)[curve]
  beyond <- mean_by((e - middle)^2, curve) * sizes / (sizes - 1) - mean_by(trigamma(df / 2), curve)
  out <- list(spread = mean_by(spread, curve), df = rep(Inf, length(spread)))
  some <- which(beyond > 0)
  first <- some[!duplicated(curve[some])]
  half <- limma::trigammaInverse(beyond[first])[match(curve[some], curve[first])]
  out$df[some] <- 2 * half
  out$spread[some] <- exp(middle[some] + digamma(half) - log(half))
  out
}

#' The number of independent sizes that would vary as much as all sizes of a curve together. It is
#' the participation ratio of the correlations of their residuals, at most the degrees of freedom.
#' @return the number for the curve of each column.
#' @noRd
independent_sizes <- function(apart, curve = rep(1L, ncol(apart))) {
  size <- sqrt(colSums(apart^2))
  unit <- apart / rep(fifelse(size > 0, size, 1), each = nrow(apart))
  varies <- mean_by(as.numeric(size > 0), curve) * tabulate(curve)[curve]
  parts <- split(seq_along(curve), curve)
  common <- vapply(parts, function(here) {
    own <- unit[, here, drop = FALSE]
    # Both products have the same sum of squares.
    sum((if (length(here) < nrow(own)) crossprod(own) else tcrossprod(own))^2)
  }, 0)
  fifelse(varies > 0, varies^2 / common[match(curve, as.integer(names(parts)))], 1)
}

#' Test the sizes of curves: effects, standard errors, degrees of freedom and p values.
#'
#' @param x matrix of log ratios, a row a block, a column a size of a curve.
#' @param curve number of the curve of each column.
#' @param count as for [trimmed_moments()].
#' @return list of columns, a row a column of `x`: `effect` (log ratio), `n`, `error`, `df`, `p`.
#' @noRd
test_columns <- function(x, curve = rep(1L, ncol(x)), count = 1) {
  found <- trimmed_moments(x, count = count)
  held <- moderate(found$spread, found$kept - 1, found$apart, curve)
  tests_from(found$effect, found$n, held$spread / found$kept, held$df)
}

tests_from <- function(effect, n, squared, df) {
  error <- sqrt(squared)
  # Without any spread, a difference is certain, and so is equality.
  t <- fifelse(effect == 0, 0, abs(effect) / error)
  p <- 2 * stats::pt(-t, df)
  p[effect == 0] <- 1
  list(effect = effect, n = as.integer(n), error = error, df = df, p = p)
}

#' Test many curves of paired blocks.
#'
#' @param curves list of matrices of log ratios, a row a block, a column a size.
#' @return list of what [test_columns()] returns.
#' @noRd
test_curves <- function(curves) {
  out <- vector("list", length(curves))
  for (alike in split(seq_along(curves), vapply(curves, nrow, 0L))) {
    # Curves with equally many blocks share a matrix: many calls would take most of the time.
    sizes <- vapply(curves[alike], ncol, 0L)
    of <- rep(seq_along(alike), sizes)
    all <- test_columns(do.call(cbind, curves[alike]), of)
    first <- cumsum(sizes) - sizes
    out[alike] <- lapply(seq_along(alike), function(i) {
      lapply(all, `[`, first[[i]] + seq_len(sizes[[i]]))
    })
  }
  out
}

#' Test a curve of two groups of launches without common blocks (Welch 1947, Yuen 1974). Each group
#' keeps its own variance.
#'
#' @param x,y matrices of log times, a row a launch, a column a size of a curve.
#' @param curve number of the curve of each column.
#' @param counts for each group, as for [trimmed_moments()].
#' @return as [test_columns()].
#' @noRd
test_independent <- function(x, y, curve = rep(1L, ncol(x)), counts = list(1, 1)) {
  least <- pmin(colSums(counts[[1L]] * !is.na(x)), colSums(counts[[2L]] * !is.na(y)))
  sides <- Map(list(x, y), counts, f = function(side, count) {
    found <- trimmed_moments(side, least, count)
    held <- moderate(found$spread, found$kept - 1, found$apart, curve)
    list(effect = found$effect, squared = held$spread / found$kept, df = held$df)
  })
  u <- sides[[1L]]
  v <- sides[[2L]]
  both <- u$squared + v$squared
  df <- fifelse(both > 0, both^2 / (u$squared^2 / u$df + v$squared^2 / v$df), u$df + v$df)
  effect <- u$effect - v$effect
  effect[which(abs(effect) < ROUNDING)] <- 0
  tests_from(effect, least, both, df)
}

#' Levels and intervals of tests that belong to questions.
#'
#' @param tests list or table with `effect`, `error`, `df`, `p`; `NA` where nothing was tested.
#' @param question number of the question of each row.
#' @return list of columns: `q` (p, corrected within the question), `confidence`, `low`, `high`
#'   (log ratios).
#' @noRd
within_questions <- function(tests, question = rep(1L, length(tests$p)), alpha = ALPHA) {
  rows <- data.table(question = question, p = tests$p)
  rows[, q := stats::p.adjust(p, "BH"), by = "question"]
  rows[, level := alpha * max(1L, sum(q <= alpha, na.rm = TRUE)) / max(1L, sum(!is.na(p))),
    by = "question"
  ]
  confidence <- fifelse(is.na(tests$p), NA_real_, 1 - rows$level)
  reach <- fifelse(tests$error > 0, stats::qt((1 + confidence) / 2, tests$df) * tests$error, 0)
  list(
    q = rows$q, confidence = confidence, low = tests$effect - reach, high = tests$effect + reach
  )
}

#' Curves of paired blocks, each a question of its own.
#'
#' @param curves as for [test_curves()].
#' @return list of lists of columns: those of [test_columns()] and of [within_questions()].
#' @noRd
paired_curves <- function(curves) {
  lapply(test_curves(curves), function(tests) c(tests, within_questions(tests)))
}

paired_curve <- function(d) as.data.table(paired_curves(list(d))[[1L]])

independent_curve <- function(x, y) {
  tests <- test_independent(x, y)
  as.data.table(c(tests, within_questions(tests)))
}
