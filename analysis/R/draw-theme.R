# SPDX-License-Identifier: BSD-3-Clause
# The common theme of all figures: readable in colour, with colour blindness and in grey.

#' The theme of cotejo's figures.
#'
#' @param base_size size of the text, points.
#' @return a ggplot2 theme.
#' @examples
#' ggplot2::ggplot(cars, ggplot2::aes(speed, dist)) +
#'   ggplot2::geom_point() +
#'   theme_cotejo()
#' @export
theme_cotejo <- function(base_size = 9) {
  grey <- "grey30"
  # Cached, because hundreds of figures use it.
  keep_once(paste("theme", base_size), \() ggplot2::theme_bw(base_size) + ggplot2::theme(
    panel.grid.minor = ggplot2::element_blank(),
    panel.grid.major = ggplot2::element_line(colour = "grey91", linewidth = 0.3),
    panel.border = ggplot2::element_rect(colour = "grey55", fill = NA, linewidth = 0.4),
    axis.ticks = ggplot2::element_line(colour = "grey55", linewidth = 0.3),
    axis.text = ggplot2::element_text(colour = grey, size = SMALL_TEXT),
    strip.background = ggplot2::element_blank(),
    strip.text = ggplot2::element_text(
      hjust = 0, vjust = 0, face = "bold", size = SMALL_TEXT, margin = ggplot2::margin(2, 0, 3)
    ),
    legend.position = "top", legend.justification = "left",
    legend.title = ggplot2::element_blank(), legend.key.width = ggplot2::unit(2.4, "lines"),
    legend.text = ggplot2::element_text(size = SMALL_TEXT), legend.box = "vertical",
    legend.box.just = "left", legend.margin = ggplot2::margin(0, 0, 0, 0),
    legend.spacing.y = ggplot2::unit(0, "pt"), legend.key.height = ggplot2::unit(11, "pt"),
    plot.title = ggplot2::element_text(face = "bold", size = base_size + 1.5),
    plot.title.position = "plot", plot.caption.position = "plot",
    plot.caption = ggplot2::element_text(
      hjust = 0, colour = grey, size = SMALL_TEXT, lineheight = 1.1
    )
  ))
}

# Smallest text size of figures, points.
SMALL_TEXT <- 8

# Okabe and Ito's colours, ordered so that neighbours differ in lightness, too.
COLOURS <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
SHAPES <- c(16, 17, 15, 18, 8, 4, 3)
LINETYPES <- c("solid", "42", "12", "4212", "61", "2262", "1343")

# Scales of colour, shape and line for the levels of one factor. Each level differs in all three.
# Beyond seven levels colours repeat, and pairs of colour and shape differ. Levels that are MPI
# families have the colours that the families declare.
level_scales <- function(levels) {
  pick <- function(values, turn = 1L) {
    i <- seq_along(levels) - 1L
    values[(i + turn * (i %/% length(values))) %% length(values) + 1L]
  }
  guide <- legend_of(levels)
  colours <- colours_of_families(levels)
  if (is.null(colours)) colours <- stats::setNames(pick(COLOURS, 0L), levels)
  list(
    ggplot2::scale_colour_manual(values = colours, limits = levels, guide = guide),
    ggplot2::scale_shape_manual(values = pick(SHAPES), limits = levels, guide = guide),
    ggplot2::scale_linetype_manual(values = pick(LINETYPES), limits = levels, guide = guide)
  )
}

# A legend as wide as the figure allows, shared by colours, shapes and lines.
legend_of <- function(levels) {
  columns <- max(1L, LEGEND_WIDTH %/% (max(nchar(levels), 1L) + 8L))
  ggplot2::guide_legend(ncol = min(length(levels), columns), byrow = TRUE)
}

# Colours of levels that begin with the title of an MPI family ("MPICH", "MPICH, ping-pong"). They
# are the colours of the families, so that an MPI has one colour in all figures. `NULL` if a level
# belongs to no family, or if all levels belong to one family.
colours_of_families <- function(levels) {
  titles <- said$families$title[!is.na(said$families$colour)]
  of <- vapply(levels, function(level) {
    found <- titles[level == titles | startsWith(level, paste0(titles, ", "))]
    if (length(found)) found[[which.max(nchar(found))]] else NA_character_
  }, "")
  colours <- said$families$colour[match(of, said$families$title)]
  alone <- length(levels) > 1L && uniqueN(of) == 1L
  if (length(colours) && !anyNA(colours) && !alone && uniqueN(colours) == uniqueN(of)) {
    stats::setNames(colours, levels)
  }
}

# The colours of MPI libraries by name.
colours_of <- function(mpis) {
  mpis <- in_order(unique(mpis))
  stats::setNames(declared_colours(mpis, "name"), mpis)
}

# The colours that all of the libraries declare, or else colours from a palette.
declared_colours <- function(mpis, by) {
  colours <- said$families$colour[match(mpis, said$families[[by]])]
  if (!length(colours) || anyNA(colours)) rep_len(COLOURS[-7L], length(mpis)) else colours
}

# Characters that fit in one row of a legend.
LEGEND_WIDTH <- 106L

# Log axis of message sizes, labelled in binary units. Zero bytes are shown one step left of the
# smallest other size.
scale_bytes <- function(bytes, ...) {
  powers <- 2^seq(0, 40, by = 2)
  shown <- powers[powers >= min(bytes[bytes > 0], 1) & powers <= max(bytes, 1)]
  shown <- shown[seq(1L, length(shown), by = ceiling(length(shown) / 6))]
  zero <- if (any(bytes == 0)) zero_place(bytes)
  ggplot2::scale_x_continuous(
    "message size", trans = "log2", breaks = c(zero, shown),
    labels = c(if (length(zero)) "0 B", format_bytes(shown)),
    guide = ggplot2::guide_axis(check.overlap = TRUE), ...
  )
}

zero_place <- function(bytes) min(bytes[bytes > 0], 1) / 4
place_bytes <- function(bytes, all) fifelse(bytes == 0, zero_place(all), as.numeric(bytes))
