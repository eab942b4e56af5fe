# SPDX-License-Identifier: BSD-3-Clause
# Sessions: planned launches, missing launches, and the sessions that a report is about.

#' Read the session and audit files below a folder.
#'
#' @param dir as for [read_results()].
#' @return list of data.tables, each of which may have no rows. `sessions`: `site`, `session`,
#'   `seed`, `tag`, `blocks`, `sizes`, `set` (variables), `program`, `finished`, `tries` (`NA`:
#'   version 1), and the list columns `cells`, `reached` (launches by cell), `families` (tables
#'   `name`, `title`, `colour`, `order`),
#'   `transports` (tables `name`, `title`), `skipped` (`cell`, `reason`; configurations that the
#'   site cannot measure) and `accidents` (by cell). `audit`: `site`, `session`,
#'   `mpi`, `item`, `value`. `broken`, the files that were left out: `file`, `what`.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' read_sessions(unpack_dataset(folder))$sessions[, c("session", "blocks")]
#' @export
read_sessions <- function(dir) {
  files <- session_files(dir, "^(session|audit)[.]json$")$files
  files <- sort(normalizePath(files), method = "radix")
  # A plan of hundreds of cells takes as long as ten launches.
  read <- over_cores(files, \(part) lapply(part, read_of_session), 10L * length(files))
  read <- unlist(read, recursive = FALSE)
  faulty <- vapply(read, inherits, NA, "condition")
  plans <- basename(files) == "session.json"
  list(
    sessions = rbindlist(read[plans & !faulty]), audit = rbindlist(read[!plans & !faulty]),
    broken = list_broken(read[faulty])
  )
}

# The plan or audit of a file, or its fault.
read_of_session <- function(file) {
  tryCatch(
    if (basename(file) == "session.json") read_plan(file) else read_audit(file),
    error = function(fault) as_fault(fault, file)
  )
}

read_audit <- function(file) {
  records <- parse_json_file(file, "list")
  check_schema(records, schema_of("audit"), file)
  rbindlist(lapply(records, function(record) {
    list(
      site = site_of(file), session = session_of(file),
      mpi = record$mpi, item = record$item, value = record$value
    )
  }))
}

# One plan of either version.
read_plan <- function(file) {
  plan <- parse_json_file(file)
  if (!is.null(plan$schema)) check_known(plan$schema, SESSION_SCHEMAS, file, "schema")
  check_schema(plan, schema_of("session"), file)
  shown <- function(name) {
    unlist(schema_of("session")[["properties"]][[name]][["items"]][["required"]])
  }
  data.table(
    site = site_of(file), session = session_of(file),
    seed = plan$seed, tag = plan$tag, blocks = as.integer(plan$blocks),
    sizes = text_or_empty(plan$sizes), set = text_or_empty(plan$set),
    program = text_or_empty(plan$program),
    finished = plan$finished, cells = list(vapply(plan$cells, text_of, "")),
    # Cells of a study with --until that were precise enough after so many launches.
    reached = list(vapply(plan$reached, as.integer, 0L)),
    families = list(rbindlist(lapply(plan$families, `[`, shown("families")))),
    transports = list(rbindlist(lapply(plan$transports, `[`, shown("transports")))),
    skipped = list(rbindlist(lapply(plan$skipped, `[`, shown("skipped")))),
    accidents = list(vapply(plan$accidents, as.integer, 0L)),
    tries = if (is.null(plan$tries)) NA_integer_ else as.integer(plan$tries)
  )
}

text_or_empty <- function(value) if (is.null(value)) "" else text_of(value)

# SITE and SESSION from the path of a file in a session's folder.
session_of <- function(file) basename(dirname(file))
site_of <- function(file) basename(dirname(dirname(file)))
