# SPDX-License-Identifier: BSD-3-Clause
# All launches below a folder -> one table of launches, one of samples.

#' Read results.
#'
#' Reads every `LAUNCH.json` below `dir` (all sites and sessions) and the samples of the launches
#' with status `ok`. Launches that failed, were marked or had an accident are listed without their
#' samples. A file that does not follow docs/data.md is reported with its line, left out and
#' counted; the other files are still read. If no launch at all can be read, the function stops
#' with an error of class `cotejo_bad_data`. A `LAUNCH.csv` without its JSON is ignored: its launch
#' never ended.
#'
#' @param dir `results`, or a site's or session's folder in it.
#' @return list:
#'   `launches`, one row per launch: `key` (site/session/id), the requested and the observed
#'   properties (seconds, bytes; lists over ranks joined by `|`; `NA`: unknown, such as properties
#'   of version 2 in version 1), and one text column for each setting,
#'   parameter and effective option (`setting_*`, `parameter_*`, `option_*`);
#'   `samples`, one row per sample: `key` (factor with the levels of `launches$key`), `operation`,
#'   `bytes` (B), `repetition`, `calls`, `time_s` (s, one operation), `valid` (logical), and
#'   the experiments' further columns;
#'   `roles`, of each further column: `factor` (it distinguishes groups of samples, as `pairs`
#'   does), `measure` (it has a unit) or `flag` (0 or 1);
#'   `tails`, the highest quantiles of launches that have only some of their samples in a dataset;
#'   `quantities`, the meaning of an operation's time: `key`, `operation`, `quantity` (version 2);
#'   `sessions` and `audit`, as [read_sessions()] returns them;
#'   `broken`, the files that were left out: `file`, `what`.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' results <- read_results(unpack_dataset(folder))
#' head(results$samples)
#' @export
read_results <- function(dir) {
  found <- launch_files(dir)
  parts <- over_cores(found$files, read_launches, much = TRUE)
  results <- assemble(parts, found$faults)
  rm(parts)
  results$summary <- NULL
  if (!nrow(results$samples)) results$samples <- no_samples()
  with_plans(results, dir)
}

launch_files <- function(dir) {
  if (!dir.exists(dir)) {
    bad_data(
      dir, NA, "no such folder",
      "run `make study` first, or name the folder that holds SITE/SESSION/*.json"
    )
  }
  found <- session_files(dir, "^(?!(session|audit)[.]json$).*[.]json$")
  if (!length(found$files) && length(found$faults)) stop(found$faults[[1L]])
  if (!length(found$files)) {
    bad_data(dir, NA, "no launch in it", "measure something first, or name another folder")
  }
  found
}

# Results with the plans and audits of their sessions.
with_plans <- function(results, dir) {
  set(results$launches, j = "observed_state", value = observed_states(results$launches))
  plans <- read_sessions(dir)
  results$sessions <- plans$sessions
  results$audit <- plans$audit
  results$broken <- rbind(results$broken, plans$broken)
  results
}

#' Joins the parts of results that were read, or read and summarised.
#'
#' @param parts list of what [read_launches()] or [summarise_part()] returned: `samples` or
#'   `summary` have the key of their launch.
#' @param faults conditions of files that were left out before anything was read.
#' @noRd
assemble <- function(parts, faults = list()) {
  bind <- function(name) rbindlist(lapply(parts, `[[`, name), use.names = TRUE, fill = TRUE)
  launches <- bind("launches")
  broken <- c(faults, unlist(lapply(parts, `[[`, "broken"), recursive = FALSE))
  if (!nrow(launches)) stop(broken[[1L]])
  columns <- unlist(lapply(parts, `[[`, "columns"), recursive = FALSE)
  roles <- roles_of(columns)
  strange <- strangers(launches)
  faults <- c(
    faults_of(launches, strange, sprintf(
      "names session %s/%s, which has another folder, too; put it back where it was measured",
      launches$site, launches$session
    )),
    faults_of(launches, duplicated(fifelse(strange, launches$file, launches$key)), paste(
      "launch", launches$key, "is there twice; keep one copy of each session"
    )),
    faults_of(launches, disagreeing(columns, roles), paste(
      "a column of its samples has another role than in other launches; give a column one meaning"
    ))
  )
  out <- match(vapply(faults, `[[`, "", "file"), launches$file)
  if (length(unique(out)) == nrow(launches)) stop(faults[[1L]])
  keys <- unique(launches$key)
  whole <- function(name) {
    table <- bind(name)
    if (!nrow(table)) {
      return(table)
    }
    set(table, j = "operation", value = as.character(table$operation))
    # `at` is the number of the launch in its part.
    of_part <- rep.int(seq_along(parts), vapply(parts, function(part) NROW(part[[name]]), 0L))
    before <- cumsum(c(0L, vapply(parts, function(part) NROW(part$launches), 0L)))
    at <- table$at + before[of_part]
    set(table, j = "at", value = NULL)
    key <- structure(match(launches$key, keys)[at], levels = keys, class = "factor")
    set(table, j = "key", value = key)
    setcolorder(table, "key")
    if (length(out)) table[!at %in% out] else table
  }
  list(
    launches = if (length(out)) launches[-out] else launches,
    samples = whole("samples"), summary = whole("summary"), tails = whole("tails"), roles = roles,
    units = units_of(parts), quantities = bind("quantities"),
    broken = list_broken(c(broken, faults))
  )
}

