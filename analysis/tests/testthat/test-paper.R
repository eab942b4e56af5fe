# SPDX-License-Identifier: BSD-3-Clause
# The paper: every section is present, its numbers are those of the data, and claims are judged by
# the available data.

paper <- function() {
  source <- test_path("..", "..", "paper.Rmd")
  published <- test_path("..", "..", "..", "data", "published")
  testthat::skip_if_not(
    file.exists(source) && file.exists(published), "paper.Rmd is not beside the package"
  )
  list(source = normalizePath(source), published = normalizePath(published))
}

test_that("the paper has its sections and computes what it says", {
  given <- paper()
  folder <- write_study(
    fresh_folder(), c(openmpi = 3e-7, mpich = 6e-7),
    bytes = c(1, 16, 262144), blocks = 6L, transports = c("shm", "tcp")
  )
  out <- file.path(fresh_folder(), "paper.html")
  suppressMessages(utils::capture.output(
    write_paper(given$source, folder, out, published = given$published)
  ))
  html <- paste(readLines(out), collapse = "\n")
  for (section in c(
    "Abstract", "Question", "Method", "Sites", "Results by study",
    "Consistency of the printed numbers", "Verdicts on the conclusions", "Threats to validity",
    "Related work", "Discussion",
    "Data and commands", "References"
  )) {
    expect_match(html, paste0("<h2 id=\"[^\"]*\">", section))
  }
  # The paper begins with its authors, its data, and the certainty of its numbers.
  text <- gsub("\\s+", " ", gsub("<[^>]*>", " ", html))
  expect_match(text, "The cotejo authors. cotejo [0-9.]+; launches of 2026-11-21; commit [^.]+")
  # The rule for choosing figures stands before the figures.
  expect_match(text, "At most three figures of each study are shown: first those with published")
  expect_match(text, "2 libraries in 24 launches on 1 site", fixed = TRUE)
  expect_match(text, "printed conclusions hold", fixed = TRUE)
  expect_match(text, "https://doi.org/10.1145/2807591.2807644", fixed = TRUE)
  # Each citation leads to its entry, which is also available for other papers.
  expect_false(grepl("[@", html, fixed = TRUE))
  cited <- regmatches(html, gregexpr("href=\"#ref-[a-z]+\"", html))[[1L]]
  listed <- regmatches(html, gregexpr("id=\"ref-[a-z]+\"", html))[[1L]]
  expect_setequal(sub("href=\"#", "", cited), sub("id=\"", "", listed))
  entries <- readLines(file.path(dirname(out), "paper-data", "references.bib"), encoding = "UTF-8")
  expect_length(grep("^@[A-Za-z]+\\{[a-z]+,$", entries), length(listed))
  expect_match(entries, "\u00c1lvarez Mall\u00f3n", fixed = TRUE, all = FALSE)
  text <- gsub("\\s+", " ", gsub("<[^>]*>", "", html))
  expect_match(text, "in 24 launches", fixed = TRUE)
  expect_match(text, "Open MPI is the fastest library in 6 of 6 tests", fixed = TRUE)
  # The paper is readable: few words and headings, no heading twice.
  expect_lt(length(strsplit(text, " ")[[1L]]), 8000L)
  headings <- regmatches(html, gregexpr("<h[23][^>]*>[^<]*", html))[[1L]]
  expect_identical(anyDuplicated(sub("^<[^>]*>", "", headings)), 0L)
  expect_match(html, "fastest library in <a class=\"fact\"[^>]*>6</a> of <a class=\"fact\"")
  # Numbers of headings and threats lead to their data, but for the bounds of an outlier.
  threats <- sub("(?s).*<h2[^>]*>Threats to validity(.*?)<h2.*", "\\1", html, perl = TRUE)
  plain <- gsub("<[^>]*>", "", gsub("<a class=\"fact\"[^>]*>[^<]*</a>", "", threats))
  numbers <- regmatches(plain, gregexpr("[0-9./]+[0-9]|[0-9]", plain))[[1L]]
  expect_identical(numbers, c("1.5", "1/1.5"))
  expect_no_match(headings, ": [0-9]+ of [0-9]+$")
  expect_match(text, "Exhibits with data: [0-9]+ of 52")
  expect_lte(lengths(regmatches(html, gregexpr("<figure>", html, fixed = TRUE))), 30L)
  expect_match(text, "The paper judges [0-9]+ conclusions of this study")
  expect_match(text, "MPICH takes less time than Open MPI for messages", fixed = TRUE)
  expect_match(text, "contradicted", fixed = TRUE)
  # The audit recomputes with units.
  expect_match(text, "0.2662 ms", fixed = TRUE)
  # Each table of numbers, but the one of all linked numbers, links to its data and command.
  # Those of an exhibit have one link below them.
  alone <- gsub("(?s)<figure>.*?</figure>", "", html, perl = TRUE)
  captions <- regmatches(alone, gregexpr("(?s)<caption>.*?</caption>", alone, perl = TRUE))[[1L]]
  captions <- captions[!grepl("Every linked number of this paper", captions, fixed = TRUE)]
  expect_gt(length(captions), 8L)
  expect_match(captions, "<a href=\"paper-data/[a-z]+[.]csv\">Data.*by <code>make [^<]+</code>")
  # Each study is a part of its own, which begins a page in print.
  parts <- regmatches(html, gregexpr("<div class=\"study\">\\s*<h3", html))[[1L]]
  expect_length(parts, lengths(gregexpr("<h3", html, fixed = TRUE)))
  for (tag in c("figure", "div")) {
    count <- function(begin) lengths(gregexpr(paste0("<", begin, tag, "\\b"), html))
    expect_identical(count(""), count("/"))
  }
  expect_match(html, "[.]study [{] break-before: page; [}]")
  expect_false(grepl("NaN|\\bInf\\b|## Error", text))
  # Each number links to its row, and each row to a file of data that contains it.
  facts <- regmatches(html, gregexpr("href=\"#fact-[0-9]+\"", html))[[1L]]
  rows <- regmatches(html, gregexpr("id=\"fact-[0-9]+\"", html))[[1L]]
  expect_gt(length(facts), 40L)
  expect_setequal(sub("href=\"#", "", facts), sub("id=\"", "", rows))
  data <- unique(regmatches(html, gregexpr("paper-data/[^\"]+", html))[[1L]])
  expect_true(all(file.exists(file.path(dirname(out), data))))
  launches <- data.table::fread(file.path(dirname(out), "paper-data", "launches.csv"))
  expect_match(html, sprintf(">%d</a> launches on", sum(launches$used)), fixed = TRUE)
  pdf <- sub("html$", "pdf", out)
  expect_identical(file.exists(pdf), any(nzchar(Sys.which(
    c("chromium-headless-shell", "chromium", "google-chrome")
  ))))
})

