# SPDX-License-Identifier: BSD-3-Clause
# What docs/data.md promises, as tables that the readers check against.

SAMPLES_SCHEMA <- "# cotejo-samples/1"
LAUNCH_SCHEMA <- "cotejo-launch/1"

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
OBSERVED_MEMBERS <- c(
  program = "text", version = "text", experiment = "text", options = "object",
  arguments = "list", mpi = "object", build = "object", size = "number", ranks = "list",
  timer = "object", node = "object", interfaces = "object", tcp_bytes = "number",
  payload_bytes = "number",
  payload_checked = "flag"
)
RANK_MEMBERS <- c(
  rank = "number", host = "text", cpus = "text", cores = "list", numa = "list", package = "list"
)
SESSION_MEMBERS <- c(
  seed = "number", tag = "text", blocks = "number", finished = "text", cells = "list"
)
SAMPLES_MEMBERS <- c(file = "text", rows = "number", columns = "list")
COLUMN_MEMBERS <- c(name = "text", unit = "text", meaning = "text")

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
