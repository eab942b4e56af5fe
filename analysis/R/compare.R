# SPDX-License-Identifier: BSD-3-Clause
# Launch summaries -> comparisons of configurations, with effect, interval, tests and verdict.

#' Compare configurations.
#'
#' Within each stratum (all that makes a configuration but the factor `by`) every pair of levels
#' of `by` is compared, at all sizes that both have.
#'
#' * Pairing: by the blocks that both sides have, size by size. Sides without a common block
#'   (two tools, measured one after the other) are compared as independent ones.
#' * Effect: `ratio`, time of a over time of b, over blocks (Huber's estimate on the logarithm).
#'   Under 1, a is faster. `low` and `high` hold every ratio that the test does not reject.
#' * Test: sign flips of whole blocks, `p_joint` corrected over the sizes of the pair in one step
#'   ([paired_curve()]); the family is stated in `family`.
#' * Verdict, said of a: `equivalent` when the 90 % interval lies within 1/(1+delta)..1+delta;
#'   else `faster` or `slower` when the interval excludes 1, which is when `p_joint` is at most
#'   `alpha`; else `undecided`. `NA` with a `note` with under five blocks. Sides that share no
#'   session only `differ`, unless each has three: then sessions are what is compared.
#' * Sessions are a level: `scope` says for which sessions (and nodes) the verdict holds, which is
#'   "over sessions" where the interval of launches within sessions ([ratio_over_sessions()])
#'   gives the same one; so for the node sets that allocations gave.
#' * What is undecided has `more_launches` or, where sessions differ by more than launches do,
#'   `more_sessions` that would likely decide ([launches_to_decide()]).
#'
#' @param summary what [summarise_launches()] returned.
#' @param by factor to compare: `mpi`, `transport`, `placement`, `settings`, `operation`, ...
#' @param ignoring columns of a configuration that may differ too (they follow from `by`).
#' @param delta smallest relative difference of interest.
#' @param alpha family-wise error rate of faster and slower.
#' @param refused `"stop"`: an error of class `cotejo_not_comparable` when a pair may not be
#'   compared; `"list"`: leave it out and list it in the attribute `refused`.
#' @param allowing columns that are known to differ between the sides ([comparable()]).
#' @return data.table, one row a stratum, pair and size: strata, `bytes`, `a`, `b`, `n_a`, `n_b`
#'   (launches, of blocks that both sides have), `left_out` (launches of other blocks),
#'   `median_a_s`, `median_b_s`, `ratio`, `low`, `high`, `confidence` (that the interval has, for
#'   all sizes together where `joint`), `low90`, `high90`, `p` (of the size alone), `p_joint`,
#'   `family`, `paired`, `method`, `cliffs_delta`, `welch_*`, `sessions`, `nodes` (numbers of
#'   them: sets of them), `session_ratio`, `session_low`, `session_high`, `session_spread`,
#'   `nodes_low`, `nodes_high` (interval over node sets), `scope`, `verdict`,
#'   `more_launches`, `more_sessions`, `note`.
#' @export
compare_configurations <- function(summary, by = "mpi", ignoring = character(), delta = 0.03,
                                   alpha = 0.05, refused = c("stop", "list"),
                                   allowing = character()) {
  refused <- match.arg(refused)
  strata <- setdiff(configuration_columns(summary), c(by, ignoring))
  need_columns(summary, c(strata, by, "bytes", "median_s", "key", "session"), "the summary")
  pairs <- pairs_of(summary, strata, by, ignoring = ignoring, allowing = allowing)
  odd <- which(lengths(pairs$why) > 0L)
  if (length(odd) && refused == "stop") {
    pair <- pairs$pairs[odd[[1L]]]
    stop_not_comparable(
      c(pair$a, pair$b), pairs$strata[pair$stratum], pairs$why[[odd[[1L]]]]
    )
  }
  good <- setdiff(seq_along(pairs$why), odd)
  # A curve takes as long as some files.
  found <- unlist(over_cores(good, function(part) {
    lapply(part, function(i) {
      compare_sizes(pairs$sides[[pairs$pairs$left[[i]]]], pairs$sides[[pairs$pairs$right[[i]]]],
        delta, alpha
      )
    })
  }, 10L * length(good)), recursive = FALSE)
  out <- settle_rows(pairs, good, found, delta, alpha)
  words <- pairs$pairs[odd]
  setattr(out, "refused", if (length(odd)) {
    cbind(pairs$strata[words$stratum], words[, c("a", "b")],
      why = vapply(pairs$why[odd], toString, "")
    )
  } else {
    data.table()
  })
  setattr(out, "by", by)
  out[]
}

