# SPDX-License-Identifier: BSD-3-Clause
# A picture -> SVG, or PDF by R's own device: the same marks.

#' The picture as SVG text. Text stays text, to be searched and edited.
#' @noRd
svg_text <- function(picture) {
  boxes <- lapply(picture$panels, `[[`, "box")
  inside <- lapply(picture$panels, `[[`, "marks")
  elements <- svg_marks(c(unlist(inside, recursive = FALSE), picture$marks))
  of <- rep.int(seq_along(inside), lengths(inside))
  panels <- Map(function(i, box, rows) {
    c(
      sprintf(
        "<clipPath id=\"p%d\"><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/></clipPath>",
        i, short(box[["left"]]), short(box[["top"]]), short(box[["right"]] - box[["left"]]),
        short(box[["bottom"]] - box[["top"]])
      ),
      sprintf("<g clip-path=\"url(#p%d)\">", i), unlist(elements[rows]), "</g>"
    )
  }, seq_along(boxes), boxes, split(seq_along(of), factor(of, seq_along(boxes))))
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
    unlist(panels), unlist(elements[-seq_along(of)]), "</g>", "</svg>"
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
    unlist(svg_marks(marks)), "</svg>"
  ), collapse = "\n")
}

boxes_mark <- function(box) {
  boxes(box[["left"]], box[["top"]], box[["right"]], box[["bottom"]],
    stroke = GREYS$border, width = 0.85
  )
}

#' The elements of marks, a list in their order. A large picture has fifty thousand marks: those
#' of one kind are put together at once.
#' @noRd
svg_marks <- function(marks) {
  kinds <- vapply(marks, `[[`, "", "kind")
  out <- vector("list", length(marks))
  drawn <- lengths(lapply(marks, `[[`, "x")) > 0L
  for (kind in unique(kinds)) {
    here <- which(kinds == kind & drawn)
    if (length(here)) {
      out[here] <- switch(kind,
        lines = svg_lines, symbols = svg_symbols, dots = svg_dots,
        text = function(marks) lapply(marks, svg_texts)
      )(marks[here])
    }
  }
  out
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

# A field of all marks, one behind another.
field_of <- function(marks, name) unlist(lapply(marks, `[[`, name), use.names = FALSE)

#' The corners of marks: `text` of each, with its command, which is `joined` to the one before or
#' not; `of` which mark it is.
#' @noRd
corners_of <- function(marks, x = "x", y = "y") {
  count <- lengths(lapply(marks, `[[`, x))
  of <- rep.int(seq_along(marks), count)
  id <- as.numeric(field_of(marks, "id"))
  # Ids are whole numbers, that tell the lines of one mark apart.
  list(
    of = structure(of, levels = as.character(seq_along(marks)), class = "factor"),
    begins = cumsum(count) - count + 1L, x = field_of(marks, x), y = field_of(marks, y),
    joined = duplicated((id - min(id)) * length(marks) + of)
  )
}

# The texts of each mark as one.
join_texts <- function(texts, of) vapply(split(texts, of), paste, "", collapse = "")

svg_lines <- function(marks) {
  corners <- corners_of(marks)
  closed <- field_of(marks, "closed")
  # What comes after the last point of a line begins with M, and ends the one before.
  command <- fifelse(corners$joined, "L", fifelse(closed[corners$of], "ZM", "M"))
  command[corners$begins] <- "M"
  path <- join_texts(paste0(command, short(corners$x), " ", short(corners$y)), corners$of)
  svg_paths(paste0(path, fifelse(closed, "Z", "")), marks)
}

# Each symbol is its first corner, and from there the same way to the others.
svg_symbols <- function(marks) {
  corners <- corners_of(marks, "dx", "dy")
  step <- function(values) diff(round(values, 2L))
  command <- fifelse(corners$joined[-1L], "l", "m")
  way <- paste0(command, short(step(corners$x)), " ", short(step(corners$y)))
  inside <- -corners$begins
  way <- join_texts(c("", way)[inside], corners$of[inside])
  way <- paste0(way, fifelse(field_of(marks, "closed"), "Z", ""))
  of <- rep.int(seq_along(marks), lengths(lapply(marks, `[[`, "x")))
  first <- corners$begins[of]
  places <- paste0(
    "M", short(field_of(marks, "x") + corners$x[first]), " ",
    short(field_of(marks, "y") + corners$y[first]), way[of]
  )
  svg_paths(join_texts(places, of), marks)
}

#' The elements of lines and areas. Many marks have one look, which is put in words once.
#' @noRd
svg_paths <- function(paths, marks) {
  looks <- lapply(stats::setNames(nm = c("stroke", "width", "dash", "fill", "opacity")), \(name) {
    field_of(marks, name)
  })
  look <- do.call(paste, unname(looks))
  first <- which(!duplicated(look))
  words <- vapply(marks[first], svg_look, "")
  paste0("<path d=\"", paths, "\"", words[match(look, look[first])], "/>")
}

svg_look <- function(mark) {
  line <- if (!is.na(mark$stroke)) {
    paste0(
      " stroke=\"", hex_colour(mark$stroke), "\" stroke-width=\"", short(mark$width), "\"",
      svg_dash(mark$dash, mark$width)
    )
  }
  fill <- if (!is.na(mark$fill)) paste0(" fill=\"", hex_colour(mark$fill), "\"")
  paste0("", line, fill, svg_opacity(mark$opacity))
}

# Dots are lines of no length with round ends.
svg_dots <- function(marks) {
  of <- rep.int(seq_along(marks), lengths(lapply(marks, `[[`, "x")))
  places <- paste0("M", short(field_of(marks, "x")), " ", short(field_of(marks, "y")), "h0")
  words <- vapply(marks, function(mark) {
    paste0(
      "\" stroke=\"", hex_colour(mark$colour), "\" stroke-width=\"", short(mark$diameter),
      "\" stroke-linecap=\"round\"", svg_opacity(mark$opacity), "/>"
    )
  }, "")
  paste0("<path d=\"", join_texts(places, of), words)
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
