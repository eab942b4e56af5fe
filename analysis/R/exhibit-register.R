# SPDX-License-Identifier: BSD-3-Clause
# The register of exhibits: a row of `inst/exhibits.yaml` or a call of `exhibit()` for each, which
# is checked when it is made.

registered <- new.env(parent = emptyenv())
registered$rows <- list()

#' Add an exhibit to the register.
#'
#' An exhibit needs only one call in a script of yours before [draw_all()]. The exhibits of the
#' package are rows of `analysis/inst/exhibits.yaml`.
#'
#' @param name STUDY-EXHIBIT, such as `"stival-fig-4.24"`; files are named by it.
#' @param title subject of the exhibit, in the project's own words.
#' @param data data of the exhibit: [launches_of()]; `NULL` if it is made of printed numbers or
#'   waits for something.
#' @param draw how it is drawn: a verb such as [by_size()], or a function of the launch summaries
#'   (a data.table, see [summarise_launches()]) that returns a ggplot or a table; `NULL`: not drawn
#'   yet. The verbs and [launches_of()] are known in the arguments of this call only.
#' @param kind of a function: `"figure"` or `"table"`. A verb has its own.
#' @param differs how it differs from the published exhibit, a sentence for the caption.
#' @param needs requirements on a site or an experiment that are not yet met.
#' @param without part of the study's contrast that no cotejo launches can show: then the exhibit
#'   is drawn in part at most.
#' @param circular whether the simulated machine was fitted to the content of the exhibit: then a
#'   simulated exhibit is marked as circular, and does not count as simulated.
#' @return the row, invisibly, as [list_exhibits()] has it. An error of class `cotejo_bad_data`
#'   names the exhibit and the fault: a column that no launch has, an argument that the verb does
#'   not take, invalid sizes, a name that is already registered.
#' @examples
#' exhibit("example-exchange", "Exchange of messages by primitive",
#'   data = launches_of("exchange_full", operation = "exchange-*", sizes = "1..1Mi"),
#'   draw = by_size(series = operation, panel = c(mpi, transport))
#' )
#'
#' exhibit("example-spread", "Spread of the launches",
#'   data = launches_of("pingpong_quick"),
#'   draw = function(launches) {
#'     ggplot2::ggplot(launches, ggplot2::aes(mpi, 1e6 * median_s)) + ggplot2::geom_violin()
#'   }
#' )
#' folder <- system.file("extdata/study", package = "cotejo")
#' draw_exhibits(folder, tempfile(), exhibits = list_exhibits()[name == "example-spread"])
#' @export
exhibit <- function(name, title, data = NULL, draw = NULL, differs = "", needs = "",
                    without = "", circular = FALSE, kind = "figure") {
  data <- rlang::enquo(data)
  draw <- rlang::enquo(draw)
  words <- words_of_exhibits()
  register_row(exhibit_row(
    name, title, rlang::eval_tidy(data, words), rlang::eval_tidy(draw, words), differs, needs,
    without, circular, kind
  ))
}

register_row <- function(row) {
  if (row$name %in% names(registered$rows)) wrong_exhibit(row$name, "it is there already")
  registered$rows[[row$name]] <- row
  invisible(row)
}

# Register the exhibits of a file such as `exhibits.yaml`.
register_exhibits <- function(file) {
  # Sizes such as 100000 are texts.
  rows <- yaml::read_yaml(file, handlers = list(int = identity))$exhibits
  for (name in names(rows)) register_row(exhibit_of_row(name, rows[[name]]))
}

# The row of the register for a row of `exhibits.yaml`, whose fields are texts or lists of texts.
exhibit_of_row <- function(name, row) {
  odd <- setdiff(names(row), c(
    "title", "tests", "where", "sizes", "draw", "differs", "needs", "without", "circular"
  ))
  if (length(odd)) wrong_exhibit(name, paste("no field", odd[[1L]]))
  texts <- lapply(row, paste, collapse = " ")
  text <- function(field) toString(texts[[field]])
  exhibit_row(
    name, text("title"),
    data = if (length(row$tests)) {
      tests <- strsplit(strsplit(text("tests"), " +")[[1L]], "+", fixed = TRUE)
      do.call(launches_of, c(tests, parse_members(text("where")), list(sizes = text("sizes"))))
    },
    draw = if (length(row$draw)) {
      verb <- sub(" .*", "", text("draw"))
      found <- words_of_exhibits()[[verb]]
      if (is.null(found)) wrong_argument("no verb ", verb)
      do.call(found, parse_members(sub("^[^ ]* *", "", text("draw"))))
    },
    text("differs"), text("needs"), text("without"),
    circular = if (is.null(row$circular)) FALSE else row$circular
  )
}

