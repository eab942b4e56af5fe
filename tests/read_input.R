# SPDX-License-Identifier: BSD-3-Clause
# Reads what it is told to with the readers of the R package: a line READER FILE of standard input
# is answered by a line of JSON, what was said of the file or "" where it was read.

# A script that adds exhibits: it has the register's words and no others of R.
words_of_exhibits <- function() {
  package <- asNamespace("cotejo")
  verbs <- sub("^exhibit_", "", ls(package, pattern = "^exhibit_"))
  names <- c("launches_of", "not", "if_there", intersect(verbs, getNamespaceExports(package)))
  list2env(
    # Checked as by exhibit(), and not kept.
    c(mget(names, package), list(exhibit = package$exhibit_row, c = c, paste = paste)),
    envir = new.env(parent = emptyenv())
  )
}

read_register <- function(file) {
  # What is no R is R's to say: place and reason, and below them the text.
  calls <- tryCatch(
    parse(file, keep.source = FALSE, encoding = "UTF-8"),
    error = function(fault) stop(sub("\n.*", "", conditionMessage(fault)))
  )
  for (call in calls) eval(call, words_of_exhibits())
}

read_launch <- function(file) {
  for (fault in cotejo:::read_launches(file)$broken) stop(fault)
}

read_session <- function(file) cotejo:::read_plan(file)

readers <- list(register = read_register, launch = read_launch, session = read_session)
input <- file("stdin", "r")
while (length(line <- readLines(input, 1L))) {
  asked <- strsplit(line, " ", fixed = TRUE)[[1L]]
  said <- tryCatch(
    suppressWarnings({
      readers[[asked[[1L]]]](asked[[2L]])
      ""
    }),
    error = conditionMessage
  )
  writeLines(jsonlite::toJSON(enc2utf8(said), auto_unbox = TRUE))
  flush(stdout())
}
