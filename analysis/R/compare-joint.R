# SPDX-License-Identifier: BSD-3-Clause
# The one model of comparison: one test and one interval for every size of a curve, each the
# other's inverse, joint over the sizes.
#
# If a value is the effect, then the launches of a block, less that value, could as well have
# changed sides. So the statistic of a size is held against its values under sign flips of whole
# blocks (of sides without common blocks: under exchanges of whole launches), and, since sizes of
# one launch rise and fall together, the greatest of all sizes against its greatest: the single
# step of Westfall and Young (1993). The interval holds the values that are not rejected so.
#
# The statistic is the sum of the differences over the root of the sum of their squares (Student's
# t but for a monotone change), with differences cut at 1.345 robust standard deviations (Huber
# 1964): a launch of twice the time, of which there is always one, counts as a late one.

# Up to so many blocks all sign flips are taken, beyond as many drawn ones with a fixed seed.
ALL_FLIPS_TO <- 12L
FLIPS <- 2048L
CUT <- 1.345

# What depends on numbers of launches alone is made once a session of R.
made <- new.env(parent = emptyenv())
keep_once <- function(name, make) {
  if (is.null(made[[name]])) made[[name]] <- make()
  made[[name]]
}

#' Sign flips of blocks, a row each; the first one is what was measured.
#' @noRd
sign_flips <- function(n) {
  keep_once(paste("flips", n), function() {
    if (n <= ALL_FLIPS_TO) {
      # The first block keeps its sign: the opposite of all signs gives the same.
      return(as.matrix(unname(do.call(expand.grid, c(list(1), rep(list(c(1, -1)), n - 1L))))))
    }
    drawn <- with_seed(1L, sample(c(-1, 1), (FLIPS - 1L) * n, replace = TRUE))
    rbind(1, matrix(drawn, ncol = n))
  })
}

#' Exchanges of launches between two sides, a row each, the first one as it was measured: weights
#' of which the sum of squares is the number of launches less one.
#' @noRd
exchanges <- function(n_a, n_b) {
  keep_once(paste("exchanges", n_a, n_b), function() {
    n <- n_a + n_b
    chosen <- if (choose(n, n_a) <= 2L * FLIPS) {
      utils::combn(n, n_a)
    } else {
      cbind(seq_len(n_a), with_seed(1L, replicate(FLIPS - 1L, sample.int(n, n_a))))
    }
    out <- matrix(-n_a, ncol(chosen), n)
    out[cbind(rep(seq_len(ncol(chosen)), each = n_a), as.vector(chosen))] <- n_b
    out * sqrt((n - 1) / n / n_a / n_b)
  })
}

#' Distances from a centre, cut at `CUT` robust standard deviations, over the root of the sum of
#' their squares, by columns. Flips and exchanges leave the standard deviation as it is.
#'
#' @param exchanged of launches of two sides, of which the common mean is no effect.
#' @noRd
scores_of <- function(x, centre, exchanged = FALSE) {
  n <- nrow(x)
  # Of more values than columns the columns come again.
  x <- matrix(x, n, length(centre)) - rep(centre, each = n)
  spread <- 1.4826 * column_medians(abs(x))
  most <- rep(CUT * spread, each = n)
  # Without a spread only the sides count.
  x <- as.vector(x)
  cut <- matrix(fifelse(most > 0, pmax(pmin(x, most), -most), sign(x)), n)
  if (exchanged) cut <- cut - rep(colMeans(cut), each = n)
  cut[is.na(cut)] <- 0
  size <- sqrt(colSums(cut^2))
  cut / rep(fifelse(size > 0, size, 1), each = n)
}

#' A curve of paired blocks: the effect of each size with its test and its intervals.
#'
#' @param d matrix of log ratios, a row a block, a column a size; `NA` where a block lacks a size.
#' @param levels of the intervals, over all sizes together; the first one decides the verdict.
#' @return as [settle_curve()].
#' @noRd
paired_curve <- function(d, levels = c(0.95, 0.90)) {
  d <- d[rowSums(!is.na(d)) > 0L, , drop = FALSE]
  settle_curve(
    function(value) scores_of(d, value), sign_flips(nrow(d)), levels,
    apply(d, 2L, range, na.rm = TRUE), colSums(!is.na(d))
  )
}

#' A curve of two sides without common blocks.
#'
#' @param x,y matrices of log times of the sides, a row a launch, a column a size, without `NA`.
#' @return as [settle_curve()].
#' @noRd
independent_curve <- function(x, y, levels = c(0.95, 0.90)) {
  n_a <- nrow(x)
  n_b <- nrow(y)
  ends <- rbind(
    apply(x, 2L, min) - apply(y, 2L, max), apply(x, 2L, max) - apply(y, 2L, min)
  )
  settle_curve(function(value) {
    both <- rbind(
      matrix(x, n_a, length(value)) - rep(value, each = n_a), matrix(y, n_b, length(value))
    )
    scores_of(both, column_medians(both), TRUE)
  }, exchanges(n_a, n_b), levels, ends, rep(min(n_a, n_b), ncol(x)))
}

