# SPDX-License-Identifier: BSD-3-Clause
# The report: one self-contained HTML file.

#' Write the report of a folder of results.
#'
#' @param results_dir as for [read_results()].
#' @param out_file the HTML file; its folder is made when needed.
#' @param session names of sessions to take instead of the latest ones.
#' @param delta smallest relative difference of interest (margin of equivalence).
#' @param seed,replicates of the bootstrap.
#' @return `out_file`, invisibly. Prints progress, and the path last. An error when no launch is
#'   usable.
#' @export
write_report <- function(results_dir, out_file, session = NULL, delta = 0.03, seed = 1L,
                         replicates = 4000L) {
  if (!rmarkdown::pandoc_available()) {
    refuse("pandoc is not on PATH; install it, or set RSTUDIO_PANDOC to its folder")
  }
  study <- analyse(results_dir, session, delta, seed, replicates)
  message("drawing figures")
  study$plots <- plot_study(study)
  message("writing ", out_file)
  folder <- tempfile("cotejo-report")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file.copy(list.files(system.file("report", package = "cotejo"), full.names = TRUE), folder)
  rmarkdown::render(
    file.path(folder, "report.Rmd"),
    output_file = "report.html", envir = list2env(list(study = study), parent = topenv()),
    quiet = TRUE
  )
  write_whole(out_file, function(file) {
    file.copy(file.path(folder, "report.html"), file, overwrite = TRUE)
  })
  cat(out_file, "\n", sep = "")
  invisible(out_file)
}

#' A figure with its SVG inside.
#' @noRd
embed_plot <- function(plot) {
  data <- paste0(
    "data:image/svg+xml;base64,",
    jsonlite::base64_enc(charToRaw(enc2utf8(svg_text(plot))))
  )
  alt <- paste(plot$labels$title, plot$labels$caption, sep = ". ")
  htmltools::tags$figure(
    htmltools::tags$img(src = gsub("\n", "", data), alt = gsub("\n", " ", alt))
  )
}

#' What is only for those who look for it.
#' @noRd
fold <- function(title, ...) htmltools::tags$details(htmltools::tags$summary(title), ...)

paragraphs <- function(texts) lapply(texts, htmltools::tags$p)
bullets <- function(texts) htmltools::tags$ul(lapply(unname(texts), htmltools::tags$li))

#' Name and version of a table of facts, a row a fact.
#' @noRd
provenance_table <- function(study) {
  used <- study$used
  values <- function(column, known = title_of) paste(known(distinct(used[[column]])), collapse = "; ")
  range_of <- function(column, unit, scale) {
    v <- used[[column]][is.finite(used[[column]])] * scale
    if (!length(v)) return("unknown")
    paste(paste(unique(format_digits(range(v))), collapse = " to "), unit)
  }
  libraries <- unique(used[, c("mpi", "library")])[order(mpi)]
  facts <- list(
    Sites = values("site"), Sessions = values("session"), Scale = values("scale"),
    `First and last launch` = paste(range(used$started), collapse = " to "),
    `Commit of cotejo` = paste0(
      values("commit"), if (any(used$dirty %in% "true")) " (with uncommitted changes)"
    ),
    Stack = values("provider"), `Lock of the stack (SHA-256)` = values("lock_sha256"),
    ReFrame = values("reframe"), Hosts = values("observed_hosts"), Kernel = values("kernel"),
    CPU = values("cpu_model"), `Processors of the ranks` = values("observed_cpus"),
    `Frequency governor` = values("governor"),
    Timer = paste(
      values("timer"), "resolution", range_of("timer_resolution_s", "ns", 1e9), "cost",
      range_of("timer_overhead_s", "ns", 1e9), "(not subtracted)"
    ),
    `Load before a launch (1 min)` = range_of("load_1min", "runnable tasks", 1),
    `Seed of the session` = if (nrow(study$sessions)) toString(study$sessions$seed) else "unknown",
    `Seed and draws of the bootstrap` = paste(study$seed, study$replicates, sep = ", "),
    Analysis = paste0(
      "cotejo ", utils::packageVersion("cotejo"), ", ", R.version.string, ", ggplot2 ",
      utils::packageVersion("ggplot2"), ", data.table ", utils::packageVersion("data.table"),
      ", coin ", utils::packageVersion("coin")
    )
  )
  versions <- stats::setNames(libraries$library, paste("Library of", title_of(libraries$mpi)))
  data.table(Fact = c(names(facts), names(versions)), Value = c(unlist(facts), versions))
}
