# SPDX-License-Identifier: BSD-3-Clause
# Selects the points and medians of one exhibit from launch summaries, with series and panels.

#' The rows of the launch summary that each exhibit needs.
#'
#' @param summary what [summarise_launches()] returned.
#' @param exhibits rows of the register.
#' @param session names of sessions to choose from.
#' @return list, one element an exhibit: list of numbers of rows of `summary`, one element for each
#'   alternative of its `tests` with complete data.
#' @noRd
rows_of_exhibits <- function(summary, exhibits, session = NULL) {
  # Rows are grouped by test once, because each exhibit needs only a few tests.
  measured <- which(!is.na(summary$median_s))
  of_test <- split(measured, summary$test[measured])
  # Fifty rows take as long as reading a file.
  unlist(over_cores(seq_len(nrow(exhibits)), function(part) {
    lapply(part, function(i) rows_of_exhibit(summary, exhibits[i], session, of_test))
  }, nrow(summary) %/% 50L), recursive = FALSE)
}

rows_of_exhibit <- function(summary, spec, session, of_test) {
  found <- lapply(strsplit(spec$tests, " +")[[1L]], function(alternative) {
    tests <- strsplit(alternative, "+", fixed = TRUE)[[1L]]
    rows <- sort(as.integer(unlist(of_test[tests], use.names = FALSE)))
    rows <- rows[in_sizes(summary$bytes[rows], spec$sizes)]
    rows <- rows[matches(column_rows(summary, names(spec$filter[[1L]]), rows), spec$filter[[1L]])]
    if (all(tests %in% summary$test[rows])) rows_of_state(summary, rows, spec, tests, session)
  })
  found[lengths(found) > 0L]
}

# Select the rows of one state for each panel, so that everything within a panel can be compared.
# Transports have panels of their own, unless they are compared.
#
# If no state has all tests, each test is taken from its own state, but all from one CPU.
rows_of_state <- function(summary, rows, spec, tests, session) {
  given <- spec$arguments[[1L]]
  panels <- setdiff(c("transport", given$panel), c(SIDES, given$by, given$series, given$x))
  sides <- setdiff(GROUPED, c("site", "simulated", panels))
  part <- summary[rows, intersect(
    c(GROUPED, names(STATE), "session", "key", "status", "bytes"), names(summary)
  ), with = FALSE]
  if (!nrow(part)) {
    return(integer())
  }
  chosen <- rows[choose_states(part, sides, session)$used]
  if (!all(tests %in% summary$test[chosen])) {
    sides <- setdiff(sides, c("test", "experiment"))
    alike <- which(of_one_cpu(part, session))
    chosen <- rows[alike][choose_states(part[alike], sides, session)$used]
  }
  if (all(tests %in% summary$test[chosen])) chosen
}

# Whether each row is of the CPU of its site that measured the most tests. Among several such CPUs
# the last used one is chosen. Simulated rows always count, as their CPU does not change results.
of_one_cpu <- function(rows, session) {
  if (is.null(rows$cpu_model)) {
    return(rep(TRUE, nrow(rows)))
  }
  real <- ground_of(rows$simulated) != "simulated"
  usable <- rows[real & rows$status == "ok" & (is.null(session) | rows$session %in% session)]
  cpus <- usable[, list(tests = uniqueN(test), newest = max(session)), by = c("site", "cpu_model")]
  setorderv(cpus, c("site", "tests", "newest"), c(1L, -1L, -1L))
  best <- unique(cpus, by = "site")
  !real | rows$cpu_model == best$cpu_model[match(rows$site, best$site)]
}

# Rows of some columns, as a list, because a summary has hundreds of columns.
column_rows <- function(summary, columns, rows) {
  columns <- intersect(columns, names(summary))
  c(list(rows = rows), lapply(stats::setNames(columns, columns), \(name) summary[[name]][rows]))
}

# Whether each row has one of the wanted values in every column of the filter. Values may have
# stars. Values that begin with ! are unwanted; rows without a value have none of them. Values in
# brackets are optional: they are shown if they exist and not reported if they are missing.
matches <- function(table, filter) {
  count <- length(table[[1L]])
  kept <- rep(TRUE, count)
  for (column in names(filter)) {
    found <- as.character(table[[column]])
    if (!length(found)) found <- rep(NA_character_, count)
    unwanted <- startsWith(filter[[column]], "!")
    wanted <- filter[[column]][!unwanted]
    kept <- kept & !found %in% substring(filter[[column]][unwanted], 2L)
    if (length(wanted)) {
      kept <- kept & !is.na(found) & grepl(any_of(wanted), found)
    }
  }
  kept
}

# One regular expression for all wanted values.
any_of <- function(wanted) {
  paste(utils::glob2rx(gsub("[()]", "", wanted)), collapse = "|")
}

