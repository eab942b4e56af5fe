# SPDX-License-Identifier: BSD-3-Clause
# Formats names and numbers for readers: every number with its unit and at least three digits.

# The MPI families and transports that sessions declare, kept while a figure or text is made.
said <- new.env(parent = emptyenv())
said$families <- NULL

# One part of the file of words, such as `operations`: a vector or list of words by name.
#
# `titles` has names of families and transports for sessions that declare none. `selectors` maps
# SimGrid's own names of sets of algorithms to the MPI libraries.
words_for <- function(part) {
  words <- keep_once("words", function() {
    yaml::read_yaml(system.file("words.yaml", package = "cotejo", mustWork = TRUE))
  })[[part]]
  if (any(lengths(words) > 1L)) words else unlist(words)
}

#' Evaluate an expression with the titles, colours and order that sessions declare.
#'
#' @param families what [families_of()] returns; may be empty, as for sessions of version 1.
#' @noRd
with_families <- function(families, code) {
  rlang::with_bindings(code, families = if (NROW(families)) families, .env = said)
}

#' The families and transports of sessions, each as declared by the latest session. The result is a
#' data.table `name`, `title`, `colour`, `order`; transports have only the first two.
#'
#' @param sessions what [read_sessions()] returned as `sessions`.
#' @noRd
families_of <- function(sessions) {
  latest <- order(as.character(sessions$session), method = "radix")
  all <- rbindlist(c(sessions$families[latest], sessions$transports[latest]), fill = TRUE)
  if (!nrow(all)) {
    return(all)
  }
  all <- unique(all, by = "name", fromLast = TRUE)
  # Titles must be unique, because figures distinguish names by their titles.
  known <- words_for("titles")
  known <- known[!names(known) %in% all$name]
  title <- NULL # column, bound here for R CMD check
  all[title %in% c(title[duplicated(title)], known), title := sprintf("%s (%s)", title, name)][]
}

# Display name of an MPI, transport or operation; the name itself without one.
title_of <- function(name) {
  name <- as.character(name)
  known <- words_for("titles")[name]
  theirs <- said$families$title[match(name, said$families$name)]
  if (length(theirs)) known <- fcoalesce(theirs, unname(known))
  fcoalesce(unname(known), name)
}

# Names in the order in which they are shown: families as they declare, other names sorted.
in_order <- function(names) {
  names <- sort(names, method = "radix", na.last = TRUE)
  place <- said$families$order[match(names, said$families$name)]
  if (length(place)) names[order(place, na.last = TRUE)] else names
}

# Names of operations in words: "put, fence, window created", "NAS CG, class A". A name without
# known words stays, with blanks in place of most underscores.
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

# Names of operations in words with the experiment, where no title names it: "LogP, gap".
question_in_words <- function(operation) {
  experiment <- unname(words_for("experiments")[sub("-.*", "", operation)])
  words <- operation_in_words(operation)
  known <- operation %in% names(words_for("operations")) & !is.na(experiment)
  fifelse(known, paste(experiment, words, sep = ", "), words)
}

#' Settings and parameters in words: "mode standard, non-blocking". Leaves out the names that the
#' operation or a column already contains (`dropped`).
#'
#' @param kind `setting` or `parameter`.
#' @noRd
values_in_words <- function(values, kind, dropped = c("kernel", "pattern", "window", "ranks")) {
  few <- unique(as.character(values))
  words <- vapply(strsplit(few, "; ?"), function(parts) {
    name <- sub("=.*", "", parts)
    column <- fifelse(is_counted(name), name, paste(kind, name, sep = "_"))
    said <- mapply(say_value, column, substring(parts, nchar(name) + 2L))
    toString(said[!name %in% dropped])
  }, "")
  words[match(values, few)]
}

# The purpose of a test, in words.
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

# Sizes in binary units: 1 B, 64 KiB, 4 MiB. Sizes that are not multiples stay exact in B.
format_bytes <- function(bytes) {
  units <- outer(bytes, 1024^(1:3), \(bytes, unit) bytes >= unit & bytes %% unit == 0)
  scale <- as.integer(rowSums(units, na.rm = TRUE))
  unit <- c("B", "KiB", "MiB", "GiB")[scale + 1L]
  paste(format_whole(bytes / 1024^scale), unit)
}

format_whole <- function(x, digits = 15L) formatC(x, digits = digits, width = 1L, format = "fg")

# Number of decimals that leave at least `digits` significant digits, for each number.
decimals_of <- function(x, digits = 3L) {
  size <- fifelse(is.finite(x) & x != 0, abs(as.numeric(x)), 10^digits)
  as.integer(pmax(0, digits - 1L - floor(log10(size))))
}

# Numbers with at least three significant digits and no exponent.
format_digits <- function(x, digits = 3L, decimals = decimals_of(x, digits)) {
  x <- as.numeric(unname(x))
  fifelse(is.na(x), "NA", sprintf("%.*f", decimals, x))
}

# Times in microseconds.
format_us <- function(seconds, digits = 4L) format_digits(seconds * 1e6, digits)

# `median [low, high]` with the same decimals for all three; only the median without an interval.
format_interval <- function(value, low, high, digits = 3L) {
  text <- function(x) format_digits(x, decimals = decimals_of(value, digits))
  fifelse(
    is.na(low) | is.na(high), text(value),
    sprintf("%s [%s, %s]", text(value), text(low), text(high))
  )
}

# `format_interval()` of the columns `NAME`, `NAME_low` and `NAME_high` of a table.
format_columns <- function(table, name, scale = 1, digits = 3L) {
  columns <- lapply(paste0(name, c("", "_low", "_high")), \(column) scale * table[[column]])
  do.call(format_interval, c(columns, digits = digits))
}

