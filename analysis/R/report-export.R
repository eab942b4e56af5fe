# SPDX-License-Identifier: BSD-3-Clause
# Exports for other programs: verdicts as JSON, metrics as OpenMetrics text, samples as Parquet.

VERDICTS_SCHEMA <- "cotejo-verdicts/1"
# Members of a verdict (inst/verdicts.schema.json) and the columns that they come from.
VERDICT_MEMBERS <- c(
  site = "site", simulated = "simulated", test = "test", operation = "operation",
  transport = "transport", placement = "placement", hosts = "hosts", ranks = "ranks",
  settings = "settings", parameters = "parameters", bytes = "bytes", a = "a", b = "b",
  launches_a = "n_a", launches_b = "n_b", ratio = "ratio", low = "low", high = "high",
  confidence = "confidence", q = "q", verdict = "verdict", scope = "scope"
)
# Labels of a metric, in the order of the text.
METRIC_LABELS <- c(
  "site", "test", "operation", "mpi", "transport", "placement", "settings", "parameters",
  "hosts", "ranks", "bytes", "session"
)

#' Write the verdicts and medians of a folder of results for other programs.
#'
#' @param results_dir as for [read_results()].
#' @param out_dir folder for `verdicts.json` (`verdicts.schema.json` of the package describes it),
#'   `metrics.txt` (OpenMetrics: the newest median of each configuration and size) and, if the
#'   package arrow is installed, `samples.parquet` (every sample of every usable launch).
#' @param delta margin of equivalence.
#' @return the paths, invisibly. Prints them.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' write_export(folder, tempfile())
#' @export
write_export <- function(results_dir, out_dir, delta = 0.03) {
  study <- compare_results(results_dir, delta = delta)
  paths <- file.path(out_dir, c("verdicts.json", "metrics.txt"))
  write_whole(paths[[1L]], function(file) put_lines(verdicts_json(study$comparison, delta), file))
  summary <- with_columns(study$whole, study$launches, "started")
  write_whole(paths[[2L]], function(file) {
    put_lines(openmetrics(series_of_sessions(summary)), file)
  })
  # DESCRIPTION does not name arrow: R CMD check has a note for each suggested package that is not
  # installed, and Debian has no package of arrow.
  write_parquet <- tryCatch(getExportedValue("arrow", "write_parquet"), error = function(e) NULL)
  if (is.function(write_parquet)) {
    paths[[3L]] <- file.path(out_dir, "samples.parquet")
    samples <- read_results(unpack_dataset(results_dir))$samples
    write_whole(paths[[3L]], function(file) write_parquet(samples, file))
  } else {
    message("samples.parquet is not written: the R package arrow is not installed")
  }
  cat(paths, sep = "\n")
  invisible(paths)
}

# Comparisons as JSON, one line per comparison.
verdicts_json <- function(comparison, delta) {
  members <- lapply(names(VERDICT_MEMBERS), function(name) {
    column <- comparison[[VERDICT_MEMBERS[[name]]]]
    if (is.null(column)) column <- rep(NA, nrow(comparison))
    paste0("\"", name, "\": ", json_values(column))
  })
  rows <- if (nrow(comparison)) paste0("  {", do.call(paste, c(members, sep = ", ")), "}")
  c(
    sprintf(
      "{\"schema\": \"%s\", \"cotejo\": \"%s\", \"delta\": %.15g, \"verdicts\": [",
      VERDICTS_SCHEMA, getNamespaceVersion("cotejo"), delta
    ), paste(rows, collapse = ",\n"), "]}"
  )
}

# The newest point of each series as OpenMetrics text.
openmetrics <- function(points) {
  newest <- points[order(series, session)][, .SD[.N], by = "series"]
  escaped <- function(values) {
    gsub("\n", "\\n", gsub("\"", "\\\"", gsub("\\", "\\\\", values, fixed = TRUE), fixed = TRUE),
      fixed = TRUE
    )
  }
  text <- function(values) {
    out <- if (is.numeric(values)) format_whole(values) else as.character(values)
    fcoalesce(out, "")
  }
  labels <- lapply(METRIC_LABELS, function(name) {
    sprintf("%s=\"%s\"", name, escaped(text(newest[[name]])))
  })
  time <- as.numeric(as.POSIXct(newest$started, "UTC", "%Y-%m-%dT%H:%M:%SZ"))
  of <- do.call(paste, c(labels, sep = ","))
  family <- function(name, help, unit, values) {
    c(
      sprintf("# TYPE %s gauge", name), if (nzchar(unit)) sprintf("# UNIT %s %s", name, unit),
      sprintf("# HELP %s %s", name, help),
      if (nrow(newest)) sprintf("%s{%s} %.15g %.0f", name, of, as.numeric(values), time)
    )
  }
  c(
    family(
      "cotejo_median_seconds", "Median of the launches of the newest session.", "seconds",
      newest$median_s
    ),
    family("cotejo_launches", "Number of usable launches of the newest session.", "", newest$n),
    "# EOF"
  )
}
