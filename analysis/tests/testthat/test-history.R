# SPDX-License-Identifier: BSD-3-Clause
# Simulated changes of series are found at their place; series without a change have none.

planted_series <- function(seed, step, n = 40L, at = 21L, spread = 0.01) {
  set.seed(seed)
  x <- stats::rnorm(n, 0, spread) + ifelse(stats::runif(n) < 0.03, 0.1, 0)
  x + log1p(step) * (seq_len(n) >= at)
}

test_that("a step of 8 % is found within 3 points, and none where there is none", {
  right <- vapply(1:60, function(seed) {
    at <- 8L + seed %% 25L
    found <- series_changes(planted_series(seed, 0.08, at = at))
    any(abs(found$at - at) <= 3L)
  }, NA)
  expect_gte(mean(right), 0.95)
  wrong <- vapply(1:60, function(seed) nrow(series_changes(planted_series(seed, 0))) > 0L, NA)
  expect_lte(mean(wrong), 0.05)
})

test_that("drift, serial dependence and outliers are not dated as steps", {
  stepless <- list(
    dependent = function(n) as.numeric(stats::arima.sim(list(ar = 0.8), n, sd = 0.012)),
    ramp = function(n) seq(0, log(1.1), length.out = n) + stats::rnorm(n, 0, 0.01),
    walk = function(n) cumsum(stats::rnorm(n, 0, 0.01)),
    outliers = function(n) stats::rnorm(n, 0, 0.01) + 0.3 * (stats::runif(n) < 0.15)
  )
  for (name in names(stepless)) {
    dated <- vapply(1:40, function(seed) {
      set.seed(seed)
      nrow(series_changes(stepless[[name]](20L), prior = 0.5 / (200 * 19))) > 0L
    }, NA)
    expect_lte(mean(dated), 0.05)
  }
})

test_that("a step of 20 % is found in 12 sessions, and two steps in 20", {
  found <- vapply(1:20, function(seed) {
    set.seed(seed)
    x <- stats::rnorm(12L, 0, 0.02) + log(1.2) * (1:12 > 7)
    nrow(series_changes(x, prior = 0.5 / (200 * 11))) == 1L
  }, NA)
  expect_gte(mean(found), 0.9)
  both <- vapply(1:20, function(seed) {
    set.seed(seed)
    x <- stats::rnorm(20L, 0, 0.01) + log(1.2) * (1:20 > 6 & 1:20 <= 13)
    identical(series_changes(x)$at, c(7L, 14L))
  }, NA)
  expect_gte(mean(both), 0.9)
})

test_that("the posterior is that of all cuts, counted one by one", {
  x <- c(0, 0.01, -0.01, 0.2, 0.21, 0.19, 0.2)
  se <- rep(0.01, 7L)
  fast <- series_posterior(x, se, 0.1)
  v <- pmax(fast$spread^2, se^2)
  near <- stats::runmed(x, 5L, endrule = "median")
  y <- near + pmax(pmin(x - near, FAR * sqrt(v)), -FAR * sqrt(v))
  like <- stretch_likelihoods(y - median(y), v)
  starts <- partitions_of(7L)
  weight <- apply(starts, 1L, function(start) {
    begin <- c(1L, which(start) + 1L)
    end <- c(begin[-1L] - 1L, 7L)
    exp(sum(like[cbind(begin, end)])) * 0.1^sum(start) * 0.9^sum(!start)
  })
  expect_equal(fast$change[-1L], drop(weight %*% starts) / sum(weight))
})

test_that("a history names what changed at the same time, and its files are read back", {
  folder <- fresh_folder()
  set.seed(1L)
  for (session in 1:16) {
    for (launch in 1:6) {
      time <- 1e-6 * if (session > 8L) 1.2 else 1
      description <- make_description(
        launch = launch, session = sprintf("20261101T%02d0000Z", session)
      )
      description$observed$node$kernel <- if (session > 8L) "6.2.0" else "6.1.0"
      description$provenance$commit <- sprintf("c%02d", session)
      write_launch(folder, description, make_samples(
        1024, matrix(time * exp(stats::rnorm(5L, 0, 0.01)))
      ))
    }
  }
  out <- fresh_folder()
  changes <- NULL
  said <- utils::capture.output(suppressMessages(changes <- write_history(folder, out)))
  expect_identical(changes$session, "20261101T090000Z")
  expect_match(changes$causes, "kernel")
  expect_true(changes$low < 1.2 && changes$high > 1.2)
  expect_match(said, "slower from session 20261101T090000Z", all = FALSE)
  json <- jsonlite::read_json(file.path(out, "history.json"))
  expect_identical(length(json$series[[1L]]$points), 16L)
  point <- json$series[[1L]]$points[[9L]]
  expect_identical(
    names(point), c("session", "started", "commit", "n", "value", "low", "high")
  )
  expect_identical(point[c("session", "commit", "n")], list(
    session = "20261101T090000Z", commit = "c09", n = 6L
  ))
  expect_equal(point$value, 1.2e-6, tolerance = 0.02)
  expect_identical(json$series[[1L]]$changes[[1L]]$session, "20261101T090000Z")
  config <- yaml::read_yaml(file.path(out, "otava", "otava.yaml"))
  csv <- data.table::fread(file.path(out, "otava", config$tests[[1L]]$file))
  expect_identical(nrow(csv), 16L)
  expect_true(all(unlist(config$tests[[1L]]$metrics) %in% names(csv)))
  # The step of 20 % is no residual: the residuals are the differences within the levels.
  left <- data.table::fread(file.path(out, "figures", "residuals.csv"))
  expect_identical(nrow(left), 16L)
  expect_lt(max(abs(left$residual)), 0.05)
})
