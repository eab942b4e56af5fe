# SPDX-License-Identifier: BSD-3-Clause
# Finds the levels of an ordered factor (releases, dates) at which the measured time changed. Tries
# all partitions of the levels into runs of equal levels and computes their posterior
# probabilities.
#
# Launches of a block share its effect, so levels are compared within blocks (least squares with a
# constant for each block). The Bayes factor of a partition against "no change" is that of the
# g-prior with unit information (Zellner 1986; Liang, Paulo, Molina, Clyde and Berger 2008, sect.
# 2.1). Partitions as models follow Barry and Hartigan (1993). All boundaries have the same prior
# probability, such that EXPECTED_CHANGES changes are expected in all cells together: more tests
# require more evidence (Scott and Berger 2010). A launch more than FAR robust standard deviations
# away from the median of its level and block is moved to that distance.

# Changes that are expected before the data are seen, in all cells together.
EXPECTED_CHANGES <- 0.5
# Robust standard deviations beyond which a launch is moved closer.
FAR <- 2.5
# A change is named if its posterior probability is at least NAMED and its size at least
# LEAST_CHANGE: smaller changes come from the address of a library in memory.
NAMED <- 0.95
LEAST_CHANGE <- 0.01
# A boundary is ruled out below this probability, and certain above 1 less it.
OPEN <- 0.02
# Maximum number of levels: all 2^(n - 1) partitions are tried.
MOST_LEVELS <- 12L

# Move values that are far from the median of their level and block closer to it.
draw_in <- function(y, level, block) {
  fitted <- stats::ave(y, block, FUN = median)
  fitted <- fitted + stats::ave(y - fitted, level, FUN = median)
  left <- y - fitted
  spread <- 1.4826 * median(abs(left))
  if (spread > 0) fitted + pmax(pmin(left, FAR * spread), -FAR * spread) else y
}

#' Sums of squares and products of levels within blocks.
#'
#' @param y values; `level` numbers 1 to `n` of their levels; `block` of their blocks.
#' @return list: `a` (n x n), `b` (n), `yy`, and the degrees of freedom `df` less blocks.
#' @noRd
within_blocks <- function(y, level, block, n) {
  z <- matrix(0, length(y), n)
  z[cbind(seq_along(y), level)] <- 1
  at <- match(block, unique(block))
  count <- tabulate(at)
  centre <- function(x) x - (rowsum(x, at) / count)[at, , drop = FALSE]
  z <- centre(z)
  y <- centre(matrix(y))
  list(a = crossprod(z), b = drop(crossprod(z, y)), yy = sum(y^2), df = length(y) - length(count))
}

# All partitions of n levels: a row each, `TRUE` where a run begins (columns 2 to n).
partitions_of <- function(n) {
  as.matrix(unname(do.call(expand.grid, rep(list(c(FALSE, TRUE)), n - 1L))))
}

#' The posterior of every partition.
#'
#' @param y log times, a value a launch.
#' @param level numbers of their levels, in order.
#' @param block their blocks.
#' @param prior probability that a boundary is a change.
#' @return list: `starts` (matrix of partitions as [partitions_of()]), `posterior` (of each),
#'   `change` (of each boundary: that a run begins at levels 2, 3, ...).
#' @noRd
partition_posterior <- function(y, level, block, prior) {
  n <- max(level)
  found <- within_blocks(draw_in(y, level, block), level, block, n)
  starts <- partitions_of(n)
  runs <- rowSums(starts)
  explained <- apply(starts, 1L, function(start) {
    if (!any(start)) {
      return(0)
    }
    run <- cumsum(c(TRUE, start))
    sums <- rowsum(diag(n), run)[-1L, , drop = FALSE]
    a <- sums %*% found$a %*% t(sums)
    b <- sums %*% found$b
    solved <- tryCatch(solve(a, b), error = function(e) NULL)
    if (is.null(solved)) 0 else sum(b * solved)
  })
  left <- if (found$yy > 0) pmax(1 - explained / found$yy, 1e-12) else rep(1, length(explained))
  g <- found$df
  log_bayes <- (found$df - runs) / 2 * log1p(g) - found$df / 2 * log1p(g * left)
  log_prior <- runs * log(prior) + (n - 1L - runs) * log1p(-prior)
  weight <- log_bayes + log_prior
  weight[found$df <= runs] <- -Inf
  posterior <- exp(weight - max(weight))
  posterior <- posterior / sum(posterior)
  list(starts = starts, posterior = posterior, change = drop(posterior %*% starts))
}

