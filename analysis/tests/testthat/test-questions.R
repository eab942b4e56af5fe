# SPDX-License-Identifier: BSD-3-Clause
# Questions stored in a dataset: each gets its kind of report, from its packed launches.

# A packed dataset NAME in the folder `questions` of a dataset; `more` goes into each session.json.
keep_question <- function(dataset, name, base, more = list(), sessions = "20261121T070000Z") {
  folder <- file.path(dataset, "questions", name)
  dir.create(file.path(folder, "local"), recursive = TRUE)
  archives <- file.path("local", paste0(sessions, ".tar.xz"))
  for (i in seq_along(sessions)) {
    pack_session(file.path(folder, archives[[i]]), base, more, sessions[[i]])
  }
  sums <- vapply(file.path(folder, archives), sha256, "")
  writeLines(paste0(sums, "  ", archives), file.path(folder, "SHA256SUMS"))
}

pack_session <- function(archive, base, more, session) {
  results <- write_study(fresh_folder(), base, bytes = 1024, blocks = 8L, session = session)
  folder <- file.path(results, "local", session)
  plan <- list(
    schema = "cotejo-session/2", seed = 1, tag = "quick", blocks = 8, finished = "x",
    cells = list("pingpong"), families = list(), reached = named(list())
  )
  plan[names(more)] <- more
  write_json(plan, file.path(folder, "session.json"))
  old <- setwd(folder)
  on.exit(setwd(old))
  utils::tar(archive, list.files("."), compression = "xz", tar = "internal")
}

test_that("a search over releases is answered by its report, which names its archive", {
  dataset <- fresh_folder()
  base <- c(v1 = 3e-6, v2 = 3e-6, v3 = 6e-6)
  keep_question(dataset, "which", base, list(releases = as.list(names(base))))
  out <- fresh_folder()
  said <- utils::capture.output(suppressMessages(found <- write_questions(dataset, out)))
  expect_identical(found, c(which = file.path(out, "which", "releases.html")))
  expect_match(said, "changed at v3 (not yet in v2)", fixed = TRUE, all = FALSE)
  page <- paste(readLines(found[["which"]]), collapse = " ")
  expect_match(page, "questions/which/local/20261121T070000Z", fixed = TRUE)
  expect_no_match(page, "/dataset[0-9a-f]+/local")
})

test_that("a study that searched no releases is no search", {
  dataset <- fresh_folder()
  keep_question(dataset, "plain", c(openmpi = 3e-6, mpich = 6e-6))
  folder <- file.path(dataset, "questions", "plain")
  expect_identical(kind_of_question(folder), "report")
  expect_error(write_releases(folder, tempfile()), "no session of releases")
})

test_that("a study that is neither gets the report of a study, with the numbers that are named", {
  dataset <- fresh_folder()
  keep_question(dataset, "plain", c(openmpi = 3e-6, mpich = 6e-6))
  out <- fresh_folder()
  quiet(found <- write_questions(dataset, out))
  expect_identical(found, c(plain = file.path(out, "plain", "report.html")))
  expect_match(paste(readLines(found[["plain"]]), collapse = " "), "MPICH", fixed = TRUE)
  expect_error(quiet(write_questions(dataset, out, published = fresh_folder())), "PUBLISHED")
})

test_that("one binary is told by its families", {
  dataset <- fresh_folder()
  families <- list(list(name = "mpich-abi", title = "MPICH ABI", colour = "#000000", order = 1))
  keep_question(dataset, "one", c("mpich-abi" = 3e-6), list(families = families))
  expect_identical(kind_of_question(file.path(dataset, "questions", "one")), "abi")
})

test_that("as many sessions as show a change are a history", {
  dataset <- fresh_folder()
  days <- sprintf("202611%02dT070000Z", 20 + 1:4)
  keep_question(dataset, "days", c(openmpi = 3e-6), sessions = days)
  expect_identical(kind_of_question(file.path(dataset, "questions", "days")), "history")
  out <- fresh_folder()
  quiet(found <- write_questions(dataset, out))
  expect_identical(found, c(days = file.path(out, "days", "history.html")))
  page <- paste(readLines(found[["days"]]), collapse = " ")
  expect_match(page, "1 series of 4 sessions", fixed = TRUE)
})

test_that("guidelines and a tuning file get their reports", {
  dataset <- fresh_folder()
  keep_question(dataset, "held", c(openmpi = 3e-6, mpich = 6e-6))
  folder <- file.path(dataset, "questions", "held")
  dir.create(file.path(folder, "files"))
  writeLines("A=1", file.path(folder, "files", "openmpi.env"))
  expect_identical(kind_of_question(folder), "tuning")
  # A study of pingpong is no comparison of a file with the default.
  expect_error(quiet(write_questions(dataset, fresh_folder())), "no launch of a tuning file")
  expect_identical(kind_of_tests(c("guidelines_quick.openmpi.shm.near.001.json")), "guidelines")
  expect_identical(kind_of_tests(c("session.json", "pingpong_quick.openmpi.001.json")), "report")
})

test_that("a dataset without questions says so", {
  expect_error(write_questions(fresh_folder(), fresh_folder()), "keeps no question")
})

test_that("releases are told by what their titles do not share", {
  expect_identical(shared_words(c("Open MPI 4.1.8", "Open MPI 5.0.0")), c("Open", "MPI"))
  expect_identical(shared_words(c("v1", "v2")), character())
  expect_identical(without_words("Open MPI 4.1.8", 2L), "4.1.8")
})

test_that("pages that are kept beside their launches say what is made of those", {
  reference <- testthat::test_path("../../../data/reference/questions")
  skip_if_not(dir.exists(reference), "the package alone, without its repository")
  kept <- list.files(reference, "html$", recursive = TRUE)
  expect_setequal(dirname(kept), list.files(reference))
  # One of each kind, and libraries that Spack built: all of them would take too long.
  some <- c("abi", "program-npb-is", "releases-openmpi", "spack-variants")
  dataset <- fresh_folder()
  dir.create(file.path(dataset, "questions"), recursive = TRUE)
  file.copy(file.path(reference, some), file.path(dataset, "questions"), recursive = TRUE)
  said <- function(page) {
    text <- paste(readLines(page, encoding = "UTF-8"), collapse = " ")
    text <- gsub("<(script|style|svg).*?</\\1>", " ", text, perl = TRUE)
    text <- gsub("<[^>]*>", " ", text)
    # The number of exhibits and the versions of R and its packages do not belong to the question.
    text <- gsub("R version .*?data.table [0-9.]+", "", text, perl = TRUE)
    strsplit(gsub("and [0-9]+ of [0-9]+ exhibits of cotejo", "", text), " +")[[1L]]
  }
  published <- testthat::test_path("../../../data/published")
  quiet(made <- write_questions(dataset, fresh_folder(), published))
  for (name in some) {
    page <- file.path(reference, name, basename(made[[name]]))
    expect_identical(said(page), said(made[[name]]), label = page)
  }
  variants <- paste(said(made[["spack-variants"]]), collapse = " ")
  expect_match(variants, paste(
    "Compared: Open MPI 5.0.11, MPICH 5.0.2, MPICH 4 4.0.2,",
    "Open MPI from source 5.0.7 \\(spack\\)[.] 128 launches"
  ))
  for (pair in c("MPICH and MPICH 4 at ", "Open MPI and Open MPI from source at ")) {
    expect_match(variants, pair, fixed = TRUE)
  }
})
