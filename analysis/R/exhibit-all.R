# SPDX-License-Identifier: BSD-3-Clause
# Draws every exhibit that the results have data for, and lists what the other exhibits wait for.

#' Does the work of [draw_exhibits()] with the result of [read_study()], without the index page.
#'
#' @param shown function of the coverage that returns the rows whose files are wanted; `NULL`: all
#'   files are wanted, and they are cached for later calls.
#' @noRd
draw_all_exhibits <- function(results, out_dir, session = NULL, exhibits = list_exhibits(),
                              published = NULL, summary = summarise_launches(results, COMPARED),
                              shown = NULL) {
  from <- list(
    "exhibits", dataset = results$sum, session, exhibits, sum_of_files(published),
    figure_endings()
  )
  kept_files(from, out_dir, if (is.null(shown)) exhibit_files else \(coverage) NULL, function() {
    draw_exhibits_anew(results, out_dir, session, exhibits, published, summary, shown)
  })
}

# The files of exhibits; none if an exhibit failed, as the machine may be the cause.
exhibit_files <- function(coverage) {
  if (any(coverage$state == "failed")) {
    return(NULL)
  }
  drawn <- coverage[is_drawn(coverage$state)]
  of <- paste0(drawn$study, "/", drawn$file)
  figure <- drawn$kind == "figure"
  endings <- figure_endings()
  c(
    paste0(rep(of[figure], each = length(endings)), ".", endings, recycle0 = TRUE),
    paste0(rep(of[!figure], each = 2L), c(".html", ".csv"), recycle0 = TRUE),
    "coverage.csv", "coverage.md"
  )
}

draw_exhibits_anew <- function(results, out_dir, session, exhibits, published, summary,
                               shown = NULL) {
  asked <- unlist(lapply(exhibits$filter, names))
  rows <- rows_of_exhibits(with_columns(summary, results$launches, asked), exhibits, session)
  shared <- list(
    exhibits = exhibits, rows = rows, summary = summary,
    grounds = ground_of(summary$simulated), results = results, published = published,
    overlays = read_overlays(published), out_dir = if (is.null(shown)) out_dir
  )
  work <- as.numeric(mapply(count_rows, rows, exhibits$cost))
  coverage <- rbindlist(over_processes(draw_numbered, work, shared))
  if (!is.null(shown)) {
    shared$out_dir <- out_dir
    chosen <- shown(coverage)
    wanted <- unique(match(paste(chosen$study, chosen$exhibit, sep = "-"), exhibits$name))
    refuse_failed(rbindlist(over_processes(
      \(i, shared) draw_numbered(wanted[[i]], shared), work[wanted], shared
    )))
  } else {
    write_coverage(coverage, out_dir)
  }
  coverage
}

# The work of drawing an exhibit: a fixed part, and its rows times the cost of a row of its verb.
count_rows <- function(rows, cost) if (length(rows)) 1500 + cost * length(unlist(rows)) else 0

#' Draw an exhibit of the register on every ground that it has launches of.
#'
#' @param i row of the register.
#' @param shared data that all exhibits share, see [draw_all_exhibits()]; without its `out_dir` no
#'   file is written.
#' @return rows of the coverage. An error gives a row of state `failed` and does not stop the other
#'   exhibits. Only a full disk stops all of them.
#' @noRd
draw_numbered <- function(i, shared) {
  grounds <- shared$grounds
  there <- intersect(GROUNDS, grounds[unlist(shared$rows[[i]])])
  rbindlist(lapply(if (length(there)) there else GROUNDS[[1L]], function(ground) {
    tryCatch(draw_on_ground(i, ground, shared), error = function(e) {
      if (inherits(e, "cotejo_cannot_write")) stop(e)
      spec <- shared$exhibits[i]
      why <- one_line(conditionMessage(e))
      message("FAILED ", spec$name, ": ", why)
      coverage_row(spec, ground, "failed", why)
    })
  }))
}

# Draw an exhibit from launches of one ground.
draw_on_ground <- function(i, ground, shared) {
  # If the launches of one test are not sufficient, those of the next test may be.
  found <- lapply(shared$rows[[i]], function(rows) rows[shared$grounds[rows] == ground])
  found <- found[lengths(found) > 0L]
  for (rows in if (length(found)) found else list(integer())) {
    exhibit <- exhibit_data(
      shared$exhibits[i], shared$summary, rows, shared$results, shared$published
    )
    line <- draw_exhibit(exhibit, ground, shared$results$launches, shared$out_dir, shared$overlays)
    if (is_drawn(line$state)) break
  }
  line
}

