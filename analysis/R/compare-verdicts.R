# SPDX-License-Identifier: BSD-3-Clause
# Effects and intervals -> verdicts, and the words beside them.

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
