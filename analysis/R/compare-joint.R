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
# Of the interval that verdicts rest on, where equivalence is not asked for.
LEVEL_OF_VERDICTS <- 0.95

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
#' their squares, by rows. Flips and exchanges leave the standard deviation as it is.
#'
#' @param x distances, a row a size, a column a block or a launch.
#' @param middle the median of their sizes, by rows.
#' @param exchanged of launches of two sides, of which the common mean is no effect.
#' @noRd
scores_of <- function(x, middle, exchanged = FALSE) {
  most <- CUT * (1.4826 * middle)
  cut <- pmax.int(pmin.int(x, most), -most)
  dim(cut) <- dim(x)
  # Without a spread only the sides count.
  flat <- which(most == 0)
  if (length(flat)) cut[flat, ] <- sign(x[flat, ])
  if (exchanged) cut <- cut - rowMeans(cut)
  if (anyNA(cut)) cut[is.na(cut)] <- 0
  size <- sqrt(rowSums(cut^2))
  cut / fifelse(size > 0, size, 1)
}

#' A curve of paired blocks: the effect of each size with its test and its intervals.
#'
#' @param d matrix of log ratios, a row a block, a column a size; `NA` where a block lacks a size.
#' @param levels of the intervals, over all sizes together; the first one decides the verdict.
#' @return as [settle_curve()].
#' @noRd
paired_curve <- function(d, levels = c(0.95, 0.90)) {
  as.data.table(paired_curves(list(d), levels)[[1L]])
}

#' Many curves of paired blocks. Those with the same number of blocks are settled together, side by
#' side in one matrix: most of the time of a small curve alone would go into the calls.
#'
#' @param curves list of matrices, as for [paired_curve()].
#' @param tests,truth as of [settle_curve()]; `truth` by size, of all curves the same.
#' @return list of lists of columns, as [settle_curve()] has them.
#' @noRd
paired_curves <- function(curves, levels = c(0.95, 0.90), tests = TRUE, truth = NULL) {
  curves <- lapply(curves, function(d) {
    empty <- rowSums(!is.na(d)) == 0L
    if (any(empty)) d[!empty, , drop = FALSE] else d
  })
  out <- vector("list", length(curves))
  for (alike in split(seq_along(curves), vapply(curves, shape_of_curve, ""))) {
    flips <- sign_flips(nrow(curves[[alike[[1L]]]]))
    wide <- cumsum(vapply(curves[alike], ncol, 0L))
    for (here in split(alike, wide %/% max(1L, MOST_FLIPPED %/% nrow(flips)))) {
      d <- do.call(cbind, curves[here])
      of <- rep.int(seq_along(here), vapply(curves[here], ncol, 0L))
      found <- settle_curve(
        scores_of_blocks(d), flips, levels, ends_of(d), colSums(!is.na(d)), of, tests,
        if (!is.null(truth)) rep_len(truth, ncol(d))
      )
      columns <- lapply(found, split, of)
      out[here] <- lapply(seq_along(here), function(i) lapply(columns, `[[`, i))
    }
  }
  out
}

# Curves of one shape are settled together; blocks that lack a size take another way.
shape_of_curve <- function(d) paste(nrow(d), anyNA(d))

#' The `scores` of [settle_curve()] of paired blocks.
#' @noRd
scores_of_blocks <- function(d) {
  d <- t(d)
  if (anyNA(d)) {
    return(function(value, sizes) {
      x <- d[sizes, , drop = FALSE] - value
      scores_of(x, row_medians(abs(x)))
    })
  }
  sorted <- matrix(d[order(row(d), d, method = "radix")], nrow(d), byrow = TRUE)
  function(value, sizes) {
    scores_of(
      d[sizes, , drop = FALSE] - value, middle_distances(sorted[sizes, , drop = FALSE], value)
    )
  }
}

# So many values of flipped sums are held at once.
MOST_FLIPPED <- 1e6

# Least and greatest value of each column.
ends_of <- function(d) {
  sorted <- matrix(d[order(col(d), d, method = "radix")], nrow(d))
  rbind(sorted[1L, ], sorted[cbind(colSums(!is.na(d)), seq_len(ncol(d)))])
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
  as.data.table(settle_curve(function(value, sizes) {
    both <- t(rbind(x[, sizes, drop = FALSE] - rep(value, each = n_a), y[, sizes, drop = FALSE]))
    apart <- both - row_medians(both)
    scores_of(apart, row_medians(abs(apart)), TRUE)
  }, exchanges(n_a, n_b), levels, ends, rep(min(n_a, n_b), ncol(x))))
}

