# SPDX-License-Identifier: BSD-3-Clause
# Pictures: every point is in the file, texts stand where they belong, and nothing but the plot
# decides the bytes.

drawn_svg <- function(plot) svg_text(picture_of(plot))

# How many subpaths, points or lines, the paths of an SVG have that match.
count_marks <- function(svg, pattern) {
  paths <- grep(pattern, regmatches(svg, gregexpr("<path [^>]*>", svg))[[1L]], value = TRUE)
  sum(lengths(gregexpr("[Mm]", sub("\" .*$", "", sub("^<path d=\"", "", paths)))))
}

many <- function(n, shape = 16) {
  data <- data.frame(x = seq_len(n), y = sqrt(seq_len(n)))
  ggplot2::ggplot(data, ggplot2::aes(x, y)) +
    ggplot2::geom_point(shape = shape, colour = "#0072B2") + theme_cotejo()
}

test_that("every point is drawn, as a mark of one element", {
  for (shape in c(16, 17, 15, 18, 5, 1, 24)) {
    svg <- drawn_svg(many(500L, shape))
    expect_identical(count_marks(svg, "#0072B2"), 500L)
    expect_identical(lengths(regmatches(svg, gregexpr("#0072B2", svg)))[[1L]], 1L)
  }
  # A star is four lines, a cross two.
  expect_identical(count_marks(drawn_svg(many(30L, 8)), "#0072B2"), 120L)
  expect_identical(count_marks(drawn_svg(many(30L, 4)), "#0072B2"), 60L)
})

test_that("lines keep their points and their groups, intervals their ends", {
  data <- data.table(x = rep(1:4, 3L), y = 1:12, g = rep(c("a", "b", "c"), each = 4L))
  plot <- ggplot2::ggplot(data, ggplot2::aes(x, y, group = g)) +
    ggplot2::geom_line(colour = "#D55E00") +
    ggplot2::geom_linerange(ggplot2::aes(ymin = y - 1, ymax = y + 1), colour = "#009E73") +
    ggplot2::geom_hline(yintercept = 3, colour = "#CC79A7") + theme_cotejo()
  svg <- drawn_svg(plot)
  expect_identical(count_marks(svg, "#D55E00"), 3L)
  expect_identical(count_marks(svg, "#009E73"), 12L)
  expect_identical(count_marks(svg, "#CC79A7"), 1L)
  lying <- ggplot2::ggplot(data[1:4], ggplot2::aes(y = y)) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = x - 1, xmax = x + 1), colour = "#009E73")
  marks <- picture_of(lying)$panels[[1L]]$marks
  range <- Filter(function(mark) mark$stroke %in% "#009E73", marks)[[1L]]
  expect_equal(range$y[c(TRUE, FALSE)], range$y[c(FALSE, TRUE)])
  expect_true(all(range$x[c(TRUE, FALSE)] < range$x[c(FALSE, TRUE)]))
})

test_that("panels, axes, legend and caption have their texts, escaped and not cut", {
  data <- data.table(
    x = c("one & two", "three"), y = 1:2, level = c("<a>", "b"), panel = c("left", "right")
  )
  plot <- ggplot2::ggplot(data, ggplot2::aes(x, y, colour = level)) + ggplot2::geom_point() +
    ggplot2::facet_wrap(~panel) + level_scales(c("<a>", "b")) +
    ggplot2::labs(title = "Title", caption = strrep("a long caption ", 30L)) +
    ggplot2::scale_y_continuous("height (m)") + theme_cotejo()
  picture <- picture_of(plot)
  svg <- svg_text(picture)
  texts <- c("one &amp; two", "three", "&lt;a&gt;", "b", "left", "right", "Title", "height (m)")
  for (text in texts) {
    expect_match(svg, paste0(">", text, "<"), fixed = TRUE)
  }
  texts <- Filter(function(mark) mark$kind == "text" && !mark$angle, picture$marks)
  ends <- unlist(lapply(texts, function(mark) {
    mark$x + (1 - mark$anchor) * text_width(mark$label, mark$size, mark$bold)
  }))
  expect_lte(max(ends), picture$width)
  # Ticks stand under their points: the panel's dot and the text have one place.
  dots <- Filter(function(mark) mark$kind == "dots", picture$panels[[1L]]$marks)[[1L]]
  label <- Filter(function(mark) any(mark$label == "one & two"), texts)[[1L]]
  expect_equal(label$x[label$label == "one & two"][[1L]], dots$x[[1L]], tolerance = 0.01)
})

test_that("the same plot gives the same bytes, whatever the random numbers and the fonts", {
  first <- drawn_svg(many(20L))
  set.seed(7L)
  expect_identical(drawn_svg(many(20L)), first)
  expect_equal(text_width("0.1 \u00b5s", 10), sum(c(636, 318, 636, 318, 636, 521)) / 100)
  expect_identical(wrap_text("aa bb cc", text_width("aa bb", 9), 9), c("aa bb", "cc"))
})

