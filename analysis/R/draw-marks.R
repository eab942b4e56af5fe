# SPDX-License-Identifier: BSD-3-Clause
# Layers of a plot -> marks: lines, dots and texts in points (1/72 inch), down from the top left.
#
# Equal marks of a layer are one element of a file, however many there are: every point stays
# drawn, and a thousand of them cost what one does.

# Millimetres of ggplot2 in points; its widths of lines are these in 1/96 inch.
MM <- 72.27 / 25.4
LINE <- MM * 72 / 96

#' Lines or areas: those of one `id` are joined.
#' @noRd
mark_lines <- function(x, y, id, stroke = NA, width = 0.5, dash = "solid", fill = NA,
                       closed = FALSE, opacity = 1) {
  list(
    kind = "lines", x = x, y = y, id = id, stroke = stroke, width = width, dash = dash,
    fill = fill, closed = closed, opacity = opacity
  )
}

mark_dots <- function(x, y, diameter, colour, opacity = 1) {
  list(kind = "dots", x = x, y = y, diameter = diameter, colour = colour, opacity = opacity)
}

#' Texts; `anchor` is 0 (begins at x), 0.5 or 1 (ends there), `y` their base line.
#' @noRd
mark_text <- function(x, y, label, size, colour = "#000000", anchor = 0, bold = FALSE,
                      angle = 0) {
  list(
    kind = "text", x = x, y = y, label = as.character(label), size = size, colour = colour,
    anchor = anchor, bold = bold, angle = angle
  )
}

segments <- function(x, y, xend, yend, ...) {
  n <- length(x)
  mark_lines(
    as.vector(rbind(x, xend)), as.vector(rbind(y, yend)), rep(seq_len(n), each = 2L), ...
  )
}

boxes <- function(left, top, right, bottom, ...) {
  mark_lines(
    as.vector(rbind(left, right, right, left)), as.vector(rbind(top, top, bottom, bottom)),
    rep(seq_along(left), each = 4L), closed = TRUE, ...
  )
}

#' Symbols: the same lines or areas at many places.
#'
#' @param dx,dy corners beside the place; those of one `id` are joined.
#' @noRd
mark_symbols <- function(x, y, dx, dy, id, ...) {
  mark <- mark_lines(x, y, id, ...)
  mark$kind <- "symbols"
  c(mark, list(dx = dx, dy = dy))
}

#' Symbols as the lines or areas that they are.
#' @noRd
lines_of_symbols <- function(mark) {
  n <- length(mark$dx)
  at <- seq_along(mark$x)
  mark$id <- rep(mark$id, length(at)) + rep(at - 1L, each = n) * max(mark$id)
  mark$x <- rep(mark$x, each = n) + mark$dx
  mark$y <- rep(mark$y, each = n) + mark$dy
  mark$kind <- "lines"
  mark
}

#' The marks of points of one look.
#'
#' @param shape number of R's symbols.
#' @param size font size of the symbol, points; `stroke` width of its line.
#' @noRd
point_marks <- function(x, y, shape, size, colour, fill, opacity, stroke = 0.5) {
  r <- 0.375 * size
  outline <- function(dx, dy, filled = colour, line = NA) {
    mark_symbols(x, y, dx, dy, rep(1L, length(dx)),
      stroke = line, width = stroke * LINE * 0.5, fill = filled, closed = TRUE, opacity = opacity
    )
  }
  up <- list(x = c(0, 1.347, -1.347) * r, y = c(-1.555, 0.778, 0.778) * r)
  square <- list(x = c(-1, 1, 1, -1) * r, y = c(-1, -1, 1, 1) * r)
  diamond <- list(x = c(0, 1, 0, -1) * r, y = c(-1, 0, 1, 0) * r)
  cross <- function(dx, dy) {
    mark_symbols(x, y, dx, dy, rep(seq_len(length(dx) / 2L), each = 2L),
      stroke = colour, width = stroke * LINE, opacity = opacity
    )
  }
  plus <- list(x = c(-1.41, 1.41, 0, 0) * r, y = c(0, 0, -1.41, 1.41) * r)
  times <- list(x = c(-1, 1, -1, 1) * r, y = c(-1, 1, 1, -1) * r)
  ring <- seq(0, 2 * pi, length.out = 13L)[-13L]
  switch(as.character(shape),
    "15" = outline(square$x, square$y),
    "17" = outline(up$x, up$y),
    "18" = outline(diamond$x, diamond$y),
    "24" = outline(up$x, up$y, filled = fill, line = colour),
    "25" = outline(up$x, -up$y, filled = fill, line = colour),
    "22" = outline(square$x, square$y, filled = fill, line = colour),
    "23" = outline(1.41 * diamond$x, 1.41 * diamond$y, filled = fill, line = colour),
    "5" = outline(1.41 * diamond$x, 1.41 * diamond$y, filled = NA, line = colour),
    "0" = outline(square$x, square$y, filled = NA, line = colour),
    "2" = outline(up$x, up$y, filled = NA, line = colour),
    "1" = , "21" = outline(r * cos(ring), r * sin(ring), filled = NA, line = colour),
    "3" = cross(plus$x, plus$y),
    "4" = cross(times$x, times$y),
    "8" = cross(c(plus$x, times$x), c(plus$y, times$y)),
    mark_dots(x, y, 2 * r, colour, opacity)
  )
}

