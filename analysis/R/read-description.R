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
    bad_member(
      file, "schema",
      sprintf("schema %s, not \"%s\"", said_value(launch$schema), LAUNCH_SCHEMAS[[1L]]),
      "read it with the version of cotejo that wrote it"
    )
  }
  check_schema(launch, schema_of("launch"), file)
  if (launch$id != sub("\\.json$", "", basename(file))) {
    what <- sprintf("id \"%s\" is not the file's name", launch$id)
    bad_member(file, "id", what, "do not rename launches")
  }
  if (!is.null(launch$asked$block) && launch$asked$block != launch$asked$launch) {
    what <- "asked.block is not asked.launch"
    bad_member(file, c("asked", "block"), what, "a launch's number is its block")
  }
  if (launch$status %in% c("ok", "marked")) check_columns(launch$samples$columns, file)
  # Version 1 describes the host of rank 0, version 2 all hosts.
  seen <- launch$observed
  if (!is.null(seen) && !length(seen$nodes) && is.null(seen$node)) {
    check_type(NULL, "object", file, c("observed", "node"), FALSE)
  }
  launch
}

# Refuse columns of samples with reserved or duplicate names.
check_columns <- function(columns, file) {
  as_before("checked columns", columns, function(columns) {
    names <- vapply(columns, `[[`, "", "name")
    check_names(names, NAME, file, c("samples", "columns"), reserved())
    TRUE
  })
}

# Parse a JSON file that contains one object (or a list, if one is expected). A file that does not
# parse is refused with the line at which the text ends or breaks.
parse_json_file <- function(file, type = "object") {
  # readBin() opens the file before it looks at the size.
  size <- check_plain(file, MOST_JSON)
  bytes <- readBin(file, "raw", size)
  if (any(bytes == 0)) {
    bad_data(file, NA, "not JSON: a byte of 0", RESTORE)
  }
  lists <- sum(bytes == charToRaw("[")) + sum(bytes == charToRaw("{"))
  if (lists > MOST_LISTS) {
    bad_data(file, NA, sprintf("not JSON of results: %d lists and objects", lists), RESTORE)
  }
  # A byte order mark, which JSON may have (RFC 8259).
  if (identical(bytes[1:3], as.raw(c(0xef, 0xbb, 0xbf)))) bytes <- bytes[-(1:3)]
  text <- rawToChar(bytes)
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
  check_unique(parsed, file, size)
  parsed
}

# The line at which the parser stops: the last line if the text is incomplete.
broken_line <- function(text) {
  bytes <- charToRaw(text)
  stopped <- jsonlite::validate(text)
  if (!grepl("premature EOF", paste(attr(stopped, "err")), fixed = TRUE)) {
    bytes <- utils::head(bytes, attr(stopped, "offset"))
  } else if (length(bytes)) {
    bytes <- bytes[-length(bytes)]
  }
  sum(bytes == LINE_END) + 1L
}
