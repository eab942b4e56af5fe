# SPDX-License-Identifier: BSD-3-Clause
# Reads the register of claims: conclusions of the studies, and the launches that test them.

CLAIM_COLUMNS <- c(
  "study", "claim", "where", "says", "exhibit", "tests", "filter", "factor", "a", "b", "sizes",
  "direction", "low", "high", "circular", "note"
)

#' Read the register of claims.
#'
#' @param file `claims.csv`. Columns: `study`; `claim` (its name); `where` it is stated; `says`
#'   (its text); `exhibit` that it is based on; `tests` in order of preference; `filter` and
#'   `sizes` as in the rows of an exhibit; `factor` (a column, or several joined by a colon); `a`
#'   and `b`, the compared levels of `factor` (joined likewise; empty: unset); `direction` of the
#'   time of `a` (`less`, `more`, `same`); `low` and `high`, the ratio of times that the study
#'   printed (for `same`: the margin); `circular`, sites whose model was fitted to this conclusion;
#'   and `note`.
#' @return data.table, a row a claim; `filter` and `factor` are lists.
#' @examples
#' claims <- read_claims(system.file("extdata/claims.csv", package = "cotejo"))
#' claims$says
#' @export
read_claims <- function(file) {
  table <- plain_table(file, "restore the register")
  check_has(table, CLAIM_COLUMNS, file, "add it")
  odd <- which(!table$direction %in% c("less", "more", "same"))
  if (length(odd)) {
    bad_data(file, odd[[1L]] + 1L, "the direction is none", "use less, more or same")
  }
  twice <- anyDuplicated(table, by = c("study", "claim"))
  if (twice) {
    bad_data(file, twice + 1L, paste(table$claim[[twice]], "is there twice"), "name it otherwise")
  }
  as_numbers(table, c("low", "high"), file, "write a number, or nothing")
  table[, filter := list(lapply(filter, parse_members))]
  table[, factor := list(strsplit(factor, ":", fixed = TRUE))]
  table[]
}
