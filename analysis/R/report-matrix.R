# SPDX-License-Identifier: BSD-3-Clause
# The start of a report: one matrix of questions by classes of sizes, and three sentences.

# Names of the classes of sizes for readers: see size_class().
CLASS_TITLES <- c(
  small = "Up to 4 KiB", medium = "Up to 80 KiB", large = "Above 80 KiB"
)

#' The fastest libraries, by question and class of sizes.
#'
#' A question is an operation over a transport on a site. A cell counts its comparisons of all MPIs
#' at each measured size of each placement, number of ranks and so on. An MPI wins a comparison if
#' it is faster than every other MPI ([fastest_of()]).
#'
#' @param comparison what [compare_configurations()] returned, `by = "mpi"`.
#' @return data.table, one row per question, class and outcome: `site`, `simulated`, `operation`,
#'   `transport`, `sizes` (class), `winner` (`""`: none), `candidates` (see [fastest_of()]),
#'   `cells` (sizes of this outcome), `of` (all sizes), `n` (smallest number of launches). `least`,
#'   `most`: factors by which the winner or the best candidate is ahead of the next library. If
#'   there is neither, they are factors between the libraries. `close`: cells in which all
#'   libraries are within a bound. `bound`: the largest of these bounds.
#' @noRd
winners_by_class <- function(comparison) {
  strata <- strata_in(comparison)
  decided <- comparison[verdict != "not tested"]
  if (!nrow(decided)) {
    return(data.table())
  }
  fastest <- fastest_of(comparison)
  by <- c(strata, "bytes")
  facts <- decided[, {
    found <- verdict %in% DIRECTIONS
    list(
      n = min(n_a, n_b), equal = all(verdict == "within"), bound = max(at_most),
      apart = max(pmax(ratio, 1 / ratio)), a = list(a[found]), b = list(b[found]),
      ratio = list(ratio[found])
    )
  }, by = by]
  cells <- fastest[facts, on = by]
  cells[, ahead := mapply(lead_of, foremost_of(winner, candidates), a, b, ratio)]
  cells[, factor := fcoalesce(ahead, apart)]
  cells[, sizes := size_class(bytes)]
  question <- c(QUESTION_OF_MAP, "sizes")
  out <- cells[, list(
    cells = .N, least = min(factor), most = max(factor), close = sum(equal), bound = max(bound),
    n = min(n)
  ), keyby = c(question, "winner", "candidates")]
  out[, of := sum(cells), by = question]
  out[]
}

# The libraries that can be the fastest, one vector per row: the winner, or else the candidates.
foremost_of <- function(winner, candidates) {
  strsplit(fifelse(nzchar(winner), winner, candidates), ",", fixed = TRUE)
}

# The lead of the best of `first` over the next library. `ratio` is the time of `a` over that of
# `b`, for all pairs that differ. NA if none of them has one of `first` and another library.
lead_of <- function(first, a, b, ratio) {
  over_b <- a %in% first & !b %in% first
  over_a <- b %in% first & !a %in% first
  behind <- split(c(1 / ratio[over_b], ratio[over_a]), c(b[over_b], a[over_a]))
  if (length(behind)) min(vapply(behind, max, 0)) else NA_real_
}

# The matrix for readers: one row per question, one column per class of sizes.
table_matrix <- function(winners, comparison = NULL) {
  question <- QUESTION_OF_MAP
  cells <- copy(winners)[order(-cells, winner)]
  set(cells, j = "text", value = say_outcomes(cells, title_first(cells)))
  wide <- dcast(cells, site + simulated + operation + transport ~ sizes,
    value.var = "text", fun.aggregate = paste, collapse = "; "
  )
  wide <- cells[, list(n = min(n)), by = question][wide, on = question]
  # Benchmarks of other tools after cotejo's own.
  wide <- wide[order(startsWith(operation, "imb-"))]
  shown <- data.table(Question = titles_of_questions(
    wide, comparison, unique(c(comparison$a, comparison$b))
  ))
  if (uniqueN(wide$site) > 1L) set(shown, j = "Site", value = wide$site)
  for (class in intersect(names(CLASS_TITLES), names(wide))) {
    set(shown, j = CLASS_TITLES[[class]], value = wide[[class]])
  }
  set(shown, j = "n", value = wide$n)
  shown[]
}

# Outcomes of a cell of the matrix: winner, sizes and lead; `first` is their `title_first()`.
say_outcomes <- function(rows, first) {
  count <- fifelse(
    rows$cells == rows$of, sprintf("all %d", rows$of), sprintf("%d of %d", rows$cells, rows$of)
  )
  factors <- in_range(format_digits(rows$least), format_digits(rows$most))
  fcase(
    nzchar(first), sprintf("%s, %s times (%s)", first, factors, count),
    rows$close == rows$cells, sprintf("within %s (%s)", say_percent(rows$bound), count),
    rep(TRUE, nrow(rows)), sprintf("no single winner (%s)", count)
  )
}

