# SPDX-License-Identifier: BSD-3-Clause
# Which configuration leads at each size: from the verdicts of the question, and from nothing else.

#' Which configuration is faster than every other, at each size of each stratum.
#'
#' A configuration is named where the verdict of each of its comparisons says that it is faster,
#' and none of these differences is negligible.
#' There is no further correction: the verdicts hold at the false discovery rate of their question
#' ([compare_configurations()]), so that other questions take no winner away.
#'
#' @param comparison what [compare_configurations()] returned.
#' @return data.table, a row a stratum and size: strata, `bytes`, `winner` (empty: none is faster
#'   than every other).
#' @export
fastest_of <- function(comparison) {
  place <- c(strata_in(comparison), "bytes")
  groups <- comparison[, list(row = .I), by = place]
  groups[, group := .GRP, by = place]
  of <- groups$group[order(groups$row)]
  wins <- data.table(
    group = c(of, of), side = c(comparison$a, comparison$b),
    won = c(comparison$verdict == "faster", comparison$verdict == "slower") &
      !rep(comparison$relevance %in% "negligible", 2L)
  )
  wins <- wins[, list(all = all(won)), by = c("group", "side")][all == TRUE]
  out <- unique(groups[, c(place, "group"), with = FALSE])
  out[, winner := fcoalesce(wins$side[match(group, wins$group)], "")]
  out[, group := NULL]
  setkeyv(out, place)
  out[]
}

#' The columns of a comparison that tell its strata apart.
#' @noRd
strata_in <- function(comparison) names(comparison)[seq_len(match("a", names(comparison)) - 1L)]
