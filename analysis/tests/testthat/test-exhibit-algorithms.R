# SPDX-License-Identifier: BSD-3-Clause
# The fastest algorithm and the regret of the library's choice.

# Launches of three levels: the library's choice takes 2 us, ring `ring` s, and tree 3 us.
plant_algorithms <- function(folder, ring, launches = 1L, ranks = c(2L, 4L), ran = NULL,
                             test = "planted", beside = NULL) {
  for (count in ranks) for (level in c("", "ring", "tree")) for (launch in seq_len(launches)) {
    description <- make_description(
      launch = launch, test = test, experiment = "collective", cpus = seq_len(count) - 1L,
      settings = if (nzchar(level)) list(algorithm_bcast = level) else list(),
      parameters = list(ranks = count)
    )
    if (level %in% names(ran)) {
      description$algorithms <- list(list(operation = "bcast", bytes = 8, words = ran[[level]]))
    }
    time <- c(2e-6, ring(count, launch), 3e-6)[[match(level, c("", "ring", "tree"))]]
    samples <- rbindlist(lapply(c("bcast", beside), \(operation) {
      make_samples(8, matrix(rep(time, 5L)), operation)
    }))
    write_launch(folder, description, samples)
  }
  folder
}

algorithms_row <- function() {
  one_row("best_algorithm", arguments = "row=ranks; panel=operation")
}

test_that("the fastest algorithm and the regret of the default are those planted", {
  folder <- plant_algorithms(fresh_folder(), \(ranks, launch) if (ranks == 2L) 1e-6 else 4e-6)
  drawn <- drawn_from(folder, algorithms_row())
  expect_identical(drawn$coverage$state, "drawn")
  expect_identical(drawn$data$best, c("ring", "default"))
  expect_equal(drawn$data$regret, c(1, 0))
  expect_identical(drawn$data$algorithms, c(3L, 3L))
  texts <- texts_of(paste(readLines(file.path(drawn$out, "stival", "fig-1.svg")), collapse = ""))
  expect_gte(min(texts$size), 8)
  expect_true(all(c("ring", "default") %in% texts$label))
})

test_that("an algorithm that the library replaced is no candidate", {
  folder <- plant_algorithms(
    fresh_folder(), \(ranks, launch) 1e-6, ran = c(ring = "ran as binomial, not as ring")
  )
  drawn <- drawn_from(folder, algorithms_row())
  expect_identical(unique(drawn$data$best), "default")
  expect_identical(unique(drawn$data$algorithms), 2L)
})

test_that("operations whose algorithm no launch sets are left out", {
  folder <- plant_algorithms(fresh_folder(), \(ranks, launch) 1e-6, beside = "allgatherv_init")
  drawn <- drawn_from(folder, algorithms_row())
  expect_identical(drawn$coverage$state, "drawn")
  expect_identical(drawn$data$best, c("ring", "ring"))
})

test_that("launches that chose do not judge", {
  # Ring looks fast in the launches used for the choice, and is slow in those used for the
  # judgement.
  folder <- plant_algorithms(fresh_folder(), \(ranks, launch) if (launch %% 2L) 1e-6 else 4e-6, 4L)
  drawn <- drawn_from(folder, algorithms_row())
  expect_identical(drawn$data$best, c("ring", "ring"))
  expect_equal(drawn$data$regret, c(-0.5, -0.5))
})

test_that("launches of real libraries that set algorithms are drawn, too", {
  folder <- plant_algorithms(
    fresh_folder(), \(ranks, launch) 1e-6, test = "collective_quick"
  )
  row <- list_exhibits()[name == "cotejo-best-algorithm"]
  out <- fresh_folder()
  quiet(coverage <- draw_exhibits(folder, out, exhibits = row))
  expect_identical(coverage$state, "drawn")
  expect_identical(unique(fread(file.path(out, "cotejo", "best-algorithm.csv"))$best), "ring")
})

test_that("launches without a choice of algorithms are awaited", {
  folder <- fresh_folder()
  for (launch in 1:2) {
    write_launch(
      folder, make_description(launch = launch, test = "planted", experiment = "collective"),
      make_samples(8, matrix(1e-6), "bcast")
    )
  }
  expect_identical(drawn_from(folder, algorithms_row())$coverage$state, "waiting")
})
