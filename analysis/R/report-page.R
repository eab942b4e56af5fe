# SPDX-License-Identifier: BSD-3-Clause
# Turns a template of R Markdown (`inst/report/*.Rmd`) and its values into a page: one
# self-contained HTML file. Text from data is escaped, so that no character in it becomes markup.

#' Write a page from a template.
#'
#' @param template file, or the name of a template in `inst/report` without ending.
#' @param values for the template, by name.
#' @param out_file the HTML file; its folder is made when needed.
#' @param plots by name, as [save_plots()] takes them; drawn to the folder `figures` beside the
#'   page, which shows them by `embed_plot(NAME)` and has their names as `figures`.
#' @param ... the cost of each plot, `work` of [save_plots()].
#' @param finish function of the body's HTML.
#' @param convert as for [knit_template()].
#' @noRd
render_page <- function(template, values, out_file, plots = list(), ..., finish = identity,
                        convert = markdown_html) {
  figures <- file.path(dirname(out_file), "figures")
  labels <- save_plots(plots, figures, ...)
  message("writing ", out_file)
  if (!grepl("/", template, fixed = TRUE)) {
    template <- report_file(paste0(template, ".Rmd"))
  }
  values$figures <- names(plots)
  drawn <- list.files(figures, "[.]svg$", full.names = TRUE)
  embedded <- sum(file.size(drawn)) <= MOST_EMBEDDED
  values$embed_plot <- function(name, top = NULL) {
    embed_plot(labels[[name]], file.path(figures, paste0(name, ".svg")), embedded, top)
  }
  lines <- readLines(template, encoding = "UTF-8")
  ends <- which(lines == "---")[1:2]
  head <- yaml::yaml.load(paste(lines[seq(ends[[1L]] + 1L, ends[[2L]] - 1L)], collapse = "\n"))
  body <- finish(knit_template(lines[-seq_len(ends[[2L]])], values, convert))
  write_page(head$title, body, out_file, contents = isTRUE(head$contents))
}

#' Write a page: its title, style and scripts around a body.
#'
#' @param body text of HTML.
#' @param styles of `inst/report`.
#' @param contents whether it begins with a list of its sections.
#' @noRd
write_page <- function(title, body, out_file, styles = "report.css", contents = FALSE) {
  titled <- with_contents(body)
  body <- titled$body
  if (contents) {
    # The first screen shows the answer: the contents come where the template places them, or
    # first.
    place <- match(CONTENTS, body, nomatch = 0L)
    if (place) {
      body[[place]] <- paste(titled$contents, collapse = "")
    } else {
      body <- c(titled$contents, body)
    }
  }
  page <- c(
    "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
    sprintf("<title>%s</title>", htmlEscape(title)),
    "<style>", vapply(styles, report_part, ""), "</style>", scripts_of(body), "</head>", "<body>",
    sprintf("<h1>%s</h1>", htmlEscape(title)), body, "</body>", "</html>"
  )
  write_whole(out_file, function(file) put_lines(page, file))
}

# The scripts that a page needs, and the style of its charts.
scripts_of <- function(body) {
  has <- function(class) any(grepl(sprintf("class=\"%s\"", class), body, fixed = TRUE))
  library_of_page <- function(name) {
    c("/*", report_part(sprintf("third-party/%s.LICENSE", name)), "*/",
      report_part(sprintf("third-party/%s.js", name)))
  }
  c(
    if (has("chart")) c("<style>", report_part("third-party/uPlot.css"), "</style>"),
    "<script>", library_of_page("tablesort"), report_part("tables.js"), "</script>",
    if (has("chart")) {
      c("<script>", library_of_page("uPlot"), report_part("charts.js"), "</script>")
    }
  )
}

# The mark in a template that is replaced by the list of sections.
CONTENTS <- "<!-- contents -->"

# The text of a style or script, for inclusion in a page.
report_part <- function(name) {
  paste(readLines(report_file(name), encoding = "UTF-8", warn = FALSE), collapse = "\n")
}

report_file <- function(name) {
  system.file("report", name, package = "cotejo", mustWork = TRUE)
}

