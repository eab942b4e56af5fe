# SPDX-License-Identifier: BSD-3-Clause
# Intervals over launches of a median and of a ratio, and what bootstraps of fits draw.

# Fewer launches than this carry no interval and no verdict.
MIN_LAUNCHES <- 5L

#' Evaluate an expression with a fixed seed and leave the caller's random numbers as they were.
#' @noRd
with_seed <- function(seed, code) {
  global <- globalenv()
  old <- get0(".Random.seed", envir = global, inherits = FALSE)
  kinds <- RNGkind()
  on.exit({
    do.call(RNGkind, as.list(kinds))
    if (is.null(old)) {
      suppressWarnings(rm(".Random.seed", envir = global))
    } else {
      assign(".Random.seed", old, envir = global)
    }
  })
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  force(code)
}

#' Medians of the columns of a matrix, of what is known in each; `NA` where nothing is.
#' @noRd
column_medians <- function(values) {
  n <- colSums(!is.na(values))
  # What is not known sorts behind what is, within its column.
  sorted <- values[order(col(values), values, method = "radix")]
  first <- (seq_len(ncol(values)) - 1L) * nrow(values)
  (sorted[first + pmax(1L, (n + 1L) %/% 2L)] + sorted[first + n %/% 2L + 1L]) / 2
}

draw_indices <- function(n, replicates) {
  matrix(sample.int(n, n * replicates, replace = TRUE), nrow = n)
}

#' Medians of the columns of a matrix over drawn rows: a row a draw, a column a column.
#'
#' @param index what [draw_indices()] returned: numbers of rows, a column a draw.
#' @noRd
drawn_medians <- function(values, index) {
  drawn <- values[as.vector(index), , drop = FALSE]
  matrix(column_medians(matrix(drawn, nrow(index))), ncol(index))
}

#' Interval of the median between order statistics of the launches.
#'
#' Exact whatever the distribution is (Hollander and Wolfe 1999, ch. 3): the narrowest pair of
#' order statistics, as many from below as from above, that has the level; the range, where so few
#' launches have none.
#'
#' @param x launch medians (s).
#' @param level at least wanted.
#' @return list: `median`, `low`, `high` (s) and the `level` it has; the bounds are `NA` under five
#'   launches.
#' @keywords internal
median_interval <- function(x, level = 0.95) {
  n <- length(x)
  out <- list(median = stats::median(x), low = NA_real_, high = NA_real_, level = NA_real_)
  if (n < MIN_LAUNCHES) {
    return(out)
  }
  sorted <- sort(x)
  # One more than may be left out on a side, so that what is left out has at most the rest.
  k <- max(1, stats::qbinom((1 - level) / 2, n, 0.5))
  if (k > 1 && 2 * stats::pbinom(k - 1, n, 0.5) > 1 - level + 1e-12) k <- k - 1
  out$low <- sorted[[k]]
  out$high <- sorted[[n + 1 - k]]
  out$level <- 1 - 2 * stats::pbinom(k - 1, n, 0.5)
  out
}

#' Interval of the ratio of two sides at one size, as comparisons have it.
#'
#' @param x,y launch medians of the sides (s), in the same order of blocks with `paired`.
#' @param paired whether the sides come in blocks.
#' @return list: `ratio`, `low`, `high`, `level`; the bounds are `NA` under five launches a side.
#' @noRd
ratio_interval <- function(x, y, paired = FALSE) {
  out <- list(
    ratio = stats::median(x) / stats::median(y), low = NA_real_, high = NA_real_, level = NA_real_
  )
  if (min(length(x), length(y)) < MIN_LAUNCHES || min(x, y) <= 0) {
    return(out)
  }
  curve <- if (paired) {
    paired_curve(matrix(log(x) - log(y)))
  } else {
    independent_curve(matrix(log(x)), matrix(log(y)))
  }
  found <- lapply(curve[, c("effect", "low", "high")], exp)
  list(ratio = found$effect, low = found$low, high = found$high, level = curve$confidence)
}
