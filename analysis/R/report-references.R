# SPDX-License-Identifier: BSD-3-Clause
# The references of the paper: pandoc formats what is cited, and lists it.

references_file <- function() system.file("references.bib", package = "cotejo", mustWork = TRUE)

#' Markdown with citations, `[@KEY]`, as HTML.
#'
#' @param markdown text; the references come where it has the division `{#refs}`.
#' @param bibliography BibTeX file.
#' @return HTML. A citation without an entry is refused.
#' @noRd
pandoc_html <- function(markdown, bibliography = references_file()) {
  pandoc <- Sys.which("pandoc")
  if (!nzchar(pandoc)) {
    refuse("pandoc is not on PATH: the paper needs it for its references; make stack installs it")
  }
  files <- tempfile(c("markdown", "html", "messages"))
  on.exit(unlink(files))
  put_lines(markdown, files[[1L]])
  status <- system2(pandoc, c(
    "--from", "markdown-smart-auto_identifiers", "--to", "html5", "--wrap", "none", "--citeproc",
    "--metadata", "link-citations=true", "--bibliography", shQuote(bibliography),
    "--fail-if-warnings", files[[1L]]
  ), stdout = files[[2L]], stderr = files[[3L]])
  if (status != 0L) {
    said <- readLines(files[[3L]], encoding = "UTF-8", warn = FALSE)
    refuse(sprintf("pandoc ended with status %d: %s", status, one_line(toString(said))))
  }
  paste(readLines(files[[2L]], encoding = "UTF-8"), collapse = "\n")
}

#' Write the references for other papers.
#'
#' @return the file, relative to `out_dir`.
#' @noRd
write_references <- function(out_dir) {
  file <- file.path("paper-data", "references.bib")
  write_whole(file.path(out_dir, file), function(to) put_copy(references_file(), to))
  file
}
