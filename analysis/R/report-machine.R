# SPDX-License-Identifier: BSD-3-Clause
# Properties of the machine that may distort a comparison, and disturbances of the ranks.

#' Traps that the launches found, the most frequent first.
#'
#' @param used launches.
#' @return one row per trap and cure: `trap`, `cure`, `found` (by the first launch with the trap),
#'   `n` launches with the trap, out of `of` launches that looked for traps.
#' @noRd
traps_found <- function(used) {
  texts <- used$traps[!is.na(used$traps)]
  parts <- split_entries(texts, TRAP_MEMBERS)
  if (!nrow(parts)) {
    return(data.table(trap = character(), cure = character(), found = character(), n = integer()))
  }
  out <- parts[, list(found = found[[1L]], n = .N), by = c("trap", "cure")]
  out[, of := length(texts)]
  out[order(-n)]
}

# Traps as sentences.
say_traps <- function(found) {
  sprintf(
    "%s (%s; in %d of %d launches): %s.", found$trap, found$found, found$n, found$of, found$cure
  )
}

#' Operations whose median is 0 s in some launches, as sentences: such times are not compared.
#'
#' @param summary of launches ([summarise_launches()]).
#' @noRd
zero_times <- function(summary) {
  zero <- summary[which(summary$median_s == 0)]
  if (!nrow(zero)) {
    return(character())
  }
  found <- zero[, list(n = uniqueN(key)), keyby = c("operation", "mpi")]
  sprintf(
    "%s under %s: the median is 0 s in %s. The timer is coarser than the operation, and %s",
    title_of(found$operation), title_of(found$mpi), count_of(found$n, "launch", "launches"),
    "these times are not compared: choose another timer, or more calls in a sample."
  )
}

# Disturbances of the ranks of the launches: facts, by name.
disturbances <- function(used) {
  what <- c(
    `Ranks switched out (times a launch)` = "involuntary_switches",
    `Ranks moved to another core (times a launch)` = "migrations",
    `Pages read from disk (a launch)` = "major_faults",
    `Taken by the hypervisor (s a launch)` = "steal_s",
    `Stopped by a quota (s a launch)` = "throttled_s"
  )
  vapply(what, function(column) {
    values <- as.numeric(used[[column]])
    known <- values[is.finite(values)]
    if (length(known)) {
      sprintf(
        "median %s, at most %s", format_digits(stats::median(known)), format_digits(max(known))
      )
    } else {
      "unknown"
    }
  }, "")
}
