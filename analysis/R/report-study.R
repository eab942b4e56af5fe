# SPDX-License-Identifier: BSD-3-Clause
# The report: one self-contained HTML file, and its figures as files in the same folder.

#' Write the report of a folder of results.
#'
#' @param results_dir as for [read_results()].
#' @param out_file the HTML file; its folder is made when needed. The figures go to the folder
#'   `figures` beside it, as [draw_figures()] draws them. The exhibits for which the results have
#'   data go to `exhibits`, as [draw_exhibits()] draws them.
#' @param session names of sessions to choose from, see [choose_sessions()].
#' @param delta smallest relative difference of interest (margin of equivalence).
#' @param published folder of the printed numbers, see [draw_exhibits()].
#' @return `out_file`, invisibly. Prints progress, the answers, and the path last. The answers are
#'   also written to `answers.json` beside the report. An error if no launch is usable; nothing is
#'   written then.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' write_report(folder, file.path(tempfile(), "report.html"))
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
  put_said(written$said)
  cat(out_file, "\n", sep = "")
  refuse_failed(written$coverage)
  invisible(out_file)
}

write_study <- function(study, out_file, session, published) {
  study$exhibits <- draw_all_exhibits(
    study$results, file.path(dirname(out_file), "exhibits"), session, published = published,
    summary = study$whole
  )
  for (line in study$advice) message("advice: ", one_line(line))
  study$cards <- answer(study$comparison, study)
  study$merits$cards <- answer_merits(study$merits$comparison, study)
  study$setting_cards <- answer_merits(study$settings, study)
  cards <- c(study$cards, study$merits$cards, study$setting_cards)
  if (length(cards)) study$next_step <- say_next_step(cards, study$used)
  write_answers(cards, file.path(dirname(out_file), ANSWERS))
  figures <- list_figures(study)
  study$questions <- questions_of(study, figures)
  render_page(
    "report", list(study = study, sections = compute_sections(study), out_file = out_file),
    out_file, plots_of_study(study, figures), figures$work
  )
  list(
    coverage = study$exhibits, page = c(basename(out_file), question_pages(study)),
    figures = figures$name, answers = ANSWERS,
    said = c(
      say_cards(newest_first(cards, study$used)),
      if (length(cards)) {
        c(paste("How sure:", say_certainty(cards)), "Next", paste0("  ", unlist(study$next_step)))
      }
    )
  )
}

#' The files of a page with figures and exhibits.
#'
#' @param written list: `page` and `answers` (file names), `figures` (names), `coverage` (of its
#'   exhibits), and `exhibits`, whether the exhibits are beside it.
#' @noRd
page_files <- function(written) {
  exhibits <- exhibit_files(written$coverage)
  if (length(exhibits)) {
    c(
      written$page, written$answers, file.path("figures", figure_files(written$figures)),
      if (!isFALSE(written$exhibits)) file.path("exhibits", exhibits)
    )
  }
}

# The launch of each configuration: one of its command lines, and the library's own report of its
# transport and of the file from which it chose algorithms.
launching_table <- function(used) {
  first <- unique(used[order(started)], by = c("test", "mpi", "transport", "placement"))
  first[order(test, mpi, transport), list(
    Test = test, MPI = title_of(mpi), Transport = title_of(transport), Placement = placement,
    `The library said` = sub("; algorithms by (NA)?$", "", paste(
      reported_evidence, basename(as.character(reported_decisions)), sep = "; algorithms by "
    )), Command = command
  )]
}

# The measured configurations and the environment: one row per fact.
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

#' A warning about launches that ran on no real hardware.
#'
#' @param used launches, some of them `simulated`.
#' @return one sentence for each emulated or simulated machine; it names the tests if others ran on
#'   real hardware.
#' @noRd
say_emulated <- function(used) {
  labels <- unique(used$simulated[nzchar(used$simulated)])
  if (all(nzchar(used$simulated))) {
    return(paste0("Not real hardware: ", labels, "."))
  }
  tests_of <- function(label) toString(distinct(used$test[used$simulated == label]))
  tests <- vapply(labels, tests_of, "")
  sprintf("Only %s ran on no real hardware: %s.", tests, labels)
}

# The machine, the libraries with their versions, and the launches, in one line.
machine_line <- function(used) {
  one <- function(column) toString(setdiff(distinct(used[[column]]), c("unknown", "")))
  libraries <- unique(used[, c("mpi", "library")])
  libraries <- libraries[match(in_order(unique(mpi)), mpi)]
  libraries <- libraries[used_library(library)]
  number <- regmatches(libraries$library, regexpr("[0-9]+([.][0-9]+)+|$", libraries$library))
  titles <- title_of(libraries$mpi)
  # The title of a second version of a library contains its number.
  number[endsWith(titles, number)] <- ""
  days <- unique(substr(range(used$started), 1L, 10L))
  sites <- distinct(used$site)
  paste0(
    if (length(sites) > 3L) paste(length(sites), "sites") else paste("Site", toString(sites)),
    ", CPU ", one("cpu_model"), ". Compared: ",
    if (length(titles)) toString(trimws(paste(titles, number))) else "no MPI library", " (",
    one("provider"), "). ",
    count_of(nrow(used), "launch", "launches"), ", ", paste(days, collapse = " to "),
    text_if(uniqueN(used$placement) == 1L, paste(", placement", used$placement[[1L]])),
    text_if(all(used$hosts %in% 1L), ", on one host: nothing here is about a network"), "."
  )
}

# Links to the files of drawn exhibits, from the report.
links_of_exhibits <- function(drawn) {
  link <- function(ending) {
    sprintf("<a href=\"exhibits/%s/%s%s\">%s</a>", drawn$study, drawn$file, ending,
      substring(ending, 2L))
  }
  paste(link(fifelse(drawn$kind == "table", ".html", ".svg")), link(".csv"), sep = ", ")
}

# Whether launches used an MPI library: layers below MPI have "no library" in their descriptions.
used_library <- function(library) !startsWith(library, "no library")
