# SPDX-License-Identifier: BSD-3-Clause
# Figures as files: any ggplot is drawn, the bytes depend on the plot alone, and texts fit.

drawn_svg <- function(plot) svg_text(lay_out(plot))

# The texts of an SVG: `label` and `size` (points).
texts_of <- function(svg) {
  found <- regmatches(svg, gregexpr("<text [^>]*>[^<]*</text>", svg))[[1L]]
  data.table(
    label = gsub("<[^>]*>", "", found),
    size = as.numeric(sub(".*font-size: ([0-9.]+)px.*", "\\1", found))
  )
}

many <- function(n) {
  data <- data.frame(x = seq_len(n), y = sqrt(seq_len(n)))
  ggplot2::ggplot(data, ggplot2::aes(x, y)) +
    ggplot2::geom_point(colour = "#0072B2") + theme_cotejo() + ggplot2::labs(title = "Many")
}

test_that("a figure is SVG with its title, its description and its points", {
  svg <- drawn_svg(many(50L) + ggplot2::labs(title = "A < B", caption = "What\nit shows."))
  expect_match(svg, "^<[?]xml[^>]*>\n<svg role='img'")
  expect_match(svg, "<title>A &lt; B</title>\n<desc>What it shows.</desc>", fixed = TRUE)
  expect_identical(lengths(regmatches(svg, gregexpr("<circle", svg))), 50L)
  expect_true("A &lt; B" %in% texts_of(svg)$label)
})

test_that("a figure is well-formed XML", {
  svg <- drawn_svg(many(3L) + ggplot2::labs(title = "A \"<b>\" & 'c'", caption = "d's \\1"))
  tags <- regmatches(svg, gregexpr("<[a-zA-Z][^>]*>", svg))[[1L]]
  expect_gt(length(tags), 20L)
  odd <- grep("^<[a-zA-Z]+( +[a-zA-Z:-]+='[^'<]*')* */?>$", tags, value = TRUE, invert = TRUE)
  expect_identical(odd, character())
  expect_match(svg, "<title>A \"&lt;b&gt;\" &amp; 'c'</title>", fixed = TRUE)
  expect_match(svg, "<desc>d's \\1</desc>", fixed = TRUE)
})

test_that("the same plot gives the same bytes, whatever the random numbers", {
  plot <- many(20L) + ggplot2::geom_point(
    position = ggplot2::position_jitter(width = 0.1, seed = 1L)
  )
  first <- drawn_svg(plot)
  set.seed(7L)
  expect_identical(drawn_svg(plot), first)
})

test_that("statistics, geometries and coordinates of ggplot2 need no code of ours", {
  data <- data.frame(x = c(1, 2, 2, 3, 3, 3), y = 1:6)
  for (layer in list(
    ggplot2::geom_density(), ggplot2::geom_histogram(bins = 3L), ggplot2::stat_ecdf()
  )) {
    expect_match(drawn_svg(ggplot2::ggplot(data, ggplot2::aes(x)) + layer), "</svg>", fixed = TRUE)
  }
  fixed <- lay_out(ggplot2::ggplot(data, ggplot2::aes(x, y)) + ggplot2::geom_point() +
    ggplot2::coord_fixed())
  expect_gt(fixed$height, 2 * fixed$width)
})

test_that("the height follows the rows of panels and the levels of a discrete axis", {
  data <- data.frame(x = 1, y = 1, p = letters[1:4], l = sprintf("level %d", 1:40))
  height <- function(plot) lay_out(plot + ggplot2::geom_point() + theme_cotejo())$height
  plot <- ggplot2::ggplot(data, ggplot2::aes(x, y))
  two <- height(plot + ggplot2::facet_wrap(~p, ncol = 2L))
  four <- height(plot + ggplot2::facet_wrap(~p, ncol = 1L))
  expect_equal(four - two, 2 * FIGURE$panel, tolerance = 0.15)
  expect_gt(height(ggplot2::ggplot(data, ggplot2::aes(x, l))), 40 * 9 / 72)
})

test_that("long titles and captions are wrapped, and no text is below 8 points", {
  plot <- many(3L) + ggplot2::labs(
    title = strrep("a long title ", 20L), caption = strrep("a long caption ", 30L)
  ) + ggplot2::facet_wrap(~x)
  texts <- texts_of(drawn_svg(plot))
  expect_gt(sum(grepl("a long title", texts$label)), 1L)
  expect_gt(sum(grepl("a long caption", texts$label)), 2L)
  expect_gte(min(texts$size), 8)
  # A no-break space is not a place to break.
  expect_identical(
    wrap_lines("n\u00a0=\u00a02 of two\nlines", 9L), "n\u00a0=\u00a02 of\ntwo\nlines"
  )
})

test_that("a PDF has no date", {
  file <- file.path(fresh_folder(), "figure.pdf")
  draw_pdf(lay_out(many(3L)), file)
  process$drew <- FALSE
  expect_match(readBin(file, "raw", 5L) |> rawToChar(), "%PDF-", fixed = TRUE)
  first <- tools::md5sum(file)
  Sys.sleep(1.1)
  draw_pdf(lay_out(many(3L)), file)
  process$drew <- FALSE
  expect_identical(tools::md5sum(file), first)
})
