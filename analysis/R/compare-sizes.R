# SPDX-License-Identifier: BSD-3-Clause
# One pair -> its curve: effect, interval and test of every size that both sides have.

#' Compare the two sides of pairs at every size that both have: the curve of each pair.
#'
#' Those of paired blocks are settled together ([paired_curves()]).
#'
#' @param pairs list of pairs, of each a list of two sides: columns of their launches.
#' @return list of lists of columns, a row a size; `NULL` without a common size.
#' @noRd
compare_sides <- function(pairs, alpha) {
  found <- add_rows(lapply(pairs, function(pair) describe_pair(pair[[1L]], pair[[2L]])))
  curves <- curves_of(found, pairs, alpha)
  lapply(seq_along(pairs), function(i) {
    one <- found[[i]]
    if (is.null(one)) {
      return(NULL)
    }
    n <- length(one$sizes)
    c(
      list(bytes = one$sizes), one$rows, list(left_out = one$left_out), curves[[i]],
      list(
        family_size = rep(sum(!is.na(curves[[i]]$low)), n), paired = rep(one$paired, n),
        method = rep(one$method, n), apart = rep(one$apart && one$method != OVER_SESSIONS, n)
      ),
      sessions_of(pairs[[i]][[1L]], pairs[[i]][[2L]], one$sizes, one$blocks)
    )
  })
}

OVER_SESSIONS <- "Welch's test over sessions"

#' What is held against what of a pair, and how; [add_rows()] says the rest of it but the curve.
#' @noRd
describe_pair <- function(a, b) {
  sizes <- sort(intersect(a$bytes, b$bytes))
  if (!length(sizes)) {
    return(NULL)
  }
  sides <- list(a = log_times(a, sizes), b = log_times(b, sizes))
  blocks <- intersect(rownames(sides$a), rownames(sides$b))
  paired <- length(blocks) > 0L
  if (paired) {
    both <- lapply(sides, function(side) side[blocks, , drop = FALSE])
    lacks <- is.na(both$a) | is.na(both$b)
    if (any(lacks)) both <- lapply(both, function(side) replace(side, lacks, NA))
  } else {
    both <- lapply(sides, whole_launches)
  }
  all <- colSums(!is.na(sides$a)) + colSums(!is.na(sides$b))
  sessions <- lapply(list(a, b), \(side) unique(side$session))
  apart <- !length(intersect(sessions[[1L]], sessions[[2L]]))
  method <- if (apart && min(lengths(sessions)) >= MIN_SESSIONS) {
    OVER_SESSIONS
  } else if (paired) {
    "sign flips of whole blocks"
  } else {
    "exchanges of whole launches"
  }
  list(
    sizes = sizes, both = both, blocks = blocks, paired = paired, apart = apart,
    all = as.integer(all), method = method
  )
}

#' Logarithms of the times of a side: a row a block, a column a size. Of several launches of a
#' block the mean.
#' @noRd
log_times <- function(side, sizes) {
  column <- match(side$bytes, sizes)
  kept <- which(!is.na(column))
  of <- as.character(side$block[kept])
  blocks <- sort(unique(of), method = "radix")
  out <- matrix(NA_real_, length(blocks), length(sizes), dimnames = list(blocks, NULL))
  cell <- match(of, blocks) + (column[kept] - 1L) * length(blocks)
  value <- log(side$median_s[kept])
  if (anyDuplicated(cell)) {
    sums <- rowsum(cbind(value, 1), cell)
    out[as.integer(rownames(sums))] <- sums[, 1L] / sums[, 2L]
  } else {
    out[cell] <- value
  }
  out
}

# Launches that have every size: what is exchanged between sides is the whole launch.
whole_launches <- function(side) side[!rowSums(is.na(side)), , drop = FALSE]

WELCH_COLUMNS <- c(
  "welch_mean_a_s", "welch_mean_b_s", "welch_difference_s", "welch_low_s", "welch_high_s",
  "welch_t", "welch_df", "welch_p"
)

#' The `rows` of pairs, and how many launches each has `left_out`. Pairs with as many launches are
#' described together, side by side in one matrix.
#'
#' @param found what [describe_pair()] returned of each.
#' @noRd
add_rows <- function(found) {
  known <- which(lengths(found) > 0L)
  shape <- vapply(found[known], function(one) paste(nrow(one$both$a), nrow(one$both$b)), "")
  for (alike in split(known, shape)) {
    side <- function(name) do.call(cbind, lapply(found[alike], function(one) one$both[[name]]))
    rows <- describe_sides(side("a"), side("b"))
    last <- cumsum(lengths(lapply(found[alike], `[[`, "sizes")))
    first <- c(0L, last)
    for (i in seq_along(alike)) {
      own <- pick(rows, seq.int(first[[i]] + 1L, last[[i]]))
      found[[alike[[i]]]]$rows <- own
      found[[alike[[i]]]]$left_out <- found[[alike[[i]]]]$all - own$n_a - own$n_b
    }
  }
  found
}

