# SPDX-License-Identifier: BSD-3-Clause
# Launch summaries -> comparisons of configurations, with effect, interval, tests and verdict.

#' Compare configurations.
#'
#' Within each stratum (all that makes a configuration but the factor `by`) every pair of levels
#' of `by` is compared, at all sizes that both have.
#'
#' * Pairing: by the blocks that both sides have, size by size. Sides without a common block
#'   (two tools, measured one after the other) are compared as independent ones.
#' * Effect: `ratio`, time of a over time of b, over blocks (a trimmed mean of the logarithms).
#'   Under 1, a is faster. `low` and `high` hold every ratio that the test does not reject.
#' * Test: moderated t statistics, which borrow strength over the sizes of a pair
#'   (`paired_curve()`). The false discovery rate is controlled within a question, that is one
#'   operation over one transport and placement; `q` is corrected so, `family` states how many
#'   comparisons the question has.
#' * Verdict, said of a: `faster` or `slower` when the interval excludes 1, which is when `q` is at
#'   most `alpha`, by at least `at_least`; else `within` when the interval reaches no further than
#'   10 % (or `delta`, where that is more) from 1, namely to `at_most`; else `not settled`. With
#'   under four blocks it is `not tested`, and a `note` says so. Sides that share no session only
#'   `differ`, unless each has three: then sessions are compared.
#' * Relevance is a column of its own: `relevant` where the interval lies beyond `delta`,
#'   `negligible` where it lies within `delta`, else `open`.
#' * Sessions are a level: `scope` says for which sessions (and nodes) the verdict holds, which is
#'   "over sessions" where the interval of launches within sessions ([ratio_over_sessions()])
#'   gives the same one; so for the node sets that allocations gave.
#' * A comparison that is not settled has `more_launches` or, where sessions differ by more than
#'   launches do, `more_sessions` that would likely settle it: of 25 continuations of the study,
#'   drawn from its own blocks and judged by this procedure, seven of ten settle it.
#'
#' @param summary what [summarise_launches()] returned.
#' @param by factor to compare: `mpi`, `transport`, `placement`, `settings`, `operation`, ...
#' @param ignoring columns of a configuration that may differ too (they follow from `by`).
#' @param delta smallest relative difference of interest.
#' @param alpha false discovery rate of faster and slower within a question.
#' @param refused `"stop"`: an error of class `cotejo_not_comparable` when a pair may not be
#'   compared; `"list"`: leave it out ([refused_pairs()] lists it).
#' @param allowing columns that are known to differ between the sides ([comparable()]).
#' @param also further columns that are held apart as those of a configuration are.
#' @param forecast whether to find out what would settle a comparison.
#' @return data.table, one row a stratum, pair and size: strata, `bytes`, `a`, `b`, `n_a`, `n_b`
#'   (launches, of blocks that both sides have), `left_out` (launches of other blocks),
#'   `median_a_s`, `median_b_s`, `ratio`, `low`, `high`, `confidence` (the level of the interval),
#'   `error` (standard error of the log ratio), `df`, `p` (of the size alone), `q`, `family`,
#'   `at_least`, `at_most` (relative, the ends of the interval), `relevance`, `paired`, `method`,
#'   `cliffs_delta`, `welch_*`, `sessions`, `nodes` (numbers of
#'   them: sets of them), `session_ratio`, `session_low`, `session_high`, `session_spread`,
#'   `nodes_low`, `nodes_high` (interval over node sets), `scope`, `verdict`,
#'   `more_launches`, `more_sessions`, `note`.
#' @export
compare_configurations <- function(summary, by = "mpi", ignoring = character(), delta = 0.03,
                                   alpha = 0.05, refused = c("stop", "list"),
                                   allowing = character(), also = character(),
                                   forecast = TRUE) {
  refused <- match.arg(refused)
  strata <- strata_of(summary, by, ignoring, also)
  need_columns(summary, c(strata, by, "bytes", "median_s", "key", "session"), "the summary")
  compare_pairs(
    pairs_of(summary, strata, by, ignoring = ignoring, allowing = allowing), delta, alpha, refused,
    forecast
  )
}

#' Compare the pairs that [pairs_of()] found.
#' @noRd
compare_pairs <- function(pairs, delta = 0.03, alpha = 0.05, refused = "list", forecast = TRUE) {
  odd <- which(lengths(pairs$why) > 0L)
  if (length(odd) && refused == "stop") {
    pair <- pairs$pairs[odd[[1L]]]
    stop_not_comparable(
      c(pair$a, pair$b), pairs$strata[pair$stratum], pairs$why[[odd[[1L]]]]
    )
  }
  good <- setdiff(seq_along(pairs$why), odd)
  found <- curves_of_pairs(pairs, good)
  settle_rows(pairs, good, found, delta, alpha, forecast)
}

#' The curve of each pair, from the cache or made.
#'
#' A curve is made from the launches of the two sides alone, whatever asks for it.
#' @noRd
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
    # A curve takes as long as some files.
    unlist(over_cores(wanted, function(part) {
      compare_sides(lapply(part, function(i) pairs$sides[c(left[[i]], right[[i]])]))
    }, 10L * length(wanted)), recursive = FALSE)
  })
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
#' @keywords internal
agree_tools <- function(summary, ours = "pingpong", theirs = "imb-pingpong", ...) {
  both <- summary[summary$operation %in% c(ours, theirs)]
  tool <- c("experiment", "test", "parameters")
  compare_configurations(both, by = "operation", ignoring = tool, ...)
}
