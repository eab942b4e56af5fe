# SPDX-License-Identifier: BSD-3-Clause
# The opportunity of overlap, estimated from curves whose truth is known.

STEPS <- seq(0, 15, length.out = 13L) * 1e-6

hinge <- function(c, base, overhead) pmax(base, overhead + c)

test_that("a hinge without noise is read exactly", {
  found <- overlap_opportunity(STEPS, hinge(STEPS, base = 1e-5, overhead = 3e-6))
  expect_equal(found$base_s, 1e-5, tolerance = 1e-9)
  expect_equal(found$overhead_s, 3e-6, tolerance = 1e-9)
  expect_equal(found$hidden_s, 7e-6, tolerance = 1e-9)
  expect_equal(found$share, 0.7, tolerance = 1e-9)
  expect_equal(found$misfit, 0, tolerance = 1e-9)
  expect_true(found$knee_seen)
})

test_that("no overlap and full overlap are told apart", {
  none <- overlap_opportunity(STEPS, 1e-5 + STEPS)
  expect_equal(none$hidden_s, 0, tolerance = 1e-9)
  expect_equal(none$overhead_s, 1e-5, tolerance = 1e-9)
  all <- overlap_opportunity(STEPS, hinge(STEPS, 1e-5, 0))
  expect_equal(all$share, 1, tolerance = 1e-9)
  expect_true(all$knee_seen)
})

test_that("without a step beyond the knee the overhead is a bound and this is said", {
  short <- STEPS[STEPS < 6e-6]
  found <- overlap_opportunity(short, hinge(short, 1e-5, 3e-6))
  expect_false(found$knee_seen)
  expect_equal(found$hidden_s, max(short), tolerance = 1e-9)
  expect_gte(found$overhead_s, 3e-6)
})

test_that("one sample in thirteen that is a hundred times too long changes little", {
  seconds <- hinge(STEPS, 1e-5, 3e-6)
  for (bad in seq_along(STEPS)) {
    wrong <- seconds
    wrong[[bad]] <- 1e-3
    expect_equal(overlap_opportunity(STEPS, wrong)$hidden_s, 7e-6, tolerance = 0.15, info = bad)
  }
})

test_that("the order of the steps does not matter, a short or broken curve is refused", {
  seconds <- hinge(STEPS, 1e-5, 3e-6)
  expect_equal(overlap_opportunity(rev(STEPS), rev(seconds)), overlap_opportunity(STEPS, seconds))
  expect_error(overlap_opportunity(STEPS[1:2], seconds[1:2]), class = "cotejo_refused")
  expect_error(overlap_opportunity(STEPS, seconds[-1L]), class = "cotejo_refused")
  expect_error(overlap_opportunity(STEPS, replace(seconds, 3L, NA)), class = "cotejo_refused")
})

#' The result of read_results() for `n` launches of overlap with known base and overhead.
overlap_results <- function(n, base = 1e-5, overhead = 3e-6, cv = 0.03, seed = 1L) {
  set.seed(seed)
  keys <- sprintf("launch%02d", seq_len(n))
  launches <- data.table::as.data.table(list(
    key = keys, site = "local", simulated = "", mpi = "mpich", transport = "shm",
    placement = "near", settings = "", parameters = ""
  ))
  samples <- data.table::rbindlist(lapply(keys, \(k) {
    seconds <- hinge(STEPS, base, overhead) * exp(stats::rnorm(13L, 0, cv))
    list(
      key = rep(k, 39L), operation = rep("overlap-gap-send", 39L), bytes = rep(4096, 39L),
      step = rep(0:12, 3L), valid = rep(TRUE, 39L), multiply_adds = rep(STEPS * 1e9, 3L),
      alone_s = rep(STEPS, 3L), time_s = c(seconds, seconds * 1.01, seconds * 3),
      start_s = rep(1e-6, 39L), compute_s = rep(STEPS, 3L), wait_s = rep(1e-6, 39L)
    )
  }))
  samples[, key := factor(key)]
  measures <- c("multiply_adds", "alone_s", "start_s", "compute_s", "wait_s")
  roles <- c(step = "factor", stats::setNames(rep("measure", 5L), measures))
  list(launches = launches, samples = samples, roles = roles)
}

test_that("the interval over launches holds the planted opportunity in nine of ten studies", {
  held <- vapply(1:20, \(seed) {
    found <- estimate_overlap(overlap_curves(overlap_results(10L, seed = seed)))
    # The middle one of three samples is 1 % above the true curve.
    found$hidden_s_low <= 7e-6 * 1.01 && found$hidden_s_high >= 7e-6 * 0.99
  }, NA)
  expect_gte(mean(held), 0.9)
})

test_that("few launches give an estimate without interval", {
  found <- estimate_overlap(overlap_curves(overlap_results(3L)))
  expect_equal(found$n, 3L)
  expect_equal(found$share, 0.7, tolerance = 0.1)
  expect_true(is.na(found$share_low))
  expect_true(found$knee_seen)
})
