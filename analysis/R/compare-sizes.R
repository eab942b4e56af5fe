# SPDX-License-Identifier: BSD-3-Clause
# One pair -> its curve: effect, interval and test of every size that both sides have.

#' Compare two sides at every size that both have: the curve of a pair.
#'
#' @param a,b lists of columns of the launches of each side.
#' @return list of columns, a row a size; `NULL` without a common size.
#' @noRd
compare_sizes <- function(a, b, alpha) {
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
    both <- lapply(both, function(side) replace(side, lacks, NA))
  } else {
    both <- lapply(sides, whole_launches)
  }
  rows <- describe_sides(both$a, both$b)
  all <- colSums(!is.na(sides$a)) + colSums(!is.na(sides$b))
  sessions <- lapply(list(a, b), \(side) unique(side$session))
  apart <- !length(intersect(sessions[[1L]], sessions[[2L]]))
  enough <- apart && min(lengths(sessions)) >= MIN_SESSIONS
  curve <- if (enough) {
    curve_between_sessions(a, b, sizes, alpha)
  } else {
    curve_of(both, paired, rows, alpha)
  }
  method <- if (enough) {
    "Welch's test over sessions"
  } else if (paired) {
    "sign flips of whole blocks"
  } else {
    "exchanges of whole launches"
  }
  n <- length(sizes)
  c(
    list(bytes = sizes), rows, list(left_out = as.integer(all) - rows$n_a - rows$n_b), curve,
    list(
      family_size = rep(sum(!is.na(curve$low)), n), paired = rep(paired, n),
      method = rep(method, n), apart = rep(apart && !enough, n)
    ),
    sessions_of(a, b, sizes, blocks)
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

#' What is said of two sides size by size, each for itself.
#' @noRd
describe_sides <- function(logs_a, logs_b) {
  found <- vapply(seq_len(ncol(logs_a)), function(i) {
    x <- logs_a[, i]
    y <- logs_b[, i]
    x <- exp(x[!is.na(x)])
    y <- exp(y[!is.na(y)])
    c(
      length(x), length(y), cliffs_delta(x, y), unlist(welch(x, y), use.names = FALSE)
    )
  }, numeric(11L))
  out <- lapply(seq_len(nrow(found)), function(i) found[i, ])
  names(out) <- c("n_a", "n_b", "cliffs_delta", WELCH_COLUMNS)
  middle <- function(logs) {
    if (nrow(logs)) column_medians(exp(logs)) else rep(NA_real_, ncol(logs))
  }
  out <- append(out, list(median_a_s = middle(logs_a), median_b_s = middle(logs_b)), 2L)
  out$n_a <- as.integer(out$n_a)
  out$n_b <- as.integer(out$n_b)
  out
}

#' Effects, tests and intervals of the sizes with enough launches, `NA` for the others.
#' @noRd
curve_of <- function(both, paired, rows, alpha) {
  enough <- which(pmin(rows$n_a, rows$n_b) >= MIN_LAUNCHES)
  logs <- if (paired) both$a - both$b
  none <- rep(NA_real_, length(rows$n_a))
  out <- list(
    ratio = if (paired) {
      exp(apply(logs, 2L, stats::median, na.rm = TRUE))
    } else {
      rows$median_a_s / rows$median_b_s
    },
    low = none, high = none, confidence = none, joint = is.na(none) & NA, low90 = none,
    high90 = none, joint90 = is.na(none) & NA, p = none, p_joint = none, alike = none
  )
  if (!length(enough)) {
    return(out)
  }
  levels <- 1 - c(1, 2) * alpha
  curve <- if (paired) {
    paired_curve(logs[, enough, drop = FALSE], levels)
  } else {
    independent_curve(both$a[, enough, drop = FALSE], both$b[, enough, drop = FALSE], levels)
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
