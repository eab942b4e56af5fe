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
  leads <- comparison[, leader_of(.SD), keyby = c(strata, "bytes")]
  leads[, claims := sum(!is.na(p))]
  leads[, q := stats::p.adjust(p, "BH")]
  leads[is.na(q) | q > rate | !clear, winner := ""]
  leads[, clear := NULL]
  leads[]
}

# The side with the least times, the largest p of its comparisons, and whether all of them call it
# faster; no claim where a comparison has no test.
leader_of <- function(rows) {
  ahead <- fifelse(rows$ratio < 1, rows$a, rows$b)
  sides <- unique(c(rows$a, rows$b))
  wins <- tabulate(match(ahead, sides), length(sides))
  leader <- sides[[which.max(wins)]]
  of_leader <- rows$a == leader | rows$b == leader
  said <- fifelse(rows$a == leader, "faster", "slower")
  p <- if (!all(rows$joint[of_leader] %in% TRUE)) {
    NA_real_
  } else if (max(wins) == length(sides) - 1L) {
    max(rows$p_joint[of_leader])
  } else {
    1
  }
  list(
    winner = leader, p = p,
    clear = all((rows$verdict == said)[of_leader] %in% TRUE)
  )
}
