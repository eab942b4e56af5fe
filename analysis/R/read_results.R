# SPDX-License-Identifier: BSD-3-Clause
# All launches below a folder -> one table of launches, one of samples.

#' Read results.
#'
#' Reads every `LAUNCH.json` below `dir` (all sites and sessions) and the samples of those whose
#' status is `ok`. Failed and marked launches are listed, their samples are not read. Strict: an
#' error of class `cotejo_bad_data` names the first file and line that is not as docs/data.md
#' says. A `LAUNCH.csv` without its JSON is a launch that did not happen, and is left alone.
#'
#' @param dir `results`, or a site's or session's folder in it.
#' @return list of two data.tables:
#'   `launches`, one row a launch: `key` (site/session/id), what was asked and what was observed
#'   (seconds, bytes; lists over ranks joined by `|`), and one text column for each setting,
#'   parameter and effective option (`setting_*`, `parameter_*`, `option_*`);
#'   `samples`, one row a sample: `key` (factor with the levels of `launches$key`), `operation`,
#'   `bytes` (B), `repetition`, `calls`, `time_s` (s, one operation), `valid` (logical), and
#'   the experiments' further columns.
#'   The attribute `roles` of `samples` says what the further columns are: `factor` (no unit: it
#'   tells samples apart, such as `pairs`) or `measure` (it has a unit).
#' @export
read_results <- function(dir) {
  if (!dir.exists(dir)) {
    bad_data(dir, NA, "no such folder", "name the folder that holds SITE/SESSION/*.json")
  }
  files <- list.files(dir, pattern = "[.]json$", recursive = TRUE, full.names = TRUE)
  files <- sort(files[!basename(files) %in% c("session.json", "audit.json")], method = "radix")
  if (!length(files)) {
    bad_data(dir, NA, "no launch in it", "measure something first, or name another folder")
  }
  parts <- over_cores(files, read_launches)
  launches <- rbindlist(lapply(parts, `[[`, "launches"), use.names = TRUE, fill = TRUE)
  roles <- character()
  for (part in parts) {
    for (file in names(part$columns)) roles <- merge_roles(roles, part$columns[[file]], file)
  }
  twice <- anyDuplicated(launches$key)
  if (twice) {
    bad_data(
      launches$file[[twice]], NA, sprintf("launch %s is there twice", launches$key[[twice]]),
      "keep one copy of each session"
    )
  }
  lengths <- unlist(lapply(parts, `[[`, "lengths"))
  samples <- rbindlist(lapply(parts, `[[`, "samples"), use.names = TRUE, fill = TRUE)
  rm(parts)
  if (nrow(samples)) set(samples, j = "operation", value = as.character(samples$operation))
  key <- structure(rep.int(seq_along(files), lengths), levels = launches$key, class = "factor")
  if (!nrow(samples)) samples <- no_samples()
  set(samples, j = "key", value = key)
  setcolorder(samples, "key")
  setattr(samples, "roles", roles)
  list(launches = launches, samples = samples)
}

#' Read some launches.
#'
#' @param files paths of launch descriptions.
#' @return list: `launches` (a row each), `samples` (of all, in their order, `operation` a factor),
#'   `lengths` (rows of samples of each launch), `columns` (what the descriptions say of the
#'   samples' columns, named by the first file that says so).
#' @noRd
read_launches <- function(files) {
  rows <- vector("list", length(files))
  samples <- vector("list", length(files))
  columns <- list()
  for (i in seq_along(files)) {
    launch <- parse_description(files[[i]])
    rows[[i]] <- flatten_description(launch, files[[i]])
    if (launch$status == "ok") {
      found <- rbindlist(lapply(launch$samples$columns, `[`, c("name", "unit")))
      file <- sample_file(files[[i]], launch$samples$file)
      samples[[i]] <- read_samples(file, found, launch$samples$rows)
      if (!Position(function(c) identical(c, launch$samples$columns), columns, nomatch = 0L)) {
        columns[[files[[i]]]] <- launch$samples$columns
      }
    }
  }
  lengths <- vapply(samples, function(s) if (is.null(s)) 0L else nrow(s), 0L)
  samples <- rbindlist(samples, use.names = TRUE, fill = TRUE)
  # Numbers pass between processes much faster than texts.
  if (nrow(samples)) set(samples, j = "operation", value = factor(samples$operation))
  list(
    launches = rbindlist(rows, use.names = TRUE, fill = TRUE), samples = samples,
    lengths = lengths, columns = columns
  )
}

#' Apply a function to parts of a vector or list, in as many processes as there are cores, two at
#' most.
#'
#' @param parts_of what is cut in two.
#' @param f takes a part; its first error is this function's.
#' @param work how much it is, in files.
#' @return list of what `f` returned, in order.
#' @noRd
over_cores <- function(parts_of, f, work = length(parts_of)) {
  # Fewer files than this are read sooner than processes are started.
  worth_it <- getOption("cotejo.forking", 400L)
  cores <- if (work < worth_it || length(parts_of) < 2L || .Platform$OS.type != "unix") {
    1L
  } else {
    min(2L, length(parallel::mcaffinity(NULL)), na.rm = TRUE)
  }
  if (cores < 2L) {
    return(list(f(parts_of)))
  }
  half <- seq_along(parts_of) > length(parts_of) / 2
  parts <- parallel::mclapply(split(parts_of, half), function(part) {
    setDTthreads(1L)
    tryCatch(f(part), error = identity)
  }, mc.cores = cores)
  for (part in parts) {
    if (inherits(part, "condition")) stop(part)
    if (is.null(part)) refuse("a process of the analysis was ended: is there enough memory?")
  }
  unname(parts)
}

no_samples <- function() {
  data.table(
    operation = character(), bytes = integer(), repetition = integer(), calls = integer(),
    time_s = numeric(), valid = logical()
  )
}

#' The sample file of a launch: as its description names it, packed or not, beside it.
#' @noRd
sample_file <- function(description, name) {
  path <- file.path(dirname(description), basename(name))
  packed <- if (endsWith(path, ".gz")) sub("[.]gz$", "", path) else paste0(path, ".gz")
  found <- c(path, packed)[file.exists(c(path, packed))]
  if (!length(found)) {
    bad_data(
      description, line_of_member(description, c("samples", "file")),
      sprintf("status ok, but %s is not beside it", basename(path)),
      "restore the samples, or delete the description and measure the launch again"
    )
  }
  found[[1L]]
}

#' Add the further columns of one launch to the known roles; a column cannot have two.
#' @noRd
merge_roles <- function(roles, columns, file) {
  for (column in columns) {
    if (column$name %in% SAMPLE_COLUMNS) next
    role <- if (nzchar(column$unit)) "measure" else "factor"
    if (!roles[column$name] %in% c(NA, role)) {
      bad_data(
        file, line_of_member(file, c("samples", "columns", column$name)),
        sprintf("column %s has a unit here and none in another launch", column$name),
        "give a column one meaning in all experiments"
      )
    }
    roles[[column$name]] <- role
  }
  roles
}
