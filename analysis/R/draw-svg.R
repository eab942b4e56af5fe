# SPDX-License-Identifier: BSD-3-Clause
# Draws a ggplot as SVG (svglite) or PDF (cairo). The number of panels decides the height.

# Inches. The width is that of a page, and the height is the most that fits a page: rows of panels
# are made lower to fit. `panel` is the height of a panel. `alone` is its height in a figure with
# one row of panels.
FIGURE <- list(width = 7.2, height = 11.5, panel = 1.65, alone = 2.45)
FONT <- "DejaVu Sans"
# Verdana has the same widths and is used if the font is missing.
FONT_FAMILIES <- "\"DejaVu Sans\", Verdana, sans-serif"
# Characters per line at the width of a figure, in 8 pt and, for titles, in bold 10.5 pt.
LINE_LENGTH <- list(caption = 112L, subtitle = 112L, title = 80L)

# Largest number of panels in one file.
MOST_PANELS <- 12L

#' Reduce a plot to at most [MOST_PANELS] panels: the panels in which its curves differ most. The
#' subtitle gives the number of all panels; the CSV of the figure contains all of them.
#'
#' @param plot a ggplot. Columns of its data and of its layers' data define the panels.
#' @noRd
fit_panels <- function(plot) {
  columns <- names(c(plot$facet$params$facets, plot$facet$params$rows, plot$facet$params$cols))
  tables <- c(list(plot$data), lapply(plot$layers, `[[`, "data"))
  tables <- Filter(function(data) is.data.frame(data) && all(columns %in% names(data)), tables)
  if (!length(columns) || !length(tables)) {
    return(plot)
  }
  panels <- unique(rbindlist(lapply(tables, function(data) {
    as.data.table(lapply(stats::setNames(columns, columns), function(name) data[[name]]))
  })))
  if (nrow(panels) <= MOST_PANELS) {
    return(plot)
  }
  setorderv(panels, columns)
  most <- order(-spread_of_panels(plot$data, panels))[seq_len(MOST_PANELS)]
  wanted <- panels[sort(most)]
  plot$data <- rows_of_panels(plot$data, wanted)
  plot$layers <- lapply(plot$layers, function(layer) {
    ggplot2::ggproto(NULL, layer, data = rows_of_panels(layer$data, wanted))
  })
  plot$labels$subtitle <- paste(c(plot$labels$subtitle, sprintf(
    "The %d of %d panels whose curves differ most; the CSV file has all.", MOST_PANELS,
    nrow(panels)
  )), collapse = "\n")
  plot
}

#' The distance of the curves of each panel: the range of their mean logarithms. For ratios, it is
#' the largest ratio.
#' @noRd
spread_of_panels <- function(data, panels) {
  value <- if ("ratio" %in% names(data)) data$ratio else data$y
  if (is.null(value)) {
    return(rep(0, nrow(panels)))
  }
  level <- if ("ratio" %in% names(data) || is.null(data$level)) 1L else data$level
  table <- data.table(
    panel = key_of_panels(data, names(panels)), level, value = suppressWarnings(log(value))
  )[is.finite(value)]
  spread <- if ("ratio" %in% names(data)) {
    table[, list(spread = max(abs(value))), by = "panel"]
  } else {
    table[, list(value = mean(value)), by = c("panel", "level")][,
      list(spread = diff(range(value))), by = "panel"
    ]
  }
  fcoalesce(spread$spread[match(key_of_panels(panels, names(panels)), spread$panel)], 0)
}

key_of_panels <- function(table, columns) {
  do.call(paste, c(lapply(columns, \(name) as.character(table[[name]])), sep = "\r"))
}

rows_of_panels <- function(data, wanted) {
  columns <- names(wanted)
  if (!is.data.frame(data) || !all(columns %in% names(data))) {
    return(data)
  }
  rows <- key_of_panels(data, columns) %in% key_of_panels(wanted, columns)
  as.data.frame(data)[rows, , drop = FALSE]
}

#' Draw text as UTF-8 until the calling function returns. In the locale "C", as in cron and
#' containers, graphics devices write "<U+00B5>s" in place of microseconds.
#' @noRd
local_utf8 <- function(frame = parent.frame()) {
  before <- Sys.getlocale("LC_CTYPE")
  if (l10n_info()[["UTF-8"]] || !nzchar(suppressWarnings(Sys.setlocale("LC_CTYPE", "C.UTF-8")))) {
    return(invisible())
  }
  do.call(on.exit, list(substitute(Sys.setlocale("LC_CTYPE", b), list(b = before)), add = TRUE),
    envir = frame)
}

#' Lay out a plot: wrap its texts, build it once and set the height of its panels.
#'
#' @param plot a ggplot.
#' @return list: `grobs` (a gtable), `width` and `height` (inches), `labels` of the plot.
#' @noRd
lay_out <- function(plot) {
  local_utf8()
  for (name in names(LINE_LENGTH)) {
    plot$labels[[name]] <- wrap_lines(plot$labels[[name]], LINE_LENGTH[[name]])
  }
  # The sizes of texts depend on the device.
  svglite::svgstring(FIGURE$width, 4, system_fonts = list(sans = FONT))
  on.exit(grDevices::dev.off(), add = TRUE)
  built <- without_notes(ggplot2::ggplot_build(plot))
  grobs <- without_notes(ggplot2::ggplot_gtable(built))
  rows <- unique(grobs$layout$t[startsWith(grobs$layout$name, "panel")])
  panel <- panel_height(built, grobs, length(rows))
  grobs$heights[rows] <- grid::unit(panel, "in")
  height <- grid::convertHeight(sum(grobs$heights), "in", valueOnly = TRUE)
  excess <- height - FIGURE$height
  if (excess > 0 && length(rows) > 1L && !isTRUE(grobs$respect)) {
    grobs$heights[rows] <- grid::unit(panel - excess / length(rows), "in")
    height <- FIGURE$height
  }
  list(grobs = grobs, width = FIGURE$width, labels = plot$labels, height = height)
}

