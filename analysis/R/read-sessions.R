# SPDX-License-Identifier: BSD-3-Clause
# Sessions: what was planned, what is still missing, which of them a report is about.

#' Read the session and audit files below a folder.
#'
#' @param dir as for [read_results()].
#' @return list of data.tables: `sessions` (`site`, `session`, `seed`, `tag`, `blocks`,
#'   `finished`, `tries` (`NA`: version 1), and the list columns `cells`, `reached` (launches by
#'   cell), `families` (tables `name`, `title`, `colour`, `order`) and `accidents`, by cell) and
#'   `audit` (`site`, `session`, `mpi`, `item`, `value`), and `broken`, the files that were left
#'   out (`file`, `what`); each may have no rows.
#' @export
read_sessions <- function(dir) {
  files <- list.files(dir, "^(session|audit)[.]json$", recursive = TRUE, full.names = TRUE)
  files <- sort(normalizePath(files), method = "radix")
  read <- lapply(files, function(file) {
    tryCatch(
      if (basename(file) == "session.json") read_plan(file) else read_audit(file),
      error = function(fault) as_fault(fault, file)
    )
  })
  faulty <- vapply(read, inherits, NA, "condition")
  plans <- basename(files) == "session.json"
  list(
    sessions = rbindlist(read[plans & !faulty]), audit = rbindlist(read[!plans & !faulty]),
    broken = list_broken(read[faulty])
  )
}

read_audit <- function(file) {
  records <- parse_json_file(file, "list")
  check_each(records, c(mpi = "text", item = "text", value = "text"), file, character())
  rbindlist(lapply(records, function(record) {
    data.table(
      site = site_of(file), session = session_of(file),
      mpi = record$mpi, item = record$item, value = record$value
    )
  }))
}

#' One plan of either version.
#' @noRd
read_plan <- function(file) {
  plan <- parse_json_file(file)
  if (!is.null(plan$schema)) check_known(plan$schema, SESSION_SCHEMAS, file, "schema")
  check_members(plan, SESSION_MEMBERS, file)
  check_optional(plan, c(families = "list", accidents = "object", tries = "number"), file)
  check_each(plan$families, FAMILY_MEMBERS, file, "families")
  data.table(
    site = site_of(file), session = session_of(file),
    seed = plan$seed, tag = plan$tag, blocks = as.integer(plan$blocks),
    finished = plan$finished, cells = list(vapply(plan$cells, text_of, "")),
    # Cells of a study --until a width that were precise enough after so many launches.
    reached = list(vapply(plan$reached, as.integer, 0L)),
    families = list(rbindlist(lapply(plan$families, `[`, names(FAMILY_MEMBERS)))),
    accidents = list(vapply(plan$accidents, as.integer, 0L)),
    tries = if (is.null(plan$tries)) NA_integer_ else as.integer(plan$tries)
  )
}

# SITE and SESSION from the path of a file in a session's folder.
session_of <- function(file) basename(dirname(file))
site_of <- function(file) basename(dirname(dirname(file)))

#' Launches that a session planned and that have not run.
#'
#' @param sessions what [read_sessions()] returned as `sessions`.
#' @param launches what [read_results()] returned as `launches`.
#' @return data.table: `site`, `session`, `cell`, `planned`, `usable`, `unusable` (failed or
#'   marked), `missing`; only cells that lack usable launches.
#' @export
missing_cells <- function(sessions, launches) {
  out <- lapply(seq_len(nrow(sessions)), function(i) {
    plan <- sessions[i]
    here <- launches[launches$site == plan$site & launches$session == plan$session]
    cell <- cell_of(here$id)
    cells <- plan$cells[[1L]]
    count <- function(which) tabulate(match(cell[which], cells), length(cells))
    usable <- count(here$status == "ok")
    unusable <- count(here$status != "ok")
    reached <- plan$reached[[1L]][cells]
    planned <- as.integer(fifelse(is.na(reached), plan$blocks, reached))
    data.table(
      site = plan$site, session = plan$session, cell = cells, planned = planned,
      usable = usable, unusable = unusable, missing = pmax(0L, planned - usable - unusable)
    )
  })
  out <- rbindlist(out)
  if (nrow(out)) out[out$usable < out$planned] else out
}

# A launch's name without its number: CELL.NNN.
cell_of <- function(id) {
  sub("[.][0-9]+$", "", id)
}

# What two sessions must have in common so that their launches are replicates of one another. What
# was emulated or simulated is part of a configuration: one network hides no other. The version is
# that of all that measures, whatever the commit, where the launches tell it.
STATE <- c(
  "scale", "measuring", "provider", "lock_sha256", "kernel", "cpu_model", "governor", "machine"
)

# Scales that only check that things run, or that compare tools; shown where there is no other.
LESSER_SCALES <- c("bench", "smoke")

#' Choose the sessions that a report is about, for each site and experiment.
#'
#' The latest session with usable launches decides; those that agree with it in scale, version of
#' cotejo, stack and machine are used together with it, as further blocks. Smoke and bench
#' sessions count only where there is no other.
#'
#' @param launches what [read_results()] returned as `launches`.
#' @param session names of sessions to choose from; all by default.
#' @param unit `experiment`, or `test` to choose for each ReFrame test on its own.
#' @return data.table `site`, `experiment` (or `test`), `session`.
#' @export
select_sessions <- function(launches, session = NULL, unit = c("experiment", "test")) {
  unit <- match.arg(unit)
  # Not inside [], where `session` is the column.
  wanted <- is.null(session) | launches$session %in% session
  usable <- launches[wanted & launches$status == "ok"]
  if (!nrow(usable)) {
    return(usable[, c("site", unit, "session"), with = FALSE])
  }
  states <- usable[, list(state = state_of(.SD), scale = scale[[1L]]),
    keyby = c("site", unit, "session"), .SDcols = STATE
  ]
  states[, lesser := match(scale, LESSER_SCALES, nomatch = 0L)]
  states[, list(session = session[state == state[order(lesser, -seq_len(.N))[[1L]]]]),
    keyby = c("site", unit)
  ]
}

state_of <- function(launches) {
  states <- unique(do.call(paste, c(unname(as.list(launches)), sep = "|")))
  paste(sort(states, method = "radix"), collapse = "||")
}
