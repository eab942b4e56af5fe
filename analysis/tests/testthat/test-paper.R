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
  expect_lte(lengths(regmatches(html, gregexpr("<figure>", html, fixed = TRUE))), 30L)
  expect_match(text, "Of its [0-9]+ conclusions", fixed = FALSE)
  expect_match(text, "MPICH takes less time than Open MPI for messages", fixed = TRUE)
  expect_match(text, "contradicted", fixed = TRUE)
  expect_match(text, "0.2662", fixed = TRUE)
  expect_false(grepl("NaN|Inf|## Error", text))
})
