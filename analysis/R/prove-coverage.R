# SPDX-License-Identifier: BSD-3-Clause
# Coverage: how often intervals contain the truth, on simulated launches whose truth is known.

# The random effects of launches of one library, on the logarithm, all with median 0. One row per
# launch, one column per size; the sizes of one launch share half of the variance.
SIMULATED <- list(
  `log-normal` = function(n, sizes) together(stats::rnorm, n, sizes, 0.05),
  # Student's t with 2 degrees of freedom: infinite variance.
  `heavy tails` = function(n, sizes) together(\(k) stats::rt(k, 2), n, sizes, 0.03),
  # A drift of five per cent from the first block to the last, the same for both libraries.
  drifting = function(n, sizes) {
    together(stats::rnorm, n, sizes, 0.03) + seq(-0.025, 0.025, length.out = n)
  },
  # A second mode 40 % higher in three of ten launches. The median stays in the first mode: half of
  # the launches are below it.
  `two modes` = function(n, sizes) {
    q <- 0.5 / 0.7
    together(stats::rnorm, n, sizes, 0.02) - stats::qnorm(q, 0, 0.02) +
      ifelse(stats::runif(n) < 0.3, log(1.4), 0)
  }
)

together <- function(draw, n, sizes, spread) {
  spread * (draw(n) + matrix(draw(n * sizes), n)) / sqrt(2)
}

#' Simulated log ratios of a study: lost blocks are rows of `NA`.
#'
#' @param kind of `SIMULATED`; `blocks` per session; `lost` blocks have one library only; `truth`
#'   log ratio by size.
#' @return matrix, a row a block.
#' @noRd
simulate_blocks <- function(kind, blocks, truth, lost = 0L, sessions = 1L) {
  side <- function() {
    do.call(rbind, lapply(seq_len(sessions), \(s) SIMULATED[[kind]](blocks, length(truth))))
  }
  d <- side() - side() + rep(truth, each = sessions * blocks)
  d[sample.int(nrow(d), lost), ] <- NA
  d
}

# The designs for which the intervals must have their nominal coverage.
COVERED <- rbind(
  data.table(design = "one session", blocks = c(5L, 7L, 10L, 30L), lost = 0L, sessions = 1L),
  data.table(
    design = "blocks lost", blocks = c(7L, 10L, 30L), lost = c(1L, 2L, 5L), sessions = 1L
  ),
  data.table(design = "two sessions", blocks = c(5L, 10L), lost = 0L, sessions = 2L)
)

#' Coverage of the intervals of comparisons on simulated launches with known truth.
#'
#' Coverage is counted over all sizes, with studies as clusters. The true ratios lie from 20 %
#' faster to 20 % slower over the sizes. False alarms: how often any size is called different in
#' the same launches without a difference.
#'
#' @param repeats simulated studies of each kind and design.
#' @param sizes of a curve.
#' @param kinds of `SIMULATED`.
#' @param designs rows of `COVERED`.
#' @param seed of the simulation.
#' @return data.table: the design, `kind`, `level` (mean confidence of the intervals), `coverage`
#'   with `low`, `high` (95 %, clustered by studies), and `alarms` with `alarms_low`,
#'   `alarms_high`; `studies` that were simulated.
#' @examples
#' prove_coverage(4L, kinds = "log-normal")
#' @export
prove_coverage <- function(repeats = 1000L, sizes = 6L, kinds = names(SIMULATED),
                           designs = COVERED, seed = 1L) {
  truth <- seq(-0.2, 0.2, length.out = sizes)
  cells <- rbindlist(lapply(kinds, function(kind) cbind(kind = kind, designs)))
  studies <- with_seed(seed, lapply(seq_len(nrow(cells)), function(i) {
    cell <- cells[i]
    lapply(seq_len(repeats), function(k) {
      simulate_blocks(cell$kind, cell$blocks, truth, cell$lost, cell$sessions)
    })
  }))
  out <- over_cores(studies, function(part) {
    rbindlist(lapply(part, coverage_of, truth))
  }, length(studies) * repeats)
  cbind(cells, rbindlist(out))
}

