# SPDX-License-Identifier: BSD-3-Clause
# The goals of the proof: each goal, the result, and whether the result meets the goal. A goal that
# cannot be judged is not met.

# One goal: `goal` and `shown` in words, `met` (`FALSE` if nothing was found). If the goal is not
# met, `why` is the cause, found by a control.
goal_of <- function(goal, shown, met, why = "") {
  met <- isTRUE(met)
  data.table(goal = goal, shown = shown, met = met, why = if (met) "" else why)
}

# The goal that a share of trials meets: `holds` is a function of the share and its interval. The
# words `none` stand for the share where there are no trials.
goal_of_rate <- function(goal, hit, cluster, holds, none = "no such launches",
                         count = length(hit), why = "") {
  if (!length(hit)) {
    return(goal_of(goal, none, FALSE))
  }
  rate <- share_of_clusters(hit, cluster)
  goal_of(goal, say_rate(rate, count), holds(rate), why)
}

say_rate <- function(rate, count) {
  sprintf("%s [%s, %s] of %s", percent_of(rate[[1L]]), percent_of(rate[[2L]]),
    percent_of(rate[[3L]]), count)
}

# All goals of the proof.
goals_of <- function(proof, criteria = proof_criteria()) {
  rbind(
    goals_of_alarms(proof$alarms, criteria),
    goal_of_few("with launches lost", proof$incomplete, criteria$incomplete,
      criteria$incomplete$design),
    goal_of_few("stopping by the width", proof$stopped, criteria$stopping_real,
      criteria$stopping_real$blocks),
    goal_of_power(proof$between, criteria$power),
    goals_within(proof$within, criteria$power_within),
    goals_expected(proof$expected, criteria$expected, proof$added),
    goal_of_blame(proof$expected, proof$between, criteria$blamed),
    goals_of_simulation(proof, criteria),
    goal_of_repetition(proof$repetition, criteria$repetition)
  )
}

# Goals of false alarms where nothing differs: one per design and time of the launches.
goals_of_alarms <- function(alarms, criteria) {
  most <- criteria$false_alarms
  rbindlist(lapply(names(alarms), function(time) {
    designs <- if (time == "median") most$designs else intersect(most$designs, SHIPPED)
    rbindlist(lapply(designs, function(n) {
      part <- alarms[[time]]
      if (NROW(part)) part <- part[part$design == n]
      goal_of_few(paste0("by the ", time), part, most, n)
    }))
  }))
}

goal_of_few <- function(what, families, most, n) {
  goal_of_rate(
    sprintf(
      "nothing differs, %d launches, %s: called different, upper end under %s (%d families)",
      n, what, percent_of(most$at_most), most$families
    ),
    families$alarm, families$cluster,
    \(rate) nrow(families) >= most$families && rate[[3L]] < most$at_most,
    sprintf("no session has %d blocks", n), count_of(NROW(families), "family", "families")
  )
}

# Between hosts: the share of injected slowdowns that is found.
goal_of_power <- function(trials, criteria) {
  goal_of_rate(
    sprintf(
      "between hosts an injected %s is found in at least %s of comparisons with %d launches",
      say_margin(criteria$share), percent_of(criteria$at_least), criteria$launches
    ),
    trials$verdict_of_slow == "slower", trials$cluster,
    \(rate) rate[[1L]] >= criteria$at_least,
    sprintf("no session between hosts has %d blocks", criteria$launches)
  )
}

# Within a host: sizes at which launches agree well, and the other sizes.
goals_within <- function(trials, criteria) {
  part <- if (NROW(trials)) trials[bytes >= criteria$bytes] else trials
  studies <- if (NROW(part)) uniqueN(part[, c("session", "mpi", "operation", "set")]) else 0L
  what <- sprintf(
    "within a host an injected slowdown of %s from %s on with %d launches, at least %d studies",
    say_margin(criteria$share), format_bytes(criteria$bytes), criteria$launches, criteria$studies
  )
  if (!NROW(part)) {
    return(goal_of(what, "no such launches", FALSE))
  }
  one <- function(which, of, hold) {
    here <- part[which(part), ]
    if (!nrow(here)) {
      return(NULL)
    }
    rate <- share_of_clusters(here$verdict_of_slow == "slower", here$cluster)
    goal_of(
      paste(what, of, sep = ", "), sprintf(
        "%s in %d studies; the report predicts %s", say_rate(rate, nrow(here)), studies,
        percent_of(mean(here$predicted))
      ),
      studies >= criteria$studies && hold(rate[[1L]], mean(here$predicted))
    )
  }
  rbind(
    one(
      function(t) t$variation <= criteria$variation,
      sprintf(
        "is found in at least %s where blocks vary by at most %s", percent_of(criteria$at_least),
        percent_of(criteria$variation)
      ), function(found, predicted) found >= criteria$at_least
    ),
    one(
      function(t) t$variation > criteria$variation,
      sprintf(
        "is found as often as predicted, within %s points, where they vary more",
        format_digits(100 * criteria$points)
      ), function(found, predicted) found >= predicted - criteria$points
    )
  )
}

