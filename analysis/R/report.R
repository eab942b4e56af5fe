# SPDX-License-Identifier: BSD-3-Clause
# The report: one self-contained HTML file, and its figures as files beside it.

#' Write the report of a folder of results.
#'
#' @param results_dir as for [read_results()].
#' @param out_file the HTML file; its folder is made when needed. The figures go to the folder
#'   `figures` beside it, as [draw_figures()] draws them, the exhibits that the results have data
#'   for to `exhibits`, as [draw_exhibits()] does.
#' @param session names of sessions to choose from, see [choose_sessions()].
#' @param delta smallest relative difference of interest (margin of equivalence).
#' @param published folder of the printed numbers, see [draw_exhibits()].
#' @return `out_file`, invisibly. Prints progress, and the path last. An error when no launch is
#'   usable; then nothing is written.
#' @export
write_report <- function(results_dir, out_file, session = NULL, delta = 0.03,
                         published = NULL) {
  need_pandoc()
  study <- analyse(results_dir, session, delta)
  with_families(
    families_of(study$results$sessions), write_study(study, out_file, session, published)
  )
  cat(out_file, "\n", sep = "")
  invisible(out_file)
}

write_study <- function(study, out_file, session, published) {
  folder <- tempfile("cotejo-report")
  on.exit(unlink(folder, recursive = TRUE))
  study$plots <- plot_study(study)
  exhibits <- file.path(folder, "exhibits")
  study$exhibits <- draw_all_exhibits(study$results, exhibits, session, published = published)
  study$advice <- advise(study$results, session)
  for (line in study$advice) message("advice: ", line)
  for (name in list.files(exhibits, recursive = TRUE)) {
    copy_whole(file.path(exhibits, name), file.path(dirname(out_file), "exhibits", name))
  }
  render_page("report", list(study = study), study$plots, folder, out_file)
}

need_pandoc <- function() {
  if (!rmarkdown::pandoc_available()) {
    refuse("pandoc is not on PATH; install it, or set RSTUDIO_PANDOC to its folder")
  }
}

#' Write a page of `inst/report`, and its figures to the folder `figures` beside it.
#'
#' @param page name of the template, without ending.
#' @param values what it knows, by name.
#' @param plots by name; the page shows them by [embed_plot()].
#' @param folder to work in, made when needed.
#' @noRd
render_page <- function(page, values, plots, folder, out_file) {
  drawn <- save_plots(plots, file.path(folder, "figures"))
  message("writing ", out_file)
  file.copy(list.files(system.file("report", package = "cotejo"), full.names = TRUE), folder)
  rmarkdown::render(
    file.path(folder, paste0(page, ".Rmd")),
    output_file = paste0(page, ".html"), envir = list2env(values, parent = topenv()), quiet = TRUE
  )
  for (figure in drawn) {
    copy_whole(figure, file.path(dirname(out_file), "figures", basename(figure)))
  }
  copy_whole(file.path(folder, paste0(page, ".html")), out_file)
}

copy_whole <- function(from, to) {
  write_whole(to, function(file) copy_file(from, file))
}

#' A figure with its SVG inside, and where its files are.
#'
#' @param name of the plot; `figures/NAME.svg` is there.
#' @noRd
embed_plot <- function(plot, name) {
  svg <- file.path("figures", paste0(name, ".svg"))
  data <- jsonlite::base64_enc(readBin(svg, "raw", file.size(svg)))
  alt <- paste(plot$labels$title, plot$labels$caption, sep = ". ")
  htmltools::tags$figure(
    htmltools::tags$img(
      src = paste0("data:image/svg+xml;base64,", gsub("\n", "", data)), alt = gsub("\n", " ", alt)
    ),
    htmltools::tags$figcaption(sprintf("Files: figures/%s.svg, .csv", name))
  )
}

#' What is only for those who look for it.
#' @noRd
fold <- function(title, ...) htmltools::tags$details(htmltools::tags$summary(title), ...)

bullets <- function(texts) htmltools::tags$ul(lapply(unname(texts), htmltools::tags$li))

#' How each configuration was launched: one of its command lines, and what the library said of
#' its transport.
#' @noRd
launching_table <- function(used) {
  first <- unique(used[order(started)], by = c("test", "mpi", "transport", "placement"))
  shown <- first[order(test, mpi, transport), list(
    test, title_of(mpi), title_of(transport), placement, reported_evidence, command
  )]
  setnames(shown, c("Test", "MPI", "Transport", "Placement", "The library said", "Command"))
  shown[]
}

#' What was measured, with what: a row a fact.
#' @noRd
provenance_table <- function(study) {
  used <- study$used
  values <- function(column) paste(title_of(distinct(used[[column]])), collapse = "; ")
  range_of <- function(column, unit, scale) {
    v <- used[[column]][is.finite(used[[column]])] * scale
    if (length(v)) {
      paste(paste(unique(format_digits(range(v))), collapse = " to "), unit)
    } else {
      "unknown"
    }
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
    Analysis = paste0(
      "cotejo ", getNamespaceVersion("cotejo"), ", ", R.version.string, ", ggplot2 ",
      utils::packageVersion("ggplot2"), ", data.table ", utils::packageVersion("data.table")
    )
  )
  versions <- stats::setNames(libraries$library, paste("Library of", title_of(libraries$mpi)))
  data.table(Fact = c(names(facts), names(versions)), Value = c(unlist(facts), versions))
}
