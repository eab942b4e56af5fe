# SPDX-License-Identifier: BSD-3-Clause
# Parts of the variance between launches: the simulated parts are recovered.

planted_rounds <- function(launches, process = 0, spell = 0, noise = 0, slope = 0.5,
                           rounds = 40L) {
  data.table::rbindlist(lapply(seq_len(launches), function(l) {
    x <- spell * (stats::rnorm(1L) + stats::rnorm(rounds) / 2)
    data.table::data.table(
      launch = l, round = seq_len(rounds), x = x,
      y = process * stats::rnorm(1L) + slope * x + noise * stats::rnorm(rounds)
    )
  }))
}

test_that("a part that is planted alone has nearly all of the variance", {
  set.seed(3L)
  share <- function(...) {
    parts <- variance_parts(planted_rounds(60L, ...))
    c(process = parts$process, spells = parts$spells, rest = parts$rest) / parts$total
  }
  expect_gt(share(process = 0.1, noise = 0.01)[["process"]], 0.9)
  expect_gt(share(spell = 0.1, noise = 0.01)[["spells"]], 0.9)
  expect_gt(share(noise = 0.1)[["rest"]], 0.7)
})

test_that("parts that are planted together come out by their sizes", {
  set.seed(4L)
  parts <- variance_parts(planted_rounds(400L, process = 0.1, spell = 0.1, slope = 1, noise = 0.1))
  expect_equal(parts$slope, 1, tolerance = 0.05)
  # The rounds contribute 1 / (4 x 40) of the variance of the part `spells`.
  expect_equal(sqrt(parts$process), 0.1, tolerance = 0.15)
  expect_equal(sqrt(parts$spells), 0.1, tolerance = 0.15)
  expect_equal(sqrt(parts$rest), 0.1 / sqrt(40), tolerance = 0.2)
  expect_equal(parts$process + parts$spells + parts$rest, parts$total)
})

test_that("one launch has no variance between launches", {
  expect_true(is.na(variance_parts(planted_rounds(1L, noise = 0.1))$total))
})