# The functions that arguments of `exhibit()` may call: words for launches, and the verbs. A verb
# has the arguments of the function that draws it, `exhibit_VERB()`, and returns them checked.
words_of_exhibits <- function() {
  package <- topenv()
  named <- mget(ls(package, pattern = "^exhibit_"), package, mode = "function", ifnotfound = NA)
  drawn <- Filter(function(draw) {
    is.function(draw) && identical(names(formals(draw))[1L], "exhibit")
  }, named)
  names(drawn) <- sub("^exhibit_", "", names(drawn))
  verbs <- Map(function(verb, draw) {
    as.function(c(formals(draw)[-1L], bquote(drawing(.(verb)))), package)
  }, names(drawn), drawn)
  c(mget(c("launches_of", "not", "if_there"), package), verbs)
}

# Time for a row of the data relative to most verbs: verbs that fit models take far longer.
COSTS <- c(regime_table = 20, loggp_table = 20)

# Make a checked row of the register without registering it.
exhibit_row <- function(name, title, data = NULL, draw = NULL, differs = "", needs = "",
                        without = "", circular = FALSE, kind = "figure") {
  check_texts(list(
    name = name, title = title, differs = differs, needs = needs, without = without
  ))
  if (!isTRUE(circular) && !isFALSE(circular)) {
    wrong_exhibit(name, "circular is neither TRUE nor FALSE")
  }
  if (!kind %in% c("figure", "table")) wrong_exhibit(name, "kind is neither figure nor table")
  draw <- in_exhibit(name, draw)
  if (is.function(draw)) {
    # A function of launch summaries stands in place of a verb.
    draw <- list(verb = "", kind = kind, arguments = list(), cost = 1, own = draw)
    class(draw) <- "cotejo_drawing"
  }
  data <- in_exhibit(name, data)
  check_parts(name, data, draw, needs)
  if (is.null(data)) data <- list(tests = "", filter = list(), sizes = "")
  if (is.null(draw)) draw <- list(kind = kind, verb = "", arguments = list(), cost = 1)
  data.table(
    study = sub("-.*", "", name), exhibit = sub("^[^-]*-", "", name), name = name,
    kind = draw$kind, title = title, tests = data$tests, filter = list(data$filter),
    sizes = data$sizes, verb = draw$verb, arguments = list(draw$arguments), cost = draw$cost,
    own = list(draw$own), differs = differs, needs = needs, without = without, circular = circular
  )
}

# Checks that the launches and the verb of an exhibit are complete.
check_parts <- function(name, data, draw, needs) {
  lacks <- c(data = is.null(data), draw = is.null(draw))
  is_fault <- c(
    "draw is no verb, such as by_size(), and no function" =
      !(lacks[["draw"]] || inherits(draw, "cotejo_drawing")),
    "data is not what launches_of() gives" =
      !(lacks[["data"]] || inherits(data, "cotejo_launches")),
    "neither launches nor a verb, nor what is still needed for them" =
      all(lacks) && !nzchar(needs),
    "launches and no verb to draw them" = lacks[["draw"]] && !lacks[["data"]]
  )
  if (any(is_fault)) wrong_exhibit(name, names(is_fault)[is_fault][[1L]])
}

check_texts <- function(texts) {
  name <- toString(texts$name)
  odd <- !vapply(texts, function(text) is.character(text) && length(text) == 1L, NA)
  if (any(odd)) wrong_exhibit(name, paste(names(texts)[odd][[1L]], "is no text"))
  if (!grepl("^[a-z0-9]+-[A-Za-z0-9][A-Za-z0-9.-]*$", name)) {
    wrong_exhibit(name, "the name is not STUDY-EXHIBIT, as in stival-fig-4.24")
  }
}