#' The HTML of a template: knitr evaluates its R code, `convert` its Markdown.
#'
#' The values of chunks are HTML and stay as they are. Text from data, in inline code, is escaped.
#' @param lines of the template, without its head.
#' @param convert function of Markdown that returns HTML.
#' @return lines of HTML.
#' @noRd
knit_template <- function(lines, values, convert = markdown_html) {
  state <- list(knitr::opts_chunk, knitr::opts_knit, knitr::knit_hooks)
  before <- lapply(state, \(one) one$get())
  on.exit(Map(\(one, old) one$restore(old), state, before))
  knitr::render_markdown()
  knitr::opts_knit$set(progress = FALSE)
  knitr::opts_chunk$set(
    echo = FALSE, error = FALSE, message = FALSE, warning = FALSE, fig.keep = "none",
    render = function(value, options) {
      html <- if (!isFALSE(options$include)) html_text(value)
      kept <- htmltools::htmlPreserve(paste(html, collapse = "\n"))
      knitr::asis_output(paste0("\n\n", kept, "\n\n"))
    }
  )
  knitr::knit_hooks$set(inline = function(value) escape_markdown(toString(value)))
  text <- knitr::knit(text = lines, envir = list2env(values, parent = topenv()), quiet = TRUE)
  kept <- htmltools::extractPreserveChunks(text)
  html <- strsplit(convert(kept$value), "\n", fixed = TRUE)[[1L]]
  # A chunk is a paragraph with the name of its HTML.
  chunk <- match(html, sprintf("<p>%s</p>", names(kept$chunks)), nomatch = 0L)
  html[chunk > 0L] <- kept$chunks[chunk]
  unlist(strsplit(html, "\n", fixed = TRUE))
}

markdown_html <- function(text) commonmark::markdown_html(text)

# Text without markup: a backslash before each character that may have a meaning in Markdown.
escape_markdown <- function(text) gsub("([!-/:-@\\[-`{-~])", "\\\\\\1", text, perl = TRUE)

# The HTML of the results of a chunk, in pieces. Megabytes of figures and tables, which are HTML
# already, are not written again: neither alone, nor in a list, as `fold()` returns them.
html_text <- function(value) {
  if (is_html(value)) {
    as.character(value)
  } else if (is.list(value) && !inherits(value, "shiny.tag")) {
    unlist(lapply(value, html_text))
  } else if (!is.null(value)) {
    as.character(htmltools::doRenderTags(value))
  }
}

is_html <- function(value) is.character(value) && inherits(value, "html")

#' Give headings names to link to, and list the sections.
#'
#' Only the headings are matched: matching complete pages of many megabytes takes seconds.
#' @param body texts of HTML.
#' @return list: `contents` (a list of links, folded), `body`.
#' @noRd
with_contents <- function(body) {
  headed <- grep("<h[23]>", body, useBytes = TRUE)
  pieces <- strsplit(body[headed], "<h(?=[23]>)", perl = TRUE)
  behind <- lapply(pieces, `[`, -1L)
  rest <- unlist(behind)
  if (!length(rest)) {
    return(list(contents = NULL, body = body))
  }
  level <- substr(rest, 1L, 1L)
  end <- regexpr(sprintf("</h[23]>"), rest)
  titles <- substr(rest, 3L, end - 1L)
  ids <- gsub("^-|-$", "", gsub("[^a-z0-9]+", "-", tolower(gsub("<[^>]*>", "", titles))))
  ids <- make.unique(ids, sep = "-")
  # Without its last argument, substring() ends at a million characters.
  named <- sprintf(
    "<h%s id=\"%s\">%s<a class=\"anchor\" href=\"#%s\" aria-label=\"link here\"></a>%s",
    level, ids, titles, ids, substring(rest, end, nchar(rest))
  )
  named <- split(named, rep(seq_along(headed), lengths(behind)))
  body[headed] <- unlist(Map(function(all, named) {
    paste(c(all[[1L]], named), collapse = "")
  }, pieces, named))
  sections <- level == "2"
  contents <- sprintf("<li><a href=\"#%s\">%s</a></li>", ids[sections], titles[sections])
  list(
    contents = if (sum(sections) > 1L) {
      c("<details><summary>Contents</summary><nav><ul>", contents, "</ul></nav></details>")
    },
    body = body
  )
}

# Maximum bytes of figures inside a page; a larger page loads each figure when it is shown.
MOST_EMBEDDED <- 2e6

