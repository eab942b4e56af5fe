# SPDX-License-Identifier: BSD-3-Clause
# Launch summaries -> comparisons of configurations, with effect, interval, tests and verdict.

#' Compare configurations.
#'
#' Within each stratum (all that makes a configuration but the factor `by`) every pair of levels
#' of `by` is compared, size by size.
#'
#' * Effect: `ratio` = median of a's launch medians / median of b's, with bootstrap intervals over
#'   launches ([bootstrap_ratio()]), whole blocks where blocks are complete. Under 1, a is faster.
#' * Tests: Welch on times at 99 %; Wilcoxon's rank-sum; Wilcoxon's signed-rank over blocks where
#'   they are complete. `p` is that of the signed-rank test where the number of blocks lets it
#'   reach `alpha` after Holm's correction, else of the rank-sum test. The choice rests on
#'   the design alone (launches and sizes), never on the times.
#' * Family: Holm's correction is over the sizes of one pair in one stratum.
#' * Sessions: where launches are of several sessions whose ratios differ (Cochran's Q at 1 %), the
#'   verdict must hold over sessions too ([ratio_over_sessions()]), and the `note` says so.
#' * Verdict, said of a, rests on the interval that inverts the test
#'   ([hodges_lehmann_interval()]): `equivalent` when the 90 % interval lies within
#'   1/(1+delta)..1+delta (two one-sided tests at 5 %); else `faster` or `slower` when the
#'   corrected p is at most `alpha` and the 95 % interval excludes 1; else `undecided`, and
#'   `more_launches` says about how many more a side would likely decide
#'   ([launches_to_decide()]). `NA` with a `note` when a side has
#'   under five launches.
#'
#' @param summary what [summarise_launches()] returned.
#' @param by factor to compare: `mpi`, `transport`, `placement`, `settings`, `operation`, ...
#' @param ignoring columns of a configuration that may differ too (they follow from `by`).
#' @param delta smallest relative difference of interest.
#' @param alpha family-wise error rate of faster and slower.
#' @param replicates,seed of the bootstrap.
#' @param refused `"stop"`: an error of class `cotejo_not_comparable` when a pair may not be
#'   compared; `"list"`: leave it out and list it in the attribute `refused`.
#' @return data.table, one row a stratum, pair and size: strata, `bytes`, `a`, `b`, `n_a`, `n_b`,
#'   `median_a_s`, `median_b_s`, `ratio`, `low`, `high` (95 %), `low90`, `high90`, `hl_ratio` and
#'   its `hl_low`, `hl_high`, `hl_low90`, `hl_high90`, `cliffs_delta`, `welch_*`,
#'   `p_ranksum`, `blocked`, `p_blocked`, `sessions`,
#'   `session_ratio`, `session_low`, `session_high`, `session_spread`, `p_sessions`, `method`,
#'   `p`, `p_holm`, `family_size`, `least_p`, `verdict`, `more_launches`, `note`.
#' @export
compare_configurations <- function(summary, by = "mpi", ignoring = character(), delta = 0.03,
                                   alpha = 0.05, replicates = 4000L, seed = 1L,
                                   refused = c("stop", "list")) {
  refused <- match.arg(refused)
  strata <- setdiff(configuration_columns(summary), c(by, ignoring))
  need_columns(summary, c(strata, by, "bytes", "median_s", "key", "session"), "the summary")
  used <- summary[!is.na(median_s)]
  used[, block := paste(session, launch)]
  used[, stratum := .GRP, by = strata]
  jobs <- list()
  words <- list()
  for (s in unique(used$stratum)) {
    part <- used[stratum == s]
    levels <- sort(unique(part[[by]]), method = "radix")
    pairs <- if (length(levels) < 2L) list() else utils::combn(levels, 2L, simplify = FALSE)
    for (pair in pairs) {
      of_a <- part[[by]] == pair[[1L]]
      of_b <- part[[by]] == pair[[2L]]
      a <- part[of_a]
      b <- part[of_b]
      proof <- comparable(a, b, by, pair)
      here <- a[1L, strata, with = FALSE]
      if (!isTRUE(proof)) {
        if (refused == "stop") stop_not_comparable(pair, here, proof)
        words <- c(words, list(cbind(here, a = pair[1L], b = pair[2L], why = toString(proof))))
        next
      }
      jobs <- c(jobs, list(list(here = here, pair = pair, a = a, b = b)))
    }
  }
  # A comparison takes some five times as long as a file.
  work <- 5L * sum(vapply(jobs, function(job) uniqueN(job$a$bytes), 0L))
  out <- rbindlist(unlist(over_cores(jobs, function(part) {
    lapply(part, function(job) {
      rows <- compare_sizes(job$a, job$b, delta, alpha, replicates, seed)
      if (nrow(rows)) cbind(job$here, a = job$pair[[1L]], b = job$pair[[2L]], rows)
    })
  }, work), recursive = FALSE))
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

#' Compare two sides at every size that both have, then correct over the sizes.
#' @noRd
compare_sizes <- function(a, b, delta, alpha, replicates, seed) {
  sizes <- sort(intersect(a$bytes, b$bytes))
  a <- split(a[, c("session", "block", "median_s")], a$bytes)
  b <- split(b[, c("session", "block", "median_s")], b$bytes)
  rows <- rbindlist(lapply(sizes, function(size) {
    name <- as.character(size)
    c(list(bytes = size), compare_pair(a[[name]], b[[name]], replicates, seed))
  }))
  if (!nrow(rows)) {
    return(rows)
  }
  rows[, family_size := .N]
  reaches <- rows$blocked & least_p(rows$n_a, rows$n_b, TRUE) * rows$family_size <= alpha
  rows[, method := fifelse(reaches, "signed-rank over blocks", "rank-sum")]
  rows[, p := fifelse(reaches, p_blocked, p_ranksum)]
  rows[, least_p := least_p(n_a, n_b, reaches)]
  rows[, p_holm := stats::p.adjust(p, "holm")]
  rows[, verdict := judge(
    fcoalesce(hl_low, low), fcoalesce(hl_high, high), fcoalesce(hl_low90, low90),
    fcoalesce(hl_high90, high90), p_holm, delta, alpha
  )]
  rows[, note := note_on(n_a, n_b, least_p, family_size, alpha)]
  differ <- which(rows$p_sessions <= SESSIONS_DIFFER & rows$verdict != "undecided")
  if (length(differ)) set_by_sessions(rows, differ, delta, alpha)
  rows[verdict == "undecided", more_launches := launches_to_decide(
    hl_ratio, fcoalesce(hl_low, low), fcoalesce(hl_high, high), pmin(n_a, n_b), family_size,
    delta, alpha
  )]
  rows[]
}

# The p of Cochran's Q at which sessions differ: asked of every size, so stricter than alpha.
SESSIONS_DIFFER <- 0.01

#' Where sessions differ a verdict stays only if the interval over sessions gives the same.
#' @noRd
set_by_sessions <- function(rows, differ, delta, alpha) {
  part <- rows[differ]
  over <- judge(
    part$session_low, part$session_high, part$session_low, part$session_high, part$p_holm, delta,
    alpha
  )
  rows[differ, note := sprintf(
    "sessions differ by %s %%: over them the ratio is %s", format_digits(100 * session_spread),
    format_interval(session_ratio, session_low, session_high)
  )]
  set(rows, differ[over != part$verdict], "verdict", "undecided")
}

compare_pair <- function(a, b, replicates, seed) {
  blocked <- !anyDuplicated(a$block) && !anyDuplicated(b$block) && setequal(a$block, b$block)
  over <- ratio_over_sessions(a, b)
  names(over) <- c(
    "sessions", "session_ratio", "session_low", "session_high", "session_spread", "p_sessions"
  )
  x <- a$median_s
  y <- if (blocked) b$median_s[match(a$block, b$block)] else b$median_s
  # Sums and draws must not depend on the order in which the launches were read.
  in_order <- if (blocked) order(x, y) else order(x)
  x <- x[in_order]
  y <- if (blocked) y[in_order] else sort(y)
  interval <- bootstrap_ratio(x, y, blocked, c(0.95, 0.90), replicates, seed)
  inverted <- hodges_lehmann_interval(x, y, blocked)
  t_test <- welch(x, y)
  names(t_test) <- c(
    "welch_mean_a_s", "welch_mean_b_s", "welch_difference_s", "welch_low_s", "welch_high_s",
    "welch_t", "welch_df", "welch_p"
  )
  c(
    list(
      n_a = length(x), n_b = length(y), median_a_s = stats::median(x),
      median_b_s = stats::median(y), ratio = interval$ratio,
      low = interval$low[[1L]], high = interval$high[[1L]],
      low90 = interval$low[[2L]], high90 = interval$high[[2L]],
      hl_ratio = inverted$ratio, hl_low = inverted$low[[1L]], hl_high = inverted$high[[1L]],
      hl_low90 = inverted$low[[2L]], hl_high90 = inverted$high[[2L]],
      cliffs_delta = cliffs_delta(x, y)
    ),
    t_test,
    list(
      p_ranksum = wilcoxon_independent(x, y), blocked = blocked,
      p_blocked = if (blocked) wilcoxon_blocked(x, y) else NA_real_
    ),
    over, list(more_launches = NA_real_)
  )
}

judge <- function(low, high, low90, high90, p, delta, alpha) {
  fcase(
    is.na(low) | is.na(high) | is.na(p), NA_character_,
    low90 >= 1 / (1 + delta) & high90 <= 1 + delta, "equivalent",
    p <= alpha & high < 1, "faster",
    p <= alpha & low > 1, "slower",
    rep(TRUE, length(low)), "undecided"
  )
}

note_on <- function(n_a, n_b, least, family, alpha) {
  n <- pmin(n_a, n_b)
  fcase(
    n < MIN_LAUNCHES, sprintf("too few launches: %d and %d, at least %d", n_a, n_b, MIN_LAUNCHES),
    least * family > alpha, sprintf(
      "%d and %d launches cannot show a difference over %d sizes at %s %%: take at least %d",
      n_a, n_b, family, format(100 * alpha), launches_needed(family, alpha)
    ),
    rep(TRUE, length(n)), ""
  )
}

#' Launches a side with which a rank-sum test can reach alpha after Holm over a family.
#' @noRd
launches_needed <- function(family, alpha) {
  n <- MIN_LAUNCHES:200
  vapply(family, function(m) n[which(least_p(n, n, FALSE) * m <= alpha)[1L]], 0L)
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
