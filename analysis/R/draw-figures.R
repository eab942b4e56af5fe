# SPDX-License-Identifier: BSD-3-Clause
# Makes the figures: takes tidy tables and returns plots, with their data as the attribute `data`.

# The panel of each row: the measured quantity and its place, in words.
#
# The test is named only if no other property distinguishes its rows from those of another test.
panel_of <- function(table) {
  # All properties of a configuration: a line must not connect two configurations.
  strata <- intersect(names(table), c(
    "site", "simulated", "scale", "test", "placement", "hosts", "ranks", "settings", "parameters"
  ))
  said <- setdiff(strata, c("scale", "test"))
  said <- said[lengths(lapply(said, \(column) unique(table[[column]]))) > 1L]
  extra <- join_words(c(list(rep("", nrow(table))), lapply(said, function(column) {
    as.character(in_words(column, table[[column]]))
  })))
  where <- paste(operation_in_words(table$operation), title_of(table$transport), sep = ", ")
  one <- if (length(strata)) number_of(table, strata) else rep(1L, nrow(table))
  for (words in list(test_in_words, \(test) gsub("_", " ", test, fixed = TRUE))) {
    text <- paste(where, extra, sep = "\n")
    pairs <- unique(data.table(text, one))
    unclear <- text %in% pairs$text[duplicated(pairs$text)]
    if (any(unclear) && "test" %in% strata) {
      extra[unclear] <- join_words(list(extra[unclear], words(table$test[unclear])))
    }
  }
  text <- sub("\n$", "", paste(where, extra, sep = "\n"))
  factor(text, unique(text[order(table$operation, table$transport)]))
}

# Largest number of emulated and simulated machines that a caption names.
MOST_LABELS <- 4L

# The caption: the shown quantities, the number of launches, and the simulated machines.
caption_of <- function(shown, n, simulated) {
  range <- paste(unique(range(n)), collapse = " to ")
  if (max(n) < MIN_LAUNCHES) shown <- without_intervals(shown)
  labels <- unique(simulated[nzchar(simulated)])
  text <- sprintf("%s n\u00a0=\u00a0%s.", shown, count_of(range, "launch", "launches"))
  # In a figure of many machines, the panels name them.
  machines <- if (length(labels) > MOST_LABELS) {
    sprintf("%d emulated or simulated machines, see the panels.", length(labels))
  } else {
    toString(labels)
  }
  paste(c(text, if (length(labels)) paste("NOT REAL HARDWARE:", machines)), collapse = "\n")
}

# With too few launches there are no intervals, so that the caption must not mention any.
without_intervals <- function(text) {
  text <- sub(",? with its (95 % )?interval( over launches| within the question)?", "", text)
  text <- gsub("(Bars|Thick lines): (its )?(95 % )?interval[^.]*[.] ?", "", text)
  paste(trimws(text), sprintf("No intervals: fewer than %d launches.", MIN_LAUNCHES))
}

#' Medians, their intervals and the ranges of launches over message size, log-log.
#'
#' @param value,low,high columns of the tables; multiplied by `factor` they have the axis `unit`.
#' @noRd
plot_by_size <- function(points, medians, by, value, low, high, unit, factor, title, what,
                         best = "lowest") {
  placed <- function(table, values) {
    names <- title_of(in_order(unique(table[[by]])))
    level <- factor(title_of(table[[by]]), names)
    x <- place_bytes(table$bytes, medians$bytes) * set_apart(level)
    values <- lapply(values, \(name) table[[name]] * factor)
    copy(table)[, c("panel", "level", "x", names(values)) := c(
      list(panel_of(table), level, x), values
    )]
  }
  drawn <- placed(medians, c(y = value, y_low = low, y_high = high))
  plot <- draw_curves(placed(points, c(y = value)), drawn) +
    scale_bytes(medians$bytes) +
    ggplot2::scale_y_log10(unit, breaks = decades, labels = format_axis) +
    ggplot2::labs(
      title = finding_of_curves(drawn, "bytes", unit, best, by),
      subtitle = paste0(title, ". ", where_measured(medians), "."),
      caption = caption_of(what, medians$n, medians$simulated)
    )
  with_data(plot, medians)
}