say_coverage <- function(coverage) {
  best <- best_of(coverage)
  message(sprintf(
    "%d of %d exhibits drawn, %d of them in part", sum(is_drawn(best$state)), nrow(best),
    sum(best$state == "partly")
  ))
}

# Raise an error for exhibits that could not be drawn, after all other files are written.
refuse_failed <- function(coverage) {
  failed <- coverage[coverage$state == "failed"]
  if (nrow(failed)) {
    refuse(sprintf(
      "%s could not be drawn, all others are there: %s",
      count_of(nrow(failed), "exhibit", "exhibits"),
      paste0(failed$study, "-", failed$file, " (", failed$lacks, ")", collapse = "; ")
    ))
  }
}

# Launch summaries of the sessions that are used for each test.
summary_of_tests <- function(results, session) {
  summary <- summarise_launches(results)
  keep_rows(summary, which(choose_states(summary, SIDES, session)$used))
}

# Draw one exhibit, or state what it waits for.
draw_exhibit <- function(exhibit, ground, launches, out_dir, overlays = read_overlays(NULL)) {
  spec <- exhibit$spec
  name <- file_of_exhibit(spec, ground)
  printed <- overlays[overlays$exhibit == spec$name]
  # An exhibit without tests is made of printed numbers.
  launched <- nzchar(spec$tests) || is.null(find_drawing(spec))
  wanted <- spec$filter[[1L]]
  # A simulated network is not a transport of a library: its platform stands for a transport.
  if (ground == "simulated") wanted$transport <- NULL
  lacks <- c(
    lacking_values(exhibit$summary, wanted), lone_values(exhibit, ground),
    if (nzchar(spec$without)) spec$without
  )
  state <- if (length(lacks)) "partly" else "drawn"
  # Add what a site needs to measure the missing parts.
  if (length(lacks) && nzchar(spec$needs)) lacks <- c(lacks, spec$needs)
  contrast <- lacking_contrast(exhibit, wanted)
  finished <- NULL
  if (launched && !nrow(exhibit$summary)) {
    state <- "waiting"
    lacks <- waits_for(spec, launches)
  } else if (length(contrast)) {
    state <- "waiting"
    lacks <- c(contrast, if (nzchar(spec$needs)) spec$needs)
  } else {
    message("drawing ", spec$study, "-", name)
    drawn <- tryCatch(find_drawing(spec)(exhibit), cotejo_waiting = identity)
    if (inherits(drawn, "cotejo_waiting")) {
      state <- "waiting"
      lacks <- c(conditionMessage(drawn), if (nzchar(spec$needs)) spec$needs)
    } else {
      finished <- finish_exhibit(drawn, exhibit, printed)
      if (!is.null(out_dir)) save_exhibit(finished, spec, name, file.path(out_dir, spec$study))
    }
  }
  coverage_row(spec, ground, state, lacks, exhibit$summary, launches, stands_in(exhibit, ground))[
    , published := isTRUE(finished$published)
  ][]
}

#' The levels that an exhibit compares and that no launch has, if fewer than two are present.
#'
#' With fewer than two levels the drawing would show a different contrast.
#' @param wanted the filter of the exhibit.
#' @noRd
lacking_contrast <- function(exhibit, wanted) {
  columns <- intersect(
    c(compared_in(exhibit, NULL), argument(exhibit, "series")), names(wanted)
  )
  unlist(lapply(columns, function(column) {
    required <- wanted[[column]][!grepl("^[!(]", wanted[[column]])]
    found <- unique(as.character(exhibit$summary[[column]]))
    there <- vapply(required, function(value) any(grepl(any_of(value), found)), NA)
    if (length(required) > 1L && sum(there) < 2L) {
      sprintf("launches with %s %s: %s", word_of_column(column), toString(required[!there]),
        measuring(exhibit$spec, strsplit(exhibit$spec$tests, "[ +]")[[1L]][[1L]]))
    }
  }))
}

