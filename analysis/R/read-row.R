# SPDX-License-Identifier: BSD-3-Clause
# Converts one parsed launch description to one flat row.

# The last result for each use, with its input.
said_before <- new.env(parent = emptyenv())

#' The result of a function, computed again only if the value differs from that of the last call.
#' Launches of one cell, and most launches of a session, have most values in common.
#'
#' @param use a name for the result.
#' @noRd
as_before <- function(use, value, make) {
  known <- said_before[[use]]
  if (is.null(known) || !identical(known$value, value)) {
    known <- list(value = value, made = make(value))
    said_before[[use]] <- known
  }
  known$made
}

#' Flatten a launch description to one row.
#'
#' Objects with free members become a canonical text (`a=1; b=2`, sorted by name) and one text
#' column per member, with the prefix `setting_`, `parameter_`, `option_` or `found_`. Lists over
#' ranks are joined by `|` in the order of the ranks.
#'
#' @param launch what [parse_description()] returned.
#' @param file its path, kept as `file`.
#' @return a named list of scalars.
#' @noRd
flatten_description <- function(launch, file) {
  asked <- launch$asked
  seen <- launch$observed
  settings <- members_of(asked$settings, "setting_")
  parameters <- members_of(asked$parameters, "parameter_")
  options <- members_of(seen$options, "option_")
  found <- members_of(seen$found, "found_")
  row <- list(
    key = paste(asked$site, asked$session, launch$id, sep = "/"),
    id = launch$id, status = launch$status, reason = launch$reason,
    started = launch$started, wall_s = number(launch$wall_s),
    simulated = launch$simulated, site = asked$site, session = asked$session,
    experiment = asked$experiment, test = asked$test, scale = asked$scale,
    # The launch's number is that of its block; `launch` is the name in version 1.
    launch = as.integer(asked$launch), seed = number(asked$seed),
    mpi = asked$mpi, algorithms = algorithms_of(asked), transport = asked$transport,
    placement = asked$placement, cpus = join(asked$cpus), hosts = as.integer(asked$hosts),
    ranks = as.integer(asked$ranks), settings = settings$text, parameters = parameters$text,
    time_limit_s = as.numeric(asked$time_limit_s), command = launch$command,
    environment = as_before("environment", launch$environment, canonical),
    accident_kind = scalar(launch$accident$kind),
    accident_evidence = scalar(launch$accident$evidence),
    allocation = allocation_of(launch$allocation),
    allocation_nodes = scalar(launch$allocation$nodes),
    fingerprint = as_before("fingerprint", launch$fingerprint$parts, fingerprint_of),
    machine = scalar(launch$machine$id), machine_hosts = scalar(launch$machine$hosts),
    proof = canonical(launch$proof),
    # The settings for which the launch could not show an effect.
    no_effect = toString(names(Filter(
      \(one) text_of(one$status) == "none shown", launch$effects
    ))),
    ran = as_before("ran", launch$algorithms, \(ran) join_entries(ran, RAN_MEMBERS))
  )
  reported <- list(
    reported_transport = scalar(launch$reported$transport),
    reported_evidence = scalar(launch$reported$evidence),
    reported_decisions = scalar(launch$reported$decisions)
  )
  observed <- list(
    program = scalar(seen$program), version = scalar(seen$version),
    observed_experiment = scalar(seen$experiment), options = options$text,
    library = scalar(seen$mpi$library), standard = scalar(seen$mpi$standard),
    thread_level = scalar(seen$mpi$thread_level), compiler = scalar(seen$build$compiler),
    flags = scalar(seen$build$flags), mpi_header = scalar(seen$build$mpi_header),
    libraries = as_before("libraries", seen$build$libraries, join), size = scalar(seen$size)
  )
  measured <- list(
    timer = scalar(seen$timer$name),
    timer_resolution_s = number(seen$timer$resolution_s),
    timer_overhead_s = number(seen$timer$overhead_s),
    arrival_last_s = number(seen$arrival$last_s),
    payload_bytes = number(seen$payload_bytes), payload_checked = flag(seen$payload_checked)
  )
  c(
    row, as_before("provenance", launch$provenance, flatten_provenance), reported, observed,
    as_before("ranks", seen[c("size", "ranks", "cores", "places")], flatten_ranks), measured,
    flatten_nodes(seen), flatten_circumstances(seen), settings$columns, parameters$columns,
    options$columns, found$columns, list(file = file)
  )
}

