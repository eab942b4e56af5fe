# SPDX-License-Identifier: BSD-3-Clause
# Serial dependence of launches: found with the data of a quick session, and not found without it.

MPIS <- c(openmpi = 3e-7, mpich = 6e-7)

# Sessions: three libraries, four tests, six sizes. Half of the variance of a launch is common to
# its sizes; launches depend on the one before by `rho`. Lost: launches that are missing.
simulated_sessions <- function(count, rho, blocks = 10L, lost = 0L) {
  rows <- data.table::CJ(
    session = sprintf("s%03d", seq_len(count)), mpi = c("a", "b", "c"),
    test = paste0("test", 1:4), bytes = 2^(0:5), launch = seq_len(blocks)
  )
  walk <- function(n) {
    as.numeric(stats::filter(stats::rnorm(n + 20L), rho, "recursive"))[-(1:20)]
  }
  rows[, own := walk(.N), by = c("session", "mpi", "test", "bytes")]
  one <- rows[bytes == 1]
  one[, common := walk(.N), by = c("session", "mpi", "test")]
  rows[one, common := i.common, on = c("session", "mpi", "test", "launch")]
  # A drift of the machine cancels in comparisons.
  rows[, median_s := 1e-6 * exp(0.05 * (own + common) + 0.1 * launch)]
  rows[, c("site", "simulated", "scale", "experiment", "operation", "transport", "placement",
    "settings", "parameters") := list("local", "", "quick", "e", test, "shm", "near", "", "")]
  rows[, c("hosts", "ranks") := list(1L, 2L)]
  rows[, key := paste(session, mpi, test, launch)]
  rows[!key %in% sample(unique(key), lost)]
}

test_that("serial dependence of 0.3 is found in a quick session, and rarely where there is none", {
  set.seed(1L)
  none <- serial_of_sessions(simulated_sessions(200L, 0))
  expect_identical(nrow(none), 200L)
  # At most 5 % in the long run.
  expect_lt(share_of(sum(none$p <= 0.05), 200L)[[2L]], 0.05)
  some <- serial_of_sessions(simulated_sessions(200L, 0.3))
  expect_gt(mean(some$p <= 0.05), 0.8)
  expect_equal(mean(some$lag), 0.3, tolerance = 0.25)
  expect_lt(abs(mean(none$lag)), 0.05)
})

test_that("sessions of a question are judged together, and lost launches leave the level", {
  set.seed(2L)
  none <- serial_of_sessions(simulated_sessions(60L, 0, 6L, lost = 200L))
  together <- split(seq_len(60L), rep(1:20, 3L))
  p <- vapply(together, \(at) serial_p(none[at]), 0)
  expect_lt(mean(p <= 0.05), 0.2)
  some <- serial_of_sessions(simulated_sessions(60L, 0.3, 6L, lost = 200L))
  p <- vapply(together, \(at) serial_p(some[at]), 0)
  expect_gt(mean(p <= 0.05), mean(some$p <= 0.05))
})

test_that("too few blocks, one library and equal times have no serial dependence", {
  rows <- simulated_sessions(1L, 0.3)
  expect_identical(nrow(serial_of_sessions(rows[launch <= 4L])), 0L)
  expect_identical(nrow(serial_of_sessions(rows[mpi == "a"])), 0L)
  expect_identical(nrow(serial_of_sessions(rows[, median_s := 1])), 0L)
  expect_null(warn_of_serial(NULL))
})

test_that("card, answers.json and report warn of serial dependence", {
  folder <- fresh_folder()
  for (block in 1:10) {
    for (mpi in names(MPIS)) {
      # Slow in five consecutive blocks.
      slow <- if (mpi == "mpich" && block > 5L) 1.1 else 1
      times <- matrix(MPIS[[mpi]] * slow * c(1, 1.01, 0.99))
      write_launch(folder, make_description(mpi, launch = block), make_samples(1, times))
    }
  }
  study <- suppressMessages(analyse(folder))
  card <- answer(study$comparison, study)[[1L]]
  words <- "launches depend on the launches before them (lag-1 correlation"
  expect_match(card$warnings, words, fixed = TRUE)
  expect_match(card$warnings, paste(
    "confirm them in another session: make study",
    "CELLS='^pingpong_quick\\..*\\.shm\\.near'"
  ), fixed = TRUE)
  expect_match(card$lines, paste("Warning:", words), fixed = TRUE, all = FALSE)
  file <- tempfile()
  write_answers(list(card), file)
  expect_match(jsonlite::read_json(file)$answers[[1L]]$warnings[[1L]], words, fixed = TRUE)
  expect_identical(table_serial(study$serial)$Blocks, 10L)
})
