# SPDX-License-Identifier: BSD-3-Clause
# The trials of the proof on real launches, which need nothing of each other.

#' What functions return, each called in a process of its own: they share nothing but what is read,
#' and so keep all cores busy to the end, with what one process alone can do as well.
#' @noRd
do_all <- function(tasks) stats::setNames(in_forks(tasks, \(task) task()), base::names(tasks))

#' All trials on real launches that the criteria ask for.
#' @noRd
trials_of <- function(summary, names, criteria) {
  trials_from(do_all(trials_on(summary, names, criteria)))
}

#' The same trials to be called, each by itself: of what does not differ, by time and design, with
#' launches lost, and stopping by the width; of what was planted.
#' @noRd
trials_on <- function(summary, names, criteria) {
  aliases <- summary$parameter_alias
  summary <- narrow(summary)
  set(summary, j = "parameter_alias", value = aliases)
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

# Times of a launch by which nothing may be called different where nothing differs.
ALARM_TIMES <- c("median", "undisturbed time", "p95")

#' The trials as the page has them, of what the functions of [trials_on()] returned.
#' @noRd
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

#' Names with something planted against those with nothing, on disjoint sets of blocks.
#'
#' @return comparisons with `plant`; `verdict_of_slow`, said of the planted side; `variation`, the
#'   standard deviation of the blocks' log ratios as the interval has it; and the power that
#'   the report predicts for so large a plant (`NA`: it is no share of the time).
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
  # The criteria call it so where a relevant difference is excluded.
  found[verdict == "within" & relevance == "negligible", verdict_of_slow := "equivalent"]
  found[, variation := error * sqrt(pmin(n_a, n_b))]
  share <- suppressWarnings(as.numeric(found$plant))
  found[, predicted := power_of_test(log1p(share), error, df, 1 - confidence)]
  found[]
}
