# SPDX-License-Identifier: BSD-3-Clause
# The references of the paper: entries as in BibTeX, their list, and the links to it.

REFERENCES <- c(
  utils::bibentry(
    "Article",
    key = "benjamini", year = 1995, author = "Y. Benjamini and Y. Hochberg",
    title = paste(
      "Controlling the False Discovery Rate: a Practical and Powerful Approach to Multiple",
      "Testing"
    ),
    journal = "Journal of the Royal Statistical Society B", volume = 57, number = 1
  ),
  utils::bibentry(
    "TechReport",
    key = "finisterrae", year = 2009,
    author = c(
      utils::person("D.", "\u00c1lvarez Mall\u00f3n"), utils::person("A.", "G\u00f3mez Tato"),
      utils::person("G.", "L\u00f3pez Taboada")
    ),
    title = "An\u00e1lisis t\u00e9cnico de rendimiento del Finis Terrae",
    institution = "CESGA", number = "CESGA-2009-001"
  ),
  utils::bibentry(
    "InProceedings",
    key = "hoefler", year = 2015, author = "T. Hoefler and R. Belli",
    title = "Scientific Benchmarking of Parallel Computing Systems", booktitle = "SC15",
    doi = "10.1145/2807591.2807644"
  ),
  utils::bibentry(
    "Article",
    key = "hunold", year = 2016, author = "S. Hunold and A. Carpen-Amarie",
    title = "Reproducible {MPI} Benchmarking Is Still Not as Easy as You Think",
    journal = "IEEE Transactions on Parallel and Distributed Systems", volume = 27, number = 12,
    doi = "10.1109/TPDS.2016.2539167"
  ),
  utils::bibentry(
    "InProceedings",
    key = "kalibera", year = 2013, author = "T. Kalibera and R. Jones",
    title = "Rigorous Benchmarking in Reasonable Time", booktitle = "ISMM 2013"
  ),
  utils::bibentry(
    "Misc",
    key = "mpiperf", year = 2012, author = "M. G. Kurnosov", title = "{MPIPerf}"
  ),
  utils::bibentry(
    "Article",
    key = "smyth", year = 2004, author = "G. K. Smyth",
    title = paste(
      "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in",
      "Microarray Experiments"
    ),
    journal = "Statistical Applications in Genetics and Molecular Biology", volume = 3, number = 1
  ),
  utils::bibentry(
    "MastersThesis",
    key = "stival", year = 2006, author = "M. L. Stival",
    title = paste(
      "Avalia\u00e7\u00e3o de desempenho em aglomerados de {PCs}", "interligados por {Ethernet}"
    ),
    school = "Universidade Federal do Paran\u00e1"
  ),
  utils::bibentry(
    "Misc",
    key = "tinetti", author = "F. G. Tinetti and A. Barbieri",
    title = paste(
      "C\u00f3mputo paralelo en clusters: herramienta de evaluaci\u00f3n de rendimiento de las",
      "comunicaciones"
    )
  ),
  utils::bibentry(
    "MastersThesis",
    key = "watter", year = 2006, author = "L. H. Watter",
    title = paste(
      "Avalia\u00e7\u00e3o de desempenho do protocolo {IEEE} 802.2-{LLC}", "no kernel do {Linux}"
    ),
    school = "Universidade Federal do Paran\u00e1"
  ),
  utils::bibentry(
    "Article",
    key = "yekutieli", year = 2005, author = "Y. Benjamini and D. Yekutieli",
    title = "False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected Parameters",
    journal = "Journal of the American Statistical Association", volume = 100, number = 469
  ),
  utils::bibentry(
    "Article",
    key = "yuen", year = 1974, author = "K. K. Yuen",
    title = "The Two-Sample Trimmed t for Unequal Population Variances",
    journal = "Biometrika", volume = 61, number = 1
  )
)

keys_of_references <- function() vapply(unclass(REFERENCES), attr, "", which = "key")

# The numbered list of cited references, to which `link_citations()` links.
list_of_references <- function() {
  local_utf8()
  texts <- format(REFERENCES, style = "html")
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
  entries <- as.character(utils::toBibtex(REFERENCES))
  write_whole(file.path(out_dir, file), function(to) put_lines(entries, to))
  file
}
