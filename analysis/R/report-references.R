# SPDX-License-Identifier: BSD-3-Clause
# The references of the paper: entries as in BibTeX, their list, and the links to it.

# The entries of `references.yaml`.
references <- function() {
  keep_once("references", function() {
    file <- system.file("references.yaml", package = "cotejo", mustWork = TRUE)
    entries <- yaml::read_yaml(file)
    do.call(c, unname(Map(function(entry, key) {
      if (is.list(entry$author)) {
        names <- lapply(entry$author, \(name) utils::person(name[[1L]], name[[2L]]))
        entry$author <- do.call(c, names)
      }
      do.call(utils::bibentry, c(entry, key = key))
    }, entries, names(entries))))
  })
}

keys_of_references <- function() vapply(unclass(references()), attr, "", which = "key")

# The numbered list of cited references, to which `link_citations()` links.
list_of_references <- function() {
  local_utf8()
  texts <- format(references(), style = "html")
  texts <- gsub("^<p>|</p>$", "", gsub(" (????)", "", texts, fixed = TRUE))
  items <- sprintf("<li id=\"ref-%s\">%s</li>", keys_of_references(), trimws(texts))
  htmltools::HTML(paste0("<ol>", paste(items, collapse = "\n"), "</ol>"))
}

#' Replace each citation, `[@KEY]`, by the number of its reference with a link.
#'
#' @param body lines of HTML.
#' @noRd
link_citations <- function(body) {
  cited <- unique(unlist(regmatches(body, gregexpr("(?<=\\[@)[a-z]+(?=\\])", body, perl = TRUE))))
  numbers <- match(cited, keys_of_references())
  if (anyNA(numbers)) {
    refuse(paste0("the paper cites ", toString(cited[is.na(numbers)]), ": not listed"))
  }
  for (i in seq_along(cited)) {
    body <- gsub(
      sprintf("[@%s]", cited[[i]]),
      sprintf("<a href=\"#ref-%s\">[%d]</a>", cited[[i]], numbers[[i]]), body,
      fixed = TRUE
    )
  }
  body
}

#' Write the references for other papers.
#'
#' @return the file, relative to `out_dir`.
#' @noRd
write_references <- function(out_dir) {
  local_utf8()
  file <- file.path("paper-data", "references.bib")
  entries <- as.character(utils::toBibtex(references()))
  write_whole(file.path(out_dir, file), function(to) put_lines(entries, to))
  file
}