test_that("axes are those that ggplot2 makes, one for each scale whatever the panels", {
  asked <- 0L
  breaks <- function(limits) {
    asked <<- asked + 1L
    pretty(limits)
  }
  faceted <- function(panels, scales) {
    data <- data.frame(
      x = rep(c("a", "b"), panels), y = seq_len(2L * panels),
      panel = rep(seq_len(panels), each = 2L)
    )
    ggplot2::ggplot(data, ggplot2::aes(x, y)) + ggplot2::geom_point() +
      ggplot2::facet_wrap(~panel, scales = scales) + ggplot2::scale_y_log10("y", breaks = breaks)
  }
  for (scales in c("fixed", "free_y", "free")) {
    theirs <- ggplot2::ggplot_build(faceted(3L, scales))$layout$panel_params
    ours <- panels_of(built_of(faceted(3L, scales)))
    expect_equal(
      lapply(ours, function(p) p$y$range), lapply(theirs, function(p) p$y$continuous_range)
    )
    expect_equal(lapply(ours, function(p) p$x$places), lapply(theirs, function(p) {
      as.numeric(p$x$scale$map(p$x$get_breaks()))
    }))
    expect_identical(lapply(ours, function(p) p$y$labels), lapply(theirs, function(p) {
      p$y$get_labels()[!is.na(p$y$get_breaks())]
    }))
  }
  count <- function(panels) {
    asked <<- 0L
    picture_of(faceted(panels, "fixed"))
    asked
  }
  expect_gt(count(2L), 0L)
  expect_identical(count(30L), count(2L))
})

in_panel <- function(layer, column, panel) layer[[column]][layer$PANEL == as.integer(panel)]

test_that("layers have in each panel what ggplot2 would draw there", {
  data <- data.table(
    x = 2^rep(0:3, 6L), y = exp(seq(-2, 3, length.out = 24L)), level = rep(c("b", "a", "c"), 8L),
    panel = factor(rep(c("left", "right"), each = 12L), c("right", "left"))
  )
  many <- ggplot2::ggplot(data, ggplot2::aes(x, y, colour = level)) +
    ggplot2::geom_point(ggplot2::aes(shape = level), alpha = 0.3,
      position = ggplot2::position_jitter(width = 0.1, height = 0, seed = 1L)) +
    ggplot2::geom_line(ggplot2::aes(linetype = level), linewidth = 0.4) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = y / 2, ymax = 2 * y)) +
    ggplot2::geom_hline(yintercept = 3) + level_scales(c("a", "b", "c")) +
    ggplot2::scale_x_continuous(trans = "log2")
  plots <- list(
    many + ggplot2::facet_wrap(~panel, scales = "free_y") + ggplot2::scale_y_log10(),
    # Limits cut off what is beyond them.
    many + ggplot2::facet_grid(level ~ panel) + ggplot2::scale_y_continuous(limits = c(1, NA)),
    ggplot2::ggplot(data, ggplot2::aes(level, y)) +
      ggplot2::geom_col(ggplot2::aes(fill = panel), width = 0.6) +
      ggplot2::geom_point(data = data[1:3], size = 3) + ggplot2::scale_fill_grey()
  )
  columns <- c(
    "x", "y", "xmin", "xmax", "ymin", "ymax", "yintercept", "colour", "fill", "shape", "linetype",
    "size", "linewidth", "alpha"
  )
  for (plot in plots) {
    theirs <- suppressWarnings(ggplot2::ggplot_build(plot))$data
    ours <- built_of(plot)$data
    for (i in seq_along(theirs)) {
      for (panel in unique(as.character(theirs[[i]]$PANEL))) {
        rows <- which(theirs[[i]]$PANEL == panel)
        for (column in intersect(columns, names(theirs[[i]]))) {
          value <- theirs[[i]][[column]][rows]
          if (is.numeric(value)) value <- as.numeric(value)
          expect_equal(in_panel(ours[[i]], column, panel), value)
        }
      }
    }
  }
})

test_that("numbers of a file are hundredths without zeros at their end", {
  expect_identical(
    short(c(0, -0.001, 100, 10.1, 10.014, 3.999, -3.5, 518.4)),
    c("0", "0", "100", "10.1", "10.01", "4", "-3.5", "518.4")
  )
})

test_that("what has no marks is refused, not lost", {
  plot <- ggplot2::ggplot(data.frame(x = 1:9), ggplot2::aes(x)) + ggplot2::geom_density()
  expect_error(picture_of(plot), "no marks for GeomDensity", class = "cotejo_refused")
})
