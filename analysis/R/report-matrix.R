# SPDX-License-Identifier: BSD-3-Clause
# The start of a report: one matrix of questions by classes of sizes, and three sentences.

# Names of the classes of sizes for readers: see size_class().
CLASS_TITLES <- c(
  small = "Small (to 4 KiB)", medium = "Medium (to 80 KiB)", large = "Large (above 80 KiB)"
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
#'   libraries are within a bound. `bound`: the greatest of these bounds.
#' @noRd
winners_by_class <- function(comparison) {
  strata <- strata_in(comparison)
  decided <- comparison[verdict != "not tested"]
  if (!nrow(decided)) {
    return(data.table())
  }
  fastest <- fastest_of(comparison)
  by <- c(strata, "bytes")
  facts <- decided[, list(
    n = min(n_a, n_b), equal = all(verdict == "within"), bound = max(at_most),
    apart = max(pmax(ratio, 1 / ratio)), a = list(a), b = list(b), ratio = list(ratio)
  ), by = by]
  cells <- fastest[facts, on = by]
  cells[, ahead := mapply(lead_of, foremost_of(winner, candidates), a, b, ratio)]
  cells[, factor := fcoalesce(ahead, apart)]
  cells[, sizes := size_class(bytes)]
  question <- c("site", "simulated", "operation", "transport", "sizes")
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
# `b`, for all pairs. NA if no pair has one of `first` and another library.
lead_of <- function(first, a, b, ratio) {
  ours <- a %in% first
  theirs <- b %in% first
  other <- c(b[ours & !theirs], a[theirs & !ours])
  if (!length(other)) {
    return(NA_real_)
  }
  behind <- c(1 / ratio[ours & !theirs], ratio[theirs & !ours])
  min(vapply(split(behind, other), max, 0))
}

# The matrix for readers: one row per question, one column per class of sizes.
table_matrix <- function(winners) {
  question <- c("site", "simulated", "operation", "transport")
  cells <- copy(winners)[order(-cells, winner)]
  set(cells, j = "text", value = say_outcomes(cells, title_first(cells)))
  said <- cells[, list(text = paste(text, collapse = "; "), n = min(n)),
    by = c(question, "sizes")
  ]
  wide <- dcast(said, site + simulated + operation + transport ~ sizes,
    value.var = "text", fill = ""
  )
  least <- said[, list(n = min(n)), by = question]
  wide <- least[wide, on = question]
  # Benchmarks of other tools after cotejo's own.
  wide <- wide[order(startsWith(operation, "imb-"))]
  shown <- data.table(
    Question = sentence_case(
      paste0(question_in_words(wide$operation), ", ", title_of(wide$transport))
    )
  )
  if (uniqueN(wide$site) > 1L) set(shown, j = "Site", value = wide$site)
  if (any(nzchar(wide$simulated))) {
    set(shown, j = "Not real hardware", value = short_label(wide$simulated))
  }
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
  ends <- lapply(list(rows$least, rows$most), format_digits)
  factors <- fifelse(
    ends[[1L]] == ends[[2L]], ends[[1L]], paste(ends[[1L]], "to", ends[[2L]])
  )
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
  overall <- if (nrow(won)) {
    first <- sprintf(
      "%s is the fastest library in %d of %d tests", title_of(won$winner[[1L]]), won$cells[[1L]],
      all
    )
    sprintf(
      "%s%s.",
      in_series(c(first, sprintf("%s in %d", title_of(won$winner[-1L]), won$cells[-1L]))),
      if (all > sum(won$cells)) {
        paste0(
          sprintf("; %d tests have no single winner", all - sum(won$cells)),
          say_behind(comparison, winners)
        )
      } else {
        ""
      }
    )
  } else {
    sprintf("None of %d tests has a single winner%s.", all, say_behind(comparison, winners))
  }
  leaders <- winners[nzchar(winner), list(cells = sum(cells)), by = c("sizes", "winner")]
  of <- winners[, list(of = sum(cells)), by = "sizes"]
  leaders <- of[leaders, on = "sizes"][2L * cells > of]
  leading <- if (nrow(leaders)) {
    # A library is named once, with all classes of sizes in which it leads.
    leaders <- leaders[, list(classes = in_series(sprintf(
      "%s (%d of %d)", sizes, cells, of
    ))), by = "winner"]
    sprintf("%s.", in_series(sprintf(
      "%s wins most often for %s messages", title_of(leaders$winner), leaders$classes
    )))
  } else {
    "No library wins at most sizes of a class."
  }
  verdicts <- table(factor(comparison$verdict, c(SETTLED, "not settled", "not tested")))
  tested <- comparison[verdict != "not tested"]
  sure <- sprintf(
    paste(
      "%d comparisons of two MPIs at one size were tested: %d show a difference%s, %d show that",
      "the two are within %s, %d are not settled%s. They rest on %s launches of each MPI in %s",
      "on %s."
    ),
    nrow(tested), sum(verdicts[DIRECTIONS]), say_over_questions(tested),
    verdicts[["within"]],
    say_percent(max(c(WITHIN_MOST, tested$at_most[tested$verdict == "within"]))),
    verdicts[["not settled"]],
    if (verdicts[["not tested"]]) {
      sprintf(
        "; %d more have under %d launches and were not tested", verdicts[["not tested"]],
        LEAST_BLOCKS
      )
    } else {
      ""
    },
    paste(unique(range(c(tested$n_a, tested$n_b))), collapse = " to "),
    count_of(uniqueN(used[, c("site", "session")]), "session", "sessions"),
    count_of(uniqueN(used$site), "site", "sites")
  )
  c(overall, leading, sure)
}

# The number of proved directions that hold in a statement over all questions; nothing for one.
say_over_questions <- function(tested) {
  questions <- uniqueN(tested[, intersect(QUESTION, names(tested)), with = FALSE])
  if (questions < 2L) {
    return("")
  }
  sprintf(
    " (%d if the correction covers all %d questions)",
    sum(over_questions(tested) & tested$verdict %in% DIRECTIONS), questions
  )
}

# The library that is most often not among the candidates, and how often.
say_behind <- function(comparison, winners) {
  rows <- winners[nzchar(candidates)]
  first <- foremost_of(rows$winner, rows$candidates)
  libraries <- sort(unique(c(comparison$a, comparison$b)))
  count <- vapply(libraries, \(mpi) sum(rows$cells[!vapply(first, \(x) mpi %in% x, NA)]), 0L)
  most <- which.max(count)
  if (!any(count > 0L)) {
    return("")
  }
  sprintf(", but %s is slower than another library in %d of them", title_of(libraries[[most]]),
    count[[most]])
}

#' Unique titles of strata: equal titles get additional columns in which their strata differ.
#'
#' @param rows table, one row per stratum.
#' @return texts.
#' @noRd
unique_titles <- function(rows) {
  titles <- title_of_stratum(rows)
  same <- titles %in% titles[duplicated(titles)]
  if (!any(same)) {
    return(titles)
  }
  table <- rows[same]
  columns <- intersect(c("site", "simulated", "scale", "hosts", "ranks", "factors"), names(table))
  columns <- Filter(function(column) uniqueN(table[[column]]) > 1L, columns)
  if (length(columns)) {
    titles[same] <- join_words(list(titles[same], as.character(level_of(table, columns))))
  }
  make.unique(titles, sep = ", part ")
}

# Headings for strata in words, with the test that measured each: "Ping-pong, TCP within one host,
# placement near (pingpong_quick)".
title_of_stratum <- function(rows) {
  parts <- list(
    if (!is.null(rows$mpi)) title_of(rows$mpi), question_in_words(rows$operation),
    transport_in_words(rows),
    if (!is.null(rows$placement)) sub("placement $", "", paste("placement", rows$placement)),
    if (!is.null(rows$settings)) values_in_words(rows$settings, "setting", character()),
    if (!is.null(rows$parameters)) values_in_words(rows$parameters, "parameter", character()),
    rows$simulated
  )
  sprintf("%s (%s)", sentence_case(join_words(Filter(length, parts))), rows$test)
}

# Transports with their reach, if they carry messages both within a host and between hosts.
transport_in_words <- function(rows) {
  titles <- title_of(rows$transport)
  hosts <- if (is.null(rows$hosts)) NA else rows$hosts
  paste0(titles, fcase(
    is.na(hosts) | !rows$transport %in% words_for("anywhere"), "",
    hosts == 1L, " within one host", rep(TRUE, length(titles)), " between hosts"
  ))
}
