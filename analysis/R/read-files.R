# SPDX-License-Identifier: BSD-3-Clause
# Opens the files of results, and checks the names and texts in them before anything uses them.
#
# A results folder may come from a stranger. It is read two levels deep (SITE/SESSION), without
# following links, and only plain files of a limited size are read.

# Maximum bytes of a file of samples (packed or not), of a file of JSON, and of the unpacked
# archive of a session; and its number of files. The harness has the same limits where it reads
# such files (reframe_tests/harness/model/plain.py).
MOST_SAMPLES <- 2^26
MOST_JSON <- 2^23
MOST_UNPACKED <- 2^28
MOST_FILES <- 2^17
# Bytes of a text in JSON, which may list ranks, and of a name: R takes 1 KiB to sort a byte of it.
# Objects and lists: 100,000 ranks have four each.
MOST_TEXT <- 2^20
MOST_NAME <- 2^10
MOST_LISTS <- 2^19
# Operations, sizes and values of factors of one launch.
MOST_GROUPS <- 2^16

RESTORE <- "restore the file, or delete it and measure the launch again"

#' Refuse a file that is no plain file of a limited size. R cannot distinguish a named pipe or a
#' device from a file, but both have a size of 0, which no file of results has.
#'
#' @param todo what the user can do about it, in words.
#' @return the size of the file (B).
#' @noRd
check_plain <- function(file, most, todo = RESTORE) {
  fault <- fault_of_plain(file, most)
  if (!is.null(fault)) bad_data(file, 1L, fault, todo)
  file.size(file)
}

# The reason why a file is no readable plain file of a limited size; NULL if it is one.
fault_of_plain <- function(file, most) {
  facts <- file.info(file, extra_cols = FALSE)
  if (is_link(file)) {
    "is a link"
  } else if (is.na(facts$size) || file.access(file, 4L) != 0L) {
    "cannot be read"
  } else if (facts$isdir || facts$size == 0) {
    "no plain file, or empty"
  } else if (facts$size > most) {
    sprintf("%.0f B are more than the %.0f B that it may have", facts$size, most)
  }
}

# The lines of a file that belongs to data; refuses files like check_plain().
plain_lines <- function(file, todo) {
  check_plain(file, MOST_JSON, todo)
  readLines(file, encoding = "UTF-8", warn = FALSE)
}

# A table of texts from a file that belongs to data; refuses files like check_plain().
plain_table <- function(file, todo) {
  check_plain(file, MOST_SAMPLES, todo)
  found <- without_warning(
    fread(file = file, sep = ",", colClasses = "character", na.strings = NULL)
  )
  if (is.null(found)) bad_data(file, NA, "no table of comma-separated values", todo)
  found
}

# Converts columns of text to numbers, in place. Empty text becomes `NA`.
as_numbers <- function(table, columns, file, todo) {
  for (name in columns) {
    values <- suppressWarnings(as.numeric(table[[name]]))
    odd <- which(!is.finite(values) & !table[[name]] %in% c("", "NA"))
    if (length(odd)) {
      what <- paste0(name, ": ", quoted(table[[name]][[odd[[1L]]]]), " is no number")
      bad_data(file, odd[[1L]] + 1L, what, todo)
    }
    set(table, j = name, value = values)
  }
}

# Refuses a table of a file that lacks columns.
check_has <- function(table, columns, file, todo) {
  lacking <- setdiff(columns, names(table))
  if (length(lacking)) bad_data(file, 1L, paste("no column", toString(lacking)), todo)
}

#' The files of sessions below a folder: of the folder itself, of the folders in it, and of the
#' folders in those.
#'
#' @param dir folder of results, of a site or of a session.
#' @param pattern regular expression of names of files.
#' @return list: `files`, paths; `faults`, conditions of the folders and files that are left out.
#' @noRd
session_files <- function(dir, pattern) {
  faults <- list()
  # For an unreadable folder, R returns an empty list without a message.
  readable <- function(folders) {
    closed <- file.access(folders, 5L) != 0L
    faults <<- c(faults, lapply(folders[closed], function(folder) {
      fault_of(shown_bytes(folder), "a folder that cannot be read; make it readable for yourself")
    }))
    folders[!closed]
  }
  level <- folders <- readable(dir)
  for (depth in 1:2) {
    level <- as.character(unlist(lapply(level, list.dirs, recursive = FALSE)))
    level <- level[!startsWith(basename_bytes(level), ".")]
    odd <- is_link(level) | !grepl(FOLDER_NAME, basename_bytes(level), useBytes = TRUE)
    faults <- c(faults, lapply(level[odd], function(folder) {
      fault_of(shown_bytes(folder), "a link, or no name of a site or session; rename it")
    }))
    level <- readable(level[!odd])
    folders <- c(folders, level)
  }
  files <- unlist(lapply(folders, list.files, full.names = TRUE))
  files <- files[grepl(pattern, basename_bytes(files), perl = TRUE, useBytes = TRUE)]
  odd <- !grepl(SESSION_FILE, basename_bytes(files), useBytes = TRUE)
  faults <- c(faults, lapply(files[odd], function(file) {
    fault_of(shown_bytes(file), "no name of a file of a session; do not rename launches")
  }))
  list(files = sort(as.character(files[!odd]), method = "radix"), faults = faults)
}