# The winner, or the possible winners, in words; empty if every library can be the fastest.
title_first <- function(rows) {
  vapply(foremost_of(rows$winner, rows$candidates), function(names) {
    if (length(names) > 3L) return(sprintf("one of %d libraries", length(names)))
    if (length(names)) in_series(title_of(in_order(names)), "or") else ""
  }, "")
}

# Three sentences: which MPI wins overall, whether that depends on the size, how sure it is.
three_sentences <- function(comparison, winners, used) {
  if (!nrow(winners)) {
    return(character())
  }
  count <- winners[, list(cells = sum(cells)), by = "winner"][order(-cells)]
  all <- sum(count$cells)
  won <- count[nzchar(winner)]
  none <- all - sum(won$cells)
  behind <- if (none) say_behind(comparison, winners)
  wins <- sprintf("%s in %d", title_of(won$winner), won$cells)
  overall <- if (nrow(won)) {
    wins[[1L]] <- sprintf(
      "%s is the fastest library in %d of %d tests", title_of(won$winner[[1L]]), won$cells[[1L]],
      all
    )
    paste0(
      in_series(wins), if (none) sprintf("; %d tests have no single winner%s", none, behind), "."
    )
  } else {
    sprintf("None of %d tests has a single winner%s.", all, behind)
  }
  leaders <- winners[nzchar(winner), list(cells = sum(cells)), by = c("sizes", "winner")]
  of <- winners[, list(of = sum(cells)), by = "sizes"]
  leaders <- of[leaders, on = "sizes"][2L * cells > of]
  leading <- if (nrow(leaders)) {
    # A library is named once, with all classes of sizes in which it leads.
    leaders[, title := sub("^(.)", "\\L\\1", CLASS_TITLES[as.character(sizes)], perl = TRUE)]
    leaders <- leaders[, list(classes = in_series(sprintf(
      "%s (%d of %d)", title, cells, of
    ))), by = "winner"]
    sprintf("%s.", in_series(sprintf(
      "%s wins most often for messages %s", title_of(leaders$winner), leaders$classes
    )))
  } else {
    "No library wins at most sizes of a class."
  }
  verdicts <- table(factor(comparison$verdict, c(SETTLED, "not settled", UNTESTED)))
  tested <- comparison[verdict != UNTESTED]
  sure <- sprintf(
    paste(
      "%d comparisons of two MPIs at one size were tested: %d show a difference%s, %d show that",
      "the two are within %s, %d are not settled%s. They rest on %s launches of each MPI in %s",
      "on %s."
    ),
    nrow(tested), sum(verdicts[DIRECTIONS]), say_over_questions(tested),
    verdicts[["within"]],
    say_percent(max(c(WITHIN_MOST, tested$at_most[tested$verdict == "within"]))),
    verdicts[["not settled"]], text_if(verdicts[[UNTESTED]] > 0L, sprintf(
      "; %d more have under %d launches and were not tested", verdicts[[UNTESTED]], LEAST_BLOCKS
    )),
    paste(unique(range(c(tested$n_a, tested$n_b))), collapse = " to "),
    count_of(uniqueN(used[, c("site", "session")]), "session", "sessions"),
    count_of(uniqueN(used$site), "site", "sites")
  )
  c(overall, leading, sure)
}

# The number of proved directions that hold in a statement over all questions, if it is smaller.
say_over_questions <- function(tested) {
  questions <- uniqueN(tested[, intersect(QUESTION, names(tested)), with = FALSE])
  if (questions < 2L) {
    return("")
  }
  found <- tested$verdict %in% DIRECTIONS
  over_all <- sum(over_questions(tested) & found)
  text_if(over_all < sum(found), sprintf(
    " (%d if the correction covers all %d questions)", over_all, questions
  ))
}

# The library that is most often not among the candidates, and how often.
say_behind <- function(comparison, winners) {
  rows <- winners[nzchar(candidates)]
  first <- foremost_of(rows$winner, rows$candidates)
  libraries <- sort(unique(c(comparison$a, comparison$b)))
  count <- vapply(libraries, \(mpi) sum(rows$cells[!vapply(first, \(x) mpi %in% x, NA)]), 0L)
  most <- which.max(count)
  text_if(count[[most]] > 0L, sprintf(
    ", but %s is slower than another library in %d of them", title_of(libraries[[most]]),
    count[[most]]
  ))
}
