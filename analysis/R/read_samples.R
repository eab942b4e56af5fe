# SPDX-License-Identifier: BSD-3-Clause
# One sample file -> one checked table.
#
# The quick way parses the whole file at once and looks at types and ranges by the column. Only
# when that finds anything amiss are the lines looked at one by one, to name the first bad one.

REMEASURE <- "delete the launch's two files and measure it again"

#' Read the samples of one launch.
#'
#' @param file path of `LAUNCH.csv` or `LAUNCH.csv.gz`.
#' @param columns names of its columns, as the launch description lists them.
#' @param rows number of its rows, as the launch description says.
#' @return data.table with the columns of the file; `valid` is logical.
#' @noRd
read_samples <- function(file, columns, rows) {
  if (!identical(utils::head(columns, 6L), SAMPLE_COLUMNS)) {
    bad_data(
      file, NA, "the launch description does not list the six columns of every file first",
      REMEASURE
    )
  }
  text <- if (endsWith(file, ".gz")) inflate(file) else NULL
  check_head(file, text, columns)
  check_end(file, text)
  samples <- tryCatch(
    parse_samples(file, text, columns),
    error = function(e) NULL, warning = function(w) NULL
  )
  if (is.null(samples) || nrow(samples) != rows || !plausible(samples)) {
    blame_line(file, text, columns, rows)
  }
  set(samples, j = "valid", value = samples$valid == 1L)
  samples[]
}

#' Read a gzip file whole; a damaged one is refused.
#' @noRd
inflate <- function(file) {
  damaged <- function(e) bad_data(file, NA, "not a whole gzip file", REMEASURE)
  packed <- readBin(file, "raw", file.size(file))
  size <- length(packed)
  # The last four bytes of a gzip file are the size of what it holds: a cheap check of its end.
  promised <- sum(as.integer(packed[size - 3:0]) * 256^(0:3))
  bytes <- tryCatch(
    memDecompress(packed, type = "gzip"),
    error = damaged, warning = damaged
  )
  if (length(bytes) != promised) damaged()
  rawToChar(bytes)
}

check_head <- function(file, text, columns) {
  head <- if (is.null(text)) {
    readLines(file, n = 2L, warn = FALSE)
  } else {
    strsplit(substr(text, 1L, 65536L), "\n", fixed = TRUE)[[1L]][1:2]
  }
  if (!identical(head[1L], SAMPLES_SCHEMA)) {
    bad_data(
      file, 1L, sprintf("schema \"%s\", not \"%s\"", head[1L], SAMPLES_SCHEMA),
      "read it with the version of cotejo that wrote it"
    )
  }
  found <- if (length(head) < 2L || is.na(head[2L])) "" else head[2L]
  found <- strsplit(found, ",", fixed = TRUE)[[1L]]
  lacking <- setdiff(columns, found)
  unknown <- setdiff(found, columns)
  fault <- if (length(lacking)) {
    paste("missing column", toString(lacking))
  } else if (length(unknown)) {
    paste("unknown column", toString(unknown))
  } else if (!identical(found, columns)) {
    "the columns are in another order than in the launch description"
  }
  if (!is.null(fault)) {
    bad_data(file, 2L, fault, "header and launch description must list the same columns")
  }
}

check_end <- function(file, text) {
  last <- if (is.null(text)) {
    connection <- file(file, "rb")
    on.exit(close(connection))
    seek(connection, max(0, file.size(file) - 1))
    rawToChar(readBin(connection, "raw", 1L))
  } else {
    substring(text, nchar(text, "bytes"))
  }
  if (last != "\n") {
    lines <- length(sample_lines(file, text))
    bad_data(file, lines, "the last line has no end: the file is cut off", REMEASURE)
  }
}

parse_samples <- function(file, text, columns) {
  arguments <- list(
    skip = 2L, header = FALSE, sep = ",", quote = "", na.strings = NULL, fill = FALSE,
    strip.white = FALSE, col.names = columns, integer64 = "double", showProgress = FALSE,
    blank.lines.skip = FALSE, nThread = 1L, colClasses = list(character = 1L)
  )
  source <- if (is.null(text)) list(file = file) else list(input = text)
  do.call(fread, c(source, arguments))
}

#' Check types and ranges of the six columns by the column.
#' @noRd
plausible <- function(samples) {
  whole <- function(x, least) {
    is.numeric(x) && !anyNA(x) && min(x) >= least && (is.integer(x) || all(x == trunc(x)))
  }
  nrow(samples) > 0L &&
    all(nzchar(unique(samples$operation))) &&
    !any(grepl("\"", unique(samples$operation), fixed = TRUE)) &&
    whole(samples$bytes, 0) && whole(samples$repetition, 0) && whole(samples$calls, 1) &&
    is.numeric(samples$time_s) && all(is.finite(samples$time_s)) && min(samples$time_s) >= 0 &&
    whole(samples$valid, 0) && max(samples$valid) <= 1L
}

sample_lines <- function(file, text) {
  if (is.null(text)) readLines(file, warn = FALSE) else strsplit(text, "\n", fixed = TRUE)[[1L]]
}

#' Name the first line that is wrong. Called only when the quick checks failed, so it must end
#' in a refusal.
#' @noRd
blame_line <- function(file, text, columns, rows) {
  lines <- sample_lines(file, text)[-(1:2)]
  fields <- strsplit(paste0(lines, ","), ",", fixed = TRUE)
  short <- which(lengths(fields) != length(columns))
  whole <- "^[0-9]+$"
  real <- "^[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$|^[0-9]+[.]$"
  patterns <- c(
    operation = "^[^,\"]+$", bytes = whole, repetition = whole, calls = "^0*[1-9][0-9]*$",
    time_s = real, valid = "^[01]$"
  )
  first <- if (length(short)) short[[1L]] else length(lines) + 1L
  fault <- if (length(short)) {
    sprintf("%d fields, not %d", length(fields[[first]]), length(columns))
  }
  for (name in names(patterns)) {
    column <- match(name, columns)
    values <- vapply(fields[seq_len(first - 1L)], `[`, "", column)
    bad <- which(!grepl(patterns[[name]], values))
    if (length(bad)) {
      first <- bad[[1L]]
      fault <- sprintf("bad value \"%s\" in column %s", values[[first]], name)
    }
  }
  if (is.null(fault)) {
    fault <- if (length(lines) == rows) {
      "the columns cannot be read as docs/data.md says"
    } else {
      sprintf("%d rows, but samples.rows says %s", length(lines), text_of(rows))
    }
    first <- min(length(lines), first)
  }
  bad_data(file, first + 2L, fault, REMEASURE)
}
