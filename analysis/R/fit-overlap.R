# SPDX-License-Identifier: BSD-3-Clause
# Estimates how much computation a message hides, from the curve of time against computation.

#' Opportunity of overlap of one curve.
#'
#' The model is a hinge: t(c) = max(t0, o + c). Computation c is hidden until it fills the free
#' part of the operation's time; any further computation adds to the time. t0 is the time without
#' computation, and o is the processor time that the message needs. t0 - o is the largest
#' computation that is hidden. t0 is the median of the times before the knee, and o the median of
#' t - c after it. The knee is at the place with the smallest sum of absolute deviations, so
#' that single bad samples have no weight.
#'
#' @param computation time of the computation alone at each step (s), rising from 0.
#' @param seconds time of the operation with the computation (s).
#' @return list: `base_s` (t0), `overhead_s` (o, between 0 and t0), `hidden_s` (t0 - o), `share`
#'   (hidden part of t0), `misfit` (mean absolute deviation from the model, relative to t0), and
#'   `knee_seen`: whether there are steps beyond the knee. Without such steps, all computation was
#'   hidden, and `overhead_s` is an upper bound.
#' @keywords internal
overlap_opportunity <- function(computation, seconds) {
  n <- length(seconds)
  if (n < 3L || length(computation) != n || anyNA(c(computation, seconds))) {
    refuse("a curve of overlap needs three steps or more, with a time and a computation each")
  }
  o <- order(computation)
  c_s <- computation[o]
  t_s <- seconds[o]
  hinges <- hinges_of(c_s, t_s)
  best <- lapply(hinges, `[[`, which.min(hinges$loss))
  list(
    base_s = best$base, overhead_s = best$overhead, hidden_s = best$base - best$overhead,
    share = (best$base - best$overhead) / best$base, misfit = best$loss / n / best$base,
    knee_seen = max(c_s) > best$base - best$overhead
  )
}

# The hinges with the first step, the first two steps and so on before the knee.
hinges_of <- function(c_s, t_s) {
  n <- length(t_s)
  before <- upper.tri(diag(n), TRUE)
  medians_where <- function(values, where) column_medians(matrix(ifelse(where, values, NA), n))
  base <- medians_where(t_s, before)
  behind <- medians_where(t_s - c_s, !before)
  behind[[n]] <- base[[n]] - max(c_s)
  overhead <- pmin(pmax(behind, 0), base)
  model <- pmax(rep(base, each = n), outer(c_s, overhead, `+`))
  list(base = base, overhead = overhead, loss = colSums(abs(t_s - matrix(model, n))))
}

#' Medians of the steps of each overlap curve.
#'
#' @param results what [read_results()] returned; samples of the experiment `overlap`.
#' @return data.table, one row a launch, operation, size and step: the launches' columns,
#'   `operation`, `bytes`, `step`, and medians over the samples: `multiply_adds`, `computation_s`
#'   (alone), `time_s`, `start_s`, `compute_s`, `wait_s` (s).
#' @keywords internal
overlap_curves <- function(results) {
  summary <- summary_of_samples(results)
  measures <- c("multiply_adds", "alone_s", "time_s", "start_s", "compute_s", "wait_s")
  columns <- column_of_measure(measures)
  need_columns(summary, c("step", columns[-1L]), "samples of the experiment overlap")
  used <- summary[n > 0L & startsWith(operation, "overlap-")]
  if (!nrow(used)) {
    refuse("no valid sample of the experiment overlap; measure it first")
  }
  by <- c("key", "operation", "bytes", "step")
  # Version 1 does not record that amounts of computation are measures.
  if (!columns[[1L]] %in% names(used)) columns[[1L]] <- "multiply_adds"
  out <- setnames(used[, c(by, columns), with = FALSE], columns, measures)
  setnames(out, "alone_s", "computation_s")
  out[, key := as.character(key)]
  setkeyv(out, by)
  results$launches[out, on = "key"]
}

# Columns that identify a configuration and size of a curve.
OVERLAP_CELL <- c(
  "site", "simulated", "mpi", "transport", "placement", "settings", "parameters", "operation",
  "bytes"
)

#' Opportunity of overlap of each configuration and size, with intervals over launches.
#'
#' A curve is evaluated for every launch; the result is the median over launches with its interval.
#'
#' @param curves what [overlap_curves()] returned.
#' @param level of the intervals.
#' @return data.table, one row per configuration, operation and size: `n` (launches), `misfit`
#'   (median) and `knee_seen` (in every launch). Further columns are `base_s`, `overhead_s`,
#'   `hidden_s` (s), `share` and, where recorded, `call_s` (s, within the calls, without
#'   computation), each with `_low` and `_high` (`NA` for fewer than five launches).
#' @keywords internal
estimate_overlap <- function(curves, level = 0.95) {
  by <- OVERLAP_CELL
  need_columns(curves, c(by, "key", "computation_s", "time_s"), "the curves of overlap")
  single <- curves[, overlap_opportunity(computation_s, time_s), keyby = c(by, "key")]
  noted <- all(c("start_s", "wait_s") %in% names(curves))
  if (noted) {
    single[, call_s := curves[, (start_s + wait_s)[which.min(computation_s)],
      keyby = c(by, "key")
    ]$V1]
  }
  interval <- function(x) {
    unlist(median_interval(x, level)[c("median", "low", "high")])
  }
  measures <- c("base_s", "overhead_s", "hidden_s", "share", if (noted) "call_s")
  single[, c(
    list(n = .N),
    stats::setNames(
      as.list(unlist(lapply(.SD[, measures, with = FALSE], interval), use.names = FALSE)),
      paste0(rep(measures, each = 3L), c("", "_low", "_high"))
    ),
    list(misfit = stats::median(misfit), knee_seen = all(knee_seen))
  ), keyby = by]
}
