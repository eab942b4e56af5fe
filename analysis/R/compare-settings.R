# SPDX-License-Identifier: BSD-3-Clause
# What settings change: each MPI against itself, with one setting and with another.

#' Compare the settings of each configuration.
#'
#' @param summary what [summarise_launches()] returned; what differs in `settings` alone is
#'   compared, no setting at all as `"defaults"`.
#' @inheritParams compare_configurations
#' @return as [compare_configurations()], `by = "settings"`.
#' @export
compare_settings <- function(summary, delta = 0.03) {
  part <- copy(summary)
  part[!nzchar(settings), settings := "defaults"]
  compare_configurations(part, by = "settings", delta = delta, refused = "list")
}