# Other kinds of injected slowdown: the verdicts that each summary must give and must not give.
goals_expected <- function(trials, expected, added = NULL) {
  rbindlist(lapply(expected, function(row) {
    sizes <- c(if (is.null(row$from)) 0 else row$from, if (is.null(row$to)) Inf else row$to)
    of <- function(table) {
      if (!NROW(table)) {
        return(table)
      }
      table[plant == row$plant & time == row$summary & bytes >= sizes[[1L]] & bytes <= sizes[[2L]]]
    }
    here <- of(trials)
    name <- sprintf(
      "injected slowdown %s, by the %s, %s", row$plant, row$summary,
      size_range(sizes[[1L]], sizes[[2L]])
    )
    rbind(
      if (!is.null(row$verdict)) {
        goal_of_verdict(
          name, here, row$verdict, "in at least", row$at_least, `>=`,
          cause_of_missing(here, of(added))
        )
      },
      goal_of_verdict(name, here, unlist(row$never), "in at most", row$at_most, `<=`)
    )
  }))
}

size_range <- function(from, to) {
  fcase(
    from <= 0 && is.infinite(to), "all sizes",
    is.infinite(to), paste("from", format_bytes(from), "on"),
    from <= 0, paste("up to", format_bytes(to)),
    default = paste(format_bytes(from), "to", format_bytes(to))
  )
}

goal_of_verdict <- function(name, here, verdicts, how, bound, holds, why = "") {
  goal_of_rate(
    sprintf("%s: %s %s %s", name, paste(verdicts, collapse = " or "), how, percent_of(bound)),
    here$verdict_of_slow %in% verdicts, here$cluster, \(rate) holds(rate[[1L]], bound), why = why
  )
}

goal_of_blame <- function(expected, between, criteria) {
  trials <- rbind(
    if (NROW(expected)) expected[, c("verdict_of_slow", "cluster")],
    if (NROW(between)) between[, c("verdict_of_slow", "cluster")]
  )
  blamed <- trials$verdict_of_slow == "faster"
  goal_of_rate(
    sprintf(
      "a name without injected slowdown is called slower than one with it, upper end at most %s",
      percent_of(criteria$at_most)
    ),
    blamed, trials$cluster, \(rate) rate[[3L]] <= criteria$at_most,
    why = if (any(blamed)) "" else cause_of_few(uniqueN(trials$cluster), criteria$at_most)
  )
}

# Simulated launches: coverage, stopping and false alarms.
goals_of_simulation <- function(proof, criteria) {
  judged <- proof$coverage
  off <- judged[, pmax(0, abs(coverage - level) - (high - low) / 2)]
  under <- proof$stopping[, pmax(0, level - coverage - (high - low) / 2)]
  alarms <- pooled_alarms(judged)
  points <- function(x) format_digits(100 * x)
  rbind(
    goal_of(
      "simulated: intervals cover within 2 points of their level, in each design and kind",
      sprintf(
        "%s to %s points off; %s", points(min(judged$coverage - judged$level)),
        points(max(judged$coverage - judged$level)),
        say_cell(judged[which.max(abs(judged$coverage - judged$level)), ])
      ), all(off <= criteria$coverage$within),
      cause_of_wide(judged[off > criteria$coverage$within, ], nrow(judged))
    ),
    goal_of(
      "simulated: intervals of studies that stop by their width cover within 2 points",
      sprintf("%s points under at most", points(max(0, proof$stopping[, level - coverage]))),
      all(under <= criteria$stopping$within)
    ),
    goal_of(
      sprintf(
        "simulated: nothing differs: called different, upper end under %s over all designs",
        percent_of(criteria$false_alarms_simulated$at_most)
      ),
      say_rate(alarms, count_of(sum(judged$studies), "family", "families")),
      alarms[[3L]] < criteria$false_alarms_simulated$at_most
    )
  )
}

# A cell of the simulated coverage, with its control: how often the test rejects the truth. The
# level of the test allows some of these cases.
say_cell <- function(cell) {
  sprintf(
    "furthest: %s, %d blocks%s: %s hold the truth, %s is said; the truth itself is rejected in %s",
    cell$kind, cell$blocks, if (cell$lost > 0) sprintf(", %d lost", cell$lost) else "",
    percent_of(cell$coverage), percent_of(cell$level), percent_of(cell$alarms)
  )
}

goal_of_repetition <- function(repetition, criteria) {
  agree <- repetition$agree
  goal_of(
    sprintf("verdicts that two sessions both reach agree in at least %s", percent_of(
      criteria$agree
    )),
    if (length(agree)) {
      sprintf("%d of %d", sum(agree), length(agree))
    } else {
      "one session: run make proof again on another day"
    },
    length(agree) > 0L && mean(agree) >= criteria$agree
  )
}