wrong_exhibit <- function(name, what) {
  bad_data(paste("exhibit", shortened(name, 80L)), NA, what, "see docs/exhibits.md")
}

# Names the exhibit in an error of one of its arguments.
in_exhibit <- function(name, argument) {
  tryCatch(argument, error = function(fault) {
    wrong_exhibit(name, sub("^exhibit: ", "", conditionMessage(fault)))
  })
}

#' The register of exhibits.
#'
#' @return data.table, a row an exhibit in the order of their calls: `study`, `exhibit`, `name`,
#'   `kind` (`figure` or `table`), `title`, `tests`, `filter` (list), `sizes`, `verb`, `arguments`
#'   (list), `cost` (of a row of its data), `own` (list: a function instead of a verb),
#'   `differs`, `needs`, `without`, `circular`.
#' @examples
#' list_exhibits()[study == "tinetti", c("name", "title")]
#' @export
list_exhibits <- function() rbindlist(unname(registered$rows))

#' The launches that an exhibit is drawn from.
#'
#' @param ... names of ReFrame tests as alternatives; the first with data counts. All tests of a
#'   vector are needed together, except that those of [if_there()] may lack data. Named arguments
#'   choose rows: the column and the wanted values, which may have stars; see [not()] and
#'   [if_there()].
#' @param sizes a range `"1..4Ki"`, a list `"16Ki 1Mi"`, or all (B).
#' @return for [exhibit()].
#' @keywords internal
launches_of <- function(..., sizes = "") {
  given <- list(...)
  named <- nzchar(if (is.null(names(given))) rep("", length(given)) else names(given))
  filter <- lapply(given[named], as.character)
  odd <- setdiff(names(filter), FILTER_COLUMNS)
  odd <- odd[!grepl(VARIED_COLUMN, odd)]
  if (length(odd)) {
    wrong_argument("no column ", toString(odd), "; there are ", toString(FILTER_COLUMNS))
  }
  sizes <- paste(sizes, collapse = " ")
  if (!grepl(SIZES_FORM, sizes)) {
    wrong_argument("sizes \"", sizes, "\" are neither FROM..TO nor a list of sizes")
  }
  alternatives <- unlist(lapply(given[!named], with_and_without), recursive = FALSE)
  tests <- vapply(alternatives, paste, "", collapse = "+")
  if (!length(tests) || !all(grepl("^[A-Za-z0-9_+]+$", tests))) wrong_argument("no names of tests")
  structure(
    list(tests = paste(tests, collapse = " "), filter = filter, sizes = sizes),
    class = "cotejo_launches"
  )
}

# All subsets of the optional tests, each with the required tests. The set with all of them comes
# first; among sets that lack one test, the set without the first test comes first.
with_and_without <- function(names) {
  optional <- grep("^[(].*[)]$", names)
  names[optional] <- substr(names[optional], 2L, nchar(names[optional]) - 1L)
  lapply(seq_len(2^length(optional)) - 1, function(left_out) {
    names[setdiff(seq_along(names), optional[bitwAnd(left_out, 2^(seq_along(optional) - 1)) > 0])]
  })
}

#' Unwanted values and optional values.
#'
#' @param values values of a column, for [launches_of()]. `not()`: no row may have these values.
#'   `if_there()`: these values, or names of tests, are not reported as missing if no launch has
#'   them.
#' @return for [launches_of()].
#' @keywords internal
not <- function(values) paste0("!", values)

#' @rdname not
#' @keywords internal
if_there <- function(values) paste0("(", values, ")")

wrong_argument <- function(...) refuse(paste0("exhibit: ", ...))

# The form of sizes: nothing, FROM..TO, or a list: 64Ki, 1Mi, 100.
SIZES_FORM <- "^(|[0-9]+([KMG]i)?[.][.][0-9]+([KMG]i)?|[0-9]+([KMG]i)?( +[0-9]+([KMG]i)?)*)$"