#' Tests and intervals of a curve.
#'
#' @param scores function of values (log ratios) and of the numbers of their sizes: the scores of
#'   launches from which those values were taken away, a row a size, a column a block or a launch.
#' @param flips matrix, a row a flip, the first one what was measured.
#' @param ends least and greatest value that single blocks, or pairs of launches, have by size.
#' @param n launches of each size.
#' @param of which curve each size belongs to, where several are settled at once: sizes are
#'   corrected for with those of their own curve.
#' @param tests whether `p`, `p_joint` and `alike` are wanted.
#' @param truth log ratio of each size where it is known, to ask whether the test rejects it.
#' @return list of columns, a row a size: `effect` (log ratio), `p` (of the size alone), `p_joint`
#'   (corrected over the sizes); `low`, `high`, the `level` that this interval has, and `joint`:
#'   whether it has it for all sizes together (with so few launches that no test can reach the
#'   level it is the range of the blocks, for each size alone); `low90`, ... the same for the
#'   second level; `alike`: so many independent sizes would take the same correction; `rejected`:
#'   the `truth`, at the first level.
#' @noRd
settle_curve <- function(scores, flips, levels, ends, n, of = rep(1L, length(n)), tests = TRUE,
                         truth = NULL) {
  measured <- flips[1L, ]
  all <- seq_along(n)
  statistic <- function(value, sizes) as.vector(scores(value, sizes) %*% measured)
  effect <- cross(statistic, ends[1L, ], ends[2L, ], rep(0, length(n)))
  here <- statistic(0 * effect, all)
  turns <- sizes_in_turn(of)
  # Flips about 1 are exact where nothing differs; those about the effects hold for the intervals.
  # Of the two the less favourable counts.
  flipped <- function(value) flip_scores(flips, scores(value, all), turns, of, tests)
  about <- list(flipped(0 * effect), flipped(effect))
  greatest <- lapply(about, `[[`, "greatest")
  most <- floor((1 - levels) * nrow(flips) + 1e-9)
  limits <- limits_of(greatest, nrow(flips) - most)[of, , drop = FALSE]
  found <- intervals_of(statistic, effect, ends, limits, most, nrow(flips), here)
  out <- list(effect = effect, n = n)
  for (i in seq_along(levels)) {
    out[paste0(c("low", "high", "level", "joint"), c("", "90")[[i]])] <- found[[i]]
  }
  if (!is.null(truth)) {
    of_truth <- list(flipped(truth)$greatest, greatest[[2L]])
    limit <- limits_of(of_truth, nrow(flips) - most[[1L]])[of, 1L]
    out$rejected <- abs(statistic(truth, all)) > limit
  }
  if (tests) c(out, tests_of(about, here, found[[1L]], limits[, 1L], turns, of)) else out
}

#' The numbers of the first size of each curve, of the second ones, and so on.
#' @noRd
sizes_in_turn <- function(of) {
  unname(split(seq_along(of), seq_along(of) - which(!duplicated(of))[of]))
}

#' The sums of scores under flips, and of each curve the `greatest` of its sizes.
#'
#' @param turns what [sizes_in_turn()] returned: one size of each curve after another, because a
#'   matrix of all would be gone through several times.
#' @param keep whether the `sums` are wanted: a matrix a turn, a column a size.
#' @noRd
flip_scores <- function(flips, scores, turns, of, keep) {
  sums <- vector("list", length(turns))
  for (k in seq_along(turns)) {
    here <- turns[[k]]
    flipped <- abs(tcrossprod(flips, scores[here, , drop = FALSE]))
    if (k == 1L) {
      greatest <- flipped
    } else {
      greatest[, of[here]] <- pmax.int(greatest[, of[here]], flipped)
    }
    if (keep) sums[[k]] <- flipped
  }
  list(greatest = greatest, sums = sums)
}

#' The tests of the sizes: `p`, `p_joint` and `alike` of [settle_curve()].
#'
#' @param about what [flip_scores()] returned of 1 and of the effects.
#' @param here the statistic of each size about 1.
#' @param first the intervals of the first level, `limit` their limits.
#' @noRd
tests_of <- function(about, here, first, limit, turns, of) {
  p <- p_joint <- beyond <- numeric(length(of))
  for (k in seq_along(turns)) {
    sizes <- turns[[k]]
    by_flip <- function(values) rep(values[sizes], each = nrow(about[[1L]]$greatest))
    least <- by_flip(abs(here) * (1 - 1e-9))
    p[sizes] <- colMeans(about[[1L]]$sums[[k]] >= least)
    p_joint[sizes] <- do.call(pmax, lapply(about, function(one) {
      colMeans(one$greatest[, of[sizes], drop = FALSE] >= least)
    }))
    beyond[sizes] <- colMeans(about[[2L]]$sums[[k]] > by_flip(limit))
  }
  count <- tabulate(of)
  alone <- as.vector(rowsum(beyond, of)) / count
  same <- fifelse(first$joint, (1 - first$level) / pmax(alone, 1e-9)[of], Inf)
  list(p = p, p_joint = p_joint, alike = pmin(count[of], pmax(1, same)))
}

