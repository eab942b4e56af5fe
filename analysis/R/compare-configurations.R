# SPDX-License-Identifier: BSD-3-Clause
# Compares configurations by their launch summaries: effect, interval, tests and verdict.

#' Compare configurations.
#'
#' Strata are formed by all columns of a configuration except the factor `by`. Within each stratum
#' every pair of levels of `by` is compared, at all sizes that both have.
#'
#' * Pairing: by common blocks, size by size. Configurations without a common block (two tools,
#'   measured one after the other) are compared as independent groups.
#' * Effect: `ratio`, time of a over time of b, over blocks (a trimmed mean of the logarithms).
#'   Under 1, a is faster. `low` and `high` enclose every ratio that the test does not reject.
#' * Test: moderated t statistics, which share information among the sizes of a pair
#'   (`paired_curve()`). A question is one operation over one transport and placement. The false
#'   discovery rate is controlled within a question: `q` is corrected for it, and `family` states
#'   the number of comparisons of the question.
#' * Verdict on a: `faster` or `slower` when the interval excludes 1, that is when `q` is at most
#'   `alpha`; the difference is at least `at_least`. Else `within` when the interval stays within
#'   10 % of 1 (or `delta`, if that is more), namely within `at_most`. Else `not settled`. With
#'   under four blocks it is `not tested`, with a `note`. Configurations without a common session
#'   are not settled, unless each has three sessions: then sessions are compared.
#' * Relevance is a separate column: `relevant` where the interval lies beyond `delta`,
#'   `negligible` where it lies within `delta`, else `open`.
#' * Sessions are a level: `scope` states for which sessions (and nodes) the verdict holds. It is
#'   "over sessions" if the interval of launches within sessions ([ratio_over_sessions()]) gives
#'   the same verdict. The same rule applies to node sets from allocations.
#' * A comparison that is not settled has `more_launches`, the number that would likely settle it.
#'   If sessions differ by more than launches do, it has `more_sessions` instead. The forecast
#'   draws 25 continuations of the study from its own blocks: seven of ten must settle the
#'   comparison.
#'
#' @param summary what [summarise_launches()] returned.
#' @param by factor to compare: `mpi`, `transport`, `placement`, `settings`, `operation`, ...
#' @param ignoring columns of a configuration that may differ too (they follow from `by`).
#' @param delta smallest relative difference of interest.
#' @param alpha false discovery rate of faster and slower within a question.
#' @param refused `"stop"`: an error of class `cotejo_not_comparable` when a pair may not be
#'   compared; `"list"`: leave it out ([refused_pairs()] lists it).
#' @param allowing columns that are known to differ within a pair ([comparable()]).
#' @param also further columns that form strata, as the columns of a configuration do.
#' @param forecast whether to find out what would settle a comparison; a list states for which
#'   comparisons, and what settles them.
#' @return data.table, one row a stratum, pair and size: strata, `bytes`, `a`, `b`; `n_a`, `n_b`
#'   (launches, of common blocks); `left_out` (launches of other blocks); `median_a_s`,
#'   `median_b_s`, `ratio`, `low`, `high`; `confidence` (the level of the interval); `error`
#'   (standard error of the log ratio); `df`, `p` (of the size alone), `q`, `family`; `at_least`,
#'   `at_most` (relative, the ends of the interval); `relevance`, `paired`, `method`,
#'   `cliffs_delta`, `welch_*`; `sessions`, `nodes` (the number of sessions and of node sets);
#'   `session_ratio`, `session_low`, `session_high`, `session_spread`; `nodes_low`, `nodes_high`
#'   (interval over node sets); `scope`, `verdict`, `more_launches`, `more_sessions`, `note`.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' comparison <- compare_configurations(summary)
#' comparison[, c("bytes", "a", "b", "ratio", "low", "high", "verdict")]
#' @export
compare_configurations <- function(summary, by = "mpi", ignoring = character(), delta = 0.03,
                                   alpha = 0.05, refused = c("stop", "list"),
                                   allowing = character(), also = character(),
                                   forecast = TRUE) {
  refused <- match.arg(refused)
  strata <- strata_of(summary, by, ignoring, also)
  need_columns(summary, c(strata, by, "bytes", "median_s", "key", "session"), "the summary")
  compare_pairs(pairs_of(summary, strata, by, allowing), delta, alpha, refused, forecast)
}

# Compare the pairs that `pairs_of()` found.
compare_pairs <- function(pairs, delta = 0.03, alpha = 0.05, refused = "list", forecast = TRUE) {
  odd <- which(lengths(pairs$why) > 0L)
  if (length(odd) && refused == "stop") {
    pair <- pairs$pairs[odd[[1L]]]
    proof <- pairs$why[[odd[[1L]]]]
    refuse(sprintf(
      "%s and %s cannot be compared (%s): %s; measure both with the same placement and transport",
      pair$a, pair$b, toString(unlist(pairs$strata[pair$stratum])), paste(proof, collapse = "; ")
    ), "cotejo_not_comparable", differences = proof)
  }
  good <- setdiff(seq_along(pairs$why), odd)
  found <- curves_of_pairs(pairs, good)
  settle_rows(pairs, good, found, delta, alpha, forecast)
}

# The curve of each pair, from the cache or computed.
#
# A curve depends only on the launches of its two configurations, whichever function needs it.
curves_of_pairs <- function(pairs, good) {
  if (!length(good)) {
    return(list())
  }
  left <- pairs$pairs$left[good]
  right <- pairs$pairs$right[good]
  keys <- if (!is.null(cache_folder())) {
    sums <- character(length(pairs$sides))
    used <- unique(c(left, right))
    sums[used] <- sums_of(pairs$sides[used])
    paste(sums[left], sums[right])
  }
  from_cache(keys, length(good), function(wanted) {
    # One curve takes as long as reading some files.
    unlist(over_cores(wanted, function(part) {
      compare_sides(lapply(part, function(i) pairs$sides[c(left[[i]], right[[i]])]))
    }, 10L * length(wanted)), recursive = FALSE)
  })
}
