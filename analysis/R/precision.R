# SPDX-License-Identifier: BSD-3-Clause
# Which cells of a session are known well enough: the rule by which a study stops by itself.

#' Cells of a session whose intervals are still too wide.
#'
#' The width of a cell is half the 95 % interval of the median over launches, relative to
#' the median, of the group (operation, size, factors) where it is greatest. It rests on the
#' launches' own summaries, so that it is quick enough to be asked after every block; stopping by
#' width, and never by a p value, favours no side of a comparison.
#'
#' @param session_dir `results/SITE/SESSION`.
#' @param until width that is asked for, relative (0.03 is 3 %).
#' @return data.table, one row a cell, widest first: `cell`, `launches` (usable), `width` (`NA`:
#'   under five launches), `at` (the group, in words), `wide` (flag), `more` (launches that would
#'   likely do: the width falls with the root of their number).
#' @export
wide_cells <- function(session_dir, until) {
  groups <- read_summaries(session_dir)
  if (!nrow(groups)) {
    return(data.table(
      cell = character(), launches = integer(), width = numeric(), at = character(),
      wide = logical(), more = numeric()
    ))
  }
  widths <- groups[, {
    interval <- median_interval(median_s)
    list(launches = .N, width = (interval$high - interval$low) / 2 / interval$median)
  }, by = c("cell", "group")]
  cells <- widths[order(-width, na.last = FALSE)][, list(
    launches = max(launches), width = width[[1L]], at = group[[1L]]
  ), by = "cell"]
  # Groups that some launches lack must not hide behind those that all have.
  cells[is.na(width), at := ""]
  cells[, wide := is.na(width) | width > until]
  cells[, more := fifelse(
    is.na(width), pmax(1, MIN_LAUNCHES - launches),
    fifelse(wide, pmax(1, ceiling(launches * ((width / until)^2 - 1))), 0)
  )]
  cells[order(-width, cell, na.last = FALSE)]
}

#' The summaries in the launch descriptions of a session: `cell`, `group`, `median_s`.
#' @noRd
read_summaries <- function(session_dir) {
  files <- sort(list.files(session_dir, "[.][0-9]+[.]json$", full.names = TRUE), method = "radix")
  groups <- rbindlist(lapply(files, function(file) {
    launch <- parse_json_file(file)
    if (!identical(launch$status, "ok")) {
      return(NULL)
    }
    rbindlist(lapply(launch$summary, function(row) {
      factors <- row[setdiff(names(row), c(
        "operation", "bytes", "n", "median_s", "min_s", "p95_s"
      ))]
      list(
        cell = cell_of(launch$id),
        group = paste(c(
          row$operation, format_bytes(row$bytes), unlist(Map(function(name, value) {
            paste(name, text_of(value))
          }, names(factors), factors))
        ), collapse = " "),
        median_s = if (is.null(row$median_s)) NA_real_ else as.numeric(row$median_s)
      )
    }))
  }))
  if (nrow(groups)) groups[!is.na(median_s) & median_s > 0] else groups
}

#' Print [wide_cells()] for the harness: a line a cell, fields apart by tabs.
#'
#' @inheritParams wide_cells
#' @return the table, invisibly.
#' @export
print_wide_cells <- function(session_dir, until) {
  cells <- wide_cells(session_dir, until)
  fwrite(cells, sep = "\t", col.names = FALSE, quote = FALSE, na = "NA")
  invisible(cells)
}
