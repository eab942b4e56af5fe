# SPDX-License-Identifier: BSD-3-Clause
# Comparisons -> the answer in words. Every sentence holds effect, interval and n.

#' The answer of a study, in sentences.
#'
#' @param comparison what [compare_configurations()] returned, `by = "mpi"`.
#' @param delta margin of equivalence used there.
#' @return list, one element a stratum, our own experiments first: `title`, `fastest` (which MPI is
#'   faster than every other, over all sizes), `smallest` and `largest` (sentences on each pair at
#'   the least size above zero and at the greatest), and `ranges` (sentences over runs of sizes
#'   with one verdict).
#' @noRd
answer <- function(comparison, delta) {
  if (!nrow(comparison)) {
    return(list())
  }
  winners <- fastest_of(comparison)
  strata <- names(comparison)[seq_len(match("a", names(comparison)) - 1L)]
  parts <- unname(split_strata(comparison, strata))
  titles <- unique_titles(lapply(parts, function(part) part[1L]))
  Map(function(part, title) {
    pairs <- split(part, by = c("a", "b"), sorted = FALSE)
    at <- function(row_of) vapply(pairs, function(pair) say_one(row_of(pair), delta), "")
    list(
      title = title,
      fastest = say_fastest(winners[part[1L, strata, with = FALSE], on = strata]),
      smallest = at(function(pair) sized(pair)[which.min(bytes)]),
      largest = if (any(part$bytes > min(part$bytes))) at(function(p) p[which.max(bytes)]),
      ranges = unlist(lapply(pairs, say_ranges, delta = delta))
    )
  }, parts, titles, USE.NAMES = FALSE)
}

# Rows of more than zero bytes where there are any.
sized <- function(pair) if (any(pair$bytes > 0)) pair[bytes > 0] else pair

#' Which MPI is faster than every other, and at which sizes.
#' @noRd
say_fastest <- function(at) {
  runs <- over_runs(at$winner, function(winner, rows) say_sizes(at$bytes[rows]))
  sizes <- tapply(runs, factor(names(runs), unique(names(runs))), paste,
    collapse = " and "
  )
  won <- sizes[nzchar(names(sizes))]
  paste(c(
    if (length(won)) sprintf("Fastest: %s.", paste(title_of(names(won)), won, collapse = "; ")),
    if (any(at$winner == "")) {
      sprintf("None is faster than every other %s.", sizes[names(sizes) == ""])
    }
  ), collapse = " ")
}

# Say something of each run of equal values and the indices of the run; named by the value.
over_runs <- function(values, say) {
  runs <- rle(values)
  end <- cumsum(runs$lengths)
  said <- Map(function(value, from, to) say(value, from:to),
    runs$values, end - runs$lengths + 1L, end
  )
  stats::setNames(unlist(said), runs$values)
}

say_sizes <- function(bytes) {
  ends <- unique(format_bytes(range(bytes)))
  if (length(ends) == 1L) paste("at", ends) else paste("from", ends[[1L]], "to", ends[[2L]])
}

#' One comparison as a sentence.
#' @noRd
say_one <- function(row, delta) {
  place <- sprintf("for %s %s", format_bytes(row$bytes), over(row$transport))
  n <- format_count(row$n_a, row$n_b)
  a <- title_of(row$a)
  b <- title_of(row$b)
  if (is.na(row$verdict)) {
    return(sprintf("%s and %s %s: no verdict, %s.", a, b, place, row$note))
  }
  more <- say_more(row$more_launches, row$more_sessions)
  switch(row$verdict,
    faster = say_faster(a, b, 1 / row$ratio, 1 / row$high, 1 / row$low, place, n, row),
    slower = say_faster(b, a, row$ratio, row$low, row$high, place, n, row),
    equivalent = sprintf(
      "%s and %s are equivalent within %s %s, %s: ratio of times %s, %s.",
      a, b, percent(delta), place, row$scope, format_interval(row$ratio, row$low, row$high, 4L), n
    ),
    differ = sprintf(
      "The sessions of %s and %s differ %s: ratio of times %s, %s; %s.",
      a, b, place, format_interval(row$ratio, row$low, row$high, 3L), n, row$note
    ),
    undecided = sprintf(
      paste(
        "Undecided between %s and %s %s %s: neither a difference nor equivalence within %s is",
        "shown, ratio of times %s, %s, corrected p = %s%s%s."
      ),
      a, b, place, row$scope, percent(delta), format_interval(row$ratio, row$low, row$high, 3L),
      n, format_p(row$p_joint), if (nzchar(row$note)) paste0(" (", row$note, ")") else "",
      if (nzchar(more)) paste0("; ", more) else ""
    )
  )
}

say_faster <- function(fast, slow, times, low, high, place, n, row) {
  sprintf(
    "%s is %s times as fast as %s %s, %s, %s, corrected p = %s.",
    fast, format_interval(times, low, high), slow, place, row$scope, n, format_p(row$p_joint)
  )
}

percent <- function(x) paste0("\u00b1", format(100 * x), " %")
over <- function(transport) {
  if (transport == "shm") "in shared memory" else paste("over", title_of(transport))
}

#' Runs of sizes with one verdict, a sentence each.
#' @noRd
say_ranges <- function(pair, delta) {
  pair <- pair[order(bytes)]
  said <- fifelse(is.na(pair$verdict), "none", pair$verdict)
  clauses <- over_runs(said, function(verdict, rows) say_run(verdict, pair[rows], delta))
  sprintf(
    "%s against %s: %s.", title_of(pair$a[[1L]]), title_of(pair$b[[1L]]),
    paste(clauses, collapse = "; ")
  )
}

say_run <- function(verdict, rows, delta) {
  sizes <- say_sizes(rows$bytes)
  times <- if (verdict == "faster") 1 / rows$ratio else rows$ratio
  factor <- paste(unique(format_digits(range(times))), collapse = " to ")
  switch(verdict,
    faster = sprintf("%s %s times as fast %s", title_of(rows$a[[1L]]), factor, sizes),
    slower = sprintf("%s %s times as fast %s", title_of(rows$b[[1L]]), factor, sizes),
    equivalent = sprintf("equivalent within %s %s", percent(delta), sizes),
    undecided = sprintf("undecided %s (ratio of times %s)", sizes, factor),
    differ = sprintf("the sessions differ %s (ratio of times %s)", sizes, factor),
    none = sprintf("too few launches %s", sizes)
  )
}

#' What was the same for all launches of a study, in words.
#' @noRd
held_fixed <- function(used) {
  one <- function(column) {
    values <- setdiff(distinct(used[[column]]), "unknown")
    if (length(values) == 1L) toString(unique(strsplit(values, "|", fixed = TRUE)[[1L]]))
  }
  facts <- c(
    host = one("observed_hosts"), `processors of the ranks` = one("observed_cpus"),
    CPU = one("cpu_model"), kernel = one("kernel"), `frequency governor` = one("governor"),
    timer = one("timer"), `thread level` = one("thread_level"), compiler = one("compiler"),
    `number of ranks` = one("ranks"), `number of hosts` = one("hosts")
  )
  toString(paste(names(facts), facts))
}
