# SPDX-License-Identifier: BSD-3-Clause
# Models of a message's time: LogP by message size, LogGP and Hockney per protocol regime.
#
# Regimes are found as a piecewise linear regression whose pieces need not meet: a change of
# protocol is a jump as often as a bend, which broken-stick models (continuous) cannot show. The
# partition is the best one of all, by dynamic programming (Bai and Perron 2003, Journal of
# Applied Econometrics 18); residuals are relative, since a microsecond is all of a small
# message's time and nothing of a large one's.

#' LogP parameters of each launch and size.
#'
#' By the time of calls: the time inside the send, and inside a receive whose message has come.
#' By overlap: what is left of a message's interval in a row when the computation is taken away,
#' more of it than the other side needs for its part, and for the receive the asking for each
#' message; at most the gap (o = g - C, and the hidden computation C >= 0).
#' L is end-to-end latency less both overheads, so that it is negative where a library's two
#' sides work on one message at the same time: LogP has no such machine, pipelined copies are one,
#' and so is TCP within a host, where the sender's call does the receiving kernel's work when the
#' message is there already. A rendezvous without progress of its own waits for the next call,
#' which no computation hides: it counts as overhead by either method.
#'
#' @param results what [read_results()] returned; samples of the experiment `logp`.
#' @return data.table, one row a launch and size: the launches' columns, `bytes`, and in seconds
#'   `eel_s`, `g_s`, `g_derived_s` (g of the least size, and what the end-to-end latency grows from
#'   there: what a ping-pong says of a gap that nobody measured), `os_call_s`, `or_call_s`,
#'   `L_call_s`, `os_overlap_s`, `or_overlap_s`, `L_overlap_s`.
#' @keywords internal
logp_parameters <- function(results) {
  summary <- summary_of_samples(results)
  net <- column_of_measure("net_s")
  if (!net %in% names(summary)) {
    refuse("samples of the experiment logp lack the column(s) alone_s")
  }
  used <- summary[n > 0L & startsWith(operation, "logp-")]
  if (!nrow(used)) {
    refuse("no valid sample of the experiment logp; measure it first")
  }
  net <- setnames(used[, c("key", "bytes", "operation", net), with = FALSE], net, "s")
  out <- dcast(net, key + bytes ~ operation, value.var = "s")
  need_columns(
    out, paste0("logp-", c(
      "eel", "g", "os-call", "or-call", "os-overlap", "or-overlap", "words"
    )),
    "the launches of logp"
  )
  short <- \(n) gsub("-", "_", sub("^logp-(.*)$", "\\1_s", n))
  setnames(out, short)
  within_gap <- function(o, g) pmin(pmax(o, 0), g)
  out[, os_overlap_s := within_gap(os_overlap_s, g_s)]
  out[, or_overlap_s := within_gap(or_overlap_s - words_s, g_s)]
  out[, L_call_s := eel_s - os_call_s - or_call_s]
  out[, L_overlap_s := eel_s - os_overlap_s - or_overlap_s]
  # In each launch sizes rise, by the key of the cast.
  out[, g_derived_s := g_s[[1L]] + eel_s - eel_s[[1L]], by = "key"]
  out[, words_s := NULL]
  out[, key := as.character(key)]
  results$launches[out, on = "key"]
}