#' Values that a filter requests and that no launch has.
#'
#' @param table launches; `filter` has the wanted values of its columns, by name.
#' @return texts such as "placement far", one a column; `NULL` if all values are present.
#' @noRd
lacking_values <- function(table, filter) {
  unlist(lapply(names(filter), function(column) {
    found <- unique(as.character(table[[column]]))
    wanted <- filter[[column]][!startsWith(filter[[column]], "!")]
    wanted <- wanted[!startsWith(wanted, "(")]
    there <- vapply(wanted, function(value) any(grepl(any_of(value), found)), NA)
    if (!all(there)) paste(word_of_column(column), toString(wanted[!there]))
  }))
}

#' The data from which a verb draws an exhibit.
#'
#' @param summary summary of the complete study: [summarise_launches()]. Missing columns of
#'   launches are taken from `results`.
#' @param rows rows of `summary` that the exhibit needs.
#' @param spec row of the register.
#' @param published folder of the printed numbers, or `NULL`.
#' @return list: `spec`, `arguments`, `summary` (its rows), `medians` of them, `results`,
#'   `published`.
#' @noRd
exhibit_data <- function(spec, summary, rows, results = NULL, published = NULL) {
  summary <- keep_rows(summary, rows)
  if (!is.null(results)) summary <- with_columns(summary, results$launches)
  # A setting that the exhibit draws by is unset if no launch was given it.
  unset <- setdiff(grep("^setting_", unlist(spec$arguments), value = TRUE), names(summary))
  if (length(unset)) set(summary, j = unset, value = NA_character_)
  if ("measure" %in% unlist(spec$arguments)) summary <- by_median_and_least(summary)
  medians <- summarise_configurations(summary)
  if ("protocol" %in% unlist(spec$arguments)) summary <- add_protocol(summary)
  if ("packing" %in% unlist(spec$arguments)) {
    set(summary, j = "datatype", value = sub("^[^-]*-([^-]*)-.*$", "\\1", summary$operation))
    set(summary, j = "packing", value = sub("^.*-", "", summary$operation))
  }
  list(
    spec = spec, arguments = spec$arguments[[1L]], summary = summary, medians = medians,
    results = results, published = published
  )
}

# Each launch twice, by the column `measure`: by the median of its samples, and by their minimum.
# Some studies took the minimum to get the time without disturbance.
by_median_and_least <- function(summary) {
  summary <- copy(summary)[, measure := rep("median", .N)]
  # Without any disturbance, both are equal.
  if (isTRUE(all(summary$min_s == summary$median_s))) {
    return(summary)
  }
  least <- copy(summary)[, `:=`(
    measure = rep("least", .N), median_s = min_s,
    bytes_per_s = fifelse(min_s > 0, bytes / min_s, NA_real_)
  )]
  rbind(summary, least)
}

# Add the column `protocol`: the protocol of messages under the smallest and the largest eager
# limit of an MPI over a transport. The limits differ between MPIs and cannot be compared.
add_protocol <- function(summary) {
  if (!nrow(summary) || !"setting_eager_limit" %in% names(summary)) {
    return(set(summary, j = "protocol", value = rep("the library's limit", nrow(summary))))
  }
  limit <- as.numeric(summary$setting_eager_limit)
  where <- paste(summary$mpi, summary$transport)
  ends <- function(which) {
    stats::ave(limit, where, FUN = \(v) if (all(is.na(v))) NA_real_ else which(v, na.rm = TRUE))
  }
  protocol <- fcase(
    is.na(limit), "the library's limit", limit == ends(min), "rendezvous: smallest limit",
    limit == ends(max), "eager: largest limit", rep(TRUE, length(limit)), "a limit between"
  )
  set(summary, j = "protocol", value = protocol)
}

argument <- function(exhibit, name, default = NULL) {
  given <- exhibit$arguments[[name]]
  if (is.null(given)) default else given
}

# The column that an exhibit compares: the first column in `by` that has several values here.
compared_in <- function(exhibit, default) {
  columns <- argument(exhibit, "by", default)
  if (!length(columns)) {
    return(NULL)
  }
  several <- Filter(function(column) uniqueN(exhibit$summary[[column]]) > 1L, columns)
  c(several, columns)[[1L]]
}

# Largest number of curves in a panel, if curves can be moved to further panels.
MOST_SERIES <- 7L

