# SPDX-License-Identifier: BSD-3-Clause
# The package's own documentation, and what stands where.
#
# The name of a file begins with its verb, then comes its subject. In the order of the data:
#   read-        files -> launches, samples, summaries as they were kept
#   check-       refusals, what may be compared, which sessions, what stands out, printed numbers
#   summarise-   samples -> launches -> configurations, with intervals
#   compare-     the one model of comparison; verdicts, levels, claims, layers, studies
#   fit-         models of messages and collectives, limits, changes over time
#   draw-        tables -> figures and their files; words and numbers
#   exhibit-     the verbs of exhibits;  register-  the exhibits, one call each
#   report-      pages: report, paper, index, proof, questions
#   prove-       what the statistics do where the truth is known
#   run-, keep-  processes; what is kept from one run to the next
# An arrow points one way: what is further down calls what is further up.

#' cotejo: which MPI is faster on this machine, by how much, with what certainty.
#'
#' The way of the data: [read_results()] -> [summarise_launches()] ->
#' [summarise_configurations()] and [compare_configurations()] -> [draw_figures()] and
#' [write_report()]. Tidy tables go in and come out; nothing is kept between calls.
#' The unit of replication is the launch, never the sample.
#'
#' @import data.table
#' @importFrom htmltools htmlEscape
#' @importFrom stats median sd
#' @keywords internal
"_PACKAGE"

.datatable.aware <- TRUE # nolint: object_name_linter.
