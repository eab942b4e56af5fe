# SPDX-License-Identifier: BSD-3-Clause
# Verbs for properties of collective operations other than their time: hidden computation of
# non-blocking operations, and memory use of the library.

#' Share of a non-blocking collective that is hidden behind a computation.
#'
#' The share is computed for each launch from three medians (as IMB-NBC does). They are the
#' operation alone, a computation alone (`NAME.compute`), and both at once (`NAME.both`). The share
#' is (alone + computation - both) / the shorter of the two. It is at most 1, and 0 if both at once
#' take longer than one after the other.
#'
#' @param summary what [summarise_launches()] returned.
#' @return the rows of `summary` that have all three, `operation` NAME, with `share` (0 to 1).
#' @noRd
hidden_shares <- function(summary) {
  parts <- summary[, list(key, bytes, operation, median_s)]
  parts[, kind := fcase(
    endsWith(operation, ".compute"), "compute", endsWith(operation, ".both"), "both",
    default = "alone"
  )]
  parts[, operation := sub("\\.(compute|both)$", "", operation)]
  parts[, kind := factor(kind, c("alone", "compute", "both"))]
  all <- stats::na.omit(dcast(
    parts, key + operation + bytes ~ kind,
    value.var = "median_s", drop = c(TRUE, FALSE)
  ))
  all[, share := (alone + compute - both) / pmin(alone, compute)]
  all[, share := pmin(pmax(share, 0), 1)]
  by <- c("key", "operation", "bytes")
  summary[all[, c(by, "share"), with = FALSE], on = by]
}

#' @describeIn exhibit_by_size Share of a non-blocking collective that is hidden behind a
#'   computation, by message size.
exhibit_hidden_share <- function(exhibit, series = NULL, panel = NULL, scale = NULL) {
  found <- hidden_shares(exhibit$summary)
  if (!nrow(found)) await("launches of non-blocking operations with computation beside them")
  exhibit$summary <- found
  exhibit$medians <- summarise_configurations(found, measure = "share")
  exhibit$arguments$unit <- "%"
  exhibit$arguments$scale <- argument(exhibit, "scale", c("log", "linear"))
  plot_exhibit(exhibit, "bytes")
}

#' @describeIn exhibit_by_size Memory of a rank: the resident memory, its shared part, and the
#'   memory taken by the library.
exhibit_memory_table <- function(exhibit) {
  samples <- samples_of_exhibit(exhibit)
  needed <- c("resident_bytes", "shared_bytes", "before_bytes", "buffers_bytes")
  if (!all(needed %in% names(samples))) await("launches of the experiment memory")
  samples[, taken_bytes := resident_bytes - before_bytes - buffers_bytes]
  measures <- c("resident_bytes", "shared_bytes", "taken_bytes")
  summary <- summary_from_samples(exhibit, samples, measures)
  tables <- lapply(measures, function(measure) {
    medians <- summarise_configurations(summary, measure = column_of_measure(measure))
    names <- paste0(column_of_measure(measure), c("", "_low", "_high"))
    setnames(medians, names, c("value", "value_low", "value_high"))
    setorderv(medians, c("site", "mpi", "transport", "ranks", "operation", "bytes", "rank"))
    medians
  })
  found <- tables[[1L]]
  in_mib <- lapply(tables, format_columns, "value", 2^-20)
  shown <- data.table(
    Configuration = as.character(level_of(found, c("mpi", "transport", "ranks"))),
    Moment = c(
      init = "after MPI_Init", alltoall_first = "after the first all-to-all",
      alltoall_last = "at the end"
    )[found$operation],
    Size = format_bytes(found$bytes), Rank = found$rank, n = found$n,
    `Resident (MiB)` = in_mib[[1L]], `Shared of it (MiB)` = in_mib[[2L]],
    `Taken by the library (MiB)` = in_mib[[3L]]
  )
  raw <- found[, c("site", "mpi", "transport", "ranks", "operation", "bytes", "rank", "n")]
  for (i in seq_along(measures)) set(raw, j = measures[[i]], value = tables[[i]]$value)
  with_table(shown, raw, caption_of_exhibit(exhibit, paste(
    WHAT_TABLES_SHOW, "Taken by the library: resident, less the memory before MPI_Init and",
    "the buffers of the experiment."
  ), found$n))
}