#' The height of each panel. A plot with a fixed ratio keeps its ratio. A discrete axis needs a
#' line for each of its levels.
#' @noRd
panel_height <- function(built, grobs, rows) {
  if (isTRUE(grobs$respect)) {
    columns <- unique(grobs$layout$l[startsWith(grobs$layout$name, "panel")])
    fixed <- sum(grobs$widths[-columns])
    free <- FIGURE$width - grid::convertWidth(fixed, "in", valueOnly = TRUE)
    panel <- grobs$layout[startsWith(grobs$layout$name, "panel"), ][1L, ]
    ratio <- as.numeric(grobs$heights[[panel$t]]) / as.numeric(grobs$widths[[panel$l]])
    return(free / length(columns) * ratio)
  }
  lines <- vapply(built$layout$panel_params, function(panel) {
    length(unlist(strsplit(as.character(panel$y$get_labels()), "\n", fixed = TRUE)))
  }, 0L)
  max(if (rows > 1L) FIGURE$panel else FIGURE$alone, 10 / 72 * max(lines))
}

# Mutes ggplot2's notes on rows without a value and lines of one point. They are expected here.
without_notes <- function(code) {
  withCallingHandlers(code, warning = function(note) {
    if (grepl("^Removed [0-9]+ rows? contain", conditionMessage(note))) {
      invokeRestart("muffleWarning")
    }
  }, message = function(note) {
    if (grepl("Each group consists of only one observation", conditionMessage(note))) {
      invokeRestart("muffleMessage")
    }
  })
}

#' Break the lines of a text that are longer than `length` characters. Existing breaks stay.
#' @noRd
wrap_lines <- function(text, length) {
  if (is.null(text)) {
    return(NULL)
  }
  lines <- unlist(strsplit(as.character(text), "\n", fixed = TRUE))
  paste(unlist(lapply(lines, strwrap, length)), collapse = "\n")
}

#' A laid-out plot as SVG. Text stays text, so that it can be searched, copied and read aloud.
#' @noRd
svg_text <- function(drawing) {
  local_utf8()
  svg <- svglite::svgstring(
    drawing$width, drawing$height, bg = "white", standalone = TRUE, fix_text_size = FALSE,
    system_fonts = list(sans = FONT)
  )
  tryCatch(grid::grid.draw(drawing$grobs), finally = grDevices::dev.off())
  text <- as.character(svg())
  text <- gsub("font-family: \"DejaVu Sans\"", paste("font-family:", FONT_FAMILIES), text,
    fixed = TRUE)
  escaped <- function(label) {
    htmlEscape(gsub("\n", " ", gsub("[.][.] ", ". ", paste(label, collapse = ". "))))
  }
  words <- sprintf(
    "<svg role='img'\\1>\n<title>%s</title>\n<desc>%s</desc>",
    in_replacement(escaped(drawing$labels$title)),
    in_replacement(escaped(c(drawing$labels$subtitle, drawing$labels$caption)))
  )
  sub("<svg( [^>]*)>", words, text)
}

in_replacement <- function(text) gsub("\\", "\\\\", text, fixed = TRUE)

#' Draw a laid-out plot as PDF. Fonts are embedded if R has cairo.
#' @noRd
draw_pdf <- function(drawing, file) {
  local_utf8()
  # Cairo starts threads, and a process with threads must not fork.
  apart(function() {
    if (capabilities("cairo")) {
      grDevices::cairo_pdf(file, width = drawing$width, height = drawing$height, family = FONT)
    } else {
      grDevices::pdf(file, width = drawing$width, height = drawing$height)
    }
    tryCatch(grid::grid.draw(drawing$grobs), finally = grDevices::dev.off())
    remove_dates(file)
    TRUE
  })
}

#' Replace the dates of a PDF by a fixed date of the same length, so that offsets stay correct.
#' @noRd
remove_dates <- function(file) {
  bytes <- readBin(file, "raw", file.size(file))
  ended <- utils::tail(bytes[!bytes %in% as.raw(c(10, 13))], 5L)
  if (!identical(ended, charToRaw("%%EOF"))) cannot_write(file)
  text <- rawToChar(replace(bytes, bytes == 0 | bytes > 127, as.raw(32)))
  dates <- gregexpr("/(Creation|Mod)Date \\(D:[0-9]+", text)[[1L]]
  if (dates[[1L]] > 0L) {
    for (i in seq_along(dates)) {
      end <- dates[[i]] + attr(dates, "match.length")[[i]] - 1L
      digits <- seq(regexpr(":", substring(text, dates[[i]]), fixed = TRUE) + dates[[i]], end)
      fixed <- utils::head(charToRaw("20000101000000"), length(digits))
      bytes[utils::head(digits, 14L)] <- fixed
    }
  }
  put_bytes(bytes, file)
}
