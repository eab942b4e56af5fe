# SPDX-License-Identifier: BSD-3-Clause
# Pages: the HTML of the parts of a template, and the speed of large tables.

template <- function(...) {
  file <- file.path(fresh_folder(), "t.Rmd")
  writeLines(c("---", "title: \"A & B\"", "contents: true", "---", ...), file)
  file
}

test_that("headings, paragraphs, code and chunks become HTML, in their order", {
  out <- file.path(fresh_folder(), "deep", "page.html")
  file <- template(
    "```{r setup, include = FALSE}", "y <- x + 1", "y", "```", "## First", "",
    "Two lines of `code`", "with `r y` in them.", "", "```{r not, eval = x > 1}", "stop(\"no\")",
    "```", "```{r two}", "htmltools::tags$p(\"one\")", "if (FALSE) 1", "invisible(3)",
    "bullets(c(\"a\", \"b\"))", "```", "", "## First", "After."
  )
  suppressMessages(render_page(file, list(x = 1), out))
  html <- paste(readLines(out), collapse = "\n")
  expect_match(html, "<title>A &amp; B</title>", fixed = TRUE)
  expect_match(html, "<p>Two lines of <code>code</code>\nwith 2 in them.</p>", fixed = TRUE)
  expect_match(html, "<p>one</p>\n<ul><li>a</li><li>b</li></ul>", fixed = TRUE)
  expect_match(html, "<li><a href=\"#first-1\">First</a></li>", fixed = TRUE)
  expect_match(html, paste0(
    "<h2 id=\"first-1\">First<a class=\"anchor\" href=\"#first-1\" aria-label=\"link here\">",
    "</a></h2>\n<p>After.</p>"
  ), fixed = TRUE)
  expect_false(grepl("NULL|```|stop", html))
})

test_that("a table's cells are its values, numbers to the right, what is long may be broken", {
  table <- data.table::data.table(Name = c("a", strrep("b", 41L)), n = c(1L, NA))
  html <- as.character(html_table(table, "Caption", "n"))
  expect_match(html, "<td class=\"text\">a</td><td class=\"num\">1</td>", fixed = TRUE)
  expect_match(html, sprintf("<td class=\"text long\">%s</td>", strrep("b", 41L)), fixed = TRUE)
  expect_match(html, "<th class=\"num\">n</th>", fixed = TRUE)
  expect_false(grepl("sortable", html, fixed = TRUE))
  expect_match(html_table(rbind(table, table), "Caption"), "class=\"sortable\"", fixed = TRUE)
  expect_null(html_table(table[0L], "Caption"))
})

test_that("a table costs by its columns, not by its cells", {
  rows <- function(n) data.table::data.table(a = seq_len(n), b = "x", c = "y")
  plain <- htmltools::htmlEscape
  calls <- 0L
  counting <- function(text) {
    calls <<- calls + 1L
    plain(text)
  }
  count <- function(n) {
    calls <<- 0L
    with_replaced("htmlEscape", counting, html_table(rows(n), "Caption"))
    calls
  }
  expect_gt(count(10L), 0L)
  expect_identical(count(1000L), count(10L))
})

test_that("what is HTML already is not written again, and comes out as htmltools writes it", {
  html <- htmltools::HTML("<table>\n<tr><td>a &lt; b</td></tr>\n</table>")
  shown <- htmltools::tagList(
    htmltools::tags$h2("a < b"), html, fold("t < u", html), fold("none", NULL), "plain < text",
    fold("two", html, html), list(fold("deep", html), NULL),
    htmltools::div(class = "found", htmltools::tags$p("x"), fold("within", html))
  )
  expect_identical(
    paste(html_text(shown), collapse = "\n"), as.character(htmltools::doRenderTags(shown))
  )
  expect_true(as.character(html) %in% html_text(shown))
  expect_null(html_text(NULL))
})

test_that("cells that come again are alike, and columns of one name have each their side", {
  table <- data.table(a = c("x", "y", "x"), b = 1:3, c = c(NA, "<", NA))
  data.table::setnames(table, c("Same", "Other", "Same"))
  html <- as.character(html_table(table, "Caption", c("Other")))
  cells <- regmatches(html, gregexpr("<t[hd] [^/]*</t[hd]>", html))[[1L]]
  text <- function(tag, value) sprintf("<%s class=\"text\">%s</%s>", tag, value, tag)
  number <- function(tag, value) sprintf("<%s class=\"num\">%s</%s>", tag, value, tag)
  expect_identical(cells, c(
    text("th", "Same"), number("th", "Other"), text("th", "Same"),
    text("td", "x"), number("td", 1), text("td", NA), text("td", "y"), number("td", 2),
    text("td", "&lt;"), text("td", "x"), number("td", 3), text("td", NA)
  ))
})