#' Share of message sizes at which both overheads fit into the end-to-end latency.
#'
#' @param parameters what [logp_parameters()] returned.
#' @param above only sizes of more bytes than this.
#' @param tolerance by which, relative to the latency, they may exceed it: where the processors do
#'   all the work L is nothing, and its estimate falls on both sides of it. Nothing is allowed for
#'   unless asked.
#' @return data.table, one row a site, MPI, transport, placement and parameters: `sizes`,
#'   `share_call`, `share_overlap`, from the medians over launches; `ratio_call`,
#'   `ratio_overlap`, both overheads over the latency at the median size.
#' @keywords internal
overheads_within_latency <- function(parameters, above = 1000, tolerance = 0) {
  by <- c("site", "mpi", "transport", "placement", "parameters")
  medians <- parameters[
    bytes > above, lapply(.SD, stats::median), keyby = c(by, "bytes"),
    .SDcols = c("eel_s", "L_call_s", "L_overlap_s")
  ]
  medians[, list(
    sizes = .N, share_call = mean(L_call_s >= -tolerance * eel_s),
    share_overlap = mean(L_overlap_s >= -tolerance * eel_s),
    ratio_call = stats::median(1 - L_call_s / eel_s),
    ratio_overlap = stats::median(1 - L_overlap_s / eel_s)
  ), keyby = by]
}

#' Relative squared residuals of a line through every run of points, least in each run.
#'
#' Minimises sum(((t - a - b m) / t)^2), b >= 0, over runs from row to column, all at once from
#' running sums. Runs shorter than `least` points, or whose last size is less than `span` times
#' their first, are infinite; but for the run of all points, which needs no other regime. The
#' first size counts as 16 B at least: a few bytes more within a cache line are no slope.
#' @noRd
run_costs <- function(bytes, seconds, least, span) {
  n <- length(bytes)
  from <- rep(seq_len(n), n)
  to <- rep(seq_len(n), each = n)
  # Sizes are scaled so that the sums of their squares do not swallow the rest.
  m <- bytes / max(bytes, 1)
  w <- 1 / seconds
  s <- lapply(list(w^2, w^2 * m, w^2 * m^2, w, w * m), \(x) {
    sums <- c(0, cumsum(x))
    sums[to + 1L] - sums[from]
  })
  count <- to - from + 1
  det <- s[[1L]] * s[[3L]] - s[[2L]]^2
  a <- (s[[3L]] * s[[4L]] - s[[2L]] * s[[5L]]) / det
  b <- (s[[1L]] * s[[5L]] - s[[2L]] * s[[4L]]) / det
  # No byte takes less than no time: where the line would fall, the best is a level one.
  level <- count - s[[4L]]^2 / s[[1L]]
  falls <- !is.finite(b) | b < 0
  cost <- count - a * s[[4L]] - b * s[[5L]]
  cost[falls] <- level[falls]
  cost <- pmax(cost, 0)
  wide <- (span * pmax(bytes, 16))[from] <= bytes[to] | count == n
  cost[count < least | !wide | !is.finite(cost)] <- Inf
  matrix(cost, n)
}

#' Best partitions into one to `most` runs: a list a partition of `ends`, the last points of
#' all runs but the last, and its `cost`.
#' @noRd
best_partitions <- function(cost, most) {
  n <- nrow(cost)
  value <- cost[1L, ]
  # Of the best partition up to each point: where its pieces end, a row each.
  ends <- matrix(0L, 0L, n)
  found <- list(list(ends = integer(), cost = value[[n]]))
  for (pieces in seq_len(most)[-1L]) {
    # Row k: the piece before ends at k, the last one runs from k + 1 to the column.
    through <- value + rbind(cost[-1L, , drop = FALSE], Inf)
    last <- max.col(-t(through), "first")
    ends <- rbind(ends[, last, drop = FALSE], last, deparse.level = 0L)
    value <- through[cbind(last, seq_len(n))]
    if (!is.finite(value[[n]])) break
    found[[pieces]] <- list(ends = ends[, n], cost = value[[n]])
  }
  found
}

