# SPDX-License-Identifier: BSD-3-Clause
# Figures of merit in their own units: the better direction in tables, words and verdicts.

planted_merits <- function(better = "more", unit = "GFLOP/s", of = c(openmpi = 10, mpich = 12)) {
  folder <- fresh_folder()
  set.seed(1L)
  for (launch in 1:8) {
    for (mpi in names(of)) {
      value <- of[[mpi]] * exp(stats::rnorm(1L, 0, 0.005))
      time <- if (better == "more") 1 / value else value * 1e-9
      description <- make_description(mpi, launch = launch, experiment = "app")
      description$samples$columns <- c(description$samples$columns, list(
        list(name = "figure_unit", unit = "", meaning = "unit"),
        list(name = "figure_better", unit = "", meaning = "way"),
        list(name = "figure", unit = "figure_unit", meaning = "figure")
      ))
      samples <- make_samples(0, matrix(time), "app")
      samples <- cbind(samples, figure_unit = unit, figure_better = better, figure = value)
      write_launch(folder, description, samples)
    }
  }
  folder
}

test_that("more is better where it is said so, in the program's unit", {
  study <- suppressMessages(analyse(planted_merits()))
  expect_identical(nrow(study$medians), 0L)
  expect_identical(nrow(study$comparison), 0L)
  table <- table_merits(study$merits$medians)
  expect_match(table[MPI == "MPICH"]$`Median [95 %]`, "^1[12][.]")
  expect_identical(unique(table$Unit), "GFLOP/s")
  said <- say_merits(study$merits$comparison)
  expect_match(said, "MPICH is better than Open MPI (more is better): ratio of GFLOP/s 1.2",
    fixed = TRUE
  )
})

test_that("less is better, of what is no time too", {
  study <- suppressMessages(analyse(planted_merits("less", "B", c(openmpi = 1e6, mpich = 2e6))))
  expect_match(
    table_merits(study$merits$medians)[MPI == "MPICH"]$`Median [95 %]`, "^(199|200)[0-9]{4}"
  )
  expect_match(
    say_merits(study$merits$comparison), "MPICH is worse than Open MPI (less is",
    fixed = TRUE
  )
})

test_that("a report of programs alone is written", {
  folder <- planted_merits()
  out <- file.path(fresh_folder(), "report.html")
  suppressMessages(utils::capture.output(write_report(folder, out)))
  page <- paste(readLines(out), collapse = " ")
  expect_match(page, "Figures of merit", fixed = TRUE)
  expect_match(page, "GFLOP/s", fixed = TRUE)
})

test_that("figures of programs alone are drawn: the table of times is empty, not an error", {
  out <- fresh_folder()
  suppressMessages(utils::capture.output(draw_all(planted_merits(), out)))
  expect_identical(nrow(utils::read.csv(file.path(out, "medians.csv"))), 0L)
  expect_true(file.exists(file.path(out, "index.html")))
})
