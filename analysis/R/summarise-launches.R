# SPDX-License-Identifier: BSD-3-Clause
# Summarises samples: one row per launch, operation and size. The launch is the unit of
# replication.

#' Summarise the samples of each launch.
#'
#' Quantiles are of type 7 (Hyndman and Fan 1996), from the valid samples only, computed for all
#' groups at once from one sort.
#'
#' @param results what [read_results()] or [read_study()] returned.
#' @param columns of `launches` in the result; all by default.
#' @return data.table, one row per launch, operation, further factor column and size. It has the
#'   columns of `launches`, then `operation`, `bytes`, the factors, `n` (valid samples) and
#'   `n_invalid`. `quantity` is the meaning of the time (`NA`: not recorded). `factors` has the
#'   factor columns as one text. Times are `median_s`, `min_s`, `p10_s`, `p95_s`, `p99_s`, `mean_s`
#'   (s, one operation), and `p999_s` and `max_s` if a launch took 20,000 valid samples of a row;
#'   `bytes_per_s` (B/s) is computed from the median. A column `measure_NAME`
#'   for each further measure of the samples has its median, in the unit of the samples. A group
#'   without a valid sample has `n` 0 and `NA`.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summarise_launches(study)[1:5, c("mpi", "launch", "bytes", "n", "median_s")]
#' @export
summarise_launches <- function(results, columns = names(results$launches)) {
  factors <- names(results$roles)[results$roles == "factor"]
  # A new table that shares the columns.
  summary <- setDT(as.list(summary_of_samples(results)))
  # Samples of some launches lack the columns of others.
  for (name in setdiff(factors, names(summary))) set(summary, j = name, value = NA)
  summary[, key := as.character(key)]
  summary[, bytes_per_s := fifelse(median_s > 0, bytes / median_s, NA_real_)]
  summary[, quantity := quantity_of(results$quantities, key, operation)]
  set(summary, j = "factors", value = text_of_factors(summary, factors))
  with_columns(summary, results$launches, columns)
}

#' A summary with columns of its launches before its own. Launches have hundreds of columns (every
#' option). In every row of a study, they would need most of the memory.
#'
#' @return `summary` if it has all columns, otherwise a table that shares the columns of `summary`.
#' @noRd
with_columns <- function(summary, launches, columns = names(launches)) {
  lacking <- setdiff(intersect(names(launches), columns), names(summary))
  if (!length(lacking)) {
    return(summary)
  }
  at <- match(summary$key, launches$key)
  added <- lapply(stats::setNames(lacking, lacking), \(name) launches[[name]][at])
  out <- setDT(c(as.list(summary), added))
  setcolorder(out, intersect(names(launches), names(out)))
  out[]
}

# The summaries of results: stored ones, if the samples were not kept, or computed from the
# samples. Callers that change the table must copy it.
summary_of_samples <- function(results) {
  if (is.null(results$samples)) {
    return(if (is.null(results$cells)) cells_of_study(results) else results$cells)
  }
  # All cores for the one large sort.
  threads <- setDTthreads(0L)
  on.exit(setDTthreads(threads))
  of_role <- function(role) {
    intersect(names(results$roles)[results$roles == role], names(results$samples))
  }
  summary <- summarise_samples(results$samples, "key", of_role("factor"), of_role("measure"))
  with_tails(summary, results$tails)
}

#' Summaries with the tails that launches themselves recorded, where a dataset has only some of
#' their samples.
#'
#' @param tails the columns that identify a row of `summary`, and `RECORDED_TAILS`; or `NULL`.
#' @noRd
with_tails <- function(summary, tails) {
  if (!NROW(tails)) {
    return(summary)
  }
  by <- setdiff(intersect(names(tails), names(summary)), RECORDED_TAILS)
  row <- summary[tails, on = by, which = TRUE, mult = "first"]
  for (name in RECORDED_TAILS) set(summary, row[!is.na(row)], name, tails[[name]][!is.na(row)])
  summary
}

# The column of a summary that contains a further measure.
column_of_measure <- function(measure) {
  ifelse(measure == "time_s", "median_s", paste0("measure_", measure))
}

# Medians of further measures by groups. The time minus the computation alone is also a measure.
medians_by <- function(valid, by, measures) {
  for (name in measures) set(valid, j = name, value = as.numeric(valid[[name]]))
  if ("alone_s" %in% measures) {
    valid[, net_s := time_s - alone_s]
    measures <- c(measures, "net_s")
  }
  out <- valid[, lapply(.SD, median, na.rm = TRUE), keyby = by, .SDcols = measures]
  setnames(out, measures, column_of_measure(measures))
  out
}

