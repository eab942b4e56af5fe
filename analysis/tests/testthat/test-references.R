# SPDX-License-Identifier: BSD-3-Clause
# References of a site: prediction intervals over launches, and usual ratios of two libraries.

# Share of launches of a new session outside of the interval, though nothing changed.
false_alarms <- function(sessions, launches, between, within = 0.05, trials = 1500L) {
  set.seed(7L)
  mean(vapply(seq_len(trials), function(trial) {
    days <- stats::rnorm(sessions + 1L, 0, between)
    seen <- lapply(days[-1L], \(day) stats::rlnorm(launches, -15 + day, within))
    known <- interval_of_sessions(seen, 1L)
    following <- stats::rlnorm(1L, -15 + days[[1L]], within)
    following < known$low_s || following > known$high_s
  }, NA))
}

test_that("a launch of the next day is no false alarm", {
  for (design in list(
    c(1, 8, 0), c(3, 5, 0), c(3, 5, 0.05), c(5, 10, 0.15), c(10, 5, 0.1), c(2, 10, 0.1)
  )) {
    share <- false_alarms(design[[1L]], design[[2L]], design[[3L]])
    expect_lt(share, 0.018, label = toString(design)) # 1 % is meant
  }
})

test_that("a session alone does not know the next day", {
  # The result of the test above if days were taken for launches.
  expect_gt(false_alarms(1L, 10L, 0.1, 0.01, 300L), 0.3)
})

test_that("an interval has the quantiles of the printed tables", {
  # 10 launches of one session, 0.5 % in a tail: t is 3.250 with 9 degrees of freedom.
  medians <- exp(c(-1, 1, -1, 1, -1, 1, -1, 1, -1, 1) / 100)
  known <- interval_of_sessions(list(medians), 1L)
  expect_equal(known$median_s, 1)
  expect_equal(
    log(known$high_s), 3.2498 * stats::sd(log(medians)) * sqrt(1.1),
    tolerance = 1e-4
  )
})

test_that("launches that are all alike are as usual", {
  for (time in c(1.234567891e-6, 79.3e-6, 3e-3)) {
    known <- interval_of_sessions(list(rep(time, 5L)), 9L)
    expect_lt(known$low_s, time)
    expect_gt(known$high_s, time)
    expect_lt(known$high_s, 1.00001 * known$low_s)
  }
})

# Writes a launch whose summary has these times (s) of messages of 1 B and so on.
write_summary <- function(dir, times, session = "a", launch = 1L, kernel = "6.1", mpi = "openmpi",
                          pairs = 1L, ...) {
  made <- make_description(mpi, session = session, launch = launch, ...)
  made$observed$node$kernel <- kernel
  made$summary <- lapply(seq_along(times), function(i) {
    c(
      list(operation = "pingpong", bytes = as.integer(8^(i - 1L)), n = 9L),
      if (length(pairs)) list(pairs = pairs),
      list(median_s = times[[i]], min_s = times[[i]], p95_s = times[[i]])
    )
  })
  write_launch(dir, made, make_samples(1, matrix(times[[1L]])))
}

printed <- function(dir) {
  text <- quiet(print_references(file.path(dir, "local"), 4096))
  jsonlite::parse_json(paste(text, collapse = ""))
}

CELL <- "pingpong_quick.openmpi.shm.near"
USUAL <- c(1.00, 1.02, 0.99, 1.01, 0.98, 1.00) * 1e-6

test_that("references are of launches in the state of the newest launch", {
  dir <- fresh_folder()
  for (i in 1:6) write_summary(dir, 5e-6, "a", i, "5.1")
  for (i in 1:6) write_summary(dir, USUAL[[i]] * 1:2, c("b", "c", "d")[[1L + i %% 3L]], i + 6L)
  write_summary(dir, 9e-6, "e", 20L, scale = "smoke", test = "pingpong_quick")
  found <- printed(dir)
  expect_identical(found$ratios, structure(list(), names = character()))
  expect_named(found$cells, CELL)
  known <- found$cells[[CELL]]
  expect_identical(known$state, list(kernel = "6.1", cpu_model = "A CPU", lock_sha256 = "feed"))
  expect_identical(known$date, "2026-11-21T07:12:00Z")
  expect_named(known$groups, c("pingpong 1 B pairs=1", "pingpong 8 B pairs=1"))
  group <- known$groups[[1L]]
  expect_equal(group$median_s, 0.99992e-6, tolerance = 1e-4)
  expect_identical(c(group$launches, group$sessions), c(6L, 3L))
})

