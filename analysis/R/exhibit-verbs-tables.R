# SPDX-License-Identifier: BSD-3-Clause
# The verbs of tables, with their arguments. The function that draws a verb has the verb's name
# with exhibit_ before it.

#' Memory of a rank after MPI_Init, the first all-to-all, at the end.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
memory_table <- function() drawing("memory_table", kind = "table")

#' Shares of each source in the variance between launches.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
variance_table <- function() drawing("variance_table", kind = "table")

#' Protocol regimes of a curve: latency, time per byte, and the sizes at which they change.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
regime_table <- function() drawing("regime_table", kind = "table", cost = 20)

#' Parameters of LogGP in each protocol regime.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
loggp_table <- function() drawing("loggp_table", kind = "table", cost = 20)

#' Smallest size at which two blocking sends to each other wait for a receive.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
deadlock_table <- function() drawing("deadlock_table", kind = "table")

#' LogP's parameters by size, by both methods.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
logp_table <- function() drawing("logp_table", kind = "table")

#' Eager limits that were set, and eager limits that were observed.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
limit_table <- function() drawing("limit_table", kind = "table")

#' Smallest size at which rendezvous is faster, and the advised setting.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
crossover_table <- function() drawing("crossover_table", kind = "table")

#' Multi-zone kernels: planned and observed load balance, share of the exchange.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
balance_table <- function() drawing("balance_table", kind = "table")

#' Time, phases, share of computation, speed-up.
#'
#' @inheritParams overlap
#' @param share the columns among `measures` that are computation.
#' @return the drawing, for [exhibit()].
#' @keywords internal
phase_table <- function(series = NULL, panel = NULL, measures = NULL, share = NULL) {
  drawing("phase_table", kind = "table")
}

#' Time of each variant divided by that of the original, in the same launches.
#'
#' @inheritParams relative
#' @param x name of the column along the axis: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
variants_table <- function(x = NULL, reference = NULL) drawing("variants_table", kind = "table")

#' Size and number of messages by ranks.
#'
#' @param rows names of the columns shown by row: `mpi`, or `c(mpi, transport)`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
message_table <- function(rows = NULL) drawing("message_table", kind = "table")

#' Gain of one level over another, in %.
#'
#' @param by names of the columns to compare; the first that differs in these launches counts.
#' @return the drawing, for [exhibit()].
#' @keywords internal
gain_table <- function(by = NULL) drawing("gain_table", kind = "table")

#' Medians with their intervals.
#'
#' @param rows names of the columns shown by row: `mpi`, or `c(mpi, transport)`.
#' @param columns names of the columns shown by column: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return the drawing, for [exhibit()].
#' @keywords internal
medians_table <- function(rows = NULL, columns = NULL, unit = NULL) {
  drawing("medians_table", kind = "table")
}

#' Algorithm of a broadcast that fits ranks and sizes best, and the confidence in it.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
scaling_table <- function() drawing("scaling_table", kind = "table")

#' Printed numbers compared with values computed from other printed numbers; needs no launches.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
audit_table <- function() drawing("audit_table", kind = "table")

#' Start-up time and bandwidth of each layer, and the cost it adds to the layer below.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
layers_table <- function() drawing("layers_table", kind = "table")

#' Welch's test at 99 %, as in the original studies.
#'
#' @inheritParams gain
#' @return the drawing, for [exhibit()].
#' @keywords internal
welch_table <- function(by = NULL, unit = NULL) drawing("welch_table", kind = "table")

#' Error of a way of measuring, as a table.
#'
#' @inheritParams error
#' @return the drawing, for [exhibit()].
#' @keywords internal
error_table <- function(wrong = NULL, right = NULL, repetition = NULL) {
  drawing("error_table", kind = "table")
}

#' Overhead of consecutive messages: gap, hidden computation, their difference.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
overhead_table <- function() drawing("overhead_table", kind = "table")

#' Start-up time and bandwidth of each transport and MPI.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
startup_table <- function() drawing("startup_table", kind = "table")

#' The fastest broadcast by ranks and size.
#'
#' @return the drawing, for [exhibit()].
#' @keywords internal
broadcast_table <- function() drawing("broadcast_table", kind = "table")