# The command that measures tests of an exhibit. Its name is a tag of its tests.
measuring <- function(spec, tests) {
  tests <- gsub("[()]", "", tests)
  sprintf("make study TAG=%s CELLS='^%s'", spec$name, if (length(tests) > 1L) {
    sprintf("(%s)", paste(tests, collapse = "|"))
  } else {
    tests
  })
}

# A drawing with the study's printed numbers: `drawing`, `tables`, and whether any is `published`.
finish_exhibit <- function(drawn, exhibit, printed) {
  if (exhibit$spec$kind == "table") {
    tables <- published_tables(printed)
    return(list(drawing = drawn, tables = tables, published = length(tables) > 0L))
  }
  plot <- with_headline(drawn, exhibit)
  full <- overlay_published(plot, exhibit, printed)
  list(drawing = full, published = length(full$layers) > length(plot$layers))
}

save_exhibit <- function(finished, spec, name, folder) {
  if (spec$kind == "table") {
    save_table(finished$drawing, spec$title, folder, name, finished$tables)
  } else {
    save_plot(finished$drawing, folder, name)
  }
}

file_of_exhibit <- function(spec, ground) {
  paste0(spec$exhibit, if (ground != GROUNDS[[1L]]) paste0("-", ground))
}

#' A row of the coverage.
#'
#' @param summary launch summaries that the exhibit was drawn from; `NULL`: none.
#' @param launches launches of the dataset, with their start times.
#' @param stand_in whether the drawing lacks the contrast of the study.
#' @noRd
coverage_row <- function(spec, ground, state, lacks, summary = NULL, launches = NULL,
                         stand_in = FALSE) {
  # Only the keys, because rows have hundreds of columns.
  keys <- unique(summary$key)
  there <- is_drawn(state) && length(keys) > 0L
  n <- if (there) fewest_launches(summary) else NA_integer_
  begun <- if (there) launches$started[launches$key %in% keys]
  data.table(
    study = spec$study, exhibit = spec$exhibit, ground = ground,
    file = file_of_exhibit(spec, ground), kind = spec$kind, title = spec$title, state = state,
    class = class_of_exhibit(state, ground, n, spec$circular, stand_in), published = FALSE,
    launches = if (there) length(keys) else 0L, n = n,
    date = if (length(begun)) substr(max(begun), 1L, 10L) else "",
    sites = toString(distinct_sorted(summary$site)),
    tests = toString(distinct_sorted(summary$test)),
    lacks = toString(lacks)
  )
}

distinct_sorted <- function(values) sort(unique(as.character(values)), method = "radix")

# Columns with only one value where an exhibit should show several: "another number of ranks".
#
# Panels, rows and columns of tables are reported only for MPIs and transports, and only on real
# machines. An emulated or simulated machine is often made for one MPI or transport. Simulations
# never lack another MPI, because the simulator runs whichever library it imitates.
lone_values <- function(exhibit, ground = GROUNDS[[1L]]) {
  if (!nrow(exhibit$summary)) {
    return(NULL)
  }
  apart <- unlist(exhibit$arguments[c("panel", "rows", "columns")])
  columns <- c(
    contrast_of(exhibit), if (ground == GROUNDS[[1L]]) intersect(c("mpi", "transport"), apart)
  )
  unlist(lapply(lone_columns(exhibit, ground, columns), function(column) {
    if (column == "bytes") return("another message size")
    paste0("another ", if (is_counted(column)) "number of ", word_of_column(column))
  }))
}

# Verbs that draw over message sizes.
OVER_SIZES <- c(
  "by_size", "gain", "relative", "error", "hidden_share", "overheads", "opportunity"
)

# Verbs that draw over numbers of ranks if the exhibit requests several.
OVER_RANKS <- c("message_table", "phase_table")

# The columns that make the contrast of an exhibit: compared column, series and axis.
contrast_of <- function(exhibit, compared = compared_in(exhibit, NULL)) {
  c(
    argument(exhibit, "series"), argument(exhibit, "x"), compared,
    if (exhibit$spec$verb %in% OVER_SIZES) "bytes"
  )
}

