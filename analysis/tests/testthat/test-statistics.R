# SPDX-License-Identifier: BSD-3-Clause
# Statistics compared with values that SciPy computed from the same data (scipy_reference.py), and
# with their definitions.

given <- jsonlite::fromJSON(test_path("scipy-input.json"))
scipy <- jsonlite::fromJSON(test_path("scipy-values.json"))
EXACT <- 1e-9 # relative

each_case <- function(check) {
  for (name in names(given$sides)) {
    side <- given$sides[[name]]
    check(side$x, side$y, scipy$sides[[name]], name)
  }
}

welch <- \(x, y) welch_of_columns(matrix(x, ncol = 1L), matrix(y, ncol = 1L))

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

# Launch summaries of two MPIs with given medians, one row per block and size.
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

test_that("trimmed means, their errors and corrected p values are SciPy's", {
  d <- vapply(seq_along(given$sizes$x), function(i) {
    log(given$sizes$y[[i]]) - log(given$sizes$x[[i]])
  }, numeric(10L))
  found <- trimmed_moments(d)
  expect_equal(found$effect, scipy$sizes$effect, tolerance = EXACT)
  expect_equal(sqrt(found$spread / found$kept), scipy$sizes$error, tolerance = EXACT)
  alone <- tests_from(found$effect, found$n, found$spread / found$kept, found$kept - 1)
  expect_equal(alone$p, scipy$sizes$p, tolerance = EXACT)
  expect_equal(within_questions(alone)$q, scipy$sizes_q, tolerance = EXACT)
  compared <- compare_configurations(summary_of(given$sizes))
  expect_identical(compared$a, rep("mpich", 5L))
  expect_identical(compared$family, rep("5 comparisons of the question", 5L))
  expect_identical(unique(compared$method), "moderated t over blocks")
  expect_equal(log(compared$ratio), scipy$sizes$effect, tolerance = EXACT)
  expect_equal(compared$q, paired_curve(d)$q, tolerance = EXACT)
  # a is mpich, which has the second of the two samples.
  medians <- vapply(given$sizes$x, stats::median, 0)
  expect_equal(compared$median_b_s, medians, tolerance = EXACT)
})

test_that("sides without common blocks are compared as SciPy's trimmed Welch test does", {
  each_case(function(x, y, known, name) {
    if (min(x, y) <= 0 || min(length(x), length(y)) < LEAST_BLOCKS || is.na(known$yuen$p)) {
      return()
    }
    ours <- independent_curve(matrix(log(x)), matrix(log(y)))
    expect_equal(ours$df, known$yuen$df, tolerance = EXACT, info = name)
    expect_equal(ours$p, known$yuen$p, tolerance = EXACT, info = name)
  })
})

test_that("variances are moderated as limma does, by no more than the sizes are independent", {
  set.seed(21L)
  spread <- stats::rchisq(40L, 5) / 5
  apart <- matrix(stats::rnorm(240L), 6L)
  apart <- apart - rep(colMeans(apart), each = 6L)
  held <- moderate(spread, rep(5, 40L), apart)
  limma <- limma::squeezeVar(spread, 5)
  most <- 5 * (independent_sizes(apart)[[1L]] - 1)
  expect_lt(most, limma$df.prior)
  expect_equal(unique(held$df), 5 + most, tolerance = EXACT)
  expect_equal(
    held$spread, (most * limma$var.prior + 5 * spread) / (most + 5), tolerance = EXACT
  )
  # Identical sizes carry no more information than one of them.
  same <- moderate(rep(2, 8L), rep(5, 8L), apart[, rep(1L, 8L)])
  expect_equal(same, list(spread = rep(2, 8L), df = rep(5, 8L)), tolerance = EXACT)
})

test_that("curves are tested together as each alone, whatever the others are", {
  set.seed(22L)
  spreads <- list(rep(0.05, 9L), stats::runif(6L, 0.01, 0.5), 0.1, rep(0, 4L), c(0.1, 0.2))
  curves <- lapply(spreads, \(sd) matrix(stats::rnorm(9L * length(sd)), 9L) * rep(sd, each = 9L))
  curves[[2L]][c(3L, 12L, 13L)] <- NA
  together <- test_columns(do.call(cbind, curves), rep(seq_along(curves), lengths(spreads)))
  alone <- lapply(curves, test_columns)
  for (name in names(together)) {
    expect_equal(together[[name]], unlist(lapply(alone, `[[`, name)), tolerance = 1e-7)
  }
  moments <- trimmed_moments(curves[[1L]])
  prior <- prior_of(moments$spread, moments$kept - 1, rep(1L, 9L))
  limma <- limma::squeezeVar(moments$spread, moments$kept - 1)
  expect_equal(prior$df[[1L]], limma$df.prior, tolerance = 1e-7)
  expect_equal(prior$spread[[1L]], limma$var.prior, tolerance = 1e-7)
  # Drawn sessions may have different numbers of blocks.
  units <- list(1:2, 3:5, 6:9)
  tests <- with_seed(1L, continue_blocks(curves[[1L]], units)(2L))
  drawn <- with_seed(1L, lapply(seq_len(CONTINUATIONS), \(i) unlist(units[continued(3L, 2L)])))
  expect_gt(length(unique(lengths(drawn))), 1L)
  each <- lapply(drawn, \(rows) test_columns(curves[[1L]][rows, ]))
  expect_equal(tests$p, unlist(lapply(each, `[[`, "p")), tolerance = 1e-7)
})

