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

# Above so many launches a side the normal approximation to the permutation distribution takes the
# place of the exact one.
EXACT_UP_TO <- 60L

#' The two-sided p of a statistic with mean 0 under the hypothesis, by the normal distribution.
#' @noRd
two_sided <- function(statistic, variance) 2 * stats::pnorm(-abs(statistic) / sqrt(variance))

#' Wilcoxon's rank-sum test of two independent sides, exact also with ties.
#'
#' Without ties from the distribution that R knows, which is some 50 times as fast.
#'
#' @param x,y launch medians (s). The test is on ranks: the logarithm changes nothing.
#' @return the two-sided p, `NA` when a side is empty, 1 when nothing varies.
#' @export
wilcoxon_independent <- function(x, y) {
  if (!length(x) || !length(y)) {
    return(NA_real_)
  }
  value <- c(x, y)
  if (length(unique(value)) == 1L) {
    return(1)
  }
  if (max(length(x), length(y)) > EXACT_UP_TO) {
    rank <- rank(value) - (length(value) + 1) / 2
    share <- length(x) * length(y) / (length(value) * (length(value) - 1))
    return(two_sided(sum(rank[seq_along(x)]), share * sum(rank^2)))
  }
  if (!anyDuplicated(value)) {
    above <- sum(rank(value)[seq_along(x)]) - length(x) * (length(x) + 1) / 2
    fewer <- min(above, length(x) * length(y) - above)
    return(min(1, 2 * stats::pwilcox(fewer, length(x), length(y))))
  }
  side <- factor(rep(c("x", "y"), c(length(x), length(y))))
  test <- coin::wilcox_test(
    value ~ side,
    data = data.frame(value, side), distribution = "exact"
  )
  as.numeric(coin::pvalue(test))
}

#' Wilcoxon's signed-rank test of sides that come in complete blocks, on log time.
#'
#' Exact, blocks without a difference are ranked after Pratt (1959). The launches of a block ran
#' close together in random order: what disturbed the whole block cancels in its difference.
#'
#' @param x,y launch medians (s), in the same order of blocks.
#' @return the two-sided p; `NA` without blocks or with times that have no logarithm, 1 when no
#'   block shows a difference.
#' @export
wilcoxon_blocked <- function(x, y) {
  if (length(x) != length(y)) {
    refuse("blocked sides must have one launch each in every block")
  }
  if (!length(x) || min(x, y) <= 0) {
    return(NA_real_)
  }
  if (all(x == y)) {
    return(1)
  }
  n <- length(x)
  known <- p_of_differences(log(x) - log(y))
  if (!is.na(known)) {
    return(known)
  }
  data <- data.frame(
    value = log(c(x, y)), side = factor(rep(c("x", "y"), each = n)),
    block = factor(rep(seq_len(n), 2L))
  )
  test <- coin::wilcoxsign_test(
    value ~ side | block,
    data = data, zero.method = "Pratt", distribution = "exact"
  )
  as.numeric(coin::pvalue(test))
}

# The p of signed ranks where it needs no enumeration: many blocks, or neither ties nor zeros; NA
# for others.
p_of_differences <- function(difference) {
  n <- length(difference)
  rank <- rank(abs(difference))
  above <- sum(rank[difference > 0])
  if (n > EXACT_UP_TO) {
    rank <- rank[difference != 0]
    two_sided(2 * above - sum(rank), sum(rank^2))
  } else if (any(difference == 0) || anyDuplicated(abs(difference))) {
    NA_real_
  } else {
    min(1, 2 * stats::psignrank(min(above, n * (n + 1) / 2 - above), n))
  }
}

#' The least two-sided p that a Wilcoxon test can reach with so many launches.
#'
#' @param n_x,n_y launches of the two sides.
#' @param blocked signed ranks over blocks (2 / 2^n), else rank sums (2 / choose(n_x + n_y, n_x)).
#' @return the p, at most 1.
#' @export
least_p <- function(n_x, n_y, blocked) {
  pmin(1, ifelse(blocked, 2^(1 - pmin(n_x, n_y)), 2 / choose(n_x + n_y, n_x)))
}

#' Cliff's delta: P(x > y) - P(x < y), -1 to 1; -1 when every launch of x is faster.
#'
#' @param x,y launch medians (s).
#' @references Cliff 1993, Psychological Bulletin 114.
#' @export
cliffs_delta <- function(x, y) {
  mean(sign(outer(x, y, `-`)))
}

#' Hodges-Lehmann ratio: exp of the median of all differences of log times, x over y.
#'
#' @param x,y launch medians (s).
#' @return the ratio, `NA` when a time is not positive.
#' @references Hodges and Lehmann 1963, Annals of Mathematical Statistics 34.
#' @export
hodges_lehmann_ratio <- function(x, y) {
  if (min(x, y) <= 0) {
    return(NA_real_)
  }
  exp(stats::median(outer(log(x), log(y), `-`)))
}

#' Interval of the Hodges-Lehmann ratio, by inverting the Wilcoxon test.
#'
#' It holds every ratio that the test does not reject: of blocks, between order statistics of the
#' means of pairs of differences of log times; of independent sides, of all differences
#' (Hollander and Wolfe 1999, ch. 3 and 4). Exact but for ties.
#'
#' @param x,y launch medians (s); with `blocked`, in the same order of blocks.
#' @param blocked whether the sides are paired by block.
#' @param levels of the intervals.
#' @return list: `ratio`, `low`, `high` (vectors as long as `levels`); `NA` under five launches on
#'   either side, where a time is not positive, or where so few launches cannot have the level.
#' @export
hodges_lehmann_interval <- function(x, y, blocked = FALSE, levels = c(0.95, 0.90)) {
  unknown <- rep(NA_real_, length(levels))
  out <- list(ratio = NA_real_, low = unknown, high = unknown)
  if (!length(x) || !length(y) || min(x, y) <= 0) {
    return(out)
  }
  if (blocked) {
    d <- log(x) - log(y)
    means <- outer(d, d, `+`) / 2
    values <- sort(means[lower.tri(means, TRUE)])
    rank <- stats::qsignrank((1 - levels) / 2, length(x))
  } else {
    values <- sort(outer(log(x), log(y), `-`))
    rank <- stats::qwilcox((1 - levels) / 2, length(x), length(y))
  }
  out$ratio <- exp(stats::median(values))
  if (min(length(x), length(y)) >= MIN_LAUNCHES) {
    known <- rank >= 1
    out$low[known] <- exp(values[rank[known]])
    out$high[known] <- exp(values[length(values) + 1L - rank[known]])
  }
  out
}
