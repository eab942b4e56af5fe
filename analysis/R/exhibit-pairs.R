# SPDX-License-Identifier: BSD-3-Clause
# Heat maps of all pairs of ranks.

#' @describeIn exhibit_by_size Medians of each pair of ranks, in both halves of a matrix: a heat
#'   map that shows slow ranks or links. The launches have the columns `first` and `second`.
exhibit_pair_map <- function(exhibit, panel = NULL, unit = NULL) {
  if (!all(c("first", "second") %in% names(exhibit$summary))) await("launches of all pairs")
  exhibit$arguments$series <- "first"
  unit <- unit_of(exhibit)
  medians <- add_values(curves_of_exhibit(exhibit, "second")$medians, unit)
  cells <- rbind(
    medians[, list(panel, row = first, column = second, y)],
    medians[, list(panel, row = second, column = first, y)]
  )
  ranks <- sort(unique(as.integer(c(cells$row, cells$column))))
  if (length(ranks) < 3L) await("launches of three ranks or more")
  cells[, `:=`(row = factor(row, rev(ranks)), column = factor(column, ranks))]
  columns <- ggplot2::wrap_dims(min(uniqueN(cells$panel), MOST_PANELS))[[2L]]
  cells[, label := fitting(format_axis(signif(y, 3L)), columns * length(ranks))]
  plot <- ggplot2::ggplot(cells, ggplot2::aes(column, row, fill = y)) +
    ggplot2::geom_tile(colour = "white", linewidth = 0.3) +
    ggplot2::geom_text(ggplot2::aes(label = label), size = 8 / ggplot2::.pt) +
    ggplot2::facet_wrap("panel", ncol = columns) +
    ggplot2::coord_equal() +
    ggplot2::labs(
      x = "rank", y = "rank",
      caption = caption_of_exhibit(
        exhibit, "Each cell: median of the launch medians of a pair of ranks.", medians$n
      )
    ) + theme_cotejo() + fill_by_value(unit$axis)
  factor <- cells[, list(factor = max(y) / min(y)), by = "panel"]$factor
  with_finding(with_data(plot, tidy_data(medians)), sprintf(
    "Pairs of ranks differ by up to %s times", format_digits(max(factor), 2L)
  ))
}

#' Labels of the cells of a map, none of them where one would be wider than its cell in 8 pt.
#'
#' @param across number of cells from the left to the right end of the figure.
#' @noRd
fitting <- function(labels, across) {
  longest <- max(nchar(unlist(strsplit(labels, "\n", fixed = TRUE))), 0L)
  # A letter of 8 pt is about 5 pt wide. The axis and the gaps between panels take 60 pt.
  if (5 * longest > (72 * FIGURE$width - 60) / across) rep("", length(labels)) else labels
}
