# SPDX-License-Identifier: BSD-3-Clause
# One pass over a folder of results: everything that figures, tables and the report show.

#' Read, summarise and compare; prints progress.
#'
#' @param results_dir as for [read_results()].
#' @param session names of sessions to choose from, see [select_sessions()].
#' @param delta margin of equivalence.
#' @param seed,replicates of the bootstrap.
#' @return list: `results` (what [read_results()] returned), `launches` (all), `chosen` (the
#'   sessions of each site and experiment), `summary`, `medians`, `comparison`, `drift`, and the
#'   settings.
#' @noRd
compare_results <- function(results_dir, session = NULL, delta = 0.03, seed = 1L,
                            replicates = 4000L) {
  message("reading ", results_dir)
  results <- read_results(results_dir)
  launches <- results$launches
  chosen <- select_sessions(launches, session)
  if (!nrow(chosen)) {
    bad_data(
      results_dir, NA,
      sprintf(
        "none of %s usable%s", count_of(nrow(launches), "launch is", "launches is"),
        first_reason(launches)
      ),
      "see the reasons in the launch descriptions and measure again"
    )
  }
  in_chosen <- launches[chosen, on = c("site", "experiment", "session"), nomatch = NULL]$key
  message("summarising ", count_of(length(in_chosen), "launch", "launches"))
  summary <- summarise_launches(results)
  summary <- keep_rows(summary, which(summary$key %in% in_chosen))
  message("comparing")
  list(
    results = results, launches = launches, chosen = chosen, summary = summary,
    medians = summarise_configurations(summary, seed = seed, replicates = replicates),
    comparison = compare_configurations(
      summary,
      delta = delta, seed = seed, replicates = replicates, refused = "list"
    ),
    drift = drift_of_blocks(summary), delta = delta, seed = seed, replicates = replicates
  )
}

#' All that a report shows: what [compare_results()] returns, further comparisons, and the account
#' of the launches.
#'
#' @return as [compare_results()], and `used`, `unusable`, `older` (launches), `undisturbed` (the
#'   same comparison by [undisturbed()]), `agreement`, `flags`, `missing`, `sessions`, `audit`.
#' @noRd
analyse <- function(results_dir, ...) {
  study <- compare_results(results_dir, ...)
  launches <- study$launches
  plans <- study$results
  sessions <- unique(study$chosen[, c("site", "session")])
  in_chosen <- launches[study$chosen, on = c("site", "experiment", "session"), nomatch = NULL]$key
  in_session <- launches[sessions, on = c("site", "session")]$key
  c(study, list(
    used = launches[key %in% in_chosen & status == "ok"],
    unusable = launches[key %in% in_session & status != "ok"],
    older = launches[!key %in% c(in_chosen, in_session)],
    undisturbed = compare_configurations(
      undisturbed(study$summary),
      delta = study$delta, seed = study$seed, replicates = study$replicates, refused = "list"
    ),
    agreement = compare_tools(
      study$summary,
      delta = study$delta, seed = study$seed, replicates = study$replicates
    ),
    flags = flag_launches(study$summary),
    missing = missing_cells(of_sessions(plans$sessions, sessions), launches),
    sessions = of_sessions(plans$sessions, sessions), audit = of_sessions(plans$audit, sessions)
  ))
}

of_sessions <- function(table, sessions) {
  if (nrow(table)) table[sessions, on = c("site", "session"), nomatch = NULL] else table
}

# Each IMB operation against ours of the same pattern.
compare_tools <- function(summary, ...) {
  rbindlist(lapply(c("pingpong", "pingping"), function(ours) {
    agree_tools(summary, ours, paste0("imb-", ours), refused = "list", ...)
  }), fill = TRUE)
}

count_of <- function(n, one, many) paste(n, if (n == 1L) one else many)

first_reason <- function(launches) {
  reasons <- launches$reason[launches$status != "ok"]
  if (length(reasons)) sprintf(" (first reason: %s)", reasons[[1L]]) else ""
}
