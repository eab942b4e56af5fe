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

test_that("both Wilcoxon tests are exact, with ties and zero differences too", {
  each_case(function(x, y, known, name) {
    expect_equal(wilcoxon_independent(x, y), known$p_ranksum, tolerance = EXACT, info = name)
    if (length(x) == length(y)) {
      expect_equal(wilcoxon_blocked(x, y), known$p_blocked, tolerance = EXACT, info = name)
    }
  })
})

test_that("effect sizes are SciPy's", {
  each_case(function(x, y, known, name) {
    expect_equal(cliffs_delta(x, y), known$cliffs_delta, tolerance = EXACT, info = name)
    expect_equal(hodges_lehmann_ratio(x, y), known$hl_ratio, tolerance = EXACT, info = name)
    expect_equal(bootstrap_ratio(x, y)$ratio, known$ratio, tolerance = EXACT, info = name)
  })
})

# SciPy's quantiles at the bound's probability minus and plus `slack` hold R's bound: with 20000
# draws its probability has a standard error of 0.0011 (95 %) and 0.0015 (90 %), and slack is
# over three of them.
expect_between <- function(ours, known, name) {
  for (i in 1:2) {
    bracket <- known[[c("0.95", "0.90")[[i]]]]
    rounding <- EXACT * abs(bracket$low)
    expect_gte(ours$low[[i]], bracket$low[[1L]] - rounding[[1L]], label = name)
    expect_lte(ours$low[[i]], bracket$low[[2L]] + rounding[[2L]], label = name)
    expect_gte(ours$high[[i]], bracket$high[[1L]] - rounding[[1L]], label = name)
    expect_lte(ours$high[[i]], bracket$high[[2L]] + rounding[[2L]], label = name)
  }
}

