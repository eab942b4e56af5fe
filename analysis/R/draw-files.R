# SPDX-License-Identifier: BSD-3-Clause
# Writes plots to files: SVG, PDF and the CSV with their data. The bytes are the same every time.

#' Draw all figures of a folder of results.
#'
#' @param results_dir as for [read_results()].
#' @param out_dir folder for `NAME.svg` and `NAME.csv` (seconds, bytes), made when needed.
#' @param session names of sessions to choose from, see [choose_sessions()].
#' @param pdf whether to write `NAME.pdf`, too.
#' @return the paths, invisibly. Prints progress, and the folder last.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' draw_figures(folder, tempfile())
#' @export
draw_figures <- function(results_dir, out_dir, session = NULL, pdf = FALSE) {
  study <- compare_results(results_dir, session, brief = TRUE)
  names <- with_endings(
    endings_of(pdf), with_families(families_of(study$results$sessions), save_study(study, out_dir))
  )
  cat(out_dir, "\n", sep = "")
  drawn <- outer(endings_of(pdf), names, function(end, name) paste0(name, ".", end))
  invisible(file.path(out_dir, c(drawn, "medians.csv")))
}

#' Draw the figures of a study and all exhibits, with an index page.
#'
#' @inheritParams draw_exhibits
#' @param endings endings of the files to write for each figure. With `"csv"` alone no figure is
#'   drawn: only the tables behind the figures are written.
#' @return the coverage, as [draw_exhibits()] returns it, invisibly.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' coverage <- draw_all(folder, tempfile(), endings = "csv")
#' table(coverage$state)
#' @export
draw_all <- function(results_dir, out_dir, session = NULL, published = NULL, pdf = FALSE,
                     endings = endings_of(pdf)) {
  from <- list("figures", dataset = sum_of_dataset(results_dir), session, endings,
    sum_of_files(published), list_exhibits())
  coverage <- with_endings(endings, kept_files(from, out_dir, gallery_files, function() {
    draw_all_anew(results_dir, out_dir, session, published)
  }))$coverage
  say_coverage(coverage)
  cat(file.path(out_dir, "index.html"), "\n", sep = "")
  refuse_failed(coverage)
  invisible(coverage)
}

#' Draw everything again. Returns the `coverage` and the names of the `figures`.
#' @noRd
draw_all_anew <- function(results_dir, out_dir, session, published) {
  study <- compare_results(results_dir, session, brief = TRUE)
  with_families(families_of(study$results$sessions), {
    names <- save_study(study, out_dir)
    coverage <- draw_all_exhibits(
      study$results, out_dir, session, published = published, summary = study$whole
    )
    cards <- newest_first(answer(study$comparison), study$summary)
    write_gallery(coverage, out_dir, names, cards)
    list(coverage = coverage, figures = names)
  })
}

#' The files of [draw_all()].
#' @noRd
gallery_files <- function(drawn) {
  files <- exhibit_files(drawn$coverage)
  if (length(files)) {
    c(files, figure_files(drawn$figures), "medians.csv", "index.html")
  }
}

#' The files of figures by their names.
#' @noRd
figure_files <- function(names) {
  as.vector(outer(names, figure_endings(), paste, sep = "."))
}

#' Draw the figures of a study and write its medians (`medians.csv`). Returns the figures' names.
#' @noRd
save_study <- function(study, out_dir) {
  # Without the samples and the plots: a plot would carry all tables into each process.
  study <- study[c("summary", "medians", "comparison", "drift", "delta")]
  figures <- list_figures(study)
  shared <- list(study = study, figures = figures, out_dir = out_dir)
  if (nrow(figures)) over_processes(save_numbered, figures$work, shared)
  write_csv(table_medians(study$medians), file.path(out_dir, "medians.csv"))
  figures$name
}

save_numbered <- function(i, shared) {
  figure <- shared$figures[i]
  message("drawing ", figure$name)
  save_plot(plot_figure(shared$study, figure), shared$out_dir, figure$name)
}

#' Write the files of plots, in as many processes as there are cores.
#'
#' @param plots plots by name, or functions that make them in the process that draws them.
#' @param work amount of work of each plot.
#' @return list, by name: `title` and `caption` of each.
#' @noRd
save_plots <- function(plots, out_dir, work = rep(1, length(plots))) {
  labels <- over_processes(function(i, plots) {
    message("drawing ", names(plots)[[i]])
    plot <- if (is.function(plots[[i]])) plots[[i]]() else plots[[i]]
    save_plot(plot, out_dir, names(plots)[[i]])
    plot$labels[c("title", "caption")]
  }, work, plots)
  stats::setNames(labels, names(plots))
}

