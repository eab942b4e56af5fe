# SPDX-License-Identifier: BSD-3-Clause
# Bootstrap intervals over launches for a median and for a ratio of medians.

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

#' Medians of the columns of a matrix.
#' @noRd
column_medians <- function(values) {
  n <- nrow(values)
  sorted <- values[order(col(values), values, method = "radix")]
  first <- (seq_len(ncol(values)) - 1L) * n
  (sorted[first + (n + 1L) %/% 2L] + sorted[first + n %/% 2L + 1L]) / 2
}

#' Medians of the columns of `x[index]`, many times as quick: how often each launch was drawn is
#' counted, and the counts are summed up in the order of the values.
#'
#' @param x values.
#' @param index matrix of places in `x`, as [draw_indices()] makes it.
#' @noRd
drawn_medians <- function(x, index) {
  n <- nrow(index)
  columns <- seq_len(ncol(index)) - 1L
  size <- length(x)
  counts <- tabulate(index + rep(columns * size, each = n), size * ncol(index))
  order <- order(x)
  dim(counts) <- c(size, ncol(index))
  # Each column adds n, so that the sums rise through all of them.
  sums <- cumsum(counts[order, ])
  at <- function(row) x[order[findInterval(columns * n + row - 0.5, sums) %% size + 1L]]
  (at((n + 1L) %/% 2L) + at(n %/% 2L + 1L)) / 2
}

draw_indices <- function(n, replicates) {
  matrix(sample.int(n, n * replicates, replace = TRUE), nrow = n)
}

#' Bootstrap interval of the median over launches (percentile method).
#'
#' @param x launch medians (s).
#' @param level of the interval.
#' @param replicates,seed of the bootstrap.
#' @return list: `median`, `low`, `high` (s); the bounds are `NA` under five launches.
#' @export
bootstrap_median <- function(x, level = 0.95, replicates = 4000L, seed = 1L) {
  bounds <- c(NA_real_, NA_real_)
  if (length(x) >= MIN_LAUNCHES) {
    index <- with_seed(seed, draw_indices(length(x), replicates))
    drawn <- drawn_medians(x, index)
    bounds <- stats::quantile(drawn, (1 + c(-level, level)) / 2, names = FALSE)
  }
  list(median = stats::median(x), low = bounds[[1L]], high = bounds[[2L]])
}

#' Bootstrap interval of the ratio of medians over launches.
#'
#' The ratio is median(x) / median(y). Launches are drawn with replacement within each side
#' (stratified); when the sides come in complete blocks, whole blocks are drawn, so that what
#' two launches of a block have in common stays common. Percentile intervals (Davison and
#' Hinkley 1997, 5.3): of those tried on launch medians (log-normal, CV 3 to 10 %, with and
#' without launches of twice the time, with and without block effects, n = 5 to 20) they cover
#' best; BCa rests on the jackknife, which fails for medians, and covers less (the package's
#' tests hold the figures).
#'
#' @param x,y launch medians of the two sides (s); with `blocked`, in the same order of blocks.
#' @param blocked whether the sides are paired by block.
#' @param levels of the intervals.
#' @param replicates,seed of the bootstrap.
#' @return list: `ratio`, and `low` and `high`, vectors as long as `levels`; `NA` under five
#'   launches on either side or when a median of `y` is not positive.
#' @export
bootstrap_ratio <- function(x, y, blocked = FALSE, levels = c(0.95, 0.90),
                            replicates = 4000L, seed = 1L) {
  ratio <- stats::median(x) / stats::median(y)
  unknown <- rep(NA_real_, length(levels))
  out <- list(ratio = ratio, low = unknown, high = unknown)
  if (min(length(x), length(y)) < MIN_LAUNCHES || min(y) <= 0) {
    return(out)
  }
  if (blocked && length(x) != length(y)) {
    refuse("blocked sides must have one launch each in every block")
  }
  drawn <- with_seed(seed, {
    index_x <- draw_indices(length(x), replicates)
    index_y <- if (blocked) index_x else draw_indices(length(y), replicates)
    drawn_medians(x, index_x) / drawn_medians(y, index_y)
  })
  out$low <- stats::quantile(drawn, (1 - levels) / 2, names = FALSE)
  out$high <- stats::quantile(drawn, (1 + levels) / 2, names = FALSE)
  out
}
