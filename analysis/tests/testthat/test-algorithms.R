# SPDX-License-Identifier: BSD-3-Clause
# The algorithm of each collective next to its times; performance guidelines.

# Launches of two MPIs whose descriptions name the algorithms that ran.
with_ran <- function(folder, ran, sends = NULL) {
  set.seed(1L)
  for (launch in 1:6) {
    for (mpi in names(ran)) {
      description <- make_description(mpi, launch = launch, experiment = "collective")
      description$algorithms <- lapply(c(8, 1024), function(bytes) {
        list(operation = "bcast", bytes = bytes, words = ran[[mpi]], sends = sends)
      })
      samples <- lapply(c(8, 1024), function(bytes) {
        make_samples(bytes, matrix(1e-6 * exp(stats::rnorm(5L, 0, 0.01))), "bcast")
      })
      write_launch(folder, description, rbindlist(samples))
    }
  }
  folder
}

test_that("medians and comparisons have the algorithm that ran beside the time", {
  ran <- c(openmpi = "ran as ring", mpich = "no evidence available")
  quiet(study <- compare_results(with_ran(fresh_folder(), ran)))
  expect_identical(unique(study$comparison$algorithm_a), "no evidence available")
  expect_identical(unique(study$comparison$algorithm_b), "ran as ring")
  table <- table_medians(study$medians)
  expect_identical(unique(table[["Open MPI algorithm"]]), "ran as ring")
  expect_identical(unique(table[["MPICH algorithm"]]), "no evidence available")
  shown <- table_comparison(study$comparison)
  expect_true(all(c("First algorithm", "Second algorithm") %in% names(shown)))
})

test_that("a study in which no message was counted names no evidence", {
  ran <- c(openmpi = "no evidence available", mpich = "no evidence available")
  quiet(study <- compare_results(with_ran(fresh_folder(), ran, sends = list())))
  expect_identical(unique(study$comparison$algorithm_a), "no evidence available")
})

test_that("a study without evidence has no columns of algorithms", {
  folder <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 4e-7), bytes = 1, blocks = 4L)
  quiet(study <- compare_results(folder))
  expect_null(study$comparison$algorithm_a)
  expect_identical(grep("algorithm", names(table_medians(study$medians))), integer())
})

test_that("words with separators of a hostile description stay one entry", {
  ran <- c(openmpi = "ran as a | b ~ 8", mpich = "ran as ring")
  quiet(study <- compare_results(with_ran(fresh_folder(), ran)))
  expect_identical(unique(study$comparison$algorithm_b), "ran as a - b - 8")
})

# One MPI whose operations take the given times (s), at two sizes.
with_times <- function(folder, times) {
  design <- data.table(
    operation = rep(names(times), each = 2L), bytes = c(64, 1024), time = unlist(times),
    mpi = "openmpi", transport = "shm", placement = "near"
  )
  plant(folder, design)
}

test_that("a guideline is violated where the operation is slower than its replacement", {
  folder <- with_times(fresh_folder(), list(
    allgather = c(2e-6, 3e-6), allgather_as_gather_bcast = c(1e-6, 4e-6),
    allgatherv = c(2e-6, 3e-6), iallgather = c(4e-6, 6e-6)
  ))
  summary <- summarise_launches(read_study(folder))
  found <- judge_guidelines(summary)
  judged <- function(replaced) {
    found[replacement == replaced][order(bytes)]$judgement
  }
  expect_identical(judged("allgather_as_gather_bcast"), c("violated", "held"))
  expect_identical(judged("allgatherv"), c("held", "held"))
  expect_identical(judged("iallgather"), c("held", "held"))
  expect_gt(found[replacement == "allgather_as_gather_bcast" & bytes == 64]$at_least, 0.9)
})