#' Curves of medians with their intervals, and the range of the launches behind them.
#'
#' @param points launches: table with `x`, `y`, `level`, `panel`; may have no rows.
#' @param medians the same with `y_low` and `y_high`.
#' @param scales scales of the panels: `free_y` gives each panel its own.
#' @param columns number of columns of panels.
#' @param most multiple of the largest median of a panel at which intervals and ranges are cut.
#' @param lines whether lines connect the points; a line needs two.
#' @return a ggplot without axes' scales.
#' @noRd
draw_curves <- function(points, medians, scales = "fixed",
                        columns = columns_of_panels(uniqueN(medians$panel)), lines = TRUE,
                        most = Inf) {
  # One line for all launches of a point. Hundreds of figures with a mark for each launch would be
  # slow to draw and to open.
  by <- c("panel", "level")
  ranges <- points[, c(by, "x", "y"), with = FALSE]
  ranges[, `:=`(y_low = min(y, Inf), y_high = max(y, -Inf)), by = c(by, "x")]
  ranges <- unique(ranges[y_low < y_high], by = c(by, "x"))
  if (is.finite(most)) {
    tops <- medians[, list(top = most * max(y, na.rm = TRUE)), by = "panel"]
    ranges <- cut_at(ranges, tops)
    medians <- cut_at(medians, tops)
  }
  # A line needs two points and one configuration, which has one point at each place.
  joined <- medians[order(panel, level, x)]
  joined[, part := if (anyDuplicated(x)) NA_integer_ else parts_of_line(x), by = by]
  joined <- joined[joined[, .I[lines & .N > 1L & !is.na(part)], by = c(by, "part")]$V1]
  ggplot2::ggplot(medians, ggplot2::aes(x, y, colour = level)) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = y_low, ymax = y_high),
      data = ranges, linewidth = 0.2, alpha = 0.6, show.legend = FALSE
    ) +
    ggplot2::geom_line(
      ggplot2::aes(linetype = level, group = interaction(level, part)),
      data = joined, linewidth = 0.35
    ) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = y_low, ymax = y_high),
      linewidth = 0.9, alpha = 0.5, na.rm = TRUE, show.legend = FALSE
    ) +
    ggplot2::geom_point(ggplot2::aes(shape = level), size = 1.6) +
    facet_panels(columns, scales) +
    level_scales(levels(medians$level)) +
    theme_cotejo()
}

# Cuts intervals and ranges at the top of their panel.
cut_at <- function(table, tops) {
  top <- tops$top[match(table$panel, tops$panel)]
  copy(table)[, `:=`(y_low = pmin(y_low, top), y_high = pmin(y_high, top))]
}

# Two columns of panels are the most readable; with more than six panels, three columns fit a page.
columns_of_panels <- function(count) if (count < 3L) count else if (count > 6L) 3L else 2L

# Numbers of the parts of a line. A line is interrupted at a gap of more than two and a half times
# the usual step, because nothing was measured there.
parts_of_line <- function(x) {
  steps <- diff(if (all(x > 0)) log2(x) else x)
  c(1L, 1L + cumsum(steps > 2.5 * median(steps)))
}

# Panels whose titles are wrapped to the width of one panel in a row of `columns` panels.
facet_panels <- function(columns, scales = "fixed") {
  fit <- \(titles) vapply(as.character(titles), wrap_lines, "", 82L %/% columns + 1L)
  ggplot2::facet_wrap(~panel,
    ncol = columns, scales = scales, labeller = ggplot2::as_labeller(fit)
  )
}

format_axis <- function(v) fifelse(is.na(v), "", format_whole(v, 7L))

# The colours of a heat map; the legend's title names the quantity and its unit. After the theme.
fill_by_value <- function(title, ...) {
  list(
    ggplot2::scale_fill_gradient(title,
      low = "grey90", high = "steelblue3", labels = format_axis, ...
    ),
    ggplot2::theme(legend.title = ggplot2::element_text(size = SMALL_TEXT))
  )
}

# Breaks at all powers of ten, so that the reader can count them. If there are too few, breaks at
# round numbers between them are added.
decades <- function(limits) {
  powers <- 10^seq(floor(log10(limits[[1L]])), ceiling(log10(limits[[2L]])))
  breaks <- lapply(list(1, c(1, 3), c(1, 2, 5)), \(steps) {
    every <- sort(c(outer(steps, powers)))
    every[every >= limits[[1L]] & every <= limits[[2L]]]
  })
  c(breaks[lengths(breaks) >= 3L], list(pretty(limits, 4L)))[[1L]]
}

# Factor that shifts the points of each level horizontally, so that bars do not hide one another.
set_apart <- function(level) 2^(0.12 * (as.integer(level) - (nlevels(level) + 1) / 2))

with_data <- function(plot, data) {
  attr(plot, "data") <- data
  plot
}

