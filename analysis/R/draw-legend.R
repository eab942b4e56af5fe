# SPDX-License-Identifier: BSD-3-Clause
# The legend of a plot: an entry a level, with the marks that the level has in the panels.

#' Marks of the legends of a built plot, from `top` down, at most `width` wide.
#' @return list: `marks`, `height`.
#' @noRd
legend_marks <- function(built, top, width) {
  marks <- list()
  height <- 0
  for (legend in legends_of(built)) {
    drawn <- draw_legend(legend, top + height, width)
    marks <- c(marks, drawn$marks)
    height <- height + drawn$height
  }
  list(marks = marks, height = height + if (height > 0) 3 else 0)
}

# Scales of the same levels make one legend; of each, what its levels look like.
legends_of <- function(built) {
  scales <- Filter(function(scale) {
    !any(c("x", "y") %in% scale$aesthetics) && !identical(scale$guide, "none")
  }, built$plot$scales)
  out <- list()
  for (scale in scales) {
    limits <- scale$get_limits()
    mapped <- intersect(scale$aesthetics, used_aesthetics(built))
    if (scale$is_empty() || !length(limits) || !length(mapped)) next
    labels <- as.character(unlist(scale$get_labels(limits)))
    key <- paste(labels, collapse = "\n")
    look <- rep(list(scale$map(limits)), length(mapped))
    names(look) <- mapped
    out[[key]]$labels <- labels
    out[[key]]$look <- utils::modifyList(as.list(out[[key]]$look), look)
    out[[key]]$geoms <- union(out[[key]]$geoms, geoms_with(built, mapped))
  }
  out
}

# The aesthetics of each layer that follow the data.
mapped_of <- function(built, i) {
  layer <- built$plot$layers[[i]]
  if (identical(layer$show.legend, FALSE)) {
    return(character())
  }
  setdiff(names(mapping_of(layer, built$plot)), names(layer$aes_params))
}

used_aesthetics <- function(built) {
  unique(unlist(lapply(seq_along(built$plot$layers), mapped_of, built = built)))
}

geoms_with <- function(built, aesthetics) {
  unlist(lapply(seq_along(built$plot$layers), function(i) {
    if (any(aesthetics %in% mapped_of(built, i))) class(built$plot$layers[[i]]$geom)[[1L]]
  }))
}

draw_legend <- function(legend, top, width) {
  size <- PICTURE$small
  labels <- legend$labels
  n <- length(labels)
  each <- PICTURE$key + 4 + max(text_width(labels, size)) + 10
  columns <- max(1L, min(n, floor((width + 10) / each)))
  at <- seq_len(n) - 1L
  x <- PICTURE$margin + (at %% columns) * each
  y <- top + size * 0.8 + (at %/% columns) * size * 1.6
  look <- function(name, other) {
    values <- legend$look[[name]]
    if (is.null(values)) rep(other, n) else as.vector(values)
  }
  colours <- look("colour", "#000000")
  fills <- look("fill", NA)
  shapes <- look("shape", 16)
  dashes <- look("linetype", "solid")
  lines <- any(legend$geoms %in% c("GeomLine", "GeomPath", "GeomStep"))
  points <- any(legend$geoms %in% c("GeomPoint", "GeomPointrange"))
  areas <- any(legend$geoms %in% c("GeomCol", "GeomBar", "GeomRect", "GeomTile", "GeomRibbon"))
  marks <- unlist(lapply(seq_len(n), function(i) {
    middle <- y[[i]] - size * 0.3
    c(
      if (areas) list(boxes(x[[i]] + 6, middle - 4, x[[i]] + 18, middle + 4, fill = fills[[i]])),
      if (lines) {
        list(segments(x[[i]], middle, x[[i]] + PICTURE$key, middle,
          stroke = colours[[i]], width = 0.75, dash = dashes[[i]]
        ))
      },
      if (points) {
        list(point_marks(
          x[[i]] + PICTURE$key / 2, middle, shapes[[i]], 5.5, colours[[i]], fills[[i]], 1
        ))
      }
    )
  }), recursive = FALSE)
  text <- mark_text(x + PICTURE$key + 4, y, labels, size)
  list(marks = c(marks, list(text)), height = ceiling(n / columns) * size * 1.6)
}