#' The pairs of sides that share a stratum.
#' @return list: `strata` (a row each), `sides` (launches of each side, as lists of columns),
#'   `pairs` (`stratum`, `a`, `b`, and the numbers of their sides, `left` and `right`), `why` (of
#'   each pair, why it may not be compared; empty: it may).
#' @noRd
pairs_of <- function(summary, strata, by, ignoring, allowing) {
  columns <- intersect(unique(c(
    strata, by, names(HELD_FIXED), "library", "bytes", "median_s", "key", "session", "launch"
  )), names(summary))
  used <- which(!is.na(summary$median_s) & summary$median_s > 0)
  used <- as.data.table(lapply(stats::setNames(columns, columns), \(name) summary[[name]][used]))
  used[, block := paste(session, launch)]
  used[, stratum := .GRP, by = strata]
  setorderv(used, c("stratum", by), na.last = TRUE)
  first <- used[, list(row = .I[[1L]], n = .N), by = c("stratum", by)]
  setnames(first, by, "level")
  rows <- used[, .I[[1L]], by = "stratum"]
  table <- used[rows$V1[order(rows$stratum)], strata, with = FALSE]
  several <- first[!is.na(level), list(count = .N), by = "stratum"][count > 1L]$stratum
  pairs <- rbindlist(lapply(several, function(one) {
    here <- which(first$stratum == one & !is.na(first$level))
    two <- utils::combn(here, 2L)
    list(
      stratum = one, left = two[1L, ], right = two[2L, ], a = first$level[two[1L, ]],
      b = first$level[two[2L, ]]
    )
  }))
  sides <- vector("list", nrow(first))
  facts <- vector("list", nrow(first))
  for (i in unique(c(pairs$left, pairs$right))) {
    at <- seq.int(first$row[[i]], length.out = first$n[[i]])
    side <- lapply(unclass(used), `[`, at)
    facts[[i]] <- facts_of(side, by, allowing)
    sides[[i]] <- side[c("bytes", "median_s", "session", "block", "observed_hosts", "hosts")]
  }
  why <- lapply(seq_len(nrow(pairs)), function(i) {
    differences_of(
      facts[[pairs$left[[i]]]], facts[[pairs$right[[i]]]], c(pairs$a[[i]], pairs$b[[i]])
    )
  })
  list(strata = table, sides = sides, pairs = pairs, why = why)
}

#' Rows of all curves as one table, with their verdicts and words.
#' @noRd
settle_rows <- function(pairs, good, found, delta, alpha) {
  rows <- rbindlist(found)
  if (!nrow(rows)) {
    return(data.table())
  }
  of <- pairs$pairs[rep(good, vapply(found, function(one) length(one$bytes), 0L))]
  rows[, family := sprintf("%s of one pair", count_of(family_size, "size", "sizes"))]
  rows[, verdict := judge(low, high, low90, high90, joint, joint90, delta)]
  # Of sides that were never measured in one session a difference is one of the sessions.
  rows[apart & verdict %in% c("faster", "slower"), verdict := "differ"]
  repeated <- function(low, high, verdict) {
    again <- judge(low, high, low, high, TRUE, TRUE, delta)
    !is.na(again) & again != "undecided" & again == verdict
  }
  rows[, scope := scope_of(
    sessions, nodes, spread_over, repeated(session_low, session_high, verdict), sessions_differ,
    repeated(nodes_low, nodes_high, verdict)
  )]
  rows[, note := note_on(n_a, n_b, left_out, joint, alpha)]
  rows[verdict == "differ", note := sprintf(
    "the sessions differ: measure both in the same blocks, or in %d sessions each", MIN_SESSIONS
  )]
  rows[, c("more_launches", "more_sessions") := list(NA_real_, NA_real_)]
  rows[verdict == "undecided", c("more_launches", "more_sessions") := more_to_decide(
    .SD, delta, alpha
  )]
  rows[, c("apart", "sessions_differ", "spread_over") := NULL]
  cbind(pairs$strata[of$stratum], of[, c("a", "b")], rows)
}

stop_not_comparable <- function(pair, here, proof) {
  refuse(
    sprintf(
      "%s and %s cannot be compared (%s): %s; measure both with the same placement and transport",
      pair[[1L]], pair[[2L]], toString(unlist(here)), paste(proof, collapse = "; ")
    ),
    "cotejo_not_comparable",
    differences = proof
  )
}

