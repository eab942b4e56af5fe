# SPDX-License-Identifier: BSD-3-Clause
# Models of a message's time: LogP by message size, LogGP and Hockney per protocol regime.
# Regimes are found by a piecewise linear regression whose pieces need not meet. A change of
# protocol is often a jump, which continuous (broken-stick) models cannot show. The best of all
# partitions is found by dynamic programming (Bai and Perron 2003, Journal of Applied Econometrics
# 18). Residuals are relative: one microsecond is much for a small message and little for a large
# one.

#' LogP parameters of each launch and size.
#'
#' Two methods estimate the overheads. By the time of calls: the time inside the send, and inside a
#' receive of a message that has arrived. By overlap: the interval between consecutive messages
#' minus the computation, with more computation than the other rank needs for its part. The receive
#' overhead also excludes the request for each message. An overhead is at most the gap
#' (o = g - C, with the hidden computation C >= 0).
#' L is the end-to-end latency minus both overheads. It is negative where both ranks' libraries
#' work on one message at the same time. LogP does not model this, but pipelined copies do it, and
#' so does TCP within a host: the sender's call does the work of the receiving kernel when the
#' message is already there. A rendezvous without progress of its own waits for the next call. No
#' computation hides this wait, and both methods count it as overhead.
#'
#' @param results what [read_results()] returned; samples of the experiment `logp`.
#' @return data.table, one row per launch and size: the launches' columns, `bytes`, and in seconds
#'   `eel_s`, `g_s`, `os_call_s`, `or_call_s`, `L_call_s`, `os_overlap_s`, `or_overlap_s`,
#'   `L_overlap_s`, and `g_derived_s`: g of the smallest size plus the growth of the end-to-end
#'   latency from there. It is the gap that a ping-pong implies where nobody measured the gap.
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
  # Within each launch, the sizes are in rising order because of the key of the cast.
  out[, g_derived_s := g_s[[1L]] + eel_s - eel_s[[1L]], by = "key"]
  out[, words_s := NULL]
  out[, key := as.character(key)]
  results$launches[out, on = "key"]
}

#' Share of message sizes at which both overheads fit into the end-to-end latency.
#'
#' @param parameters what [logp_parameters()] returned.
#' @param above only sizes of more bytes than this.
#' @param tolerance by which both overheads may exceed the latency, relative to the latency. L is
#'   zero if the processors do all the work, and its estimate is then sometimes negative. The
#'   default allows nothing.
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

# Minimum relative squared residuals of a line through every run of points.
#
# Minimises sum(((t - a - b m) / t)^2), b >= 0, over the runs from row to column, all at once from
# running sums. Runs of fewer than `least` points, or with a last size below `span` times the
# first, have infinite cost. The run of all points is exempt, since it needs no other regime. The
# first size counts as at least 16 B: a few bytes more within a cache line are no slope.
run_costs <- function(bytes, seconds, least, span) {
  n <- length(bytes)
  from <- rep(seq_len(n), n)
  to <- rep(seq_len(n), each = n)
  # Sizes are scaled so that the sums of their squares do not make the other sums lose precision.
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
  # The time per byte cannot be negative: where the best line would fall, a constant is used.
  level <- count - s[[4L]]^2 / s[[1L]]
  falls <- !is.finite(b) | b < 0
  cost <- count - a * s[[4L]] - b * s[[5L]]
  cost[falls] <- level[falls]
  cost <- pmax(cost, 0)
  wide <- (span * pmax(bytes, 16))[from] <= bytes[to] | count == n
  cost[count < least | !wide | !is.finite(cost)] <- Inf
  matrix(cost, n)
}

