# SPDX-License-Identifier: BSD-3-Clause
# One launch description (JSON) -> one flat row.

#' Read a launch description and check it against the schema.
#'
#' @param file path of `LAUNCH.json`.
#' @return the parsed object, nested lists.
#' @noRd
parse_description <- function(file) {
  launch <- parse_json_file(file)
  if (!identical(launch$schema, LAUNCH_SCHEMA)) {
    bad_data(
      file, line_of_member(file, "schema"),
      sprintf("schema %s, not \"%s\"", deparse(launch$schema), LAUNCH_SCHEMA),
      "read it with the version of cotejo that wrote it"
    )
  }
  check_members(launch, LAUNCH_MEMBERS, file)
  check_members(launch$asked, ASKED_MEMBERS, file, "asked")
  if (!launch$status %in% c("ok", "marked", "failed")) {
    bad_data(
      file, line_of_member(file, "status"), sprintf("status \"%s\"", launch$status),
      "it must be ok, marked or failed"
    )
  }
  if (launch$id != sub("\\.json$", "", basename(file))) {
    bad_data(
      file, line_of_member(file, "id"), sprintf("id \"%s\" is not the file's name", launch$id),
      "do not rename launches"
    )
  }
  if (launch$status != "failed") check_ran(launch, file)
  launch
}

#' Check what a launch must hold that ran.
#' @noRd
check_ran <- function(launch, file) {
  members <- c(wall_s = "number", reported = "object", observed = "object", samples = "object")
  check_members(launch, members, file)
  check_members(launch$observed, OBSERVED_MEMBERS, file, "observed")
  check_each(launch$observed$ranks, RANK_MEMBERS, file, c("observed", "ranks"))
  check_members(launch$samples, SAMPLES_MEMBERS, file, "samples")
  check_each(launch$samples$columns, COLUMN_MEMBERS, file, c("samples", "columns"))
}

