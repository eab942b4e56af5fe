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
  has_panels <- function(data) is.data.frame(data) && all(columns %in% names(data))
  tables <- Filter(has_panels, c(list(plot$data), lapply(plot$layers, `[[`, "data")))
  panels <- unique(rbindlist(lapply(tables, \(data) as.data.table(data)[, columns, with = FALSE])))
  if (nrow(panels) <= MOST_PANELS) {
    return(plot)
  }
  setorderv(panels, columns)
  most <- order(-spread_of_panels(plot$data, panels))[seq_len(MOST_PANELS)]
  wanted <- panels[sort(most)]
  fit <- function(data) {
    if (!has_panels(data)) {
      return(data)
    }
    rows <- as.data.table(data)[wanted, on = columns, which = TRUE, nomatch = NULL]
    as.data.frame(data)[sort(rows), , drop = FALSE]
  }
  plot$data <- fit(plot$data)
  plot$layers <- lapply(plot$layers, function(layer) {
    ggplot2::ggproto(NULL, layer, data = fit(layer$data))
  })
  plot$labels$subtitle <- paste(c(plot$labels$subtitle, sprintf(
    "The %d of %d panels whose curves differ most; the CSV file has all.", MOST_PANELS,
    nrow(panels)
  )), collapse = "\n")
  plot
}

# The distance of the curves of each panel: the range of their mean logarithms. For ratios, it is
# the largest ratio.
spread_of_panels <- function(data, panels) {
  columns <- names(panels)
  of_ratios <- "ratio" %in% names(data)
  curves <- as.data.table(data)[, columns, with = FALSE]
  value <- if (of_ratios) data$ratio else if (is.null(data$y)) 1 else data$y
  curves[, `:=`(
    curve = if (of_ratios || is.null(data$level)) 1L else data$level,
    y = suppressWarnings(log(value))
  )]
  curves <- curves[is.finite(y)]
  spread <- if (of_ratios) {
    curves[, list(spread = max(abs(y))), by = columns]
  } else {
    curves[, list(y = mean(y)), by = c(columns, "curve")][
      , list(spread = diff(range(y))), by = columns
    ]
  }
  fcoalesce(spread[panels, on = columns]$spread, 0)
}

# Draw text as UTF-8 until the calling function returns. In the locale "C", as in cron and
# containers, graphics devices write "<U+00B5>s" in place of microseconds.
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
  rows <- unique(ggplot2::panel_rows(grobs)$t)
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

# The height of each panel. A plot with a fixed ratio keeps its ratio. A discrete axis needs a
# line for each of its levels.
panel_height <- function(built, grobs, rows) {
  if (isTRUE(grobs$respect)) {
    columns <- unique(ggplot2::panel_cols(grobs)$l)
    fixed <- sum(grobs$widths[-columns])
    free <- FIGURE$width - grid::convertWidth(fixed, "in", valueOnly = TRUE)
    height <- as.numeric(grobs$heights[[ggplot2::panel_rows(grobs)$t[[1L]]]])
    return(free / length(columns) * height / as.numeric(grobs$widths[[columns[[1L]]]]))
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

# Break the lines of a text that are longer than `length` characters. Existing breaks stay.
wrap_lines <- function(text, length) {
  if (is.null(text)) {
    return(NULL)
  }
  lines <- unlist(strsplit(as.character(text), "\n", fixed = TRUE))
  paste(unlist(lapply(lines, strwrap, length)), collapse = "\n")
}

# A laid-out plot as SVG. Text stays text, so that it can be searched, copied and read aloud.
svg_text <- function(drawing) {
  local_utf8()
  svg <- svglite::svgstring(
    drawing$width, drawing$height, bg = "white", standalone = TRUE, fix_text_size = FALSE,
    system_fonts = list(sans = FONT)
  )
  tryCatch(grid::grid.draw(drawing$grobs), finally = grDevices::dev.off())
  escaped <- function(label) {
    htmlEscape(gsub("\n", " ", gsub("[.][.] ", ". ", paste(label, collapse = ". "))))
  }
  words <- sprintf(
    "\n<title>%s</title>\n<desc>%s</desc>", escaped(drawing$labels$title),
    escaped(c(drawing$labels$subtitle, drawing$labels$caption))
  )
  text <- as.character(svg())
  tag <- regexpr("<svg[^>]*>", text)
  regmatches(text, tag) <- paste0(sub("<svg", "<svg role='img'", regmatches(text, tag)), words)
  gsub(sprintf("\"%s\"", FONT), FONT_FAMILIES, text, fixed = TRUE)
}

# Draw a laid-out plot as PDF. Fonts are embedded if R has cairo.
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

# Replace the dates of a PDF by a fixed date of the same length, so that offsets stay correct.
remove_dates <- function(file) {
  bytes <- readBin(file, "raw", file.size(file))
  ended <- utils::tail(bytes[!bytes %in% as.raw(c(10, 13))], 5L)
  if (!identical(ended, charToRaw("%%EOF"))) cannot_write(file)
  for (at in grepRaw("Date \\(D:[0-9]{14}", bytes, all = TRUE)) {
    bytes[at + 8:21] <- charToRaw("20000101000000")
  }
  put_bytes(bytes, file)
}