# Whether an exhibit lacks the contrast of the study: its launches have a single value of the
# study's factor or axis, although the exhibit requests several values or does not name any.
#
# The factor of the study is the first column in `by`; other columns in `by` are another contrast.
# A simulator imitates the libraries, and its platforms stand for transports.
stands_in <- function(exhibit, ground) {
  wanted <- exhibit$spec$filter[[1L]]
  several <- Filter(\(column) sum(!startsWith(wanted[[column]], "!")) > 1L, names(wanted))
  real <- ground != "simulated"
  columns <- contrast_of(
    exhibit, if (real) utils::head(argument(exhibit, "by"), 1L) else compared_in(exhibit, NULL)
  )
  open <- c(
    setdiff(columns, names(wanted)),
    intersect(several, c(columns, if (exhibit$spec$verb %in% OVER_RANKS) "ranks"))
  )
  if (!real) open <- setdiff(open, c("mpi", intersect("transport", several)))
  nrow(exhibit$summary) > 0L &&
    any(vapply(open, \(column) uniqueN(exhibit$summary[[column]]) == 1L, NA))
}

# The columns in which all launches of an exhibit have the same value, although the exhibit
# requests no value of them.
lone_columns <- function(exhibit, ground, columns) {
  if (!NROW(exhibit$summary)) {
    return(character())
  }
  columns <- setdiff(
    columns, c(names(exhibit$spec$filter[[1L]]), if (ground == "simulated") "mpi")
  )
  Filter(function(column) uniqueN(exhibit$summary[[column]]) == 1L, columns)
}

# The launches that an exhibit waits for, and the command that measures them.
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
    ": ", measuring(spec, tests),
    if (nzchar(spec$needs)) paste0("; ", spec$needs)
  )
}

# Call an exhibit's own function with its launches.
draw_by_own <- function(exhibit) {
  made <- exhibit$spec$own[[1L]](copy(exhibit$summary))
  n <- fewest_launches(exhibit$summary)
  caption <- caption_of_exhibit(exhibit, "", n)
  if (exhibit$spec$kind == "table" && is.data.frame(made)) {
    return(with_table(as.data.table(made), as.data.table(made), caption))
  }
  if (exhibit$spec$kind == "figure" && ggplot2::is.ggplot(made)) {
    return(with_data(made + ggplot2::labs(caption = caption), as.data.table(made$data)))
  }
  wrong_exhibit(exhibit$spec$name, paste("its function returned no", exhibit$spec$kind))
}

# The function that draws a row of the register; NULL: there is none.
find_drawing <- function(spec) {
  if (is.function(spec$own[[1L]])) draw_by_own else find_verb(spec$verb)
}

# The function that draws a verb; NULL: there is none.
find_verb <- function(verb) {
  get0(paste0("exhibit_", verb), envir = topenv(), mode = "function", inherits = FALSE)
}

#' Write the coverage of a dataset into the README, and the complete list into a CSV file.
#'
#' @param results_dir as for [draw_exhibits()].
#' @param readme file whose lines between `<!-- coverage -->` and `<!-- end -->` are replaced.
#' @param list_file CSV of the complete coverage, with the checksum of the dataset.
#' @param time_file CSV of the time that the launches took ([time_of_full()]); `NULL`: not written.
#' @inheritParams draw_exhibits
#' @return the sentence, invisibly; it is also printed.
#' @noRd
write_coverage_of <- function(results_dir, readme, list_file, time_file = NULL,
                              published = NULL) {
  results <- read_study(results_dir)
  # Make every exhibit to find its state, but write no files.
  coverage <- with_families(families_of(results$sessions), draw_all_exhibits(
    results, tempdir(), published = published, shown = \(coverage) coverage[0L]
  ))
  say_coverage(coverage)
  refuse_failed(coverage)
  write_csv(cbind(coverage, dataset = dataset_sum(results_dir)), list_file)
  if (!is.null(time_file)) write_csv(time_of_full(results, results_dir), time_file)
  lines <- plain_lines(readme, "restore the file")
  ends <- match(c(COVERAGE_BEGIN, COVERAGE_END), lines)
  if (anyNA(ends) || ends[[1L]] > ends[[2L]]) {
    bad_data(readme, NA, paste("no lines", COVERAGE_BEGIN, "and", COVERAGE_END), "restore them")
  }
  said <- say_classes(coverage)
  lines <- c(lines[seq_len(ends[[1L]])], strwrap(said, 99L), lines[-seq_len(ends[[2L]] - 1L)])
  write_whole(readme, function(file) put_lines(lines, file))
  cat(said, "\n", sep = "")
  invisible(said)
}
