# SPDX-License-Identifier: BSD-3-Clause
# Results -> every exhibit that they have the data for, and the list of what the others wait for.

#' Draw the exhibits of a folder of results.
#'
#' @param results_dir as for [read_results()].
#' @param out_dir folder for `STUDY-EXHIBIT.svg`, `.pdf` and `.csv` (`.html` and `.csv` for
#'   tables), `coverage.csv` and `coverage.md`; made when needed.
#' @param session names of sessions to choose from; the latest of each site and test by default,
#'   with those that agree with it.
#' @param exhibits the register, see [list_exhibits()].
#' @return the coverage, invisibly: one row an exhibit with its `state` (`drawn`, `partly` or
#'   `waiting`), `launches` (number), `sites`, `tests` and `lacks` (what is missing). Prints
#'   progress, and the folder last.
#' @export
draw_exhibits <- function(results_dir, out_dir, session = NULL, exhibits = list_exhibits()) {
  message("reading ", results_dir)
  coverage <- draw_all_exhibits(read_results(results_dir), out_dir, session, exhibits)
  message(sprintf(
    "%d of %d exhibits drawn, %d of them in part", sum(coverage$state != "waiting"),
    nrow(coverage), sum(coverage$state == "partly")
  ))
  cat(out_dir, "\n", sep = "")
  invisible(coverage)
}

#' As [draw_exhibits()], from what [read_results()] returned.
#' @noRd
draw_all_exhibits <- function(results, out_dir, session = NULL, exhibits = list_exhibits()) {
  summary <- summary_of_tests(results, session)
  rows <- lapply(seq_len(nrow(exhibits)), function(i) rows_of_exhibit(summary, exhibits[i]))
  medians <- summarise_configurations(keep_rows(summary, sort(unique(c(integer(), unlist(rows))))))
  coverage <- rbindlist(lapply(seq_len(nrow(exhibits)), function(i) {
    # Where the launches of one test do not carry it, those of the next may.
    for (found in c(rows[[i]], if (!length(rows[[i]])) list(integer()))) {
      exhibit <- exhibit_data(exhibits[i], summary, medians, found, results)
      line <- draw_exhibit(exhibit, results$launches, out_dir)
      if (line$state != "waiting") break
    }
    line
  }))
  write_coverage(coverage, out_dir)
  coverage
}

#' Launch summaries of the latest sessions of each test.
#' @noRd
summary_of_tests <- function(results, session) {
  chosen <- select_sessions(results$launches, session, unit = "test")
  keys <- results$launches[chosen, on = c("site", "test", "session"), nomatch = NULL]$key
  summary <- summarise_launches(results)
  keep_rows(summary, which(summary$key %in% keys & summary$status == "ok"))
}

#' Draw one exhibit, or say what it waits for.
#' @noRd
draw_exhibit <- function(exhibit, launches, out_dir) {
  spec <- exhibit$spec
  used <- unique(exhibit$summary, by = "key")
  lacks <- c(lacking_values(exhibit$summary, spec$filter[[1L]]), lone_values(exhibit))
  state <- if (length(lacks)) "partly" else "drawn"
  # What a site must have for the rest.
  if (length(lacks) && nzchar(spec$needs)) lacks <- c(lacks, spec$needs)
  if (!nrow(used)) {
    state <- "waiting"
    lacks <- waits_for(spec, launches)
  } else {
    message("drawing ", spec$name)
    drawn <- tryCatch(find_verb(spec$verb)(exhibit), cotejo_waiting = identity)
    if (inherits(drawn, "cotejo_waiting")) {
      state <- "waiting"
      lacks <- conditionMessage(drawn)
    } else if (spec$kind == "table") {
      save_table(drawn, spec$title, out_dir, spec$name)
    } else {
      save_plot(drawn, out_dir, spec$name)
    }
  }
  data.table(
    study = spec$study, exhibit = spec$exhibit, kind = spec$kind, title = spec$title,
    state = state, launches = if (state == "waiting") 0L else nrow(used),
    sites = toString(sort(unique(used$site), method = "radix")),
    tests = toString(sort(unique(used$test), method = "radix")), lacks = toString(lacks)
  )
}

#' Columns that an exhibit should show several values of and has one of: "another number of ranks".
#' @noRd
lone_values <- function(exhibit) {
  columns <- setdiff(
    c(argument(exhibit, "series"), argument(exhibit, "x"), argument(exhibit, "by")),
    c("bytes", names(exhibit$spec$filter[[1L]]))
  )
  lone <- Filter(function(column) uniqueN(exhibit$summary[[column]]) == 1L, columns)
  unlist(lapply(lone, function(column) {
    paste0("another ", if (column %in% names(COUNTED)) "number of ", word_of_column(column))
  }))
}

#' What an exhibit without launches waits for, and the command that measures it.
#' @noRd
waits_for <- function(spec, launches) {
  if (!nzchar(spec$tests)) {
    return(spec$needs)
  }
  tests <- strsplit(strsplit(spec$tests, " +")[[1L]][[1L]], "+", fixed = TRUE)[[1L]]
  there <- launches[launches$test %in% tests]
  which <- toString(c(
    unlist(lapply(names(spec$filter[[1L]]), function(column) {
      wanted <- spec$filter[[1L]][[column]]
      wanted <- wanted[!startsWith(wanted, "!")]
      if (length(wanted)) paste(word_of_column(column), paste(wanted, collapse = " or "))
    })),
    if (nzchar(spec$sizes)) paste("sizes", spec$sizes)
  ))
  paste0(
    "launches of ", paste(tests, collapse = " and "), if (nzchar(which)) paste(" with", which),
    if (nrow(there)) {
      sprintf(" (%d there, %d usable)", nrow(there), sum(there$status == "ok"))
    },
    ": reframe -r ", paste("-n", tests, collapse = " "),
    if (nzchar(spec$needs)) paste0("; ", spec$needs)
  )
}
