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
  question <- c("site", "simulated", "operation", "transport")
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
    winner = winner[[1L]], most = most[[1L]],
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
  classes <- intersect(names(CLASS_TITLES), as.character(best$sizes))
  body <- vapply(seq_len(nrow(rows)), function(i) {
    row <- rows[i]
    here <- best[row, on = question]
    measured <- if (!is.null(comparison)) comparison[row, on = question]
    paste0("<tr><td>", htmlEscape(title_of_row(row, measured, libraries)), "</td>",
      paste(vapply(classes, function(class) {
        cell_of_map(here[as.character(sizes) == class], colours)
      }, ""), collapse = ""), "</tr>"
    )
  }, "")
  htmltools::HTML(paste(c(
    "<table class=\"map\"><thead><tr><th>Question</th>",
    sprintf("<th>%s</th>", CLASS_TITLES[classes]), "</tr></thead><tbody>", body,
    "</tbody></table>", key_of_map(colours)
  ), collapse = "\n"))
}

# The title of a row, with what the comparisons of its question lack: other hosts, or libraries.
title_of_row <- function(row, measured, libraries) {
  row <- copy(row)
  if (uniqueN(measured$hosts) == 1L) set(row, j = "hosts", value = measured$hosts[[1L]])
  here <- unique(c(measured$a, measured$b))
  sentence_case(paste0(
    question_in_words(row$operation), ", ", transport_in_words(row),
    if (nzchar(row$simulated)) sprintf(" (%s)", short_label(row$simulated)),
    if (length(here) && length(here) < length(libraries)) {
      sprintf(" (only %s)", in_series(title_of(in_order(here))))
    }
  ))
}

key_of_map <- function(colours) {
  names <- in_order(names(colours))
  swatches <- sprintf(
    "<span class=\"swatch\" style=\"background:%s\"></span>%s",
    vapply(colours[names], mixed_colour, "", share = 0.5), htmlEscape(title_of(names))
  )
  paste(
    "<p class=\"hint key\">Each cell names the library that wins at more than half of its sizes,",
    "or those that can be the fastest, and the largest lead over the next library. The colour is",
    "deeper for a larger lead:", paste0(paste(swatches, collapse = ", "), ".</p>")
  )
}

# Whether a cell names its first outcome: a winner of more than half of the sizes, or the
# candidates at half of the sizes without a winner. `together`: sizes of the winner, or of none.
is_leading <- function(winner, sizes, together, of) {
  if (nzchar(winner)) 2L * together > of else 2L * sizes >= together
}

cell_of_map <- function(cell, colours) {
  if (!nrow(cell)) {
    return("<td class=\"open\">not measured</td>")
  }
  title <- htmlEscape(cell$text, attribute = TRUE)
  if (!nzchar(cell$first)) {
    return(sprintf("<td class=\"open\" title=\"%s\">no single winner</td>", title))
  }
  look <- "class=\"open among\""
  if (nzchar(cell$winner)) {
    colour <- mixed_colour(colours[[cell$winner]], min(0.5, 0.2 + 0.15 * log2(cell$most)))
    look <- sprintf("class=\"won\" style=\"background:%s\"", colour)
  }
  sprintf(
    "<td %s title=\"%s\">%s, up to %s times</td>",
    look, title, htmlEscape(cell$first), format_digits(cell$most)
  )
}

# A colour mixed with white by a share: black text stays readable on it.
mixed_colour <- function(colour, share) {
  parts <- 255 - share * (255 - grDevices::col2rgb(colour)[, 1L])
  sprintf("#%02X%02X%02X", round(parts[[1L]]), round(parts[[2L]]), round(parts[[3L]]))
}
