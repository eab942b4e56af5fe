# SPDX-License-Identifier: BSD-3-Clause
# Exports have the members of their schema, and their text is readable for other programs.

test_that("verdicts follow their schema, and metrics are OpenMetrics", {
  folder <- write_study(fresh_folder(), blocks = 5L, bytes = c(1, 1024))
  out <- fresh_folder()
  said <- utils::capture.output(suppressMessages(write_export(folder, out)))
  expect_true(all(file.path(out, c("verdicts.json", "metrics.txt")) %in% said))
  json <- jsonlite::read_json(file.path(out, "verdicts.json"))
  schema <- jsonlite::read_json(system.file("verdicts.schema.json", package = "cotejo"))
  expect_identical(json$schema, schema$properties$schema$const)
  expect_setequal(names(json), unlist(schema$required))
  members <- schema$properties$verdicts$items
  expect_length(json$verdicts, 2L)
  words <- unlist(members$properties$verdict$enum)
  expect_setequal(words, c(SETTLED, "not settled", "not tested"))
  for (verdict in json$verdicts) {
    expect_setequal(names(verdict), names(members$properties))
    for (name in names(verdict)) {
      type <- switch(class(verdict[[name]]),
        character = "string", "NULL" = "null", "number"
      )
      expect_true(type %in% unlist(members$properties[[name]]$type), label = name)
    }
    expect_true(verdict$low < verdict$ratio && verdict$ratio < verdict$high)
    expect_true(verdict$verdict %in% words)
  }
  text <- readLines(file.path(out, "metrics.txt"))
  expect_identical(text[[length(text)]], "# EOF")
  of <- grep("^cotejo_median_seconds[{]", text, value = TRUE)
  expect_length(of, 4L)
  expect_match(of, "[{]site=\"local\",.*bytes=\"(1|1024)\",session=\"\\w+\"[}] [0-9.e-]+ [0-9]+$")
  expect_match(of, "mpi=\"mpich\"", all = FALSE)
})

test_that("labels of metrics escape quotes, backslashes and line ends", {
  points <- data.table::data.table(
    series = 1L, session = "s", started = "2026-11-21T07:00:00Z", median_s = 1e-6, n = 5L,
    site = "a\"b\\c\nd", bytes = 8
  )
  expect_match(openmetrics(points), "site=\"a\\\"b\\\\c\\nd\"", fixed = TRUE, all = FALSE)
})

test_that("without comparisons the list of verdicts is empty", {
  text <- verdicts_json(data.table::data.table(), 0.03)
  expect_identical(jsonlite::fromJSON(paste(text, collapse = "\n"))$verdicts, list())
})
