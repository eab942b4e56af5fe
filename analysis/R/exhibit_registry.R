# SPDX-License-Identifier: BSD-3-Clause
# The register of exhibits, inst/exhibits.csv: one row an exhibit, checked on reading.

EXHIBIT_COLUMNS <- c(
  "study", "exhibit", "kind", "title", "tests", "filter", "sizes", "verb", "arguments", "differs",
  "needs"
)

# What every verb takes from its row; a verb may ask for more.
EXHIBIT_ARGUMENTS <- c(
  "series", "panel", "x", "unit", "scale", "by", "reference", "wrong", "right", "rows", "columns",
  "truth", "measures", "repetition", "share", "work"
)

#' The register of exhibits.
#'
#' @param file CSV with the columns `study`, `exhibit`, `kind` (`figure` or `table`), `title`,
#'   `tests` (names of ReFrame tests whose launches it is drawn from: alternatives separated by
#'   blanks, the first with data counts; `a+b` needs both; none where it is made
#'   of printed numbers), `filter` (columns of the launch summary and the values wanted,
#'   `transport=shm tcp; operation=exchange-*`), `sizes` (`1..4Ki`, or a
#'   list; B), `verb` (`by_size` stands for the function `exhibit_by_size`), `arguments` of the
#'   verb (as `filter`), `differs` (how it differs from the study, a sentence for the caption) and
#'   `needs` (what is still missing where there is no test).
#' @return data.table of texts, a row an exhibit; the columns `filter` and `arguments` are lists
#'   of named lists, `name` is STUDY-EXHIBIT. An error of class `cotejo_bad_data` names the line.
#' @export
list_exhibits <- function(file = system.file("exhibits.csv", package = "cotejo")) {
  table <- fread(file, colClasses = "character", na.strings = NULL, sep = ",")
  if (!identical(names(table), EXHIBIT_COLUMNS)) {
    bad_data(file, 1L, "other columns than the register's", toString(EXHIBIT_COLUMNS))
  }
  table[, name := paste(study, exhibit, sep = "-")]
  for (i in seq_len(nrow(table))) check_exhibit(table[i], file, i + 1L)
  twice <- anyDuplicated(table$name)
  if (twice) {
    bad_data(file, twice + 1L, paste(table$name[[twice]], "is there twice"), "name it otherwise")
  }
  table[, filter := list(lapply(filter, parse_members))]
  table[, arguments := list(lapply(arguments, parse_members))]
  table[]
}

check_exhibit <- function(row, file, line) {
  unknown <- setdiff(names(parse_members(row$arguments)), EXHIBIT_ARGUMENTS)
  fault <- if (!row$kind %in% c("figure", "table")) {
    sprintf("kind \"%s\" is neither figure nor table", row$kind)
  } else if (is.null(find_verb(row$verb)) && nzchar(row$tests)) {
    sprintf("no function exhibit_%s()", row$verb)
  } else if (length(unknown)) {
    paste("unknown argument", toString(unknown))
  } else if (!nzchar(row$tests) && !nzchar(row$needs) && is.null(find_verb(row$verb))) {
    "neither tests that give its data nor what is still needed for them"
  }
  if (!is.null(fault)) bad_data(file, line, fault, "see docs/exhibits.md")
}

#' The function of a verb; NULL when there is none.
#' @noRd
find_verb <- function(verb) {
  get0(paste0("exhibit_", verb), envir = topenv(), mode = "function", inherits = FALSE)
}

#' `"a=b c; d=e"` as list(a = c("b", "c"), d = "e").
#' @noRd
parse_members <- function(text) {
  members <- trimws(strsplit(text, ";", fixed = TRUE)[[1L]])
  members <- members[nzchar(members)]
  values <- strsplit(sub("^[^=]*=", "", members), " +")
  stats::setNames(values, sub("=.*", "", members))
}

#' Sizes as the benchmark writes them: 64Ki, 1Mi, 100; B.
#' @noRd
parse_size <- function(text) {
  unit <- c(Ki = 2^10, Mi = 2^20, Gi = 2^30)[sub("^[0-9]+", "", text)]
  as.numeric(sub("[KMG]i$", "", text)) * fifelse(is.na(unit), 1, unname(unit))
}

#' Which sizes an exhibit shows: a range `1..4Ki`, a list `16Ki 1Mi`, or all.
#' @noRd
in_sizes <- function(bytes, text) {
  if (!nzchar(text)) {
    return(rep(TRUE, length(bytes)))
  }
  if (grepl("..", text, fixed = TRUE)) {
    ends <- parse_size(strsplit(text, "..", fixed = TRUE)[[1L]])
    return(bytes >= ends[[1L]] & bytes <= ends[[2L]])
  }
  bytes %in% parse_size(strsplit(text, " +")[[1L]])
}

#' What an exhibit does when its data are not there: it waits, and says for what.
#' @noRd
await <- function(...) refuse(paste0(...), class = c("cotejo_waiting", "cotejo_refused"))
