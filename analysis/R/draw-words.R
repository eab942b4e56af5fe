# SPDX-License-Identifier: BSD-3-Clause
# Formats names and numbers for readers: every number with its unit and at least three digits.

# The MPI families and transports that sessions declare, kept while a figure or text is made.
said <- new.env(parent = emptyenv())
said$families <- NULL

#' One part of the file of words, such as `operations`: a vector or list of words by name.
#'
#' `families` and `transports` are titles for sessions that declare none. `selectors` maps
#' SimGrid's own names of sets of algorithms to the MPI libraries.
#' @noRd
words_for <- function(part) {
  if (is.null(said$words)) {
    said$words <- yaml::read_yaml(system.file("words.yaml", package = "cotejo", mustWork = TRUE))
  }
  words <- said$words[[part]]
  if (any(lengths(words) > 1L)) words else unlist(words)
}

#' The titles that sessions without declarations have.
#' @noRd
old_titles <- function() c(words_for("titles"), words_for("families"), words_for("transports"))

#' Evaluate an expression with the titles, colours and order that sessions declare.
#'
#' @param families what [families_of()] returns; may be empty, as for sessions of version 1.
#' @noRd
with_families <- function(families, code) {
  old <- said$families
  on.exit(said$families <- old)
  said$families <- if (NROW(families)) families
  force(code)
}

#' The families and transports of sessions, each as declared by the latest session. The result is a
#' data.table `name`, `title`, `colour`, `order`; transports have only the first two.
#'
#' @param sessions what [read_sessions()] returned as `sessions`.
#' @noRd
families_of <- function(sessions) {
  if (!nrow(sessions)) {
    return(data.table())
  }
  latest <- order(sessions$session, method = "radix")
  all <- rbindlist(c(sessions$families[latest], sessions$transports[latest]), fill = TRUE)
  if (!nrow(all)) {
    return(all)
  }
  all <- unique(all, by = "name", fromLast = TRUE)
  # Titles must be unique, because figures distinguish names by their titles.
  known <- old_titles()
  known <- known[!names(known) %in% all$name]
  title <- NULL # column, bound here for R CMD check
  all[title %in% c(title[duplicated(title)], known), title := sprintf("%s (%s)", title, name)][]
}

#' Display name of an MPI, transport or operation; the name itself when there is none.
#' @noRd
title_of <- function(name) {
  name <- as.character(name)
  known <- old_titles()[name]
  theirs <- said$families$title[match(name, said$families$name)]
  if (length(theirs)) known <- fcoalesce(theirs, unname(known))
  fcoalesce(unname(known), name)
}

#' Names in the order in which they are shown: families as they declare, other names sorted.
#' @noRd
in_order <- function(names) {
  names <- sort(names, method = "radix", na.last = TRUE)
  place <- said$families$order[match(names, said$families$name)]
  if (length(place)) names[order(place, na.last = TRUE)] else names
}

#' Names of operations in words: "put, fence, window created", "NAS CG, class A". A name without
#' known words stays, with blanks in place of most underscores.
#' @noRd
operation_in_words <- function(operation) {
  few <- unique(as.character(operation))
  words <- unname(words_for("operations")[few])
  kernel <- c(fft = "FFT", radix = "radix sort")[sub("-.*", "", few)]
  words <- fifelse(is.na(kernel) | is.na(words), words, paste(kernel, words, sep = ", "))
  words[is.na(words)] <- title_of(few[is.na(words)])
  patterns <- words_for("parts of operations")
  for (pattern in names(patterns)) {
    words <- sub(pattern, patterns[[pattern]], words, perl = TRUE)
  }
  words <- gsub("(?<!reduce|scatter|neighbor)_", " ", words, perl = TRUE)
  words[match(operation, few)]
}

#' Names of operations in words with the experiment, where no title names it: "LogP, gap".
#' @noRd
question_in_words <- function(operation) {
  part <- sub("-.*", "", operation)
  experiment <- unname(words_for("experiments")[part])
  words <- operation_in_words(operation)
  known <- operation %in% names(words_for("operations")) & !is.na(experiment)
  fifelse(known, paste(experiment, words, sep = ", "), words)
}

