# SPDX-License-Identifier: BSD-3-Clause

chart_data <- function(html) {
  text <- sub("^.*?<script[^>]*>(.*)</script>.*$", "\\1", as.character(html))
  jsonlite::fromJSON(text, simplifyVector = FALSE)
}

chart_tables <- function(transport = "shm") {
  medians <- data.table::CJ(
    site = "s", test = "t", operation = "pingpong", mpi = c("b", "a"), transport = transport,
    bytes = c(0, 1024), sorted = FALSE
  )
  data.table::set(medians, j = c("median_s", "low_s", "high_s", "n", "factors"), value = list(
    2e-6, 1e-6, NA, 5L, ""
  ))
  data.table::setcolorder(medians, c("site", "test", "operation", "mpi", "transport", "factors"))
  comparison <- data.table::data.table(
    site = "s", test = "t", operation = "pingpong", transport = transport, a = "a", b = "b",
    bytes = 1024, ratio = 0.5, low = 0.4, high = 0.6, n_a = 5L
  )
  list(medians = medians, comparison = comparison)
}

test_that("a chart holds times in microseconds, ratios, and null where there is none", {
  case <- chart_data(chart_of_question(chart_tables()))[[1L]]
  expect_identical(unlist(case$labels), c("0 B", "1 KiB"))
  expect_identical(vapply(case$libraries, `[[`, "", "name"), c("a", "b"))
  expect_identical(case$libraries[[1L]]$y, list(2L, 2L))
  expect_identical(case$libraries[[1L]]$high, list(NULL, NULL))
  expect_length(unique(vapply(case$libraries, `[[`, "", "colour")), 2L)
  pair <- case$pairs[[1L]]
  expect_identical(pair[c("a", "b")], list(a = 0L, b = 1L))
  expect_identical(pair$low, list(NULL, 0.4))
})

test_that("cases of a chart are named by what differs, and text cannot end the script", {
  study <- chart_tables(c("shm", "</script>"))
  html <- chart_of_question(study)
  expect_length(gregexpr("</script>", html, fixed = TRUE)[[1L]], 1L)
  expect_setequal(vapply(chart_data(html), `[[`, "", "title"), c("shared memory", "</script>"))
})

test_that("there is no chart of one size or one library", {
  study <- chart_tables()
  one <- study
  one$medians <- study$medians[bytes == 0]
  expect_null(chart_of_question(one))
  one$medians <- study$medians[mpi == "a"]
  expect_null(chart_of_question(one))
  one <- list(medians = study$medians, comparison = data.table::data.table())
  expect_null(chart_of_question(one))
})

test_that("a page has the libraries that it needs, each with its licence", {
  plain <- paste(scripts_of("<p>"), collapse = "\n")
  expect_match(plain, "Tristen Brown", fixed = TRUE)
  expect_no_match(plain, "uPlot", fixed = TRUE)
  chart <- paste(scripts_of("<div class=\"chart\">"), collapse = "\n")
  for (text in c("Tristen Brown", "Leon Sorokin", "var uPlot=")) {
    expect_match(chart, text, fixed = TRUE)
  }
})

test_that("a chart begins with the plain case", {
  rows <- data.table(
    test = c("mpptest", "quick", "eager", "quick"), scale = c("full", "quick", "full", "quick"),
    settings = c("", "", "eager_limit=1", ""), parameters = c("pairs=1", "", "", ""),
    simulated = c("", "emulated: a", "", "")
  )
  expect_identical(plain_first(rows), c(4L, 2L, 1L, 3L))
  expect_identical(plain_first(rows[, "test"]), 1:4)
})
