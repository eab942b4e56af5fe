# SPDX-License-Identifier: BSD-3-Clause
# The map of the first screen of a report: the fastest library by question and class of sizes.

# Number of questions on the map of the first screen; the table below it has all questions.
MOST_QUESTIONS <- 10L

#' The map of winners: one row per question, one column per class of message sizes. The colour is
#' that of the library that wins at more than half of the sizes, and deeper if the lead is larger;
#' the text says the same. Without a winner, the cell names the libraries that can be the fastest
#' at most of its sizes and has no colour.
#'
#' @param winners what [winners_by_class()] returned.
#' @param comparison what they were found in: it has the libraries and the number of hosts of each
#'   question. `NULL`: not known.
#' @param libraries all libraries of the study: the colours are assigned to these.
#' @return HTML, with the key of its colours; `NULL` without winners.
#' @noRd
winner_map <- function(winners, comparison = NULL,
                       libraries = setdiff(c(comparison$a, comparison$b, winners$winner), "")) {
  if (!nrow(winners)) {
    return(NULL)
  }
  colours <- colours_of(libraries)
  question <- QUESTION_OF_MAP
  cells <- copy(winners)
  set(cells, j = "first", value = title_first(cells))
  set(cells, j = "text", value = say_outcomes(cells, cells$first))
  # All sizes without a winner count together, then each set of candidates.
  cells[, together := sum(cells), by = c(question, "sizes", "winner")]
  setorderv(
    cells, c(question, "sizes", "together", "winner", "cells", "candidates"),
    c(rep(1L, 5L), -1L, -1L, -1L, -1L)
  )
  best <- cells[, list(
    winner = winner[[1L]], candidates = candidates[[1L]], most = most[[1L]],
    first = if (is_leading(winner[[1L]], cells[[1L]], together[[1L]], of[[1L]])) {
      first[[1L]]
    } else {
      ""
    },
    text = paste(text, collapse = "; ")
  ), by = c(question, "sizes")]
  rows <- unique(best[, question, with = FALSE])
  # The most common operations come first.
  rows <- rows[order(
    nzchar(simulated), startsWith(operation, "imb-"),
    place_in_report(base_operation(operation))
  )]
  rows <- utils::head(rows, MOST_QUESTIONS)
  titles <- htmlEscape(titles_of_questions(rows, comparison, libraries))
  classes <- intersect(names(CLASS_TITLES), as.character(best$sizes))
  body <- vapply(seq_len(nrow(rows)), function(i) {
    here <- best[rows[i], on = question]
    measured <- comparison[rows[i], on = question]
    compared <- unique(c(measured$a, measured$b))
    paste0("<tr><td>", titles[[i]], "</td>",
      paste(vapply(classes, function(class) {
        cell_of_map(here[as.character(sizes) == class], colours, compared)
      }, ""), collapse = ""), "</tr>"
    )
  }, "")
  htmltools::HTML(paste(c(
    "<table class=\"map\"><thead><tr><th>Question</th>",
    sprintf("<th>%s</th>", CLASS_TITLES[classes]), "</tr></thead><tbody>", body,
    "</tbody></table>", key_of_map(colours)
  ), collapse = "\n"))
}

key_of_map <- function(colours) {
  names <- in_order(names(colours))
  swatches <- sprintf(
    "<span class=\"swatch\" style=\"background:%s\"></span>%s",
    vapply(colours[names], mixed_colour, "", share = 0.5), htmlEscape(title_of(names))
  )
  paste(
    "<p class=\"hint key\">Coloured: the library that wins at more than half of these sizes, with",
    "its largest lead over the next (deeper: larger). Grey: those that may be the fastest.",
    paste0(paste(swatches, collapse = ", "), ".</p>")
  )
}

# Whether a cell names its first outcome: a winner of more than half of the sizes, or the
# candidates at half of the sizes without a winner. `together`: sizes of the winner, or of none.
is_leading <- function(winner, sizes, together, of) {
  if (nzchar(winner)) 2L * together > of else 2L * sizes >= together
}

# `compared`: the libraries of its question.
cell_of_map <- function(cell, colours, compared) {
  if (!nrow(cell)) {
    return("<td class=\"open\">not measured</td>")
  }
  title <- htmlEscape(cell$text, attribute = TRUE)
  if (!nzchar(cell$first)) {
    return(sprintf("<td class=\"open\" title=\"%s\">no single winner</td>", title))
  }
  if (!nzchar(cell$winner)) {
    # One library that is behind is named, too.
    behind <- setdiff(compared, strsplit(cell$candidates, ",", fixed = TRUE)[[1L]])
    behind <- if (length(behind) == 1L) paste("not", title_of(behind))
    names <- htmlEscape(toString(c(cell$first, behind)))
    return(sprintf("<td class=\"open among\" title=\"%s\">%s</td>", title, names))
  }
  colour <- mixed_colour(colours[[cell$winner]], min(0.5, 0.2 + 0.15 * log2(cell$most)))
  sprintf(
    "<td class=\"won\" style=\"background:%s\" title=\"%s\">%s, up to %s times</td>",
    colour, title, htmlEscape(cell$first), format_digits(cell$most, 2L)
  )
}

# A colour mixed with white by a share: black text stays readable on it.
mixed_colour <- function(colour, share) {
  parts <- 255 - share * (255 - grDevices::col2rgb(colour)[, 1L])
  sprintf("#%02X%02X%02X", round(parts[[1L]]), round(parts[[2L]]), round(parts[[3L]]))
}