#' Segmented fit of time on size, pieces free to jump.
#'
#' @param bytes sizes (B), each once, rising.
#' @param seconds median time at each size (s), positive.
#' @param most pieces at most.
#' @param pieces their number; `NULL`: chosen by BIC.
#' @param noise relative error of a median that is expected at least: smaller misfits are no
#'   evidence of a further piece.
#' @param least points of a piece.
#' @param span last size of a piece over its first, at least: sizes close together (a size and the
#'   two perturbed ones beside it) share what disturbed them and say nothing of a slope.
#' @return integer: number of the last point of every piece but the last.
#' @noRd
find_breaks <- function(bytes, seconds, most = 4L, pieces = NULL, noise = 0.01, least = 3L,
                        span = 4) {
  n <- length(bytes)
  if (identical(as.integer(pieces), 1L)) {
    return(integer())
  }
  most <- min(most, n %/% least, pieces)
  found <- best_partitions(run_costs(bytes, seconds, least, span), most)
  if (!is.null(pieces)) {
    return(as.integer(found[[min(pieces, length(found))]]$ends))
  }
  bic <- vapply(found, \(f) {
    # A piece has two coefficients and a place where it begins.
    n * log(f$cost / n + noise^2) + (3 * length(f$ends) + 2) * log(n)
  }, 0)
  as.integer(found[[which.min(bic)]]$ends)
}

#' Lines of least weighted squares: what [stats::lm.wfit()] finds, without what it makes around
#' it, of which a bootstrap asks thousands of times.
#'
#' @param seconds times, or a matrix with a column a line.
#' @return two coefficients, or two rows of them; no slope (`NA`) where there is one size only.
#' @noRd
weighted_lines <- function(bytes, seconds, weights) {
  root <- sqrt(weights)
  fit <- stats::.lm.fit(cbind(1, bytes) * root, seconds * root)
  found <- as.matrix(fit$coefficients)
  if (fit$rank < 2L) found[2L, ] <- NA_real_
  colnames(found) <- colnames(seconds)
  drop(found)
}

#' Line of least relative squares that does not fall: latency (s) and time of a byte (s/B).
#' @noRd
relative_line <- function(bytes, seconds) {
  weights <- 1 / seconds^2
  fit <- weighted_lines(bytes, seconds, weights)
  if (!is.finite(fit[[2L]]) || fit[[2L]] < 0) fit <- c(stats::weighted.mean(seconds, weights), 0)
  stats::setNames(fit, c("alpha_s", "beta_s_per_byte"))
}

#' What each message costs whatever its size: lines over the size at no bytes, all with the
#' weights of the line of the latency, and level where that is. So the parts of the latency add
#' up to its own value.
#'
#' @param seconds matrix, a row a size; its column `eel` is the latency.
#' @noRd
base_costs <- function(bytes, seconds) {
  weights <- 1 / seconds[, "eel"]^2
  lines <- weighted_lines(bytes, seconds, weights)
  if (lines[2L, "eel"] < 0) colSums(seconds * weights) / sum(weights) else lines[1L, ]
}

