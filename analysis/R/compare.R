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
#'   gives the same one.
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
#'   them), `session_ratio`, `session_low`, `session_high`, `session_spread`, `scope`, `verdict`,
#'   `more_launches`, `more_sessions`, `note`.
#' @export
compare_configurations <- function(summary, by = "mpi", ignoring = character(), delta = 0.03,
                                   alpha = 0.05, refused = c("stop", "list"),
                                   allowing = character()) {
  refused <- match.arg(refused)
  strata <- setdiff(configuration_columns(summary), c(by, ignoring))
  need_columns(summary, c(strata, by, "bytes", "median_s", "key", "session"), "the summary")
  used <- summary[!is.na(median_s) & median_s > 0]
  used[, block := paste(session, launch)]
  used[, stratum := .GRP, by = strata]
  jobs <- list()
  words <- list()
  for (part in split(used, by = "stratum", sorted = TRUE)) {
    levels <- sort(unique(part[[by]]), method = "radix")
    pairs <- if (length(levels) < 2L) list() else utils::combn(levels, 2L, simplify = FALSE)
    for (pair in pairs) {
      a <- part[part[[by]] == pair[[1L]]]
      b <- part[part[[by]] == pair[[2L]]]
      proof <- comparable(a, b, by, pair, allowing)
      here <- a[1L, strata, with = FALSE]
      if (!isTRUE(proof)) {
        if (refused == "stop") stop_not_comparable(pair, here, proof)
        words <- c(words, list(cbind(here, a = pair[1L], b = pair[2L], why = toString(proof))))
        next
      }
      jobs <- c(jobs, list(list(here = here, pair = pair, a = a, b = b)))
    }
  }
  # A curve takes as long as some files.
  out <- rbindlist(unlist(over_cores(jobs, function(part) {
    lapply(part, function(job) {
      rows <- compare_sizes(job$a, job$b, delta, alpha)
      if (nrow(rows)) cbind(job$here, a = job$pair[[1L]], b = job$pair[[2L]], rows)
    })
  }, 10L * length(jobs)), recursive = FALSE))
  setattr(out, "refused", rbindlist(words))
  setattr(out, "by", by)
  out[]
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
#' @noRd
compare_sizes <- function(a, b, delta, alpha) {
  sizes <- sort(intersect(a$bytes, b$bytes))
  if (!length(sizes)) {
    return(data.table())
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
  rows <- rbindlist(lapply(seq_along(sizes), function(i) {
    describe_sides(both$a[, i], both$b[, i], paired)
  }))
  set(rows, j = "bytes", value = sizes)
  setcolorder(rows, "bytes")
  all <- colSums(!is.na(sides$a)) + colSums(!is.na(sides$b))
  rows[, left_out := as.integer(all) - n_a - n_b]
  sessions <- lapply(list(a, b), \(side) unique(side$session))
  apart <- !length(intersect(sessions[[1L]], sessions[[2L]]))
  enough <- apart && min(lengths(sessions)) >= MIN_SESSIONS
  rows <- cbind(rows, if (enough) {
    curve_between_sessions(a, b, sizes, alpha)
  } else {
    curve_of(both, paired, rows, alpha)
  })
  rows[, family_size := sum(!is.na(low))]
  rows[, family := sprintf("%s of one pair", count_of(family_size, "size", "sizes"))]
  method <- if (enough) {
    "Welch's test over sessions"
  } else if (paired) {
    "sign flips of whole blocks"
  } else {
    "exchanges of whole launches"
  }
  set(rows, j = c("paired", "method"), value = list(paired, method))
  rows[, verdict := judge(low, high, low90, high90, joint, joint90, delta)]
  # Of sides that were never measured in one session a difference is one of the sessions.
  if (apart && !enough) rows[verdict %in% c("faster", "slower"), verdict := "differ"]
  rows <- cbind(rows, sessions_of(a, b, rows, blocks, delta))
  rows[, note := note_on(n_a, n_b, left_out, joint, alpha)]
  rows[verdict == "differ", note := sprintf(
    "the sessions differ: measure both in the same blocks, or in %d sessions each", MIN_SESSIONS
  )]
  rows[, c("more_launches", "more_sessions") := list(NA_real_, NA_real_)]
  rows[verdict == "undecided", c("more_launches", "more_sessions") := more_to_decide(
    .SD, delta, alpha
  )]
  rows[]
}

#' Logarithms of the times of a side: a row a block, a column a size. Of several launches of a
#' block the mean.
#' @noRd
log_times <- function(side, sizes) {
  part <- side[bytes %in% sizes, list(value = mean(log(median_s))), by = c("block", "bytes")]
  blocks <- sort(unique(part$block), method = "radix")
  out <- matrix(NA_real_, length(blocks), length(sizes), dimnames = list(blocks, NULL))
  out[cbind(match(part$block, blocks), match(part$bytes, sizes))] <- part$value
  out
}

# Launches that have every size: what is exchanged between sides is the whole launch.
whole_launches <- function(side) side[!rowSums(is.na(side)), , drop = FALSE]

describe_sides <- function(log_x, log_y, paired) {
  x <- exp(log_x[!is.na(log_x)])
  y <- exp(log_y[!is.na(log_y)])
  t_test <- welch(x, y)
  names(t_test) <- c(
    "welch_mean_a_s", "welch_mean_b_s", "welch_difference_s", "welch_low_s", "welch_high_s",
    "welch_t", "welch_df", "welch_p"
  )
  c(
    list(
      n_a = length(x), n_b = length(y), median_a_s = stats::median(x),
      median_b_s = stats::median(y), cliffs_delta = cliffs_delta(x, y)
    ),
    t_test
  )
}

#' Effects, tests and intervals of the sizes with enough launches, `NA` for the others.
#' @noRd
curve_of <- function(both, paired, rows, alpha) {
  enough <- which(pmin(rows$n_a, rows$n_b) >= MIN_LAUNCHES)
  logs <- if (paired) both$a - both$b
  out <- data.table(
    ratio = if (paired) {
      exp(apply(logs, 2L, stats::median, na.rm = TRUE))
    } else {
      rows$median_a_s / rows$median_b_s
    },
    low = NA_real_, high = NA_real_, confidence = NA_real_, joint = NA, low90 = NA_real_,
    high90 = NA_real_, joint90 = NA, p = NA_real_, p_joint = NA_real_, alike = NA_real_
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
  for (end in c("low", "high", "low90", "high90")) {
    set(out, enough, end, exp(curve[[end]]))
  }
  set(out, enough, "ratio", exp(curve$effect))
  same <- c("joint", "joint90", "p", "p_joint", "alike")
  set(out, enough, c("confidence", same), curve[, c("level", same), with = FALSE])
  out
}

# Sessions a side from which on sides that share none can be called different.
MIN_SESSIONS <- 3L

#' Sides of different sessions: the unit is the session, its value the mean over its launches;
#' Bonferroni over the sizes.
#' @noRd
curve_between_sessions <- function(a, b, sizes, alpha) {
  rbindlist(lapply(sizes, function(size) {
    means <- lapply(list(a, b), function(side) {
      here <- which(side$bytes == size)
      side[here, list(value = mean(log(median_s))), by = "session"]$value
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
  }))
}

#' What of the sessions and nodes a verdict rests on.
#' @noRd
sessions_of <- function(a, b, rows, blocks, delta) {
  rbindlist(lapply(seq_len(nrow(rows)), function(i) {
    # Not inside of [], where names may be columns of the launches.
    x <- a[a$bytes == rows$bytes[[i]] & (!length(blocks) | a$block %in% blocks)]
    y <- b[b$bytes == rows$bytes[[i]] & (!length(blocks) | b$block %in% blocks)]
    sessions <- uniqueN(c(x$session, y$session))
    over <- if (sessions > 1L) ratio_over_sessions(x, y) else ratio_of_one_session()
    apart <- !length(intersect(x$session, y$session))
    nodes <- length(distinct(c(x$observed_hosts, y$observed_hosts)))
    again <- judge(over$low, over$high, over$low, over$high, TRUE, TRUE, delta)
    repeated <- !is.na(again) && again != "undecided" && again %in% rows$verdict[[i]]
    list(
      sessions = sessions, nodes = nodes, session_ratio = over$ratio, session_low = over$low,
      session_high = over$high, session_spread = over$spread,
      scope = scope_of(sessions, nodes, max(x$hosts, 1L), repeated, apart)
    )
  }))
}

scope_of <- function(sessions, nodes, hosts, repeated, apart) {
  when <- if (repeated) {
    sprintf("over %d sessions", sessions)
  } else if (apart) {
    "between sessions"
  } else if (sessions == 1L) {
    "in this session"
  } else {
    sprintf("in these %d sessions", sessions)
  }
  where <- if (hosts > 1L) if (nodes <= 1L) "on these nodes" else sprintf("on %d node sets", nodes)
  paste(c(when, where), collapse = ", ")
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