#' Changes of the times of each curve along an ordered factor, with their sizes.
#'
#' @param summary what [summarise_launches()] returned.
#' @param by column of the levels (`mpi` for releases).
#' @param levels the levels in their order.
#' @return data.table, one row per stratum, size and boundary between two levels that were measured
#'   next to each other. Columns: strata, `bytes`, `before`, `after` (levels), `between` (number of
#'   levels between them that were not measured), `probability` (of a change), `n` (blocks),
#'   `named`. `ratio`, `low`, `high` are the time after over the time before, for the runs of equal
#'   levels before and after the boundary, by `paired_curve()`; `NA` where a change is ruled out.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' find_changes(summary, "mpi", c("mpich", "openmpi"))
#' @export
find_changes <- function(summary, by, levels) {
  strata <- setdiff(configuration_columns(summary), by)
  need_columns(summary, c(strata, by, "bytes", "median_s", "session", "launch"), "the summary")
  used <- summary[summary$median_s > 0 & summary[[by]] %in% levels]
  used[, block := paste(session, launch)]
  used[, y := log(median_s)]
  set(used, j = "at", value = match(used[[by]], levels))
  # Only these columns: others could have the same names as the new columns.
  used <- used[, c(strata, "bytes", "block", "y", "at"), with = FALSE]
  curves <- uniqueN(used[, c(strata, "bytes"), with = FALSE])
  out <- used[, changes_of_curve(.SD, length(levels), curves), by = strata]
  if (!nrow(out)) {
    return(data.table(
      out, bytes = numeric(), before = character(), after = character(), between = integer(),
      probability = numeric(), ratio = numeric(), low = numeric(), high = numeric(),
      n = integer(), named = logical()
    ))
  }
  out[, `:=`(before = levels[from], after = levels[to], between = to - from - 1L)]
  out[, named := (probability >= NAMED & abs(log(ratio)) >= log1p(LEAST_CHANGE)) %in% TRUE]
  out[, c("from", "to") := NULL]
  out[]
}

# All sizes of one stratum.
changes_of_curve <- function(rows, n, curves) {
  there <- sort(unique(rows$at))
  if (length(there) < 2L) {
    return(NULL)
  }
  if (length(there) > MOST_LEVELS) {
    refuse(sprintf(
      "%d levels are more than are tried at once (%d); give fewer", length(there), MOST_LEVELS
    ))
  }
  # Boundaries are counted for all levels, including boundaries at levels that were not measured.
  prior <- min(0.5, EXPECTED_CHANGES / (curves * (n - 1L)))
  sizes <- sort(unique(rows$bytes))
  found <- rbindlist(lapply(sizes, function(size) {
    part <- rows[rows$bytes == size]
    level <- match(part$at, there)
    if (uniqueN(level) < length(there)) {
      return(NULL)
    }
    steps <- diff(there)
    posterior <- partition_posterior(part$y, level, part$block, min(0.5, prior * max(steps)))
    best <- posterior$starts[which.max(posterior$posterior), ]
    data.table(
      bytes = size, from = utils::head(there, -1L), to = there[-1L],
      probability = posterior$change, begins = best
    )
  }))
  if (!nrow(found)) {
    return(NULL)
  }
  cbind(
    found[, !"begins"],
    rbindlist(lapply(seq_len(nrow(found)), function(i) step_at(rows, found, i)))
  )
}

# The ratio over a boundary: the runs of equal levels before and after it, in common blocks.
step_at <- function(rows, found, i) {
  if (found$probability[[i]] <= OPEN) {
    return(list(ratio = NA_real_, low = NA_real_, high = NA_real_, n = uniqueN(rows$block)))
  }
  here <- found[found$bytes == found$bytes[[i]]]
  boundary <- found$to[[i]]
  starts <- here$to[here$begins | here$to == boundary]
  first <- max(c(min(here$from), starts[starts < boundary]))
  last <- min(c(starts[starts > boundary], max(here$to) + 1L))
  part <- rows[rows$bytes == found$bytes[[i]] & rows$at >= first & rows$at < last]
  sides <- part[, list(d = mean(y[at >= boundary]) - mean(y[at < boundary])), by = "block"]
  d <- sides$d[is.finite(sides$d)]
  if (length(d) < MIN_LAUNCHES) {
    return(list(ratio = exp(mean(d)), low = NA_real_, high = NA_real_, n = length(d)))
  }
  curve <- paired_curve(matrix(d))
  list(ratio = exp(curve$effect), low = exp(curve$low), high = exp(curve$high), n = length(d))
}

#' Cells of a search for a change that the next block should contain.
#'
#' A boundary that is neither certain nor ruled out (2 % to 98 %) requires its two levels again. A
#' boundary across levels that were not measured requires the middle one of these levels too, even
#' when the change is certain.
#'
#' @param changes what [find_changes()] returned.
#' @param levels in their order.
#' @return data.table: `test`, `transport`, `placement`, `level`; no row where nothing is open.
#' @keywords internal
next_levels <- function(changes, levels) {
  open <- changes[
    (probability > OPEN & probability < 1 - OPEN) | (between > 0L & probability > OPEN)
  ]
  unique(open[, {
    from <- match(before, levels)
    to <- match(after, levels)
    list(level = levels[unique(c(from, to, ifelse(to > from + 1L, (from + to) %/% 2L, from)))])
  }, by = c("test", "transport", "placement")])
}