test_that("a persistent operation is not slower than a non-blocking one with a wait", {
  folder <- with_times(fresh_folder(), list(
    ibcast = c(2e-6, 3e-6), bcast_init = c(4e-6, 2e-6), igather = c(1e-6, 1e-6)
  ))
  found <- judge_guidelines(summarise_launches(read_study(folder)))[kind == "persistent"]
  expect_identical(unique(found$operation), "bcast_init")
  expect_identical(unique(found$replacement), "ibcast")
  expect_identical(found[order(bytes)]$judgement, c("violated", "held"))
})

test_that("a smaller message that takes longer than a larger one violates monotony", {
  folder <- with_times(fresh_folder(), list(bcast = c(5e-6, 3e-6), gather = c(1e-6, 3e-6)))
  found <- judge_guidelines(summarise_launches(read_study(folder)))
  found <- found[kind == "monotony"]
  expect_identical(found[operation == "bcast"]$judgement, "violated")
  expect_identical(found[operation == "bcast"]$replacement, "bcast of 1 KiB")
  expect_identical(found[operation == "gather"]$judgement, "held")
})

test_that("a tuning file is judged against the default by the session that confirms it", {
  set.seed(1L)
  folder <- fresh_folder()
  for (launch in 1:6) {
    for (file in c("", "/x/openmpi.env")) {
      description <- make_description(
        launch = launch, experiment = "collective",
        settings = if (nzchar(file)) list(algorithm_file = "_x_openmpi_env") else list()
      )
      words <- if (nzchar(file)) "ran as requested (ring)" else "ran as tree"
      description$algorithms <- list(list(operation = "bcast", bytes = 8, words = words))
      samples <- lapply(c(8, 1024), function(bytes) {
        time <- if (nzchar(file) && bytes == 8) 1e-6 else 2e-6
        make_samples(bytes, matrix(time * exp(stats::rnorm(5L, 0, 0.01))), "bcast")
      })
      write_launch(folder, description, rbindlist(samples))
    }
  }
  said <- utils::capture.output(print_tuning(folder))
  expect_identical(said, c("bcast\t8\tfaster", "bcast\t1024\twithin"))
  page <- file.path(fresh_folder(), "tuning.html")
  file <- tempfile()
  writeLines("# algorithm bcast 8 ring", file)
  quiet(write_tuning(folder, file, page))
  text <- paste(readLines(page), collapse = " ")
  expect_match(text, "faster than the default at 1, slower at 0")
  expect_match(text, "# algorithm bcast 8 ring", fixed = TRUE)
  # The page proves that the rule took effect.
  expect_match(text, "Algorithm with the file.*ran as requested \\(ring\\).*ran as tree")
})

test_that("the page of guidelines lists what is violated, and says so where nothing is", {
  folder <- with_times(fresh_folder(), list(
    bcast = c(2e-6, 3e-6), bcast_as_scatter_allgather = c(1e-6, 4e-6)
  ))
  for (file in list.files(folder, "[.]json$", recursive = TRUE, full.names = TRUE)) {
    lines <- gsub("\"planted\"", "\"guidelines_quick\"", readLines(file))
    ran <- "{\"operation\": \"bcast\", \"bytes\": 64, \"words\": \"ran as ring\"}"
    lines <- sub("^[{]", sprintf("{\"algorithms\": [%s],", ran), lines)
    writeLines(lines, file)
  }
  page <- file.path(fresh_folder(), "guidelines.html")
  said <- utils::capture.output(suppressMessages(write_guidelines(folder, page, "openmpi")))
  expect_match(said[[1L]], "is slower than bcast_as_scatter_allgather", fixed = TRUE)
  text <- paste(readLines(page), collapse = " ")
  expect_match(text, "violated by at least")
  # Beside a violation stands the algorithm that ran.
  expect_match(text, "Algorithm of the operation.*ran as ring")
  expect_match(readLines(file.path(dirname(page), "guidelines.csv"))[[2L]], "ran as ring")
  expect_error(
    suppressMessages(write_guidelines(folder, page, "mpich")), "no launch of guidelines"
  )
})