#' The limits of each curve, a column each: the greatest statistic that so many of its flips do not
#' exceed; infinite where all may be.
#' @noRd
limits_of <- function(greatest, places) {
  out <- matrix(Inf, ncol(greatest[[1L]]), length(places))
  wanted <- which(places < nrow(greatest[[1L]]))
  if (length(wanted)) {
    at <- lapply(greatest, function(all) {
      found <- vapply(seq_len(ncol(all)), function(i) {
        sort.int(all[, i], partial = places[wanted])[places[wanted]]
      }, numeric(length(wanted)))
      matrix(found, length(wanted))
    })
    out[, wanted] <- t(do.call(pmax, at) * (1 + 1e-9))
  }
  out
}

#' The intervals of all sizes at each level. Of so many flips `most` are rejected; where not even
#' one may be, the interval is the range.
#' @noRd
intervals_of <- function(statistic, effect, ends, limits, most, flips, here) {
  width <- pmax(ends[2L, ] - ends[1L, ], 1e-12)
  sizes <- length(effect)
  wanted <- which(most >= 1L)
  # Both ends of all levels at once.
  bounds <- if (length(wanted)) {
    level <- as.vector(limits[, wanted])
    of <- rep(seq_len(sizes), 2L * length(wanted))
    below <- rep(c(TRUE, FALSE), each = sizes * length(wanted))
    at <- effect[of]
    reach <- fifelse(below, -width[of], width[of])
    cross(
      function(value, which) statistic(value, of[which]), fifelse(below, at + BEYOND * reach, at),
      fifelse(below, at, at + BEYOND * reach), fifelse(below, c(level, level), -c(level, level)),
      at + reach
    )
  }
  lapply(seq_along(most), function(i) {
    level <- rep(1 - max(1, most[[i]]) / flips, sizes)
    if (most[[i]] < 1L) {
      return(list(low = ends[1L, ], high = ends[2L, ], level = level, joint = logical(sizes)))
    }
    at <- (match(i, wanted) - 1L) * sizes + seq_len(sizes)
    low <- bounds[at]
    high <- bounds[length(wanted) * sizes + at]
    # The statistic falls with the value but for cuts that move with it: 1 is held where it is not
    # rejected.
    kept <- abs(here) <= limits[, i]
    list(
      low = fifelse(kept & low > 0, 0, low), high = fifelse(kept & high < 0, 0, high),
      level = level, joint = rep(TRUE, sizes)
    )
  })
}

# Intervals that would reach further than so many times the range of the blocks have no end.
BEYOND <- 64

#' Where falling functions cross a level, all at once. Infinite where they do not.
#'
#' By the rule of false position, in which an end that stays counts half the next time (Dowell and
#' Jarratt 1971), and every third time by halving.
#'
#' @param f function of values and of the numbers of the functions that are asked.
#' @param low,high where each crosses, if at all.
#' @param guess a place near by.
#' @noRd
cross <- function(f, low, high, level, guess = (low + high) / 2) {
  level <- rep_len(level, length(low))
  here <- seq_along(low)
  over <- list(low = f(low, here) - level, high = f(high, here) - level)
  none <- fifelse(over$low < 0, fifelse(level == 0, low, -Inf), fifelse(
    over$high > 0, fifelse(level == 0, high, Inf), NA_real_
  ))
  here <- which(is.na(none))
  least <- (high - low) / 2^CROSS_STEPS
  stayed <- integer(length(low))
  for (step in seq_len(3L * CROSS_STEPS)) {
    here <- here[high[here] - low[here] > least[here]]
    if (!length(here)) break
    ends <- list(low[here], high[here], over$low[here], over$high[here])
    at <- if (step == 1L) {
      guess[here]
    } else if (step %% 3L == 0L) {
      (ends[[1L]] + ends[[2L]]) / 2
    } else {
      between(ends[[1L]], ends[[2L]], ends[[3L]] / (ends[[3L]] - ends[[4L]]))
    }
    value <- f(at, here) - level[here]
    near <- value != 0 & abs(value) <= 2^-CROSS_STEPS
    low[here[near]] <- at[near]
    high[here[near]] <- at[near]
    above <- value > 0
    up <- here[above]
    down <- here[!above]
    low[up] <- at[above]
    over$low[up] <- value[above]
    high[down] <- at[!above]
    over$high[down] <- value[!above]
    # An end that stayed twice.
    again <- up[stayed[up] == 1L]
    over$high[again] <- over$high[again] / 2
    again <- down[stayed[down] == -1L]
    over$low[again] <- over$low[again] / 2
    stayed[up] <- 1L
    stayed[down] <- -1L
  }
  fifelse(is.na(none), (low + high) / 2, none)
}
CROSS_STEPS <- 30L

# A share of the way, not so near to an end that rounding would leave it there.
between <- function(low, high, share) {
  share <- fifelse(is.finite(share), pmax(pmin(share, 1 - 1e-6), 1e-6), 0.5)
  low + share * (high - low)
}
