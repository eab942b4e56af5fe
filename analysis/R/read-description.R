# SPDX-License-Identifier: BSD-3-Clause
# One launch description (JSON) -> its nested lists, checked.

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
      sprintf("schema %s, not \"%s\"", said_value(launch$schema), LAUNCH_SCHEMAS[[1L]]),
      "read it with the version of cotejo that wrote it"
    )
  }
  check_members(launch, LAUNCH_MEMBERS, file)
  check_optional(launch, OPTIONAL_MEMBERS$launch, file)
  check_members(launch$asked, ASKED_MEMBERS, file, "asked")
  check_optional(launch$asked, OPTIONAL_MEMBERS$asked, file, "asked")
  check_words(launch$asked, ASKED_WORDS, WORD, file, "asked")
  for (member in c("settings", "parameters")) {
    check_names(names(launch$asked[[member]]), MEMBER, file, c("asked", member))
  }
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
  for (member in c("options", "found")) {
    check_names(names(seen[[member]]), MEMBER, file, c("observed", member))
  }
  # Version 1 describes the host of rank 0, version 2 all of them.
  if (!length(seen$nodes)) {
    check_members(seen, c(node = "object"), file, "observed")
  } else {
    check_each(seen$nodes, NODE_MEMBERS, file, c("observed", "nodes"))
  }
  as_before("checked ranks", seen$ranks, function(ranks) {
    check_each(ranks, RANK_MEMBERS, file, c("observed", "ranks"))
    TRUE
  })
  check_each(seen$layout$buffers, BUFFER_MEMBERS, file, c("observed", "layout", "buffers"))
  check_members(launch$samples, SAMPLES_MEMBERS, file, "samples")
  check_optional(launch$samples, OPTIONAL_MEMBERS$samples, file, "samples")
  as_before("checked columns", launch$samples$columns, function(columns) {
    check_each(columns, COLUMN_MEMBERS, file, c("samples", "columns"))
    names <- vapply(columns, `[[`, "", "name")
    check_names(names, NAME, file, c("samples", "columns"), reserved())
    for (column in columns) {
      if (!is.null(column$role)) {
        check_known(column$role, ROLES, file, c("samples", "columns", "role"))
      }
    }
    TRUE
  })
  as_before("checked algorithms", launch$algorithms, function(ran) {
    check_each(ran, RAN_MEMBERS, file, "algorithms")
    TRUE
  })
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
  # readChar() opens the file before it looks at the size.
  size <- check_plain(file, MOST_JSON)
  text <- readChar(file, size, useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  check_text(text, file)
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