#' A figure of a page: inside the page, or loaded from its file when it comes into view.
#'
#' @param file the SVG, `name` its path from the page.
#' @param caption HTML.
#' @noRd
embed_svg <- function(file, alt, caption, name = NULL) {
  source <- if (is.null(name)) {
    data <- jsonlite::base64_enc(readBin(file, "raw", file.size(file)))
    paste0("data:image/svg+xml;base64,", gsub("\n", "", data, fixed = TRUE))
  } else {
    paste0(name, "\" loading=\"lazy")
  }
  htmltools::HTML(paste0(
    "<figure><img src=\"", source, "\" alt=\"", htmlEscape(gsub("\n", " ", alt), attribute = TRUE),
    "\"><figcaption>", caption, "</figcaption></figure>"
  ))
}

#' A figure with links to its files.
#'
#' @param top path from the page to the folder that has `figures`; `NULL`: the page's own folder.
#' @noRd
embed_plot <- function(labels, svg, embedded = TRUE, top = NULL) {
  name <- paste(c(top, "figures", basename(svg)), collapse = "/")
  data <- sub("[.]svg$", ".csv", name)
  embed_svg(
    svg, paste(labels$title, labels$caption, sep = ". "),
    sprintf("<a href=\"%s\">Figure</a>, <a href=\"%s\">data (CSV)</a>", name, data),
    if (!embedded) name
  )
}

# Folded details, closed at first: a list of its pieces of HTML.
fold <- function(title, ...) {
  inside <- c(
    htmltools::doRenderTags(htmltools::tags$summary(title)), html_text(list(...))
  )
  htmltools::tagList(lapply(
    c("<details>", paste0("  ", inside), "</details>"), htmltools::HTML
  ))
}

bullets <- function(texts) {
  items <- paste0("<li>", htmlEscape(unname(texts)), "</li>", collapse = "")
  htmltools::HTML(paste0("<ul>", items, "</ul>"))
}

#' An HTML table; text columns to the left, numbers to the right.
#'
#' The text is built by columns: one tag object per cell takes minutes for the tables of a report.
#' @param caption text, or HTML as `htmltools::HTML()` returns it.
#' @param html named list: columns whose cells are HTML already.
#' @noRd
html_table <- function(table, caption, right = character(), html = list()) {
  if (nrow(table)) {
    cells <- html_cells(table, right)
    for (name in names(html)) cells[[name]] <- paste0("<td class=\"text\">", html[[name]], "</td>")
    join_cells_of_table(cells, caption, right)
  }
}

# Rows of a table that a page shows unfolded.
MOST_ROWS_SHOWN <- 30L

#' A table, folded if it is long.
#'
#' @param caption its first sentence is the title of the fold.
#' @noRd
fold_long <- function(table, caption, ...) {
  html <- html_table(table, caption, ...)
  if (nrow(table) <= MOST_ROWS_SHOWN) {
    return(html)
  }
  fold(sprintf("%s (%d rows)", sub("[.:]( .*)?$", "", caption), nrow(table)), html)
}

# The cells of columns, as HTML.
html_cells <- function(table, right) {
  side <- fifelse(names(table) %in% right, "num", "text")
  Map(function(values, side) {
    # Most values of a column occur many times.
    few <- unique(values)
    html_cell("td", few, side)[match(values, few)]
  }, as.list(table), side)
}

html_cell <- function(tag, values, side) {
  values <- as.character(values)
  # Only long texts may be broken.
  long <- fifelse(nchar(values) > 40L & !is.na(values), " long", "")
  paste0("<", tag, " class=\"", side, long, "\">", htmlEscape(values), "</", tag, ">")
}

# A table of cells that are HTML already.
join_cells_of_table <- function(cells, caption, right) {
  heads <- html_cell("th", names(cells), fifelse(names(cells) %in% right, "num", "text"))
  htmltools::HTML(paste(c(
    if (length(cells[[1L]]) > 3L) "<table class=\"sortable\">" else "<table>",
    sprintf(
      "<caption>%s</caption>",
      if (is_html(caption)) caption else htmlEscape(paste(caption, collapse = " "))
    ),
    "<thead>", paste0("<tr>", paste(heads, collapse = ""), "</tr>"),
    "</thead>", "<tbody>", do.call(paste0, c("<tr>", unname(cells), "</tr>")), "</tbody>",
    "</table>"
  ), collapse = "\n"))
}

# The search box of the pages: it searches cards, sections and rows of tables.
search_box <- function(hint) {
  htmltools::div(
    class = "search", htmltools::tags$label(`for` = "search", "Search"),
    htmltools::tags$input(id = "search", type = "search", placeholder = hint),
    htmltools::tags$span(id = "count", `aria-live` = "polite")
  )
}