#' Experiments that a curve over sizes can show: several sizes, and one time at each size. Exhibits
#' show experiments with several times at one size (steps of computation, queues).
#' @noRd
measured_by_size <- function(medians) {
  by <- c(setdiff(configuration_columns(medians), factor_names(medians)), "bytes")
  several <- medians[duplicated(medians, by = by)]
  sizes <- medians[, list(sizes = uniqueN(bytes)), by = "experiment"]
  setdiff(sizes$experiment[sizes$sizes > 1L], several$experiment)
}

# Experiments whose bandwidth is more informative than the time: one message between two ranks.
MESSAGES <- c("pingpong", "pingping", "stream", "exchange", "datatypes", "imb")

#' The operation that others are variants of: `bcast` is the base of `ibcast.compute`, `bcast_init`
#' and `bcast-first`.
#' @noRd
base_operation <- function(operation) {
  base <- sub("_init$", "", sub("[-.].*$", "", operation))
  sub("^i(?=all|barrier|bcast|exscan|gather|neighbor|reduce|scan|scatter)", "", base, perl = TRUE)
}

# The same for very many rows.
base_of <- function(operation) {
  few <- unique(operation)
  base_operation(few)[match(operation, few)]
}

# An experiment with more panels has figures for each of its operations and their variants.
APART_FROM <- 120L

#' The figures that a study has the data for: `name`, `kind`, `experiment`, `operation`
#' ([base_operation()]; `NA`: all), `work` (number of rows). With many panels there is no figure of
#' bandwidths, because the times of the messages show the same.
#' @noRd
list_figures <- function(study) {
  # Benchmarks of other tools come after cotejo's own.
  names <- measured_by_size(study$medians)
  names <- names[order(names == "imb")]
  none <- data.table(
    name = character(), kind = character(), experiment = character(), operation = character(),
    work = integer()
  )
  rbindlist(c(list(none), lapply(names, function(one) {
    medians <- study$medians[experiment == one]
    panels <- uniqueN(panel_of(medians))
    kinds <- c(
      if (any(study$comparison$experiment == one)) "difference", "latency",
      if (one %in% MESSAGES && any(medians$bytes > 0) && panels <= MOST_PANELS) "bandwidth"
    )
    operations <- unique(base_operation(sort(unique(medians$operation), method = "radix")))
    apart <- length(operations) > 1L && panels > APART_FROM
    rbindlist(lapply(if (apart) operations else NA_character_, function(operation) {
      of <- study$summary$experiment == one
      if (apart) of <- of & base_of(study$summary$operation) == operation
      data.table(
        name = slug_of_question(one, operation), kind = kinds,
        experiment = one, operation = operation, work = sum(of)
      )[, name := paste0(kind, "-", name)]
    }))
  }), if (any(study$drift$blocks > 1L)) {
    list(data.table(
      name = "drift", kind = "drift", experiment = NA_character_, operation = NA_character_,
      work = nrow(study$summary)
    ))
  }))
}

#' The part of a file name that identifies the subject of a figure or page.
#' @noRd
slug_of_question <- function(experiment, operation) {
  slug <- function(text) gsub("[^A-Za-z0-9]+", "-", tolower(text))
  paste0(slug(experiment), fifelse(is.na(operation), "", paste0("-", slug(operation))))
}

#' One figure of a study; `NULL` where its operation has no data for it.
#'
#' @param figure row of [list_figures()].
#' @noRd
plot_figure <- function(study, figure) {
  of <- function(table) {
    rows <- table$experiment == figure$experiment
    if (!is.na(figure$operation)) rows <- rows & base_of(table$operation) == figure$operation
    table[rows]
  }
  switch(figure$kind,
    latency = plot_latency(of(study$summary), of(study$medians)),
    bandwidth = plot_bandwidth(of(study$summary), of(study$medians)),
    difference = plot_difference(of(study$comparison), study$delta),
    drift = plot_drift(study$summary)
  )
}

#' Functions that make the figures of a study, by name.
#' @noRd
plots_of_study <- function(study) {
  figures <- list_figures(study)
  plots <- lapply(seq_len(nrow(figures)), function(i) function() plot_figure(study, figures[i]))
  stats::setNames(plots, figures$name)
}

