# SPDX-License-Identifier: BSD-3-Clause
# The tails of many messages, from samples and from the summaries of launches in a dataset.

# A launch of which a dataset has five samples. Its summary has the tail of all of them.
thinned_launch <- function(folder, launch = 1L, tail = c(2e-6, 9e-6, 5e-3), summarise = identity,
                           ...) {
  description <- make_description(launch = launch, test = "planted", ...)
  description$samples$thinned_from <- 100000L
  description$samples$columns[[7L]] <- list(name = "pairs", unit = "", meaning = "pairs")
  description$summary <- list(summarise(list(
    operation = "pingpong", bytes = 8L, pairs = 1L, n = 100000L, median_s = 1e-6, min_s = 5e-7,
    p95_s = 1.5e-6, p99_s = tail[[1L]], p999_s = tail[[2L]], max_s = tail[[3L]]
  )), list(
    operation = "pingpong", bytes = 16L, pairs = 1L, n = 5L, median_s = 1e-6, min_s = 1e-6,
    p95_s = 1e-6
  ))
  samples <- make_samples(c(8, 16), matrix(1e-6, 5L, 2L))[, pairs := 1L]
  write_launch(folder, description, samples)
}

test_that("a launch whose samples were thinned has the tail that it recorded", {
  folder <- fresh_folder()
  few <- make_samples(8, matrix(1e-6, 5L, 1L))
  write_launch(folder, make_description(launch = 1L, test = "planted"), few)
  thinned_launch(folder, 2L)
  thinned_launch(folder, 3L, c(3e-6, 8e-6, 6e-3))
  for (results in list(read_results(folder), read_study(folder))) {
    summary <- summarise_launches(results)[order(bytes, launch)]
    expect_equal(summary$p99_s, c(1e-6, 2e-6, 3e-6, 1e-6, 1e-6))
    expect_equal(summary$p999_s, c(NA, 9e-6, 8e-6, NA, NA))
    expect_equal(summary$max_s, c(NA, 5e-3, 6e-3, NA, NA))
    expect_equal(summary$median_s, rep(1e-6, 5L))
  }
})

test_that("a tail in a summary that is no number is refused", {
  for (change in list(\(row) replace(row, "max_s", "5e-3"), \(row) row[names(row) != "bytes"])) {
    folder <- fresh_folder()
    path <- thinned_launch(folder, summarise = change)
    fault <- expect_error(read_results(folder), "a tail in its summary is no number")
    expect_match(conditionMessage(fault), basename(path))
  }
})

test_that("the exhibit of tails shows quantiles of each library, of long launches only", {
  folder <- fresh_folder()
  for (launch in 1:6) {
    for (transport in c("shm", "tcp")) {
      thinned_launch(folder, launch, c(2e-6, 9e-6, launch * 1e-3), transport = transport)
      thinned_launch(
        folder, launch, c(3e-6, 2e-5, launch * 1e-4),
        mpi = "mpich", transport = transport
      )
    }
  }
  drawn <- drawn_from(folder, one_row("tails", arguments = "series=mpi; panel=transport"))
  expect_identical(drawn$coverage$state, "drawn")
  expect_identical(unique(drawn$data$bytes), 8L)
  expect_identical(nrow(drawn$data), 16L)
  data <- drawn$data[transport == "tcp"][order(measure)]
  expect_identical(unique(data$measure), c(0.5, 0.99, 0.999, 1))
  expect_equal(data[mpi == "openmpi"]$median_s, c(1e-6, 2e-6, 9e-6, 3.5e-3))
  expect_equal(data[mpi == "mpich"]$median_s, c(1e-6, 3e-6, 2e-5, 3.5e-4))
  words <- words_of(file.path(drawn$out, "stival", "fig-1.svg"))
  for (word in c("99.9 %", "maximum", "Open MPI", "MPICH")) expect_match(words, word, fixed = TRUE)
  few <- drawn_from(one_launch(test = "planted")$folder, one_row("tails"))$coverage
  expect_identical(few$state, "waiting")
  expect_match(few$lacks, "launches with 20000 messages of a size")
})
