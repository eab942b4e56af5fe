# SPDX-License-Identifier: BSD-3-Clause
# Comparisons -> the answer in words. Every sentence holds effect, interval and n.

#' The answer of a study, in sentences.
#'
#' @param comparison what [compare_configurations()] returned, `by = "mpi"`.
#' @param delta margin of equivalence used there.
#' @return list, one element a stratum: `title`, `headline` (sentences at the least size) and
#'   `ranges` (sentences over runs of sizes with one verdict).
#' @noRd
answer <- function(comparison, delta) {
  if (!nrow(comparison)) {
    return(list())
  }
  strata <- setdiff(
    names(comparison)[seq_len(match("a", names(comparison)) - 1L)],
    c("experiment", "scale")
  )
  groups <- split(comparison, by = c("experiment", "scale", strata), sorted = FALSE)
  lapply(unname(groups), function(part) {
    pairs <- split(part, by = c("a", "b"), sorted = FALSE)
    list(
      title = sprintf("%s (%s)", sentence_case(describe_stratum(part[1L])), part$experiment[[1L]]),
      headline = vapply(pairs, function(pair) say_one(headline_row(pair), delta), ""),
      ranges = unlist(lapply(pairs, say_ranges, delta = delta))
    )
  })
}

# One byte where it was measured, else the least size above zero, else what there is.
headline_row <- function(pair) {
  sized <- pair[bytes > 0]
  if (nrow(sized)) sized[which.min(bytes)] else pair[1L]
}

#' One comparison as a sentence.
#' @noRd
say_one <- function(row, delta) {
  place <- sprintf("for %s in %s", format_bytes(row$bytes), over(row$transport))
  n <- format_count(row$n_a, row$n_b)
  a <- title_of(row$a)
  b <- title_of(row$b)
  if (is.na(row$verdict)) {
    return(sprintf("%s and %s %s: no verdict, %s.", a, b, place, row$note))
  }
  switch(row$verdict,
    faster = say_faster(a, b, 1 / row$ratio, 1 / row$high, 1 / row$low, place, n, row),
    slower = say_faster(b, a, row$ratio, row$low, row$high, place, n, row),
    equivalent = sprintf(
      "%s and %s are equivalent within %s %s: ratio of times %s (90 %% interval), %s.",
      a, b, percent(delta), place, format_interval(row$ratio, row$low90, row$high90, 4L), n
    ),
    inconclusive = sprintf(
      paste(
        "No difference between %s and %s is shown %s, nor that they are equivalent within %s:",
        "ratio of times %s, %s, p = %s%s."
      ),
      a, b, place, percent(delta), format_interval(row$ratio, row$low, row$high, 3L), n,
      format_p(row$p_holm), if (nzchar(row$note)) paste0(" (", row$note, ")") else ""
    )
  )
}

say_faster <- function(fast, slow, times, low, high, place, n, row) {
  sprintf(
    "%s is %s times as fast as %s %s, %s, p = %s.",
    fast, format_interval(times, low, high), slow, place, n, format_p(row$p_holm)
  )
}

percent <- function(x) paste0("\u00b1", format(100 * x), " %")
over <- function(transport) if (transport == "shm") "shared memory" else title_of(transport)

#' Runs of sizes with one verdict, a sentence each.
#' @noRd
say_ranges <- function(pair, delta) {
  pair <- pair[order(bytes)]
  said <- fifelse(is.na(pair$verdict), "none", pair$verdict)
  runs <- rle(said)
  end <- cumsum(runs$lengths)
  start <- end - runs$lengths + 1L
  clauses <- mapply(function(verdict, from, to) {
    say_run(verdict, pair[from:to], delta)
  }, runs$values, start, end)
  sprintf(
    "%s against %s: %s.", title_of(pair$a[[1L]]), title_of(pair$b[[1L]]),
    paste(clauses, collapse = "; ")
  )
}

say_run <- function(verdict, rows, delta) {
  sizes <- if (nrow(rows) == 1L) {
    paste("at", format_bytes(rows$bytes))
  } else {
    sprintf("from %s to %s", format_bytes(min(rows$bytes)), format_bytes(max(rows$bytes)))
  }
  times <- if (verdict == "faster") 1 / rows$ratio else rows$ratio
  factor <- paste(unique(format_digits(range(times))), collapse = " to ")
  switch(verdict,
    faster = sprintf("%s %s times as fast %s", title_of(rows$a[[1L]]), factor, sizes),
    slower = sprintf("%s %s times as fast %s", title_of(rows$b[[1L]]), factor, sizes),
    equivalent = sprintf("equivalent within %s %s", percent(delta), sizes),
    inconclusive = sprintf("inconclusive %s (ratio of times %s)", sizes, factor),
    none = sprintf("too few launches %s", sizes)
  )
}

#' What was the same for all launches of a study, in words.
#' @noRd
held_fixed <- function(used) {
  one <- function(column) {
    values <- distinct(used[[column]])
    if (length(values) == 1L) values
  }
  facts <- c(
    host = one("observed_hosts"), `processors of the ranks` = one("observed_cpus"),
    CPU = one("cpu_model"), kernel = one("kernel"), `frequency governor` = one("governor"),
    timer = one("timer"), `thread level` = one("thread_level"), compiler = one("compiler"),
    ranks = one("ranks"), hosts = one("hosts")
  )
  toString(paste(names(facts), facts))
}
