# SPDX-License-Identifier: BSD-3-Clause
# Writes plots to files: SVG, PDF and the CSV with their data. The bytes are the same every time.

# The files of figures by their names.
figure_files <- function(names) {
  as.vector(outer(names, figure_endings(), paste, sep = "."))
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

# Experiments that a curve over sizes can show: several sizes, and one time at each size. Exhibits
# show experiments with several times at one size (steps of computation, queues).
measured_by_size <- function(medians) {
  by <- c(setdiff(configuration_columns(medians), factor_names(medians)), "bytes")
  several <- medians[duplicated(medians, by = by)]
  sizes <- medians[, list(sizes = uniqueN(bytes)), by = "experiment"]
  setdiff(sizes$experiment[sizes$sizes > 1L], several$experiment)
}

# Experiments whose bandwidth is more informative than the time: one message between two ranks.
MESSAGES <- c("pingpong", "pingping", "stream", "exchange", "datatypes", "imb")

# The operation that others are variants of: `bcast` is the base of `ibcast.compute`, `bcast_init`
# and `bcast-first`.
base_operation <- function(operation) {
  few <- unique(operation)
  base <- sub("_init$", "", sub("[-.].*$", "", few))
  kinds <- "^i(?=all|barrier|bcast|exscan|gather|neighbor|reduce|scan|scatter)"
  sub(kinds, "", base, perl = TRUE)[match(operation, few)]
}

# An experiment with more panels has figures for each of its operations and their variants.
APART_FROM <- 120L

# The figures that a study has the data for: `name`, `kind`, `experiment`, `operation`
# (`base_operation()`; `NA`: all), `work` (number of rows). With many panels there is no figure of
# bandwidths, because the times of the messages show the same.
list_figures <- function(study) {
  # Benchmarks of other tools come after cotejo's own.
  names <- measured_by_size(study$medians)
  figures <- lapply(names[order(names == "imb")], function(one) {
    medians <- study$medians[experiment == one]
    panels <- uniqueN(panel_of(medians))
    kinds <- c(
      if (any(study$comparison$experiment == one)) "difference", "latency",
      if (one %in% MESSAGES && any(medians$bytes > 0) && panels <= MOST_PANELS) "bandwidth"
    )
    operations <- unique(base_operation(sort(unique(medians$operation), method = "radix")))
    if (length(operations) == 1L || panels <= APART_FROM) operations <- NA_character_
    CJ(experiment = one, operation = operations, kind = kinds, sorted = FALSE)
  })
  none <- data.table(kind = character(), experiment = character(), operation = character())
  drift <- if (any(study$drift$blocks > 1L)) data.table(kind = "drift")
  figures <- rbindlist(c(list(none), figures, list(drift)), fill = TRUE)
  questions <- study$summary[, list(work = .N), by = c("experiment", "operation")]
  figures[, `:=`(
    name = fifelse(
      is.na(experiment), kind, paste0(kind, "-", slug_of_question(experiment, operation))
    ),
    work = vapply(seq_len(.N), \(i) sum(rows_of_question(questions, figures[i])$work), 0L)
  )][]
}

# The part of a file name that identifies the subject of a figure or page.
slug_of_question <- function(experiment, operation) {
  text <- fifelse(is.na(operation), experiment, paste0(experiment, "-", operation))
  gsub("[^A-Za-z0-9]+", "-", tolower(text))
}

# The rows of a table that belong to a question: its experiment and operation, unless `NA`.
rows_of_question <- function(table, question) {
  of <- function(values, wanted) is.na(wanted) | values == wanted
  table[which(
    of(table$experiment, question$experiment) &
      of(base_operation(table$operation), question$operation)
  )]
}

#' Functions that make the figures of a study, by name.
#'
#' @param figures what [list_figures()] returned.
#' @noRd
plots_of_study <- function(study, figures = list_figures(study)) {
  plots <- lapply(seq_len(nrow(figures)), function(i) {
    of <- function(table) rows_of_question(table, figures[i])
    switch(figures$kind[[i]],
      latency = function() plot_latency(of(study$summary), of(study$medians)),
      bandwidth = function() plot_bandwidth(of(study$summary), of(study$medians)),
      difference = function() plot_difference(of(study$comparison), study$delta),
      drift = function() plot_drift(study$summary)
    )
  })
  stats::setNames(plots, figures$name)
}

endings_of <- function(pdf) c("svg", if (pdf) "pdf", "csv")

# The files of a figure.
figure_endings <- function() getOption("cotejo.endings", endings_of(pdf = FALSE))

# Write the files of a plot: SVG and PDF, if they are wanted, and the CSV with its data.
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

write_csv <- function(table, path) write_whole(path, function(file) put_table(table, file))

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
