# SPDX-License-Identifier: BSD-3-Clause
# Headlines: what a study says first is chosen from all that it compared, and is corrected so.

#' Which configuration is faster than every other, at each size of each stratum.
#'
#' Of the configurations of a stratum the one that leads is named where every comparison it is in
#' says so: the p of the claim is the largest of theirs (an intersection-union test). Over all such
#' claims of the study, whatever their operation, place or size, the false discovery rate is
#' controlled (Benjamini and Hochberg 1995). Claims that so few launches cannot make, whatever
#' their times, are not of the family (Tarone 1990).
#'
#' @param comparison what [compare_configurations()] returned: the whole study's.
#' @param rate false discovery rate.
#' @return data.table, a row a stratum and size: strata, `bytes`, `winner` (empty: none is faster
#'   than every other), `p` and `q` of the claim, `claims` (the family's size).
#' @export
fastest_of <- function(comparison, rate = 0.05) {
  strata <- names(comparison)[seq_len(match("a", names(comparison)) - 1L)]
  place <- c(strata, "bytes")
  at <- comparison[, list(row = .I), keyby = place]
  at[, group := .GRP, by = place]
  leads <- unique(at[, place, with = FALSE])
  leaders <- leaders_of(comparison, at$group[order(at$row)])
  leads[, c("winner", "p", "clear") := leaders[, c("winner", "p", "clear"), with = FALSE]]
  leads[, claims := sum(!is.na(p))]
  leads[, q := stats::p.adjust(p, "BH")]
  leads[is.na(q) | q > rate | !clear, winner := ""]
  leads[, clear := NULL]
  setkeyv(leads, place)
  leads[]
}

#' The side with the least times of each group of comparisons, the largest p of those it is in, and
#' whether all of them call it faster; no p where one of them has no test.
#'
#' @param group of each row of `comparison`, numbers from 1 on.
#' @noRd
leaders_of <- function(comparison, group) {
  ahead <- comparison$ratio < 1
  sides <- data.table(
    group = c(group, group), side = c(comparison$a, comparison$b),
    ahead = c(ahead %in% TRUE, ahead %in% FALSE), p = rep(comparison$p_joint, 2L),
    untested = !rep(comparison$joint %in% TRUE, 2L),
    unclear = !c(comparison$verdict %in% "faster", comparison$verdict %in% "slower")
  )
  found <- sides[, list(
    wins = sum(ahead), p = max(p), untested = sum(untested), unclear = sum(unclear)
  ), by = c("group", "side")]
  found[, others := .N - 1L, by = "group"]
  # Of several that win as often the one that is named first.
  leaders <- unique(found[order(group, -wins)], by = "group")
  leaders[wins < others, p := 1]
  leaders[untested > 0L, p := NA_real_]
  leaders[, list(group, winner = side, p, clear = unclear == 0L)]
}
