# SPDX-License-Identifier: BSD-3-Clause
# Tests for serial dependence: does a launch resemble the launch of the block before it? The tests
# of comparisons assume that blocks are independent.

#' Serial dependence of the launches of each session, in the order of their blocks.
#'
#' A series is one configuration at one size of a question that compares several libraries. Its
#' values are the log medians by block, relative to the mean of the libraries in that block. So a
#' change that affects all libraries cancels, as in the comparisons. The statistic is the sum, over
#' all series, of the products of neighbouring ranks, as in the rank von Neumann ratio (Bartels
#' 1982). Its distribution without dependence comes from permutations of the blocks. They are the
#' same for all series, so that series need not be independent of one another.
#'
#' @param summary what [summarise_launches()] returned.
#' @return data.table, a row a site and session with at least five blocks: `blocks`, `series`
#'   (their number), `lag` (lag-1 correlation, without the bias of short series: Marriott and Pope
#'   1954), `p` (one-sided), `sum` (the statistic), `drawn` (list: the statistics of permutations).
#' @noRd
serial_of_sessions <- function(summary) {
  by <- setdiff(c(configuration_columns(summary), "bytes", "session"), "mpi")
  used <- summary[which(median_s > 0), c(by, "mpi", "launch", "median_s"), with = FALSE]
  used[, cell := .GRP, by = by]
  used[, time := log(median_s)]
  libraries <- unique(used[, c("cell", "mpi")])[, list(all = .N), keyby = "cell"]
  blocks <- used[, list(here = .N, middle = mean(time)), by = c("cell", "launch")]
  blocks[libraries, all := i.all, on = "cell"]
  used[blocks[all > 1L & here == all], off := time - i.middle, on = c("cell", "launch")]
  used <- used[!is.na(off)]
  used[, series := .GRP, by = c("cell", "mpi")]
  parts <- split(used, by = c("site", "session"))
  found <- rbindlist(lapply(parts, function(part) {
    one <- serial_of(part$series, part$launch, part$off)
    if (length(one)) c(as.list(part[1L, c("site", "session")]), one)
  }))
  if (nrow(found)) found[, p := vapply(seq_len(.N), \(i) serial_p(found[i]), 0)]
  found[]
}

PERMUTATIONS <- 1999L

serial_of <- function(series, block, off) {
  # Blocks that a time budget added for some questions only are left out.
  count <- table(block)
  blocks <- sort(as.integer(names(count)[2L * count >= length(unique(series))]))
  n <- length(blocks)
  if (n < MIN_LAUNCHES) {
    return(NULL)
  }
  own <- unique(series)
  x <- matrix(NA_real_, n, length(own))
  known <- block %in% blocks
  x[cbind(match(block, blocks), match(series, own))[known, , drop = FALSE]] <- off[known]
  ranks <- apply(x, 2L, rank, na.last = "keep")
  ranks <- ranks - rep(colMeans(ranks, na.rm = TRUE), each = n)
  # A lost launch counts as an average launch.
  ranks[is.na(ranks)] <- 0
  size <- sqrt(colSums(ranks^2))
  used <- size > 0 & colSums(!is.na(x)) >= MIN_LAUNCHES
  if (!any(used)) {
    return(NULL)
  }
  unit <- (ranks / rep(size, each = n))[, used, drop = FALSE]
  products <- tcrossprod(unit)
  neighbours <- function(order) {
    colSums(matrix(products[cbind(c(order[-n, ]), c(order[-1L, ]))], n - 1L))
  }
  observed <- neighbours(matrix(seq_len(n)))
  drawn <- with_seed(1L, neighbours(replicate(PERMUTATIONS, sample.int(n))))
  lag <- (observed / ncol(unit) * n + 1) / (n - 4)
  list(
    blocks = n, series = ncol(unit), lag = pmax(-1, pmin(1, lag)), sum = observed,
    drawn = list(drawn)
  )
}

# The common p value of several sessions.
serial_p <- function(sessions) {
  drawn <- Reduce(`+`, sessions$drawn)
  (1 + sum(drawn >= sum(sessions$sum) - ROUNDING)) / (1 + length(drawn))
}

#' Warn where launches depend on the launches before them, for the sessions of a question.
#'
#' @param command measures the question again, in a session of its own; `NULL`: unknown.
#' @noRd
warn_of_serial <- function(sessions, command = NULL) {
  p <- if (NROW(sessions)) serial_p(sessions) else 1
  if (p <= ALPHA) {
    sprintf(
      paste(
        "launches depend on the launches before them (lag-1 correlation %s, p = %s): more than",
        "5 %% of the differences found may be false; confirm them in another session%s"
      ),
      format_digits(stats::weighted.mean(sessions$lag, sessions$series), 2L), format_p(p),
      if (is.null(command)) "" else paste(":", command)
    )
  }
}