#' Tests and intervals of a curve.
#'
#' @param scores function of a value (log ratio) by size: the scores of launches from which that
#'   value was taken away, a row a block or a launch.
#' @param flips matrix, a row a flip, the first one what was measured.
#' @param ends least and greatest value that single blocks, or pairs of launches, have by size.
#' @param n launches of each size.
#' @return data.table, a row a size: `effect` (log ratio), `p` (of the size alone), `p_joint`
#'   (corrected over the sizes); `low`, `high`, the `level` that this interval has, and `joint`:
#'   whether it has it for all sizes together (with so few launches that no test can reach the
#'   level it is the range of the blocks, for each size alone); `low90`, ... the same for the
#'   second level; `alike`: so many independent sizes would take the same correction.
#' @noRd
settle_curve <- function(scores, flips, levels, ends, n) {
  measured <- flips[1L, ]
  statistic <- function(value) drop(measured %*% scores(value))
  effect <- cross(statistic, ends[1L, ], ends[2L, ], rep(0, length(n)))
  # Flips about 1 are exact where nothing differs; those about the effects hold for the intervals.
  # Of the two the less favourable counts.
  about <- lapply(list(0 * effect, effect), function(value) abs(flips %*% scores(value)))
  greatest <- lapply(about, function(all) sort(do.call(pmax, as.data.frame(all))))
  here <- statistic(0 * effect)
  least <- abs(here) * (1 - 1e-9)
  share <- function(g) 1 - findInterval(least, g, left.open = TRUE) / length(g)
  out <- data.table(
    effect, n, p = colMeans(about[[1L]] >= rep(least, each = nrow(flips))),
    p_joint = do.call(pmax, lapply(greatest, share))
  )
  found <- intervals_of(statistic, effect, ends, greatest, 1 - levels, here)
  for (i in seq_along(levels)) {
    name <- c("", "90")[[i]]
    set(out, j = paste0(c("low", "high", "level", "joint"), name),
      value = found[[i]][c("low", "high", "level", "joint")]
    )
  }
  alone <- mean(about[[2L]] > found[[1L]]$limit)
  alike <- if (found[[1L]]$joint) (1 - found[[1L]]$level) / max(alone, 1e-9) else Inf
  set(out, j = "alike", value = min(length(n), max(1, alike)))
  out[]
}

#' The intervals of all sizes at each level. Of so many flips a share (`tails`) rejects; where not
#' even one may, the interval is the range.
#' @noRd
intervals_of <- function(statistic, effect, ends, greatest, tails, here) {
  flips <- lengths(greatest)[[1L]]
  most <- floor(tails * flips + 1e-9)
  limits <- vapply(most, function(m) {
    if (m < 1L) Inf else max(vapply(greatest, function(g) g[[flips - m]], 0)) * (1 + 1e-9)
  }, 0)
  width <- pmax(ends[2L, ] - ends[1L, ], 1e-12)
  sizes <- length(effect)
  wanted <- which(is.finite(limits))
  # Both ends of all levels at once.
  bounds <- if (length(wanted)) {
    level <- rep(limits[wanted], each = sizes)
    times <- length(wanted)
    from <- c(rep(effect - BEYOND * width, times), rep(effect, times))
    to <- c(rep(effect, times), rep(effect + BEYOND * width, times))
    cross(statistic, from, to, c(level, -level))
  }
  lapply(seq_along(tails), function(i) {
    if (most[[i]] < 1L) {
      return(list(
        low = ends[1L, ], high = ends[2L, ], level = 1 - 1 / flips, joint = FALSE, limit = Inf
      ))
    }
    at <- (match(i, wanted) - 1L) * sizes + seq_len(sizes)
    low <- bounds[at]
    high <- bounds[length(wanted) * sizes + at]
    # The statistic falls with the value but for cuts that move with it: 1 is held where it is not
    # rejected.
    kept <- abs(here) <= limits[[i]]
    list(
      low = fifelse(kept & low > 0, 0, low), high = fifelse(kept & high < 0, 0, high),
      level = 1 - most[[i]] / flips, joint = TRUE, limit = limits[[i]]
    )
  })
}

# Intervals that would reach further than so many times the range of the blocks have no end.
BEYOND <- 64

#' Where falling functions cross a level, by halving; all at once. Infinite where they do not.
#' @noRd
cross <- function(f, low, high, level) {
  no_low <- f(low) < level
  no_high <- f(high) > level
  from <- low
  to <- high
  for (i in seq_len(CROSS_STEPS)) {
    middle <- (from + to) / 2
    above <- f(middle) > level
    from <- fifelse(above, middle, from)
    to <- fifelse(above, to, middle)
  }
  fifelse(no_low, fifelse(level == 0, low, -Inf), fifelse(no_high, fifelse(level == 0, high, Inf),
    (from + to) / 2
  ))
}
CROSS_STEPS <- 30L