#' Time or bandwidth of one message by size.
#'
#' @param summary what [summarise_launches()] returned: the points.
#' @param medians what [summarise_configurations()] returned: lines and bars.
#' @param by factor whose levels differ in colour, shape and line.
#' @return a ggplot, microseconds or MB/s (10^6 B/s) over message size, log-log; its data as
#'   attribute `data`.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' medians <- summarise_configurations(summary)
#' plot_latency(summary, medians)
#' plot_bandwidth(summary, medians)
#' @export
plot_latency <- function(summary, medians, by = "mpi") {
  plot_by_size(
    summary[summary$median_s > 0], medians[medians$median_s > 0], by,
    "median_s", "low_s", "high_s", "time of one message, one way (\u00b5s)", 1e6,
    "Time of one message", words_of_caption("curves")
  )
}

#' @rdname plot_latency
#' @export
plot_bandwidth <- function(summary, medians, by = "mpi") {
  plot_by_size(
    summary[summary$bytes > 0], medians[medians$bytes > 0], by,
    "bytes_per_s", "bytes_per_s_low", "bytes_per_s_high",
    "bandwidth (MB/s)", 1e-6, "Bandwidth of one message",
    paste(words_of_caption("bandwidth"), words_of_caption("curves")), "highest"
  )
}

#' Relative difference of two configurations by size, with the margin of equivalence.
#'
#' @param comparison what [compare_configurations()] returned.
#' @param delta margin of equivalence drawn as a band.
#' @return a ggplot, ratio of times (log) over message size; its data as attribute `data`.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' comparison <- compare_configurations(summary)
#' plot_difference(comparison)
#' @export
plot_difference <- function(comparison, delta = 0.03) {
  table <- copy(comparison)[!is.na(ratio)]
  # The compared property is not a column of the table.
  for (name in setdiff(c("operation", "transport"), names(table))) {
    set(table, j = name, value = "")
    setcolorder(table, name)
  }
  data <- copy(table)
  pair <- paste0(title_of(table$a), " / ", title_of(table$b))
  pairs <- unique(pair)
  where <- panel_of(table)
  panels <- c(t(outer(levels(where), pairs, paste, sep = "\n")))
  table[, panel := droplevels(factor(paste(where, pair, sep = "\n"), panels))]
  if (nlevels(table$panel) > MOST_PANELS) {
    return(plot_winners(data, where))
  }
  table[, `:=`(x = place_bytes(bytes, bytes), shown = result_of(table))]
  columns <- if (length(pairs) == 3L) 3L else columns_of_panels(nlevels(table$panel))
  plot <- ggplot2::ggplot(table, ggplot2::aes(x, ratio)) +
    ggplot2::annotate("rect",
      xmin = min(table$x) / 2, xmax = max(table$x) * 2, ymin = 1 / (1 + delta), ymax = 1 + delta,
      fill = "grey82"
    ) +
    ggplot2::geom_hline(yintercept = 1, linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_line(linewidth = 0.25, colour = "grey65") +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = low, ymax = high, colour = shown),
      linewidth = 0.5, na.rm = TRUE
    ) +
    ggplot2::geom_point(ggplot2::aes(colour = shown, fill = shown, shape = shown), size = 1.8) +
    facet_panels(columns, "free_y") +
    result_scales(levels(droplevels(table$shown))) +
    scale_bytes(table$bytes, expand = c(0, 0)) +
    ggplot2::scale_y_continuous(
      "ratio of times, first / second", trans = "log2", breaks = ratio_breaks, labels = format_axis
    ) +
    ggplot2::labs(
      title = say_wins(fastest_of(data)$winner),
      subtitle = paste("Ratio of times by message size.", where_measured(table)),
      caption = caption_of(
        words_of_caption("difference", format(100 * delta)), pmin(table$n_a, table$n_b),
        table$simulated
      )
    ) +
    theme_cotejo()
  with_data(plot, data)
}

# Classes of the lead over the next library, and the opacity of the winner's colour in each class.
LEADS <- c(`< 1.1 times` = 0.35, `< 1.5` = 0.6, `< 2` = 0.8, `more` = 1)
# Largest number of rows in a figure of winners that fits a page.
MOST_ROWS <- 30L
# Largest number of columns. If there are more sizes, only powers of two are shown.
MOST_SIZES <- 24L

