# SPDX-License-Identifier: BSD-3-Clause
# Finds the best algorithm of a collective operation, and the cost of the library's own choice.

#' @describeIn exhibit_by_size Heat map: the fastest algorithm of each size, and the regret of the
#'   library's choice. The launches have several levels of the setting `algorithm_OPERATION`.
#'   Without the setting the library chooses. Regret: time of this choice over that of the fastest
#'   algorithm, less 1.
exhibit_best_algorithm <- function(exhibit, row = NULL, panel = NULL) {
  row <- argument(exhibit, "row", "ranks")
  cells <- regret_of_default(exhibit, row, argument(exhibit, "panel", "mpi"))
  if (!nrow(cells)) await("launches of several algorithms beside the library's choice")
  if (uniqueN(cells$row) < 2L) await("another ", word_of_column(row))
  columns <- if (uniqueN(cells$panel) > 4L) 2L else 1L
  cells[, label := fitting(gsub("_", "\n", best, fixed = TRUE), columns * nlevels(size))]
  plot <- ggplot2::ggplot(cells, ggplot2::aes(size, row, fill = 100 * regret)) +
    ggplot2::geom_tile(colour = "white", linewidth = 0.3) +
    ggplot2::geom_text(ggplot2::aes(label = label), size = 8 / ggplot2::.pt, lineheight = 0.8) +
    ggplot2::facet_wrap("panel", ncol = columns) +
    ggplot2::labs(
      x = "message size", y = word_of_column(row),
      caption = caption_of_exhibit(exhibit, paste(
        "Each cell: the fastest algorithm. Colour: by how many % the library's choice is slower.",
        "With four launches or more, every second launch chooses the algorithm and the others",
        "measure the regret, which may then be below 0."
      ), cells$n)
    ) + theme_cotejo() + fill_by_value("regret of the library's choice, %")
  with_finding(with_data(plot, cells[, !c("size", "label")]), sprintf(
    "The library's choice is up to %s %% slower than the fastest algorithm",
    format_digits(100 * max(cells$regret), 2L)
  ))
}

#' The fastest algorithm and the regret of the library's choice, by panel, row and size.
#'
#' With four launches or more, every second launch chooses the algorithm, and the others give the
#' regret. Cells with only the default, or without it, are left out.
#'
#' @param row,panel names of columns.
#' @return data.table: `panel`, `row` (a factor), `bytes`, `size` (its label); `best` (an
#'   algorithm, or `default`); `regret` (a ratio of times, less 1); `algorithms` (their number);
#'   `n` (launches of the algorithm with the fewest).
#' @noRd
regret_of_default <- function(exhibit, row, panel) {
  points <- setDT(as.list(exhibit$summary))
  # The wait for the last rank does not belong to the time of an algorithm.
  if (row == "option_arrival" && "arrival_last_s" %in% names(points)) {
    points <- since_last_arrival(points)
  }
  points <- with_algorithms(points, results_of(exhibit)$launches)
  # Another algorithm ran than the setting names.
  if (!is.null(points[["algorithm"]])) points <- points[!is_replaced(algorithm)]
  set <- paste0("setting_algorithm_", points$operation)
  points[, algorithm := NA_character_]
  for (column in intersect(unique(set), names(points))) {
    points[set == column, algorithm := fcoalesce(as.character(.SD[[1L]]), "default"),
      .SDcols = column
    ]
  }
  points <- points[!is.na(algorithm) & median_s > 0]
  if (!nrow(points)) {
    return(points)
  }
  hidden <- c(intersect(unique(set), names(points)), "settings", "algorithm")
  panel <- unique(c(panel, "operation"))
  panel <- c(panel, setdiff(unexplained(points, c(panel, row, hidden), "bytes"), hidden))
  points[, `:=`(panel = level_of(points, panel), row = points[[row]])]
  halves <- points[, list(
    n = .N, choosing = median(if (.N >= 4L) median_s[launch %% 2L == 1L] else median_s),
    judging = median(if (.N >= 4L) median_s[launch %% 2L == 0L] else median_s)
  ), keyby = c("panel", "row", "bytes", "algorithm")]
  cells <- halves[, if (.N > 1L && "default" %in% algorithm) {
    fastest <- which.min(choosing)
    list(
      best = algorithm[[fastest]],
      regret = judging[algorithm == "default"] / judging[[fastest]] - 1,
      algorithms = .N, n = min(n)
    )
  }, keyby = c("panel", "row", "bytes")]
  if (!nrow(cells)) {
    return(cells)
  }
  values <- unique(cells$row)
  ordered <- if (is.numeric(values)) sort(values) else sort(as.character(values), method = "radix")
  cells[, `:=`(
    row = factor(as.character(row), as.character(ordered)),
    size = factor(format_bytes(bytes), format_bytes(sort(unique(bytes))))
  )][]
}
