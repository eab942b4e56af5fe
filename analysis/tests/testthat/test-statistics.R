# SPDX-License-Identifier: BSD-3-Clause
# Statistics against values that SciPy computed from the same data (scipy_reference.py), and
# against what they must be by their definition.

given <- jsonlite::fromJSON(test_path("scipy-input.json"))
scipy <- jsonlite::fromJSON(test_path("scipy-values.json"))
EXACT <- 1e-9 # relative

each_case <- function(check) {
  for (name in names(given$sides)) {
    side <- given$sides[[name]]
    check(side$x, side$y, scipy$sides[[name]], name)
  }
}

test_that("Welch's test and its 99 % interval are SciPy's", {
  each_case(function(x, y, known, name) {
    ours <- welch(x, y)
    expect_equal(ours$t, known$welch$t, tolerance = EXACT, info = name)
    expect_equal(ours$df, known$welch$df, tolerance = EXACT, info = name)
    expect_equal(ours$p, known$welch$p, tolerance = EXACT, info = name)
    expect_equal(ours$low, known$welch$low, tolerance = EXACT, info = name)
    expect_equal(ours$high, known$welch$high, tolerance = EXACT, info = name)
  })
})

test_that("Welch's test of many columns is that of each, without what is missing in it", {
  x <- matrix(with_seed(1L, exp(stats::rnorm(40L))), 8L)
  y <- x[1:6, ] * 1.1 + 0.01
  x[cbind(1:3, c(1L, 1L, 4L))] <- NA
  x[, 5L] <- c(2, rep(NA, 7L))
  y[, 2L] <- NA
  all <- welch_of_columns(x, y)
  for (i in seq_len(5L)) {
    alone <- welch(x[!is.na(x[, i]), i], y[!is.na(y[, i]), i])
    expect_equal(lapply(all, `[[`, i), alone, info = i)
  }
  expect_identical(is.na(all$p), c(FALSE, TRUE, FALSE, FALSE, TRUE))
})

test_that("medians of drawn rows are those of each draw", {
  values <- matrix(with_seed(2L, stats::runif(30L)), 6L)
  index <- with_seed(3L, draw_indices(6L, 20L))
  each <- vapply(seq_len(20L), function(i) column_medians(values[index[, i], ]), numeric(5L))
  expect_equal(drawn_medians(values, index), t(each))
})

test_that("Cliff's delta is SciPy's", {
  each_case(function(x, y, known, name) {
    expect_equal(cliffs_delta(x, y), known$cliffs_delta, tolerance = EXACT, info = name)
  })
})

test_that("quantiles of samples are NumPy's", {
  for (i in seq_along(given$samples)) {
    sorted <- sort(given$samples[[i]])
    ours <- vapply(c(0, 0.5, 0.95), function(p) sorted_quantile(sorted, 0L, length(sorted), p), 0)
    expect_equal(ours, scipy$quantiles[i, ], tolerance = EXACT)
  }
})

test_that("the trend over blocks is Theil's and Kendall's as SciPy has them", {
  levels <- given$levels
  ours <- trend_of(seq_along(levels), levels)
  expect_equal(ours$p, scipy$trend$p, tolerance = EXACT)
  expect_equal(ours$change, expm1(9 * scipy$trend$slope), tolerance = EXACT)
})

# Launch summaries of two MPIs with given medians, one row a block and size.
summary_of <- function(sizes) {
  launches <- read_results(write_study(fresh_folder(), blocks = 10L, bytes = 1))$launches
  rows <- lapply(seq_along(sizes$x), function(i) {
    median <- c(rbind(sizes$x[[i]], sizes$y[[i]]))
    launches <- launches[order(launches$launch, launches$mpi == "mpich")]
    cbind(launches, data.table::data.table(operation = "pingpong", bytes = i, median_s = median))
  })
  out <- data.table::rbindlist(rows)
  out
}

test_that("the joint test over the sizes is that of every sign flip", {
  compared <- compare_configurations(summary_of(given$sizes))
  expect_identical(compared$a, rep("mpich", 5L))
  expect_identical(compared$family, rep("5 sizes of one pair", 5L))
  expect_identical(unique(compared$method), "sign flips of whole blocks")
  expect_equal(compared$p_joint, scipy$sizes_p_joint, tolerance = EXACT)
  expect_equal(log(compared$ratio), scipy$sizes_effect, tolerance = 1e-6)
  # a is mpich, which has the second of the two sides.
  medians <- vapply(given$sizes$x, stats::median, 0)
  expect_equal(compared$median_b_s, medians, tolerance = EXACT)
})

# Curves of blocks with a part in common, a launch of twice the time in some.
curve_at <- function(n, sizes, effect) {
  common <- stats::rnorm(n, 0, 0.04) + ifelse(stats::runif(n) < 0.1, 0.7, 0)
  common + matrix(stats::rnorm(n * sizes, 0, 0.04), n) + effect
}

