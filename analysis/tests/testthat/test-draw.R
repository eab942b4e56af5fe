# SPDX-License-Identifier: BSD-3-Clause
# Figures as files: any ggplot is drawn, the bytes depend only on the plot, and texts fit.

drawn_svg <- function(plot) svg_text(lay_out(plot))

many <- function(n) {
  data <- data.frame(x = seq_len(n), y = sqrt(seq_len(n)))
  ggplot2::ggplot(data, ggplot2::aes(x, y)) +
    ggplot2::geom_point(colour = "#0072B2") + theme_cotejo() + ggplot2::labs(title = "Many")
}

test_that("a figure is SVG with its title, its description and its points", {
  words <- ggplot2::labs(title = "A < B", subtitle = "Where.", caption = "What\nit shows.")
  svg <- drawn_svg(many(50L) + words)
  expect_match(svg, "^<[?]xml[^>]*>\n<svg role='img'")
  expect_match(svg, "<title>A &lt; B</title>\n<desc>Where. What it shows.</desc>", fixed = TRUE)
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
  # A no-break space is no place for a line break.
  expect_identical(
    wrap_lines("n\u00a0=\u00a02 of two\nlines", 9L), "n\u00a0=\u00a02 of\ntwo\nlines"
  )
})

test_that("texts have their letters in the locale C too, which stays as it was", {
  before <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", before))
  Sys.setlocale("LC_CTYPE", "C")
  plot <- ggplot2::ggplot(data.frame(x = 1), ggplot2::aes(x, x)) + ggplot2::labs(x = "\u00b5s")
  expect_match(svg_text(lay_out(plot)), ">\u00b5s<", fixed = TRUE)
  expect_identical(Sys.getlocale("LC_CTYPE"), "C")
  expect_identical(grDevices::dev.cur()[[1L]], 1L)
})

test_that("a PDF has no date", {
  skip_if_not(pdf_without_date(), "the date of this version of cairo is compressed")
  file <- file.path(fresh_folder(), "figure.pdf")
  draw_pdf(lay_out(many(3L)), file)
  expect_match(readBin(file, "raw", 5L) |> rawToChar(), "%PDF-", fixed = TRUE)
  first <- tools::md5sum(file)
  Sys.sleep(1.1)
  draw_pdf(lay_out(many(3L)), file)
  expect_identical(tools::md5sum(file), first)
})

test_that("a file has at most twelve panels: those that differ most, and the CSV has all", {
  data <- data.table(x = 1, y = rep(2^c(0:29, 0), 2L))
  data[, panel := rep(sprintf("panel %02d", 1:31), 2L)]
  data[, level := factor(rep(c("a", "b"), each = 31L))]
  data[level == "b", y := 1]
  plot <- ggplot2::ggplot(data, ggplot2::aes(x, y, colour = level)) + ggplot2::geom_point() +
    ggplot2::geom_hline(ggplot2::aes(yintercept = y), data = data[1:29]) +
    ggplot2::facet_wrap(~panel, ncol = 3L) + theme_cotejo() + ggplot2::labs(title = "Many")
  out <- fresh_folder()
  save_plot(with_data(plot, data), out, "many")
  expect_setequal(list.files(out), c("many.svg", "many.csv"))
  texts <- texts_of(paste(readLines(file.path(out, "many.svg")), collapse = "\n"))$label
  expect_setequal(grep("^panel", texts, value = TRUE), sprintf("panel %02d", 19:30))
  expect_match(texts, "The 12 of 31 panels whose curves differ most", fixed = TRUE, all = FALSE)
  expect_identical(nrow(data.table::fread(file.path(out, "many.csv"))), 62L)
})

test_that("what a figure leaves out on purpose is not noted", {
  points <- data.frame(x = 1:2, y = c(1, NA))
  plot <- ggplot2::ggplot(points, ggplot2::aes(x, y))
  expect_silent(lay_out(plot + ggplot2::geom_line() + ggplot2::geom_point()))
})

# Levels of a plot that its legend does not name.
unnamed_levels <- function(plot, texts) {
  tables <- c(list(plot$data), lapply(plot$layers, `[[`, "data"))
  tables <- Filter(function(d) is.data.frame(d) && !is.numeric(d$level), tables)
  levels <- unique(unlist(lapply(tables, function(d) as.character(d$level))))
  if (length(levels) > 1L) setdiff(levels, texts$label)
}

# Whether a plot of numbers has a vertical axis without a unit.
lacks_unit <- function(built, axis) {
  scale <- built$layout$panel_scales_y[[1L]]
  if (is.character(scale$name)) axis <- scale$name
  !scale$is_discrete() && !grepl("[(].+[)]$|%|ratio", paste(axis, collapse = ""))
}

# The rules that a figure violates.
faults_of_figure <- function(plot) {
  fitted <- fit_panels(plot)
  drawing <- lay_out(fitted)
  built <- without_notes(ggplot2::ggplot_build(fitted))
  texts <- texts_of(svg_text(drawing))
  rules <- c(
    panels = nrow(built$layout$layout) > MOST_PANELS, height = drawing$height > 11,
    legend = length(unnamed_levels(plot, texts)) > 0L, unit = lacks_unit(built, plot$labels$y),
    text = min(texts$size) < 8, title = !nzchar(paste(plot$labels$title, collapse = ""))
  )
  names(rules)[rules]
}