#' LogGP's overheads, gap and latency in each regime of the end-to-end latency.
#'
#' LogGP (Alexandrov et al. 1995, SPAA) has a message of m bytes take os + L + or + m G. The line
#' of the latency in a regime is alpha + G m; `os`, `or` and `g` are those of lines through the
#' overheads by overlap and the gap at the same sizes, with the same weights, at no bytes (what
#' of an overhead grows with the size is in G), and L = alpha - os - or.
#'
#' @param parameters what [logp_parameters()] returned, of one configuration, every launch with
#'   the same sizes.
#' @param regimes of [fit_regimes()]: `from_bytes`, `to_bytes`.
#' @param level,replicates,seed of the bootstrap over launches.
#' @return data.table, a row a regime: `os_s`, `or_s`, `g_s`, `L_s`, each with `_low` and `_high`
#'   (`NA` under five launches).
#' @noRd
loggp_of <- function(parameters, regimes, level = 0.95, replicates = 1000L, seed = 1L) {
  columns <- c(eel = "eel_s", os = "os_overlap_s", or = "or_overlap_s", g = "g_s")
  curves <- lapply(columns, \(column) {
    as.matrix(dcast(parameters, key ~ bytes, value.var = column)[, -1L])
  })
  bytes <- as.numeric(colnames(curves$eel))
  parts <- function(rows) {
    middle <- vapply(curves, \(times) column_medians(times[rows, , drop = FALSE]), bytes)
    vapply(seq_len(nrow(regimes)), \(r) {
      within <- bytes >= regimes$from_bytes[[r]] & bytes <= regimes$to_bytes[[r]]
      base <- base_costs(bytes[within], middle[within, ])
      c(base[c("os", "or", "g")], L = base[["eel"]] - base[["os"]] - base[["or"]])
    }, c(os = 0, or = 0, g = 0, L = 0))
  }
  n <- nrow(curves$eel)
  found <- parts(seq_len(n))
  bounds <- list(found * NA, found * NA)
  if (n >= MIN_LAUNCHES) {
    draws <- distinct_draws(with_seed(seed, draw_indices(n, replicates)))
    drawn <- simplify2array(lapply(draws$rows, parts)[draws$of])
    bounds <- lapply((1 + c(-level, level)) / 2, \(p) {
      apply(drawn, 1:2, stats::quantile, p, names = FALSE)
    })
  }
  ends <- c("_s", "_s_low", "_s_high")
  out <- Map(\(part, end) {
    as.data.table(t(structure(part, dimnames = list(paste0(rownames(found), end), NULL))))
  }, c(list(found), bounds), ends)
  out <- do.call(cbind, unname(out))
  setcolorder(out, paste0(rep(rownames(found), each = 3L), ends))[]
}

#' Protocol regimes of a curve of times, with intervals over launches.
#'
#' Hockney's model t = alpha + beta m (Hockney 1994, Parallel Computing 20) in each regime; beta
#' is LogGP's G where the time is the end-to-end latency (Alexandrov et al. 1995, SPAA), and never
#' negative. A regime's largest size is four times its least or more, and 64 B or more. The
#' number of regimes is chosen once, from the medians over all launches; the bootstrap draws
#' launches and asks where the changes are then, and what the lines of the regimes are.
#'
#' @param data data.table `key` (launch), `bytes`, `time_s`: one value a launch and size, every
#'   launch with the same sizes.
#' @param most regimes at most.
#' @param noise as of a median over launches: relative misfits below it ask for no regime.
#' @param level of the intervals.
#' @param replicates,seed of the bootstrap.
#' @return list of two data.tables and a flag. `regimes`: `from_bytes`, `to_bytes`, `alpha_s` and
#'   `beta_s_per_byte` with `_low`, `_high`. `changes`: between `after_bytes` and `before_bytes`,
#'   with the interval `low_bytes` to `high_bytes` (sizes between which the change is; at least
#'   the distance of neighbouring sizes), `support`, the share of draws that have a change inside
#'   `after_bytes` to `before_bytes`, and `jump`, whether the two lines beside the change predict
#'   launches that were left out better than curves without a jump do: only a jump is evidence of
#'   a change of protocol. `limited`: there are as many regimes as allowed, and there may be more.
#'   Intervals and `jump` are `NA` under five launches.
#' @export
fit_regimes <- function(data, most = 4L, noise = 0.01, level = 0.95, replicates = 1000L,
                        seed = 1L) {
  need_columns(data, c("key", "bytes", "time_s"), "the curve")
  wide <- dcast(as.data.table(data), key ~ bytes, value.var = "time_s")
  times <- as.matrix(wide[, -1L])
  bytes <- as.numeric(colnames(times))
  if (anyNA(times) || min(times) <= 0 || length(bytes) < 3L) {
    refuse("a curve needs three sizes or more, and a positive time of every launch at each")
  }
  middle <- function(rows) column_medians(times[rows, , drop = FALSE])
  seconds <- middle(seq_len(nrow(times)))
  breaks <- find_breaks(bytes, seconds, most, noise = noise)
  from <- c(1L, breaks + 1L)
  to <- c(breaks, length(bytes))
  lines <- function(t) {
    vapply(seq_along(from), \(r) relative_line(bytes[from[r]:to[r]], t[from[r]:to[r]]), c(0, 0))
  }
  breaks_of <- \(t) find_breaks(bytes, t, most, length(from), noise)
  drawn <- draw_fits(nrow(times), middle, lines, breaks_of, replicates, seed)
  list(
    regimes = table_of_regimes(bytes[from], bytes[to], lines(seconds), drawn$lines, level),
    changes = change_table(bytes, breaks, drawn$breaks, level, jumps_at(bytes, times, breaks)),
    limited = length(from) == most
  )
}

