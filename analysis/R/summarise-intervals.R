# SPDX-License-Identifier: BSD-3-Clause
# Intervals over launches of a median and of a ratio, and the draws for bootstraps of fits.

# With fewer launches than this, there is no interval and no verdict.
MIN_LAUNCHES <- 5L

# Evaluate an expression with a fixed seed, without changing the caller's random numbers.
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

# Medians of the columns of a matrix, without missing values; `NA` for a column without values.
column_medians <- function(values) {
  n <- colSums(!is.na(values))
  # Missing values are sorted after known values, within their column.
  sorted <- values[order(col(values), values, method = "radix")]
  first <- (seq_len(ncol(values)) - 1L) * nrow(values)
  (sorted[first + pmax(1L, (n + 1L) %/% 2L)] + sorted[first + n %/% 2L + 1L]) / 2
}

draw_indices <- function(n, replicates) {
  matrix(sample.int(n, n * replicates, replace = TRUE), nrow = n)
}

#' Medians of the columns of a matrix over drawn rows: one row per draw, the same columns.
#'
#' @param index what [draw_indices()] returned: numbers of rows, one column per draw.
#' @noRd
drawn_medians <- function(values, index) {
  drawn <- values[as.vector(index), , drop = FALSE]
  matrix(column_medians(matrix(drawn, nrow(index))), ncol(index))
}

#' Interval of the median between order statistics of the launches.
#'
#' Exact for any distribution (Hollander and Wolfe 1999, ch. 3): the narrowest pair of order
#' statistics, at equal distances from both ends, that has the level. If no pair has the level
#' because there are too few launches, it is the range.
#'
#' @param x launch medians (s).
#' @param level minimum level.
#' @return list: `median`, `low`, `high` (s) and the actual `level`; the bounds are `NA` for fewer
#'   than five launches.
#' @keywords internal
median_interval <- function(x, level = 0.95) {
  n <- length(x)
  out <- list(median = stats::median(x), low = NA_real_, high = NA_real_, level = NA_real_)
  if (n < MIN_LAUNCHES) {
    return(out)
  }
  sorted <- sort(x)
  # The largest k for which the probability outside the k-th order statistics is at most 1 - level.
  k <- max(1, stats::qbinom((1 - level) / 2, n, 0.5))
  if (k > 1 && 2 * stats::pbinom(k - 1, n, 0.5) > 1 - level + 1e-12) k <- k - 1
  out$low <- sorted[[k]]
  out$high <- sorted[[n + 1 - k]]
  out$level <- 1 - 2 * stats::pbinom(k - 1, n, 0.5)
  out
}

#' Interval of the ratio of two configurations at one size, as in comparisons.
#'
#' @param x,y launch medians of the configurations (s), in the same order of blocks if `paired`.
#' @param paired whether the configurations were measured in the same blocks.
#' @return list: `ratio`, `low`, `high`, `level`; the bounds are `NA` if a configuration has fewer
#'   than five launches.
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
