# SPDX-License-Identifier: BSD-3-Clause
# Verbs that draw curves: by message size, by a parameter, and with the gain of one level below.

#' The verbs of exhibits, for the argument `draw` of [exhibit()].
#'
#' A verb is written without `exhibit_` and without the first argument: `by_size(series = mpi)`
#' draws the time or bandwidth by message size. The argument `draw` is not evaluated further: the
#' function of the verb finds its arguments in the exhibit.
#'
#' @aliases by_size
#' @param exhibit the data of the exhibit, see `exhibit_data()`.
#' @param series,panel names of the columns shown by colour and by panel: `mpi`, or
#'   `c(mpi, transport)`. Further columns that differ have panels of their own.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`, `"KiB"` of a measure.
#' @param scale `"log"` or `"linear"`, for x and then for y.
#' @param x name of the column along the axis: `ranks`, or `c(mpi, transport)`.
#' @param rows,columns names of the columns shown by row and by column of a table.
#' @param row name of the column down the axis of a heat map: `ranks`, or `option_arrival`.
#' @param measure a column of the samples that is drawn in place of the time, with its own unit.
#' @param measures columns of the samples; each is one curve or phase.
#' @param share the columns among `measures` that are computation.
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @param reference the level with which others are compared; a pattern with stars is allowed, and
#'   the first matching level counts. For variants, the original operation.
#' @param of `"performance"` (the default), or `"time"` where the original study drew the time.
#' @param wrong operations with the wrong way of measuring.
#' @param right the same number of operations with the right way of measuring.
#' @param repetition the only repetition that counts; for first calls, 0 is the first call of the
#'   launch.
#' @param truth `"up"` (n ranks take n waits) or `"null"` (no time).
#' @param work `"fixed"`, or `"per-rank"` for weak scaling.
#' @return a ggplot with its data, or a table with its data and caption.
#' @keywords internal
exhibit_by_size <- function(exhibit, series = NULL, panel = NULL, unit = NULL, scale = NULL) {
  plot_exhibit(exhibit, "bytes")
}

#' @describeIn exhibit_by_size Time or bandwidth by a parameter at fixed sizes: ranks, pairs,
#'   messages of a burst.
exhibit_by_parameter <- function(exhibit, x = NULL, series = NULL, panel = NULL, unit = NULL,
                                 scale = NULL, measure = NULL) {
  measure <- argument(exhibit, "measure")
  if (length(measure)) {
    exhibit$summary <- summary_of_measure(exhibit, measure)[, !"measure"]
    exhibit$medians <- summarise_configurations(exhibit$summary, measure = "value")
  }
  plot_exhibit(exhibit, argument(exhibit, "x"))
}

plot_exhibit <- function(exhibit, x) {
  unit <- unit_of(exhibit)
  tables <- lapply(curves_of_exhibit(exhibit, x), add_values, unit)
  # A single scale applies to x.
  axes <- c(argument(exhibit, "scale", "log"), "log")[1:2]
  # A log axis cannot show zero, and a size of zero has no bandwidth.
  shown <- lapply(tables, function(table) {
    table[is.finite(y) & (y > 0 | axes[[2L]] == "linear")]
  })
  if (!nrow(shown$medians)) await("sizes above zero")
  axis <- axis_of(x, as.numeric(shown$medians[[x]]), axes[[1L]])
  rate <- unit$columns[[1L]] == "bytes_per_s" || isTRUE(unit$rate) || unit$factor == 100
  found <- finding_of_curves(
    shown$medians, x, unit$axis, if (rate) "highest" else "lowest",
    argument(exhibit, "series", "mpi")
  )
  placed <- lapply(shown, function(table) {
    set(table, j = "x", value = axis$place(as.numeric(table[[x]]), table$level))
  })
  # With a linear axis each panel has its own scale, or the slowest transport hides the others.
  free <- if (axes[[2L]] == "linear") "free_y" else "fixed"
  most <- if (axes[[2L]] == "linear") MOST_OF_RANGE else Inf
  cut <- any(placed$points[, list(y = max(y)), by = "panel"][
    placed$medians[, list(top = most * max(y)), by = "panel"], on = "panel"
  ][, y > top], na.rm = TRUE)
  plot <- draw_curves(placed$points, placed$medians, free, most = most) + axis$scale +
    y_axis(unit$axis, axes[[2L]]) +
    ggplot2::labs(caption = caption_of_exhibit(exhibit, c(words_of_caption("curves"), if (cut) {
      sprintf("Lines are cut at %d times the largest median of a panel.", MOST_OF_RANGE)
    }), placed$medians$n))
  with_finding(with_data(plot, tidy_data(placed$medians)), found)
}

