# SPDX-License-Identifier: BSD-3-Clause
# Medians by the rows of matrices: what the scores of a comparison are cut by, asked for at
# thousands of values.

row_medians <- function(x) column_medians(t(x))

#' Medians of the distances of sorted values from a centre, by rows, without `NA`.
#'
#' The values that are nearest to a centre are neighbours: of all windows of so many of them it is
#' the one that reaches least far.
#' @noRd
middle_distances <- function(sorted, centre) {
  n <- ncol(sorted)
  away <- abs(sorted - centre)
  reach <- function(count) {
    windows <- nrow(sorted) * (n - count + 1L)
    least_by_rows(pmax.int(
      away[seq_len(windows)], away[seq.int(length(away) - windows + 1L, length.out = windows)]
    ), nrow(sorted))
  }
  lower <- reach((n + 1L) %/% 2L)
  if (n %% 2L) lower else (lower + reach(n %/% 2L + 1L)) / 2
}

# The least value of each row of so many, columns one behind another: halves are held against
# each other until one is left.
least_by_rows <- function(values, rows) {
  while (length(values) > rows) {
    half <- (length(values) / rows) %/% 2 * rows
    least <- pmin.int(values[seq_len(half)], values[seq.int(half + 1, length.out = half)])
    values <- c(least, values[-seq_len(2 * half)])
  }
  values
}
