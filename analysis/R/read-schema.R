# SPDX-License-Identifier: BSD-3-Clause
# Checks descriptions of launches and plans of sessions by the JSON Schema of a results folder.
# Both versions are read. Members that the schema does not name belong to later programs and are
# ignored.

SAMPLES_SCHEMAS <- c("# cotejo-samples/1", "# cotejo-samples/2")
LAUNCH_SCHEMAS <- c("cotejo-launch/1", "cotejo-launch/2")
# Plans of version 1 do not name their schema.
SESSION_SCHEMAS <- "cotejo-session/2"

# Statuses of valid launches: launches of the warm-up block are in no statistic.
RECORDED <- c("ok", "warm-up")

# The six columns of every sample file, in their order.
SAMPLE_COLUMNS <- c("operation", "bytes", "repetition", "calls", "time_s", "valid")

# Names of the types of JSON Schema here and in messages.
JSON_TYPES <- c(
  string = "text", number = "number", integer = "integer", boolean = "flag", array = "list",
  object = "object"
)

# A definition of the JSON Schema of a results folder, `results.schema.json`. The harness checks
# the launches that it writes by the same schema.
schema_of <- function(name) {
  known <- keep_once("results schema", function() {
    file <- system.file("results.schema.json", package = "cotejo", mustWork = TRUE)
    definitions <- jsonlite::read_json(file)[["$defs"]]
    prepared(definitions, definitions)
  })
  known[[name]]
}

# A schema with its types and values as vectors and the definitions that it refers to, without
# members that have only a description: these members may have any value.
prepared <- function(schema, definitions) {
  schema[] <- lapply(schema, \(part) if (is.list(part)) prepared(part, definitions) else part)
  for (name in intersect(c("type", "enum", "required"), names(schema))) {
    if (!length(names(schema[[name]]))) schema[[name]] <- as.character(unlist(schema[[name]]))
  }
  mere <- vapply(schema[["properties"]], \(one) identical(names(one), "description"), NA)
  if (any(mere)) schema[["properties"]][mere] <- NULL
  if (!is.character(schema[["$ref"]])) {
    return(schema)
  }
  named <- prepared(definitions[[basename(schema[["$ref"]])]], definitions)
  # The description of a pattern is in its definition.
  utils::modifyList(named, schema[setdiff(names(schema), c("$ref", "description"))])
}

# Test a parsed JSON value against a type of the schema.
#
# An empty JSON array and an empty object both arrive as an empty list.
has_type <- function(value, type) {
  scalar <- length(value) == 1L && !is.list(value)
  switch(type,
    text = scalar && is.character(value),
    number = scalar && is.numeric(value) && is.finite(value),
    integer = has_type(value, "number") && value == trunc(value),
    flag = scalar && is.logical(value) && !is.na(value),
    list = is.list(value) && is.null(names(value)),
    object = is.list(value) && (length(value) == 0L || !is.null(names(value)))
  )
}

#' Refuse a value that does not match the schema: it lacks a member, has one of another type, or a
#' text that does not match its pattern. Supports the keywords that `results.schema.json` uses.
#'
#' @param path names of the members that lead to the value.
#' @param is_there whether the member is in its object; it may be null.
#' @noRd
check_schema <- function(value, schema, file, path = character(), is_there = TRUE) {
  check_type(value, schema[["type"]], file, path, is_there)
  if (length(schema[["enum"]])) check_known(value, schema[["enum"]], file, path)
  if (length(schema[["pattern"]])) check_pattern(value, schema, file, path)
  if (is.numeric(value)) check_range(value, schema, file, path)
  if (!is.list(value)) {
    return(invisible())
  }
  check_count(value, schema, file, path)
  if (length(schema[["propertyNames"]])) {
    check_names(names(value), schema[["propertyNames"]][["pattern"]], file, path)
  }
  check_members(value, schema, file, path)
  if (length(schema[["items"]])) {
    for (item in value) check_schema(item, schema[["items"]], file, path)
  }
  if (length(schema[["if"]]) && meets_condition(value, schema[["if"]])) {
    check_schema(value, schema[["then"]], file, path)
  }
}

# Checks each member of an object by its schema; a member equal to that of the previous description
# is not checked again.
check_members <- function(value, schema, file, path) {
  properties <- schema[["properties"]]
  for (name in names(properties)) {
    member <- value[[name]]
    if (is.null(member) && !name %in% schema[["required"]]) next
    own <- c(path, name)
    is_there <- name %in% names(value)
    if (is.list(member)) {
      as_before(paste(c("checked", own), collapse = "."), list(member, properties[[name]]), \(of) {
        check_schema(of[[1L]], of[[2L]], file, own, is_there)
      })
    } else {
      check_schema(member, properties[[name]], file, own, is_there)
    }
  }
  others <- schema[["additionalProperties"]]
  if (length(others)) {
    for (name in setdiff(names(value), names(properties))) {
      check_schema(value[[name]], others, file, c(path, name))
    }
  }
}

