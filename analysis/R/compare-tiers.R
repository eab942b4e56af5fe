# SPDX-License-Identifier: BSD-3-Clause
# Turns the verdicts of all pairs into tiers: a partial order of the configurations of a question.

#' Configurations in tiers, at each size of each stratum.
#'
#' The verdicts order the configurations. A configuration is ahead of another when it is faster and
#' the difference is not negligible. No configuration is ahead of a member of the first tier. Only
#' members of the first tier are ahead of members of the second tier, and so on. Configurations of
#' one tier are not ordered: they are within a bound of each other, or not settled.
#' There is no further correction. The verdicts hold at the false discovery rate of their question
#' ([compare_configurations()]), so that other questions do not change the tiers.
#'
#' @param comparison what [compare_configurations()] returned.
#' @return `tiers_of()`: data.table, a row a stratum, size and configuration: strata, `bytes`,
#'   `configuration`, `tier` (`NA`: not tested against any other).
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' comparison <- compare_configurations(summary)
#' tiers_of(comparison)
#' fastest_of(comparison)
#' @export
tiers_of <- function(comparison) {
  place <- c(strata_in(comparison), "bytes")
  group <- number_of(comparison, place)
  n <- nrow(comparison)
  names <- c(comparison$a, comparison$b)
  at <- number_of(list(group = c(group, group), name = names), c("group", "name"))
  first <- which(!duplicated(at))
  of <- c(group, group)[first]
  tested <- tabulate(at[rep(!comparison$verdict %in% UNTESTED, 2L)], length(first)) > 0L
  ahead <- comparison$verdict %in% DIRECTIONS & !comparison$relevance %in% "negligible"
  faster <- comparison$verdict == "faster"
  won <- fifelse(faster, at[seq_len(n)], at[n + seq_len(n)])[ahead]
  lost <- fifelse(faster, at[n + seq_len(n)], at[seq_len(n)])[ahead]
  tier <- rep(NA_integer_, length(first))
  open <- tested
  for (level in seq_len(length(first))) {
    if (!any(open)) break
    beaten <- seq_along(open) %in% lost[open[won] & open[lost]]
    taken <- open & !beaten
    # Verdicts in a circle give no order, so that all open configurations share the tier.
    taken <- taken | open & !of %in% of[taken]
    tier[taken] <- level
    open <- open & !taken
  }
  out <- comparison[(first - 1L) %% n + 1L, place, with = FALSE]
  set(out, j = c("configuration", "tier"), value = list(names[first], tier))
  setorderv(out, c(place, "tier", "configuration"), na.last = TRUE)
  out[]
}

# Verdicts of comparisons without a test.
UNTESTED <- "not tested"

#' @return `fastest_of()`: data.table, a row a stratum and size: strata, `bytes`, `winner` (the
#'   only configuration of the first tier, faster than every other; empty if there are several, or
#'   if one was not tested), `candidates` (configurations that can be the fastest if there is no
#'   winner, separated by commas; empty if all can).
#' @rdname tiers_of
#' @export
fastest_of <- function(comparison) {
  tiers <- tiers_of(comparison)
  tiers[, {
    can <- tier %in% c(1L, NA)
    some <- sum(can) > 1L && !all(can)
    list(
      winner = if (sum(can) == 1L && .N > 1L) configuration[tier %in% 1L] else "",
      candidates = if (some) paste(configuration[can], collapse = ",") else ""
    )
  }, keyby = c(strata_in(comparison), "bytes")]
}
