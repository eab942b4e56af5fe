# SPDX-License-Identifier: BSD-3-Clause
# The trials of the proof on real launches; no trial depends on another.

# Results of functions, each called in a process of its own. The processes share only the data, so
# that all cores stay busy to the end. A single process gives the same results.
do_all <- function(tasks) stats::setNames(in_forks(tasks, \(task) task()), base::names(tasks))

# All trials on real launches that the criteria require, as functions: equal configurations, by
# time and design, with lost launches, and with stopping by the width; and configurations with an
# injected slowdown.
trials_on <- function(summary, names, criteria) {
  summary <- narrow(summary, "parameter_alias")
  lost <- criteria$incomplete
  within <- criteria$power_within
  on_host <- keep_rows(summary, which(summary$hosts == 1L))
  plants <- unique(vapply(criteria$expected, `[[`, "", "plant"))
  c(
    list(stopped = \() stop_families(
      summary, names, criteria$stopping_real$blocks, criteria$stopping_real$until
    )),
    unlist(lapply(ALARM_TIMES, function(time) {
      designs <- criteria$false_alarms$designs
      if (time != "median") designs <- intersect(designs, SHIPPED)
      calls <- lapply(designs, function(n) {
        function() {
          found <- alarms_of(compare_sets(by_time(summary, time), names, n, equal_pairs))
          if (nrow(found)) cbind(time_of_launch = time, found) else found
        }
      })
      stats::setNames(calls, rep("alarms", length(calls)))
    }), recursive = FALSE),
    list(
      incomplete = \() alarms_of(compare_sets(
        summary, names, lost$design, equal_pairs, lose_launches(lost$lost)
      )),
      between = \() planted_trials(
        keep_rows(summary, which(summary$hosts > 1L)), names,
        format(criteria$power$share), criteria$power$launches
      ),
      within = \() planted_trials(on_host, names, format(within$share), within$launches),
      expected = \() rbindlist(lapply(c("median", "p95"), function(time) {
        found <- planted_trials(by_time(on_host, time), names, plants, max(SHIPPED))
        if (nrow(found)) cbind(time = time, found)
      })),
      added = \() added_trials(on_host, names, criteria$expected)
    )
  )
}

# Times of a launch for which equal configurations must not be called different.
ALARM_TIMES <- c("median", "undisturbed time", "p95")

# The trials in the form that the page uses, from the results of the functions of `trials_on()`.
trials_from <- function(done) {
  found <- rbindlist(unname(done[base::names(done) == "alarms"]), fill = TRUE)
  alarms <- lapply(stats::setNames(nm = ALARM_TIMES), function(time) {
    if (nrow(found)) found[found$time_of_launch == time, !"time_of_launch"] else found
  })
  c(
    list(alarms = alarms),
    done[c("incomplete", "stopped", "between", "within", "expected", "added")]
  )
}

#' Names with an injected slowdown against names without, on disjoint sets of blocks.
#'
#' @return comparisons with `plant`; `verdict_of_slow`, the verdict on the slowed configuration;
#'   `variation`, the standard deviation of the blocks' log ratios as used by the interval; and the
#'   power that the report predicts for the slowdown (`NA`: the slowdown is no share of the time).
#' @noRd
planted_trials <- function(summary, names, plants, n) {
  found <- compare_sets(summary, names, n, pairs_with(plants))
  if (!nrow(found)) {
    return(found)
  }
  found[, plant := fifelse(plant_a == NO_PLANT, plant_b, plant_a)]
  other <- c(faster = "slower", slower = "faster")
  found[, verdict_of_slow := fifelse(
    plant_b == NO_PLANT | !verdict %in% base::names(other), verdict, other[verdict]
  )]
  # In the criteria, "within the margin" means that a relevant difference is excluded.
  found[verdict == "within" & relevance == "negligible", verdict_of_slow := "within the margin"]
  found[, variation := error * sqrt(pmin(n_a, n_b))]
  share <- suppressWarnings(as.numeric(found$plant))
  found[, predicted := power_of_test(log1p(share), error, df, 1 - confidence)]
  found[]
}

# The power of a two-sided test to find a log ratio.
power_of_test <- function(effect, error, df, level = ALPHA) {
  reach <- stats::qt(1 - level / 2, df)
  stats::pnorm(abs(effect) / error - reach) + stats::pnorm(-abs(effect) / error - reach)
}
