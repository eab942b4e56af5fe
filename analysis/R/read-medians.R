# SPDX-License-Identifier: BSD-3-Clause
# Reads the medians that the launches of a session recorded themselves, without their samples.

# Read the summaries in the launch descriptions of a session. A launch that is not usable has one
# row without a time.
read_medians <- function(session_dir) {
  files <- sort(list.files(session_dir, "[.][0-9]+[.]json$", full.names = TRUE), method = "radix")
  out <- rbindlist(lapply(files, function(file) {
    launch <- parse_json_file(file)
    asked <- launch$asked
    text <- function(object) canonical(object, ",")
    here <- list(
      cell = cell_of(launch$id), block = sub(".*[.]", "", launch$id),
      group = paste(c(
        sub("[.].*", "", launch$id), asked$transport, asked$placement, asked$hosts, asked$ranks
      ), collapse = " "),
      mpi = as.character(asked$mpi), settings = text(asked$settings),
      parameters = text(asked$parameters)
    )
    if (!identical(launch$status, "ok")) {
      return(c(here, list(operation = "", bytes = NA_real_, median_s = NA_real_)))
    }
    rbindlist(lapply(launch$summary, function(row) {
      factors <- row[setdiff(names(row), c(
        "operation", "bytes", "n", "median_s", "min_s", "p95_s", "p99_s", "p999_s", "max_s"
      ))]
      c(here, list(
        operation = paste(c(row$operation, if (length(factors)) text(factors)), collapse = " "),
        bytes = as.numeric(row$bytes), median_s = number(row$median_s)
      ))
    }))
  }))
  if (nrow(out)) out[is.na(median_s) | median_s > 0] else out
}