test_that("figures keep to the rules: panels, height, legend, unit, size of text, title", {
  places <- sprintf("place-%02d", 1:7)
  design <- design_of(
    bytes = 4^(0:4), transport = c("shm", "tcp"), placement = places, mpi = c("openmpi", "mpich")
  )[, time := fifelse(mpi == "openmpi", 1e-6, 2e-6) * (1 + bytes / 1000)]
  study <- suppressMessages(analyse(plant(fresh_folder(), design)))
  plots <- lapply(plots_of_study(study), function(make) make())
  expect_true(all(c("difference-pingpong", "latency-pingpong", "drift") %in% names(plots)))
  for (name in names(plots)) expect_identical(faults_of_figure(plots[[!!name]]), character())
  # Many panels of differences become a map of winners.
  map <- plots[["difference-pingpong"]]
  expect_identical(map$labels$title, "Open MPI is fastest in 70 of 70 tests")
  expect_identical(nlevels(map$data$where), 14L)
  expect_match(
    plots[["latency-pingpong"]]$labels$title,
    "Open MPI has the lowest time of one message in all 70 cases"
  )
  # The test detects a violation of each rule.
  bad <- many(3L) + ggplot2::labs(title = NULL)
  expect_identical(faults_of_figure(bad), c("unit", "title"))
  tall <- ggplot2::ggplot(
    data.frame(x = 1, y = sprintf("row %d", 1:90)), ggplot2::aes(x, y)
  ) + ggplot2::geom_point() + theme_cotejo(6) + ggplot2::labs(title = "Tall") +
    ggplot2::theme(axis.text = ggplot2::element_text(size = 6))
  expect_identical(faults_of_figure(tall), c("height", "text"))
  data <- data.table(x = 1:2, y = 1:2, level = c("a", "b"))
  unnamed <- ggplot2::ggplot(data, ggplot2::aes(x, y, colour = level)) + ggplot2::geom_point() +
    theme_cotejo() + ggplot2::theme(legend.position = "none") +
    ggplot2::labs(title = "None", y = "time (s)")
  expect_identical(faults_of_figure(unnamed), "legend")
})

test_that("no line leads over a gap in which nothing was measured", {
  expect_identical(parts_of_line(2^c(0:10, 23)), rep(1:2, c(11L, 1L)))
  expect_identical(parts_of_line(2^c(0, 10, 16, 23)), rep(1L, 4L))
  expect_identical(parts_of_line(c(0, 1, 2, 3, 40)), rep(1:2, c(4L, 1L)))
})

test_that("a colour is one MPI, also where levels say more than the MPI, and in differences", {
  families <- data.table(
    name = c("a", "b"), title = c("Open MPI", "MPICH"), colour = c("#111111", "#222222"),
    order = 1:2
  )
  with_families(families, {
    levels <- c("MPICH, ping-pong", "MPICH, stream", "Open MPI, ping-pong")
    expect_identical(unname(colours_of_families(levels)), c("#222222", "#222222", "#111111"))
    expect_null(colours_of_families(levels[1:2]))
    expect_null(colours_of_families(c("MPICH", "near")))
    verdicts <- c("faster", "slower", "not settled", "not tested")
    table <- data.table(a = "a", b = "b", verdict = verdicts)
    expect_identical(
      as.character(result_of(table)),
      c("Open MPI faster", "MPICH faster", "not settled", "not tested")
    )
    scale <- result_scales(levels(result_of(table)))[[1L]]
    scale$train(levels(result_of(table)))
    expect_identical(unname(scale$map("MPICH faster")), "#222222")
  })
})

test_that("a caption promises no interval where there are too few launches for one", {
  what <- "Points: median, with its 95 % interval over launches. Thick lines: its 95 % interval."
  expect_match(caption_of(what, c(1L, 4L), ""), "median. No intervals: fewer than 5", fixed = TRUE)
  for (shown in c("ratio with its interval within the question.", GAIN_OF_TIME, GAIN_OF_RATE)) {
    expect_no_match(sub("No intervals", "", caption_of(shown, 4L, "")), "interval")
  }
  expect_match(caption_of(what, c(1L, 5L), ""), what, fixed = TRUE)
  many <- sprintf("emulated: %d hosts", 1:9)
  expect_match(caption_of(what, 5L, many), "NOT REAL HARDWARE: 9 emulated or simulated machines",
    fixed = TRUE)
})

test_that("headings of answers name ranks and ways to start in words", {
  rows <- data.table::data.table(
    operation = "allreduce", transport = "shm", placement = "near",
    parameters = c("ranks=2; start=windows", "ranks=8; start=mpi-barrier", ""),
    settings = "", simulated = "", test = "collective_quick"
  )
  expect_identical(title_of_stratum(rows), paste0(
    "Allreduce, shared memory, placement near", c(
      ", 2 ranks, start by synchronised clocks", ", 8 ranks, start after MPI_Barrier", ""
    ), " (collective_quick)"
  ))
})

test_that("panels name what was measured, and not tests or options", {
  table <- data.table::data.table(
    operation = c("iallgather.both", "allgather_init", "put.flush.create", "pingpong", "pingpong"),
    transport = "shm", site = "local", scale = c("full", "full", "quick", "quick", "full"),
    test = c("collective_full", "collective_full", "onesided_quick", "pingpong_quick",
      "pingpong_affinity"),
    parameters = c("ranks=2; variant=nonblocking", "ranks=2; variant=persistent",
      "window=create", "blocking=no", "blocking=no"), ranks = 2L
  )
  expect_setequal(levels(panel_of(table)), c(
    "iallgather with computation, shared memory\nvariant nonblocking",
    "allgather, persistent, shared memory\nvariant persistent",
    "put, flush, window created, shared memory",
    "ping-pong, shared memory\nnon-blocking, study of pingpong",
    "ping-pong, shared memory\nnon-blocking, study of placements"
  ))
})
