# SPDX-License-Identifier: BSD-3-Clause
# The error conditions with which the package refuses data and requests.

#' Refuse a file, naming it, the line and what to do.
#'
#' @param file path of the file.
#' @param line number of the line in it, from 1; `NA` when the fault concerns the complete file.
#' @param what what is wrong, in words.
#' @param todo what the user can do about it, in words.
#' @param class further class of this error, beside the class that all of them share.
#' @return never: signals an error of class `cotejo_bad_data`, a message of one line.
#' @noRd
bad_data <- function(file, line, what, todo, class = NULL) {
  where <- if (is.na(line)) file else paste0(file, ":", line)
  text <- one_line(paste0(where, ": ", shortened(what), "; ", todo))
  stop(structure(
    class = c(class, "cotejo_bad_data", "error", "condition"),
    list(message = text, call = NULL, file = file, line = line)
  ))
}

# Turns a message into one line of text that a terminal can show, whatever bytes the data contain.
# Removes control characters and prints the codes of invisible and direction-changing characters.
one_line <- function(text) {
  text <- gsub("[[:cntrl:]]+ *", " ", shown_bytes(text))
  odd <- gregexpr("[\\p{C}\\p{Zl}\\p{Zp}]", text, perl = TRUE)
  if (any(unlist(odd) > 0L, na.rm = TRUE)) {
    regmatches(text, odd) <- lapply(regmatches(text, odd), function(found) {
      sprintf("<U+%04X>", vapply(found, utf8ToInt, 0L))
    })
  }
  text
}

# Prints lines that contain texts from data files.
put_said <- function(lines) cat(paste0(one_line(lines), "\n", recycle0 = TRUE), sep = "")

# Shortens a text from a file: invalid contents may be of any length.
shortened <- function(text, most = 300L) {
  bytes <- charToRaw(text)
  if (length(bytes) <= most) {
    return(text)
  }
  # A character that was cut in two is left out.
  paste(iconv(rawToChar(bytes[seq_len(most)]), "UTF-8", "UTF-8", sub = ""), "...")
}

#' Refuse a comparison or a report that the data cannot carry.
#'
#' @param text one line: what, where, what to do.
#' @param class the condition's own class, beside `error`.
#' @param ... further members of the condition.
#' @return never.
#' @noRd
refuse <- function(text, class = "cotejo_refused", ...) {
  stop(structure(
    class = c(class, "error", "condition"),
    list(message = text, call = NULL, ...)
  ))
}

# Check that a table has the columns that a function needs.
need_columns <- function(table, columns, what) {
  missing <- setdiff(columns, names(table))
  if (length(missing)) {
    refuse(sprintf("%s lacks the column(s) %s", what, toString(missing)))
  }
  invisible(table)
}

#' Run a command: an error ends R with one line on standard error.
#'
#' @param command the call, of any function of the package. Functions that only commands call are
#'   not exported.
#' @param status exit status after an error.
#' @return what the call returns, invisibly.
#' @examples
#' run_command(cat(format_bytes(65536), "\n"))
#' @export
run_command <- function(command, status = 1L) {
  # A namespace is locked: values that the command assigns have an environment of their own.
  invisible(tryCatch(eval(substitute(command), new.env(parent = topenv())), error = function(e) {
    writeLines(said_of_error(e), stderr())
    quit(save = "no", status = status)
  }))
}

#' The share in an option of a command: `"3%"` and `"0.03"` are 0.03.
#'
#' @param text one text.
#' @param default value for an empty text.
#' @return a number above 0 and below 1.
#' @noRd
share_of_text <- function(text, default) {
  if (!nzchar(text)) {
    return(default)
  }
  value <- suppressWarnings(as.numeric(sub("%$", "", text))) / if (endsWith(text, "%")) 100 else 1
  if (is.na(value) || value <= 0 || value >= 1) {
    refuse(sprintf("\"%s\" is no share; give one such as 3%% or 0.03", text))
  }
  value
}

# The line that a command prints for an error. It names the function unless the error is a refusal.
said_of_error <- function(error) {
  call <- conditionCall(error)
  where <- if (!is.null(call)) paste0(deparse(call[[1L]])[[1L]], ": ")
  with_section(
    trimws(shortened(one_line(paste0("cotejo: ", where, conditionMessage(error))), 1800L))
  )
}

#' A message with the section of the page of problems that has the longest quotation from it.
#'
#' @param top folder of the documents; without it, as outside of make, the message alone.
#' @noRd
with_section <- function(message, top = Sys.getenv("CLONE")) {
  page <- file.path(top, "docs/faq.md")
  if (grepl("docs/", message, fixed = TRUE) || !nzchar(top) || !file.exists(page)) {
    return(message)
  }
  lines <- gsub("[`*]", "", readLines(page, encoding = "UTF-8"))
  headed <- startsWith(lines, "#")
  headings <- gsub(" ", "-", gsub("[^a-z0-9_ -]", "", tolower(sub("^#+ ", "", lines[headed]))))
  quoted <- regmatches(lines, gregexpr("\"[^\"]+\"", lines))
  section <- rep(cumsum(headed), lengths(quoted))
  words <- gsub("\"", "", unlist(quoted))
  fits <- section >= match("Problems with measuring", sub("^#+ ", "", lines[headed])) &
    vapply(words, grepl, NA, gsub("`", "", message), fixed = TRUE)
  if (!any(fits)) {
    return(message)
  }
  best <- section[fits][which.max(nchar(words[fits]))]
  sprintf("%s (docs/faq.md#%s)", message, headings[[best]])
}

# A path in the locale's encoding; invalid bytes are written out.
shown_bytes <- function(path) iconv(path, "UTF-8", "UTF-8", sub = "byte")

# Columns that describe how a launch was made. With the samples' factors they make a configuration.
LAUNCH_FACTORS <- c(
  "site", "simulated", "scale", "experiment", "test", "mpi", "transport", "placement", "hosts",
  "ranks", "settings", "parameters"
)