test_that("verdict and interval are each other's inverse, at every n from 5 on", {
  set.seed(12L)
  for (n in c(5:12, 15L, 30L, 60L)) {
    for (effect in c(0, 0.03, 0.08)) {
      d <- curve_at(n, 6L, effect)
      d[1L, 2:3] <- NA
      for (curve in list(
        paired_curve(d), independent_curve(curve_at(n, 6L, effect), curve_at(n + 1L, 6L, 0))
      )) {
        outside <- (curve$low > 0 | curve$high < 0) & curve$joint
        expect_identical(curve$p_joint <= 0.05 + 1e-12, outside, info = paste(n, effect))
        # A value just inside of the interval is not rejected, one just outside is.
        expect_true(all(curve$low <= curve$effect & curve$effect <= curve$high))
        expect_true(all(curve$low <= curve$low90 | !curve$joint))
        expect_true(all(curve$p_joint >= curve$p - 1e-12))
      }
    }
  }
  # Values that are taken away move effect and interval as they are.
  d <- curve_at(11L, 4L, 0)
  expect_equal(paired_curve(d + 0.5)$effect, paired_curve(d)$effect + 0.5, tolerance = 1e-6)
  # Of the sides that change places, everything is turned about 1.
  there <- paired_curve(d)
  back <- paired_curve(-d)
  expect_equal(back$low, -there$high, tolerance = 1e-6)
  expect_identical(back$p_joint, there$p_joint)
})

test_that("a value is held exactly where it is not rejected", {
  set.seed(13L)
  d <- curve_at(9L, 1L, 0.05)
  curve <- paired_curve(d)
  rejected <- function(value) paired_curve(d - value)$p_joint <= 0.05
  width <- curve$high - curve$low
  # The level at the ends is that about the effect or about the value, whichever is less
  # favourable: the value is rejected on neither side further than a twentieth of the width.
  expect_false(rejected(curve$low + 0.05 * width))
  expect_false(rejected(curve$high - 0.05 * width))
  expect_true(rejected(curve$low - 0.05 * width))
  expect_true(rejected(curve$high + 0.05 * width))
})

test_that("one launch of twice the time hides no difference", {
  d <- matrix(0.1 + c(-2, -1, 0, 1, 2, 1, -1, 0, 0.5, -0.5, 1.5, -1.5) / 100)
  d[[3L]] <- -0.6
  # The mean of the blocks is 0.04 with a standard error of 0.06.
  expect_lt(paired_curve(d)$p_joint, 0.05)
  expect_gt(stats::t.test(d)$p.value, 0.4)
  expect_equal(paired_curve(d)$effect, 0.1, tolerance = 0.15)
})

test_that("sizes that agree in their launches cost less than as many independent ones", {
  set.seed(14L)
  common <- stats::rnorm(10L, 0.05, 0.05)
  alone <- paired_curve(matrix(common))
  alike <- paired_curve(common + matrix(stats::rnorm(120L, 0, 1e-4), 10L))
  apart <- paired_curve(matrix(stats::rnorm(120L, 0.05, 0.05), 10L))
  expect_lt(max(alike$p_joint), 2 * alone$p_joint)
  expect_lt(alike$alike[[1L]], 2)
  expect_gt(apart$alike[[1L]], 6)
})

test_that("blocks that do not vary have an interval without width, and five have their range", {
  flat <- paired_curve(matrix(0.1, 10L, 3L))
  expect_equal(c(flat$low, flat$high), rep(0.1, 6L), tolerance = 1e-9)
  expect_identical(unique(flat$p_joint), 2 / 2^10)
  expect_identical(paired_curve(matrix(0, 10L, 2L))$p_joint, c(1, 1))
  d <- c(0.05, 0.1, 0.02, 0.07, 0.04)
  five <- paired_curve(matrix(d))
  expect_identical(c(five$low, five$high, five$level), c(0.02, 0.1, 1 - 2 / 32))
  expect_identical(c(five$joint, five$p_joint <= 0.05), c(FALSE, FALSE))
})

test_that("the interval of a median is between order statistics, with the level it has", {
  expect_identical(
    median_interval(c(3, 1, 5, 2, 4)), list(median = 3, low = 1, high = 5, level = 0.9375)
  )
  # Printed tables of the sign test: 10 launches 2nd and 9th, 30 launches 10th and 21st.
  ten <- median_interval(as.numeric(10:1))
  expect_identical(c(ten$low, ten$high), c(2, 9))
  expect_equal(ten$level, 1 - 22 / 1024, tolerance = EXACT)
  thirty <- median_interval(as.numeric(1:30))
  expect_identical(c(thirty$low, thirty$high), c(10, 21))
  for (n in 6:80) expect_gte(median_interval(as.numeric(seq_len(n)))$level, 0.95)
  expect_identical(median_interval(1:4)$low, NA_real_)
})