# Marks of equal look in a panel, made by `make` from the rows of each, in the order of their first
# rows; each says its `panel`. Only columns that vary tell looks apart.
by_look <- function(data, columns, make) {
  if (!length(data$PANEL)) {
    return(list())
  }
  varying <- Filter(function(values) {
    known <- !is.na(values)
    any(known) && (!all(known) || any(values != values[[1L]]))
  }, data[intersect(c("PANEL", columns), names(data))])
  parts <- list(data)
  if (length(varying)) {
    look <- do.call(paste, unname(varying))
    rows <- split(seq_along(look), factor(look, unique(look)))
    parts <- lapply(unname(rows), \(rows) pick(data, rows))
  }
  lapply(parts, function(part) c(make(part), list(panel = part$PANEL[[1L]])))
}

# Rows of a list of columns of which some columns are known.
known_rows <- function(data, columns) {
  known <- Reduce(`&`, lapply(data[columns], function(values) !is.na(values)))
  if (all(known)) data else pick(data, which(known))
}

opacity_of <- function(alpha) if (is.null(alpha) || is.na(alpha[[1L]])) 1 else alpha[[1L]]

#' The marks of a layer in all panels.
#'
#' @param geom class of the layer's geometry.
#' @param data list of columns of what [built_of()] made of it.
#' @param places list `x`, `y`: what [place_in_boxes()] returned.
#' @noRd
layer_marks <- function(geom, data, places) {
  make <- LAYER_MARKS[[geom]]
  if (is.null(make)) {
    refuse(sprintf(
      "figures have no marks for %s; there are %s", geom, toString(names(LAYER_MARKS))
    ))
  }
  for (axis in c("x", "y")) {
    for (column in intersect(names(data), PLACES[[axis]])) {
      data[[column]] <- places[[axis]](data[[column]], data$PANEL)
    }
  }
  make(data, places)
}

#' How values of an axis are taken to points: a function of values and of their panels' numbers.
#'
#' @param from,to matrices, a row a panel: the ends of its axis, and where they are. Infinite
#'   values are there too.
#' @noRd
place_in_boxes <- function(from, to) {
  span <- from[, 2L] - from[, 1L]
  span[span == 0] <- 1
  function(values, panel) {
    values <- as.numeric(values)
    beyond <- which(is.infinite(values))
    values[beyond] <- from[cbind(panel[beyond], fifelse(values[beyond] > 0, 2L, 1L))]
    to[panel, 1L] + (values - from[panel, 1L]) / span[panel] * (to[panel, 2L] - to[panel, 1L])
  }
}

PLACES <- list(
  x = c("x", "xmin", "xmax", "xend", "xintercept"),
  y = c("y", "ymin", "ymax", "yend", "yintercept")
)

points_of_layer <- function(data, ...) {
  data <- known_rows(data, c("x", "y", "shape"))
  by_look(data, c("shape", "size", "colour", "fill", "alpha", "stroke"), function(d) {
    point_marks(
      d$x, d$y, d$shape[[1L]], d$size[[1L]] * MM + d$stroke[[1L]] * LINE * 1.3, d$colour[[1L]],
      d$fill[[1L]], opacity_of(d$alpha), d$stroke[[1L]]
    )
  })
}