# Cuts the lines, because on a linear axis one slow launch would press all others together.
MOST_OF_RANGE <- 2L

# The table behind a plot, without the columns that only position points.
tidy_data <- function(medians) {
  drop <- c("x", "y", "y_low", "y_high")
  medians[, setdiff(names(medians), drop), with = FALSE]
}

y_axis <- function(title, scale) {
  if (scale == "log") {
    ggplot2::scale_y_log10(title, breaks = decades, labels = format_axis)
  } else {
    ggplot2::scale_y_continuous(title, limits = c(0, NA), labels = format_axis)
  }
}

# The axis of sizes or of a parameter, and a function that positions its values.
axis_of <- function(x, values, scale) {
  sizes <- x == "bytes"
  # With one value of a parameter, a curve would show nothing.
  if (!sizes && uniqueN(values) < 2L) {
    await("another ", if (is_counted(x)) "number of ", word_of_column(x))
  }
  if (sizes && scale == "log") {
    return(list(
      scale = scale_bytes(values),
      place = function(v, level) place_bytes(v, values) * set_apart(level)
    ))
  }
  title <- if (sizes) "message size" else AXES[[x]]
  if (is.null(title)) title <- word_of_column(x)
  label <- if (sizes) format_bytes else format_axis
  steps <- sort(unique(values[is.finite(values)]))
  # A log axis cannot show a queue of 0 entries.
  if (scale == "log" && all(steps > 0)) {
    breaks <- steps[seq(1L, length(steps), by = ceiling(length(steps) / 9))]
    list(
      # With a single value, the limits keep its levels close together.
      scale = ggplot2::scale_x_continuous(
        title,
        trans = "log2", breaks = breaks, labels = label, limits = range(steps) * c(2 / 3, 3 / 2)
      ),
      place = function(v, level) v * set_apart(level)
    )
  } else {
    list(
      scale = ggplot2::scale_x_continuous(
        title,
        breaks = linear_breaks(steps, sizes), labels = label
      ),
      place = function(v, level) v
    )
  }
}

AXES <- list(
  ranks = "ranks", pairs = "pairs of ranks at once", burst = "messages of a burst",
  queue = "messages under way", before = "entries before the match",
  depth = "entries of the queue", cores = "cores", threads = "threads of each rank",
  offset = "bytes by which the destination begins after the source within a page"
)

# With few values of a parameter, all of them are labelled.
linear_breaks <- function(steps, sizes) if (sizes || length(steps) > 6L) binary_breaks else steps

# Breaks on a linear axis of sizes: multiples of a power of two.
binary_breaks <- function(limits) {
  step <- 2^ceiling(log2(diff(limits) / 6))
  seq(ceiling(limits[[1L]] / step) * step, limits[[2L]], by = step)
}

#' @describeIn exhibit_by_size Times of several operations, or of the levels of another column,
#'   next to one another.
exhibit_values <- function(exhibit, x = NULL, series = NULL, panel = NULL, unit = NULL) {
  x <- argument(exhibit, "x", "operation")
  unit <- unit_of(exhibit)
  tables <- lapply(curves_of_exhibit(exhibit, x), add_values, unit)
  names <- level_of(tables$points, x)
  for (table in tables) {
    at <- match(level_of(table, x), levels(names))
    apart <- 0.12 * (as.integer(table$level) - (nlevels(table$level) + 1) / 2)
    set(table, j = "x", value = at + apart)
  }
  # No line, because operations have no order.
  columns <- columns_of_panels(uniqueN(tables$medians$panel))
  labels <- gsub(" ", "\n", levels(names), fixed = TRUE)
  widest <- max(nchar(unlist(strsplit(labels, "\n", fixed = TRUE))))
  # Labels that do not fit next to one another are rotated.
  wide <- widest * length(labels) * columns > LEGEND_WIDTH
  plot <- draw_curves(tables$points, tables$medians, "free_y", columns, lines = FALSE) +
    ggplot2::scale_x_continuous(
      NULL,
      breaks = seq_along(levels(names)), labels = if (wide) levels(names) else labels,
      guide = if (wide) ggplot2::guide_axis(angle = 90) else ggplot2::guide_axis(),
      limits = c(0.5, nlevels(names) + 0.5)
    ) +
    y_axis(unit$axis, argument(exhibit, "scale", "linear")) +
    ggplot2::labs(
      caption = caption_of_exhibit(exhibit, words_of_caption("curves"), tables$medians$n)
    )
  with_finding(with_data(plot, tidy_data(tables$medians)), finding_of_curves(
    tables$medians, x, unit$axis, "lowest", argument(exhibit, "series", "mpi")
  ))
}