# A p value, never shown as 0.
format_p <- function(p) {
  fcase(
    is.na(p), "NA", p < 1e-4, formatC(p, digits = 1L, format = "e"),
    rep(TRUE, length(p)), formatC(p, digits = 3L, format = "g", flag = "#")
  )
}

format_count <- function(a, b) {
  paste("n =", ifelse(a == b, a, paste(a, "and", b)))
}

# A text where a condition holds, otherwise an empty text.
text_if <- function(holds, text) if (holds) text else ""

# Ranges in words: "1 B to 4 KiB", or one text where both ends are equal.
in_range <- function(from, to) fifelse(from == to, from, paste(from, "to", to))

#' Factors of times in words: small factors as percent longer.
#' @noRd
say_factors <- function(least, most, longer = " % longer", times = " times as long") {
  percent <- function(factor) format_digits(100 * (factor - 1), 2L)
  fifelse(
    most < 2, paste0(in_range(percent(least), percent(most)), longer),
    paste0(in_range(format_digits(least, 2L), format_digits(most, 2L)), times)
  )
}

# A relative bound for readers: small bounds as percent, large bounds as a factor.
say_percent <- function(bound) {
  fifelse(
    bound >= 1, sprintf("a factor of %s", format_digits(1 + bound)),
    sprintf("%s %%", format_digits(100 * bound, 2L))
  )
}

# Some sizes of messages: few sizes by their names, more sizes by their number.
name_sizes <- function(bytes) {
  if (length(bytes) < 4L) toString(format_bytes(bytes)) else paste(length(bytes), "sizes")
}

#' Texts joined by commas, for each row. Empty texts are left out.
#'
#' @param parts list of texts of the same length.
#' @noRd
join_words <- function(parts) {
  Reduce(\(a, b) paste0(a, fifelse(nzchar(a) & nzchar(b), ", ", ""), b), parts)
}

# The version text of a library, up to the end of its version number.
short_library <- function(library) {
  text <- gsub("[[:space:]]+", " ", library)
  substr(sub("^(.*?[0-9]+(\\.[0-9]+)+[^ ,]*).*$", "\\1", text, perl = TRUE), 1L, 80L)
}

# A share in percent as it was given, such as an accepted slowdown.
say_margin <- function(share) paste(format(100 * share), "%")

# The words for what a kind of figure shows; `...` are the values in them.
words_of_caption <- function(kind, ...) sprintf(words_for("captions")[[kind]], ...)

count_of <- function(n, one, many) paste(n, ifelse(n == 1L, one, many))

# Whether the values of a column are numbers of things, such as ranks.
is_counted <- function(column) column %in% names(words_for("counted"))

# The name of a column in words, such as "eager limit" and "CPU model"; a measure has no unit.
word_of_column <- function(column) {
  known <- words_for("columns")[column]
  other <- gsub("_", " ", sub("^(option|parameter|setting)_", "", column), fixed = TRUE)
  unname(fcoalesce(unname(known), sub(" (s|us|ms|bytes)$", "", other)))
}

# Columns of the settings, parameters and options of a launch.
VARIED_COLUMN <- "^(setting|parameter|option)_[a-z0-9_]+$"

say_value <- function(column, values) {
  known <- switch(column,
    operation = words_for("operations"), unlist(words_for("values")[[column]])
  )
  counted <- words_for("counted")[[column]]
  template <- words_for("templates")[column]
  varied <- grepl(VARIED_COLUMN, column)
  words <- switch(column,
    bytes = , setting_eager_limit = format_bytes(as.numeric(values)),
    keys = format_whole(as.numeric(values)), simulated = short_label(values),
    log2_points = chartr("0123456789", words_for("superscripts"), values),
    parameters = values_in_words(values, "parameter"),
    settings = values_in_words(values, "setting"),
    setting_coll_selector = title_of(fcoalesce(unname(words_for("selectors")[values]), values)),
    test = test_in_words(values), algorithm = chartr("_", " ", values),
    if (varied) chartr("_", " ", values) else title_of(values)
  )
  words <- if (!is.null(counted)) {
    count_of(values, counted[[1L]], counted[[2L]])
  } else if (!is.na(template)) {
    sprintf(template, words)
  } else {
    paste0(if (varied) paste0(word_of_column(column), " "), words)
  }
  unset <- fcoalesce(unname(words_for("unset")[column]), "")
  unname(fifelse(is.na(values), unset, fcoalesce(unname(c(known, "")[values]), words)))
}

# The distinguishing part of a label: the name of a simulated machine, or an emulated network with
# its hosts. The caption contains the complete label.
short_label <- function(values) {
  kind <- "^emulated: ([0-9]+) (User-mode Linux )?(hosts|guests) on [0-9]+ cores, ([^ ]+) .*$"
  name <- c("^simulated by [^:]*: ([^,]*),.*$", "^simulated by [^:]*: ([^,]*,[^,]*),.*$")
  hosts <- sub(kind, "\\1 \\3 of \\4", values)
  # The name of a simulated machine, extended as far as needed to be unique.
  Reduce(
    \(short, longer) fifelse(short %in% short[duplicated(short)], longer, short),
    list(sub(name[[1L]], "\\1", hosts), sub(name[[2L]], "\\1", hosts), values)
  )
}

percent_of <- function(x) paste0(format_digits(100 * x), " %")

# Words as a series: a, b and c.
in_series <- function(words, last = "and") {
  n <- length(words)
  if (n < 2L) words else paste(toString(words[-n]), last, words[[n]])
}

over <- function(transport) {
  fifelse(transport == "shm", "in shared memory", paste("over", title_of(transport)))
}
