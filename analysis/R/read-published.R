# SPDX-License-Identifier: BSD-3-Clause
# The printed numbers of the studies, as text, because the number of printed digits matters.

#' Read one file of printed numbers.
#'
#' @param dir folder of `data/published`.
#' @param name of the file, without its ending.
#' @return data.table of texts, as printed.
#' @noRd
read_published <- function(dir, name) {
  file <- file.path(dir, paste0(name, ".csv"))
  if (!file.exists(file)) {
    bad_data(file, NA, "not there", "name the folder of data/published (PUBLISHED)")
  }
  plain_table(file, "restore the file")
}

#' The range of values that round to a printed number.
#'
#' @param text the number as printed, with a point; sizes may end in k or M (binary).
#' @param round whether zeros at the end of an integer may be rounding (400 for 350 to 450).
#' @return list: `value`, `low`, `high` (vectors), `unit` (of the last digit); `NA` if nothing was
#'   printed.
#' @noRd
printed <- function(text, round = FALSE) {
  binary <- c(B = 1, k = 1024, M = 1024^2)
  suffix <- sub("^[^A-Za-z]*", "", text)
  sized <- suffix %in% names(binary)
  factor <- ifelse(sized, binary[suffix], 1)
  bare <- ifelse(sized, sub("[A-Za-z]$", "", text), text)
  value <- suppressWarnings(as.numeric(bare))
  exponent <- ifelse(grepl("e", bare), suppressWarnings(as.numeric(sub(".*e", "", bare))), 0)
  mantissa <- sub("e.*", "", bare)
  decimals <- ifelse(grepl(".", mantissa, fixed = TRUE), nchar(sub(".*[.]", "", mantissa)), 0)
  zeros <- nchar(sub("^.*?(0*)$", "\\1", mantissa, perl = TRUE)) *
    (round & !grepl(".", mantissa, fixed = TRUE))
  unit <- 10^(exponent - decimals + zeros) * factor
  value <- unname(value * factor)
  # Sizes with the suffix k or M are exact.
  half <- ifelse(sized, 0, unit / 2)
  list(value = value, low = value - half, high = value + half, unit = unname(unit))
}

#' The range of a function of printed numbers, each anywhere within its rounding.
#'
#' @param f a function with one argument per number, monotonic in each within the roundings.
#' @param ... printed numbers, as texts or as [printed()] returns them.
#' @return list: `value`, `low`, `high`.
#' @noRd
recompute <- function(f, ...) {
  given <- lapply(list(...), \(number) if (is.character(number)) printed(number) else number)
  corners <- expand.grid(rep(list(c("low", "high")), length(given)), stringsAsFactors = FALSE)
  at <- vapply(seq_len(nrow(corners)), function(i) {
    do.call(f, Map(function(number, end) number[[end]], given, unlist(corners[i, ])))
  }, numeric(length(given[[1L]]$value)))
  at <- matrix(at, ncol = nrow(corners))
  list(
    value = do.call(f, lapply(given, `[[`, "value")),
    low = apply(at, 1L, min), high = apply(at, 1L, max)
  )
}

# The gain of one time over another, in % of the other.
gain_over <- function(time, other) 100 * (other - time) / other

# Rows of the audit: printed texts against recomputed ranges.
audit_rows <- function(file, what, text, again, unit, tolerance = 0, remark = "") {
  given <- printed(text)
  reach <- tolerance * abs(again$value)
  low <- again$low - reach
  high <- again$high + reach
  # Rounding errors of the computer do not count as a disagreement.
  slack <- 1e-9 * pmax(abs(low), abs(high), abs(given$value))
  miss <- pmax(low - given$high, given$low - high) - slack
  data.table(
    file = paste0(file, ".csv"), what = what, printed = text, recomputed = again$value,
    low = again$low, high = again$high, unit = unit,
    verdict = fcase(
      miss <= 0, "agrees", miss < 1.5 * given$unit, "last digit",
      rep(TRUE, length(miss)), "disagrees"
    ),
    remark = remark
  )
}
