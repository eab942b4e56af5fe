# SPDX-License-Identifier: BSD-3-Clause
# What docs/data.md promises, as tables that the readers check against. Both versions are read;
# members that no table names are of later programs, and are left alone.

SAMPLES_SCHEMAS <- c("# cotejo-samples/1", "# cotejo-samples/2")
LAUNCH_SCHEMAS <- c("cotejo-launch/1", "cotejo-launch/2")
# Plans of version 1 do not name theirs.
SESSION_SCHEMAS <- "cotejo-session/2"

# `accident`: it died of something outside, and was measured again in a later block.
STATUSES <- c("ok", "marked", "failed", "accident")
# Those that leave samples and observations.
RAN <- c("ok", "marked")

# The six columns of every sample file, in their order.
SAMPLE_COLUMNS <- c("operation", "bytes", "repetition", "calls", "time_s", "valid")

# Members of a launch description: path and type. `observed` and what follows it are checked
# only for launches that ran. Types: text, number, list (array), object, flag.
LAUNCH_MEMBERS <- c(
  id = "text", status = "text", reason = "text", started = "text", simulated = "text",
  command = "text", environment = "object", asked = "object", provenance = "object"
)
ASKED_MEMBERS <- c(
  site = "text", session = "text", experiment = "text", test = "text", scale = "text",
  launch = "number",
  seed = "number", mpi = "text", transport = "text", placement = "text", cpus = "list",
  hosts = "number", ranks = "number", settings = "object", parameters = "object",
  time_limit_s = "number"
)
# Those of them that name something, and come into titles and names of files.
ASKED_WORDS <- c(
  "site", "session", "experiment", "test", "scale", "mpi", "transport", "placement"
)
OBSERVED_MEMBERS <- c(
  program = "text", version = "text", experiment = "text", options = "object",
  arguments = "list", mpi = "object", build = "object", size = "number", ranks = "list",
  timer = "object", interfaces = "object", tcp_bytes = "number", payload_bytes = "number",
  payload_checked = "flag"
)
RANK_MEMBERS <- c(
  rank = "number", host = "text", cpus = "text", cores = "list", numa = "list", package = "list"
)
NODE_MEMBERS <- c(kernel = "text", cpu_model = "text", governor = "text")
BUFFER_MEMBERS <- c(ranks = "text", buffer = "text", offset = "number")
# An entry of `algorithms`: which algorithm ran in an operation of so many bytes.
RAN_MEMBERS <- c(operation = "text", bytes = "number", words = "text")
# Members that may be absent or null, checked where they are there.
OPTIONAL_MEMBERS <- list(
  launch = c(
    accident = "object", algorithms = "list", allocation = "object", effects = "object",
    fingerprint = "object", machine = "object", proof = "object", reported = "object"
  ),
  asked = c(block = "number"),
  observed = c(
    node = "object", nodes = "list", layout = "object", order = "object", overhead = "object",
    disturbed = "list", machine = "object", environment = "object"
  ),
  samples = c(quantities = "object")
)
SESSION_MEMBERS <- c(
  seed = "number", tag = "text", blocks = "number", finished = "text", cells = "list"
)
SAMPLES_MEMBERS <- c(file = "text", rows = "number", columns = "list")
COLUMN_MEMBERS <- c(name = "text", unit = "text", meaning = "text")
FAMILY_MEMBERS <- c(name = "text", title = "text", colour = "text", order = "number")
TRANSPORT_MEMBERS <- c(name = "text", title = "text")

# What a column of the samples is: `factor` tells groups of samples apart, `measure` has a unit,
# `flag` is 0 or 1 and tells samples apart without excluding any.
ROLES <- c("factor", "measure", "flag")
# What the time of an operation is: of one, of a steady exchange, or as the experiment says.
QUANTITIES <- c("single", "steady", "own")

#' Test a parsed JSON value against a type of the schema.
#'
#' An empty JSON array and an empty object both arrive as an empty list.
#' @noRd
has_type <- function(value, type) {
  scalar <- length(value) == 1L && !is.list(value)
  switch(type,
    text = scalar && is.character(value),
    number = scalar && is.numeric(value) && is.finite(value),
    flag = scalar && is.logical(value) && !is.na(value),
    list = is.list(value) && is.null(names(value)),
    object = is.list(value) && (length(value) == 0L || !is.null(names(value)))
  )
}

#' Refuse an object that lacks a member of the schema or holds one of another type.
#'
#' @param within names of the members that lead to the object.
#' @noRd
check_members <- function(object, members, file, within = character()) {
  for (name in names(members)) {
    if (!has_type(object[[name]], members[[name]])) {
      path <- c(within, name)
      fault <- if (is.null(object[[name]])) "is missing" else "is of another type"
      line <- line_of_member(file, if (name %in% names(object)) path else within)
      bad_data(
        file, line,
        sprintf("member %s %s (%s expected)", paste(path, collapse = "."), fault, members[[name]]),
        "write it as docs/data.md says, or measure the launch again"
      )
    }
  }
}

#' Check those members that may be absent.
#' @noRd
check_optional <- function(object, members, file, within = character()) {
  there <- names(members)[!vapply(object[names(members)], is.null, NA)]
  check_members(object, members[there], file, within)
}

#' Refuse a value that is none of those known.
#' @noRd
check_known <- function(value, known, file, path) {
  if (!isTRUE(value %in% known)) {
    bad_data(
      file, line_of_member(file, path),
      sprintf("%s %s", paste(path, collapse = "."), said_value(value)),
      paste("it must be one of", toString(known))
    )
  }
}

#' Check every object of a list.
#' @noRd
check_each <- function(objects, members, file, within) {
  for (object in objects) {
    if (!has_type(object, "object")) {
      bad_data(
        file, line_of_member(file, within),
        sprintf("%s holds what is no object", paste(within, collapse = ".")),
        "write it as docs/data.md says, or measure the launch again"
      )
    }
    check_members(object, members, file, within)
  }
}

#' The line of a JSON file that names a member: the first one after the line of the member that
#' holds it; 1 for the file as a whole.
#' @noRd
line_of_member <- function(file, path) {
  lines <- readLines(file, warn = FALSE)
  line <- 1L
  for (name in path) {
    found <- grep(sprintf("\"%s\"", name), lines, fixed = TRUE)
    found <- found[found >= line]
    if (!length(found)) break
    line <- found[[1L]]
  }
  line
}