# Columns that an exhibit may name: columns of every launch summary and of an experiment's samples.
# The columns of parameters, settings and options are matched by `VARIED_COLUMN`.
FILTER_COLUMNS <- c(
  "site", "session", "simulated", "scale", "experiment", "test", "mpi", "transport", "placement",
  "hosts", "ranks", "operation", "bytes", "settings", "parameters", "multiply_adds", "step",
  "pairs", "burst", "queue", "log2_points", "keys", "threads", "rank", "switched", "algorithms",
  "protocol", "packing", "datatype", "timer", "library", "kernel", "governor", "cpu_model",
  "quantity", "program",
  "partitions", "thread_cores", "ways", "compute_us", "depth", "before", "any_source", "any_tag",
  "many", "offset", "dimensions", "neighbours", "aggressors", "first", "second", "measure"
)

# Arguments of verbs that name columns.
COLUMN_ARGUMENTS <- c("by", "x", "series", "panel", "row", "rows", "columns")

# How an exhibit is drawn: the verb that calls this function, with its arguments, checked.
# Arguments that name columns are expressions: names, or `c()` of names.
drawing <- function(verb) {
  verb_frame <- parent.frame()
  arguments <- as.character(names(formals(sys.function(sys.parent()))))
  columns <- intersect(arguments, COLUMN_ARGUMENTS)
  named <- lapply(stats::setNames(columns, columns), function(name) {
    columns_named(do.call(substitute, list(as.name(name), verb_frame)))
  })
  named <- Filter(length, named)
  odd <- unique(unlist(named))
  odd <- odd[!odd %in% FILTER_COLUMNS & !grepl(VARIED_COLUMN, odd)]
  if (length(odd)) wrong_argument("no column ", toString(odd), " to draw by")
  given <- Filter(length, mget(setdiff(arguments, columns), verb_frame))
  known <- list(unit = UNIT_NAMES, scale = c("log", "linear"), truth = c("up", "null"),
    of = c("performance", "time"),
    work = c("fixed", "per-rank"))
  for (name in intersect(names(known), names(given))) {
    odd <- setdiff(given[[name]], known[[name]])
    if (length(odd)) {
      wrong_argument("no ", name, " ", toString(odd), "; there are ", toString(known[[name]]))
    }
  }
  structure(
    list(
      verb = verb, kind = if (endsWith(verb, "_table")) "table" else "figure",
      arguments = c(named, lapply(given, as.character)),
      cost = if (verb %in% names(COSTS)) COSTS[[verb]] else 1
    ),
    class = "cotejo_drawing"
  )
}

UNIT_NAMES <- c("ns", "us", "ms", "MB/s", "Mbit/s", "%", "messages/s", "KiB")

# The columns that an expression names.
columns_named <- function(expression) {
  if (is.null(expression)) {
    NULL
  } else if (is.character(expression)) {
    expression
  } else if (is.symbol(expression)) {
    as.character(expression)
  } else if (is.call(expression) && identical(expression[[1L]], quote(c))) {
    unlist(lapply(as.list(expression)[-1L], columns_named))
  } else {
    wrong_argument(deparse(expression)[[1L]], " names no columns")
  }
}

# `"a=b c; d=e"` as list(a = c("b", "c"), d = "e").
parse_members <- function(text) {
  members <- trimws(strsplit(text, ";", fixed = TRUE)[[1L]])
  members <- members[nzchar(members)]
  values <- strsplit(sub("^[^=]*=", "", members), " +")
  stats::setNames(values, sub("=.*", "", members))
}

# Parse sizes as written by the benchmark, such as 64Ki, 1Mi, 100; returns B.
parse_size <- function(text) {
  unit <- c(Ki = 2^10, Mi = 2^20, Gi = 2^30)[sub("^[0-9]+", "", text)]
  as.numeric(sub("[KMG]i$", "", text)) * fifelse(is.na(unit), 1, unname(unit))
}

# Whether an exhibit shows each size: a range `1..4Ki`, a list `16Ki 1Mi`, or all.
in_sizes <- function(bytes, text) {
  if (!nzchar(text)) {
    return(rep(TRUE, length(bytes)))
  }
  if (grepl("..", text, fixed = TRUE)) {
    ends <- parse_size(strsplit(text, "..", fixed = TRUE)[[1L]])
    return(bytes >= ends[[1L]] & bytes <= ends[[2L]])
  }
  bytes %in% parse_size(strsplit(text, " +")[[1L]])
}

# Mark an exhibit as waiting for data, with the missing data as the message.
await <- function(...) refuse(paste0(...), class = c("cotejo_waiting", "cotejo_refused"))
