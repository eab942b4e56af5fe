# SPDX-License-Identifier: BSD-3-Clause
# A picture -> SVG, or PDF by R's own device: the same marks.

#' The picture as SVG text. Text stays text, to be searched and edited.
#' @noRd
svg_text <- function(picture) {
  panels <- unlist(lapply(seq_along(picture$panels), function(i) {
    panel <- picture$panels[[i]]
    box <- panel$box
    c(
      sprintf(
        "<clipPath id=\"p%d\"><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/></clipPath>", i,
        short(box[["left"]]), short(box[["top"]]), short(box[["right"]] - box[["left"]]),
        short(box[["bottom"]] - box[["top"]])
      ),
      sprintf("<g clip-path=\"url(#p%d)\">", i), svg_marks(panel$marks), "</g>"
    )
  }))
  size <- sprintf(
    "width=\"%spt\" height=\"%spt\" viewBox=\"0 0 %s %s\"", short(picture$width),
    short(picture$height), short(picture$width), short(picture$height)
  )
  paste(c(
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" %s>", size),
    sprintf("<title>%s</title>", htmlEscape(picture$title)),
    "<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>",
    sprintf("<g fill=\"none\" font-family=\"'%s', Verdana, sans-serif\">", FONT),
    panels, svg_marks(picture$marks), "</g>", "</svg>"
  ), collapse = "\n")
}

#' A small picture for an index: the first panels, without texts and without single launches.
#' @noRd
thumb_text <- function(picture) {
  boxes <- lapply(picture$panels, `[[`, "box")
  rows <- unique(vapply(boxes, `[[`, 0, "top"))
  shown <- which(vapply(boxes, `[[`, 0, "top") %in% utils::head(rows, 2L))
  boxes <- boxes[shown]
  left <- min(vapply(boxes, `[[`, 0, "left")) - 2
  top <- min(vapply(boxes, `[[`, 0, "top")) - 2
  width <- max(vapply(boxes, `[[`, 0, "right")) + 2 - left
  height <- max(vapply(boxes, `[[`, 0, "bottom")) + 2 - top
  marks <- unlist(lapply(picture$panels[shown], function(panel) {
    box <- panel$box
    kept <- Filter(function(mark) mark$kind != "text" && mark$opacity == 1, panel$marks)
    c(kept, list(boxes_mark(box)))
  }), recursive = FALSE)
  marks <- lapply(marks, function(mark) {
    places <- intersect(c("x", "y", "dx", "dy"), names(mark))
    mark[places] <- lapply(mark[places], round, 1L)
    mark
  })
  paste(c(
    sprintf(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%s %s %s %s\" fill=\"none\">",
      short(left), short(top), short(width), short(height)
    ),
    svg_marks(marks), "</svg>"
  ), collapse = "\n")
}

boxes_mark <- function(box) {
  boxes(box[["left"]], box[["top"]], box[["right"]], box[["bottom"]],
    stroke = GREYS$border, width = 0.85
  )
}

svg_marks <- function(marks) {
  unlist(lapply(marks, function(mark) {
    switch(mark$kind,
      lines = svg_lines(mark), symbols = svg_symbols(mark), dots = svg_dots(mark),
      text = svg_texts(mark)
    )
  }))
}

# Hundredths of a point, without zeros at the end. A picture has a hundred thousand of them, so
# those up to 1000 points are looked up; others are put together from whole numbers.
short <- function(v) {
  hundredths <- round(100 * v)
  known <- keep_once("hundredths", function() paste0(rep(0:999, each = 100L), HUNDREDTHS))
  if (isTRUE(min(hundredths) >= 0) && max(hundredths) < length(known)) {
    return(known[hundredths + 1])
  }
  size <- abs(hundredths)
  whole <- size %/% 100
  sign <- fifelse(hundredths < 0, "-", "")
  paste0(sign, as.integer(whole), HUNDREDTHS[size - 100 * whole + 1])
}
HUNDREDTHS <- sub("[.]?0+$", "", sprintf(".%02d", 0:99))

# A colour as #RRGGBB; what it lets through is said apart.
hex_colour <- function(colour) {
  parts <- grDevices::col2rgb(colour)
  sprintf("#%02X%02X%02X", parts[[1L]], parts[[2L]], parts[[3L]])
}

svg_lines <- function(mark) {
  if (!length(mark$x)) {
    return(character())
  }
  first <- which(!duplicated(mark$id))
  # What comes after the last point of a line begins with M, and ends the one before.
  command <- rep("L", length(mark$x))
  command[first] <- c("M", rep(if (mark$closed) "ZM" else "M", length(first) - 1L))
  path <- paste0(command, short(mark$x), " ", short(mark$y), collapse = "")
  svg_path(paste0(path, if (mark$closed) "Z"), mark)
}

# Each symbol is its first corner, and from there the same way to the others.
svg_symbols <- function(mark) {
  if (!length(mark$x)) {
    return(character())
  }
  dx <- diff(round(mark$dx, 2L))
  dy <- diff(round(mark$dy, 2L))
  joined <- duplicated(mark$id)[-1L]
  way <- paste0(ifelse(joined, "l", "m"), short(dx), " ", short(dy), collapse = "")
  first <- list(short(mark$x + mark$dx[[1L]]), short(mark$y + mark$dy[[1L]]))
  end <- paste0(way, if (mark$closed) "Z")
  svg_path(paste0("M", first[[1L]], " ", first[[2L]], end, collapse = ""), mark)
}

