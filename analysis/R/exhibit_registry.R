# SPDX-License-Identifier: BSD-3-Clause
# The register of exhibits, inst/exhibits.csv: one row an exhibit, checked on reading.

EXHIBIT_COLUMNS <- c(
  "study", "exhibit", "kind", "title", "tests", "filter", "sizes", "verb", "arguments", "differs",
  "needs"
)

# Nothing, FROM..TO, or a list: 64Ki, 1Mi, 100.
SIZES_FORM <- "^(|[0-9]+([KMG]i)?[.][.][0-9]+([KMG]i)?|[0-9]+([KMG]i)?( +[0-9]+([KMG]i)?)*)$"

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
  table <- without_warning(fread(file, colClasses = "character", na.strings = NULL, sep = ","))
  if (is.null(table)) bad_data(file, NA, "no CSV of so many columns", "see docs/exhibits.md")
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

# Columns that a filter may name: of every launch summary, of an experiment's samples, and what a
# test, a setting or an option is told by.
FILTER_COLUMNS <- c(
  "site", "session", "simulated", "scale", "experiment", "test", "mpi", "transport", "placement",
  "hosts", "ranks", "operation", "bytes", "settings", "parameters", "multiply_adds", "step",
  "pairs", "burst", "queue", "log2_points", "keys", "threads", "rank", "switched", "algorithms",
  "partitions", "thread_cores"
)

check_exhibit <- function(row, file, line) {
  unknown <- setdiff(names(parse_members(row$arguments)), EXHIBIT_ARGUMENTS)
  drawn <- !is.null(find_verb(row$verb))
  faults <- c(
    if (anyNA(unlist(row))) "fewer columns than the register's",
    if (!grepl("^[A-Za-z0-9][A-Za-z0-9.-]*$", row$name)) {
      sprintf("name \"%s\" is no name of a file", row$name)
    },
    choice_faults(row),
    if (!row$kind %in% c("figure", "table")) {
      sprintf("kind \"%s\" is neither figure nor table", row$kind)
    },
    if (!drawn && nzchar(row$tests)) sprintf("no function exhibit_%s()", row$verb),
    if (length(unknown)) paste("unknown argument", toString(unknown)),
    if (!nzchar(row$tests) && !nzchar(row$needs) && !drawn) {
      "neither tests that give its data nor what is still needed for them"
    }
  )
  if (length(faults)) bad_data(file, line, faults[[1L]], "see docs/exhibits.md")
}

# What is wrong with the launches and sizes that a row asks for.
choice_faults <- function(row) {
  columns <- names(parse_members(row$filter))
  odd <- columns[!columns %in% FILTER_COLUMNS &
    !grepl("^(setting|parameter|option)_[a-z0-9_]+$", columns)]
  c(
    if (length(odd)) {
      sprintf("filter: no column %s; there are %s", toString(odd), toString(FILTER_COLUMNS))
    },
    if (!grepl(SIZES_FORM, row$sizes)) {
      sprintf("sizes \"%s\" are neither FROM..TO nor a list of sizes", row$sizes)
    }
  )
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