test_that("the paper's tables grow with sites and transports, not with what is measured there", {
  winners <- data.table::CJ(
    site = c("a", "b"), simulated = c("", "emulated: 2 hosts on 2 cores, n1", "emulated: n2"),
    operation = c("bcast", "pingpong", "reduce"), transport = "tcp", sizes = "small",
    winner = c("", "mpich")
  )
  winners[, c("cells", "of", "least", "most", "close", "bound", "n", "candidates") := list(
    2L, 4L, seq_len(.N) / .N + 1, 3, 0L, 0, 10L, ""
  )]
  over <- over_operations(winners)
  expect_identical(nrow(over), 8L)
  expect_identical(over[winner == "mpich" & site == "a"]$cells, c(6L, 12L))
  expect_identical(over$of, rep(c(12L, 12L, 24L, 24L), 2L))
  expect_identical(over[winner == "mpich" & site == "b"]$least, c(
    winners[winner == "mpich" & site == "b" & simulated == ""]$least[[1L]],
    winners[winner == "mpich" & site == "b" & simulated != ""]$least[[1L]]
  ))
  shown <- table_matrix(over)
  expect_identical(shown$Question, rep(paste0("All operations, TCP", c("", " (emulated)")), 2L))

  used <- data.table::data.table(
    site = "a", cpu_model = c("x", "y", "x"), kernel = "k", session = c("1", "2", "2"),
    launch = 1L, ranks = c(2L, 8L, 4L), hosts = 1L, transport = "tcp",
    simulated = c("", "emulated: n1", "emulated: n2")
  )
  expect_identical(paper_sites(used)$Ranks, "2 to 8")
  expect_identical(paper_sites(used)$CPU, "x, y")
  expect_identical(paper_sites(used)[["Simulated or emulated"]], "2 emulated")
})

test_that("drift is said of all sessions together, and only of those that can tell", {
  levels <- function(session, change, blocks) {
    data.table::data.table(
      site = "a", session = session, transport = "tcp", launch = seq_len(blocks),
      level = seq(0, log1p(change), length.out = blocks)
    )
  }
  drift <- drift_of_levels(rbind(
    levels("1", 0.1, 6L), levels("2", 0.02, 6L), levels("3", -0.04, 6L), levels("4", 0.5, 2L)
  ))
  say_drift <- function(drift) gsub("\001[0-9]+ |\002", "", cotejo:::say_drift(drift))
  expect_match(say_drift(drift), "by 4.00 % (median) and 10.0 % (maximum;", fixed = TRUE)
  expect_match(say_drift(drift), "3 sessions and transports of 5 or more blocks", fixed = TRUE)
  expect_match(say_drift(drift), "at most 0.05 in 3 of them; in 0 the first", fixed = TRUE)
  expect_match(say_drift(drift[session == "4"]), "No session has enough blocks", fixed = TRUE)
})