#' @describeIn exhibit_by_size Time or bandwidth by size, and below it the gain of one level of
#'   `by` over another. The gain of a over b is how much a's time is less than b's, in % of b's.
#'   For a bandwidth, it is how much a's is more than b's.
exhibit_gain <- function(exhibit, by = NULL, series = NULL, panel = NULL, unit = NULL,
                         scale = NULL) {
  by <- compared_in(exhibit, "mpi")
  exhibit$arguments$series <- unique(c(argument(exhibit, "series", by), by))
  unit <- unit_of(exhibit)
  rate <- unit$columns[[1L]] == "bytes_per_s"
  curves <- lapply(curves_of_exhibit(exhibit), add_values, unit)
  gains <- gains_of(exhibit, by, rate)
  # A level alone has no gain. Such panels would be empty, so that they are left out.
  both <- levels(curves$medians$panel) %in% as.character(gains$panel)
  panels <- levels(curves$medians$panel)[both]
  alone <- levels(curves$medians$panel)[!both]
  # Each gain takes two panels. Only those with the largest gains are shown.
  largest <- gains[is.finite(y), list(y = max(abs(y))), by = "panel"][order(-y)]$panel
  most <- panels %in% as.character(utils::head(largest, MOST_PANELS %/% 2L))
  left_out <- panels[!most]
  panels <- panels[most]
  curves <- lapply(curves, function(table) table[panel %in% panels])
  gains <- gains[panel %in% panels]
  levels <- c(levels(curves$medians$level), unique(gains$level))
  columns <- min(3L, length(panels))
  # Each row of curves is followed by the row of their gains.
  cells <- unlist(lapply(split(panels, (seq_along(panels) - 1L) %/% columns), function(row) {
    c(join_cells(row, unit$axis), join_cells(row, "gain (%)"))
  }), use.names = FALSE)
  stack <- function(table, what) {
    table[is.finite(y), list(
      bytes, y, y_low = value_or_na(.SD, "y_low"), y_high = value_or_na(.SD, "y_high"),
      panel = factor(join_cells(as.character(panel), what), cells),
      level = factor(as.character(level), levels)
    )]
  }
  points <- stack(curves$points, unit$axis)
  medians <- rbind(stack(curves$medians, unit$axis), stack(gains, "gain (%)"))
  axis <- axis_of("bytes", medians$bytes, argument(exhibit, "scale", "log")[[1L]])
  points[, x := axis$place(bytes, level)]
  medians[, x := axis$place(bytes, level)]
  zero <- data.table(panel = factor(join_cells(panels, "gain (%)"), cells))
  plot <- draw_curves(points, medians, "free_y", columns) +
    axis$scale +
    ggplot2::geom_hline(
      ggplot2::aes(yintercept = 0), data = zero, linewidth = 0.3, colour = "grey40"
    ) +
    ggplot2::scale_y_continuous(NULL, labels = format_axis) +
    ggplot2::labs(caption = caption_of_exhibit(
      exhibit, paste(c(
        words_of_caption("curves"), if (rate) GAIN_OF_RATE else GAIN_OF_TIME,
        if (length(left_out)) {
          sprintf(
            "The %d of %d panels with the largest gains.", length(panels),
            length(panels) + length(left_out)
          )
        },
        if (length(alone)) sprintf("One level only: %s.", paste(alone, collapse = "; "))
      ), collapse = " "), curves$medians$n
    ))
  top <- gains[which.max(abs(y))]$level
  with_finding(with_data(plot, medians[, !"x"]), sprintf(
    "Gain of %s %s %%", top, say_range(gains[level == top]$y)
  ))
}

join_cells <- function(panel, what) paste0(panel, ifelse(nzchar(panel), ": ", ""), what)

GAIN_OF_TIME <- "Gain of A over B: by how much A's time is less, in % of B's, with its interval."
GAIN_OF_RATE <-
  "Gain of A over B: by how much A's bandwidth is more, in % of B's, with its interval."

# Gains of the pairs of levels of `by`, in the panels of the curves.
gains_of <- function(exhibit, by, rate) {
  comparison <- compare_exhibit(exhibit, by)
  to_gain <- if (rate) function(ratio) 100 * (1 / ratio - 1) else function(ratio) 100 * (1 - ratio)
  points <- curves_of_exhibit(exhibit)$points
  strata <- intersect(names(comparison), setdiff(names(points), c(by, "bytes")))
  strata <- intersect(strata, configuration_columns(exhibit$summary))
  panels <- unique(points[, c(strata, "panel"), with = FALSE])
  gains <- comparison[panels, on = strata, nomatch = NULL, allow.cartesian = TRUE]
  gains[, list(
    bytes, panel, level = paste(in_words(by, a), "over", in_words(by, b)),
    y = to_gain(ratio), y_low = to_gain(high), y_high = to_gain(low)
  )]
}
