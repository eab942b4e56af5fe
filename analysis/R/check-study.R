# SPDX-License-Identifier: BSD-3-Clause
# The study object: three tables whose columns carry all the information.

STUDY_TABLES <- list(
  launches = c("key", "status", "session", "launch", LAUNCH_FACTORS),
  configurations = c("configuration", LAUNCH_FACTORS),
  measurements = c("configuration", "launch", "operation", "bytes", "measure", "value", "unit")
)

#' A study: its launches, its configurations and its measurements.
#'
#' @param launches a row a launch, usable or not: `key` (site/session/id) and the requested and
#'   observed properties, as [read_results()] returns them.
#' @param configurations a row a configuration: its number, `configuration`, and all factors. Every
#'   other column is a factor.
#' @param measurements a row a launch, configuration, operation, size and measure: `configuration`,
#'   `launch` (its key), `operation`, `bytes` (B), `measure` (its name), `value`, `unit`. Values
#'   that were not measured have no row.
#' @param ... further parts of the study: `sessions`, `audit`, `quantities`, `roles`, `broken`, as
#'   [read_results()] returns them.
#' @return an object of class `cotejo_study`, checked by [check_study()].
#' @keywords internal
new_study <- function(launches, configurations, measurements, ...) {
  check_study(structure(
    list(
      launches = launches, configurations = configurations, measurements = measurements, ...
    ),
    class = "cotejo_study"
  ))
}

#' Check that the tables of a study belong together.
#'
#' @param study of class `cotejo_study`.
#' @return `study`; an error of class `cotejo_refused` names the table and what is wrong with it.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' check_study(study)
#' @export
check_study <- function(study) {
  for (name in names(STUDY_TABLES)) {
    need_columns(study[[name]], STUDY_TABLES[[name]], paste("the table of", name))
  }
  one <- function(table, column, what) {
    if (anyDuplicated(table[[column]])) refuse(paste("a study has", what, "twice"))
  }
  one(study$launches, "key", "a launch")
  one(study$configurations, "configuration", "a configuration")
  measured <- study$measurements
  if (!all(as.character(unique(measured$launch)) %in% study$launches$key)) {
    refuse("a study has measurements of a launch that it does not have")
  }
  if (!all(unique(measured$configuration) %in% study$configurations$configuration)) {
    refuse("a study has measurements of a configuration that it does not have")
  }
  if (anyNA(measured$value) || anyNA(measured$unit)) {
    refuse("a measurement of a study has no value or no unit")
  }
  study
}

#' Select a part of a study. The result is a study, too: the three tables stay consistent.
#'
#' @param x of class `cotejo_study`.
#' @param launches which launches: their keys, numbers of rows, or a flag each; all by default.
#' @param configurations which configurations: numbers of rows, or a flag each; all by default.
#' @param ... not used.
#' @return object of class `cotejo_study`: the selected launches, their measurements of the
#'   selected configurations, and the configurations with measurements left.
#' @export
`[.cotejo_study` <- function(x, launches, configurations, ...) {
  if (!missing(launches)) {
    if (is.character(launches)) launches <- which(x$launches$key %in% launches)
    if (is.logical(launches)) launches <- which(launches)
    x$launches <- keep_rows(x$launches, launches)
  }
  if (!missing(configurations)) {
    if (is.logical(configurations)) configurations <- which(configurations)
    x$configurations <- keep_rows(x$configurations, configurations)
  }
  measured <- x$measurements
  # Factors are faster here: few launches and configurations have very many measurements.
  launch <- as.factor(measured$launch)
  kept <- (levels(launch) %in% x$launches$key)[as.integer(launch)]
  x$measurements <- keep_rows(measured, which(
    kept & measured$configuration %in% x$configurations$configuration
  ))
  x$configurations <- keep_rows(x$configurations, which(
    x$configurations$configuration %in% x$measurements$configuration
  ))
  x$cells <- NULL
  x
}

#' @param x of class `cotejo_study`.
#' @rdname new_study
#' @export
print.cotejo_study <- function(x, ...) {
  launches <- x$launches
  cat(sprintf(
    "study: %s (%d usable) of %s in %s\n", count_of(nrow(launches), "launch", "launches"),
    sum(launches$status == "ok"), count_of(uniqueN(launches$site), "site", "sites"),
    count_of(nrow(unique(launches[, c("site", "session")])), "session", "sessions")
  ))
  cat(sprintf(
    "%s by %s\n", count_of(nrow(x$configurations), "configuration", "configurations"),
    toString(study_factors(x))
  ))
  units <- lapply(unique(x$measurements[, c("measure", "unit")]), as.character)
  cat(sprintf(
    "%s of %s\n", count_of(nrow(x$measurements), "measurement", "measurements"),
    toString(paste0(units$measure, ifelse(nzchar(units$unit), paste0(" (", units$unit, ")"), "")))
  ))
  invisible(x)
}

#' Make a study from results whose samples are summarised.
#'
#' @param results as [read_results()] returns them, with `summary` in place of `samples`
#'   ([summarise_samples()]).
#' @noRd
study_of_results <- function(results) {
  summary <- results$summary
  if (!NROW(summary)) {
    none <- no_samples()[, key := character()]
    summary <- summarise_samples(none, "key", character())
  }
  cell <- c("key", "operation", "bytes")
  factors <- intersect(names(results$roles)[results$roles == "factor"], names(summary))
  of_launch <- match(as.character(summary$key), results$launches$key)
  cells <- as.data.table(c(
    lapply(stats::setNames(nm = LAUNCH_FACTORS), \(name) results$launches[[name]][of_launch]),
    lapply(stats::setNames(nm = factors), \(name) summary[[name]])
  ))
  columns <- names(cells)
  cells[, configuration := .GRP, by = columns]
  configurations <- unique(cells)
  setcolorder(configurations, "configuration")
  measures <- setdiff(names(summary), c(cell, factors))
  # Units of cotejo's own times and counts are fixed; the launches record the others.
  known <- c(n = "", n_invalid = "", unlist(results$units))
  units <- fcoalesce(unname(known[sub("^measure_", "", measures)]), "s")
  names(units) <- measures
  long <- lapply(measures, function(name) {
    there <- which(!is.na(summary[[name]]))
    list(
      configuration = cells$configuration[there], launch = summary$key[there],
      operation = summary$operation[there], bytes = summary$bytes[there],
      measure = factor(rep(name, length(there)), measures),
      value = as.numeric(summary[[name]][there]),
      unit = factor(rep(units[[name]], length(there)), unique(units))
    )
  })
  others <- results[setdiff(names(results), c("launches", "samples", "summary", "tails"))]
  do.call(new_study, c(
    list(
      launches = results$launches, configurations = configurations,
      measurements = rbindlist(long)
    ),
    others
  ))
}

# Convert any results to a study.
as_study <- function(results) {
  if (!inherits(results, "cotejo_study")) {
    results$summary <- summary_of_samples(results)
    results <- study_of_results(results)
  }
  results
}

# The same table from the summary of which a study was just made (`study_of_results()`). This is
# faster than reshaping the study's measurements.
cells_of_summary <- function(summary, study) {
  factors <- study_factors(study)
  named <- c("key", "operation", "bytes", factors)
  measures <- Filter(
    function(name) name %in% CELL_MEASURES || !all(is.na(summary[[name]])),
    setdiff(names(summary), named)
  )
  wide <- unclass(summary)[c(named, measures)]
  wide[measures] <- lapply(wide[measures], as.numeric)
  cells_in_order(as.data.table(wide), factors)
}
