# SPDX-License-Identifier: BSD-3-Clause
# Titles of strata for readers: their columns in words, different for different strata.

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
  values <- function(column, kind) {
    if (!is.null(rows[[column]])) values_in_words(rows[[column]], kind, character())
  }
  parts <- list(
    if (!is.null(rows$mpi)) title_of(rows$mpi), question_in_words(rows$operation),
    transport_in_words(rows),
    if (!is.null(rows$placement)) sub("placement $", "", paste("placement", rows$placement)),
    values("settings", "setting"), values("parameters", "parameter"), rows$simulated
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

# Columns of a question of the map.
QUESTION_OF_MAP <- c("site", "simulated", "operation", "transport")

# The titles of questions: see `title_of_row()`.
titles_of_questions <- function(rows, comparison, libraries) {
  vapply(seq_len(nrow(rows)), function(i) {
    title_of_row(rows[i], comparison[rows[i], on = QUESTION_OF_MAP], libraries)
  }, "")
}

# The title of a row, with what the comparisons of its question lack: other hosts, or libraries.
title_of_row <- function(row, measured, libraries) {
  row <- copy(row)
  if (uniqueN(measured$hosts) == 1L) set(row, j = "hosts", value = measured$hosts[[1L]])
  lacks <- if (NROW(measured)) setdiff(libraries, c(measured$a, measured$b))
  sentence_case(paste0(
    question_in_words(row$operation), ", ", transport_in_words(row),
    if (nzchar(row$simulated)) sprintf(" (%s)", short_label(row$simulated)),
    if (length(lacks)) sprintf(" (without %s)", in_series(title_of(in_order(lacks))))
  ))
}
