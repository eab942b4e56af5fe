# SPDX-License-Identifier: BSD-3-Clause
# Makes the curve of a pair: effect, interval and test at every size that both configurations have.

#' Compare the two configurations of each pair at every common size: the curve of the pair.
#'
#' Curves of paired blocks are tested together ([test_curves()]).
#'
#' @param pairs list of pairs, each a list of two configurations: columns of their launches.
#' @return list of lists of columns, a row a size; `NULL` without a common size.
#' @noRd
compare_sides <- function(pairs) {
  out <- lapply(pairs, function(pair) describe_pair(pair[[1L]], pair[[2L]]))
  known <- lengths(out) > 0L
  found <- add_rows(out[known])
  out[known] <- Map(function(pair, one, curve) {
    n <- length(one$sizes)
    c(
      list(bytes = one$sizes), one$rows, list(left_out = one$left_out), curve,
      list(
        paired = rep(one$paired, n), method = rep(one$method, n),
        apart = rep(one$apart && one$method != OVER_SESSIONS, n)
      ),
      sessions_of(pair[[1L]], pair[[2L]], one$sizes, one$blocks)
    )
  }, pairs[known], found, curves_of(found))
  out
}

OVER_SESSIONS <- "Welch's test over sessions"

# The data and the method for the comparison of one pair. `add_rows()` adds all but the curve.
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
    # Unpaired tests compare complete launches, which have every size.
    both <- lapply(sides, function(side) side[!rowSums(is.na(side)), , drop = FALSE])
  }
  all <- colSums(!is.na(sides$a)) + colSums(!is.na(sides$b))
  sessions <- lapply(list(a, b), \(side) unique(side$session))
  apart <- !length(intersect(sessions[[1L]], sessions[[2L]]))
  method <- if (apart && min(lengths(sessions)) >= MIN_SESSIONS) {
    OVER_SESSIONS
  } else if (paired) {
    "moderated t over blocks"
  } else {
    "moderated Welch t over launches"
  }
  list(
    sizes = sizes, both = both, blocks = blocks, paired = paired, apart = apart,
    all = as.integer(all), method = method,
    means = if (method == OVER_SESSIONS) lapply(list(a = a, b = b), session_means, sizes)
  )
}

# Logarithms of the times of one configuration: a row a block, a column a size. Several launches
# of a block are averaged.
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

WELCH_COLUMNS <- c(
  "welch_mean_a_s", "welch_mean_b_s", "welch_difference_s", "welch_low_s", "welch_high_s",
  "welch_t", "welch_df", "welch_p"
)

#' Add the `rows` of pairs, and the number of `left_out` launches of each pair. Pairs with the same
#' numbers of launches share one matrix and are described together.
#'
#' @param found what [describe_pair()] returned for each pair.
#' @noRd
add_rows <- function(found) {
  shape <- vapply(found, function(one) paste(nrow(one$both$a), nrow(one$both$b)), "")
  for (alike in split(seq_along(found), shape)) {
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

# Descriptive statistics of two configurations, separately for each size.
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

#' Effects and tests of the sizes with enough launches; `NA` for other sizes.
#'
#' @param found what [describe_pair()] returned for each pair.
#' @noRd
curves_of <- function(found) {
  logs <- lapply(found, function(one) {
    if (one$paired && one$method != OVER_SESSIONS) one$both$a - one$both$b
  })
  enough <- lapply(found, function(one) {
    which(pmin(one$rows$n_a, one$rows$n_b) >= LEAST_BLOCKS | one$method == OVER_SESSIONS)
  })
  paired <- which(lengths(logs) > 0L & lengths(enough) > 0L)
  curves <- vector("list", length(found))
  curves[paired] <- test_curves(
    lapply(paired, function(i) logs[[i]][, enough[[i]], drop = FALSE])
  )
  lapply(seq_along(found), function(i) {
    one <- found[[i]]
    here <- enough[[i]]
    if (is.null(logs[[i]]) && length(here)) {
      both <- if (one$method == OVER_SESSIONS) one$means else one$both
      curves[[i]] <- test_independent(both$a[, here, drop = FALSE], both$b[, here, drop = FALSE])
    }
    ratio <- if (!is.null(logs[[i]])) {
      exp(column_medians(logs[[i]]))
    } else {
      one$rows$median_a_s / one$rows$median_b_s
    }
    none <- rep(NA_real_, length(ratio))
    out <- list(ratio = ratio, error = none, df = none, p = none, effect = none)
    if (!length(here)) {
      return(out)
    }
    out$ratio[here] <- exp(curves[[i]]$effect)
    for (name in c("error", "df", "p", "effect")) out[[name]][here] <- curves[[i]][[name]]
    out
  })
}

# Sessions that each configuration needs to be called different without a common session.
MIN_SESSIONS <- 3L

# Mean log times of the sessions of a configuration: a row a session, a column a size.
session_means <- function(side, sizes) {
  means <- as.data.table(pick(side[c("bytes", "session", "median_s")], side$bytes %in% sizes))
  means <- means[, list(block = session, value = mean(log(median_s))), by = c("session", "bytes")]
  log_times(list(bytes = means$bytes, block = means$block, median_s = exp(means$value)), sizes)
}
