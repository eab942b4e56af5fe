# SPDX-License-Identifier: BSD-3-Clause
# The paper: every section is there, its numbers are those of the data, and a claim is judged by
# the data that are there.

paper <- function() {
  source <- test_path("..", "..", "paper.Rmd")
  published <- test_path("..", "..", "..", "data", "published")
  testthat::skip_if_not(
    file.exists(source) && file.exists(published), "paper.Rmd is not beside the package"
  )
  list(source = normalizePath(source), published = normalizePath(published))
}

test_that("the paper has its sections and computes what it says", {
  given <- paper()
  folder <- write_study(
    fresh_folder(), c(openmpi = 3e-7, mpich = 6e-7),
    bytes = c(1, 16, 262144), blocks = 6L, transports = c("shm", "tcp")
  )
  out <- file.path(fresh_folder(), "paper.html")
  suppressMessages(utils::capture.output(
    write_paper(given$source, folder, out, published = given$published)
  ))
  html <- paste(readLines(out), collapse = "\n")
  for (section in c(
    "Question", "Method", "Sites", "Results by study", "What held up since the studies",
    "Threats to validity"
  )) {
    expect_match(html, paste0(section, "[^<]*</h2>"))
  }
  text <- gsub("\\s+", " ", gsub("<[^>]*>", "", html))
  expect_match(text, "in 24 launches", fixed = TRUE)
  expect_match(text, "Of 6 comparisons of all MPIs at one size, Open MPI is fastest", fixed = TRUE)
  # A paper that is read: few words and headings, none of which is there twice.
  expect_lt(length(strsplit(text, " ")[[1L]]), 8000L)
  headings <- regmatches(html, gregexpr("<h[23][^>]*>[^<]*", html))[[1L]]
  expect_identical(anyDuplicated(sub("^<[^>]*>", "", headings)), 0L)
  expect_match(text, "for 1 to 32 B over TCP MPICH is faster than Open MPI", fixed = TRUE)
  expect_match(text, "contradicted", fixed = TRUE)
  expect_match(text, "0.2662", fixed = TRUE)
  expect_false(grepl("NaN|Inf|## Error", text))
})

test_that("a claim holds, is contradicted or undecided by the verdicts", {
  rows <- data.table::data.table(
    a = "mpich", b = "openmpi", transport = "tcp", bytes = c(1, 16), ratio = c(0.8, 0.9),
    verdict = c("faster", "faster")
  )
  judge_with <- function(verdicts, by = 0.17) {
    rows[, verdict := verdicts]
    claim_on_libraries(rows, "s", "c", "mpich", function(b) b <= 32, by, 0.03)$Verdict
  }
  expect_identical(judge_with(c("faster", "faster")), "holds")
  expect_identical(judge_with(c("faster", "undecided")), "holds in part")
  expect_identical(judge_with(c("slower", "undecided")), "contradicted")
  expect_identical(judge_with(c("undecided", "undecided")), "undecided")
  # Equal within 3 % is not 17 % apart, and may be 2 %.
  expect_identical(judge_with(c("equivalent", "equivalent")), "contradicted")
  expect_identical(judge_with(c("equivalent", "faster")), "holds in part")
  expect_identical(judge_with(c("equivalent", "equivalent"), by = 0.02), "undecided")
  expect_identical(
    claim_on_libraries(rows[0L], "s", "c", "mpich", function(b) b <= 32, 0.17, 0.03)$Verdict,
    "no data"
  )
})

test_that("a winner that changes with the transport is not one of the start line", {
  starts_of <- function(faster) {
    rbindlist(lapply(names(faster), function(case) {
      where <- strsplit(case, " ")[[1L]]
      summary <- summarise_launches(read_results(write_study(
        fresh_folder(), c(openmpi = 1e-6, mpich = 1e-6 * faster[[case]]),
        bytes = 8, transports = where[[1L]], experiment = "bcast", operation = "bcast"
      )))
      set(summary, j = "option_start", value = where[[2L]])
      summary
    }))
  }
  claim <- function(faster) {
    starts <- starts_of(faster)
    data.table::setattr(starts, "factors", "option_start")
    claim_on_start(starts)
  }
  same <- claim(c("shm barrier" = 2, "shm clock" = 2, "tcp barrier" = 0.5, "tcp clock" = 0.5))
  expect_identical(same$Verdict, "not shown")
  expect_match(same$Here, "changes in 0 of 2 pairs", fixed = TRUE)
  turned <- claim(c("shm barrier" = 2, "shm clock" = 0.5))
  expect_identical(turned$Verdict, "holds")
})
