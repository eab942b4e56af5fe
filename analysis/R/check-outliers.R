# SPDX-License-Identifier: BSD-3-Clause
# Flags outlying launches and configurations with several modes. Deletes no launch.

#' Flag outlying launches and configurations whose launches have several modes.
#'
#' A launch is outlying when its median is more than `factor` times the median of its
#' configuration's launches, or less than `1 / factor` of it. A configuration has several modes
#' when Hartigan's dip test (Hartigan and Hartigan 1985) rejects one mode of the log launch medians
#' at `alpha`. The test needs ten launches or more. Its p is not corrected for multiple tests: it
#' only hints that a plot of the launches is worth a look.
#'
#' @param summary what [summarise_launches()] returned.
#' @param factor,alpha thresholds.
#' @return list of two data.tables: `outlying` (rows of `summary`, with `times_median`) and
#'   `modes` (configuration, `bytes`, `n`, `dip`, `p`).
#' @keywords internal
flag_launches <- function(summary, factor = 1.5, alpha = 0.01) {
  by <- c(configuration_columns(summary), "bytes")
  used <- summary[!is.na(median_s) & median_s > 0]
  used[, times_median := median_s / stats::median(median_s), by = by]
  outlying <- used[times_median > factor | times_median < 1 / factor]
  modes <- used[, dip_of(log(median_s)), keyby = by][!is.na(p) & p <= alpha]
  list(outlying = outlying[], modes = modes[])
}

dip_of <- function(x) {
  if (length(x) < 10L || length(unique(x)) < 3L) {
    return(list(n = length(x), dip = NA_real_, p = NA_real_))
  }
  test <- diptest::dip.test(x)
  list(n = length(x), dip = unname(test$statistic), p = test$p.value)
}