# Whether each member that a condition of the schema names has one of the values it lists.
meets_condition <- function(value, condition) {
  wanted <- condition[["properties"]]
  all(vapply(names(wanted), function(name) {
    value[[name]] %in% wanted[[name]][["enum"]]
  }, NA))
}

check_type <- function(value, types, file, path, is_there) {
  if (!length(types)) {
    return(invisible())
  }
  for (type in types) {
    if (if (type == "null") is.null(value) else has_type(value, JSON_TYPES[[type]])) {
      return(invisible())
    }
  }
  known <- JSON_TYPES[setdiff(types, "null")]
  bad_member(file, if (is_there) path else path[-length(path)], sprintf(
    "member %s %s (%s expected)", dotted(path),
    if (is.null(value)) "is missing" else "is of another type", toString(known)
  ))
}

check_pattern <- function(value, schema, file, path) {
  if (!grepl(schema[["pattern"]], value, perl = TRUE)) {
    what <- paste0(dotted(path), ": ", quoted(value))
    bad_member(file, path, what, paste("it must have", schema[["description"]]))
  }
}

# Refuse more members than the schema allows.
check_count <- function(value, schema, file, path) {
  most <- schema[[if (is.null(names(value))) "maxItems" else "maxProperties"]]
  if (length(most) && length(value) > most) {
    bad_member(file, path, sprintf(
      "%s: %d entries are more than %d", dotted(path), length(value), most
    ))
  }
}

# Refuse a number below the minimum or above the maximum that the schema allows.
check_range <- function(value, schema, file, path) {
  least <- schema[["minimum"]]
  most <- schema[["maximum"]]
  fault <- if (length(least) && value < least) {
    paste("less than", text_of(least))
  } else if (length(most) && value > most) {
    paste("more than", text_of(most))
  }
  if (!is.null(fault)) {
    bad_member(file, path, sprintf("%s: %s is %s", dotted(path), text_of(value), fault))
  }
}

# Refuse an object with a duplicate member, since readers would take one or the other, and refuse
# a text that is too long. All values of a level are checked together.
check_unique <- function(value, file, size) {
  level <- list(value)
  above <- list()
  while (length(level)) {
    of <- rep.int(seq_along(level), lengths(level))
    named <- lapply(level, names)
    bare <- lengths(named) < lengths(level)
    named[bare] <- lapply(lengths(level)[bare], character)
    named <- unlist(named)
    inner <- unlist(level, recursive = FALSE, use.names = FALSE)
    above <- c(above, list(list(of = of, named = named, kept = NULL)))
    member <- which(!bare[of])
    # Numbers, because pasting texts would take most of the time of reading a description.
    twice <- anyDuplicated(match(named[member], named) + length(named) * as.numeric(of[member]))
    if (twice) {
      path <- path_above(above, member[[twice]])
      bad_member(
        file, path[-length(path)], paste("twice the member", quoted(dotted(path))),
        "write each member once, or measure the launch again"
      )
    }
    long <- member[nchar(named[member], "bytes") > MOST_NAME]
    if (length(long)) refuse_length("name", path_above(above, long[[1L]]), file)
    # A smaller file has no such text.
    texts <- if (size > MOST_TEXT) which(vapply(inner, is.character, NA))
    long <- texts[nchar(unlist(inner[texts]), "bytes") > MOST_TEXT]
    if (length(long)) refuse_length("text", path_above(above, long[[1L]]), file)
    kept <- which(vapply(inner, is.list, NA) & lengths(inner) > 0L)
    above[[length(above)]]$kept <- kept
    level <- inner[kept]
  }
}

refuse_length <- function(what, path, file) {
  short <- dotted(vapply(path, shortened, "", 60L))
  bad_member(file, path, sprintf("too long a %s: %s", what, short))
}

# Names of the members that lead to a value of the last level.
path_above <- function(above, at) {
  path <- character()
  for (level in rev(above)) {
    if (length(level$kept)) at <- level$kept[[at]]
    path <- c(level$named[[at]], path)
    at <- level$of[[at]]
  }
  path[nzchar(path)]
}

# Refuse an unknown value.
check_known <- function(value, known, file, path) {
  if (!isTRUE(value %in% known)) {
    what <- paste(dotted(path), said_value(value))
    bad_member(file, path, what, paste("it must be one of", toString(known)))
  }
}
