# SPDX-License-Identifier: BSD-3-Clause
# Tests of non-inferiority: whether an upgrade made anything slower.

#' Judge an upgrade by judging each question.
#'
#' A question is one operation of one library, over one transport and placement, at all sizes. Its
#' worst slowdown is the largest upper limit (one-sided, 95 %) of the ratio of times over the
#' sizes. The largest of such limits is itself an upper limit of the largest ratio
#' (intersection-union test), so no correction for the number of sizes or questions is needed.
#'
#' @param found what [compare_folders()] returned.
#' @param delta largest relative slowdown that is accepted.
#' @return data.table, one row a question, the worst first: its factors; `n` (the smaller number of
#'   launches before and after); `ratio` (time after / time before) and `bytes` of the size with
#'   the largest upper limit; `low` and `worst` (its limits, one-sided); `status` (`slower`: at
#'   some size the interval lies above `delta`; `not slower`: every upper limit is at most `delta`;
#'   else `not settled`); `more` (launches to add both before and after that would likely settle
#'   it; `NA`: sessions are needed).
#' @references Berger 1982, Technometrics 24 (intersection-union tests).
#' @export
judge_upgrade <- function(found, delta = 0.03) {
  rows <- copy(found[verdict != "not tested" & is.finite(error)])
  if (!nrow(rows)) {
    return(data.table())
  }
  reach <- exp(stats::qt(0.95, rows$df) * rows$error)
  rows[, c("low", "worst") := list(ratio / reach, ratio * reach)]
  by_day <- rows$verdict == "differ"
  slower <- !by_day & rows$verdict == "slower" & rows$relevance == "relevant"
  rows[, slower := slower]
  rows[, open := worst - 1 > delta & !slower]
  # If the sessions differ, more launches of the same sessions settle nothing.
  rows[, more := fifelse(by_day, NA_real_, fifelse(
    open, launches_to_exclude(ratio, error, pmin(n_a, n_b), delta), 0
  ))]
  rows[, n := pmin(n_a, n_b)]
  question <- setdiff(strata_in(found), "bytes")
  out <- rows[order(-worst), list(
    n = min(n), bytes = bytes[[1L]], ratio = ratio[[1L]], low = low[[1L]], worst = worst[[1L]],
    status = if (any(slower)) "slower" else if (any(open)) "not settled" else "not slower",
    more = max(more[open], 0)
  ), by = question]
  out[order(match(status, c("slower", "not settled", "not slower")), -worst)]
}

#' Launches to add both before and after until a slowdown above `delta` is likely excluded or
#' shown.
#' @noRd
launches_to_exclude <- function(ratio, error, n, delta, power = 0.8) {
  wanted <- abs(log1p(delta) - log(ratio)) / (stats::qnorm(0.95) + stats::qnorm(power))
  pmax(1, ceiling(n * ((error / wanted)^2 - 1)))
}
