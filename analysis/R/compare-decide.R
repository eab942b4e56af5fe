# SPDX-License-Identifier: BSD-3-Clause
# Estimates how many launches or sessions would likely settle a comparison. Continues the study by
# resampling and judges the result by the procedure itself.

# Nobody should measure more launches than this for one verdict.
MOST_LAUNCHES <- 200L
# A comparison without a direction counts as settled if its interval stays within 10 %.
WITHIN_MOST <- 0.10
# Number of continuations of a study that are drawn for each number of launches.
CONTINUATIONS <- 25L
# Share of the continuations that must settle a comparison. Unsettled comparisons overestimate
# their spread on average: with 70 %, four of five settle (`make bench PART=answers`).
LIKELY <- 0.7

# Whether estimates and errors settle a comparison, by a direction or by a bound.
settles <- function(tests, level, most) {
  reach <- stats::qt(1 - level / 2, tests$df) * tests$error
  abs(tests$effect) > reach | abs(tests$effect) + reach <= log1p(most)
}

# Comparisons with a forecast: `open`, a function of the rows; `settled`, as [settles()].
FORECAST <- list(open = function(rows) rows$verdict == "not settled", settled = settles)

#' Draw further blocks of a study from its existing blocks.
#'
#' The existing blocks are a sample themselves. So each continuation first draws a population from
#' them, and then draws its blocks from the population.
#' @param n number of existing blocks, or sessions; `add`, the number to be added.
#' @return numbers of blocks: the existing blocks and the drawn blocks.
#' @noRd
continued <- function(n, add) {
  population <- sample.int(n, n, replace = TRUE)
  c(seq_len(n), population[sample.int(n, add, replace = TRUE)])
}

#' Additional launches of each configuration, or sessions, that would likely settle sizes.
#'
#' @param n existing units.
#' @param test function of the number of added units: the tests of `CONTINUATIONS` continuations
#'   one behind another, as [test_columns()] returns them.
#' @param open numbers of the sizes that are not settled.
#' @param level level at which each of these sizes is judged (`1 - confidence`).
#' @param most bound within which a comparison without a direction is settled.
#' @param settled function of tests, `level` and `most` as [settles()].
#' @return number of units to add, at least 1; `Inf` beyond `MOST_LAUNCHES`.
#' @noRd
units_to_settle <- function(n, test, open, level, most, settled = settles) {
  more <- rep(Inf, length(open))
  before <- list(add = 0, share = rep(0, length(open)))
  add <- max(1L, n %/% 4L)
  left <- rep(TRUE, length(open))
  while (any(left) && before$add < MOST_LAUNCHES) {
    add <- min(add, MOST_LAUNCHES)
    tests <- lapply(test(add), function(column) matrix(column, ncol = CONTINUATIONS)[open, ])
    share <- rowMeans(matrix(settled(tests, level, most), length(open)))
    reached <- left & share >= LIKELY
    # Interpolate between the two tried numbers.
    part <- (LIKELY - before$share) / (share - before$share)
    found <- ceiling(before$add + part * (add - before$add))
    more[reached] <- pmax(1, found[reached])
    left <- left & !reached
    before <- list(add = add, share = share)
    add <- 2L * add
  }
  more
}

#' Launches of the same sessions, or further sessions, that would settle the open sizes of a pair.
#'
#' Complete sessions are drawn if sessions differ too much: then more launches of the same sessions
#' would leave the comparison open.
#'
#' @param one what [describe_pair()] returned.
#' @param rows rows of the comparison for this pair that are not settled.
#' @param settled as for [units_to_settle()].
#' @return list: `launches`, `sessions`, each a number a row.
#' @noRd
forecast_pair <- function(one, rows, most, settled) {
  over <- one$method == OVER_SESSIONS
  # The sizes that are tested, selected as in `curves_of()`.
  tested <- pmin(one$rows$n_a, one$rows$n_b) >= LEAST_BLOCKS
  open <- match(rows$bytes, one$sizes[tested | over])
  level <- 1 - rows$confidence
  out <- list(launches = rep(NA_real_, nrow(rows)), sessions = rep(NA_real_, nrow(rows)))
  if (over || !one$paired) {
    sides <- if (over) one$means else lapply(one$both, \(side) side[, tested, drop = FALSE])
    out[[if (over) "sessions" else "launches"]] <- units_to_settle(
      min(vapply(sides, nrow, 0L)), continue_sides(sides), open, level, most, settled
    )
    return(out)
  }
  d <- (one$both$a - one$both$b)[, tested, drop = FALSE]
  numbers <- seq_len(nrow(d))
  units <- list(
    launches = as.list(numbers), sessions = split(numbers, sub(" [^ ]*$", "", one$blocks))
  )
  between <- pmin(fcoalesce(log1p(rows$session_spread)^2, 0), rows$error^2 * rows$n_a)
  left <- sqrt(between / length(units$sessions))
  lacking <- length(units$sessions) > 1L &
    !settled(list(effect = log(rows$ratio), error = left, df = rows$df), level, most)
  for (unit in names(units)) {
    here <- lacking == (unit == "sessions")
    if (any(here)) {
      out[[unit]][here] <- units_to_settle(
        length(units[[unit]]), continue_blocks(d, units[[unit]]), open[here], level[here], most,
        settled
      )
    }
  }
  out
}

# The tests of continuations. A drawn block counts several times, and is not repeated.
continue_blocks <- function(d, units = as.list(seq_len(nrow(d)))) {
  of <- rep(seq_len(CONTINUATIONS), each = ncol(d))
  unit <- rep(seq_along(units), lengths(units))[order(unlist(units))]
  function(add) {
    drawn <- replicate(CONTINUATIONS, tabulate(continued(length(units), add), length(units))[unit])
    test_columns(for_continuations(d), of, drawn[, of])
  }
}

continue_sides <- function(sides) {
  of <- rep(seq_len(CONTINUATIONS), each = ncol(sides[[1L]]))
  both <- unname(lapply(sides, for_continuations))
  function(add) {
    drawn <- lapply(seq_len(CONTINUATIONS), function(i) {
      lapply(sides, \(x) tabulate(continued(nrow(x), add), nrow(x)))
    })
    test_independent(both[[1L]], both[[2L]], of, lapply(1:2, function(k) {
      vapply(drawn, `[[`, integer(nrow(sides[[k]])), k)[, of]
    }))
  }
}

for_continuations <- function(x) x[, rep(seq_len(ncol(x)), CONTINUATIONS), drop = FALSE]

#' Launches and sessions that would settle the open rows of a comparison. The random numbers are
#' the same in each call.
#'
#' @param sides function of a row's `pair`: its two configurations.
#' @param rows rows that are not settled, with the number of their `pair`.
#' @noRd
more_to_decide <- function(sides, rows, most, settled) {
  at <- split(seq_len(nrow(rows)), rows$pair)
  found <- over_cores(at, function(part) {
    lapply(part, function(here) {
      two <- sides(rows$pair[[here[[1L]]]])
      one <- add_rows(list(describe_pair(two[[1L]], two[[2L]])))[[1L]]
      with_seed(1L, forecast_pair(one, rows[here], most, settled))
    })
  }, 10L * length(at))
  none <- list(launches = numeric(), sessions = numeric())
  found <- rbindlist(c(list(none), unlist(found, recursive = FALSE)))
  unname(as.list(found[order(unlist(at))]))
}