# Curves of blocks with a common part; some launches take twice the time.
curve_at <- function(n, sizes, effect) {
  common <- stats::rnorm(n, 0, 0.04) + ifelse(stats::runif(n) < 0.1, 0.7, 0)
  common + matrix(stats::rnorm(n * sizes, 0, 0.04), n) + effect
}

test_that("verdict and interval are each other's inverse, at every n from 4 on", {
  set.seed(12L)
  for (n in c(4:12, 15L, 30L, 60L)) {
    for (effect in c(0, 0.03, 0.08)) {
      d <- curve_at(n, 6L, effect)
      if (n > 4L) d[1L, 2:3] <- NA
      for (curve in list(
        paired_curve(d), independent_curve(curve_at(n, 6L, effect), curve_at(n + 1L, 6L, 0))
      )) {
        outside <- curve$low > 0 | curve$high < 0
        expect_identical(curve$q <= 0.05, outside, info = paste(n, effect))
        expect_true(all(curve$low <= curve$effect & curve$effect <= curve$high))
        expect_true(all(curve$q >= curve$p - 1e-12))
        expect_true(all(curve$confidence >= 0.95 & curve$confidence <= 1 - 0.05 / 6))
      }
    }
  }
  # Subtracted values shift effect and interval without any other change.
  d <- curve_at(11L, 4L, 0)
  expect_equal(paired_curve(d + 0.5)$effect, paired_curve(d)$effect + 0.5, tolerance = EXACT)
  # Exchanging the two configurations mirrors all values about 1.
  there <- paired_curve(d)
  back <- paired_curve(-d)
  expect_equal(back$low, -there$high, tolerance = EXACT)
  expect_equal(back$q, there$q, tolerance = EXACT)
})

test_that("a value is held exactly where it is not rejected", {
  set.seed(13L)
  d <- curve_at(9L, 1L, 0.05)
  curve <- paired_curve(d)
  rejected <- function(value) paired_curve(d - value)$q <= 0.05
  expect_false(rejected(curve$low + 1e-6))
  expect_false(rejected(curve$high - 1e-6))
  expect_true(rejected(curve$low - 1e-6))
  expect_true(rejected(curve$high + 1e-6))
})

# Log times of many studies of 8 sizes: half of the variance of a launch is common to them.
many_studies <- function(n, spread, studies = 400L) {
  common <- matrix(stats::rnorm(n * studies), n)[, rep(seq_len(studies), each = 8L)]
  spread * (common + stats::rnorm(length(common))) / sqrt(2)
}
OF_STUDY <- rep(1:400, each = 8L)

test_that("unequal spreads and numbers of launches give no more false differences", {
  set.seed(14L)
  for (design in list(c(6, 6, 1, 6), c(20, 5, 1, 4), c(6, 30, 6, 1), c(6, 30, 1, 6))) {
    tests <- test_independent(
      many_studies(design[[1L]], design[[3L]] / 100),
      many_studies(design[[2L]], design[[4L]] / 100), OF_STUDY
    )
    called <- tapply(within_questions(tests, OF_STUDY)$q <= 0.05, OF_STUDY, any)
    # At most 6 % in the long run; permuting launches gave 15 to 46 %.
    expect_lt(share_of(sum(called), 400L)[[2L]], 0.06)
  }
})

test_that("ten per cent are found at a block spread of 7 %", {
  set.seed(15L)
  for (n in c(6L, 8L, 10L)) {
    tests <- test_columns(log(1.1) + many_studies(n, 0.07), OF_STUDY)
    found <- mean(within_questions(tests, OF_STUDY)$q <= 0.05)
    expect_gt(found, c(`6` = 0.4, `8` = 0.62, `10` = 0.8)[[as.character(n)]])
  }
})

test_that("below eight blocks an outlier turns no verdict, in either direction", {
  set.seed(17L)
  for (n in 4:7) {
    for (truth in c(0, 0.12, -0.12)) {
      for (factor in c(2, 0.5)) {
        d <- truth + many_studies(n, 0.02)
        # The first launch stands out at all sizes of half of the studies, at one size of the rest.
        hit <- OF_STUDY <= 200L | !duplicated(OF_STUDY)
        d[1L, hit] <- d[1L, hit] + log(factor)
        tests <- list(test_columns(d, OF_STUDY))
        tests[[2L]] <- test_independent(d, many_studies(n, 0.02), OF_STUDY)
        for (one in tests) {
          found <- within_questions(one, OF_STUDY)
          verdict <- judge(exp(found$low[hit]), exp(found$high[hit]), 0.03)
          right <- if (truth == 0) "within" else if (truth > 0) "slower" else "faster"
          expect_true(all(verdict %in% c("not settled", right)))
        }
      }
    }
  }
})