FOLDER_NAME <- "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"

# The last part of paths, whatever their bytes are.
basename_bytes <- function(paths) sub("^.*/", "", as.character(paths), useBytes = TRUE)

# Names in data: the pattern that they must match.
NAME <- "^[A-Za-z][A-Za-z0-9_]{0,63}$(?!\n)"
# Refuse names that are invalid, taken, or duplicate.
check_names <- function(names, pattern, file, path, taken = character()) {
  fault <- function(which, text) {
    if (any(which)) {
      bad_member(
        file, path, paste0(dotted(path), ": ", text, " ", quoted(names[which][[1L]])),
        "a name has letters, digits and underscores, and is none that cotejo has itself"
      )
    }
  }
  fault(!grepl(pattern, names, perl = TRUE), "no name:")
  fault(names %in% taken | grepl(OUR_PREFIX, names), "a reserved name:")
  fault(duplicated(names), "twice the name")
}

# A value of data, shortened for a message.
said_value <- function(value) shortened(deparse(value, nlines = 1L)[[1L]], 80L)

# A text of data in a message: quoted, short, and without terminal control characters.
quoted <- function(text) {
  shown <- encodeString(substr(shown_bytes(text), 1L, 60L), quote = "\"")
  if (nchar(text, "bytes") > 60L) paste(shown, "...") else shown
}

# Column names of the package's own tables, which no column of samples may have: those of launches,
# summaries and comparisons, names used in expressions about tables of samples, and the reserved
# words of R.
reserved <- function() {
  keep_once("reserved", function() {
    readLines(system.file("reserved.txt", package = "cotejo", mustWork = TRUE))
  })
}

# Prefixes of columns that contain members of data, or are computed from them.
OUR_PREFIX <- "^(setting|parameter|option|found|measure|observed|reported|cotejo)_"

#' Refuse texts of a parsed description with control characters of terminals or pages.
#'
#' @param text the JSON, in which such characters can only be written as escapes.
#' @noRd
check_text <- function(text, file) {
  if (!validUTF8(text)) {
    bad_data(file, NA, "not UTF-8", "restore the file, or delete it and measure the launch again")
  }
  # An even number of backslashes before it is text.
  escape <- "(?<!\\\\)(?:\\\\\\\\)*\\\\u00(?:0[0-8bBcCeEfF]|1[0-9a-fA-F]|7[fF]|[89][0-9a-fA-F])"
  if (grepl(escape, text, perl = TRUE)) {
    at <- regexpr(escape, text, perl = TRUE)
    line <- lengths(regmatches(substr(text, 1L, at), gregexpr("\n", substr(text, 1L, at)))) + 1L
    bad_data(
      file, line, "a text has a control character",
      "take it out, or measure the launch again"
    )
  }
}

is_link <- function(paths) !Sys.readlink(paths) %in% c("", NA)

# The fault of a file, as a condition object that is not signalled.
fault_of <- function(file, text) {
  structure(
    class = c("cotejo_bad_data", "error", "condition"),
    list(message = one_line(sprintf("%s: %s", file, text)), call = NULL, file = file)
  )
}

# The result of a call of fread(); NULL if it fails or warns. A call with a warning must still run
# to its end: if it is interrupted, the next call fails, on another file.
without_warning <- function(call) {
  warned <- FALSE
  found <- tryCatch(
    withCallingHandlers(call, warning = function(w) {
      warned <<- TRUE
      invokeRestart("muffleWarning")
    }),
    error = function(e) NULL
  )
  if (!warned) found
}

# The line of a JSON file that names a member: the first one after the line of the member that
# contains it; line 1 for the file itself.
line_of_member <- function(file, path) {
  lines <- readLines(file, warn = FALSE)
  line <- 1L
  for (name in path) {
    found <- grep(sprintf("\"%s\"", name), lines, fixed = TRUE)
    found <- found[found >= line]
    if (!length(found)) break
    line <- found[[1L]]
  }
  line
}

# Refuses a member of a JSON file, at its line.
bad_member <- function(file, path, what, todo = AS_WRITTEN) {
  bad_data(file, line_of_member(file, path), what, todo)
}
AS_WRITTEN <- "write it as docs/data.md says, or measure the launch again"

dotted <- function(path) paste(path, collapse = ".")

SESSION_FILE <- "^[A-Za-z0-9][A-Za-z0-9_.+,=@-]*[.](json|csv|csv[.]gz)$"

# Turns any error in reading a file into a fault that names the file.
as_fault <- function(fault, file) {
  if (inherits(fault, "cotejo_bad_data")) {
    fault
  } else {
    fault_of(file, paste(conditionMessage(fault), "- not as docs/data.md says"))
  }
}

# The files that were left out, each reported once on the console.
list_broken <- function(faults) {
  said <- vapply(faults, conditionMessage, "")
  for (text in utils::head(said, MOST_SAID)) message("left out: ", text)
  if (length(said) > MOST_SAID) {
    message(sprintf("left out: %d more files", length(said) - MOST_SAID))
  }
  data.table(
    file = vapply(faults, function(fault) as.character(fault$file), ""), what = as.character(said)
  )
}

# Maximum number of broken files reported on the console; the report lists all of them.
MOST_SAID <- 10L