# The observed state of a launch as one text: the name and the hash of each part. `NA` for
# launches without this record.
fingerprint_of <- function(parts) {
  if (!length(parts)) {
    return(NA_character_)
  }
  parts <- parts[order(names(parts), method = "radix")]
  sums <- vapply(parts, function(part) substr(rlang::hash(text_of(part)), 1L, 12L), "")
  paste0(gsub("[=;]", "", names(parts)), "=", sums, collapse = ";")
}

# An object with free members: its canonical `text`, and its `columns`.
members_of <- function(object, prefix) {
  as_before(prefix, object, function(object) {
    texts <- lapply(object, text_of)
    names <- paste0(prefix, names(object), recycle0 = TRUE)
    list(text = canonical(texts), columns = stats::setNames(texts, names))
  })
}

flatten_provenance <- function(provenance) {
  list(
    measuring = measuring_of(provenance), program_sha256 = scalar(provenance$program_sha256),
    commit = scalar(provenance$commit), dirty = scalar(provenance$dirty),
    provider = scalar(provenance$stack$provider),
    lock_sha256 = scalar(provenance$stack$lock_sha256), reframe = scalar(provenance$reframe)
  )
}

flatten_ranks <- function(seen) {
  ranks <- seen$ranks[order(vapply(seen$ranks, function(r) as.numeric(r$rank), 0))]
  # Beyond 256 ranks, those of the same cores or of one place share an entry.
  if (length(seen$cores)) ranks <- vector("list", min(number(seen$size), MOST_RANKS))
  for (part in c(seen$cores, seen$places)) {
    for (end in ends_of_list(part$ranks)) {
      here <- which(seq_along(ranks) > end[1L] & seq_along(ranks) <= end[2L] + 1)
      ranks[here] <- lapply(ranks[here], c, part)
    }
  }
  list(
    observed_cpus = per_rank(ranks, "cpus"), observed_cores = per_rank(ranks, "cores"),
    observed_numa = per_rank(ranks, "numa"), observed_package = per_rank(ranks, "package"),
    observed_hosts = per_rank(ranks, "host")
  )
}

# The hosts of a launch: of every rank in version 2, of rank 0 in version 1. Texts that differ
# between hosts are joined; numbers are those of rank 0's host; the load is the highest.
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

# The circumstances of a launch as observed by version 2; unknown (`NA`) in version 1.
flatten_circumstances <- function(seen) {
  machine <- seen$machine
  count <- vapply(seen$disturbed, function(part) length_of_list(part$ranks), 0)
  of_ranks <- function(name) {
    if (is.null(seen$disturbed)) {
      return(NA_real_)
    }
    sum(count * vapply(seen$disturbed, function(part) number(part[[name]]), 0))
  }
  list(
    layout = as_before("layout", seen[c("layout", "size")], \(of) layout_of(of$layout, of$size)),
    layout_name = scalar(seen$layout$name),
    order_how = scalar(seen$order$how), order_seed = number(seen$order$seed),
    overhead_sample_s = number(seen$overhead$sample_s),
    overhead_call_s = number(seen$overhead$call_s),
    overhead_clock_s = number(seen$overhead$clock_s),
    involuntary_switches = of_ranks("involuntary_switches"), migrations = of_ranks("migrations"),
    major_faults = of_ranks("major_faults"), steal_s = number(machine$steal_s),
    throttled_s = number(machine$throttled_s), quota_cores = number(machine$quota_cores),
    thp = scalar(machine$thp), pit_offset = number(machine$pit$offset),
    pit_ratio = number(machine$pit$ratio), traps = join_entries(machine$traps, TRAP_MEMBERS),
    steering = if (is.null(seen$environment)) NA_character_ else canonical(seen$environment)
  )
}

