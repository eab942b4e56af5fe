# SPDX-License-Identifier: BSD-3-Clause
# Settings of one MPI are compared with each other, and an MPI only with itself.

planted_settings <- function(mpis = c("openmpi", "mpich")) {
  folder <- fresh_folder()
  set.seed(1L)
  for (launch in 1:8) {
    for (mpi in mpis) {
      for (value in list(NULL, "8k", "64k")) {
        time <- 1e-6 * if (identical(value, "64k")) 1.2 else 1
        description <- make_description(mpi, launch = launch, settings = if (length(value)) {
          list(UCX_RNDV_THRESH = value)
        } else {
          list()
        })
        write_launch(folder, description, make_samples(
          1024, matrix(time * exp(stats::rnorm(5L, 0, 0.005)))
        ))
      }
    }
  }
  folder
}

test_that("a level that is slower is named, and the unset one is a level", {
  study <- suppressMessages(analyse(planted_settings()))
  found <- study$settings
  expect_setequal(unique(found$mpi), c("openmpi", "mpich"))
  slow <- found[a == "UCX_RNDV_THRESH=64k" | b == "UCX_RNDV_THRESH=64k"]
  expect_identical(nrow(slow), 4L)
  expect_true(all(slow$verdict == ifelse(slow$a == "UCX_RNDV_THRESH=64k", "slower", "faster")))
  same <- found[a == "UCX_RNDV_THRESH=8k" & b == "defaults"]
  expect_identical(nrow(same), 2L)
  expect_true(all(same$verdict == "within"))
})

test_that("the first screen of a report and the terminal answer which setting to take", {
  for (mpis in list("mpich", c("openmpi", "mpich"))) {
    out <- file.path(fresh_folder(), "report.html")
    said <- utils::capture.output(suppressMessages(write_report(planted_settings(mpis), out)))
    page <- paste(readLines(out), collapse = " ")
    first <- sub("Same in all comparisons.*", "", sub(".*>The answer</h2>", "", page))
    answered <- paste(
      "UCX_RNDV_THRESH=8k and defaults, within [0-9.]+ %;",
      "UCX_RNDV_THRESH=64k takes (19|2[01]) % longer"
    )
    expect_match(first, paste0("<summary>.*MPICH, ping-pong.*", answered, ".*settled"))
    expect_no_match(first, "nothing to compare", fixed = TRUE)
    expect_match(said, answered, all = FALSE)
  }
})

test_that("a summary has the sizes that one configuration leads", {
  order <- function(sizes, first, least = NULL, within = NA_real_) {
    behind <- seq_along(least)
    data.table(
      stratum = 1L, sizes = list(sizes), within = within, silent = NA,
      configurations = list(data.table(
        configuration = c(first, names(least)), tier = c(rep(1L, length(first)), 1L + behind),
        least = c(rep(NA, length(first)), unlist(least)), most = 2.5, low = 1.1
      )), nearest = list(data.table(
        configuration = as.character(names(least)), ratio = as.numeric(least),
        low = rep(1.1, length(least)), high = rep(9, length(least))
      )[behind == 1L & !is.na(ratio)])
    )
  }
  open <- order(c(1, 4, 16), c("mpich", "openmpi"))
  led <- order(64, "mpich", list(openmpi = 1.5))
  other <- order(256, "mpich", list(`intel-mpi` = 1.2, openmpi = 3))
  expect_identical(say_leaders(rbind(open, led, other)), paste0(
    "1 B to 16 B: MPICH or Open MPI, not settled. ",
    "64 B to 256 B: MPICH; the next takes 20 to 50 % longer (at least 10 %)"
  ))
  # Three ranges: one that a library leads is among the two that are named.
  within <- order(c(1024, 4096), c("mpich", "openmpi"), within = 0.05)
  expect_identical(say_leaders(rbind(open, led, within)), paste0(
    "1 B to 16 B: MPICH or Open MPI, not settled. ",
    "64 B: MPICH; Open MPI takes 50 % longer (at least 10 %). 1 KiB, 4 KiB: MPICH and Open MPI"
  ))
  # The leaders of further ranges are named, if there are few.
  last <- order(2^20, "intel-mpi", list(mpich = 3))
  expect_match(say_leaders(rbind(open, led, within, last)), paste(
    "longer (at least 10 %). 1 KiB, 4 KiB: MPICH and Open MPI. 1 MiB: Intel MPI"
  ), fixed = TRUE)
  again <- order(2^22, c("mpich", "openmpi"))
  expect_match(
    say_leaders(rbind(open, led, within, last, again)), "[)][.] 4 sizes: various leaders$"
  )
  untested <- order(1, character(), list(mpich = NA_real_))
  untested$configurations[[1L]][, tier := NA_integer_]
  expect_identical(
    say_leaders(rbind(within, untested[, stratum := 2L])),
    c("1 KiB to 4 KiB: MPICH and Open MPI, within 5.0 %", "1 B: MPICH not tested")
  )
})

test_that("settings are compared where launches name no algorithm that ran", {
  summary <- summarise_launches(read_study(planted_settings()))
  expect_false("algorithm" %in% names(summary))
  expect_true("algorithms" %in% names(summary))
  expect_identical(sort(unique(compare_settings(summary)$mpi)), c("mpich", "openmpi"))
})

test_that("without settings nothing is compared", {
  study <- suppressMessages(analyse(write_study(
    fresh_folder(), c(openmpi = 3e-7, mpich = 6e-7), bytes = 1
  )))
  expect_identical(nrow(study$settings), 0L)
})

test_that("the answer says where a setting had no shown effect", {
  folder <- fresh_folder()
  set.seed(2L)
  for (launch in 1:8) {
    for (value in list(NULL, "ring", "tree")) {
      settings <- if (length(value)) list(ALGORITHM = value) else list()
      description <- make_description("openmpi", launch = launch, settings = settings)
      effect <- list(status = "none shown", evidence = "")
      description$effects <- if (length(value)) list(ALGORITHM = effect) else named(list())
      time <- if (identical(value, "tree")) 1.2e-6 else 1e-6
      write_launch(folder, description, make_samples(
        1024, matrix(time * exp(stats::rnorm(5L, 0, 0.005)))
      ))
    }
  }
  found <- suppressMessages(analyse(folder))$settings
  same <- found[a != "ALGORITHM=tree" & b != "ALGORITHM=tree"]
  expect_identical(nrow(same), 1L)
  expect_true(same$verdict %in% c("within", "not settled"))
  expect_match(same$note, "no effect of ALGORITHM was shown")
  expect_match(answer(same)[[1L]]$lines[[1L]], "^1 KiB: .* [(]no effect shown[)]$")
  # A difference in the times is an effect.
  slow <- found[a == "ALGORITHM=tree" | b == "ALGORITHM=tree"]
  expect_true(all(slow$verdict %in% c("faster", "slower")))
})

test_that("a size at which the requested algorithm was replaced has no effect of the setting", {
  found <- data.table::data.table(
    algorithm_a = c(
      "ran as requested (ring)", "ran as tree, not as ring", "ran as tree, not as x"
    ),
    algorithm_b = c("ran as tree", "ran as tree, cannot be distinguished from y", "ran as tree"),
    verdict = c("faster", "within", "faster"), note = ""
  )
  # A direction that the times prove stays without a note.
  expect_identical(note_replaced(found)$note, c(
    "", "no effect of the setting at this size: both ran as tree", ""
  ))
})