#' Summaries of groups of samples.
#'
#' @param launch name of the column that identifies launches.
#' @param factors names of the further columns that distinguish groups.
#' @param measures names of the further columns that are measured.
#' @noRd
summarise_samples <- function(samples, launch, factors, measures = character()) {
  by <- c(launch, "operation", "bytes", factors)
  samples <- samples[, c(by, "time_s", "valid", measures), with = FALSE]
  if (is.factor(samples$operation)) {
    set(samples, j = "operation", value = as.character(samples$operation))
  }
  all_groups <- samples[, list(n_all = .N), keyby = by]
  valid <- samples[samples$valid]
  setorderv(valid, c(by, "time_s"))
  groups <- valid[, list(n = .N, mean_s = mean(time_s)), keyby = by]
  end <- cumsum(groups$n)
  start <- end - groups$n
  many <- groups$n >= LEAST_OF_EXTREMES
  for (time in names(QUANTILES)) {
    value <- sorted_quantile(valid$time_s, start, groups$n, QUANTILES[[time]])
    set(groups, j = time, value = value)
  }
  for (time in if (any(many)) names(EXTREMES)) {
    value <- sorted_quantile(valid$time_s, start[many], groups$n[many], EXTREMES[[time]])
    set(groups, which(many), time, value)
  }
  if (length(measures)) groups <- groups[medians_by(valid, by, measures), on = by]
  summary <- groups[all_groups, on = by]
  summary[is.na(n), n := 0L]
  summary[, n_invalid := n_all - n]
  summary[, n_all := NULL]
  setcolorder(summary, c(by, "n", "n_invalid", names(QUANTILES), "mean_s"))
  summary[]
}

# Quantiles of the samples of a launch, by column of the summary.
QUANTILES <- c(median_s = 0.5, min_s = 0, p10_s = 0.1, p95_s = 0.95, p99_s = 0.99)
# Quantiles of launches with at least so many samples, of which twenty are slower than p999_s.
EXTREMES <- c(p999_s = 0.999, max_s = 1)
LEAST_OF_EXTREMES <- 20000L
# Quantiles that few of the samples of a launch do not show.
RECORDED_TAILS <- c("p99_s", names(EXTREMES))

# The factor columns of the samples, as one text per row: `pairs=2; queue=4`. Columns that a
# launch lacks are left out.
text_of_factors <- function(table, columns) {
  if (!length(columns)) {
    return(rep("", nrow(table)))
  }
  columns <- sort(columns, method = "radix")
  kinds <- table[, c(columns), with = FALSE][, number := .GRP, by = columns]
  first <- kinds[!duplicated(number)]
  texts <- vapply(seq_len(nrow(first)), function(i) {
    canonical(Filter(function(value) !is.na(value), as.list(first[i, columns, with = FALSE])))
  }, "")
  texts[kinds$number]
}

# The meaning of the times of operations; NA if the launches do not record it, as in version 1.
quantity_of <- function(quantities, key, operation) {
  if (!NROW(quantities)) {
    return(rep(NA_character_, length(key)))
  }
  # The times of ranks and parts of an operation (NAME.rank0, NAME.both) have the same meaning.
  at <- function(name) match(paste(key, name), paste(quantities$key, quantities$operation))
  whole <- at(operation)
  quantities$quantity[fcoalesce(whole, at(sub("[.].*$", "", operation)))]
}

# Times of a launch that verdicts may use: name -> column of summaries.
#
# Other load on a machine only increases times. On a shared machine it affects most launches, and
# in some launches most samples, so that medians differ by more than the compared effect. It hardly
# changes the fastest tenth of a launch, which shows the library's ability; the median shows what
# users experience.
LAUNCH_TIMES <- c(
  median = "median_s", p95 = "p95_s", p99 = "p99_s", minimum = "min_s",
  `undisturbed time` = "p10_s"
)
# Tails of launches with fewer samples are not judged.
LEAST_OF_TAIL <- 20L

#' Launches with another of their times in place of the median, for a comparison by that time.
#'
#' @param summary what [summarise_launches()] returned, or columns of it.
#' @param time of `LAUNCH_TIMES`.
#' @noRd
by_time <- function(summary, time) {
  summary$median_s <- summary[[LAUNCH_TIMES[[time]]]]
  summary
}

#' Type-7 quantile of runs of a sorted vector.
#'
#' @param sorted values, each run in rising order.
#' @param start values before each run.
#' @param n length of each run, at least 1.
#' @param probability 0 to 1.
#' @noRd
sorted_quantile <- function(sorted, start, n, probability) {
  at <- 1 + (n - 1) * probability
  # Products such as 19 * 0.95 differ from integers by a rounding error.
  at <- fifelse(abs(at - round(at)) < 1e-9, round(at), at)
  low <- floor(at)
  part <- at - low
  below <- sorted[start + low]
  above <- sorted[start + pmin(low + 1, n)]
  below + part * (above - below)
}

# Columns that identify a configuration and the measured quantity.
#
# Launches that agree in all these columns are replicates; compared configurations differ in one
# column. The column `factors` of the rows names the factors among the columns of the samples, so
# that the function also works for a part of a table.
configuration_columns <- function(summary) {
  c(
    "site", "simulated", "scale", "experiment", "test", "operation", "mpi", "transport",
    "placement", "hosts", "ranks", "settings", "parameters", intersect("measure", names(summary)),
    factor_names(summary)
  )
}