# Lines (coefficient, regime, draw) and breaks (draw, change) of launches drawn anew.
draw_fits <- function(launches, middle, lines, breaks_of, replicates, seed) {
  if (launches < MIN_LAUNCHES) {
    return(list(lines = NULL, breaks = NULL))
  }
  draws <- distinct_draws(with_seed(seed, draw_indices(launches, replicates)))
  medians <- lapply(draws$rows, middle)
  list(
    lines = simplify2array(lapply(medians, lines)[draws$of]),
    breaks = do.call(rbind, lapply(medians, breaks_of)[draws$of])
  )
}

#' Draws of a bootstrap, each set of launches once: five launches can be drawn in 126 ways.
#' @return list: `rows` (of each set), `of` (the set of each draw).
#' @noRd
distinct_draws <- function(index) {
  sorted <- matrix(index[order(col(index), index)], nrow(index))
  name <- do.call(paste, lapply(seq_len(nrow(sorted)), \(i) sorted[i, ]))
  first <- !duplicated(name)
  list(rows = lapply(which(first), \(i) sorted[, i]), of = match(name, name[first]))
}

table_of_regimes <- function(from, to, lines, drawn, level) {
  bound <- function(row, side) {
    if (is.null(drawn)) {
      return(rep(NA_real_, length(from)))
    }
    p <- (1 + side * level) / 2
    vapply(seq_along(from), \(r) stats::quantile(drawn[row, r, ], p, names = FALSE), 0)
  }
  data.table(
    from_bytes = from, to_bytes = to,
    alpha_s = lines[1L, ], alpha_s_low = bound(1L, -1), alpha_s_high = bound(1L, 1),
    beta_s_per_byte = lines[2L, ], beta_s_per_byte_low = bound(2L, -1),
    beta_s_per_byte_high = bound(2L, 1)
  )
}

change_table <- function(bytes, breaks, drawn, level, jump) {
  place <- function(i, side) {
    if (is.null(drawn)) {
      return(NA_real_)
    }
    at <- stats::quantile(drawn[, i], (1 + side * level) / 2, type = 1L, names = FALSE)
    bytes[at + (side > 0)]
  }
  support <- vapply(breaks, \(b) {
    if (is.null(drawn)) NA_real_ else mean(rowSums(drawn == b) > 0)
  }, 0)
  data.table(
    after_bytes = bytes[breaks], before_bytes = bytes[breaks + 1L],
    low_bytes = vapply(seq_along(breaks), place, 0, side = -1),
    high_bytes = vapply(seq_along(breaks), place, 0, side = 1), support = support, jump = jump
  )
}

#' Hold changes of regime against the library's own limit.
#'
#' @param changes of [fit_regimes()].
#' @param limit largest message that is sent eagerly (B), as `cotejo eager-limit` found it: one,
#'   or one a change.
#' @return `changes` with `explained`: the change is where the limit is (the limit lies between
#'   the interval's lower size, included, and its upper one).
#' @keywords internal
explain_changes <- function(changes, limit) {
  low <- fcoalesce(changes$low_bytes, changes$after_bytes)
  high <- fcoalesce(changes$high_bytes, changes$before_bytes)
  out <- copy(changes)
  out[, explained := low <= limit & limit < high]
  out[]
}
