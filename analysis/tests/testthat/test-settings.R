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

test_that("a first card also has the sizes that one configuration leads", {
  order <- function(tiers, sizes, text) {
    list(text = text, sizes = list(sizes), configurations = list(list(tier = tiers)))
  }
  card <- list(
    title = "x", orders = list(order(c(1L, 1L), 1:3, "none"), order(1:2, 4, "led")),
    launches = 8L, scope = "here", settled = 1L, tested = 4L, lines = "x"
  )
  shown <- function(...) paste(html_text(first_cards(list(card), ...)), collapse = "")
  expect_match(shown(also_led = TRUE), "led. none. 8 launches", fixed = TRUE)
  expect_no_match(shown(), "led. none", fixed = TRUE)
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