# Rows of a table by their numbers. The argument `rows` never means a column of the table: a
# single name in `[` is looked up outside of the table.
keep_rows <- function(table, rows) table[rows]

# Names of the factors of rows, from their column `factors` (`text_of_factors()`).
factor_names <- function(table) {
  texts <- unique(as.character(table$factors))
  members <- unlist(strsplit(texts[!is.na(texts)], "; ", fixed = TRUE))
  named <- unique(sub("=.*$", "", members))
  sort(intersect(named, names(table)), method = "radix")
}

#' Summarise configurations over their launches.
#'
#' @param summary what [summarise_launches()] returned.
#' @param level minimum level of the interval of the median over launches ([median_interval()]).
#' @param measure column of `summary` that is summarised.
#' @return data.table, one row per configuration, operation and size: `n` (launches), `median_s`
#'   (median of launch medians), `low_s`, `high_s` (interval, `NA` for fewer than five launches)
#'   and its `confidence`, `cv` (coefficient of variation of launch medians), `bytes_per_s`,
#'   `bytes_per_s_low`, `bytes_per_s_high`. For another measure than the time, the columns are
#'   `MEASURE`, `MEASURE_low`, `MEASURE_high`, without a bandwidth.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' medians <- summarise_configurations(summarise_launches(study))
#' head(medians[, c("mpi", "bytes", "n", "median_s", "low_s", "high_s")])
#' @export
summarise_configurations <- function(summary, level = 0.95, measure = "median_s") {
  by <- c(configuration_columns(summary), intersect("factors", names(summary)), "bytes")
  need_columns(summary, c(by, measure), "the launch summary")
  # Evaluated outside the brackets, where `measure` may be a column.
  there <- which(!is.na(summary[[measure]]))
  used <- keep_rows(summary, there)[, c(by, measure), with = FALSE]
  setnames(used, measure, "value")
  setorderv(used, c(by, "value"))
  # Only plain functions, which data.table computes for all groups at once.
  out <- used[, list(
    n = .N, median = median(value), deviation = sd(value), mean = mean(value)
  ), keyby = by]
  out[, cv := deviation / mean]
  out[, c("deviation", "mean") := NULL]
  # The bounds are order statistics, whose ranks depend only on n.
  counts <- unique(c(1L, out$n))
  place <- rbindlist(lapply(counts, function(n) median_interval(as.numeric(seq_len(n)), level)))
  place <- place[match(out$n, counts)]
  start <- cumsum(out$n) - out$n
  out[, c("low", "high", "confidence") := list(
    used$value[start + place$low], used$value[start + place$high], place$level
  )]
  ends <- c("median", "low", "high")
  if (measure != "median_s") {
    setnames(out, ends, paste0(measure, c("", "_low", "_high")))
    return(out[])
  }
  setnames(out, ends, paste0(ends, "_s"))
  out[, bytes_per_s := fifelse(median_s > 0, bytes / median_s, NA_real_)]
  out[, bytes_per_s_low := bytes / high_s]
  out[, bytes_per_s_high := fifelse(low_s > 0, bytes / low_s, NA_real_)]
  out[]
}

# The measurements as a wide table: one row a launch, configuration, operation and size, with one
# column for each factor of the samples and each measure.
cells_of_study <- function(study) {
  measured <- study$measurements
  wide <- if (nrow(measured)) {
    dcast(measured, launch + configuration + operation + bytes ~ measure, value.var = "value")
  } else {
    measured[, c("launch", "configuration", "operation", "bytes")]
  }
  # Columns are missing when no sample is valid.
  for (name in setdiff(CELL_MEASURES, names(wide))) set(wide, j = name, value = NA_real_)
  factors <- study_factors(study)
  row <- match(wide$configuration, study$configurations$configuration)
  for (name in factors) set(wide, j = name, value = study$configurations[[name]][row])
  set(wide, j = "configuration", value = NULL)
  setnames(wide, "launch", "key")
  cells_in_order(wide, factors)
}

# Gives the cells the same order and types, whichever of the two functions made them.
cells_in_order <- function(wide, factors) {
  for (name in c("n", "n_invalid")) set(wide, j = name, value = as.integer(wide[[name]]))
  named <- c("key", "operation", "bytes", factors)
  setorderv(wide, named)
  setkeyv(wide, "key")
  setcolorder(wide, c(named, CELL_MEASURES))
  wide[]
}

# Names of the factors of a study's samples.
study_factors <- function(study) {
  setdiff(names(study$configurations), c("configuration", LAUNCH_FACTORS))
}

value_or_na <- function(table, column) {
  if (column %in% names(table)) table[[column]] else rep(NA_real_, nrow(table))
}

size_class <- function(bytes) {
  factor(
    fcase(bytes <= 4096, "small", bytes <= 81920, "medium", bytes > 81920, "large"),
    c("small", "medium", "large")
  )
}

# Measures of every cell of a study.
CELL_MEASURES <- c("n", "n_invalid", "median_s", "min_s", "p10_s", "p95_s", "p99_s", "mean_s")
