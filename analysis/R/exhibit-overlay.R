# SPDX-License-Identifier: BSD-3-Clause
# The studies' printed numbers beside ours: in figures as open diamonds that say so, under tables
# as tables of their own.

OVERLAY_COLUMNS <- c("exhibit", "file", "filter", "x", "y", "over", "scale", "label")

#' Which printed numbers belong to which exhibit, from `overlays.csv` of the printed numbers.
#'
#' @param dir folder of the printed numbers; `NULL`: none.
#' @return data.table: `exhibit`, `file`, `label`, and the list column `data`: for figures `x`
#'   (`NA`: a level without a place) and `y` in the figure's unit, for tables the printed table.
#'   `what` is `points` or `table`.
#' @noRd
read_overlays <- function(dir) {
  if (is.null(dir)) {
    return(data.table(exhibit = character(), file = character()))
  }
  rows <- read_published(dir, "overlays")
  if (!identical(names(rows), OVERLAY_COLUMNS)) {
    bad_data(
      file.path(dir, "overlays.csv"), 1L, "other columns than those known",
      toString(OVERLAY_COLUMNS)
    )
  }
  sources <- read_published(dir, "sources")
  rows[, what := fifelse(nzchar(y), "points", "table")]
  rows[, source := sources[match(rows$file, sub("[.]csv$", "", sources$file)), paste0(
    study, " ", where, fifelse(nzchar(page), paste0(", page ", page), "")
  )]]
  rows[, data := list(lapply(seq_len(.N), function(i) overlay_data(dir, rows[i])))]
  rows[]
}

overlay_data <- function(dir, row) {
  table <- read_published(dir, row$file)
  wanted <- parse_published_filter(row$filter)
  for (column in names(wanted)) table <- table[table[[column]] == wanted[[column]]]
  if (row$what == "table") {
    return(table)
  }
  number <- function(column) as.numeric(table[[column]])
  y <- if (nzchar(row$over)) {
    100 * (number(row$y) / number(row$over) - 1) * as.numeric(row$scale)
  } else {
    number(row$y) * as.numeric(row$scale)
  }
  x <- if (row$x %in% names(table)) {
    number(row$x)
  } else if (nzchar(row$x)) {
    rep(as.numeric(row$x), length(y))
  } else {
    rep(NA_real_, length(y))
  }
  data.table(x = x, y = y)
}

# One `column=value`; values may hold blanks, commas and all but a semicolon.
parse_published_filter <- function(text) {
  parts <- strsplit(text, "; ", fixed = TRUE)[[1L]]
  stats::setNames(as.list(sub("^[^=]*=", "", parts)), sub("=.*", "", parts))
}

#' Put printed numbers into a figure; its caption says what they are.
#'
#' They go into every panel that shows their quantity: where panels show a gain too, gains go
#' there and nothing else. What is no point but a level is a dotted line.
#' @noRd
overlay_published <- function(plot, exhibit, printed) {
  if (!nrow(printed)) {
    return(plot)
  }
  panels <- panels_shown(plot)
  gains <- grepl("gain (%)", panels, fixed = TRUE)
  layers <- list()
  for (i in seq_len(nrow(printed))) {
    row <- printed[i]
    into <- if (nzchar(row$over)) panels[gains] else panels[!gains]
    if (!length(into)) next
    data <- rbindlist(lapply(into, function(panel) cbind(row$data[[1L]], panel = panel)))
    layers <- c(layers, list(overlay_layers(data, row$label)))
  }
  plot <- plot + layers
  words <- sprintf(
    "Open diamonds and dotted lines: PUBLISHED by %s on other machines, not measured here.",
    toString(unique(printed$source))
  )
  plot$labels$caption <- paste(
    c(plot$labels$caption, words),
    collapse = "\n"
  )
  plot
}

# The panels of a plot that any of its layers has rows in.
panels_shown <- function(plot) {
  data <- c(list(plot$data), lapply(plot$layers, `[[`, "data"))
  panels <- Filter(is.factor, lapply(data, `[[`, "panel"))
  there <- unique(unlist(lapply(panels, as.character)))
  levels <- unique(unlist(lapply(panels, levels)))
  factor(levels, levels)[levels %in% there]
}

overlay_layers <- function(data, label) {
  points <- data[!is.na(x) & y > 0]
  levels <- data[is.na(x)]
  last <- points[points[, .I[which.max(x)], by = "panel"]$V1]
  last[, label := label]
  levels[, label := label]
  text <- function(of, x, hjust, vjust) {
    ggplot2::geom_text(
      if (is.null(x)) aes(x, y, label = label) else aes(x = x, y = y, label = label),
      data = of, inherit.aes = FALSE, size = 2.4, colour = "grey20", hjust = hjust, vjust = vjust
    )
  }
  c(
    if (nrow(points)) {
      list(
        ggplot2::geom_line(
          aes(x, y),
          data = points, inherit.aes = FALSE, linetype = "dotted", linewidth = 0.35,
          colour = "grey35"
        ),
        ggplot2::geom_point(
          aes(x, y),
          data = points, inherit.aes = FALSE, shape = 5, size = 1.7, colour = "grey20"
        ),
        text(last, NULL, 1, -1.6)
      )
    },
    if (nrow(levels)) {
      list(
        ggplot2::geom_hline(
          aes(yintercept = y),
          data = levels, linetype = "dotted", linewidth = 0.4, colour = "grey35"
        ),
        text(levels, Inf, 1.05, -0.5)
      )
    }
  )
}

#' Printed tables to stand under ours, named by their captions.
#' @noRd
published_tables <- function(printed) {
  if (!nrow(printed)) {
    return(list())
  }
  tables <- printed[printed$what == "table"]
  stats::setNames(tables$data, sprintf(
    "PUBLISHED by %s, measured on other machines: %s", tables$source, tables$label
  ))
}