#' Points and medians of an exhibit with the columns `level` and `panel`.
#'
#' Further columns that distinguish configurations of one panel, series and x are added to the
#' panel. So no line is drawn through two configurations.
#'
#' @param x name of the column along the axis.
#' @return list: `points`, `medians`.
#' @noRd
curves_of_exhibit <- function(exhibit, x = "bytes") {
  # A new table that shares the columns.
  points <- setDT(as.list(exhibit$summary))
  series <- argument(exhibit, "series", "mpi")
  panel <- setdiff(argument(exhibit, "panel", "transport"), series)
  if (!length(panel)) panel <- "transport"
  need_columns(points, c(series, panel, x), paste("the data of", exhibit$spec$name))
  # Too many curves to distinguish in a panel: the first column gets panels of its own.
  if (length(series) > 1L && uniqueN(points, by = series) > MOST_SERIES) {
    panel <- c(panel, series[[1L]])
    series <- series[-1L]
  }
  panel <- c(panel, unexplained(points, c(series, panel), x))
  set(points, j = "level", value = level_of(points, series))
  set(points, j = "panel", value = level_of(points, panel))
  by <- c(configuration_columns(exhibit$summary), "bytes")
  keys <- unique(points[, unique(c(by, x, "level", "panel")), with = FALSE])
  if (anyDuplicated(keys, by = by)) {
    refuse(sprintf(
      "%s: %s differ between launches of one configuration; name them in the test's parameters",
      exhibit$spec$name, toString(c(series, panel, x))
    ))
  }
  list(points = points[], medians = exhibit$medians[keys, on = by, nomatch = NULL])
}

# Columns that differ between configurations of the same series, panel and x.
unexplained <- function(points, named, x) {
  candidates <- c(
    "site", "simulated", "operation", "test", "mpi", "transport", "placement", "ranks", "hosts",
    factor_names(points), if (x != "bytes") "bytes", "settings", "parameters"
  )
  candidates <- intersect(setdiff(candidates, c(named, x)), names(points))
  added <- character()
  count <- NULL
  for (column in candidates) {
    values <- points[[column]]
    # A column with a single value distinguishes nothing.
    if (!length(values) || all(values == values[[1L]], na.rm = TRUE) && !anyNA(values)) next
    keys <- c(named, added, x)
    if (is.null(count)) count <- uniqueN(points, by = keys)
    if (uniqueN(points, by = c(keys, column)) > count) {
      added <- c(added, column)
      count <- NULL
    }
  }
  added
}

# The combined levels of several columns, in words and in their natural order.
level_of <- function(table, columns) {
  words <- lapply(columns, function(column) in_words(column, table[[column]]))
  texts <- lapply(words, as.character)
  text <- join_words(c(list(rep("", nrow(table))), texts))
  factor(text, unique(text[do.call(order, lapply(words, as.integer))]))
}

# Values of one column as a factor of words: "4 ranks", "non-blocking", "Open MPI".
in_words <- function(column, values) {
  distinct <- unique(as.character(values))
  numbers <- suppressWarnings(as.numeric(distinct))
  sorted <- if (all(is.na(distinct) | !is.na(numbers))) {
    distinct[order(numbers)]
  } else {
    in_order(distinct)
  }
  words <- say_value(column, sorted)
  factor(words[match(as.character(values), sorted)], unique(words))
}

# The ground of launches, from the text `simulated` in their descriptions.
ground_of <- function(simulated) {
  fcase(
    !nzchar(simulated), GROUNDS[[1L]], startsWith(simulated, "simulated"), GROUNDS[[3L]],
    rep(TRUE, length(simulated)), GROUNDS[[2L]]
  )
}

# Grounds of launches: a real machine, emulated hosts or networks, or a simulation.
GROUNDS <- c("measured", "emulated", "simulated")

samples_of_exhibit <- function(exhibit) {
  copy(samples_of(exhibit$results, unique(exhibit$summary$key)))
}

#' The summary of an exhibit from changed samples: from one repetition only, or with computed
#' columns.
#'
#' @param measures names of the computed columns.
#' @noRd
summary_from_samples <- function(exhibit, samples, measures = character()) {
  results <- with_samples(exhibit$results, samples)
  results$roles[measures] <- "measure"
  summary <- summarise_launches(results)
  by <- c("key", "operation", "bytes", factor_names(summary))
  keys <- unique(exhibit$summary[, by, with = FALSE])
  keep_rows(summary, summary[keys, on = by, nomatch = NULL, which = TRUE])
}

# Columns of a summary that describe the time.
OF_TIME <- c(
  "median_s", "min_s", "p10_s", "p95_s", "p99_s", "p999_s", "max_s", "mean_s", "bytes_per_s"
)

#' Launch medians of a measure, for the launches and rows of an exhibit.
#'
#' @param measure a column of the samples, such as `alone_s`, or `time_s` itself.
#' @return as [summarise_launches()], restricted to the rows of the exhibit that have the measure.
#'   Has the columns `value` and `measure` in place of the columns of the time.
#' @noRd
summary_of_measure <- function(exhibit, measure) {
  values <- exhibit$summary[[column_of_measure(measure)]]
  if (is.null(values)) await("launches with the measure ", word_of_column(measure))
  out <- keep_rows(exhibit$summary, which(!is.na(values)))
  set(out, j = c("value", "measure"), value = list(values[!is.na(values)], measure))
  out[, setdiff(names(out), OF_TIME), with = FALSE]
}

results_of_launches <- function(results, keys) as_study(results)[keys]