svg_path <- function(path, mark) {
  line <- if (!is.na(mark$stroke)) {
    paste0(
      " stroke=\"", hex_colour(mark$stroke), "\" stroke-width=\"", short(mark$width), "\"",
      svg_dash(mark$dash, mark$width)
    )
  }
  fill <- if (!is.na(mark$fill)) paste0(" fill=\"", hex_colour(mark$fill), "\"")
  paste0("<path d=\"", path, "\"", line, fill, svg_opacity(mark$opacity), "/>")
}

# Dots are lines of no length with round ends.
svg_dots <- function(mark) {
  paste0(
    "<path d=\"", paste0("M", short(mark$x), " ", short(mark$y), "h0", collapse = ""),
    "\" stroke=\"", hex_colour(mark$colour), "\" stroke-width=\"", short(mark$diameter),
    "\" stroke-linecap=\"round\"", svg_opacity(mark$opacity), "/>"
  )
}

svg_opacity <- function(opacity) if (opacity < 1) paste0(" opacity=\"", short(opacity), "\"")

# R's line types by name and by number.
DASHES <- c(
  "1" = "", "2" = "44", "3" = "13", "4" = "1343", "5" = "73", "6" = "2262", solid = "",
  dashed = "44", dotted = "13", dotdash = "1343", longdash = "73", twodash = "2262"
)

# Lengths of strokes and gaps, in widths of the line.
dash_lengths <- function(dash, width) {
  dash <- as.character(dash)
  digits <- if (dash %in% names(DASHES)) DASHES[[dash]] else dash
  strtoi(strsplit(digits, "")[[1L]], 16L) * max(width, 0.75)
}

svg_dash <- function(dash, width) {
  lengths <- dash_lengths(dash, width)
  if (length(lengths)) paste0(" stroke-dasharray=\"", paste(short(lengths), collapse = " "), "\"")
}

svg_texts <- function(mark) {
  anchor <- c("start", "middle", "end")[[1L + round(2 * min(1, max(0, mark$anchor)))]]
  turn <- if (mark$angle %% 360 != 0) {
    sprintf(" transform=\"rotate(%s %s %s)\"", short(-mark$angle), short(mark$x), short(mark$y))
  }
  paste0(
    "<text x=\"", short(mark$x), "\" y=\"", short(mark$y), "\" font-size=\"", short(mark$size),
    "\" fill=\"", hex_colour(mark$colour), "\"",
    if (anchor != "start") paste0(" text-anchor=\"", anchor, "\""),
    if (mark$bold) " font-weight=\"bold\"", turn, ">", htmlEscape(mark$label), "</text>"
  )
}

#' Draw a picture as PDF, with its fonts inside where R has cairo.
#' @noRd
draw_pdf <- function(picture, file) {
  process$drew <- TRUE
  size <- c(picture$width, picture$height) / 72
  if (capabilities("cairo")) {
    grDevices::cairo_pdf(file, width = size[[1L]], height = size[[2L]], family = FONT)
  } else {
    grDevices::pdf(file, width = size[[1L]], height = size[[2L]])
  }
  tryCatch(pdf_picture(picture), finally = grDevices::dev.off())
  remove_dates(file)
}

pdf_picture <- function(picture) {
  old <- graphics::par(mar = rep(0, 4L), xaxs = "i", yaxs = "i")
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(c(0, picture$width), c(picture$height, 0))
  for (panel in picture$panels) {
    box <- panel$box
    graphics::clip(box[["left"]], box[["right"]], box[["bottom"]], box[["top"]])
    for (mark in panel$marks) pdf_mark(mark)
  }
  graphics::clip(0, picture$width, picture$height, 0)
  for (mark in picture$marks) pdf_mark(mark)
}

pdf_mark <- function(mark) {
  through <- function(colour) {
    if (is.na(colour)) NA else grDevices::adjustcolor(colour, mark$opacity)
  }
  if (mark$kind == "symbols") mark <- lines_of_symbols(mark)
  switch(mark$kind,
    lines = {
      ends <- which(!duplicated(mark$id))[-1L]
      apart <- function(v) {
        replace(rep(NA_real_, length(v) + length(ends)), -(ends + seq_along(ends) - 1L), v)
      }
      if (!length(ends)) apart <- identity
      dash <- paste(as.hexmode(pmin(15, round(dash_lengths(mark$dash, 1)))), collapse = "")
      dash <- if (nzchar(dash)) dash else "solid"
      draw <- if (mark$closed) {
        function(x, y) {
          graphics::polygon(x, y,
            col = through(mark$fill), border = through(mark$stroke), lwd = mark$width * 96 / 72
          )
        }
      } else {
        function(x, y) {
          graphics::lines(x, y, col = through(mark$stroke), lwd = mark$width * 96 / 72, lty = dash)
        }
      }
      draw(apart(mark$x), apart(mark$y))
    },
    # A symbol 16 is three quarters of its font's size wide.
    dots = graphics::points(mark$x, mark$y,
      pch = 16, col = through(mark$colour), cex = mark$diameter / 0.75 / graphics::par("ps")
    ),
    text = graphics::text(mark$x, mark$y, mark$label,
      adj = c(mark$anchor, 0), col = mark$colour, srt = mark$angle,
      font = if (mark$bold) 2 else 1, cex = mark$size / graphics::par("ps")
    )
  )
}
