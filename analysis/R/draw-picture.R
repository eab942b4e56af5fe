# SPDX-License-Identifier: BSD-3-Clause
# A plot -> its picture: panels, axes, legend and texts at their places, as marks. One layout
# serves every format. The plot says what is shown; the one look of all figures is here.

PICTURE <- list(
  width = 518.4, margin = 5.5, gap = 7, tick = 2.75, small = 7.2, normal = 9, title = 10.5,
  panel = 118, alone = 175, line = 1.2, key = 24
)
GREYS <- list(text = "#4D4D4D", grid = "#E8E8E8", border = "#8C8C8C")

#' The picture of a plot.
#'
#' @param plot a ggplot, in facets or not.
#' @return list: `width`, `height` (points), `title`, `marks` (of the whole picture) and `panels`,
#'   each with its `box` (left, top, right, bottom) and its `marks`, which are cut off at it.
#' @noRd
picture_of <- function(plot) {
  built <- built_of(plot)
  panels <- panels_of(built)
  labels <- built$plot$labels
  inner <- PICTURE$width - 2 * PICTURE$margin
  y <- PICTURE$margin
  heading <- text_block(labels$title, PICTURE$margin, y, inner, PICTURE$title, TRUE, "#000000")
  legend <- legend_marks(built, y + heading$height + 3, inner)
  body <- place_panels(built, panels, y + heading$height + 3 + legend$height)
  caption <- text_block(
    labels$caption, PICTURE$margin, body$bottom + 5, inner, PICTURE$small, FALSE, GREYS$text, 1.25
  )
  list(
    width = PICTURE$width, height = ceiling(body$bottom + 5 + caption$height + PICTURE$margin),
    title = labels$title, marks = c(heading$marks, legend$marks, body$marks, caption$marks),
    panels = body$panels
  )
}

# Lines of text from a place down, wrapped at a width.
text_block <- function(text, x, y, width, size, bold, colour, leading = PICTURE$line) {
  lines <- if (is.null(text)) character() else wrap_text(text, width, size, bold)
  if (!length(lines)) {
    return(list(marks = list(), height = 0))
  }
  down <- y + size * 0.8 + (seq_along(lines) - 1) * size * leading
  list(
    marks = list(mark_text(rep(x, length(lines)), down, lines, size, colour, 0, bold)),
    height = size * leading * length(lines)
  )
}

#' The panels of a built plot: row, column, titles, axes and layers.
#' @noRd
panels_of <- function(built) {
  layout <- built$layout$layout
  facet <- built$layout$facet
  params <- facet$params
  label <- function(columns) {
    if (!length(columns)) {
      return(rep("", nrow(layout)))
    }
    table <- layout[, columns, drop = FALSE]
    found <- match.fun(params$labeller)(as.data.frame(lapply(table, as.character)))
    do.call(paste, c(unname(lapply(found, as.character)), sep = "\n"))
  }
  grid <- inherits(facet, "FacetGrid")
  top <- label(names(if (grid) params$cols else params$facets))
  side <- if (grid) label(names(params$rows)) else rep("", nrow(layout))
  lapply(seq_len(nrow(layout)), function(i) {
    scales <- built$layout$panel_params[[i]]
    list(
      number = i, row = as.integer(layout$ROW[[i]]), column = as.integer(layout$COL[[i]]),
      top = if (grid && layout$ROW[[i]] > 1L) "" else top[[i]],
      side = if (layout$COL[[i]] == max(layout$COL)) side[[i]] else "",
      x = scales$x, y = scales$y
    )
  })
}

