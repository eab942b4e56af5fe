# SPDX-License-Identifier: BSD-3-Clause
# Turns the tests of all pairs into intervals and verdicts within each question, with their notes.

# Join the rows of all curves into one table, with their verdicts and notes.
settle_rows <- function(pairs, good, found, delta, alpha, forecast) {
  rows <- rbindlist(found)
  if (!nrow(rows)) {
    return(data.table())
  }
  rows[, pair := rep(good, vapply(found, function(one) length(one$bytes), 0L))]
  of <- pairs$pairs[rows$pair]
  question <- pairs$question[of$stratum]
  joint <- within_questions(rows, question, alpha)
  rows[, c("q", "confidence") := joint[c("q", "confidence")]]
  rows[, c("low", "high") := lapply(joint[c("low", "high")], exp)]
  rows[, family := sprintf(
    "%s of the question", count_of(sum(!is.na(p)), "comparison", "comparisons")
  ), by = list(question)]
  rows[, verdict := judge(low, high, delta)]
  rows[, c("at_least", "at_most") := list(
    pmax(low, 1 / high, 1) - 1, pmax(high, 1 / low) - 1
  )]
  rows[, relevance := fcase(
    is.na(low), NA_character_, at_least >= delta, "relevant", at_most <= delta, "negligible",
    rep(TRUE, .N), "open"
  )]
  # Without a common session, a difference may come from the sessions.
  rows[apart & verdict %in% DIRECTIONS, verdict := "not settled"]
  # The intervals over sessions and over node sets have the same level as the verdict.
  for (level in c("session", "nodes")) {
    over <- \(name) rows[[paste0(level, name)]]
    reach <- stats::qt((1 + rows$confidence) / 2, over("_df")) * over("_error")
    set(rows, j = paste0(level, c("_low", "_high")), value = list(
      over("_ratio") * exp(-reach), over("_ratio") * exp(reach)
    ))
  }
  repeated <- function(low, high, verdict) {
    again <- judge(low, high, delta)
    again %in% c(DIRECTIONS, "within") & again == verdict
  }
  rows[, scope := scope_of(
    sessions, nodes, spread_over, repeated(session_low, session_high, verdict), sessions_differ,
    repeated(nodes_low, nodes_high, verdict)
  )]
  rows[, note := note_on(n_a, n_b, left_out)]
  by_session <- by_sessions(rows)
  rows[by_session, note := sprintf(
    "the sessions differ: measure both in the same blocks, or in %d sessions each", MIN_SESSIONS
  )]
  rows[, c("more_launches", "more_sessions") := list(NA_real_, NA_real_)]
  if (isTRUE(forecast)) forecast <- FORECAST
  if (is.list(forecast)) {
    open <- which(forecast$open(rows) & !by_session)
    rows[open, c("more_launches", "more_sessions") := more_to_decide(
      function(pair) pairs$sides[unlist(pairs$pairs[pair, c("left", "right")])], .SD,
      most_within(delta), forecast$settled
    )]
  }
  rows[verdict == "not tested", more_launches := pmax(1, LEAST_BLOCKS - pmin(n_a, n_b))]
  rows[, c(
    "pair", "effect", "apart", "sessions_differ", "spread_over", "session_error", "session_df",
    "nodes_ratio", "nodes_error", "nodes_df"
  ) := NULL]
  cbind(pairs$strata[of$stratum], of[, c("a", "b")], rows)
}

# Verdicts with a direction, which describe the first configuration of a pair.
DIRECTIONS <- c("faster", "slower")
# Verdicts that need no further measurements.
SETTLED <- c(DIRECTIONS, "within")

# The bound up to which a comparison counts as settled.
most_within <- function(delta) max(delta, WITHIN_MOST)

# The verdict that an interval gives for the first configuration of a pair.
judge <- function(low, high, delta) {
  fcase(
    is.na(low) | is.na(high), "not tested",
    high < 1, "faster",
    low > 1, "slower",
    pmax(high, 1 / low) - 1 <= most_within(delta), "within",
    rep(TRUE, length(low)), "not settled"
  )
}

