# SPDX-License-Identifier: BSD-3-Clause
# The paper: what its text asks for, computed.

#' Write the paper.
#'
#' @param source `analysis/paper.Rmd`.
#' @param results_dir,session,published as for [draw_all()].
#' @param out_file the HTML file; its folder is made when needed. Where LaTeX is on PATH, a PDF is
#'   written beside it.
#' @return `out_file`, invisibly. Prints progress, and the path last.
#' @export
write_paper <- function(source, results_dir, out_file, session = NULL, published = NULL) {
  if (!rmarkdown::pandoc_available()) {
    refuse("pandoc is not on PATH; install it, or set RSTUDIO_PANDOC to its folder")
  }
  if (!file.exists(source)) bad_data(source, NA, "not there", "name the folder's paper.Rmd")
  if (is.null(published)) refuse("the paper needs the printed numbers: published = data/published")
  study <- analyse(results_dir, session)
  with_families(families_of(study$results$sessions), {
    write_paper_of(study, source, out_file, session, published)
  })
  cat(out_file, "\n", sep = "")
  invisible(out_file)
}

write_paper_of <- function(study, source, out_file, session, published) {
  folder <- tempfile("cotejo-paper")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  exhibits <- file.path(folder, "exhibits")
  coverage <- draw_all_exhibits(study$results, exhibits, session, published = published)
  message("writing ", out_file)
  file.copy(c(source, system.file("report", "report.css", package = "cotejo")), folder)
  given <- list(
    study = study, coverage = coverage, audit = audit_published(published), folder = exhibits,
    claims = judge_claims(
      study$whole, read_claims(file.path(published, "claims.csv")), study$delta
    )
  )
  html <- render_paper(folder, basename(source), given, "svg")
  copy_whole(html, out_file)
  if (nzchar(Sys.which("xelatex"))) {
    write_paper_pdf(
      render_paper(folder, basename(source), given, "pdf"), sub("[.]html$", ".pdf", out_file)
    )
  } else {
    message("no xelatex on PATH: no PDF of the paper")
  }
}

#' The paper as HTML; with the ending `pdf` it is meant for LaTeX, and its figures are files.
#' @noRd
render_paper <- function(folder, source, given, ending) {
  rmarkdown::render(
    file.path(folder, source),
    output_file = sprintf("paper-%s.html", ending), quiet = TRUE,
    output_options = list(self_contained = ending == "svg"),
    envir = list2env(c(given, list(ending = ending)), parent = topenv())
  )
}

#' From the paper's HTML to PDF, or to LaTeX where `out_file` ends so.
#' @noRd
write_paper_pdf <- function(html, out_file) {
  write_whole(out_file, function(file) {
    made <- file.path(dirname(html), basename(out_file))
    rmarkdown::pandoc_convert(
      html,
      from = "html", output = made, wd = dirname(html),
      options = c("--standalone", "--pdf-engine=xelatex", "-V", "geometry:margin=2cm")
    )
    copy_file(made, file)
  })
}

STUDIES <- c(
  stival = "Stival (2006) on Ethernet clusters", watter = "Watter (2006) on LLC in place of TCP",
  mpiperf = "Kurnosov (2012) on measuring collectives",
  finisterrae = paste(
    "\u00c1lvarez Mall\u00f3n, G\u00f3mez Tato and L\u00f3pez Taboada (2009)", "on Finis Terrae"
  ),
  tinetti = "Tinetti and Barbieri on PVM and MPI"
)

paper_studies <- function() paste(STUDIES, collapse = "; ")

#' Where launches ran: a row a site and CPU.
#' @noRd
paper_sites <- function(used) {
  rows <- used[, list(
    Launches = .N, Blocks = uniqueN(paste(session, launch)),
    Ranks = toString(sort(unique(ranks))), Hosts = toString(sort(unique(hosts))),
    Transports = toString(title_of(sort(unique(transport)))),
    `Simulated or emulated` = paste(unique(simulated[nzchar(simulated)]), collapse = "; ")
  ), by = c("site", "cpu_model", "kernel")]
  setnames(rows, c("site", "cpu_model", "kernel"), c("Site", "CPU", "Kernel"))
  rows[]
}

#' The exhibits of a study that the paper shows: drawn in full before in part, three at most.
#' @noRd
paper_figures <- function(part) {
  shown <- part[part$state != "waiting" & part$kind == "figure"]
  shown <- shown[order(shown$state == "partly")]
  lapply(seq_len(min(3L, nrow(shown))), function(i) shown[i])
}

#' An exhibit with its SVG inside; for LaTeX, its PDF as a file.
#' @noRd
embed_exhibit <- function(row, folder, ending = "svg") {
  file <- file.path(folder, row$study, paste0(row$file, ".", ending))
  htmltools::tags$figure(
    htmltools::tags$img(
      src = if (ending == "svg") {
        data <- jsonlite::base64_enc(readBin(file, "raw", file.size(file)))
        paste0("data:image/svg+xml;base64,", gsub("\n", "", data))
      } else {
        file
      },
      alt = row$title, style = if (ending == "pdf") "width: 100%"
    ),
    htmltools::tags$figcaption(paste("Counterpart of", row$study, row$exhibit))
  )
}

#' Threats to validity that these data have, a sentence each.
#' @noRd
paper_threats <- function(study) {
  used <- study$used
  out <- unique(study$flags$outlying$key)
  shared <- shared_cores(used)
  labels <- unique(used$simulated[nzchar(used$simulated)])
  cv <- study$medians$cv[is.finite(study$medians$cv)]
  sentences <- c(
    sprintf(
      "The launches ran on %s of %s: what holds there need not hold on another.",
      count_of(uniqueN(used$cpu_model), "model of CPU", "models of CPU"),
      count_of(uniqueN(used$site), "site", "sites")
    ),
    if (any(used$governor %in% "unknown")) {
      paste(
        "The kernel does not tell the frequency governor: the machine may be virtual, and its",
        "cores shared with others."
      )
    },
    if (any(used$transport == "tcp" & used$hosts == 1L)) {
      "TCP within one host has no network in it."
    },
    if (length(labels)) sprintf("Part is no real hardware: %s.", toString(labels)),
    if (!is.null(shared)) sprintf("In part %s.", shared),
    if (length(cv)) {
      sprintf(
        paste(
          "Launch medians of one configuration differ: their coefficient of variation is %s %% in",
          "the middle, %s %% in the worst of %d configurations."
        ),
        format_digits(100 * stats::median(cv)), format_digits(100 * max(cv)), length(cv)
      )
    },
    sprintf(
      paste(
        "%s of %d launches are over 1.5 times their configuration's median, or under 1/1.5; they",
        "are used all the same."
      ),
      length(out), nrow(used)
    ),
    sprintf(
      "%d configurations show more than one mode, which one median does not tell.",
      nrow(study$flags$modes)
    ),
    sprintf(
      paste(
        "Sessions: %d; where there is one only, what differs from day to day is not in the",
        "intervals."
      ),
      uniqueN(used[, c("site", "session")])
    ),
    "Corrections are over the sizes of one pair in one place, not over all that this paper holds."
  )
  paste(sentences, collapse = " ")
}
