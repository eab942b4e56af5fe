# SPDX-License-Identifier: BSD-3-Clause
# Questions about a machine, stored with their launches: packed datasets in
# data/reference/questions. The report of each question is written by the same function as the
# original report.

#' Write the report of every question that is stored in a dataset.
#'
#' @param results_dir a dataset with a folder `questions`, in which each folder is a packed dataset
#'   of its own: a search over releases, one binary of the standard ABI, performance guidelines,
#'   a history (as many sessions as show a change), or any other study. A tuning file is in the
#'   folder `files` beside the session that confirmed it.
#' @param out_dir folder; each question's report goes into a folder of its name in it.
#' @param published as for [write_report()].
#' @return the reports' files, by question. Prints what each report prints. An error of class
#'   `cotejo_bad_data` if no question is stored.
#' @noRd
write_questions <- function(results_dir, out_dir, published = NULL) {
  folders <- list.dirs(file.path(results_dir, "questions"), recursive = FALSE)
  folders <- folders[file.exists(file.path(folders, "SHA256SUMS"))]
  if (!length(folders)) {
    bad_data(
      results_dir, NA, "keeps no question in a folder `questions`", "try DATA=reference"
    )
  }
  vapply(stats::setNames(folders, basename(folders)), function(folder) {
    kind <- kind_of_question(folder)
    file <- file.path(out_dir, basename(folder), paste0(kind, ".html"))
    switch(kind,
      releases = write_releases(folder, file),
      abi = write_abi(folder, file),
      guidelines = write_guidelines(folder, file),
      tuning = write_tuning(folder, tuned_file(folder), file),
      # Such a dataset has one site, the folder of its archives.
      history = write_history(folder, dirname(file), basename(list.dirs(folder)[[2L]])),
      write_report(folder, file, published = published)
    )
    file
  }, "")
}

# The settings file of a tuning that is stored with the session that confirmed it.
tuned_file <- function(dir) list.files(file.path(dir, "files"), "[.]env$", full.names = TRUE)

# The report that answers the question of a dataset: `releases`, `abi`, `guidelines`, `tuning`,
# `history` or `report`.
kind_of_question <- function(dir) {
  if (length(tuned_file(dir))) {
    return("tuning")
  }
  folder <- unpack_dataset(dir)
  on.exit(if (folder != dir) unlink(folder, recursive = TRUE))
  if (length(sessions_of_releases(folder))) {
    return("releases")
  }
  sessions <- read_sessions(folder)$sessions
  families <- as.character(unlist(lapply(sessions$families, `[[`, "name")))
  if (any(endsWith(families, "-abi"))) {
    "abi"
  } else if (nrow(sessions) >= 2L * LEAST_STRETCH) {
    "history"
  } else {
    kind_of_tests(basename(list.files(folder, "[.]json$", recursive = TRUE)))
  }
}

# The report that answers the question of launches, by the names of their files.
kind_of_tests <- function(files) {
  if (any(startsWith(files, "guidelines_"))) "guidelines" else "report"
}
