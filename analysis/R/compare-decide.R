# SPDX-License-Identifier: BSD-3-Clause
# How many launches or sessions would likely settle a comparison, by the test that judges it.

# Nobody should measure more launches than this for one verdict.
MOST_LAUNCHES <- 1000L
# Interval ends up to which a comparison without a direction counts as settled: within 10 %.
WITHIN_MOST <- 0.10

#' The probability that a comparison will be settled: by a direction, or by a bound.
#'
#' @param effect log ratio, if it is as it was found.
#' @param error standard error that is expected.
#' @param df degrees of freedom.
#' @param level of the test (two-sided).
#' @param most bound within which the comparison counts as settled.
#' @noRd
chance_to_settle <- function(effect, error, df, level, most = WITHIN_MOST) {
  reach <- stats::qt(1 - level / 2, df) * error
  direction <- power_of_test(effect, error, df, level)
  left <- log1p(most) - reach
  bound <- fifelse(left > 0, stats::pnorm((left - effect) / error) -
    stats::pnorm((-left - effect) / error), 0)
  pmin(1, direction + bound)
}

#' The power of a two-sided test to find a log ratio.
#' @noRd
power_of_test <- function(effect, error, df, level = ALPHA) {
  reach <- stats::qt(1 - level / 2, df)
  stats::pnorm(abs(effect) / error - reach) + stats::pnorm(-abs(effect) / error - reach)
}

#' Launches on each side that would likely settle a comparison, if the ratio is as it was found.
#'
#' The standard error falls with the root of the number of launches, except for the part that lies
#' between sessions; the degrees of freedom grow with it. The comparison is judged at the level
#' that it has within its question now.
#'
#' @param ratio effect.
#' @param spread standard deviation of the logarithm of a block's ratio within its session.
#' @param n blocks that there are.
#' @param df degrees of freedom of the present test.
#' @param level of the test, as `1 - confidence` has it.
#' @param between variance of the effect that more launches of the same sessions leave.
#' @param most bound within which a comparison without a direction is settled.
#' @param power wanted.
#' @return number of launches to add to each side, at least 1; `Inf` beyond 1000; `NA` without
#'   spread.
#' @export
launches_to_decide <- function(ratio, spread, n, df = n - 1, level = 0.05, between = 0,
                               most = 0.10, power = 0.8) {
  effect <- log(ratio)
  rows <- max(lengths(list(effect, spread, n, df, level, between)))
  more <- rep(NA_real_, rows)
  known <- which(rep_len(is.finite(effect) & is.finite(spread) & spread > 0, rows))
  of <- lapply(list(
    effect = effect, spread = spread, n = n, df = df, level = level, between = between
  ), function(values) rep_len(values, rows)[known])
  settles <- function(add) {
    error <- sqrt(of$between + of$spread^2 / (of$n + add))
    chance_to_settle(of$effect, error, of$df + add, of$level, most) >= power
  }
  low <- rep(0, length(known))
  high <- rep(as.numeric(MOST_LAUNCHES), length(known))
  out_of_reach <- !settles(high)
  for (step in seq_len(ceiling(log2(MOST_LAUNCHES)))) {
    middle <- ceiling((low + high) / 2)
    enough <- settles(middle)
    high <- fifelse(enough, middle, high)
    low <- fifelse(enough, low, middle)
  }
  more[known] <- fifelse(out_of_reach, Inf, pmax(1, high))
  more
}

#' What would settle rows of a comparison: launches of the same sessions, or, where the spread
#' between sessions alone would leave them open, sessions.
#' @noRd
more_to_decide <- function(rows, most, power = 0.8) {
  n <- pmin(rows$n_a, rows$n_b)
  spread <- rows$error * sqrt(n)
  between <- pmin(fcoalesce(log1p(rows$session_spread)^2, 0), spread^2)
  launches <- launches_to_decide(
    rows$ratio, sqrt(spread^2 - between), n, rows$df, 1 - rows$confidence,
    between / rows$sessions, most, power
  )
  lacking <- is.infinite(launches) & between > 0
  sessions <- fifelse(lacking, launches_to_decide(
    rows$ratio, rows$error * sqrt(rows$sessions), rows$sessions, rows$df, 1 - rows$confidence,
    0, most, power
  ), NA_real_)
  list(fifelse(is.na(sessions), launches, NA_real_), sessions)
}

#' How many more, in words.
#' @noRd
say_more <- function(launches, sessions = NA_real_) {
  fcase(
    !is.na(sessions), sprintf("about %.0f more sessions would likely settle it", sessions),
    is.na(launches), "",
    is.infinite(launches), sprintf("more than %d more launches would be needed", MOST_LAUNCHES),
    rep(TRUE, length(launches)), sprintf(
      "about %.0f more %s would likely settle it", launches,
      fifelse(launches == 1, "launch", "launches")
    )
  )
}
