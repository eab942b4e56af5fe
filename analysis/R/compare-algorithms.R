# SPDX-License-Identifier: BSD-3-Clause
# Adds the algorithm that each collective operation ran to its times.

#' Add the algorithm of each operation and size to launch summaries.
#'
#' @param summary what [summarise_launches()] returned, or columns of it.
#' @param launches the launches of the same study.
#' @return `summary` with the column `algorithm`: the verdict of docs/algorithms.md in words, `NA`
#'   where the launch description has none. The column is missing if no launch has a verdict.
#' @noRd
with_algorithms <- function(summary, launches) {
  texts <- unique(launches$ran[!is.na(launches$ran)])
  ran <- split_entries(as.character(texts), RAN_MEMBERS)
  if (!nrow(ran)) {
    return(summary)
  }
  of_launch <- match(launches$ran[match(summary$key, launches$key)], texts)
  at <- match(
    paste(of_launch, summary$operation, summary$bytes), paste(ran$text, ran$operation, ran$bytes)
  )
  set(summary, j = "algorithm", value = ran$words[at])
  summary[]
}

#' Add the algorithms that ran to medians or comparisons.
#'
#' @param table what [summarise_configurations()] or [compare_configurations()] returned.
#' @param summary the launch summaries of the table, see [with_algorithms()].
#' @param by the compared factor; empty: the table has medians.
#' @return `table` with the column `algorithm`, or for comparisons `algorithm_a` and `algorithm_b`;
#'   empty texts where nothing is known. The columns are missing if no launch has a verdict.
#' @noRd
algorithms_beside <- function(table, summary, by = character()) {
  # Not `$`, which would find the column `algorithms`.
  if (!nrow(table) || all(is.na(summary[["algorithm"]]))) {
    return(table)
  }
  keys <- c(setdiff(intersect(configuration_columns(summary), names(table)), by), "bytes")
  known <- which(!is.na(summary$algorithm))
  ran <- keep_rows(summary, known)[, list(words = paste(unique(algorithm), collapse = "; ")),
    by = c(keys, by)
  ]
  sides <- if (length(by)) c(algorithm_a = "a", algorithm_b = "b") else c(algorithm = "")
  for (name in names(sides)) {
    on <- stats::setNames(c(keys, sides[[name]][length(by)]), c(keys, by))
    words <- ran[table, on = on, mult = "first"]$words
    set(table, j = name, value = fcoalesce(words, ""))
  }
  table[]
}

# Whether a library replaced the requested algorithm, from the verdict in words.
is_replaced <- function(words) grepl(", not as ", words, fixed = TRUE)