#' Settings and parameters in words: "mode standard, non-blocking". Leaves out the names that the
#' operation or a column already contains (`dropped`).
#' @noRd
values_in_words <- function(values, dropped = IN_OPERATION) {
  few <- unique(as.character(values))
  starts <- words_for("starts")
  words <- vapply(strsplit(few, "; ?"), function(parts) {
    name <- sub("=.*", "", parts)
    value <- substring(parts, nchar(name) + 2L)
    said <- fcase(
      name == "blocking", fifelse(value == "no", "non-blocking", "blocking"),
      name == "compute", say_value("parameter_compute", value),
      name == "timer", say_value("parameter_timer", value),
      name == "ranks", say_value("ranks", value),
      name == "start" & value %in% names(starts), unname(starts[value]),
      name == "eager_limit" & grepl("^[0-9]+$", value), paste("eager up to", value, "B"),
      startsWith(name, "algorithm_"), chartr("_", " ", paste(name, value)),
      rep(TRUE, length(name)), paste(chartr("_", " ", name), value)
    )
    toString(said[!name %in% dropped])
  }, "")
  words[match(values, few)]
}
IN_OPERATION <- c("kernel", "pattern", "window", "ranks")

#' The purpose of a test, in words.
#' @noRd
test_in_words <- function(test) {
  plain <- sub("_(quick|full|smoke|brief)$", "", test)
  unname(fcoalesce(
    words_for("tests")[test], words_for("parts of tests")[sub(".*_", "", plain)],
    paste("study of", gsub("_", " ", plain, fixed = TRUE))
  ))
}

sentence_case <- function(text) {
  paste0(toupper(substr(text, 1L, 1L)), substring(text, 2L))
}

#' Sizes in binary units: 1 B, 64 KiB, 4 MiB. Sizes that are not multiples stay exact in B.
#' @noRd
format_bytes <- function(bytes) {
  scale <- fcase(
    bytes >= 2^30 & bytes %% 2^30 == 0, 3L, bytes >= 2^20 & bytes %% 2^20 == 0, 2L,
    bytes >= 2^10 & bytes %% 2^10 == 0, 1L, rep(TRUE, length(bytes)), 0L
  )
  unit <- c("B", "KiB", "MiB", "GiB")[scale + 1L]
  paste(format_whole(bytes / 1024^scale), unit)
}

format_whole <- function(x) {
  # Format each distinct size once, because sizes repeat.
  few <- unique(x)
  vapply(few, format, "", scientific = FALSE, digits = 15L, trim = TRUE)[match(x, few)]
}

#' Parse a share: `"3%"` and `"0.03"` are 0.03.
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

#' Number of decimals that leave at least `digits` significant digits, for each number.
#' @noRd
decimals_of <- function(x, digits = 3L) {
  out <- integer(length(x))
  there <- is.finite(x) & x != 0
  out[there] <- as.integer(pmax(0, digits - 1L - floor(log10(abs(x[there])))))
  out
}

#' Numbers with at least three significant digits and no exponent.
#' @noRd
format_digits <- function(x, digits = 3L) {
  x <- as.numeric(unname(x))
  fifelse(is.na(x), "NA", sprintf("%.*f", decimals_of(x, digits), x))
}

#' Times in microseconds.
#' @noRd
format_us <- function(seconds, digits = 4L) format_digits(seconds * 1e6, digits)

#' `median [low, high]` with the same decimals for all three; only the median without an interval.
#' @noRd
format_interval <- function(value, low, high, digits = 3L) {
  decimals <- decimals_of(value, digits)
  text <- function(x) fifelse(is.na(x), "NA", sprintf("%.*f", decimals, as.numeric(x)))
  fifelse(
    is.na(low) | is.na(high), text(value),
    sprintf("%s [%s, %s]", text(value), text(low), text(high))
  )
}

#' A p value, never shown as 0.
#' @noRd
format_p <- function(p) {
  fcase(
    is.na(p), "NA", p < 1e-4, formatC(p, digits = 1L, format = "e"),
    rep(TRUE, length(p)), formatC(p, digits = 3L, format = "g", flag = "#")
  )
}

format_count <- function(a, b) {
  ifelse(a == b, sprintf("n = %d", a), sprintf("n = %d and %d", a, b))
}

#' Headings for strata, with the test that measured each: one text for each row.
#' @noRd
title_of_stratum <- function(rows) {
  sprintf("%s (%s)", sentence_case(describe_stratum(rows)), rows$test)
}

#' Descriptions of strata in words: "ping-pong, shared memory, placement near".
#' @noRd
describe_stratum <- function(rows) {
  parts <- list(
    if (!is.null(rows$mpi)) title_of(rows$mpi), question_in_words(rows$operation),
    title_of(rows$transport),
    if (!is.null(rows$placement)) {
      fifelse(nzchar(rows$placement), paste("placement", rows$placement), "")
    },
    if (!is.null(rows$settings)) values_in_words(rows$settings, dropped = character()),
    if (!is.null(rows$parameters)) values_in_words(rows$parameters, dropped = character()),
    rows$simulated
  )
  out <- rep("", nrow(rows))
  for (part in Filter(length, parts)) {
    more <- nzchar(part)
    out[more] <- paste0(out[more], fifelse(nzchar(out[more]), ", ", ""), part[more])
  }
  out
}