#' Evaluate code with the file endings that are written for each figure.
#' @noRd
with_endings <- function(endings, code) {
  old <- options(cotejo.endings = endings)
  on.exit(options(old))
  force(code)
}

endings_of <- function(pdf) c("svg", if (pdf) "pdf", "csv")

# The files of a figure.
figure_endings <- function() getOption("cotejo.endings", endings_of(pdf = FALSE))

#' Write the files of a plot: SVG and PDF, if they are wanted, and the CSV with its data.
#' @noRd
save_plot <- function(plot, out_dir, name) {
  path <- function(ending) file.path(out_dir, paste0(name, ".", ending))
  wanted <- figure_endings()
  if (any(wanted != "csv")) drawing <- lay_out(fit_panels(plot))
  if ("svg" %in% wanted) {
    write_whole(path("svg"), function(file) put_lines(svg_text(drawing), file))
  }
  if ("pdf" %in% wanted) write_whole(path("pdf"), function(file) draw_pdf(drawing, file))
  write_csv(attr(plot, "data"), path("csv"))
}

write_csv <- function(table, path) {
  write_whole(path, function(file) put_table(table, file))
}

#' Write under a temporary name and rename, so that an existing file is always complete.
#' @noRd
write_whole <- function(path, write) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  if (!dir.exists(dirname(path))) {
    bad_data(dirname(path), NA, "no such folder and it cannot be made", "name another folder")
  }
  # R cannot create a file exclusively and without following links, but it can create a folder so.
  place <- tempfile(".tmp-", dirname(path))
  if (!dir.create(place, showWarnings = FALSE, mode = "0700")) cannot_write(path)
  on.exit(unlink(place, recursive = TRUE))
  temporary <- file.path(place, basename(path))
  tryCatch(write(temporary), error = function(e) {
    if (grepl("no space|disk full|write failed", conditionMessage(e), ignore.case = TRUE)) {
      cannot_write(path)
    }
    stop(e)
  })
  if (!suppressWarnings(file.rename(temporary, path))) cannot_write(path)
  invisible(path)
}

cannot_write <- function(path) {
  bad_data(
    sub("/[.]tmp-[^/]*/", "/", path), NA, "cannot be written",
    "check the folder's permissions and the free space", "cotejo_cannot_write"
  )
}

# R reports no error on a full disk. It writes fewer bytes than requested.
put_bytes <- function(bytes, file) {
  suppressWarnings(writeBin(bytes, file))
  if (!identical(as.numeric(file.size(file)), as.numeric(length(bytes)))) cannot_write(file)
}

# `file.copy()` does not report a full disk.
put_copy <- function(from, file) {
  done <- suppressWarnings(file.copy(from, file, overwrite = TRUE))
  if (!done || !identical(file.size(from), file.size(file))) cannot_write(file)
}

put_lines <- function(lines, file) {
  put_bytes(charToRaw(paste(c(enc2utf8(lines), ""), collapse = "\n")), file)
}

# `fwrite()` does not report a full disk. Then a row or the last line end is missing.
put_table <- function(table, file) {
  fwrite(table, file, dateTimeAs = "ISO", scipen = 0L)
  bytes <- readBin(file, "raw", file.size(file))
  ends <- sum(bytes == as.raw(10))
  whole <- identical(utils::tail(bytes, 1L), as.raw(10)) && ends > nrow(table)
  if (ncol(table) && !whole) {
    cannot_write(file)
  }
}

#' Replace the dates of a PDF by a fixed date of the same length, so that offsets stay correct.
#' @noRd
remove_dates <- function(file) {
  bytes <- readBin(file, "raw", file.size(file))
  ended <- utils::tail(bytes[!bytes %in% as.raw(c(10, 13))], 5L)
  if (!identical(ended, charToRaw("%%EOF"))) cannot_write(file)
  text <- rawToChar(replace(bytes, bytes == 0 | bytes > 127, as.raw(32)))
  dates <- gregexpr("/(Creation|Mod)Date \\(D:[0-9]+", text)[[1L]]
  if (dates[[1L]] > 0L) {
    for (i in seq_along(dates)) {
      end <- dates[[i]] + attr(dates, "match.length")[[i]] - 1L
      digits <- seq(regexpr(":", substring(text, dates[[i]]), fixed = TRUE) + dates[[i]], end)
      fixed <- utils::head(charToRaw("20000101000000"), length(digits))
      bytes[utils::head(digits, 14L)] <- fixed
    }
  }
  put_bytes(bytes, file)
}
