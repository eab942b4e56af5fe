# SPDX-License-Identifier: BSD-3-Clause
# Tests of non-inferiority: whether an upgrade made anything slower.

#' @details [judge_upgrade()] judges each question: one operation of one library, over one
#' transport and placement, at all sizes. Its worst slowdown is the largest upper limit (one-sided,
#' 95 %) of the ratio of times over the sizes. The largest of such limits is itself an upper limit
#' of the largest ratio (intersection-union test), so no correction for the number of sizes or
#' questions is needed.
#'
#' @param found what [compare_folders()] returned.
#' @return `judge_upgrade()`: data.table, one row a question, the worst first: its factors; `n`
#'   (the smaller number of launches before and after); `ratio` (time after / time before) and
#'   `bytes` of the size with the largest upper limit; `low` and `worst` (its limits, one-sided);
#'   `status` (`slower`: at some size the interval lies above `delta`; `not slower`: every upper
#'   limit is at most `delta`; else `not settled`); `over_all` (whether it is slower in a statement
#'   over all questions, too); `more`, `more_sessions` (launches or sessions to add both before and
#'   after that would likely settle it; both `NA`: the sessions differ).
#' @references Berger 1982, Technometrics 24 (intersection-union tests).
#' @rdname compare_folders
#' @export
judge_upgrade <- function(found, delta = 0.03) {
  rows <- if (nrow(found)) {
    copy(found)[, over_all := over_questions(found)][verdict != "not tested" & is.finite(error)]
  }
  if (!NROW(rows)) {
    return(data.table())
  }
  by_day <- by_sessions(rows)
  reach <- exp(stats::qt(0.95, rows$df) * rows$error)
  rows[, c("low", "worst") := list(ratio / reach, ratio * reach)]
  rows[, slower := !by_day & verdict == "slower" & relevance == "relevant"]
  rows[, open := worst - 1 > delta & !slower]
  rows[, n := pmin(n_a, n_b)]
  question <- setdiff(strata_in(found), "bytes")
  out <- rows[order(-worst), list(
    n = min(n), bytes = bytes[[1L]], ratio = ratio[[1L]], low = low[[1L]], worst = worst[[1L]],
    status = if (any(slower)) "slower" else if (any(open)) "not settled" else "not slower",
    over_all = any(slower & over_all),
    # If the sessions differ, more launches of the same sessions settle nothing: the result is NA.
    more = max(0, more_launches[open]), more_sessions = max(0, more_sessions[open])
  ), by = question]
  out[order(match(status, c("slower", "not settled", "not slower")), -worst)]
}

# The forecast of launches or sessions until a slowdown above `delta` is likely excluded or shown.
forecast_upgrade <- function(delta) {
  most <- log1p(delta)
  list(
    open = function(rows) {
      rows$verdict %in% c("not settled", "within", "slower") & !rows$relevance %in% "relevant" &
        log(rows$ratio) + stats::qt(0.95, rows$df) * rows$error > most
    },
    settled = function(tests, level, ...) {
      tests$effect + stats::qt(0.95, tests$df) * tests$error <= most |
        tests$effect - stats::qt(1 - level / 2, tests$df) * tests$error >= most
    }
  )
}
