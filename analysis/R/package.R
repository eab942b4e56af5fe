# SPDX-License-Identifier: BSD-3-Clause
# The package's own documentation, and the order of its files.
#
# The name of a file begins with its verb, followed by its subject. In the order of the data:
#   read-        files -> launches, samples, cached summaries.
#   check-       refusals, comparability, choice of sessions, outliers, printed numbers.
#   summarise-   samples -> launches -> configurations, with intervals.
#   compare-     the one model of comparison; verdicts, levels, claims, layers, studies.
#   fit-         models of messages and collectives, limits, changes over time.
#   draw-        tables -> figures and their files; words and numbers.
#   exhibit-     the verbs of exhibits.
#   register-    the exhibits, one call each.
#   report-      pages: report, paper, index, proof, questions.
#   prove-       tests of the statistics where the truth is known.
#   run-, keep-  processes; the cache of results.
# A file calls only functions of files that are further up in this list.

#' cotejo: compares MPI libraries on one machine: which is faster, by how much, how certainly.
#'
#' The way of the data: [read_results()] -> [summarise_launches()] ->
#' [summarise_configurations()] and [compare_configurations()] -> [draw_figures()] and
#' [write_report()]. All functions take and return tidy tables; nothing is kept between calls.
#' The unit of replication is the launch, never the sample.
#'
#' @import data.table
#' @importFrom htmltools htmlEscape
#' @importFrom stats median sd
#' @keywords internal
"_PACKAGE"

.datatable.aware <- TRUE # nolint: object_name_linter.
