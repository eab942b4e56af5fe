# SPDX-License-Identifier: BSD-3-Clause
# The package's own documentation, and the order of its files.
#
# The name of a file begins with its verb, followed by its subject. In the order of the data:
#   read-        files -> launches, samples, cached summaries.
#   check-       refusals, comparability, choice of sessions, outliers, printed numbers.
#   summarise-   samples -> launches -> configurations, with intervals.
#   compare-     the one model of comparison; verdicts, levels, claims, studies.
#   fit-         models of messages and collectives, limits, changes over time.
#   draw-        tables -> figures and their files; words and numbers.
#   exhibit-     the verbs of exhibits, and the layers of a site.
#   register-    the exhibits of inst/exhibits.yaml.
#   report-      pages: report, paper, index, proof, questions.
#   prove-       tests of the statistics where the truth is known.
#   run-, keep-  processes; the cache of results, and packed datasets.
# The calls between files form no circle: a test compares them with codetools.

#' cotejo: compares MPI libraries on one machine: which is faster, by how much, how certainly.
#'
#' The way of the data: [read_results()] -> [summarise_launches()] ->
#' [summarise_configurations()] and [compare_configurations()] -> [draw_figures()] and
#' [write_report()]. All functions take and return tidy tables. Results are cached
#' (`options(cotejo.cache = FALSE)` turns the cache off).
#' The unit of replication is the launch, never the sample.
#'
#' @import data.table
#' @importFrom htmltools htmlEscape
#' @importFrom stats median sd
#' @keywords internal
"_PACKAGE"

.datatable.aware <- TRUE # nolint: object_name_linter.

# Columns in expressions of data.table and ggplot2. R CMD check reports any other unknown name.
utils::globalVariables(scan(what = "", quiet = TRUE, text = "
  . L_call_s L_overlap_s Network a after agree ahead alarms algorithm alone alone_s
  arrival_last_s at at_least at_most at_page b base base_s before before_bytes below best
  best_lesser best_newest best_state block blocks both bound buffers_bytes bytes bytes_per_s
  bytes_per_s_high bytes_per_s_low call_s candidates cell cells change choosing chosen claim
  cluster column command commit computation_ms computation_s compute confidence configuration
  configurations cores count coverage cpu_model curve cv data deviation df eager_limit_bytes
  eel_s equal error exchange experiment explained family figure_better figure_unit filter found
  found_deadlock_bytes from g_derived_s g_s group half header header_bytes held here
  hidden_computation_ms high high_s hosts i.all i.at_most i.launches i.machine i.middle i.order
  i.others i.q i.time_s i.verdict id in_cell is_newest job judgement judging kind knee_seen label
  lag leader launch launched launches lead leads led least left left_out lesser level limit log_s
  low low_s machine measure median_s messages min_s misfit mop more more_launches more_sessions
  most mpi n n_a n_all n_b n_invalid name named needless net_s network newest no_effect nodes
  nodes_high nodes_low note of off only operation or_call_s or_overlap_s os_call_s os_overlap_s
  other others over_all own p page pair paired panel parameter_alias part pattern percent
  performance phase place placement places planned plant plant_a plant_b predicted printed_high
  printed_low probability published quantity ranks ratio reason recomputed refused regret
  relevance remark repetition replacement reported_decisions reported_evidence resident_bytes
  residual right run scope seen_high seen_low sent series session session_high session_low
  sessions sessions_differ setting_eager_limit settings settled several share share_high
  share_low shown side silent simulated site size sizes slower slug speedup spread_over start_s
  started startup startup_ratio startup_s state status stratum studies study taken_bytes test
  tests text threads tier tier_a tier_b time time_s times times_median title to top transport
  transposition_ms tried_bytes turned unit usable used usual valid value value.x value.y
  value_high value_low variant variation verdict verdict_of_slow wait_s wall_s wanted warm_up way
  what where why wide width winner words_s worst wrong x y y_high y_low
"))