test_that("who has too few launches is told how many and what to do", {
  dir <- fresh_folder()
  for (i in 1:4) write_summary(dir, USUAL[[i]], launch = i)
  expect_error(
    print_references(file.path(dir, "local"), 4096),
    paste(
      "site local has at most 4 usable launches of a cell in .*, an interval takes 5:",
      "COTEJO_SITE=local make study LAUNCHES=5"
    )
  )
})

test_that("a broken description is named and the rest is used", {
  dir <- fresh_folder()
  paths <- vapply(1:7, \(i) write_summary(dir, 1e-6, launch = i), "")
  writeLines("{", paste0(paths[[3L]], ".json"))
  writeLines("[]", paste0(paths[[4L]], ".json"))
  said <- character()
  withCallingHandlers(
    rows <- reference_rows(file.path(dir, "local")),
    message = function(m) {
      said <<- c(said, conditionMessage(m))
      invokeRestart("muffleMessage")
    }
  )
  expect_length(rows$file, 5L)
  expect_match(said[[1L]], "left out: .*[.]003[.]json")
  expect_match(said[[2L]], "left out: .*[.]004[.]json")
  expect_match(said[[3L]], "2 files were left out")
})

# Launches of two libraries in blocks of some sessions, whose second one takes twice as long.
write_pairs <- function(sessions = 5L, scale = 1, second = list(mpi = "mpich")) {
  dir <- fresh_folder()
  set.seed(3L)
  for (session in letters[seq_len(sessions)]) {
    for (launch in 1:2) {
      times <- scale * c(1e-6, 2e-6) * exp(stats::rnorm(2L, 0, 0.02))
      write_summary(dir, times[[1L]], session, launch)
      do.call(write_summary, c(list(dir, times[[2L]], session, launch), second))
    }
  }
  dir
}

OTHER <- "pingpong_quick.mpich.shm.near"

test_that("ratios of two libraries are references without unit", {
  found <- printed(write_pairs())$ratios
  expect_named(found, c(OTHER, CELL), ignore.order = TRUE)
  expect_identical(c(names(found[[CELL]]), names(found[[OTHER]])), c(OTHER, CELL))
  known <- found[[OTHER]][[CELL]]
  expect_equal(known$usual[["pingpong 1 B pairs=1"]], 2, tolerance = 0.05)
  expect_identical(c(known$launches, known$sessions), c(10L, 5L))
  expect_identical(known$processors, list("A CPU"))
  expect_gt(known$limits$small, 1.5)
  expect_lt(known$limits$small, 1.7)
  expect_identical(known$limits$large, 1.5)
  # The clock of another machine is three times as slow: nothing is different.
  expect_equal(printed(write_pairs(scale = 3))$ratios[[OTHER]][[CELL]]$usual, known$usual)
})

test_that("ratios need three sessions and equal settings", {
  expect_error(print_references(file.path(write_pairs(2L), "local"), 4096), "takes 5")
  set <- list(mpi = "mpich", settings = list(x = "1"))
  expect_length(printed(write_pairs(second = set))$ratios, 0L)
})

test_that("a layer below is a denominator and has none", {
  # It has no pairs of ranks, as libraries have.
  layer <- list(mpi = "sockets", test = "transport_quick", pairs = NULL)
  found <- printed(write_pairs(second = layer))$ratios
  expect_named(found, CELL)
  expect_named(found[[CELL]], "transport_quick.sockets.shm.near")
  expect_equal(found[[CELL]][[1L]]$usual[[1L]], 0.5, tolerance = 0.05)
})

test_that("a group is named by its factors in the order of their names", {
  row <- list(operation = "x", bytes = 1048576L, zeta = 2, n = 5L, alpha = "a b", beta = 1e-06)
  expect_identical(name_of_group(row), "x 1048576 B alpha=a b beta=1e-06 zeta=2")
})