test_that("bootstrap intervals over launches are SciPy's percentile intervals", {
  levels <- c(0.95, 0.90)
  each_case(function(x, y, known, name) {
    ours <- bootstrap_ratio(x, y, FALSE, levels, replicates = 20000L)
    expect_between(ours, known$bootstrap, name)
    one <- lapply(levels, function(level) bootstrap_median(x, level, replicates = 20000L))
    one <- list(low = sapply(one, `[[`, "low"), high = sapply(one, `[[`, "high"))
    expect_between(one, known$bootstrap_median, name)
    if (length(x) == length(y)) {
      ours <- bootstrap_ratio(x, y, TRUE, levels, replicates = 20000L)
      expect_between(ours, known$bootstrap_blocked, name)
    }
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
  data.table::setattr(out, "factors", character())
  out
}

test_that("Holm's correction over the sizes is as by its definition", {
  for (i in seq_along(given$p_values)) {
    expect_equal(
      stats::p.adjust(given$p_values[[i]], "holm"), scipy$holm[[i]], tolerance = EXACT
    )
  }
  compared <- compare_configurations(summary_of(given$sizes), replicates = 200L)
  expect_identical(compared$a, rep("mpich", 5L))
  expect_identical(compared$family_size, rep(5L, 5L))
  expect_identical(unique(compared$method), "signed-rank over blocks")
  expect_equal(compared$p_holm, scipy$sizes_p_holm, tolerance = EXACT)
  # a is mpich, which has the second of the two sides.
  medians <- vapply(given$sizes$x, stats::median, 0)
  expect_equal(compared$median_b_s, medians, tolerance = EXACT)
})

test_that("the intervals cover the true ratio as often as they say", {
  truth <- 1.08
  set.seed(4L)
  covered <- replicate(400L, {
    block <- stats::rnorm(10L, 0, 0.03)
    x <- truth * exp(block + stats::rnorm(10L, 0, 0.04))
    y <- exp(block + stats::rnorm(10L, 0, 0.04))
    interval <- bootstrap_ratio(x, y, TRUE, replicates = 500L)
    truth >= interval$low & truth <= interval$high
  })
  share <- rowMeans(covered)
  # Standard error of a share of 400: 0.011 at 95 %, 0.015 at 90 %.
  expect_gt(share[[1L]], 0.95 - 0.035)
  expect_gt(share[[2L]], 0.90 - 0.045)
  expect_lt(share[[2L]], 0.97)
})

test_that("ties, constant data and single launches give NA or 1, never an error", {
  expect_identical(welch(1, 2)$p, NA_real_)
  expect_identical(welch(c(1, 1, 1), c(1, 1, 1))$p, NA_real_)
  expect_identical(welch(c(0.1, 0.1, 0.1), c(0.3, 0.3, 0.3))$p, NA_real_)
  expect_identical(wilcoxon_independent(numeric(), 1), NA_real_)
  expect_identical(wilcoxon_independent(c(1, 1), c(1, 1)), 1)
  expect_identical(wilcoxon_blocked(c(1, 2), c(1, 2)), 1)
  expect_identical(wilcoxon_blocked(c(0, 2), c(1, 2)), NA_real_)
  expect_identical(hodges_lehmann_ratio(c(0, 1), 1), NA_real_)
  expect_error(wilcoxon_blocked(1:3, 1:2), class = "cotejo_refused")
  few <- bootstrap_ratio(1:4 / 10, 1:9 / 10)
  expect_identical(c(few$low, few$high), rep(NA_real_, 4L))
  expect_identical(bootstrap_median(1:4)$low, NA_real_)
})

test_that("the least p is what perfectly separated sides reach", {
  x <- seq(1, 2, length.out = 6L)
  expect_equal(least_p(6, 5, FALSE), wilcoxon_independent(x, 10 + x[1:5]), tolerance = EXACT)
  expect_equal(least_p(6, 6, TRUE), wilcoxon_blocked(x, x * (3:8)), tolerance = EXACT)
})

test_that("the bootstrap leaves the caller's random numbers alone and repeats itself", {
  set.seed(9L)
  expected <- stats::runif(3L)
  set.seed(9L)
  first <- bootstrap_ratio(1:8 / 4, 2:9 / 4)
  expect_identical(stats::runif(3L), expected)
  expect_identical(bootstrap_ratio(1:8 / 4, 2:9 / 4), first)
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
  expect_equal(over$p, stats::pchisq(q, 3, lower.tail = FALSE), tolerance = EXACT)
  expect_equal(over$spread, expm1(sqrt(between)), tolerance = EXACT)
  reach <- stats::qt(0.975, 3) * stats::sd(effect) / 2
  expect_equal(over$high, exp(0.2 + reach), tolerance = EXACT)
  expect_identical(ratio_over_sessions(side(0.1), flat)$p, NA_real_)
})

test_that("a slow first block is called warming up, and a trend is no warm-up", {
  calm <- c(0, 0.01, -0.01, 0.005, -0.005, 0.002, 0, -0.002)
  expect_true(first_of(c(0.2, calm))$warm_up)
  expect_equal(first_of(c(0.2, calm))$first, expm1(0.2), tolerance = EXACT)
  expect_false(first_of(calm)$warm_up)
  expect_false(first_of(seq(-0.1, 0.1, length.out = 8L))$warm_up)
  expect_identical(first_of(c(0.2, 0, 0))$warm_up, FALSE)
})

test_that("above sixty launches the tests are coin's by the normal approximation, with ties", {
  set.seed(6L)
  x <- round(exp(stats::rnorm(80L, 0, 0.1)), 2)
  y <- round(exp(stats::rnorm(80L, 0.02, 0.1)), 2)
  value <- c(x, y)
  side <- factor(rep(c("x", "y"), each = 80L))
  block <- factor(rep(1:80, 2L))
  expect_equal(
    wilcoxon_independent(x, y), as.numeric(coin::pvalue(coin::wilcox_test(value ~ side))),
    tolerance = EXACT
  )
  logs <- log(value)
  expect_equal(
    wilcoxon_blocked(x, y),
    as.numeric(coin::pvalue(coin::wilcoxsign_test(logs ~ side | block, zero.method = "Pratt"))),
    tolerance = EXACT
  )
})

test_that("medians of draws are medians, with ties, of odd and even numbers", {
  set.seed(8L)
  for (n in c(5L, 8L, 31L)) {
    x <- round(stats::rnorm(n), 1)
    index <- draw_indices(n, 40L)
    expect_identical(
      drawn_medians(x, index), apply(array(x[index], dim(index)), 2L, stats::median)
    )
  }
})

test_that("the interval of the Hodges-Lehmann ratio is that of R's own tests", {
  set.seed(9L)
  for (n in c(6L, 11L, 30L)) {
    x <- exp(stats::rnorm(n, 0.05, 0.1))
    y <- exp(stats::rnorm(n, 0, 0.1))
    for (blocked in c(TRUE, FALSE)) {
      ours <- hodges_lehmann_interval(x, y, blocked)
      theirs <- stats::wilcox.test(
        log(x), log(y), paired = blocked, conf.int = TRUE, conf.level = 0.95, exact = TRUE
      )
      expect_equal(c(ours$low[[1L]], ours$high[[1L]]), exp(as.vector(theirs$conf.int)))
      expect_equal(ours$ratio, unname(exp(theirs$estimate)))
    }
  }
  expect_true(is.na(hodges_lehmann_interval(1:4, 2:5, TRUE)$low[[1L]]))
  # Five blocks cannot have 95 %.
  expect_identical(is.na(hodges_lehmann_interval(1:5, c(2, 4, 5, 7, 9), TRUE)$low), c(TRUE, FALSE))
})