lines_of_layer <- function(data, ...) {
  data <- known_rows(data, c("x", "y"))
  by_look(data, c("colour", "linewidth", "linetype", "alpha"), function(d) {
    mark_lines(d$x, d$y, d$group,
      stroke = d$colour[[1L]], width = d$linewidth[[1L]] * LINE,
      dash = d$linetype[[1L]], opacity = opacity_of(d$alpha)
    )
  })
}

segments_of <- function(data, columns) {
  by_look(known_rows(data, columns), c("colour", "linewidth", "linetype", "alpha"), function(d) {
    segments(d[[columns[[1L]]]], d[[columns[[2L]]]], d[[columns[[3L]]]], d[[columns[[4L]]]],
      stroke = d$colour[[1L]], width = d$linewidth[[1L]] * LINE, dash = d$linetype[[1L]],
      opacity = opacity_of(d$alpha)
    )
  })
}

# Ranges stand, or lie where the plot has them along x.
ranges_of <- function(data) {
  lie <- isTRUE(data$flipped_aes[[1L]])
  segments_of(data, if (lie) c("xmin", "y", "xmax", "y") else c("x", "ymin", "x", "ymax"))
}

areas_of_layer <- function(data, ...) {
  data <- known_rows(data, c("xmin", "xmax", "ymin", "ymax"))
  by_look(data, c("colour", "fill", "linewidth", "alpha"), function(d) {
    boxes(d$xmin, d$ymax, d$xmax, d$ymin,
      stroke = d$colour[[1L]], width = d$linewidth[[1L]] * LINE, fill = d$fill[[1L]],
      opacity = opacity_of(d$alpha)
    )
  })
}

texts_of_layer <- function(data, ...) {
  data <- known_rows(data, c("x", "y"))
  data <- pick(data, which(nzchar(data$label)))
  by_look(data, c("size", "colour", "hjust", "vjust", "angle"), function(d) {
    size <- d$size[[1L]] * MM
    mark_text(
      d$x, d$y + (as.numeric(d$vjust[[1L]])) * size * 0.72, d$label, size, d$colour[[1L]],
      as.numeric(d$hjust[[1L]]), FALSE, d$angle[[1L]]
    )
  })
}

ribbons_of_layer <- function(data, ...) {
  data <- known_rows(data, c("x", "ymin", "ymax"))
  by_look(data, c("fill", "alpha", "group"), function(d) {
    mark_lines(c(d$x, rev(d$x)), c(d$ymax, rev(d$ymin)), rep(1L, 2L * length(d$x)),
      fill = d$fill[[1L]], closed = TRUE, opacity = opacity_of(d$alpha)
    )
  })
}

# Steps go along first, then up or down.
steps_of_layer <- function(data, ...) {
  of <- split(seq_along(data$x), list(data$group, data$PANEL), drop = TRUE)
  twice <- function(drop) {
    unlist(lapply(of, function(rows) rep(rows, each = 2L)[-drop(length(rows))]), use.names = FALSE)
  }
  out <- pick(data, twice(function(n) 1L))
  out$y <- data$y[twice(function(n) 2L * n)]
  lines_of_layer(out)
}

LAYER_MARKS <- list(
  GeomPoint = points_of_layer,
  GeomLine = lines_of_layer,
  GeomPath = lines_of_layer,
  GeomStep = steps_of_layer,
  GeomRibbon = ribbons_of_layer,
  GeomText = texts_of_layer,
  GeomCol = areas_of_layer, GeomBar = areas_of_layer, GeomRect = areas_of_layer,
  GeomTile = areas_of_layer,
  GeomLinerange = function(data, ...) ranges_of(data),
  GeomErrorbar = function(data, ...) ranges_of(data),
  GeomSegment = function(data, ...) segments_of(data, c("x", "y", "xend", "yend")),
  GeomPointrange = function(data, ...) {
    points <- data
    # The point of a range is four times as large as its line is wide.
    points$size <- 4 * data$size
    c(ranges_of(data), points_of_layer(points))
  },
  GeomHline = function(data, places) {
    data <- across_panels(data, places$x)
    segments_of(data, c("from", "yintercept", "to", "yintercept"))
  },
  GeomVline = function(data, places) {
    data <- across_panels(data, places$y)
    segments_of(data, c("xintercept", "from", "xintercept", "to"))
  }
)

# Lines from one end of their panels to the other.
across_panels <- function(data, place) {
  ends <- function(end) place(rep(end, length(data$PANEL)), data$PANEL)
  c(data, list(from = ends(-Inf), to = ends(Inf)))
}
