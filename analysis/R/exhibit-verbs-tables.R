# SPDX-License-Identifier: BSD-3-Clause
# The verbs of tables: what each takes. The functions that draw them have their
# names with exhibit_ before them.

#' Memory of a rank after MPI_Init, the first all-to-all, at the end.
#'
#' @return for [exhibit()].
#' @keywords internal
memory_table <- function() {
  drawing("memory_table", kind = "table")
}

#' Where the variance between launches comes from.
#'
#' @return for [exhibit()].
#' @keywords internal
variance_table <- function() {
  drawing("variance_table", kind = "table")
}

#' Protocol regimes of a curve: latency, time of a byte, where they change.
#'
#' @return for [exhibit()].
#' @keywords internal
regime_table <- function() {
  drawing("regime_table", kind = "table", cost = 20)
}

#' Parameters of LogGP in each protocol regime.
#'
#' @return for [exhibit()].
#' @keywords internal
loggp_table <- function() {
  drawing("loggp_table", kind = "table", cost = 20)
}

#' From which size on two blocking sends that meet wait for each other.
#'
#' @return for [exhibit()].
#' @keywords internal
deadlock_table <- function() {
  drawing("deadlock_table", kind = "table")
}

#' LogP's parameters by size, by both methods.
#'
#' @return for [exhibit()].
#' @keywords internal
logp_table <- function() {
  drawing("logp_table", kind = "table")
}

#' Eager limits set by hand, and seen.
#'
#' @return for [exhibit()].
#' @keywords internal
limit_table <- function() {
  drawing("limit_table", kind = "table")
}

#' From which size on rendezvous is faster, and what to set.
#'
#' @return for [exhibit()].
#' @keywords internal
crossover_table <- function() {
  drawing("crossover_table", kind = "table")
}

#' Multi-zone kernels: load balance planned and seen, share of the exchange.
#'
#' @return for [exhibit()].
#' @keywords internal
balance_table <- function() {
  drawing("balance_table", kind = "table")
}

#' Time, phases, share of computation, speed-up.
#'
#' @param series columns told apart by colour, by name: `mpi`, or `c(mpi, transport)`.
#' @param panel columns told apart by panel, by name: `mpi`, or `c(mpi, transport)`.
#' @param measures columns of the samples, a curve or a phase each.
#' @param share those of `measures` that are computation.
#' @return for [exhibit()].
#' @keywords internal
phase_table <- function(series = NULL, panel = NULL, measures = NULL, share = NULL) {
  drawing(
    "phase_table", list(series = substitute(series), panel = substitute(panel)),
    measures = measures, share = share, kind = "table"
  )
}

#' Time of each variant over that of the original, in the same launches.
#'
#' @param x the column along the axis, by name: `mpi`, or `c(mpi, transport)`.
#' @param reference the level that others are held against; may have stars, of several the first
#' that is there.
#' @return for [exhibit()].
#' @keywords internal
variants_table <- function(x = NULL, reference = NULL) {
  drawing("variants_table", list(x = substitute(x)), reference = reference, kind = "table")
}

#' Size and number of messages by ranks.
#'
#' @param rows columns told apart by row, by name: `mpi`, or `c(mpi, transport)`.
#' @return for [exhibit()].
#' @keywords internal
message_table <- function(rows = NULL) {
  drawing("message_table", list(rows = substitute(rows)), kind = "table")
}

#' What one level gains over another, in %.
#'
#' @param by columns compared, of several the first that differs in these launches, by name.
#' @return for [exhibit()].
#' @keywords internal
gain_table <- function(by = NULL) {
  drawing("gain_table", list(by = substitute(by)), kind = "table")
}

#' Medians with their intervals.
#'
#' @param rows columns told apart by row, by name: `mpi`, or `c(mpi, transport)`.
#' @param columns columns told apart by column, by name: `mpi`, or `c(mpi, transport)`.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return for [exhibit()].
#' @keywords internal
medians_table <- function(rows = NULL, columns = NULL, unit = NULL) {
  drawing(
    "medians_table", list(rows = substitute(rows), columns = substitute(columns)),
    unit = unit, kind = "table"
  )
}

#' Which algorithm of a broadcast fits ranks and sizes, and how sure.
#'
#' @return for [exhibit()].
#' @keywords internal
scaling_table <- function() {
  drawing("scaling_table", kind = "table")
}

#' Printed numbers against what follows from the others; needs no launches.
#'
#' @return for [exhibit()].
#' @keywords internal
audit_table <- function() {
  drawing("audit_table", kind = "table")
}

#' Start-up and bandwidth of each layer, and what it adds to the one below.
#'
#' @return for [exhibit()].
#' @keywords internal
layers_table <- function() {
  drawing("layers_table", kind = "table")
}

#' Welch's test at 99 %, as the studies did.
#'
#' @param by columns compared, of several the first that differs in these launches, by name.
#' @param unit `"us"`, `"ms"`, `"ns"`, `"MB/s"`, `"Mbit/s"`, `"messages/s"`.
#' @return for [exhibit()].
#' @keywords internal
welch_table <- function(by = NULL, unit = NULL) {
  drawing("welch_table", list(by = substitute(by)), unit = unit, kind = "table")
}

#' How wrong a way of measuring is, as a table.
#'
#' @param wrong operations that measure wrongly.
#' @param right operations that measure rightly, as many.
#' @param repetition the only repetition that counts; of first calls 0 is the first of the
#' launch.
#' @return for [exhibit()].
#' @keywords internal
error_table <- function(wrong = NULL, right = NULL, repetition = NULL) {
  drawing("error_table", wrong = wrong, right = right, repetition = repetition, kind = "table")
}

#' Overhead of messages in a row: gap, hidden computation, their difference.
#'
#' @return for [exhibit()].
#' @keywords internal
overhead_table <- function() {
  drawing("overhead_table", kind = "table")
}

#' Start-up time and bandwidth of each transport and MPI.
#'
#' @return for [exhibit()].
#' @keywords internal
startup_table <- function() {
  drawing("startup_table", kind = "table")
}

#' The fastest broadcast by ranks and size.
#'
#' @return for [exhibit()].
#' @keywords internal
broadcast_table <- function() {
  drawing("broadcast_table", kind = "table")
}
