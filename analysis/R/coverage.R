# SPDX-License-Identifier: BSD-3-Clause
# Coverage: how often intervals hold the truth, on simulated launches whose truth is known.

# Launch medians of one side, in the order of blocks; each has the median 1 by construction.
# `block` is what launches of a block have in common.
SIMULATED <- list(
  `log-normal` = function(n) stats::rnorm(n, 0, 0.05),
  # Student's t of 2 degrees: no variance.
  `heavy tails` = function(n) 0.03 * stats::rt(n, 2),
  # Five per cent from the first block to the last, in both sides alike.
  drifting = function(n) stats::rnorm(n, 0, 0.03),
  # A second mode 40 % above in three launches of ten, as far as the median stays in the first:
  # half of the launches are below it.
  `two modes` = function(n) {
    high <- stats::runif(n) < 0.3
    q <- 0.5 / 0.7
    stats::rnorm(n, 0, 0.02) - stats::qnorm(q, 0, 0.02) + ifelse(high, log(1.4), 0)
  }
)

# What is common to the launches of a block.
BLOCKED <- list(
  `log-normal` = function(n) stats::rnorm(n, 0, 0.03), `heavy tails` = function(n) rep(0, n),
  drifting = function(n) seq(-0.025, 0.025, length.out = n), `two modes` = function(n) rep(0, n)
)

#' Coverage of the intervals of the ratio on simulated data with known truth.
#'
#' @param launches numbers of launches a side.
#' @param repeats simulated studies of each kind and number.
#' @param truth ratio of the medians.
#' @param replicates,seed of the bootstrap, and of the simulation.
#' @return data.table: `kind`, `launches`, `interval` (`of the test`: the Hodges-Lehmann ratio's,
#'   on which verdicts rest; `bootstrap of medians`: of the ratio that is shown), `level`
#'   (nominal), `coverage`, `low`, `high` (95 %,
#'   Clopper and Pearson).
#' @export
prove_coverage <- function(launches = c(10L, 30L), repeats = 2000L, truth = 1.05,
                           replicates = 500L, seed = 1L) {
  with_seed(seed, rbindlist(lapply(names(SIMULATED), function(kind) {
    rbindlist(lapply(launches, function(n) {
      held <- vapply(seq_len(repeats), function(i) {
        common <- BLOCKED[[kind]](n)
        x <- truth * exp(common + SIMULATED[[kind]](n))
        y <- exp(common + SIMULATED[[kind]](n))
        holds <- function(interval) interval$low <= truth & truth <= interval$high
        c(
          holds(hodges_lehmann_interval(x, y, TRUE)),
          holds(bootstrap_ratio(x, y, TRUE, c(0.95, 0.90), replicates, seed = i))
        )
      }, rep(NA, 4L))
      rates <- share_of(rowSums(held), repeats)
      data.table(
        kind, launches = n, interval = rep(c("of the test", "bootstrap of medians"), each = 2L),
        level = c(0.95, 0.90), coverage = rates[[1L]], low = rates[[2L]], high = rates[[3L]]
      )
    }))
  })))
}
