# SPDX-License-Identifier: BSD-3-Clause
# Figures of merit in their own units: the better direction in tables, words and verdicts.

planted_merits <- function(better = "more", unit = "GFLOP/s", of = c(openmpi = 10, mpich = 12),
                           bytes = 0, spread = 0.005) {
  folder <- fresh_folder()
  set.seed(1L)
  for (launch in 1:8) {
    for (mpi in names(of)) {
      value <- of[[mpi]] * exp(stats::rnorm(1L, 0, spread))
      scale <- if (unit == "us") 1e-6 else 1e-9
      time <- if (better == "more") 1 / value else value * scale
      description <- make_description(mpi, launch = launch, experiment = "app")
      description$samples$columns <- c(description$samples$columns, list(
        list(name = "figure_unit", unit = "", meaning = "unit"),
        list(name = "figure_better", unit = "", meaning = "way"),
        list(name = "figure", unit = "figure_unit", meaning = "figure")
      ))
      samples <- make_samples(bytes, matrix(time, 1L, length(bytes)), "app")
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
  ratios <- table_merit_ratios(study$merits$comparison)
  expect_identical(ratios$First, "MPICH")
  expect_match(ratios$`Ratio [interval]`, "^1[.](19|2)")
  expect_identical(ratios$`First is`, "better in this session")
  card <- answer_merits(study$merits$comparison)[[1L]]
  expect_match(card$title, ", in GFLOP/s, more is better$")
  expect_match(card$lines[[1L]], "^MPICH; Open MPI is (19|2[01]) % worse [(]at least [0-9]+ %[)]$")
  expect_identical(card$orders[[1L]]$text, card$lines[[1L]])
})

test_that("a card of a figure that is not settled has the command that settles it", {
  folder <- planted_merits(of = c(openmpi = 10, mpich = 10), spread = 0.2)
  study <- suppressMessages(analyse(folder))
  card <- answer_merits(study$merits$comparison, study)[[1L]]
  expect_match(card$to_settle$command, "^make study .*CELLS='.*LAUNCHES=[0-9]+$")
  expect_match(card$lines[[length(card$lines)]], "^To settle: ")
})

test_that("less is better, of what is no time too", {
  study <- suppressMessages(analyse(planted_merits("less", "B", c(openmpi = 1e6, mpich = 2e6))))
  expect_match(
    table_merits(study$merits$medians)[MPI == "MPICH"]$`Median [95 %]`, "^(199|200)[0-9]{4}"
  )
  card <- answer_merits(study$merits$comparison)[[1L]]
  expect_match(card$title, ", in B, less is better$")
  expect_match(card$lines[[1L]], "^Open MPI; MPICH is 99 % worse [(]at least 9[0-9] %[)]$")
})

test_that("one card has all sizes of a figure that is a time, in words on times", {
  study <- suppressMessages(analyse(
    planted_merits("less", "us", c(openmpi = 1, mpich = 4), bytes = c(1, 8, 64))
  ))
  card <- answer_merits(study$merits$comparison)
  expect_length(card, 1L)
  expect_match(card[[1L]]$title, ", in \u00b5s, less is better$")
  expect_match(
    card[[1L]]$lines[[1L]], "^1 B to 64 B: Open MPI; MPICH takes 4[.]0 times as long"
  )
  expect_identical(
    table_merit_ratios(study$merits$comparison)$Size, c("1 B", "8 B", "64 B")
  )
})

test_that("words on times become words on figures, and others stay", {
  expect_identical(
    reword_merits(c(
      "x takes 6 to 7 times as long (at least 5.5 times); y takes longer",
      "x may be anything from 2.3 times faster to 65 % slower", "z=faster takes 1.2 % longer"
    )), c(
      "x is 6 to 7 times worse (at least 5.5 times); y is worse",
      "x may be anything from 2.3 times better to 65 % worse", "z=faster is 1.2 % worse"
    )
  )
})

test_that("a report of programs alone is written", {
  folder <- planted_merits()
  out <- file.path(fresh_folder(), "report.html")
  said <- suppressMessages(utils::capture.output(write_report(folder, out)))
  page <- paste(readLines(out), collapse = " ")
  expect_match(page, "Figures of merit", fixed = TRUE)
  expect_match(page, "GFLOP/s", fixed = TRUE)
  first <- sub("Same in all comparisons.*", "", sub(".*>The answer</h2>", "", page))
  expect_match(first, "<summary>.*MPICH; Open MPI is [0-9]+ % worse.*1 of 1 comparison settled")
  expect_match(said, "^  MPICH; Open MPI is [0-9]+ % worse", all = FALSE)
})

test_that("figures of programs alone are drawn: the table of times is empty, not an error", {
  out <- fresh_folder()
  suppressMessages(utils::capture.output(draw_all(planted_merits(), out)))
  expect_identical(nrow(utils::read.csv(file.path(out, "medians.csv"))), 0L)
  expect_true(file.exists(file.path(out, "index.html")))
})
