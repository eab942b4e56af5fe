# SPDX-License-Identifier: BSD-3-Clause
# Questions that were asked of a machine and are kept with their launches: a packed dataset each,
# in data/reference/questions, whose report is made anew by the function that made the first.

#' Write the report of every question that a dataset keeps.
#'
#' @param results_dir a dataset with a folder `questions`, in which each folder is a packed dataset
#'   of its own: a search over releases, one binary of the standard ABI, or any other study.
#' @param out_dir folder; each question's report goes into a folder of its name in it.
#' @param published as for [write_report()].
#' @return the reports' files, by question. Prints what each report prints. An error of class
#'   `cotejo_bad_data` where no question is kept.
#' @export
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
      write_report(folder, file, published = published)
    )
    file
  }, "")
}

#' Which report answers the question of a dataset: `releases`, `abi` or `report`.
#' @noRd
kind_of_question <- function(dir) {
  folder <- unpack_dataset(dir)
  on.exit(if (folder != dir) unlink(folder, recursive = TRUE))
  if (length(sessions_of_releases(folder))) {
    return("releases")
  }
  families <- as.character(unlist(lapply(read_sessions(folder)$sessions$families, `[[`, "name")))
  if (any(endsWith(families, "-abi"))) "abi" else "report"
}