test_that("the parts of a template come in their order, and leave no state of knitr", {
  before <- list(knitr::opts_chunk$get(), knitr::knit_hooks$get(), knitr::opts_knit$get())
  html <- knit_template(c(
    "Before.", "", "```{r}", "x <- 1", "htmltools::HTML(\"<h2>A</h2>\\n\\n<p>*b*</p>\")",
    "htmltools::HTML(x)", "```", "", "## Title `r x`", "", "```{r, eval = x > 1}", "stop()",
    "```", "", "```{r, include = FALSE}", "x <- 2", "x", "```", "", "Text `r x` of `code`."
  ), list())
  expect_identical(html[nzchar(html)], c(
    "<p>Before.</p>", "<h2>A</h2>", "<p>*b*</p>", "1", "<h2>Title 1</h2>",
    "<p>Text 2 of <code>code</code>.</p>"
  ))
  after <- list(knitr::opts_chunk$get(), knitr::knit_hooks$get(), knitr::opts_knit$get())
  expect_identical(after, before)
  expect_error(knit_template(c("```{r}", "refuse(\"because\")", "```"), list()), "because")
})

test_that("the sections of a report come in their order, whichever process computes them", {
  before <- options(cotejo.cores = 2L)
  on.exit(options(before))
  html <- with_replaced("sections_of_report", function() {
    list(first = function(study) htmltools::tags$p(study), second = function(study) NULL)
  }, compute_sections("x"))
  expect_identical(html, list(first = list(htmltools::HTML("<p>x</p>")), second = list()))
})

test_that("a page embeds few figures and loads many when shown, with links to the files", {
  svg <- file.path(fresh_folder(), "time.svg")
  writeLines("<svg/>", svg)
  labels <- list(title = "T", caption = "C < D")
  inside <- as.character(embed_plot(labels, svg))
  expect_match(inside, "src=\"data:image/svg+xml;base64,", fixed = TRUE)
  expect_match(inside, "<a href=\"figures/time.svg\">Figure</a>", fixed = TRUE)
  expect_match(inside, "<a href=\"figures/time.csv\">data (CSV)</a>", fixed = TRUE)
  expect_match(inside, "alt=\"T. C &lt; D\"", fixed = TRUE)
  linked <- as.character(embed_plot(labels, svg, FALSE))
  expect_match(linked, "src=\"figures/time.svg\" loading=\"lazy\"", fixed = TRUE)
})

test_that("pages have a dark mode, print what is folded, and no table widens a narrow page", {
  css <- report_part("report.css")
  for (text in c(
    "prefers-color-scheme: dark", "color-scheme: light dark", "details::details-content",
    "overflow-wrap: anywhere", "overflow-x: auto"
  )) {
    expect_match(css, text, fixed = TRUE)
  }
  expect_match(report_part("tables.js"), "beforeprint", fixed = TRUE)
})

test_that("a long table is folded under the first sentence of its caption", {
  caption <- "Drift over the blocks: relative change. More words."
  short <- html_text(fold_long(data.table::data.table(a = 1:30), caption))
  long <- paste(html_text(fold_long(data.table::data.table(a = 1:31), caption)), collapse = "")
  expect_false(any(grepl("<details>", short, fixed = TRUE)))
  expect_match(long, "<details>  <summary>Drift over the blocks (31 rows)</summary>", fixed = TRUE)
  expect_null(fold_long(data.table::data.table(a = integer()), caption))
})

test_that("captions are escaped unless they are HTML, and long sections are complete", {
  table <- data.table::data.table(n = 1L)
  expect_match(html_table(table, "a <b>"), "<caption>a &lt;b&gt;</caption>", fixed = TRUE)
  link <- htmltools::HTML("<a href=\"x.csv\">Data</a>")
  expect_match(html_table(table, link), paste0("<caption>", link, "</caption>"), fixed = TRUE)
  long <- paste0("<h3>Title</h3>", strrep("a", 1100000L), "<p>end</p>")
  expect_true(endsWith(with_contents(long)$body, "<p>end</p>"))
})
