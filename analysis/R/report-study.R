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
    said = say_cards(newest_first(cards, study$used))
  )
}

# The file of the answers, beside the report.
ANSWERS <- "answers.json"

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
    count_of(nrow(used), "launch", "launches"), ", ", paste(days, collapse = " to "), "."
  )
}

# Number of questions on the map of the first screen; the table below it has all questions.
MOST_QUESTIONS <- 10L

#' The map of winners: one row per question, one column per class of message sizes. The colour is
#' that of the library that wins at more than half of the sizes, and deeper if the lead is larger;
#' the text says the same. Without a winner, the cell names the libraries that can be the fastest
#' at most of its sizes and has no colour.
#'
#' @param winners what [winners_by_class()] returned.
#' @param mpis all libraries of the study: the colours are assigned to these.
#' @return HTML, or `NULL` without winners.
#' @noRd
winner_map <- function(winners, mpis = unique(winners$winner)) {
  if (!nrow(winners)) {
    return(NULL)
  }
  colours <- colours_of(setdiff(mpis, ""))
  question <- c("site", "simulated", "operation", "transport")
  cells <- copy(winners)
  set(cells, j = "first", value = title_first(cells))
  set(cells, j = "text", value = say_outcomes(cells, cells$first))
  # All sizes without a winner count together, then each set of candidates.
  cells[, together := sum(cells), by = c(question, "sizes", "winner")]
  setorderv(
    cells, c(question, "sizes", "together", "winner", "cells", "candidates"),
    c(rep(1L, 5L), -1L, -1L, -1L, -1L)
  )
  best <- cells[, list(
    winner = winner[[1L]], most = most[[1L]],
    first = if (is_leading(winner[[1L]], cells[[1L]], together[[1L]], of[[1L]])) {
      first[[1L]]
    } else {
      ""
    },
    text = paste(text, collapse = "; ")
  ), by = c(question, "sizes")]
  rows <- unique(best[, question, with = FALSE])
  # The most common operations come first.
  rows <- rows[order(
    nzchar(simulated), startsWith(operation, "imb-"),
    place_in_report(base_operation(operation))
  )]
  rows <- utils::head(rows, MOST_QUESTIONS)
  classes <- intersect(names(CLASS_TITLES), as.character(best$sizes))
  body <- vapply(seq_len(nrow(rows)), function(i) {
    row <- rows[i]
    here <- best[row, on = question]
    paste0("<tr><td>", htmlEscape(sentence_case(paste0(
      question_in_words(row$operation), ", ", title_of(row$transport),
      if (nzchar(row$simulated)) paste0(" (", short_label(row$simulated), ")")
    ))), "</td>", paste(vapply(classes, function(class) {
      cell_of_map(here[as.character(sizes) == class], colours)
    }, ""), collapse = ""), "</tr>")
  }, "")
  htmltools::HTML(paste(c(
    "<table class=\"map\"><thead><tr><th>Question</th>",
    sprintf("<th>%s</th>", CLASS_TITLES[classes]), "</tr></thead><tbody>", body,
    "</tbody></table>"
  ), collapse = "\n"))
}

# Whether a cell names its first outcome: a winner of more than half of the sizes, or the
# candidates at half of the sizes without a winner. `together`: sizes of the winner, or of none.
is_leading <- function(winner, sizes, together, of) {
  if (nzchar(winner)) 2L * together > of else 2L * sizes >= together
}

cell_of_map <- function(cell, colours) {
  if (!nrow(cell)) {
    return("<td class=\"open\">not measured</td>")
  }
  title <- htmlEscape(cell$text, attribute = TRUE)
  if (!nzchar(cell$first)) {
    return(sprintf("<td class=\"open\" title=\"%s\">no single winner</td>", title))
  }
  look <- "class=\"open among\""
  if (nzchar(cell$winner)) {
    colour <- mixed_colour(colours[[cell$winner]], min(0.5, 0.2 + 0.15 * log2(cell$most)))
    look <- sprintf("class=\"won\" style=\"background:%s\"", colour)
  }
  sprintf(
    "<td %s title=\"%s\">%s, up to %s times</td>",
    look, title, htmlEscape(cell$first), format_digits(cell$most)
  )
}

# A colour mixed with white by a share: black text stays readable on it.
mixed_colour <- function(colour, share) {
  parts <- 255 - share * (255 - grDevices::col2rgb(colour)[, 1L])
  sprintf("#%02X%02X%02X", round(parts[[1L]]), round(parts[[2L]]), round(parts[[3L]]))
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
