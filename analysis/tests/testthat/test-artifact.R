# SPDX-License-Identifier: BSD-3-Clause
# Another run reproduces the claims of an artifact, and names each claim that it contradicts.

register_of <- function(...) {
  rows <- data.table::rbindlist(lapply(list(...), function(row) {
    utils::modifyList(list(
      study = "cotejo", where = "text", says = "s", exhibit = "fig-1", tests = "planted",
      filter = "", factor = "mpi", a = "mpich", b = "openmpi", direction = "less", low = NA,
      high = NA, circular = "", note = ""
    ), row)
  }))
  file <- tempfile(fileext = ".csv")
  data.table::fwrite(rows, file)
  file
}

measured <- function(ratio, blocks = 6L, ...) {
  design <- design_of(bytes = c(1, 1024), mpi = c("mpich", "openmpi"), ...)
  design[, time := 1e-6 * data.table::fifelse(mpi == "mpich" & bytes == 1, ratio, 1)]
  plant(fresh_folder(), design, blocks)
}

register <- register_of(
  list(claim = "small", sizes = "1"), list(claim = "large", sizes = "1024"),
  list(claim = "gone", sizes = "1", tests = "other")
)

judged <- function(expected, results) {
  out <- tempfile(fileext = ".csv")
  table <- NULL
  said <- utils::capture.output(
    table <- write_reproduction(results, register, expected, out)
  )
  expect_equal(nrow(data.table::fread(out)), 3L)
  list(table = table, said = said)
}

test_that("two sessions of one machine agree, and an injected change is named", {
  expected <- tempfile(fileext = ".csv")
  claims <- write_claims(measured(0.8), register, expected)
  expect_identical(claims$verdict, c("holds", "contradicted", "not comparable"))
  expect_match(claims$configurations[[1L]], "^planted\\S+ planted\\S+$")
  expect_identical(claims$configurations[[3L]], "")
  expect_true(claims$minutes[[1L]] > 0 && is.na(claims$minutes[[3L]]))
  same <- judged(expected, measured(0.8))
  expect_identical(
    same$table$judgement, c("reproduced", "reproduced", "cannot be judged here")
  )
  expect_match(same$table$why[[3L]], "the archive does not settle it")
  changed <- judged(expected, measured(1.3))
  expect_identical(changed$table$judgement[1:2], c("contradicted", "reproduced"))
  expect_match(changed$said[[1L]], "contradicted: cotejo s \\(archive: 0.80.*; here: 1.30")
  other <- judged(expected, measured(0.5))
  expect_identical(other$table$judgement[[1L]], "reproduced")
  expect_identical(other$table$why[[1L]], "by another amount")
  few <- judged(expected, measured(0.8, blocks = 3L))
  expect_identical(few$table$judgement[[1L]], "cannot be judged here")
  expect_match(few$table$why[[1L]], "the launches do not settle it.*at least 4")
})

test_that("tables of an archive that differ here are named", {
  there <- fresh_folder()
  here <- fresh_folder()
  for (name in c("same.csv", "digits.csv", "number.csv", "gone.csv")) {
    data.table::fwrite(data.table::data.table(x = c(1, 2), y = "a"), file.path(there, name))
  }
  file.copy(file.path(there, "same.csv"), here)
  data.table::fwrite(data.table::data.table(x = c(1, 2 + 1e-9), y = "a"),
    file.path(here, "digits.csv"))
  data.table::fwrite(data.table::data.table(x = c(1, 2.1), y = "a"),
    file.path(here, "number.csv"))
  wrong <- compare_drawn(there, here)
  expect_identical(wrong$name, c("gone.csv", "number.csv"))
  expect_identical(wrong$why[[1L]], "was not drawn here")
  expect_match(wrong$why[[2L]], "difference")
  expect_error(compare_drawn(fresh_folder(), here), "run make artifact")
})

test_that("tables without figures are those behind the figures", {
  results <- measured(0.8)
  folders <- list(all = fresh_folder(), tables = fresh_folder())
  quiet(draw_all(results, folders$all))
  quiet(draw_all(results, folders$tables, endings = "csv"))
  files <- lapply(folders, list.files, recursive = TRUE)
  expect_gt(sum(grepl("[.]svg$", files$all)), 0L)
  expect_false(any(grepl("[.]svg$", files$tables)))
  tables <- grep("[.]csv$", files$all, value = TRUE)
  expect_setequal(grep("[.]csv$", files$tables, value = TRUE), tables)
  expect_identical(nrow(compare_drawn(folders$all, folders$tables)), 0L)
})

test_that("an artifact that is not there is said before anything is drawn", {
  error <- expect_error(
    check_artifact(fresh_folder(), NULL, character(), fresh_folder(), fresh_folder()),
    class = "cotejo_bad_data"
  )
  expect_match(conditionMessage(error), "no table of an artifact; run make artifact", fixed = TRUE)
})

test_that("nothing that a terminal obeys is printed of an archive", {
  there <- fresh_folder()
  writeLines("x", file.path(there, "\u001b[2J\u001b[31mevil\u202e.csv"))
  results <- measured(0.8)
  said <- utils::capture.output(quiet(
    expect_error(check_artifact(results, NULL, register, there, fresh_folder()), "1 table")
  ))
  evil <- "differs:  [2J [31mevil<U+202E>.csv: was not drawn here"
  expect_match(said, evil, fixed = TRUE, all = FALSE)
  expected <- file.path(there, "claims.csv")
  claims <- write_claims(results, register, expected)
  claims[, says := "\u001b[2Ja\u2066b"]
  write_csv(claims, expected)
  said <- judged(expected, results)$said
  expect_match(said[[1L]], "reproduced: cotejo  [2Ja<U+2066>b (archive", fixed = TRUE)
})