test_that("one launch of twice the time hides no difference", {
  d <- matrix(0.1 + c(-2, -1, 0, 1, 2, 1, -1, 0, 0.5, -0.5, 1.5, -1.5) / 100)
  d[[3L]] <- -0.6
  # The mean of the blocks is 0.04 with a standard error of 0.06.
  expect_lt(paired_curve(d)$q, 0.05)
  expect_gt(stats::t.test(d)$p.value, 0.4)
  expect_equal(paired_curve(d)$effect, 0.1, tolerance = 0.15)
})

test_that("blocks that do not vary have an interval without width, and equal ones no effect", {
  flat <- paired_curve(matrix(0.1, 10L, 3L))
  expect_equal(c(flat$low, flat$high), rep(0.1, 6L), tolerance = EXACT)
  expect_identical(unique(flat$q), 0)
  none <- paired_curve(matrix(0, 10L, 2L))
  expect_identical(c(none$q, none$low, none$high), c(1, 1, 0, 0, 0, 0))
  # One size without variation by chance is no proof next to sizes that vary.
  d <- cbind(rep(0.01, 4L), c(-2, 1, 3, 2) / 10, c(4, -3, 1, 0) / 10, c(-1, 2, 0, 3) / 10)
  expect_gt(paired_curve(d)$q[[1L]], 0)
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
  # Errors are equal, so the mean is unweighted; Q = sum of squares / error^2.
  error <- stats::sd(c(-0.03, -0.01, 0.01, 0.03)) / 2
  q <- sum((effect - 0.2)^2) / error^2
  between <- (q - 3) * error^2 / 3
  expect_equal(over$ratio, exp(0.2), tolerance = EXACT)
  expect_equal(over$between, between, tolerance = EXACT)
  expect_equal(over$spread, expm1(sqrt(between)), tolerance = EXACT)
  reach <- stats::qt(0.975, 3) * stats::sd(effect) / 2
  expect_equal(over$high, exp(0.2 + reach), tolerance = EXACT)
  expect_equal(c(over$error, over$df), c(stats::sd(effect) / 2, 3), tolerance = EXACT)
  expect_identical(ratio_over_sessions(side(0.1), flat)$low, NA_real_)
  # A column of the caller's table may have the name of a variable of the function.
  named <- data.table::copy(side(effect))[, c("side", "common", "table") := "a"]
  expect_equal(ratio_over_sessions(named, flat), over, tolerance = EXACT)
})

test_that("a slow first block is called warming up, and a trend is no warm-up", {
  calm <- c(0, 0.01, -0.01, 0.005, -0.005, 0.002, 0, -0.002)
  expect_true(first_of(c(0.2, calm))$warm_up)
  expect_equal(first_of(c(0.2, calm))$first, expm1(0.2), tolerance = EXACT)
  expect_false(first_of(calm)$warm_up)
  expect_false(first_of(seq(-0.1, 0.1, length.out = 8L))$warm_up)
  expect_identical(first_of(c(0.2, 0, 0))$warm_up, FALSE)
})

test_that("a curve is the same whatever stands beside it, and where blocks lack sizes", {
  set.seed(9L)
  whole <- lapply(3:6, function(sizes) matrix(stats::rnorm(8L * sizes, 0.1, 0.1), 8L))
  lacking <- lapply(whole, function(d) replace(d, 3L, NA))
  both <- paired_curves(c(whole, lacking))
  expect_identical(both[1:4], lapply(whole, function(d) paired_curves(list(d))[[1L]]))
  expect_identical(both[5:8], lapply(lacking, function(d) paired_curves(list(d))[[1L]]))
})

test_that("medians of columns are medians of what is known", {
  set.seed(8L)
  x <- matrix(round(stats::rnorm(60L), 1), 12L)
  x[cbind(c(1, 5, 5), c(1, 2, 3))] <- NA
  expect_identical(column_medians(x), apply(x, 2L, stats::median, na.rm = TRUE))
})

test_that("a statement over all questions selects questions, and leaves their own answers", {
  own <- data.table(
    site = "s", operation = c("a", "a", "b", "b", "c"), q = c(0.001, 0.04, 0.03, 0.04, 0.9)
  )
  # Two of three questions are selected: the level is 5 % times 2 / 3.
  expect_identical(over_questions(own), c(TRUE, FALSE, TRUE, FALSE, FALSE))
  more <- rbind(own, data.table(site = "s", operation = letters[5:22], q = c(NA, rep(0.9, 17L))))
  expect_identical(which(over_questions(more)), 1L)
  expect_identical(more$q[1:5], own$q)
  # Without differences, a study of 20 questions has a false statement in 5 % of the cases.
  set.seed(1L)
  study <- data.table(operation = rep(1:20, each = 6L))
  false <- rowSums(replicate(400L, {
    study[, q := stats::p.adjust(stats::runif(.N), "BH"), by = "operation"]
    c(any(study$q <= 0.05), any(over_questions(study)))
  })) / 400
  expect_gt(false[[1L]], 0.5)
  expect_lt(false[[2L]], 0.08)
})