# Reverses the pairs of a comparison, so that `a` is one of `first`, or those with the flag `turn`.
# A pair's original order is that of the names.
turned_to <- function(rows, first = NULL, turn = !rows$a %in% first) {
  out <- copy(rows)
  at <- which(turn)
  out[at, `:=`(
    ratio = 1 / ratio, low = 1 / high, high = 1 / low,
    verdict = fcoalesce(unname(c(faster = "slower", slower = "faster")[verdict]), verdict)
  )]
  for (column in c("%s", "median_%s_s", "algorithm_%s")) {
    two <- sprintf(column, c("a", "b"))
    if (two[[1L]] %in% names(out)) set(out, at, two, out[at, rev(two), with = FALSE])
  }
  out[]
}

# Whether a difference may come from the sessions: the interval excludes 1, but the configurations
# share no session and have too few sessions each. More launches settle nothing there.
by_sessions <- function(rows) {
  rows$verdict == "not settled" & (rows$low > 1 | rows$high < 1) %in% TRUE
}

# The scope of a verdict that rests on a single session.
ONE_SESSION <- "in this session"

#' The sessions and node sets for which a verdict holds, in words.
#'
#' @param repeated,again whether the interval of launches within sessions, and that of launches
#'   within node sets, gives the same verdict.
#' @noRd
scope_of <- function(sessions, nodes, hosts, repeated, apart, again) {
  when <- fcase(
    repeated, sprintf("over %d sessions", sessions), apart, "between sessions",
    sessions == 1L, ONE_SESSION,
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

note_on <- function(n_a, n_b, left_out) {
  n <- pmin(n_a, n_b)
  fcase(
    n < LEAST_BLOCKS, sprintf("too few launches: %d and %d, at least %d", n_a, n_b, LEAST_BLOCKS),
    left_out > 0, sprintf(
      "%s of blocks that lack the other configuration %s left out",
      count_of(left_out, "launch", "launches"), fifelse(left_out == 1, "is", "are")
    ),
    rep(TRUE, length(n)), ""
  )
}

#' Verdicts of the same comparisons for two times or two sessions of the launches.
#'
#' @param first,second what [compare_configurations()] returned for each.
#' @return data.table, one row a comparison that is in both: strata, `bytes`, `a`, `b`, `first`,
#'   `second` (verdicts). No row when either is empty.
#' @noRd
compare_verdicts <- function(first, second) {
  if (!nrow(first) || !nrow(second)) {
    return(data.table())
  }
  keys <- c(intersect(strata_in(first), names(second)), "bytes", "a", "b")
  both <- lapply(list(first, second), \(one) one[, c(keys, "verdict"), with = FALSE])
  both <- merge(both[[1L]], both[[2L]], by = keys)
  setnames(both, c("verdict.x", "verdict.y"), c("first", "second"))[]
}

# Whether comparisons show a difference in a statement over all questions of a study.
#
# A question is selected if its p survives Benjamini and Hochberg's procedure over the questions.
# With R of m questions selected, the level within them is `alpha` R / m (Benjamini and Bogomolov
# 2014). The verdicts of a question itself do not depend on other questions.
over_questions <- function(comparison, alpha = ALPHA) {
  by <- intersect(QUESTION, names(comparison))
  rows <- comparison[, c(by, "q"), with = FALSE]
  # The smallest p that is corrected within a question is the p of the question (Simes 1986).
  own <- rows[!is.na(q)]
  if (!nrow(own)) {
    return(logical(nrow(rows)))
  }
  own <- own[, list(p = min(q)), by = by]
  own[, chosen := stats::p.adjust(p, "BH") <= alpha]
  own[, level := fifelse(chosen, alpha * mean(chosen), -1)]
  own[rows, !is.na(i.q) & i.q <= level, on = by] %in% TRUE
}