#' Parse a JSON file that holds one object (or a list, where that is expected); what does not
#' parse is refused with the line where the text ends or breaks.
#' @noRd
parse_json_file <- function(file, type = "object") {
  text <- readChar(file, file.size(file), useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  parsed <- tryCatch(
    jsonlite::parse_json(text, simplifyVector = FALSE),
    error = function(e) {
      fault <- strsplit(conditionMessage(e), "\n", fixed = TRUE)[[1L]][[1L]]
      bad_data(
        file, broken_line(text), paste("not JSON:", fault),
        "the file is damaged: restore it, or delete it and measure the launch again"
      )
    }
  )
  if (!has_type(parsed, type)) {
    bad_data(file, 1L, paste("not one JSON", type), "write it as docs/data.md says")
  }
  parsed
}

#' The first line up to which the text cannot be completed to JSON: the shortest head of lines
#' in which the parser fails before the end of what it was given.
#' @noRd
broken_line <- function(text) {
  lines <- strsplit(text, "\n", fixed = TRUE)[[1L]]
  fails_early <- function(n) {
    fault <- tryCatch(
      {
        jsonlite::parse_json(paste(lines[seq_len(n)], collapse = "\n"))
        ""
      },
      error = conditionMessage
    )
    nzchar(fault) && !grepl("premature EOF", fault, fixed = TRUE)
  }
  low <- 0L
  high <- length(lines)
  if (high == 0L || !fails_early(high)) {
    return(max(high, 1L))
  }
  while (high - low > 1L) {
    middle <- (low + high) %/% 2L
    if (fails_early(middle)) high <- middle else low <- middle
  }
  high
}

#' Flatten a launch description to one row.
#'
#' Objects with free members become a canonical text (`a=1; b=2`, sorted by name) and one text
#' column a member, with the prefix `setting_`, `parameter_`, `option_` or `found_`. Lists over
#' ranks are joined by `|` in the order of the ranks.
#'
#' @param launch what [parse_description()] returned.
#' @param file its path, kept as `file`.
#' @return a named list of scalars.
#' @noRd
flatten_description <- function(launch, file) {
  asked <- launch$asked
  seen <- launch$observed
  row <- list(
    key = paste(asked$site, asked$session, launch$id, sep = "/"),
    id = launch$id, status = launch$status, reason = launch$reason,
    started = launch$started, wall_s = number(launch$wall_s),
    simulated = launch$simulated, site = asked$site, session = asked$session,
    experiment = asked$experiment, test = asked$test, scale = asked$scale,
    launch = as.integer(asked$launch), seed = as.numeric(asked$seed),
    mpi = asked$mpi, algorithms = algorithms_of(asked), transport = asked$transport,
    placement = asked$placement, cpus = join(asked$cpus), hosts = as.integer(asked$hosts),
    ranks = as.integer(asked$ranks), settings = canonical(asked$settings),
    parameters = canonical(asked$parameters), time_limit_s = as.numeric(asked$time_limit_s),
    command = launch$command, environment = canonical(launch$environment),
    commit = scalar(launch$provenance$commit), dirty = scalar(launch$provenance$dirty),
    provider = scalar(launch$provenance$stack$provider),
    lock_sha256 = scalar(launch$provenance$stack$lock_sha256),
    reframe = scalar(launch$provenance$reframe),
    reported_transport = scalar(launch$reported$transport),
    reported_evidence = scalar(launch$reported$evidence)
  )
  observed <- list(
    program = scalar(seen$program), version = scalar(seen$version),
    observed_experiment = scalar(seen$experiment), options = canonical(seen$options),
    library = scalar(seen$mpi$library), standard = scalar(seen$mpi$standard),
    thread_level = scalar(seen$mpi$thread_level), compiler = scalar(seen$build$compiler),
    flags = scalar(seen$build$flags), mpi_header = scalar(seen$build$mpi_header),
    libraries = join(seen$build$libraries), size = scalar(seen$size),
    observed_cpus = per_rank(seen$ranks, "cpus"), observed_cores = per_rank(seen$ranks, "cores"),
    observed_numa = per_rank(seen$ranks, "numa"),
    observed_package = per_rank(seen$ranks, "package"),
    observed_hosts = per_rank(seen$ranks, "host"), timer = scalar(seen$timer$name),
    timer_resolution_s = number(seen$timer$resolution_s),
    timer_overhead_s = number(seen$timer$overhead_s), kernel = scalar(seen$node$kernel),
    cpu_model = scalar(seen$node$cpu_model), governor = scalar(seen$node$governor),
    node_cores = number(seen$node$cores), memory_bytes = number(seen$node$memory_bytes),
    cache_bytes = number(seen$node$cache_bytes), load_1min = number(seen$node$load_1min),
    payload_bytes = number(seen$payload_bytes), payload_checked = flag(seen$payload_checked)
  )
  c(
    row, observed, spread(asked$settings, "setting_"), spread(asked$parameters, "parameter_"),
    spread(seen$options, "option_"), spread(seen$found, "found_"), list(file = file)
  )
}

scalar <- function(value) {
  if (is.null(value) || is.list(value) && !length(value)) NA_character_ else join(value)
}
number <- function(value) if (is.null(value)) NA_real_ else as.numeric(value)
flag <- function(value) if (is.null(value)) NA else isTRUE(value)

join <- function(value, by = ",") {
  paste(vapply(value, text_of, ""), collapse = by)
}

# One text for one JSON value: whole numbers without an exponent, others with all their digits.
text_of <- function(value) {
  if (is.null(value)) {
    "null"
  } else if (is.list(value)) {
    join(value)
  } else if (is.numeric(value) && value == trunc(value) && abs(value) < 1e15) {
    # Many times as quick as format(), and thousands of launches have a hundred numbers each.
    sprintf("%.0f", value)
  } else if (is.numeric(value)) {
    format(value, digits = 15L, scientific = abs(value) >= 1e15, trim = TRUE)
  } else if (is.logical(value)) {
    tolower(value)
  } else {
    as.character(value)
  }
}

canonical <- function(object) {
  if (!length(object)) {
    return("")
  }
  object <- object[order(names(object), method = "radix")]
  paste0(names(object), "=", vapply(object, text_of, ""), collapse = "; ")
}

spread <- function(object, prefix) {
  if (!length(object)) {
    return(list())
  }
  stats::setNames(lapply(object, text_of), paste0(prefix, names(object)))
}

per_rank <- function(ranks, member) {
  if (!length(ranks)) {
    return(NA_character_)
  }
  order_of_ranks <- order(vapply(ranks, function(r) as.numeric(r$rank), 0))
  paste(vapply(ranks[order_of_ranks], function(r) join(r[[member]]), ""), collapse = "|")
}

# SimGrid's names of the libraries whose choice of algorithms it knows.
SELECTORS <- c(
  ompi = "openmpi", mpich = "mpich", mvapich2 = "mvapich", impi = "intel-mpi"
)

#' Whose algorithms a launch ran: the MPI's own, or in a simulation those it was told to take.
#' @noRd
algorithms_of <- function(asked) {
  chosen <- SELECTORS[scalar(asked$settings$coll_selector)]
  if (length(chosen) && !is.na(chosen)) unname(chosen) else asked$mpi
}