#' What is said of two sides size by size, each for itself.
#' @noRd
describe_sides <- function(logs_a, logs_b) {
  a <- exp(logs_a)
  b <- exp(logs_b)
  middle <- function(times) {
    if (nrow(times)) column_medians(times) else rep(NA_real_, ncol(times))
  }
  c(
    list(
      n_a = as.integer(colSums(!is.na(a))), n_b = as.integer(colSums(!is.na(b))),
      median_a_s = middle(a), median_b_s = middle(b),
      cliffs_delta = cliffs_delta_of_columns(a, b)
    ),
    stats::setNames(welch_of_columns(a, b), WELCH_COLUMNS)
  )
}

#' Effects, tests and intervals of the sizes with enough launches, `NA` for the others.
#'
#' @param found what [describe_pair()] returned of each of `pairs`.
#' @noRd
curves_of <- function(found, pairs, alpha) {
  levels <- 1 - c(1, 2) * alpha
  logs <- lapply(found, function(one) if (isTRUE(one$paired)) one$both$a - one$both$b)
  enough <- lapply(found, function(one) which(pmin(one$rows$n_a, one$rows$n_b) >= MIN_LAUNCHES))
  flipped <- which(vapply(found, function(one) {
    isTRUE(one$paired) && one$method != OVER_SESSIONS
  }, NA) & lengths(enough) > 0L)
  curves <- vector("list", length(found))
  curves[flipped] <- paired_curves(
    lapply(flipped, function(i) logs[[i]][, enough[[i]], drop = FALSE]), levels
  )
  lapply(seq_along(found), function(i) {
    one <- found[[i]]
    if (is.null(one)) {
      return(NULL)
    }
    if (one$method == OVER_SESSIONS) {
      return(curve_between_sessions(pairs[[i]][[1L]], pairs[[i]][[2L]], one$sizes, alpha))
    }
    here <- enough[[i]]
    if (!one$paired && length(here)) {
      both <- lapply(one$both, function(side) side[, here, drop = FALSE])
      curves[[i]] <- independent_curve(both$a, both$b, levels)
    }
    ratio <- if (one$paired) {
      exp(column_medians(logs[[i]]))
    } else {
      one$rows$median_a_s / one$rows$median_b_s
    }
    settled_sizes(ratio, here, curves[[i]])
  })
}

#' The columns of a curve at all sizes.
#'
#' @param ratio of all sizes, where there is no curve.
#' @param enough which sizes the curve has.
#' @noRd
settled_sizes <- function(ratio, enough, curve) {
  none <- rep(NA_real_, length(ratio))
  out <- list(
    ratio = ratio, low = none, high = none, confidence = none, joint = is.na(none) & NA,
    low90 = none, high90 = none, joint90 = is.na(none) & NA, p = none, p_joint = none, alike = none
  )
  if (!length(enough)) {
    return(out)
  }
  for (end in c("low", "high", "low90", "high90")) out[[end]][enough] <- exp(curve[[end]])
  out$ratio[enough] <- exp(curve$effect)
  out$confidence[enough] <- curve$level
  for (name in c("joint", "joint90", "p", "p_joint", "alike")) out[[name]][enough] <- curve[[name]]
  out
}

# Sessions a side from which on sides that share none can be called different.
MIN_SESSIONS <- 3L

#' Sides of different sessions: the unit is the session, its value the mean over its launches;
#' Bonferroni over the sizes.
#' @noRd
curve_between_sessions <- function(a, b, sizes, alpha) {
  as.list(rbindlist(lapply(sizes, function(size) {
    means <- lapply(list(a, b), function(side) {
      here <- which(side$bytes == size)
      as.vector(tapply(log(side$median_s[here]), side$session[here], mean))
    })
    tests <- lapply(c(1, 2), function(times) {
      welch(means[[1L]], means[[2L]], 1 - times * alpha / length(sizes))
    })
    list(
      ratio = exp(tests[[1L]]$difference), low = exp(tests[[1L]]$low),
      high = exp(tests[[1L]]$high), confidence = 1 - alpha, joint = TRUE,
      low90 = exp(tests[[2L]]$low), high90 = exp(tests[[2L]]$high), joint90 = TRUE,
      p = tests[[1L]]$p, p_joint = min(1, length(sizes) * tests[[1L]]$p),
      alike = as.numeric(length(sizes))
    )
  })))
}