# How often the intervals of simulated studies contain the truth, and the rate of false alarms.
coverage_of <- function(studies, truth) {
  curves <- paired_curves(studies)
  repeats <- length(studies)
  held <- vapply(curves, function(curve) curve$low <= truth & truth <= curve$high, truth == 0)
  # With the truth subtracted, the launches are those of two equal libraries.
  none <- paired_curves(lapply(studies, function(d) d - rep(truth, each = nrow(d))))
  called <- vapply(none, function(curve) any(curve$q <= ALPHA), NA)
  rates <- share_of_clusters(as.vector(held), as.vector(col(as.matrix(held))))
  alarms <- share_of(sum(called), repeats)
  data.table(
    level = mean(vapply(curves, \(curve) mean(curve$confidence), 0)), coverage = rates[[1L]],
    low = rates[[2L]],
    high = rates[[3L]], alarms = alarms[[1L]], alarms_low = alarms[[2L]],
    alarms_high = alarms[[3L]], studies = repeats
  )
}

#' Coverage of the interval of a study that stops by its width, as [wide_groups()] does.
#'
#' @param until interval width at which it stops, in standard deviations of a block's log ratio.
#' @param repeats simulated studies.
#' @param kind of `SIMULATED`.
#' @param most blocks of a study.
#' @param seed of the simulation.
#' @return data.table: `until`, `blocks` (mean), `coverage` with `low`, `high`, `level` (mean).
#' @examples
#' prove_stopping(repeats = 4L)
#' @export
prove_stopping <- function(until = c(1.2, 0.8, 0.5), repeats = 1000L, kind = "log-normal",
                           most = 60L, seed = 1L) {
  studies <- with_seed(seed, lapply(until, function(width) {
    list(
      # The spread of a block's log ratio of this kind, with the effects of both libraries.
      most = width * stats::mad(simulate_blocks(kind, 2000L, 0)),
      blocks = lapply(seq_len(repeats), function(k) simulate_blocks(kind, most, 0))
    )
  }))
  rbindlist(lapply(seq_along(until), function(i) {
    study <- studies[[i]]
    runs <- rbindlist(unlist(over_cores(study$blocks, function(part) {
      n <- stops_at(part, function(curve) (curve$high - curve$low) / 2 <= study$most)
      curves <- paired_curves(Map(function(d, n) d[seq_len(n), , drop = FALSE], part, n))
      Map(function(curve, n) {
        list(n = n, held = curve$low <= 0 && 0 <= curve$high, level = curve$confidence)
      }, curves, n)
    }, 10L * repeats), recursive = FALSE))
    rates <- share_of(sum(runs$held), repeats)
    data.table(
      until = until[[i]], blocks = mean(runs$n), level = mean(runs$level), coverage = rates[[1L]],
      low = rates[[2L]], high = rates[[3L]]
    )
  }))
}

# False alarms over all designs and kinds of `prove_coverage()` together: share, low, high.
pooled_alarms <- function(coverage) {
  share_of(coverage[, sum(round(alarms * studies))], sum(coverage$studies))
}

#' The power to detect a given slowdown, on simulated launches, over the sizes of a curve.
#'
#' @param share slowdown as a share of the time, at all sizes.
#' @param blocks of a study.
#' @param spread standard deviation of the logarithm of a launch's median; between hosts, for two
#'   libraries, about 3 %.
#' @param repeats simulated studies.
#' @param sizes of a curve.
#' @param seed of the simulation.
#' @return list: share of sizes called slower, with its 95 % interval, clustered by studies.
#' @examples
#' prove_power(0.05, blocks = 10L, repeats = 4L)
#' @export
prove_power <- function(share = 0.05, blocks = 30L, spread = 0.03, repeats = 500L, sizes = 9L,
                        seed = 1L) {
  studies <- with_seed(seed, lapply(seq_len(repeats), function(k) {
    side <- function() together(stats::rnorm, blocks, sizes, spread)
    side() - side() + log1p(share)
  }))
  called <- vapply(paired_curves(studies), \(curve) curve$low > 0, logical(sizes))
  share_of_clusters(as.vector(called), rep(seq_len(repeats), each = sizes))
}
