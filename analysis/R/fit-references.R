# SPDX-License-Identifier: BSD-3-Clause
# References of a site from its launches: intervals of times, and usual ratios of two libraries.
#
# An interval is where the median of one launch of a further session falls with a probability of
# 99 % for all groups of the launch together, if nothing has changed: a prediction interval on the
# logarithm, Bonferroni over the groups. Sessions differ by more than their launches do, so that a
# new session's launch has the variance between sessions and that within.
#
# A ratio is the shortest time of one launch over that of a launch of another library, or of the
# layer below, in the same block with everything else equal.

FEWEST_LAUNCHES <- 5L
FEWEST_SESSIONS <- 3L
# Error of an interval.
REFERENCE_ALPHA <- 0.01
# Launches of a simulation are identical, and rounding alone would put the next one beside an
# interval without width. Times are written with 9 digits and more.
LEAST_REACH <- 1e-6
# Limit of the reach in logarithms: two sessions that differ leave the interval nearly open.
MOST_REACH <- 20
# The limit of a deviation is so many times the largest one of the reference's launches.
DEVIATION_FACTOR <- 1.5
# Layers below MPI: every test of a layer with the same operation is a denominator.
LAYERS_BELOW <- "sockets"
# Properties of a launch that must be unchanged for a reference to hold.
REFERENCE_STATE <- c("kernel", "cpu_model", "lock_sha256")
# Values of a group in the summary of a launch; its other members are factors.
SUMMARY_VALUES <- c(
  "operation", "bytes", "n", "median_s", "min_s", "p95_s", "p99_s", "p999_s", "max_s"
)
# Properties that two launches must have in common for a useful ratio.
SAME_BLOCK <- c("session", "partition", "transport", "placement", "hosts", "ranks", "launch")

#' Print the references of a site as JSON: the members `cells` and `ratios` of `references.json`.
#'
#' @param dir folder of the site's results.
#' @param large the size (B) at which the range of large messages begins.
#' @noRd
print_references <- function(dir, large) {
  rows <- reference_rows(dir)
  found <- list(cells = reference_cells(rows), ratios = reference_ratios(rows, large))
  if (!any(lengths(found))) {
    refuse(sprintf(
      paste(
        "site %s has at most %d usable launches of a cell in %s, an interval takes %d:",
        "COTEJO_SITE=%s make study LAUNCHES=%d"
      ),
      basename(dir), max(0L, in_newest_state(rows)[, list(n = uniqueN(file)), by = "cell"]$n),
      dirname(dir), FEWEST_LAUNCHES, basename(dir), FEWEST_LAUNCHES
    ))
  }
  cat(jsonlite::toJSON(found, auto_unbox = TRUE, digits = NA, na = "null"), "\n", sep = "")
}

# A row for each group of samples of each usable launch.
reference_rows <- function(dir) {
  files <- launch_files(dir)
  read <- lapply(files$files, function(file) {
    tryCatch(
      groups_of_launch(parse_description(file), file),
      error = function(fault) as_fault(fault, file)
    )
  })
  faulty <- vapply(read, inherits, NA, "condition")
  left_out <- list_broken(c(files$faults, read[faulty]))
  if (nrow(left_out)) message(sprintf("%d files were left out", nrow(left_out)))
  rbindlist(c(list(NO_GROUPS), read[!faulty]))
}

NO_GROUPS <- data.table(
  file = "", cell = "", started = "", session = "", mpi = "", test = "", block = "", kernel = "",
  cpu_model = "", lock_sha256 = "", name = "", operation = "", bytes = 0, median_s = 0, min_s = 0
)[0L]

# The rows of each cell's launches that are in the state of its newest launch.
in_newest_state <- function(rows) {
  rows <- rows[order(started)]
  set(rows, j = "state", value = do.call(paste, rows[, REFERENCE_STATE, with = FALSE]))
  rows[, .SD[state == state[.N]], by = "cell"]
}

groups_of_launch <- function(launch, file) {
  asked <- launch$asked
  rows <- Filter(function(row) row$n > 0, launch$summary)
  if (launch$status != "ok" || asked$scale == "smoke" || !length(rows)) {
    return(NULL)
  }
  seen <- launch$observed
  # Version 2 has an entry for each kind of host, the one of rank 0 first.
  node <- if (length(seen$nodes)) seen$nodes[[1L]] else seen$node
  values <- function(name) vapply(rows, function(row) number(row[[name]]), 0)
  data.table(
    file = file, cell = sub("[.][^.]*$", "", launch$id), started = launch$started,
    session = asked$session, mpi = scalar(asked$mpi), test = scalar(asked$test),
    block = paste(
      canonical(asked[intersect(SAME_BLOCK, names(asked))]), canonical(asked$settings),
      canonical(asked$parameters),
      sep = " | "
    ),
    kernel = scalar(node$kernel), cpu_model = scalar(node$cpu_model),
    lock_sha256 = scalar(launch$provenance$stack$lock_sha256),
    name = vapply(rows, name_of_group, ""), operation = vapply(rows, `[[`, "", "operation"),
    bytes = values("bytes"), median_s = values("median_s"), min_s = values("min_s")
  )
}

