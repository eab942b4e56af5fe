# SPDX-License-Identifier: BSD-3-Clause
# One launch description (JSON) -> one flat row.

#' Read a launch description of either version and check it against the schema.
#'
#' @param file path of `LAUNCH.json`.
#' @return the parsed object, nested lists.
#' @noRd
parse_description <- function(file) {
  launch <- parse_json_file(file)
  if (!isTRUE(launch$schema %in% LAUNCH_SCHEMAS)) {
    bad_data(
      file, line_of_member(file, "schema"),
      sprintf("schema %s, not \"%s\"", deparse(launch$schema), LAUNCH_SCHEMAS[[1L]]),
      "read it with the version of cotejo that wrote it"
    )
  }
  check_members(launch, LAUNCH_MEMBERS, file)
  check_optional(launch, OPTIONAL_MEMBERS$launch, file)
  check_members(launch$asked, ASKED_MEMBERS, file, "asked")
  check_optional(launch$asked, OPTIONAL_MEMBERS$asked, file, "asked")
  check_known(launch$status, STATUSES, file, "status")
  if (launch$id != sub("\\.json$", "", basename(file))) {
    bad_data(
      file, line_of_member(file, "id"), sprintf("id \"%s\" is not the file's name", launch$id),
      "do not rename launches"
    )
  }
  if (!is.null(launch$asked$block) && launch$asked$block != launch$asked$launch) {
    bad_data(
      file, line_of_member(file, c("asked", "block")), "asked.block is not asked.launch",
      "a launch's number is its block"
    )
  }
  if (launch$status %in% RAN) check_ran(launch, file)
  launch
}

#' Check what a launch must hold that ran.
#' @noRd
check_ran <- function(launch, file) {
  members <- c(wall_s = "number", reported = "object", observed = "object", samples = "object")
  check_members(launch, members, file)
  seen <- launch$observed
  check_members(seen, OBSERVED_MEMBERS, file, "observed")
  check_optional(seen, OPTIONAL_MEMBERS$observed, file, "observed")
  # Version 1 describes the host of rank 0, version 2 all of them.
  if (!length(seen$nodes)) {
    check_members(seen, c(node = "object"), file, "observed")
  } else {
    check_each(seen$nodes, NODE_MEMBERS, file, c("observed", "nodes"))
  }
  check_each(seen$ranks, RANK_MEMBERS, file, c("observed", "ranks"))
  check_each(seen$layout$buffers, BUFFER_MEMBERS, file, c("observed", "layout", "buffers"))
  check_members(launch$samples, SAMPLES_MEMBERS, file, "samples")
  check_optional(launch$samples, OPTIONAL_MEMBERS$samples, file, "samples")
  check_each(launch$samples$columns, COLUMN_MEMBERS, file, c("samples", "columns"))
  for (column in launch$samples$columns) {
    if (!is.null(column$role)) {
      check_known(column$role, ROLES, file, c("samples", "columns", "role"))
    }
  }
  for (operation in names(launch$samples$quantities)) {
    check_known(
      launch$samples$quantities[[operation]], QUANTITIES, file,
      c("samples", "quantities", operation)
    )
  }
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
  ranks <- ranks_in_order(seen$ranks)
  # Those that become columns, too, as texts once for all.
  for (name in c("settings", "parameters")) asked[[name]] <- lapply(asked[[name]], text_of)
  for (name in c("options", "found")) seen[[name]] <- lapply(seen[[name]], text_of)
  row <- list(
    key = paste(asked$site, asked$session, launch$id, sep = "/"),
    id = launch$id, status = launch$status, reason = launch$reason,
    started = launch$started, wall_s = number(launch$wall_s),
    simulated = launch$simulated, site = asked$site, session = asked$session,
    experiment = asked$experiment, test = asked$test, scale = asked$scale,
    # The launch's number is its block's; `launch` is what version 1 called it.
    launch = as.integer(asked$launch), seed = as.numeric(asked$seed),
    mpi = asked$mpi, algorithms = algorithms_of(asked), transport = asked$transport,
    placement = asked$placement, cpus = join(asked$cpus), hosts = as.integer(asked$hosts),
    ranks = as.integer(asked$ranks), settings = canonical(asked$settings),
    parameters = canonical(asked$parameters), time_limit_s = as.numeric(asked$time_limit_s),
    command = launch$command, environment = canonical(launch$environment),
    accident_kind = scalar(launch$accident$kind),
    accident_evidence = scalar(launch$accident$evidence),
    allocation = allocation_of(launch$allocation),
    allocation_nodes = scalar(launch$allocation$nodes),
    machine = scalar(launch$machine$id), machine_hosts = scalar(launch$machine$hosts),
    proof = canonical(launch$proof), measuring = measuring_of(launch$provenance),
    program_sha256 = scalar(launch$provenance$program_sha256),
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
    observed_cpus = per_rank(ranks, "cpus"), observed_cores = per_rank(ranks, "cores"),
    observed_numa = per_rank(ranks, "numa"),
    observed_package = per_rank(ranks, "package"),
    observed_hosts = per_rank(ranks, "host"), timer = scalar(seen$timer$name),
    timer_resolution_s = number(seen$timer$resolution_s),
    timer_overhead_s = number(seen$timer$overhead_s),
    arrival_last_s = number(seen$arrival$last_s),
    payload_bytes = number(seen$payload_bytes), payload_checked = flag(seen$payload_checked)
  )
  c(
    row, observed, flatten_nodes(seen), flatten_circumstances(seen),
    spread_members(asked$settings, "setting_"), spread_members(asked$parameters, "parameter_"),
    spread_members(seen$options, "option_"), spread_members(seen$found, "found_"),
    list(file = file)
  )
}

