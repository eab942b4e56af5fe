# SPDX-License-Identifier: BSD-3-Clause
# Reads files with the readers of the R package. Each line READER FILE of standard input is
# answered by a line of JSON: the message about the file, or "" if it was read.

# The names that a script of exhibits may use; `exhibit()` checks a row without registering it.
script_words <- function() {
  list2env(
    c(
      cotejo:::words_of_exhibits(),
      list(exhibit = cotejo:::exhibit_row, c = c, paste = paste)
    ),
    envir = new.env(parent = emptyenv())
  )
}

read_register <- function(file) {
  # Errors in R syntax: reports R's message, which has place and reason, without the text below it.
  calls <- tryCatch(
    parse(file, keep.source = FALSE, encoding = "UTF-8"),
    error = function(fault) stop(sub("\n.*", "", conditionMessage(fault)))
  )
  for (call in calls) eval(call, script_words())
}

read_launch <- function(file) {
  for (fault in cotejo:::read_launches(file)$broken) stop(fault)
}

read_session <- function(file) {
  tryCatch(cotejo:::read_plan(file), error = function(e) stop(cotejo:::as_fault(e, file)))
}

# All steps of a report on a session: it is read, summarised and chosen from.
read_whole <- function(file) {
  study <- suppressMessages(cotejo::read_study(dirname(file)))
  for (what in study$broken$what) stop(what)
  summary <- cotejo::summarise_launches(study)
  cotejo:::summarise_configurations(summary)
  cotejo::choose_sessions(study$launches)
}

read_archive <- function(file) {
  folder <- tempfile("archive")
  on.exit(unlink(folder, recursive = TRUE))
  cotejo:::unpack_archive(file, folder)
}

options(cotejo.cache = FALSE)
readers <- list(
  register = read_register, launch = read_launch, session = read_session, study = read_whole,
  archive = read_archive
)
input <- file("stdin", "r")
while (length(line <- readLines(input, 1L))) {
  asked <- strsplit(line, " ", fixed = TRUE)[[1L]]
  said <- tryCatch(
    {
      readers[[asked[[1L]]]](asked[[2L]])
      ""
    },
    error = cotejo:::said_of_error,
    # A warning names no file.
    warning = function(w) paste("a warning of R:", conditionMessage(w))
  )
  writeLines(jsonlite::toJSON(enc2utf8(said), auto_unbox = TRUE))
  flush(stdout())
}
