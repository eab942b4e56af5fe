# SPDX-License-Identifier: BSD-3-Clause
# Computes everything that figures, tables and the report show, in one pass over a results folder.

#' Read, summarise and compare results; prints progress.
#'
#' @param results_dir as for [read_results()].
#' @param session names of sessions to choose from, see [choose_sessions()].
#' @param delta margin of equivalence.
#' @param brief whether to leave out the account of sessions and the forecasts, as for figures.
#' @return list: `results` (what [read_results()] returned), `launches` (all); `account` (of the
#'   sessions, see [choose_sessions()]); `whole` (summaries of all launches, with the columns
#'   `COMPARED` of the launches); `summary` (of the used launches, with the columns of `narrow()`),
#'   `medians`; `comparison` and its `pairs` ([pairs_of()]), `differing` ([differing_pairs()]);
#'   `drift`, `serial` ([serial_of_sessions()]), the settings, and `merits` ([with_merits()]).
#' @noRd
compare_results <- function(results_dir, session = NULL, delta = 0.03, brief = FALSE) {
  message("reading ", results_dir)
  results <- read_study(results_dir)
  launches <- results$launches
  if (!any(launches$status == "ok" & (is.null(session) | launches$session %in% session))) {
    reasons <- launches$reason[!launches$status %in% RECORDED]
    bad_data(
      results_dir, NA,
      sprintf(
        "none of %s usable%s", count_of(nrow(launches), "launch is", "launches is"),
        if (length(reasons)) sprintf(" (first reason: %s)", reasons[[1L]]) else ""
      ),
      "see the reasons in the launch descriptions and measure again"
    )
  }
  message("summarising ", count_of(sum(launches$status == "ok"), "launch", "launches"))
  whole <- summarise_launches(results, COMPARED)
  chosen <- if (brief) {
    list(rows = choose_states(whole, SIDES, session)$used)
  } else {
    choose_sessions(whole, session = session)
  }
  summary <- keep_rows(narrow(whole), which(chosen$rows))
  summary <- with_algorithms(summary, launches)
  message("comparing")
  pairs <- pairs_of(summary, strata_of(summary, "mpi", character(), character()), "mpi")
  with_merits(list(
    results = results, launches = launches,
    account = if (!brief) account_with(chosen$account, launches),
    whole = whole, summary = summary,
    medians = algorithms_beside(summarise_configurations(summary), summary),
    comparison = algorithms_beside(
      compare_pairs(pairs, delta, forecast = !brief), summary, "mpi"
    ), pairs = pairs,
    differing = pairs_that_differ(pairs),
    drift = drift_of_blocks(summary), serial = serial_of_sessions(summary), delta = delta
  ))
}

# Columns of launches that comparisons and the choice of sessions need.
COMPARED <- unique(c(
  LAUNCH_FACTORS, names(HELD_FIXED), LAYOUT_NAME, "library", "allocation", "allocation_nodes",
  "key", "id", "session", "launch", "status", "no_effect", names(STATE)
))

# Select the columns of launch summaries that comparisons need, and the columns `also`.
narrow <- function(summary, also = character()) {
  columns <- c(
    configuration_columns(summary), "factors", COMPARED, "bytes", CELL_MEASURES, "bytes_per_s",
    also
  )
  summary[, intersect(unique(columns), names(summary)), with = FALSE]
}

#' Everything that a report shows: the result of [compare_results()], further comparisons, and the
#' account of the launches.
#'
#' @param advice whether to include recommended settings as `advice` ([advise()]).
#' @return as [compare_results()], and `used`, `unusable`, `older` (launches), `by_time` (the
#'   same comparison by the other `LAUNCH_TIMES`, by name), `settings` ([compare_settings()]),
#'   `agreement`, `flags`, `missing`, `sessions`, `audit`.
#' @noRd
analyse <- function(results_dir, session = NULL, ..., advice = FALSE) {
  study <- with_used(compare_results(results_dir, session, ...))
  compared <- study$summary
  message("comparing other times of the launches, settings and tools")
  pairs <- study$pairs
  study$pairs <- NULL
  # Slow tasks run in processes of their own, the longest first.
  times <- setdiff(names(LAUNCH_TIMES), "median")
  by_time <- lapply(stats::setNames(nm = times), function(time) {
    function() timed_only(compare_pairs(pairs_by_time(pairs, time), study$delta, forecast = FALSE))
  })
  further <- c(by_time, list(
    settings = function() compare_settings(compared, study$delta),
    agreement = function() compare_tools(study$whole, session, delta = study$delta),
    flags = function() flag_launches(study$summary)
  ))
  if (advice) {
    further$advice <- function() {
      results <- study$results
      with_families(families_of(results$sessions), advise(results, session, study$whole))
    }
  }
  done <- in_turns(seq_along(further), \(i) further[[i]]())
  names(done) <- names(further)
  c(study, done[setdiff(names(done), times)], list(by_time = done[times]))
}

# The result of [compare_results()] with the account of its launches and sessions.
with_used <- function(study) {
  launches <- study$launches
  keys <- unique(study$summary$key)
  here <- unique(study$summary[, c("site", "session")])
  in_session <- launches[here, on = c("site", "session")]$key
  sessions <- of_sessions(study$results$sessions, here)
  c(study, list(
    used = launches[key %in% keys],
    unusable = launches[key %in% in_session & !status %in% RECORDED],
    older = launches[status == "ok" & !key %in% keys],
    missing = missing_cells(sessions, launches), sessions = sessions,
    audit = of_sessions(study$results$audit, here)
  ))
}

of_sessions <- function(table, sessions) {
  if (NROW(table)) table[sessions, on = c("site", "session"), nomatch = NULL] else table
}

# Compares each IMB operation with cotejo's operation of the same pattern, on the same MPI,
# transport and placement. Experiment and parameters may differ. The tools need no common block.
compare_tools <- function(whole, session = NULL, ...) {
  tool <- c("experiment", "test", "parameters")
  rbindlist(lapply(c("pingpong", "pingping"), function(pattern) {
    operations <- paste0(c("", "imb-"), pattern)
    both <- keep_rows(whole, which(whole$operation %in% operations & !is.na(whole$median_s)))
    if (!nrow(both)) {
      return(NULL)
    }
    chosen <- choose_sessions(both, c("operation", tool, "factors", SIDES), session)
    both <- keep_rows(both, which(chosen$rows))
    compare_configurations(both, by = "operation", ignoring = tool, refused = "list", ...)
  }), fill = TRUE)
}