#' Winners of many strata: a row a stratum, a column a size. The colour is that of the winner, and
#' it is deeper the further the winner is ahead of the next library.
#'
#' @param table comparison.
#' @param where a text for each row that identifies its stratum.
#' @noRd
plot_winners <- function(table, where) {
  place <- c(strata_in(table), "bytes")
  won <- cbind(table, where = gsub("\n", ", ", where, fixed = TRUE))[fastest_of(table), on = place]
  won <- won[, list(where = where[[1L]], winner = winner[[1L]], ahead = min(
    ratio[b == winner], 1 / ratio[a == winner], Inf
  )), keyby = place]
  if (uniqueN(won$bytes) > MOST_SIZES) {
    won <- won[bytes == 0 | log2(pmax(bytes, 1)) %% 1 == 0]
  }
  far <- won[, list(far = max(c(0, ahead[nzchar(winner)]), na.rm = TRUE)), by = "where"]
  shown <- won[where %in% utils::head(far[order(-far)]$where, MOST_ROWS)]
  labels <- unique(won$where[won$where %in% shown$where])
  none <- "no single winner"
  levels <- c(title_of(in_order(setdiff(unique(shown$winner), ""))), none)
  shown[, `:=`(
    where = factor(where, rev(labels)), size = factor(bytes, sort(unique(bytes))),
    shown = factor(fifelse(nzchar(winner), title_of(winner), none), levels),
    lead = cut(ahead, c(-Inf, 1.1, 1.5, 2, Inf), names(LEADS))
  )]
  plot <- ggplot2::ggplot(shown, ggplot2::aes(size, where)) +
    ggplot2::geom_tile(
      ggplot2::aes(fill = shown, alpha = lead), data = shown[nzchar(winner)], colour = "white",
      linewidth = 0.3
    ) +
    ggplot2::geom_point(
      ggplot2::aes(fill = shown), data = shown[!nzchar(winner)], shape = 21, size = 0.7,
      stroke = 0, show.legend = FALSE
    ) +
    ggplot2::scale_fill_manual(
      values = stats::setNames(c(colours_of(setdiff(shown$winner, "")), "grey70"), levels),
      breaks = utils::head(levels, -1L)
    ) +
    ggplot2::scale_alpha_manual(values = LEADS, drop = FALSE) +
    ggplot2::scale_x_discrete("message size",
      limits = levels(shown$size), labels = function(v) format_bytes(as.numeric(v)),
      guide = ggplot2::guide_axis(angle = 60)) +
    ggplot2::scale_y_discrete(NULL,
      limits = levels(shown$where), labels = \(v) vapply(v, wrap_lines, "", 60L, USE.NAMES = FALSE)
    ) +
    ggplot2::labs(
      title = say_wins(won$winner),
      subtitle = paste(c(
        paste("Fastest library by message size.", where_measured(table)),
        if (length(labels) < uniqueN(won$where)) {
          sprintf("The %d of %d rows with the largest leads; the CSV file has all.",
            length(labels), uniqueN(won$where))
        }
      ), collapse = "\n"),
      caption = caption_of(
        words_of_caption("winners"), pmin(table$n_a, table$n_b), table$simulated
      )
    ) + theme_cotejo()
  with_data(plot, table)
}

# Powers of two for large ratios, a few round numbers for small ones.
ratio_breaks <- function(limits) {
  octaves <- ceiling(log2(limits[[1L]])):floor(log2(limits[[2L]]))
  if (length(octaves) < 4L) {
    pretty(limits, 5L)
  } else {
    2^octaves[octaves %% ceiling(length(octaves) / 7) == 0]
  }
}

# Labels in figures for verdicts that name no winner.
VERDICTS <- c(
  within = "within a bound", `not settled` = "not settled", `not tested` = "not tested"
)

# The result of each pair: the name of the faster level, or the reason why no level is faster.
result_of <- function(table, name = title_of) {
  first <- as.character(name(table$a))
  second <- as.character(name(table$b))
  winner <- paste(fifelse(table$verdict == "faster", first, second), "faster")
  none <- unname(VERDICTS[as.character(table$verdict)])
  factor(fcoalesce(none, winner), c(paste(unique(c(first, second)), "faster"), VERDICTS))
}

# Scales in which a winner has the colour of its library, as in other figures. Other results are
# grey or black.
result_scales <- function(levels) {
  winners <- setdiff(levels, VERDICTS)
  colours <- declared_colours(sub(" faster$", "", winners), "title")
  shapes <- rep_len(c(25, 24, 23, 22), length(winners))
  shown <- c(winners, VERDICTS)
  guide <- legend_of(levels)
  list(
    ggplot2::scale_colour_manual(
      values = stats::setNames(c(colours, "#000000", "grey50", "grey65"), shown),
      aesthetics = c("colour", "fill"), guide = guide
    ),
    ggplot2::scale_shape_manual(
      values = stats::setNames(c(shapes, 15, 1, 4), shown), guide = guide
    )
  )
}
