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
  from <- list(
    "report", dataset = sum_of_dataset(results_dir), session, delta, sum_of_files(published),
    basename(out_file)
  )
  written <- kept_files(from, dirname(out_file), page_files, function() {
    study <- analyse(results_dir, session, delta, advice = TRUE)
    with_families(families_of(study$results$sessions), {
      write_study(study, out_file, session, published)
    })
  })
  cat(out_file, "\n", sep = "")
  refuse_failed(written$coverage)
  invisible(out_file)
}

write_study <- function(study, out_file, session, published) {
  study$exhibits <- draw_all_exhibits(
    study$results, file.path(dirname(out_file), "exhibits"), session, published = published,
    summary = study$whole
  )
  for (line in study$advice) message("advice: ", line)
  plots <- plots_of_study(study)
  render_page("report", list(study = study), out_file, plots, list_figures(study)$work)
  list(coverage = study$exhibits, page = basename(out_file), figures = names(plots))
}

#' The files of a page with figures and exhibits.
#'
#' @param written list: `page` (file name), `figures` (names), `coverage` (of its exhibits), and
#'   `exhibits`, whether these are beside it.
#' @noRd
page_files <- function(written) {
  exhibits <- exhibit_files(written$coverage)
  if (length(exhibits)) {
    c(
      written$page, file.path("figures", figure_files(written$figures)),
      if (!isFALSE(written$exhibits)) file.path("exhibits", exhibits)
    )
  }
}

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

#' A warning that lists pairs of [differing_pairs()] and how they differ; nothing without any.
#' @noRd
words_of_pairs <- function(pairs, heading) {
  if (nrow(pairs)) {
    htmltools::div(class = "warning", heading, bullets(unique(sprintf(
      "%s and %s (%s, %s): %s", title_of(pairs$a), title_of(pairs$b),
      title_of(pairs$operation), title_of(pairs$transport), pairs$why
    ))))
  }
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
  facts <- c(facts, disturbances(used))
  versions <- stats::setNames(libraries$library, paste("Library of", title_of(libraries$mpi)))
  data.table(Fact = c(names(facts), names(versions)), Value = c(unlist(facts), versions))
}
