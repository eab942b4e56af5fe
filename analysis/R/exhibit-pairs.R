# SPDX-License-Identifier: BSD-3-Clause
# Heat maps of all pairs of ranks.

# Largest number of ranks for which values are written into the cells.
MOST_LABELLED_RANKS <- 12L

#' Medians of each pair of ranks, in both halves of a matrix.
#'
#' Arguments: `panel`, `unit`. The launches have the columns `first` and `second`.
#' @noRd
exhibit_pair_map <- function(exhibit) {
  if (!all(c("first", "second") %in% names(exhibit$summary))) await("launches of all pairs")
  exhibit$arguments$series <- "first"
  unit <- unit_of(exhibit)
  medians <- add_values(exhibit_curves(exhibit, "second")$medians, unit)
  cells <- rbind(
    medians[, list(panel, row = first, column = second, y)],
    medians[, list(panel, row = second, column = first, y)]
  )
  ranks <- sort(unique(as.integer(c(cells$row, cells$column))))
  if (length(ranks) < 3L) await("launches of three ranks or more")
  cells[, `:=`(row = factor(row, rev(ranks)), column = factor(column, ranks))]
  plot <- ggplot2::ggplot(cells, ggplot2::aes(column, row, fill = y)) +
    ggplot2::geom_tile(colour = "white", linewidth = 0.3) +
    ggplot2::facet_wrap("panel") +
    ggplot2::scale_fill_gradient(unit$axis,
      low = "grey95", high = "steelblue4", labels = format_axis
    ) +
    ggplot2::coord_equal() +
    ggplot2::labs(
      x = "rank", y = "rank",
      caption = caption_of_exhibit(
        exhibit, "Each cell: median of the launch medians of a pair of ranks.", medians$n
      )
    ) + theme_cotejo()
  if (length(ranks) <= MOST_LABELLED_RANKS) {
    plot <- plot + ggplot2::geom_text(ggplot2::aes(label = format_axis(signif(y, 3L))), size = 2.2)
  }
  factor <- cells[, list(factor = max(y) / min(y)), by = "panel"]$factor
  with_finding(with_data(plot, tidy_data(medians)), sprintf(
    "Pairs of ranks differ by up to %s times", format_digits(max(factor), 2L)
  ))
}
