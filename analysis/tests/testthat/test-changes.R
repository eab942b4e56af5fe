# SPDX-License-Identifier: BSD-3-Clause
# A simulated change among releases is found at its release, and no change is found without one.

VERSIONS <- sprintf("v%d", 1:8)

named_in <- function(study) {
  found <- find_changes(study, "mpi", VERSIONS)
  found[found$named]$after
}

test_that("the release is named, by about what was planted", {
  found <- find_changes(plant_levels(1L, 0.2, blocks = 8L), "mpi", VERSIONS)
  named <- found[found$named]
  expect_identical(unique(named$after), "v5")
  expect_identical(nrow(named), 3L)
  expect_true(all(named$low < 1.2 & named$high > 1.2))
  expect_true(all(named$probability > 0.95))
})

test_that("nothing is named where nothing differs", {
  wrong <- vapply(1:20, function(seed) {
    length(named_in(plant_levels(seed, 0, blocks = 8L))) > 0L
  }, NA)
  expect_lte(sum(wrong), 1L)
})

test_that("a fault that was mended later is seen, and when", {
  found <- find_changes(plant_levels(2L, 0.2, 3L, blocks = 8L, mended = 6L), "mpi", VERSIONS)
  expect_setequal(unique(found[found$named]$after), c("v3", "v6"))
})

test_that("a search names the planted release and takes fewer launches than the full matrix", {
  found <- prove_releases(4L, 0.2, 0.04)
  expect_true(all(found$right))
  expect_true(all(found$share <= 0.7))
})

test_that("what is open asks for both sides of it, and what lies between for its middle", {
  changes <- data.table::data.table(
    test = "t", transport = "shm", placement = "near", before = c("v1", "v4"),
    after = c("v2", "v8"), between = c(0L, 3L), probability = c(0.5, 0.999)
  )
  expect_setequal(next_levels(changes, VERSIONS)$level, c("v1", "v2", "v4", "v6", "v8"))
  changes$probability <- c(0.001, 0.001)
  expect_identical(nrow(next_levels(changes, VERSIONS)), 0L)
})

test_that("the posterior is that of the models it names", {
  # Two levels: the only boundary against no change, by the formula of the g-prior.
  y <- c(0, 0.1, 0.02, 0.13, -0.01, 0.12, 0.01, 0.09)
  level <- rep(1:2, 4L)
  block <- rep(1:4, each = 2L)
  y <- draw_in(y, level, block)
  full <- stats::lm(y ~ factor(block) + factor(level))
  none <- stats::lm(y ~ factor(block))
  left <- sum(stats::resid(full)^2) / sum(stats::resid(none)^2)
  df <- 4
  bayes <- exp((df - 1) / 2 * log1p(df) - df / 2 * log1p(df * left))
  expect_equal(
    partition_posterior(y, level, block, 0.2)$change, 0.2 * bayes / (0.2 * bayes + 0.8)
  )
})
