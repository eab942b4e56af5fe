# SPDX-License-Identifier: BSD-3-Clause
# Turns a template of paragraphs and R chunks (`inst/report/*.Rmd`) and its values into a page: one
# self-contained HTML file. The supported Markdown is what the templates use: headings, paragraphs
# and `code`. Text from data is escaped, so that no character in it becomes markup.

#' Write a page from a template.
#'
#' @param template file, or the name of a template in `inst/report` without ending.
#' @param values for the template, by name.
#' @param out_file the HTML file; its folder is made when needed.
#' @param plots by name, as [save_plots()] takes them; drawn to the folder `figures` beside the
#'   page, which shows them by `embed_plot(NAME)` and has their names as `figures`.
#' @param ... the cost of each plot, `work` of [save_plots()].
#' @param finish function of the body's HTML.
#' @noRd
render_page <- function(template, values, out_file, plots = list(), ..., finish = identity) {
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
  parts <- template_parts(readLines(template, encoding = "UTF-8"))
  body <- finish(render_parts(parts$body, list2env(values, parent = topenv())))
  write_page(parts$head$title, body, out_file, contents = isTRUE(parts$head$contents))
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

#' A template in parts.
#'
#' @return list: `head` (the list at its top), `body` (list of parts with `kind`, `text` and, of
#'   chunks, `options`).
#' @noRd
template_parts <- function(lines) {
  ends <- which(lines == "---")[1:2]
  head <- yaml::yaml.load(paste(lines[seq(ends[[1L]] + 1L, ends[[2L]] - 1L)], collapse = "\n"))
  lines <- lines[-seq_len(ends[[2L]])]
  fence <- startsWith(lines, "```")
  opens <- fence & cumsum(fence) %% 2L == 1L
  inside <- fence | cumsum(fence) %% 2L == 1L
  # A part is a chunk, a heading, or lines of text up to a blank line.
  alone <- inside | startsWith(lines, "#")
  begins <- opens | !inside & (lines == "" | alone | c(TRUE, alone)[seq_along(lines)])
  body <- lapply(unname(split(lines, cumsum(begins))), function(text) {
    if (startsWith(text[[1L]], "```")) {
      list(
        kind = "chunk", text = text[-c(1L, length(text))],
        options = sub("^```\\{r[^,}]*,?(.*)\\}$", "\\1", text[[1L]])
      )
    } else {
      list(kind = "text", text = paste(text[nzchar(text)], collapse = " "))
    }
  })
  list(head = head, body = Filter(function(part) any(nzchar(part$text)), body))
}

# The HTML of the parts of a template.
#
# Chunks with the option `apart` need only the first chunk, and no other part needs them. They are
# rendered in processes of their own, all other parts together in one process. Chunks with the
# option `forks` start processes themselves, so that this process renders them.
render_parts <- function(parts, values) {
  render <- function(part) {
    list(if (part$kind == "chunk") run_chunk(part, values) else render_text(part$text, values))
  }
  chunks <- vapply(parts, `[[`, "", "kind") == "chunk"
  before <- seq_along(parts) <= match(TRUE, chunks, nomatch = 0L)
  first <- lapply(parts[before], render)
  parts <- parts[!before]
  with_option <- function(name) {
    vapply(parts, function(part) {
      part$kind == "chunk" && isTRUE(as.list(options_of(part))[[name]])
    }, NA)
  }
  forks <- with_option("forks")
  apart <- with_option("apart")
  groups <- c(as.list(which(apart)), list(which(!apart & !forks)))
  html <- in_turns(seq_along(groups), \(i) lapply(parts[groups[[i]]], render))
  html <- c(html, list(lapply(parts[forks], render)))
  unlist(c(first, unlist(html, recursive = FALSE)[order(unlist(c(groups, which(forks))))]))
}

# The options of a chunk, such as `include = FALSE`, not evaluated.
options_of <- function(chunk) parse(text = sprintf("list(%s)", chunk$options))[[1L]]

# Evaluate a chunk: visible results of its expressions are shown, as in R's console.
run_chunk <- function(chunk, values) {
  options <- eval(options_of(chunk), values)
  if (isFALSE(options$eval)) {
    return(NULL)
  }
  shown <- lapply(parse(text = chunk$text, keep.source = FALSE), function(expression) {
    out <- withVisible(eval(expression, values))
    if (out$visible && !isFALSE(options$include)) html_text(out$value)
  })
  unlist(shown)
}

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

# A heading or a paragraph, with its inline R evaluated.
render_text <- function(text, values) {
  level <- attr(regexpr("^#*", text), "match.length")
  text <- inline(trimws(substring(text, level + 1L)), values)
  if (level > 0L) sprintf("<h%d>%s</h%d>", level, text, level) else sprintf("<p>%s</p>", text)
}

inline <- function(text, values) {
  found <- gregexpr("`[^`]+`", text)[[1L]]
  if (found[[1L]] < 0L) {
    return(htmlEscape(text))
  }
  codes <- regmatches(text, list(found))[[1L]]
  codes <- vapply(substr(codes, 2L, nchar(codes) - 1L), function(code) {
    if (startsWith(code, "r ")) {
      value <- eval(parse(text = substring(code, 3L)), values)
      htmlEscape(paste(as.character(value), collapse = ", "))
    } else {
      sprintf("<code>%s</code>", htmlEscape(code))
    }
  }, "")
  between <- htmlEscape(regmatches(text, list(found), invert = TRUE)[[1L]])
  paste(c(rbind(between, c(codes, ""))), collapse = "")
}

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