# The offsets of buffers within their page, as one text that is the same for equal layouts. Ranks
# are named only if they differ, so that layouts of different numbers of ranks can be equal.
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
  # Older launches do not record the kind of memory; they used the host's memory.
  elsewhere <- setdiff(layout$memory, "host")
  paste(c(
    sprintf("page of %s B", scalar(layout$page_bytes)),
    if (length(elsewhere)) paste(elsewhere, "memory"), sort(places, method = "radix")
  ), collapse = ", ")
}

# The ends of the ranges of a list in Linux's syntax: 0, 3 and 8, 8 for "0-3,8".
ends_of_list <- function(text) {
  ends <- strsplit(strsplit(text, ",", fixed = TRUE)[[1L]], "-", fixed = TRUE)
  lapply(ends, function(end) range(as.numeric(end)))
}

# Count of numbers in a list in Linux's syntax: 5 for "0-3,8".
length_of_list <- function(text) {
  sum(vapply(ends_of_list(text), function(end) diff(end) + 1, 0))
}

allocation_of <- function(allocation) {
  if (is.null(allocation)) NA_character_ else paste(allocation$scheduler, scalar(allocation$id))
}

# The identity of the measuring programs: their hash in version 2, the commit in version 1.
measuring_of <- function(provenance) {
  known <- scalar(provenance$measuring_sha256)
  if (!is.na(known)) {
    return(known)
  }
  paste0(scalar(provenance$commit), if (isTRUE(provenance$dirty)) ", changed")
}

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

# One text for one JSON value: integers without an exponent, other numbers with all their digits.
text_of <- function(value) {
  if (is.character(value)) {
    value
  } else if (is.null(value)) {
    "null"
  } else if (is.list(value)) {
    join(value)
  } else if (is.numeric(value) && value == trunc(value) && abs(value) < 1e15) {
    # Much faster than format(), and thousands of launches have a hundred numbers each.
    sprintf("%.0f", value)
  } else if (is.numeric(value)) {
    format(value, digits = 15L, scientific = abs(value) >= 1e15, trim = TRUE)
  } else if (is.logical(value)) {
    tolower(value)
  } else {
    as.character(value)
  }
}

canonical <- function(object, by = "; ") {
  if (!length(object)) {
    return("")
  }
  object <- object[order(names(object), method = "radix")]
  paste0(names(object), "=", vapply(object, text_of, ""), collapse = by)
}

# Values of one member for all ranks, in the order of the ranks.
per_rank <- function(ranks, member) {
  if (!length(ranks)) {
    return(NA_character_)
  }
  paste(vapply(ranks, function(r) join(r[[member]]), ""), collapse = "|")
}

# The MPI whose algorithms a launch ran: its own, or in a simulation the selected one.
algorithms_of <- function(asked) {
  chosen <- words_for("selectors")[scalar(asked$settings$coll_selector)]
  if (length(chosen) && !is.na(chosen)) unname(chosen) else asked$mpi
}

# Members of the traps of a launch, and of the record of the algorithms that ran in it.
TRAP_MEMBERS <- c("trap", "found", "cure")
RAN_MEMBERS <- c("operation", "bytes", "words", "sends")
# The most ranks that are read, as in `results.schema.json`.
MOST_RANKS <- 131072
# Separators between the entries of a list, and between the members of an entry.
ENTRIES <- " | "
ENTRY_PARTS <- " ~ "

# Members of a list of objects as one text; `NA` without a list. `split_entries()` reads it.
join_entries <- function(objects, members) {
  if (is.null(objects)) {
    return(NA_character_)
  }
  paste(vapply(objects, function(object) {
    values <- vapply(object[members], text_of, "")
    paste(gsub("[|~]", "-", values), collapse = ENTRY_PARTS)
  }, ""), collapse = ENTRIES)
}

# A table of the members that `join_entries()` joined: `text` is the number of the text, and one
# column for each member.
split_entries <- function(texts, members) {
  entries <- strsplit(texts, ENTRIES, fixed = TRUE)
  all <- unlist(entries)
  if (!length(all)) {
    return(data.table())
  }
  # `strsplit()` leaves out an empty last part, which then is missing in all entries or in some.
  out <- setDT(tstrsplit(paste0(all, ENTRY_PARTS), ENTRY_PARTS, fixed = TRUE))
  setnames(out, members)
  set(out, j = "text", value = rep(seq_along(texts), lengths(entries)))
  out[]
}
