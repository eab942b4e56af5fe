# SPDX-License-Identifier: BSD-3-Clause
# The package's own documentation and the names that data.table and ggplot2 look up in tables.

#' cotejo: which MPI is faster on this machine, by how much, with what certainty.
#'
#' The way of the data: [read_results()] -> [summarise_launches()] ->
#' [summarise_configurations()] and [compare_configurations()] -> [draw_figures()] and
#' [write_report()]. Tidy tables go in and come out; nothing is kept between calls.
#' The unit of replication is the launch, never the sample.
#'
#' @import data.table
#' @importFrom ggplot2 aes ggplot
#' @importFrom htmltools htmlEscape
#' @importFrom stats median sd
#' @keywords internal
"_PACKAGE"

.datatable.aware <- TRUE # nolint: object_name_linter.