#' Places and marks of all panels, from `top` down.
#' @noRd
place_panels <- function(built, panels, top) {
  params <- built$layout$facet$params
  free <- params$free
  rows <- vapply(panels, `[[`, 0L, "row")
  columns <- vapply(panels, `[[`, 0L, "column")
  wrapped <- inherits(built$layout$facet, "FacetWrap")
  last <- vapply(seq_along(panels), function(i) {
    !any(rows > rows[[i]] & columns == columns[[i]])
  }, NA)
  with_x <- last | wrapped & isTRUE(free$x)
  with_y <- columns == 1L | wrapped & isTRUE(free$y)
  axis_width <- vapply(panels, function(p) max(0, p$y$wide), 0) + PICTURE$tick + 3
  left <- vapply(seq_len(max(columns)), function(k) {
    max(0, axis_width[columns == k & with_y])
  }, 0)
  names_of <- axis_names(built)
  begin <- PICTURE$margin + if (nzchar(names_of$y)) PICTURE$normal * 1.4 else 0
  sides <- vapply(panels, function(p) nzchar(p$side), NA)
  strip <- if (any(sides)) PICTURE$small * 1.25 * 3 + 4 else 0
  room <- PICTURE$width - PICTURE$margin - begin - sum(left) - strip -
    (max(columns) - 1) * PICTURE$gap
  width <- room / max(columns)
  x0 <- begin + cumsum(left) + (seq_len(max(columns)) - 1) * (width + PICTURE$gap)
  height <- panel_height(built, panels, width, max(rows))
  titles <- lapply(panels, function(p) wrap_text(p$top, width, PICTURE$normal * 0.8, TRUE))
  placed <- boxes_of_panels(
    rows, x0[columns], top, width, height, lengths(titles), mapply(depth_of_axis, panels, with_x)
  )
  boxes <- placed$boxes
  y <- placed$bottom
  places <- places_of_panels(panels, boxes)
  inside <- marks_of_panels(built, panels, boxes, places)
  by_row <- order(rows)
  marks <- unlist(lapply(by_row, function(i) {
    c(
      axes_of_panel(panels[[i]], boxes[[i]], places, with_x[[i]], with_y[[i]]),
      panel_titles(titles[[i]], panels[[i]]$side, boxes[[i]])
    )
  }), recursive = FALSE)
  if (nzchar(names_of$x)) {
    y <- y + PICTURE$normal
    marks <- c(marks, list(mark_text(
      mean(c(x0[[1L]], PICTURE$width - PICTURE$margin - strip)), y, names_of$x, PICTURE$normal,
      anchor = 0.5
    )))
    y <- y + PICTURE$normal * 0.3
  }
  if (nzchar(names_of$y)) {
    lines <- wrap_text(names_of$y, y - top, PICTURE$normal)
    marks <- c(marks, list(mark_text(
      PICTURE$margin + PICTURE$normal * (0.8 + (seq_along(lines) - 1)),
      rep((top + y) / 2, length(lines)), lines, PICTURE$normal,
      anchor = 0.5, angle = 90
    )))
  }
  panels <- lapply(by_row, function(i) list(box = boxes[[i]], marks = inside[[i]]))
  list(marks = marks, panels = panels, bottom = y)
}

#' The boxes of panels, row below row.
#'
#' @param left end of each, `titles` lines above each, `foot` what its axis takes below it.
#' @return list: `boxes`, `bottom` of the last row.
#' @noRd
boxes_of_panels <- function(rows, left, top, width, height, titles, foot) {
  boxes <- vector("list", length(rows))
  y <- top
  for (here in unname(split(seq_along(rows), rows))) {
    head <- max(titles[here]) * PICTURE$normal * 0.8 * PICTURE$line
    head <- head + if (head > 0) 5 else 3
    for (i in here) {
      boxes[[i]] <- c(
        left = left[[i]], top = y + head, right = left[[i]] + width, bottom = y + head + height
      )
    }
    y <- y + head + height + max(foot[here]) + PICTURE$gap / 2
  }
  list(boxes = boxes, bottom = y)
}

widest <- function(labels, size, bold = FALSE) {
  lines <- unlist(strsplit(labels, "\n", fixed = TRUE))
  if (length(lines)) max(text_width(lines, size, bold)) else 0
}

# A plot of equal axes has square units.
panel_height <- function(built, panels, width, rows) {
  if (inherits(built$layout$coord, "CoordFixed")) {
    return(width * diff(panels[[1L]]$y$range) / diff(panels[[1L]]$x$range))
  }
  # Names along an axis have a line each.
  lines <- max(vapply(panels, function(p) length(p$y$labels), 0L))
  max(if (rows > 1L) PICTURE$panel else PICTURE$alone, lines * PICTURE$small * PICTURE$line)
}

axis_names <- function(built) {
  name <- function(axis) {
    scale <- built$plot$scales[[axis]]
    found <- if (inherits(scale$name, "waiver")) built$plot$labels[[axis]] else scale$name
    if (is.null(found)) "" else as.character(found)
  }
  list(x = name("x"), y = name("y"))
}

