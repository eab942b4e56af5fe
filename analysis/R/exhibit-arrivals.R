# SPDX-License-Identifier: BSD-3-Clause
# Exhibits of collectives whose ranks arrive at different times.

#' @describeIn exhibit_by_size The ratio of each pair of MPIs by arrival pattern, for times from
#'   the last arrival on. The time until the last rank arrives is a wait for both MPIs, and would
#'   draw ratios to 1. Some ranks, such as the root of a broadcast, may finish before the last rank
#'   arrives. Then the time from the last arrival on is that of the ranks still in the operation.
exhibit_arrivals <- function(exhibit, by = NULL, x = NULL) {
  if (!"arrival_last_s" %in% names(exhibit$summary)) await("launches whose ranks arrive apart")
  summary <- since_last_arrival(exhibit$summary)
  exhibit$summary <- summary[median_s > 0]
  exhibit_ratio(exhibit)
}

# A launch summary whose times (s) start at the arrival of the last rank.
since_last_arrival <- function(summary) {
  copy(summary)[, median_s := median_s - fcoalesce(as.numeric(arrival_last_s), 0)][]
}
