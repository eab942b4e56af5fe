# SPDX-License-Identifier: BSD-3-Clause
# Finds the pairs of configurations to compare, and the pairs that must not be compared.

#' Pairs that differ in more than the compared property.
#'
#' @inheritParams compare_configurations
#' @return data.table, a row a pair: strata, `a`, `b`, `why` (how they differ), and `compared`:
#'   `FALSE` if the difference prevents the comparison, `TRUE` if it is only reported beside it. An
#'   example of the latter are the addresses of buffers that a program chose itself. Pairs without
#'   a further difference have no row.
#' @keywords internal
differing_pairs <- function(summary, by = "mpi", ignoring = character(), allowing = character(),
                            also = character()) {
  pairs_that_differ(pairs_of(summary, strata_of(summary, by, ignoring, also), by, allowing))
}

# The pairs from `pairs_of()` that `differing_pairs()` reports.
pairs_that_differ <- function(pairs) {
  refused <- lengths(pairs$why) > 0L
  odd <- which(refused | lengths(pairs$told) > 0L)
  if (!length(odd)) {
    return(data.table(a = character(), b = character(), why = character(), compared = logical()))
  }
  words <- pairs$pairs[odd]
  cbind(pairs$strata[words$stratum], words[, c("a", "b")],
    why = vapply(Map(c, pairs$why, pairs$told)[odd], toString, ""), compared = !refused[odd]
  )
}

#' Pairs that are not compared.
#'
#' @param ... as for [differing_pairs()].
#' @return the rows of [differing_pairs()] that are not `compared`.
#' @keywords internal
refused_pairs <- function(...) {
  found <- differing_pairs(...)
  found[!found$compared]
}

# The columns that are equal within a pair: all columns of a configuration and the columns `also`,
# except the compared column and the columns that follow from it.
strata_of <- function(summary, by, ignoring, also) {
  setdiff(c(configuration_columns(summary), also), c(by, ignoring))
}

# The columns that define a question.
QUESTION <- c("site", "simulated", "operation", "transport", "placement")

#' The pairs of configurations that share a stratum.
#' @return list: `strata` (a row each), `question` (the number of the question of each stratum);
#'   `sides` (launches of each configuration, as lists of columns); `pairs` (`stratum`, `a`, `b`,
#'   and the numbers of the two configurations, `left` and `right`); `why` (for each pair, why it
#'   may not be compared; empty if it may); `told` (further differences of each pair).
#' @noRd
pairs_of <- function(summary, strata, by, allowing = character()) {
  used <- which(!is.na(summary$median_s) & summary$median_s > 0)
  used <- used[has_several(summary[[by]][used], summary$test[used], "test" %in% strata)]
  columns <- unclass(summary)[intersect(unique(c(
    strata, by, "observed_hosts", "bytes", LAUNCH_TIMES, "n", "key", "session", "launch"
  )), names(summary))]
  used <- as.data.table(c(pick(columns, used), list(row = used)))
  used[, block := paste(.BY[[1L]], .BY[[2L]]), by = c("session", "launch")]
  set(used, j = "node_set", value = node_set_of(used$observed_hosts))
  used[, stratum := .GRP, by = strata]
  setorderv(used, c("stratum", by), na.last = TRUE)
  first <- used[, list(row = .I[[1L]], n = .N), by = c("stratum", by)]
  setnames(first, by, "level")
  table <- used[!duplicated(stratum), strata, with = FALSE]
  known <- which(!is.na(first$level))
  levels <- split(known, first$stratum[known])
  pairs <- rbindlist(lapply(unname(levels[lengths(levels) > 1L]), function(here) {
    two <- utils::combn(here, 2L)
    list(
      stratum = first$stratum[[here[[1L]]]], left = two[1L, ], right = two[2L, ],
      a = first$level[two[1L, ]], b = first$level[two[2L, ]]
    )
  }))
  sides <- vector("list", nrow(first))
  columns <- c("bytes", LAUNCH_TIMES, "n", "session", "block", "node_set", "hosts")
  columns <- unclass(used)[intersect(columns, names(used))]
  for (i in unique(c(pairs$left, pairs$right))) {
    at <- seq.int(first$row[[i]], length.out = first$n[[i]])
    sides[[i]] <- lapply(columns, `[`, at)
  }
  side <- rep.int(seq_len(nrow(first)), first$n)
  # The facts of a launch are the same at all its sizes.
  once <- if (is.null(used$key)) {
    seq_along(side)
  } else {
    which(!duplicated(as.data.table(list(side, used$key))))
  }
  fixed <- intersect(c(names(HELD_FIXED), LAYOUT_NAME, "library"), names(summary))
  facts <- facts_of_sides(
    pick(unclass(summary)[fixed], used$row[once]), side[once], by, allowing
  )
  differ <- function(how) {
    lapply(seq_len(nrow(pairs)), function(i) {
      how(facts[[pairs$left[[i]]]], facts[[pairs$right[[i]]]], c(pairs$a[[i]], pairs$b[[i]]))
    })
  }
  # The question of a stratum: errors are controlled within it.
  question <- setdiff(strata, setdiff(configuration_columns(summary), QUESTION))
  list(
    strata = table, question = number_of(table, question), sides = sides, pairs = pairs,
    why = differ(differences_of), told = differ(told_of)
  )
}

# Whether each row belongs to a test with several levels; other tests give no comparison. At least
# one row is always kept.
has_several <- function(level, test, apart) {
  if (!apart) {
    return(rep(TRUE, length(level)))
  }
  known <- unique(as.data.table(list(test = test, level = level)))
  several <- test %in% known$test[duplicated(known$test)]
  if (length(several) && !any(several)) several[[1L]] <- TRUE
  several
}

# The same pairs with another time of the launches (`by_time()`), for launches that have it. Tail
# percentiles need `LEAST_OF_TAIL` samples of each launch.
pairs_by_time <- function(pairs, time) {
  others <- setdiff(LAUNCH_TIMES, "median_s")
  tail <- time %in% c("p95", "p99")
  pairs$sides <- lapply(pairs$sides, function(side) {
    if (length(side)) {
      side <- by_time(side, time)
      enough <- if (tail) side$n >= LEAST_OF_TAIL else TRUE
      pick(side[!names(side) %in% others], which(side$median_s > 0 & enough))
    }
  })
  pairs
}

# The columns of a comparison that define its strata.
strata_in <- function(comparison) names(comparison)[seq_len(match("a", names(comparison)) - 1L)]