# The name of a group of samples within a launch, which the harness also computes
# (reframe_tests/harness/launch/references.py): operation, bytes and factors.
name_of_group <- function(row) {
  factors <- row[sort(setdiff(names(row), SUMMARY_VALUES), method = "radix")]
  values <- vapply(factors, function(value) {
    if (is.numeric(value)) sprintf("%.15g", value) else as.character(value)
  }, "")
  paste(c(
    row$operation, sprintf("%.15g B", row$bytes), sprintf("%s=%s", names(factors), values)
  ), collapse = " ")
}

# Cell -> its references: `date`, `state`, and an interval for each group with enough launches.
reference_cells <- function(rows) {
  cells <- lapply(split(in_newest_state(rows), by = "cell"), function(of) {
    times <- of[median_s > 0]
    groups <- Filter(function(group) nrow(group) >= FEWEST_LAUNCHES, split(times, by = "name"))
    last <- of[.N]
    if (length(groups)) {
      list(
        date = last$started, state = as.list(last[, REFERENCE_STATE, with = FALSE]),
        groups = lapply(groups, function(group) {
          interval_of_sessions(split(group$median_s, group$session), length(groups))
        })
      )
    }
  })
  as_object(Filter(length, cells))
}

# JSON writes a list without names as [].
as_object <- function(found) if (length(found)) found else structure(list(), names = character())

#' Centre and prediction interval (s) of a launch of a further session.
#'
#' The variance is the sum of the variances between and within sessions. With one session, the
#' interval is for a further launch of it.
#'
#' @param by_session list of the medians of launches (s), one vector for each session.
#' @param groups number of groups of a launch, which share the error.
#' @noRd
interval_of_sessions <- function(by_session, groups) {
  logs <- lapply(by_session, log)
  means <- vapply(logs, mean, 0)
  counts <- lengths(logs)
  sessions <- length(logs)
  freedom <- sum(counts) - sessions
  within <- if (freedom) sum(unlist(Map(`-`, logs, means))^2) / freedom else 0
  if (sessions > 1L) {
    # Means differ by the sessions, and by their launches.
    parts <- c(stats::var(means) * (1 + 1 / sessions), within * (1 - mean(1 / counts)))
    freedom <- c(sessions - 1L, max(1L, freedom))
  } else {
    parts <- within * (1 + 1 / sum(counts))
  }
  # Each part at the quantile of its own degrees of freedom: a few sessions may underestimate the
  # variance between them by far.
  some <- parts > 0
  quantiles <- stats::qt(REFERENCE_ALPHA / groups / 2, freedom[some], lower.tail = FALSE)
  reach <- min(max(sqrt(sum(parts[some] * quantiles^2)), LEAST_REACH), MOST_REACH)
  ends <- exp(mean(means) + reach * c(0, -1, 1))
  list(
    median_s = ends[[1L]], low_s = ends[[2L]], high_s = ends[[3L]], launches = sum(counts),
    sessions = sessions
  )
}

# Cell -> cell of the denominator -> usual ratios, and limits of deviations.
reference_ratios <- function(rows, large) {
  rows <- rows[min_s > 0]
  is_layer <- rows$mpi %in% LAYERS_BELOW
  own <- rows[!is_layer]
  beside <- function(others, common) {
    others <- others[, c("block", common, "cell", "mpi", "min_s"), with = FALSE]
    setnames(others, c("cell", "mpi", "min_s"), c("base", "other", "base_s"))
    merge(own, others, by = c("block", common), allow.cartesian = TRUE)[mpi != other]
  }
  # A layer has an operation without the factors that a library has it with.
  found <- rbind(
    beside(own, c("test", "name")), beside(rows[is_layer], c("operation", "bytes")),
    use.names = TRUE
  )
  set(found, j = "ratio", value = found$min_s / found$base_s)
  set(found, j = "part", value = fifelse(found$bytes < large, "small", "large"))
  cells <- lapply(split(found, by = "cell"), function(of) {
    Filter(length, lapply(split(of, by = "base"), ratio_of_cells))
  })
  as_object(Filter(length, cells))
}

# The reference of the ratios of two cells; `NULL` with too few launches or sessions.
ratio_of_cells <- function(of) {
  if (uniqueN(of$session) < FEWEST_SESSIONS || uniqueN(of$file) < FEWEST_LAUNCHES) {
    return(NULL)
  }
  of[, usual := stats::median(ratio), by = "name"]
  most <- of[, list(most = stats::median(ratio / usual)), by = c("file", "part")]
  list(
    usual = lapply(split(of, by = "name"), function(group) group$usual[[1L]]),
    limits = lapply(c(small = "small", large = "large"), function(which) {
      DEVIATION_FACTOR * max(1, most$most[most$part == which])
    }),
    launches = uniqueN(of$file), sessions = uniqueN(of$session),
    processors = I(sort(unique(of$cpu_model)))
  )
}