test_that("ties, constant data and single launches give NA or 1, never an error", {
  expect_identical(welch(1, 2)$p, NA_real_)
  expect_identical(welch(c(1, 1, 1), c(1, 1, 1))$p, NA_real_)
  expect_identical(welch(c(0.1, 0.1, 0.1), c(0.3, 0.3, 0.3))$p, NA_real_)
  few <- ratio_interval(1:4 / 10, 1:9 / 10)
  expect_identical(c(few$low, few$high), rep(NA_real_, 2L))
  expect_identical(ratio_interval(c(0, 1:5), 1:6)$low, NA_real_)
})

test_that("drawn flips leave the caller's random numbers alone and repeat themselves", {
  d <- matrix(seq(-1, 1.5, length.out = 40L))
  set.seed(9L)
  expected <- stats::runif(3L)
  set.seed(9L)
  rm(list = ls(made), envir = made)
  first <- paired_curve(d)
  expect_identical(stats::runif(3L), expected)
  rm(list = ls(made), envir = made)
  expect_identical(paired_curve(d), first)
})

test_that("a model of sessions is the textbook's", {
  # Effects of four sessions with known errors, by the formulas of DerSimonian and Laird (1986)
  # and Hartung and Knapp (2001), worked by hand.
  side <- function(means) {
    data.table::rbindlist(lapply(seq_along(means), function(i) {
      data.table::data.table(
        session = paste0("s", i), block = paste(i, 1:4),
        median_s = exp(means[[i]] + c(-0.03, -0.01, 0.01, 0.03))
      )
    }))
  }
  flat <- side(rep(0, 4L))
  flat[, median_s := 1]
  effect <- c(0.10, 0.20, 0.30, 0.20)
  over <- ratio_over_sessions(side(effect), flat)
  # Errors are alike, so the mean is plain; Q = sum of squares / error^2.
  error <- stats::sd(c(-0.03, -0.01, 0.01, 0.03)) / 2
  q <- sum((effect - 0.2)^2) / error^2
  between <- (q - 3) * error^2 / 3
  expect_equal(over$ratio, exp(0.2), tolerance = EXACT)
  expect_equal(over$between, between, tolerance = EXACT)
  expect_equal(over$spread, expm1(sqrt(between)), tolerance = EXACT)
  reach <- stats::qt(0.975, 3) * stats::sd(effect) / 2
  expect_equal(over$high, exp(0.2 + reach), tolerance = EXACT)
  expect_identical(ratio_over_sessions(side(0.1), flat)$low, NA_real_)
})

test_that("a slow first block is called warming up, and a trend is no warm-up", {
  calm <- c(0, 0.01, -0.01, 0.005, -0.005, 0.002, 0, -0.002)
  expect_true(first_of(c(0.2, calm))$warm_up)
  expect_equal(first_of(c(0.2, calm))$first, expm1(0.2), tolerance = EXACT)
  expect_false(first_of(calm)$warm_up)
  expect_false(first_of(seq(-0.1, 0.1, length.out = 8L))$warm_up)
  expect_identical(first_of(c(0.2, 0, 0))$warm_up, FALSE)
})

test_that("the middle distance from a centre is the median of all distances", {
  for (n in 1:9) {
    d <- with_seed(n, matrix(round(stats::rnorm(4L * n), 1), 4L))
    sorted <- t(apply(d, 1L, sort))
    if (n == 1L) sorted <- d
    for (centre in list(rep(0, 4L), c(-3, 0.25, 0.1, 9))) {
      expect_identical(
        middle_distances(sorted, centre), apply(abs(d - centre), 1L, stats::median)
      )
    }
  }
})

test_that("a curve is the same whatever stands beside it, and where blocks lack sizes", {
  set.seed(9L)
  whole <- lapply(3:6, function(sizes) matrix(stats::rnorm(8L * sizes, 0.1, 0.1), 8L))
  lacking <- lapply(whole, function(d) replace(d, 3L, NA))
  both <- paired_curves(c(whole, lacking))
  expect_identical(both[1:4], lapply(whole, function(d) paired_curves(list(d))[[1L]]))
  expect_identical(both[5:8], lapply(lacking, function(d) paired_curves(list(d))[[1L]]))
  # The same by the medians of each size, whichever way they are found.
  slow <- scores_of_blocks(rbind(whole[[1L]], NA))
  quick <- scores_of_blocks(whole[[1L]])
  value <- c(-0.1, 0, 0.3)
  expect_identical(quick(value, 1:3), slow(value, 1:3)[, 1:8])
})

test_that("medians of columns are medians of what is known", {
  set.seed(8L)
  x <- matrix(round(stats::rnorm(60L), 1), 12L)
  x[cbind(c(1, 5, 5), c(1, 2, 3))] <- NA
  expect_identical(column_medians(x), apply(x, 2L, stats::median, na.rm = TRUE))
})
