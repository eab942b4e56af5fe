# SPDX-License-Identifier: BSD-3-Clause
# How many launches or sessions more would likely decide what is undecided.

# Beyond so many launches nobody should be sent to measure on.
MOST_LAUNCHES <- 1000L

#' Blocks with which sign flips can reach a level at all.
#' @noRd
blocks_needed <- function(alpha) ceiling(1 - log2(alpha))

#' Standard deviation of the log ratio of one block, from an interval of n blocks: of a joint one
#' at the level that one size has in it, of the range of five its mean in standard deviations.
#' @noRd
spread_of_interval <- function(low, high, n, joint, alike, level = 0.95) {
  half <- log(high / low) / 2
  z <- stats::qnorm(1 - (1 - level) / (2 * alike))
  fifelse(joint, half / z * sqrt(n), half / RANGE_OF_FIVE)
}
# Half the mean range of five normal values.
RANGE_OF_FIVE <- 2.326 / 2

#' Launches a side that are still needed for a verdict, if the ratio is as it was found.
#'
#' The standard error of the ratio's logarithm falls with the root of the number of launches, but
#' for the part that is between sessions. A difference needs it small against the ratio's distance
#' from 1, at the corrected level; equivalence needs it small against the distance that is left to
#' the margin. Whichever takes fewer launches counts; both are for a power of 80 % (normal
#' approximation, as in Chow, Shao and Wang 2008, ch. 3).
#'
#' @param ratio effect.
#' @param spread standard deviation of the logarithm of a block's ratio within its session.
#' @param n blocks there are.
#' @param alike sizes that are corrected for, as if independent.
#' @param between variance of the effect that more launches of the same sessions leave.
#' @param delta,alpha,power margin of equivalence, level, power.
#' @return number of launches to add to each side, at least 1; `Inf` beyond 1000; `NA` without
#'   spread.
#' @export
launches_to_decide <- function(ratio, spread, n, alike = 1, between = 0, delta = 0.03,
                               alpha = 0.05, power = 0.8) {
  errors <- errors_to_decide(ratio, alike, delta, alpha, power)
  left <- pmax(errors$difference, errors$equivalence)^2 - between
  needed <- fifelse(left > 0, spread^2 / left, Inf)
  more <- pmax(1, ceiling(pmax(needed, blocks_needed(alpha)) - n))
  more[!is.na(more) & more > MOST_LAUNCHES] <- Inf
  more
}

# The standard errors with which a difference, and equivalence, would be shown.
errors_to_decide <- function(ratio, alike, delta, alpha, power) {
  z <- stats::qnorm
  effect <- abs(log(ratio))
  list(
    difference = effect / (z(1 - alpha / (2 * alike)) + z(power)),
    equivalence = pmax(0, log1p(delta) - effect) / (z(1 - alpha / alike) + z((1 + power) / 2))
  )
}

#' The power with which so many blocks would show an effect: what [launches_to_decide()] holds
#' against 80 %.
#' @noRd
power_of_launches <- function(ratio, spread, n, alike = 1, alpha = 0.05) {
  stats::pnorm(abs(log(ratio)) * sqrt(n) / spread - stats::qnorm(1 - alpha / (2 * alike)))
}

#' What would decide undecided rows of a comparison: launches of the same sessions, or, where the
#' spread between sessions alone would leave them undecided, sessions.
#' @noRd
more_to_decide <- function(rows, delta, alpha, power = 0.8) {
  spread <- spread_of_interval(
    rows$low, rows$high, pmin(rows$n_a, rows$n_b), rows$joint, rows$alike, 1 - alpha
  )
  between <- fcoalesce(log1p(rows$session_spread)^2, 0)
  within <- sqrt(pmax(0, spread^2 - between))
  launches <- launches_to_decide(
    rows$ratio, within, pmin(rows$n_a, rows$n_b), rows$alike, between / rows$sessions, delta,
    alpha, power
  )
  errors <- errors_to_decide(rows$ratio, rows$alike, delta, alpha, power)
  each <- between + within^2 * rows$sessions / pmin(rows$n_a, rows$n_b)
  needed <- each / pmax(errors$difference, errors$equivalence)^2
  sessions <- fifelse(
    is.infinite(launches) & between > 0, pmax(1, ceiling(needed - rows$sessions)), NA_real_
  )
  list(fifelse(is.na(sessions), launches, NA_real_), sessions)
}

#' How many more, in words.
#' @noRd
say_more <- function(launches, sessions = NA_real_) {
  fcase(
    !is.na(sessions), sprintf("about %.0f more sessions would likely decide", sessions),
    is.na(launches), "",
    is.infinite(launches), sprintf("more than %d more launches would be needed", MOST_LAUNCHES),
    rep(TRUE, length(launches)), sprintf("about %.0f more launches would likely decide", launches)
  )
}