#' The hosts of a launch: of every rank in version 2, of rank 0 in version 1. Words that differ
#' between hosts are joined; numbers are those of rank 0's host, the load is the highest.
#' @noRd
flatten_nodes <- function(seen) {
  nodes <- if (!length(seen$nodes)) list(seen$node) else seen$nodes
  words <- function(name) {
    values <- unique(vapply(nodes, function(node) scalar(node[[name]]), ""))
    if (all(is.na(values))) NA_character_ else paste(values, collapse = "; ")
  }
  first <- nodes[[1L]]
  loads <- vapply(nodes, function(node) number(node$load_1min), 0)
  list(
    kernel = words("kernel"), cpu_model = words("cpu_model"), governor = words("governor"),
    node_cores = number(first$cores), memory_bytes = number(first$memory_bytes),
    cache_bytes = number(first$cache_bytes),
    load_1min = if (all(is.na(loads))) NA_real_ else max(loads, na.rm = TRUE)
  )
}

#' What version 2 observes of a launch's circumstances; unknown (`NA`) in version 1.
#' @noRd
flatten_circumstances <- function(seen) {
  machine <- seen$machine
  of_ranks <- function(name) {
    if (is.null(seen$disturbed)) {
      return(NA_real_)
    }
    sum(vapply(seen$disturbed, function(part) {
      length_of_list(part$ranks) * number(part[[name]])
    }, 0))
  }
  list(
    layout = layout_of(seen$layout, seen$size), layout_name = scalar(seen$layout$name),
    order_how = scalar(seen$order$how), order_seed = number(seen$order$seed),
    overhead_sample_s = number(seen$overhead$sample_s),
    overhead_call_s = number(seen$overhead$call_s),
    overhead_clock_s = number(seen$overhead$clock_s),
    involuntary_switches = of_ranks("involuntary_switches"), migrations = of_ranks("migrations"),
    major_faults = of_ranks("major_faults"), steal_s = number(machine$steal_s),
    throttled_s = number(machine$throttled_s), quota_cores = number(machine$quota_cores),
    thp = scalar(machine$thp), pit_offset = number(machine$pit$offset),
    pit_ratio = number(machine$pit$ratio), traps = traps_text(machine$traps),
    steering = canonical_or_na(seen$environment)
  )
}

#' Where buffers began in their page, as one text that is the same for equal layouts. Ranks are
#' named only where they differ, so that layouts of different numbers of ranks can be equal.
#' @noRd
layout_of <- function(layout, size) {
  if (is.null(layout)) {
    return(NA_character_)
  }
  places <- vapply(layout$buffers, function(buffer) {
    all_ranks <- length_of_list(buffer$ranks) == number(size)
    paste0(
      buffer$buffer, " at ", text_of(buffer$offset),
      if (!is.null(buffer$device)) paste(" of device", text_of(buffer$device)),
      if (!all_ranks) sprintf(" (ranks %s)", buffer$ranks)
    )
  }, "")
  # Launches from before there was a choice say nothing of the host's memory.
  elsewhere <- setdiff(layout$memory, "host")
  paste(c(
    sprintf("page of %s B", scalar(layout$page_bytes)),
    if (length(elsewhere)) paste(elsewhere, "memory"), sort(places, method = "radix")
  ), collapse = ", ")
}

#' How many numbers a list in Linux's syntax has: 5 for "0-3,8".
#' @noRd
length_of_list <- function(text) {
  ends <- strsplit(strsplit(text, ",", fixed = TRUE)[[1L]], "-", fixed = TRUE)
  sum(vapply(ends, function(end) diff(range(as.numeric(end))) + 1, 0))
}

allocation_of <- function(allocation) {
  if (is.null(allocation)) NA_character_ else paste(allocation$scheduler, scalar(allocation$id))
}

#' What tells versions of the measuring programs apart: their hash in version 2, the commit before.
#' @noRd
measuring_of <- function(provenance) {
  known <- scalar(provenance$measuring_sha256)
  if (!is.na(known)) {
    return(known)
  }
  paste0(scalar(provenance$commit), if (isTRUE(provenance$dirty)) ", changed")
}

canonical_or_na <- function(object) if (is.null(object)) NA_character_ else canonical(object)

scalar <- function(value) {
  if (is.character(value) && length(value) == 1L) {
    return(value)
  }
  if (is.null(value) || is.list(value) && !length(value)) NA_character_ else join(value)
}
number <- function(value) if (is.null(value)) NA_real_ else as.numeric(value)
flag <- function(value) if (is.null(value)) NA else isTRUE(value)

join <- function(value, by = ",") {
  if (is.character(value) && length(value) == 1L) {
    return(value)
  }
  paste(vapply(value, text_of, ""), collapse = by)
}

# One text for one JSON value: whole numbers without an exponent, others with all their digits.
text_of <- function(value) {
  if (is.character(value)) {
    value
  } else if (is.null(value)) {
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

spread_members <- function(object, prefix) {
  if (!length(object)) {
    return(list())
  }
  stats::setNames(lapply(object, text_of), paste0(prefix, names(object)))
}

# Of ranks in their order.
per_rank <- function(ranks, member) {
  if (!length(ranks)) {
    return(NA_character_)
  }
  paste(vapply(ranks, function(r) join(r[[member]]), ""), collapse = "|")
}

ranks_in_order <- function(ranks) {
  ranks[order(vapply(ranks, function(r) as.numeric(r$rank), 0))]
}

#' Whose algorithms a launch ran: the MPI's own, or in a simulation those it was told to take.
#' @noRd
algorithms_of <- function(asked) {
  chosen <- old_names()$selectors[scalar(asked$settings$coll_selector)]
  if (length(chosen) && !is.na(chosen)) unname(chosen) else asked$mpi
}