# A panel's titles: above it, and turned at its right side.
panel_titles <- function(lines, side, box) {
  size <- PICTURE$normal * 0.8
  n <- length(lines)
  c(
    if (n) {
      list(mark_text(
        rep(box[["left"]], n), box[["top"]] - 4 - (n - seq_len(n)) * size * PICTURE$line, lines,
        size,
        bold = TRUE
      ))
    },
    if (nzchar(side)) {
      turned <- wrap_text(side, box[["bottom"]] - box[["top"]], size, TRUE)
      list(mark_text(
        box[["right"]] + 4 + (rev(seq_along(turned)) - 1) * size * 1.25 + 1,
        rep((box[["top"]] + box[["bottom"]]) / 2, length(turned)), turned, size,
        anchor = 0.5, bold = TRUE, angle = 270
      ))
    }
  )
}

# What takes values of the axes of panels to points, see [place_in_boxes()].
places_of_panels <- function(panels, boxes) {
  ends <- function(axis) do.call(rbind, lapply(panels, function(p) as.numeric(p[[axis]]$range)))
  edges <- do.call(rbind, boxes)
  list(
    x = place_in_boxes(ends("x"), edges[, c("left", "right"), drop = FALSE]),
    y = place_in_boxes(ends("y"), edges[, c("bottom", "top"), drop = FALSE])
  )
}

# Where the breaks of an axis of a panel are.
ticks_of_panel <- function(panel, places, axis) {
  at <- panel[[axis]]$places
  places[[axis]](at, rep.int(panel$number, length(at)))
}

#' What is inside of panels: of each the marks of its grid and of all layers.
#' @noRd
marks_of_panels <- function(built, panels, boxes, places) {
  layers <- Map(function(layer, data) {
    if (length(data$PANEL)) layer_marks(class(layer$geom)[[1L]], data, places)
  }, built$plot$layers, built$data)
  layers <- unlist(unname(layers), recursive = FALSE)
  of <- factor(vapply(layers, `[[`, 0L, "panel"), seq_along(panels))
  unname(Map(function(panel, box, marks) {
    at_x <- ticks_of_panel(panel, places, "x")
    at_y <- ticks_of_panel(panel, places, "y")
    grid <- segments(
      c(at_x, rep(box[["left"]], length(at_y))), c(rep(box[["top"]], length(at_x)), at_y),
      c(at_x, rep(box[["right"]], length(at_y))), c(rep(box[["bottom"]], length(at_x)), at_y),
      stroke = GREYS$grid, width = 0.6
    )
    c(list(grid), marks)
  }, panels, boxes, split(layers, of)))
}

# The border of a panel and its axes, outside of its box.
axes_of_panel <- function(panel, box, places, with_x, with_y) {
  c(
    list(boxes_mark(box)),
    if (with_x) x_axis(ticks_of_panel(panel, places, "x"), panel$x$labels, panel$x$wide, box),
    if (with_y) y_axis_marks(ticks_of_panel(panel, places, "y"), panel$y$labels, box)
  )
}

# What the texts of an axis take below a panel.
depth_of_axis <- function(panel, with_x) {
  if (!with_x || !length(panel$x$labels)) {
    return(0)
  }
  lines <- max(1L, lengths(strsplit(panel$x$labels, "\n", fixed = TRUE)))
  lines * PICTURE$small * PICTURE$line + PICTURE$tick + 3
}

# Texts that would touch the one before are left out; their ticks stay.
x_axis <- function(at, labels, wide, box) {
  if (!length(at)) {
    return(list())
  }
  free <- -Inf
  shown <- logical(length(at))
  for (i in order(at)) {
    shown[[i]] <- at[[i]] - wide[[i]] / 2 > free
    if (shown[[i]]) free <- at[[i]] + wide[[i]] / 2 + 1.5
  }
  lines <- strsplit(labels[shown], "\n", fixed = TRUE)
  depth <- unlist(lapply(lines, seq_along))
  bottom <- box[["bottom"]]
  list(
    segments(at, rep(bottom, length(at)), at, rep(bottom + PICTURE$tick, length(at)),
      stroke = GREYS$border, width = 0.64
    ),
    mark_text(
      rep(at[shown], lengths(lines)),
      bottom + PICTURE$tick + 1.5 + PICTURE$small * (0.8 + (depth - 1) * PICTURE$line),
      unlist(lines), PICTURE$small, GREYS$text, 0.5
    )
  )
}

y_axis_marks <- function(at, labels, box) {
  if (!length(at)) {
    return(list())
  }
  left <- box[["left"]]
  list(
    segments(rep(left, length(at)), at, rep(left - PICTURE$tick, length(at)), at,
      stroke = GREYS$border, width = 0.64
    ),
    mark_text(
      rep(left - PICTURE$tick - 1.5, length(at)), at + PICTURE$small * 0.36, labels,
      PICTURE$small, GREYS$text, 1
    )
  )
}
