# SPDX-License-Identifier: BSD-3-Clause
# Collectives whose ranks arrive apart.

#' The ratio of each pair of MPIs by when ranks arrive, of times from the last arrival on.
#'
#' What passes until the last rank arrives is a wait in both of a pair, and would draw ratios to 1.
#' Where an operation is over before the last rank comes, as a broadcast's root may be, the time
#' from there on is that of the ranks that are still in it. Arguments: as [exhibit_ratio()].
#' @noRd
exhibit_arrivals <- function(exhibit) {
  if (!"arrival_last_s" %in% names(exhibit$summary)) await("launches whose ranks arrive apart")
  summary <- since_last_arrival(exhibit$summary)
  exhibit$summary <- summary[median_s > 0]
  exhibit_ratio(exhibit)
}

# A launch summary whose times (s) begin with the arrival of the last rank.
since_last_arrival <- function(summary) {
  copy(summary)[, median_s := median_s - fcoalesce(as.numeric(arrival_last_s), 0)][]
}
