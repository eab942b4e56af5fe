# SPDX-License-Identifier: BSD-3-Clause
# Shows the studies' printed numbers beside the measured numbers: in figures as labelled open
# diamonds, under tables as tables of their own.

OVERLAY_COLUMNS <- c("exhibit", "file", "filter", "x", "y", "over", "scale", "label", "panel")

#' Read the assignment of printed numbers to exhibits from `overlays.csv`.
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
  x <- if (row$x %in% names(table)) number(row$x) else rep(as.numeric(row$x), length(y))
  data.table(x = x, y = y)
}

# Parses `column=value` members. Values may contain blanks, commas and all except a semicolon.
parse_published_filter <- function(text) {
  parts <- strsplit(text, "; ", fixed = TRUE)[[1L]]
  stats::setNames(as.list(sub("^[^=]*=", "", parts)), sub("=.*", "", parts))
}

# Add printed numbers to a figure, and explain them in its caption.
#
# They go into every panel that shows their quantity. If the row names words of `panel`, all of
# them must be in the title or the legend of the panel. In figures with panels of gains, printed
# gains go into these panels only, and other numbers do not. A number without a place along the
# axis is a dotted line.
overlay_published <- function(plot, exhibit, printed) {
  panels <- panels_shown(plot)
  # The title of each panel, and the levels that it shows.
  titles <- vapply(panels, function(panel) {
    levels <- unique(plot$data$level[plot$data$panel == panel])
    paste(c(as.character(panel), as.character(levels)), collapse = "; ")
  }, "")
  gains <- grepl("gain (%)", panels, fixed = TRUE)
  drawn <- integer()
  for (i in seq_len(nrow(printed))) {
    row <- printed[i]
    words <- strsplit(row$panel, "; ", fixed = TRUE)[[1L]]
    fits <- vapply(titles, \(title) all(vapply(words, grepl, NA, title, fixed = TRUE)), NA)
    into <- panels[fits & gains == nzchar(row$over)]
    if (!length(into)) next
    data <- rbindlist(lapply(into, function(panel) cbind(row$data[[1L]], panel = panel)))
    drawn <- c(drawn, i)
    plot <- plot + overlay_layers(data)
  }
  if (length(drawn)) {
    printed <- printed[drawn]
    plot$labels$caption <- paste(c(plot$labels$caption, sprintf(
      "%s: %s, PUBLISHED by %s on other machines, not measured here.",
      if (all(vapply(printed$data, \(data) anyNA(data$x), NA))) "Dotted line" else "Open diamonds",
      toString(unique(printed$label)), toString(unique(printed$source))
    )), collapse = "\n")
  }
  plot
}

# The panels in which any layer of a plot has rows.
panels_shown <- function(plot) {
  data <- c(list(plot$data), lapply(plot$layers, `[[`, "data"))
  panels <- Filter(is.factor, lapply(data, `[[`, "panel"))
  there <- unique(unlist(lapply(panels, as.character)))
  levels <- unique(unlist(lapply(panels, levels)))
  factor(levels, levels)[levels %in% there]
}

overlay_layers <- function(data) {
  points <- data[!is.na(x) & y > 0]
  levels <- data[is.na(x)]
  list(
    ggplot2::geom_line(
      ggplot2::aes(x, y),
      data = points, inherit.aes = FALSE, linetype = "dotted", linewidth = 0.35, colour = "grey35"
    ),
    ggplot2::geom_point(
      ggplot2::aes(x, y),
      data = points, inherit.aes = FALSE, shape = 5, size = 1.7, colour = "grey20"
    ),
    ggplot2::geom_hline(
      ggplot2::aes(yintercept = y),
      data = levels, linetype = "dotted", linewidth = 0.4, colour = "grey35"
    )
  )[c(nrow(points) > 0L, nrow(points) > 0L, nrow(levels) > 0L)]
}

# Printed tables to show below a measured table, named by their captions.
published_tables <- function(printed) {
  if (!nrow(printed)) {
    return(list())
  }
  tables <- printed[printed$what == "table"]
  stats::setNames(tables$data, sprintf(
    "PUBLISHED by %s, measured on other machines: %s", tables$source, tables$label
  ))
}