#' Compare two sides at every size that both have: the curve of a pair.
#'
#' @param a,b lists of columns of the launches of each side.
#' @return list of columns, a row a size; `NULL` without a common size.
#' @noRd
compare_sizes <- function(a, b, delta, alpha) {
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

#' What of the sessions and nodes a verdict rests on.
#' @noRd
sessions_of <- function(a, b, sizes, blocks) {
  count <- length(sizes)
  all <- unique(c(a$session, b$session))
  a$node_set <- node_set_of(a$observed_hosts)
  b$node_set <- node_set_of(b$observed_hosts)
  places <- known_sets(a, b)
  hosts <- max(a$hosts, 1L)
  one <- ratio_of_one_session()
  if (length(all) == 1L && length(places) < 2L) {
    return(lapply(list(
      sessions = 1L, nodes = length(places), session_ratio = one$ratio, session_low = one$low,
      session_high = one$high, session_spread = one$spread, nodes_low = one$low,
      nodes_high = one$high, spread_over = hosts, sessions_differ = FALSE
    ), rep, count))
  }
  as.list(rbindlist(lapply(sizes, function(size) {
    x <- as.data.table(pick(a, a$bytes == size & (!length(blocks) | a$block %in% blocks)))
    y <- as.data.table(pick(b, b$bytes == size & (!length(blocks) | b$block %in% blocks)))
    sessions <- uniqueN(c(x$session, y$session))
    over <- if (sessions > 1L) ratio_over_sessions(x, y) else one
    nodes <- length(known_sets(x, y))
    on <- if (nodes > 1L) ratio_over_sessions(x, y, unit = "node_set") else one
    list(
      sessions = sessions, nodes = nodes, session_ratio = over$ratio, session_low = over$low,
      session_high = over$high, session_spread = over$spread, nodes_low = on$low,
      nodes_high = on$high, spread_over = max(x$hosts, 1L),
      sessions_differ = !length(intersect(x$session, y$session))
    )
  })))
}

# Rows of a list of columns.
pick <- function(columns, which) lapply(columns, `[`, which)

known_sets <- function(a, b) Filter(nzchar, unique(c(a$node_set, b$node_set)))

#' For which sessions and node sets a verdict holds, in words.
#'
#' @param repeated,again whether the interval of launches within sessions, and that of launches
#'   within node sets, gives the same verdict.
#' @noRd
scope_of <- function(sessions, nodes, hosts, repeated, apart, again) {
  when <- fcase(
    repeated, sprintf("over %d sessions", sessions), apart, "between sessions",
    sessions == 1L, "in this session",
    rep(TRUE, length(sessions)), sprintf("in these %d sessions", sessions)
  )
  where <- fcase(
    again, sprintf(", over %d node sets", nodes),
    nodes > 1L, sprintf(", on these %d node sets", nodes),
    hosts > 1L, ", on these nodes",
    rep(TRUE, length(nodes)), ""
  )
  paste0(when, where)
}

judge <- function(low, high, low90, high90, joint, joint90, delta) {
  fcase(
    is.na(low) | is.na(high), NA_character_,
    joint90 & low90 >= 1 / (1 + delta) & high90 <= 1 + delta, "equivalent",
    joint & high < 1, "faster",
    joint & low > 1, "slower",
    rep(TRUE, length(low)), "undecided"
  )
}

note_on <- function(n_a, n_b, left_out, joint, alpha) {
  n <- pmin(n_a, n_b)
  fcase(
    n < MIN_LAUNCHES, sprintf("too few launches: %d and %d, at least %d", n_a, n_b, MIN_LAUNCHES),
    !joint, sprintf(
      "%d blocks cannot show a difference at %s %%: take at least %d",
      n, format(100 * alpha), blocks_needed(alpha)
    ),
    left_out > 0, sprintf(
      "%s of blocks that lack the other side %s left out",
      count_of(left_out, "launch", "launches"), fifelse(left_out == 1, "is", "are")
    ),
    rep(TRUE, length(n)), ""
  )
}

#' Do two tools agree on the same MPI?
#'
#' Compares two operations, such as `pingpong` and `imb-pingpong`, on the same MPI, transport and
#' placement: experiment and parameters may differ, the rest is held fixed. The launches of the
#' tools need not share blocks.
#'
#' @param summary what [summarise_launches()] returned.
#' @param ours,theirs names of the operations.
#' @param ... passed to [compare_configurations()].
#' @return as [compare_configurations()]; `a` is `theirs` or `ours`, by name order.
#' @export
agree_tools <- function(summary, ours = "pingpong", theirs = "imb-pingpong", ...) {
  both <- summary[summary$operation %in% c(ours, theirs)]
  setattr(both, "factors", attr(summary, "factors"))
  tool <- c("experiment", "test", "parameters")
  compare_configurations(both, by = "operation", ignoring = tool, ...)
}

#' Verdicts of the same comparisons by two times of the launches.
#'
#' @param first,second what [compare_configurations()] returned of one study.
#' @return data.table, one row a comparison that is in both: strata, `bytes`, `a`, `b`, `first`,
#'   `second` (verdicts), `open` (undecided by the first), `settled` (and decided by the second),
#'   `turned` (faster by one, slower by the other). No row when either is empty.
#' @noRd
compare_verdicts <- function(first, second) {
  if (!nrow(first) || !nrow(second)) {
    return(data.table())
  }
  keys <- c(names(first)[seq_len(match("a", names(first)) - 1L)], "a", "b", "bytes")
  of <- function(table, name) {
    setnames(copy(table[, c(keys, "verdict"), with = FALSE]), "verdict", name)
  }
  both <- merge(of(first, "first"), of(second, "second"), by = keys)
  both[, open := first %in% "undecided"]
  both[, settled := open & !is.na(second) & second != "undecided"]
  ways <- c("faster", "slower")
  both[, turned := first %in% ways & second %in% ways & first != second]
  both[]
}