# Launches that name the session of another folder, and would be taken for launches of it. A
# folder may have a different name as long as no other folder has launches of its session.
strangers <- function(launches) {
  folder <- dirname(as.character(launches$file))
  session <- file.path(launches$site, launches$session)
  folders <- unique(data.table(session, folder))$session
  named <- file.path(basename(dirname(folder)), basename(folder)) == session
  session %in% folders[duplicated(folders)] & !named
}

# Units of the measures of samples, by name.
units_of <- function(parts) {
  units <- unlist(unname(unique(unlist(lapply(parts, `[[`, "units"), recursive = FALSE))))
  units[!duplicated(names(units))]
}

faults_of <- function(launches, which, text) {
  Map(fault_of, launches$file[which], rep_len(text, nrow(launches))[which], USE.NAMES = FALSE)
}

#' Read some launches; unreadable launches are left out.
#'
#' @param files paths of launch descriptions.
#' @return list: `launches` (a row each), `samples` (of all, in their order, `operation` a factor,
#'   `at` the number of the launch), `columns` (of each launch, roles by name: see
#'   [roles_of_columns()]), `quantities`, `broken` (conditions).
#' @noRd
read_launches <- function(files) {
  read <- lapply(files, function(file) {
    tryCatch(read_launch(file), error = function(fault) as_fault(fault, file))
  })
  is_faulty <- function() vapply(read, inherits, NA, "condition")
  asked <- which(!is_faulty() & lengths(lapply(read, `[[`, "asked")) > 0L)
  found <- read_sample_files(lapply(read[asked], `[[`, "asked"))
  bad <- vapply(found, function(one) inherits(one$samples, "condition"), NA)
  for (one in found[bad]) {
    number <- asked[one$of]
    read[[number]] <- as_fault(one$samples, files[[number]])
  }
  faulty <- is_faulty()
  broken <- read[faulty]
  at <- cumsum(!faulty)[asked]
  read <- read[!faulty]
  samples <- lapply(found[!bad], function(one) {
    set(one$samples, j = "at", value = rep.int(at[one$of], one$rows))
  })
  samples <- rbindlist(samples, use.names = TRUE, fill = TRUE)
  if (nrow(samples)) {
    if (is.unsorted(samples$at)) setorderv(samples, "at")
    setcolorder(samples, setdiff(names(samples), "at"))
    # Factors pass between processes much faster than texts.
    set(samples, j = "operation", value = factor(present_name(samples$operation)))
  }
  list(
    launches = rbindlist(lapply(read, `[[`, "row"), use.names = TRUE, fill = TRUE),
    samples = samples, columns = lapply(read, `[[`, "columns"),
    units = unique(lapply(read, `[[`, "units")),
    quantities = rbindlist(lapply(read, `[[`, "quantities")),
    tails = rbindlist(lapply(read, `[[`, "tails"), fill = TRUE, idcol = "at"), broken = broken
  )
}

# Operations whose old name now has another meaning -> their present name.
OPERATIONS_RENAMED <- c(
  "radix-original" = "radix-serving", "radix-posted" = "radix-serving-posted"
)

present_name <- function(operations) {
  renamed <- OPERATIONS_RENAMED[operations]
  fifelse(is.na(renamed), operations, unname(renamed))
}

