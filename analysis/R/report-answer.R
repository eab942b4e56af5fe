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
  strata <- strata_in(comparison)
  # All sentences of the study at once: most of the time of each alone would go into its calls.
  rows <- copy(comparison)
  rows[, stratum := .GRP, by = strata]
  rows[, pair := .GRP, by = c("stratum", "a", "b")]
  setorderv(rows, c("stratum", "pair", "bytes"))
  first <- rows[!duplicated(stratum)]
  ends <- ends_of_pairs(rows)
  said <- function(at) split(say_rows(rows[at], delta), factor(rows$stratum[at], first$stratum))
  smallest <- said(ends$smallest)
  # Of strata that have several sizes.
  several <- rows[, list(several = uniqueN(bytes) > 1L), keyby = "stratum"]$several
  largest <- said(ends$largest)
  ranges <- say_ranges(rows, delta)
  fastest <- say_winners(fastest_of(comparison), strata, first)
  titles <- unique_titles(first)
  # Foreign tools' benchmarks after our own.
  shown <- order(startsWith(first$operation, "imb-"))
  lapply(shown, function(i) {
    list(
      title = titles[[i]], fastest = fastest[[i]], smallest = smallest[[i]],
      largest = if (several[[i]]) largest[[i]], ranges = ranges[[i]]
    )
  })
}

#' Of each pair the row of its least size, above zero where there is one, and that of its greatest.
#' @noRd
ends_of_pairs <- function(rows) {
  count <- rows[, list(n = .N, empty = sum(bytes == 0)), keyby = "pair"]
  last <- cumsum(count$n)
  first <- last - count$n + 1L
  list(smallest = first + fifelse(count$empty < count$n, count$empty, 0L), largest = last)
}

#' Which MPI is faster than every other, and at which sizes: a sentence a stratum.
#'
#' @param first a row of each stratum, in whose order the sentences come.
#' @noRd
say_winners <- function(winners, strata, first) {
  of <- first[winners, on = strata, which = TRUE]
  parts <- split(seq_len(nrow(winners)), factor(of, seq_len(nrow(first))))
  vapply(parts, function(at) {
    say_fastest(list(winner = winners$winner[at], bytes = winners$bytes[at]))
  }, "")
}

say_fastest <- function(at) {
  runs <- over_runs(at$winner, function(winner, rows) say_sizes(at$bytes[rows]))
  sizes <- tapply(runs, factor(names(runs), unique(names(runs))), paste,
    collapse = " and "
  )
  won <- sizes[nzchar(names(sizes))]
  paste(c(
    if (length(won)) sprintf("Fastest: %s.", paste(title_of(names(won)), won, collapse = "; ")),
    if (any(at$winner == "")) {
      sprintf("No single winner %s.", sizes[names(sizes) == ""])
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

#' Comparisons as sentences, one a row.
#' @noRd
say_rows <- function(rows, delta) {
  place <- sprintf("for %s %s", format_bytes(rows$bytes), over(rows$transport))
  n <- format_count(rows$n_a, rows$n_b)
  a <- title_of(rows$a)
  b <- title_of(rows$b)
  ratio <- function(digits) format_interval(rows$ratio, rows$low, rows$high, digits)
  q <- format_p(rows$q)
  ahead <- function(fast, slow, times) {
    sprintf(
      "%s is %s times as fast as %s %s, at least %s, %s, %s, q = %s.",
      fast, times, slow, place, say_percent(rows$at_least), rows$scope, n, q
    )
  }
  more <- say_more(rows$more_launches, rows$more_sessions)
  fcase(
    rows$verdict %in% c("not tested", "no effect"), sprintf(
      "%s and %s %s: %s, %s.", a, b, place, rows$verdict, rows$note
    ),
    rows$verdict %in% "faster",
    ahead(a, b, format_interval(1 / rows$ratio, 1 / rows$high, 1 / rows$low)),
    rows$verdict %in% "slower", ahead(b, a, ratio(3L)),
    rows$verdict %in% "within", sprintf(
      "%s and %s are within %s of each other %s, %s: ratio of times %s, %s.",
      a, b, say_percent(rows$at_most), place, rows$scope, ratio(4L), n
    ),
    rows$verdict %in% "differ", sprintf(
      "The sessions of %s and %s differ %s: ratio of times %s, %s; %s.",
      a, b, place, ratio(3L), n, rows$note
    ),
    rows$verdict %in% "not settled", sprintf(
      "%s and %s are not settled %s %s: %s, ratio of times %s, %s, q = %s%s%s.",
      a, b, place, rows$scope, say_interval(rows), ratio(3L), n, q,
      fifelse(nzchar(rows$note), sprintf(" (%s)", rows$note), ""),
      fifelse(nzchar(more), paste0("; ", more), "")
    )
  )
}

#' What an interval excludes, in words, said of the first of a pair.
#' @noRd
say_interval <- function(rows) {
  part <- function(bound, word) {
    fifelse(bound > 0, sprintf("%s %s", say_percent(bound), word), sprintf("no %s", word))
  }
  sprintf(
    "the first may be anything from %s to %s", part(pmax(1 / rows$low - 1, 0), "faster"),
    part(pmax(rows$high - 1, 0), "slower")
  )
}

percent <- function(x) paste0("\u00b1", format(100 * x), " %")
over <- function(transport) {
  fifelse(transport == "shm", "in shared memory", paste("over", title_of(transport)))
}

#' Runs of sizes with one verdict, a sentence a pair.
#'
#' @param rows ordered by `pair` and `bytes`, with their `stratum`.
#' @return list of sentences, one element a stratum.
#' @noRd
say_ranges <- function(rows, delta) {
  rows <- rows[, c("stratum", "pair", "a", "b", "bytes", "ratio", "at_most", "verdict"),
    with = FALSE
  ]
  rows[, times := fifelse(verdict == "faster", 1 / ratio, ratio)]
  runs <- rows[, list(
    from = bytes[[1L]], to = bytes[[.N]], least = min(times), most = max(times),
    bound = max(at_most)
  ), by = list(stratum, pair, a, b, verdict, run = rleid(pair, verdict))]
  same <- function(x, y, joined) fifelse(x == y, x, paste(x, joined, y))
  ends <- list(format_bytes(runs$from), format_bytes(runs$to))
  sizes <- fifelse(
    ends[[1L]] == ends[[2L]], paste("at", ends[[1L]]),
    paste("from", ends[[1L]], "to", ends[[2L]])
  )
  factor <- same(format_digits(runs$least), format_digits(runs$most), "to")
  runs[, text := fcase(
    verdict == "faster", sprintf("%s %s times as fast %s", title_of(a), factor, sizes),
    verdict == "slower", sprintf("%s %s times as fast %s", title_of(b), factor, sizes),
    verdict == "within", sprintf("within %s %s", say_percent(bound), sizes),
    verdict == "not settled", sprintf("not settled %s (ratio of times %s)", sizes, factor),
    verdict == "differ", sprintf("the sessions differ %s (ratio of times %s)", sizes, factor),
    verdict == "no effect", sprintf("no effect shown %s", sizes),
    verdict == "not tested", sprintf("not tested %s", sizes)
  )]
  said <- runs[, list(text = paste(text, collapse = "; ")), by = c("stratum", "pair", "a", "b")]
  texts <- sprintf("%s against %s: %s.", title_of(said$a), title_of(said$b), said$text)
  unname(split(texts, factor(said$stratum, unique(said$stratum))))
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
