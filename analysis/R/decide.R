# SPDX-License-Identifier: BSD-3-Clause
# How many launches more would likely decide what is undecided.

# Beyond so many launches nobody should be sent to measure on.
MOST_LAUNCHES <- 1000L

#' Launches a side that are still needed for a verdict, if the ratio is as it was found.
#'
#' The standard error of the ratio's logarithm is taken from its interval and falls with the root
#' of the number of launches. A difference needs it small against the ratio's distance from 1,
#' at the corrected level; equivalence needs it small against the distance that is left to the
#' margin.
#' Whichever takes fewer launches counts; both are for a power of 80 % (normal approximation,
#' as in Chow, Shao and Wang 2008, ch. 3).
#'
#' @param ratio,low,high effect and its 95 % interval.
#' @param n launches of the side with fewer.
#' @param family sizes that are corrected for.
#' @param delta,alpha,power margin of equivalence, level, power.
#' @return number of launches to add to each side, at least 1; `Inf` beyond 1000; `NA` without
#'   interval.
#' @export
launches_to_decide <- function(ratio, low, high, n, family = 1L, delta = 0.03, alpha = 0.05,
                               power = 0.8) {
  z <- function(p) stats::qnorm(p)
  error <- log(high / low) / (2 * z(0.975)) * sqrt(n)
  effect <- abs(log(ratio))
  for_difference <- ((z(1 - alpha / (2 * family)) + z(power)) * error / effect)^2
  left <- pmax(0, log1p(delta) - effect)
  for_equivalence <- ((z(1 - alpha) + z((1 + power) / 2)) * error / left)^2
  needed <- pmax(pmin(for_difference, for_equivalence), launches_needed(family, alpha))
  more <- pmax(1, ceiling(needed - n))
  more[!is.na(more) & more > MOST_LAUNCHES] <- Inf
  more
}

#' How many launches more, in words.
#' @noRd
say_more <- function(more) {
  fcase(
    is.na(more), "",
    is.infinite(more), sprintf("more than %d more launches would be needed", MOST_LAUNCHES),
    rep(TRUE, length(more)), sprintf("about %.0f more launches would likely decide", more)
  )
}