# Best partitions into one to `most` runs: one list per partition, of `ends` (the last points of
# all runs except the last run) and `cost`.
best_partitions <- function(cost, most) {
  n <- nrow(cost)
  value <- cost[1L, ]
  # The ends of the pieces (rows) of the best partition up to each point (columns).
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

#' Segmented fit of time on size; the pieces may jump.
#'
#' @param bytes sizes (B), in rising order without duplicates.
#' @param seconds median time at each size (s), positive.
#' @param most maximum number of pieces.
#' @param pieces number of pieces; `NULL`: chosen by BIC.
#' @param noise expected minimum relative error of a median: smaller misfits are no evidence of
#'   another piece.
#' @param least minimum number of points of a piece.
#' @param span minimum ratio of the last to the first size of a piece: sizes close together (a size
#'   and its two perturbed neighbours) share disturbances and give no information about a slope.
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

#' The cost of each message that does not depend on its size: lines over the size, evaluated at
#' zero bytes. All lines have the weights of the latency's line, and all are constant where the
#' latency's line is constant. The parts of the latency therefore add up to the latency.
#'
#' @param seconds matrix, one row per size; its column `eel` is the latency.
#' @noRd
base_costs <- function(bytes, seconds) {
  weights <- 1 / seconds[, "eel"]^2
  lines <- weighted_lines(bytes, seconds, weights)
  if (lines[2L, "eel"] < 0) colSums(seconds * weights) / sum(weights) else lines[1L, ]
}

#' LogGP's overheads, gap and latency in each regime of the end-to-end latency.
#'
#' In LogGP (Alexandrov et al. 1995, SPAA) a message of m bytes takes os + L + or + m G. The line
#' of the latency in a regime is alpha + G m. `os`, `or` and `g` are the values at zero bytes of
#' lines through the overheads (by overlap) and the gap, with the same sizes and weights. The part
#' of an overhead that grows with the size is in G. L = alpha - os - or.
#'
#' @param parameters what [logp_parameters()] returned, of one configuration, every launch with
#'   the same sizes.
#' @param regimes of [fit_regimes()]: `from_bytes`, `to_bytes`.
#' @param level,replicates,seed of the bootstrap over launches.
#' @return data.table, one row per regime: `os_s`, `or_s`, `g_s`, `L_s`, each with `_low` and
#'   `_high` (`NA` for fewer than five launches).
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
#' Each regime follows Hockney's model t = alpha + beta m (Hockney 1994, Parallel Computing 20).
#' beta is LogGP's G where the time is the end-to-end latency (Alexandrov et al. 1995, SPAA), and
#' never negative. A regime's largest size is at least four times its smallest, and at least 64 B.
#' The number of regimes is chosen once, from the medians over all launches. The bootstrap draws
#' launches and finds the changes and the lines of the regimes for each draw.
#'
#' @param data data.table `key` (launch), `bytes`, `time_s`: one value per launch and size, every
#'   launch with the same sizes.
#' @param most maximum number of regimes.
#' @param noise relative error of a median over launches: smaller misfits do not justify a regime.
#' @param level of the intervals.
#' @param replicates,seed of the bootstrap.
#' @return list of two data.tables and a flag. `regimes`: `from_bytes`, `to_bytes`, `alpha_s` and
#'   `beta_s_per_byte` with `_low`, `_high`. `changes`: between `after_bytes` and `before_bytes`,
#'   with the interval `low_bytes` to `high_bytes` (the change is between these sizes; at least the
#'   distance of neighbouring sizes). `support`: the share of draws with a change between
#'   `after_bytes` and `before_bytes`. `jump`: whether the two lines beside the change predict
#'   left-out launches better than curves without a jump; only a jump is evidence of a change of
#'   protocol. `limited`: the number of regimes is the maximum, and there may be more regimes.
#'   Intervals and `jump` are `NA` for fewer than five launches.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' curve <- summary[mpi == "openmpi", list(key, bytes, time_s = median_s)]
#' fit_regimes(curve, replicates = 50L)$regimes
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

# Lines (coefficient, regime, draw) and breaks (draw, change) of bootstrap draws of launches.
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

#' Draws of a bootstrap without duplicate sets of launches: five launches give only 126 sets.
#' @return list: `rows` (of each set), `of` (the number of the set of each draw).
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

#' Compare changes of regime with the library's own limit.
#'
#' @param changes of [fit_regimes()].
#' @param limit largest message that is sent eagerly (B), as found by `cotejo eager-limit`: one
#'   value, or one value per change.
#' @return `changes` with `explained`: whether the limit lies within the interval of the change
#'   (the lower size is included, the upper size is not).
#' @keywords internal
explain_changes <- function(changes, limit) {
  low <- fcoalesce(changes$low_bytes, changes$after_bytes)
  high <- fcoalesce(changes$high_bytes, changes$before_bytes)
  out <- copy(changes)
  out[, explained := low <= limit & limit < high]
  out[]
}
