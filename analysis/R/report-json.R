# SPDX-License-Identifier: BSD-3-Clause
# Writes tables as JSON, column by column, and the answer cards to answers.json.

# The file of the answers, beside the report.
ANSWERS <- "answers.json"

#' Write cards as JSON, as `answers.schema.json` of the package describes it.
#'
#' All cards are written at once, column by column: writing each of some thousand tables alone
#' takes longer than computing them.
#' @param cards what [answer()] returned.
#' @noRd
write_answers <- function(cards, file) {
  json <- if (length(cards)) paste(json_of_cards(cards), collapse = ",\n")
  write_whole(file, function(out) {
    put_lines(c("{\"schema\":\"cotejo-answers/1\",\"answers\":[", json, "]}"), out)
  })
}

json_of_cards <- function(cards) {
  part <- function(name) lapply(cards, `[[`, name)
  count <- length(cards)
  of <- function(parts, number) rep(seq_along(parts), vapply(parts, number, 0L))
  orders <- unlist(part("orders"), recursive = FALSE)
  tables <- lapply(orders, function(one) one$configurations[[1L]])
  tables_json <- json_arrays(
    json_objects(json_columns(rbindlist(tables))), of(tables, nrow), length(tables)
  )
  orders_json <- json_objects(list(
    sizes = json_lists(lapply(orders, function(one) one$sizes[[1L]])),
    within = json_values(signif(as.numeric(unlist(lapply(orders, `[[`, "within"))), 6L)),
    text = json_values(unlist(lapply(orders, `[[`, "text"))), configurations = tables_json
  ))
  open <- rbindlist(part("open"))
  open_json <- json_objects(c(
    json_columns(open[, c("a", "b", "low", "high", "text"), with = FALSE]),
    list(
      launches = json_values(open$more_launches), sessions = json_values(open$more_sessions),
      sizes = json_lists(open$sizes)
    )
  ))
  text <- function(name) {
    json_values(vapply(part(name), \(x) if (is.null(x)) NA_character_ else x, ""))
  }
  settle <- lapply(part("to_settle"), \(one) if (length(one)) c(list(text = one$said), one[-1L]))
  json_objects(list(
    title = text("title"), summary = text("summary"),
    place = json_records(part("place")),
    orders = json_arrays(orders_json, of(part("orders"), length), count),
    open = json_arrays(open_json, of(part("open"), nrow), count),
    tested = json_values(unlist(part("tested"))), settled = json_values(unlist(part("settled"))),
    launches = json_lists(part("launches")), scope = json_lists(part("scope")),
    held_fixed = text("held"), warnings = json_lists(part("warnings")),
    tails = json_lists(part("tails")),
    to_settle = fifelse(lengths(settle) > 0L, json_records(settle), "null"),
    lines = json_lists(part("lines"))
  ))
}

# Values of a column as JSON, one by one; a missing value is null.
json_values <- function(values) {
  if (is.numeric(values)) {
    return(ifelse(is.finite(values), sprintf("%.15g", values), "null"))
  }
  values <- as.character(values)
  distinct <- unique(values[!is.na(values)])
  # One call for all texts is much faster. Each text has a line, as line breaks in it are escaped.
  json <- jsonlite::toJSON(data.frame(text = distinct), pretty = TRUE)
  lines <- strsplit(json, "\n", fixed = TRUE)[[1L]]
  member <- "^ *\"text\": "
  quoted <- sub(member, "", grep(member, lines, value = TRUE))
  fcoalesce(quoted[match(values, distinct)], "null")
}

json_columns <- function(columns) {
  lapply(columns, function(x) json_values(if (is.double(x)) signif(x, 6L) else x))
}

# Objects of JSON, one for each element of the members, which are texts of JSON.
json_objects <- function(members) {
  if (!length(members) || !length(members[[1L]])) {
    return(character())
  }
  named <- Map(function(name, text) sprintf("\"%s\":%s", name, text), names(members), members)
  paste0("{", do.call(paste, c(unname(named), sep = ",")), "}")
}

# Objects of JSON, one for each list of single texts and numbers.
json_records <- function(lists) {
  values <- unlist(lists, recursive = FALSE, use.names = FALSE)
  json <- character(length(values))
  for (alike in split(seq_along(values), vapply(values, typeof, ""))) {
    json[alike] <- json_columns(list(unlist(values[alike])))[[1L]]
  }
  members <- sprintf("\"%s\":%s", unlist(lapply(lists, names)), json)
  json_arrays(members, rep(seq_along(lists), lengths(lists)), length(lists), c("{", "}"))
}

# Arrays of JSON, one for each of so many groups, or objects of members.
json_arrays <- function(texts, group, groups, ends = c("[", "]")) {
  parts <- split(texts, factor(group, seq_len(groups)))
  paste0(ends[[1L]], vapply(parts, paste, "", collapse = ","), ends[[2L]])
}

json_lists <- function(lists) {
  json_arrays(json_values(unlist(lists)), rep(seq_along(lists), lengths(lists)), length(lists))
}