#' The version text of a library, up to the end of its version number.
#' @noRd
short_library <- function(library) {
  text <- gsub("[[:space:]]+", " ", library)
  found <- regmatches(text, regexpr("^.*?[0-9]+(\\.[0-9]+)+[^ ,]*", text, perl = TRUE))
  numbered <- grepl("[0-9]+\\.[0-9]+", text)
  text[numbered] <- found
  substr(text, 1L, 80L)
}

#' The range of sizes, in words.
#' @noRd
say_sizes <- function(bytes) {
  ends <- unique(format_bytes(range(bytes)))
  if (length(ends) == 1L) paste("at", ends) else paste("from", ends[[1L]], "to", ends[[2L]])
}

#' A share in percent as it was given, such as an accepted slowdown.
#' @noRd
say_margin <- function(share) paste(format(100 * share), "%")

count_of <- function(n, one, many) paste(n, ifelse(n == 1L, one, many))

#' Whether the values of a column are numbers of things, such as ranks.
#' @noRd
is_counted <- function(column) column %in% names(words_for("counted"))

#' The name of a column in words, such as "eager limit" and "CPU model"; a measure has no unit.
#' @noRd
word_of_column <- function(column) {
  known <- words_for("columns")[column]
  other <- gsub("_", " ", sub("^(option|parameter|setting)_", "", column), fixed = TRUE)
  unname(fcoalesce(unname(known), sub(" (s|us|ms|bytes)$", "", other)))
}

# Columns of the settings, parameters and options of a launch.
VARIED_COLUMN <- "^(setting|parameter|option)_[a-z0-9_]+$"

say_value <- function(column, values) {
  known <- switch(column,
    operation = words_for("operations"), test = words_for("tests"),
    setting_coll_selector = vapply(
      words_for("selectors"), \(mpi) paste("choice of", title_of(mpi)), ""
    ), words_for("values")[[column]]
  )
  known <- if (is.null(known)) rep(NA_character_, length(values)) else unlist(known)[values]
  counted <- words_for("counted")[[column]]
  words <- if (!is.null(counted)) {
    paste(values, ifelse(values == "1", counted[[1L]], counted[[2L]]))
  } else {
    switch(column,
      bytes = format_bytes(as.numeric(values)),
      compute_us = fifelse(
        values == "0", "no computation", paste(values, "\u00b5s of computation")
      ),
      keys = paste(format_whole(as.numeric(values)), "keys"),
      log2_points = paste0("2", chartr("0123456789", SUPERSCRIPTS, values), " points"),
      parameter_compute = fifelse(
        values == "0", "no computation", paste("computation of", values, "ns for each byte")
      ),
      parameter_timer = paste("clock", values), queue = paste("queue of", values),
      setting_eager_limit = paste("eager up to", format_bytes(as.numeric(values))),
      simulated = short_label(values), test = paste("test", gsub("_", " ", values, fixed = TRUE)),
      paste0(
        if (grepl(VARIED_COLUMN, column)) paste0(word_of_column(column), " "), title_of(values)
      )
    )
  }
  unset <- fcoalesce(unname(words_for("unset")[column]), "")
  unname(fifelse(is.na(values), unset, fcoalesce(known, words)))
}

# The distinguishing part of a label: the name of a simulated machine, or an emulated network with
# its hosts. The caption contains the complete label.
short_label <- function(values) {
  kind <- "^emulated: ([0-9]+) (User-mode Linux )?(hosts|guests) on [0-9]+ cores, ([^ ]+) .*$"
  short <- sub(kind, "\\1 \\3 of \\4", values)
  # The name of a simulated machine, extended as far as needed to be unique.
  for (pattern in c("[^,]*", "[^,]*,[^,]*")) {
    same <- short %in% short[duplicated(short)] | short == values
    short[same] <- sub(
      sprintf("^simulated by [^:]*: (%s),.*$", pattern), "\\1", values[same]
    )
  }
  same <- short %in% short[duplicated(short)]
  short[same] <- values[same]
  short
}

percent_text <- function(x) paste(format(100 * x, trim = TRUE), "%")

percent_of <- function(x) paste0(format_digits(100 * x), " %")

#' Words as a series: a, b and c.
#' @noRd
in_series <- function(words, last = "and") {
  n <- length(words)
  if (n < 2L) words else paste(toString(words[-n]), last, words[[n]])
}

SUPERSCRIPTS <- "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"

over <- function(transport) {
  fifelse(transport == "shm", "in shared memory", paste("over", title_of(transport)))
}
