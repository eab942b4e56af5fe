# SPDX-License-Identifier: BSD-3-Clause
# Explains why an injected slowdown was not found: controls with the same launches, undisturbed.

# The factors on the times of launches under an injected slowdown, as a function of the number of
# launches. `NULL` for a slowdown whose size is not known beforehand.
#
# `plant` is the text of COTEJO_SLOW: a share of the time; `launch:P:SHARE`, every launch with
# probability P; `levels:P:SHARE`, where the slowest samples show the upper level.
times_planted <- function(plant) {
  parts <- strsplit(plant, ":", fixed = TRUE)[[1L]]
  numbers <- suppressWarnings(as.numeric(parts))
  share <- numbers[[length(numbers)]]
  if (parts[[1L]] == "launch") {
    function(n) 1 + share * (stats::runif(n) < numbers[[2L]])
  } else if (parts[[1L]] == "levels" || length(parts) == 1L && !is.na(share)) {
    function(n) rep(1 + share, n)
  }
}

# Slow down launches numerically: of two undisturbed names, multiplies the times of the first.
plant_in_numbers <- function(plant, seed = 1L) {
  times <- times_planted(plant)
  function(summary) {
    slow <- min(summary$parameter_alias)
    keys <- sort(unique(summary$key[summary$parameter_alias == slow]), method = "radix")
    drawn <- with_seed(seed + sum(utf8ToInt(keys[[1L]])) %% 10000L, times(length(keys)))
    at <- match(summary$key, keys)
    copy(summary)[, median_s := median_s * fifelse(is.na(at), 1, drawn[at])]
  }
}

#' How often the expected verdict is found if the slowdown is added numerically to undisturbed
#' launches. The result shows the effect of noise alone.
#'
#' @param summary launches within a host.
#' @param criteria the criteria for injected slowdowns.
#' @return data.table: `plant`, `time`, `bytes`, `verdict` (on the slowed configuration),
#'   `variation` of the blocks.
#' @noRd
added_trials <- function(summary, names, criteria) {
  wanted <- Filter(function(row) identical(row$verdict, "slower"), criteria)
  wanted <- unique(rbindlist(lapply(wanted, `[`, c("plant", "summary"))))
  wanted <- wanted[!vapply(lapply(plant, times_planted), is.null, NA)]
  rbindlist(lapply(seq_len(nrow(wanted)), function(i) {
    # Only the same tests, since their operations and sizes are those of the injected slowdown.
    tests <- names$test[names$plant == wanted$plant[[i]]]
    found <- compare_sets(
      by_time(summary, wanted$summary[[i]]), names[names$test %in% tests], max(SHIPPED),
      equal_pairs, plant_in_numbers(wanted$plant[[i]])
    )
    if (nrow(found)) {
      found[, list(
        plant = wanted$plant[[i]], time = wanted$summary[[i]], bytes, verdict,
        variation = error * sqrt(pmin(n_a, n_b))
      )]
    }
  }))
}

#' The reason why an injected slowdown was not found, in words.
#'
#' @param here trials with this slowdown ([planted_trials()]).
#' @param added rows of [added_trials()] with the same slowdown, time and sizes.
#' @noRd
cause_of_missing <- function(here, added) {
  known <- here$predicted[is.finite(here$predicted)]
  paste(c(
    sprintf("blocks vary by %s (median)", percent_of(stats::median(here$variation))),
    if (length(known)) sprintf("the report predicts %s from that", percent_of(mean(known))),
    if (NROW(added)) {
      sprintf(
        "added to the times of launches without injected slowdown, it is found in %s of %s",
        percent_of(mean(added$verdict == "slower")),
        count_of(nrow(added), "comparison", "comparisons")
      )
    }
  ), collapse = "; ")
}

# The reason why an upper bound is too high although nothing was found, in words.
cause_of_few <- function(clusters, at_most) {
  sprintf(
    paste(
      "comparisons of the same launches count as one: there are %d such clusters, and with none",
      "found the upper end of so many is %s; %d would be needed"
    ),
    clusters, percent_of(1 - 0.025^(1 / clusters)), ceiling(log(0.025) / log1p(-at_most))
  )
}

#' The reason why intervals of simulated studies contain the truth more often than their level, in
#' words. Says nothing about intervals that contain it less often.
#'
#' @param off rows of [prove_coverage()] that are too far from their level.
#' @noRd
cause_of_wide <- function(off, cells) {
  exact <- off$alarms_low <= 1 - off$level & 1 - off$level <= off$alarms_high
  if (!all(off$coverage > off$level & exact)) {
    return("")
  }
  sprintf(
    paste(
      "%d of %d cells; the intervals are wider there than their level needs. The tests keep their",
      "level: of two equal libraries, %s of the studies call any size different"
    ),
    nrow(off), cells, percent_of(off$alarms[[1L]])
  )
}

# Launches of each configuration in a quick and in a full study.
SHIPPED <- c(10L, 30L)