# One launch: `row`; if its status is ok, also `columns`, `quantities`, and the arguments of
# `read_samples()` (`asked`).
read_launch <- function(file) {
  launch <- parse_description(file)
  row <- flatten_description(launch, file)
  if (launch$status != "ok") {
    return(list(row = row))
  }
  columns <- as_before("columns", launch$samples$columns, described_columns)
  quantities <- unlist(launch$samples$quantities)
  list(
    row = row,
    asked = list(
      file = sample_file(file, launch$samples$file), columns = columns$all,
      rows = launch$samples$rows
    ),
    columns = columns$roles, units = columns$units,
    quantities = if (length(quantities)) {
      as.data.table(list(
        key = row$key, operation = present_name(names(quantities)), quantity = unname(quantities)
      ))
    },
    tails = recorded_tails(launch, file)
  )
}

# The rows of the summary of a launch whose tails its samples no longer show: a dataset has only
# some of the samples of each group, and the launch summarised all of them.
recorded_tails <- function(launch, file) {
  rows <- if (!is.null(launch$samples$thinned_from)) {
    launch$summary[!vapply(lapply(launch$summary, `[[`, "p999_s"), is.null, NA)]
  }
  if (!length(rows)) {
    return(NULL)
  }
  rows <- lapply(rows, \(row) row[!names(row) %in% c("n", "median_s", "min_s", "p95_s")])
  numbers <- unlist(lapply(rows, \(row) row[names(row) != "operation"]), recursive = FALSE)
  wrong <- !vapply(rows, \(row) all(c("operation", "bytes", RECORDED_TAILS) %in% names(row)), NA)
  if (any(wrong) || !all(vapply(numbers, is.numeric, NA))) {
    bad_member(file, "summary", "a tail in its summary is no number", RESTORE)
  }
  rows <- rbindlist(rows, fill = TRUE)
  set(rows, j = "operation", value = present_name(rows$operation))
}

# The columns of a launch's samples: name and role of `all` columns, and `roles` and `units` of
# the further columns by name.
described_columns <- function(columns) {
  roles <- roles_of_columns(columns)
  further <- !names(roles) %in% SAMPLE_COLUMNS
  units <- stats::setNames(vapply(columns, `[[`, "", "unit"), names(roles))
  list(
    all = list(name = names(roles), role = unname(roles)), roles = roles[further],
    units = units[further]
  )
}

# Roles of the columns of one launch, by name; roles that had to be guessed in version 1 begin
# with `SUPPOSED`.
roles_of_columns <- function(columns) {
  stats::setNames(vapply(columns, function(column) {
    if (!is.null(column$role)) {
      column$role
    } else {
      paste0(SUPPOSED, if (nzchar(column$unit)) "measure" else "factor")
    }
  }, ""), vapply(columns, `[[`, "", "name"))
}

#' Roles of the further columns of all launches: the first recorded role, otherwise the guessed
#' one.
#'
#' @param columns list of what [roles_of_columns()] returned.
#' @noRd
roles_of <- function(columns) {
  all <- c(character(), unlist(unname(unique(columns))))
  all <- all[order(startsWith(all, SUPPOSED))]
  roles <- bare_role(all)
  roles[!duplicated(names(roles))]
}

# Launches whose roles of columns contradict those of others. A guessed role gives way.
disagreeing <- function(columns, roles) {
  said <- unique(columns)
  agrees <- vapply(said, function(one) {
    known <- roles[names(one)]
    !length(one) || all(bare_role(one) == known | startsWith(one, SUPPOSED) & known != "measure" &
      bare_role(one) != "measure")
  }, NA)
  !agrees[match(columns, said)]
}

# The same results with other samples.
with_samples <- function(results, samples) {
  results$samples <- samples
  results$tails <- NULL
  results
}

no_samples <- function() {
  data.table(
    operation = character(), bytes = integer(), repetition = integer(), calls = integer(),
    time_s = numeric(), valid = logical()
  )
}

# The sample file of a launch, as named by its description, packed or not, in the same folder.
sample_file <- function(description, name) {
  own <- sub("[.]json$", ".csv", basename(description))
  name <- basename_bytes(name)
  if (sub("[.]gz$", "", name) != own) {
    bad_member(
      description, c("samples", "file"),
      sprintf("the samples %s are not those of this launch (%s)", quoted(name), own),
      "delete the description and measure the launch again"
    )
  }
  path <- file.path(dirname(description), name)
  packed <- if (endsWith(path, ".gz")) sub("[.]gz$", "", path) else paste0(path, ".gz")
  found <- c(path, packed)[file.exists(c(path, packed))]
  if (!length(found)) {
    bad_member(
      description, c("samples", "file"),
      sprintf("status ok, but %s is not beside it", basename(path)),
      "restore the samples, or delete the description and measure the launch again"
    )
  }
  found[[1L]]
}