test_that("the paper shows three figures of a study, by the rule that it states", {
  row <- function(exhibit, state, ground, n, kind = "figure", study = "stival",
                  published = FALSE, class = "real") {
    data.table::data.table(study, exhibit, state, ground, n, kind, published, class)
  }
  part <- rbind(
    row("few", "drawn", "measured", 5L), row("simulated", "drawn", "simulated", 40L),
    row("partly", "partly", "measured", 50L), row("many", "drawn", "measured", 20L),
    row("emulated", "drawn", "emulated", 30L), row("many", "drawn", "simulated", 60L),
    row("table", "drawn", "measured", 90L, kind = "table"), row("gone", "waiting", "", 0L)
  )
  chosen <- function(part) data.table::rbindlist(paper_figures(part))$exhibit
  expect_identical(chosen(part), c("many", "few", "emulated"))
  expect_identical(chosen(part[exhibit %in% c("partly", "simulated")]), c("simulated", "partly"))
  expect_length(paper_figures(row("own", "drawn", "measured", 5L, study = "cotejo")), 0L)
  # Published points go before all other properties, except those that a machine was fitted to.
  fitted <- row("fitted", "drawn", "simulated", 9L, published = TRUE, class = "circular")
  points <- row("points", "partly", "emulated", 2L, published = TRUE)
  expect_identical(chosen(rbind(part, fitted, points)), c("points", "many", "few"))
  # A table with published numbers follows if no figure shows any; without figures, any table.
  printed <- row("printed", "partly", "measured", 1L, kind = "table", published = TRUE)
  expect_identical(chosen(rbind(part, printed)), c("many", "few", "emulated", "printed"))
  expect_identical(chosen(rbind(part, printed, points)), c("points", "many", "few"))
  expect_identical(chosen(rbind(part[exhibit == "table"], printed)), "printed")
  expect_identical(chosen(part[exhibit == "table"]), "table")
})

test_that("the paper shows the measured and the printed table of a study without figures", {
  folder <- fresh_folder()
  dir.create(file.path(folder, "tinetti"))
  shown <- with_table(data.table::data.table(Configuration = "LAM/MPI", n = 5L), NULL, "Ours.")
  printed <- list("PUBLISHED by tinetti" = data.table::data.table(library = "LAM/MPI"))
  shown$data <- shown$shown
  save_table(shown, "A title", file.path(folder, "tinetti"), "p2p", printed)
  html <- embed_exhibit(data.table::data.table(
    study = "tinetti", exhibit = "p2p-mpi", file = "p2p", kind = "table", title = "A title",
    class = "real", n = 5L, tests = "lam_quick"
  ), folder)
  expect_length(gregexpr("<table", html, fixed = TRUE)[[1L]], 2L)
  expect_match(html, "(?s)Ours[.].*PUBLISHED by tinetti.*paper-data/tinetti-p2p.csv", perl = TRUE)
  expect_no_match(html, "<script|<h1")
})

test_that("the paper is written without its PDF where no browser prints it", {
  place <- fresh_folder()
  usual <- Sys.getenv("PATH")
  on.exit(Sys.setenv(PATH = usual))
  Sys.setenv(PATH = place)
  page <- file.path(place, "paper.html")
  expect_message(none <- print_page(page), "no Chromium on PATH")
  writeLines(c("#!/bin/sh", "exit 7"), file.path(place, "chromium"))
  Sys.chmod(file.path(place, "chromium"))
  writeLines("text", page)
  expect_message(failed <- print_page(page), "ended with status 7")
  expect_identical(basename(c(none, failed)), character())
})

test_that("citations are links to the list of references, in any locale", {
  before <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", before))
  Sys.setlocale("LC_CTYPE", "C")
  html <- pandoc_html("@finisterrae said it [@yuen].\n\n::: {#refs}\n:::")
  expect_match(html, paste0(
    "it <span class=\"citation\" data-cites=\"yuen\">(<a href=\"#ref-yuen\" ",
    "role=\"doc-biblioref\">Yuen 1974</a>)"
  ), fixed = TRUE)
  expect_match(html, "<div id=\"ref-yuen\"", fixed = TRUE)
  expect_match(html, "\u00c1lvarez Mall\u00f3n, D., ", fixed = TRUE)
})

test_that("a citation without an entry, and a machine without pandoc, are refused in one line", {
  refused <- function(text, why) expect_error(pandoc_html(text), why, class = "cotejo_refused")
  refused("as [@nobody] says", "citation nobody not found")
  before <- Sys.getenv("PATH")
  on.exit(Sys.setenv(PATH = before))
  Sys.setenv(PATH = fresh_folder())
  refused("text", "pandoc is not on PATH")
})
