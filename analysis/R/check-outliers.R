# SPDX-License-Identifier: BSD-3-Clause
# Flags outlying launches and configurations with several modes. Deletes no launch.

#' Flag outlying launches and configurations whose launches have several modes.
#'
#' A launch is outlying when its median is more than `factor` times the median of its
#' configuration's launches, or less than `1 / factor` of it. A configuration has several modes
#' when Hartigan's dip test (Hartigan and Hartigan 1985) rejects one mode of the log launch medians
#' at 1 %. The test needs ten launches or more. Its p is not corrected for multiple tests: it
#' only hints that a plot of the launches is worth a look.
#'
#' @param summary what [summarise_launches()] returned.
#' @param factor threshold.
#' @return list of two data.tables: `outlying` (rows of `summary`, with `times_median`) and
#'   `modes` (configuration, `bytes`, `n`, `dip`, `p`).
#' @keywords internal
flag_launches <- function(summary, factor = 1.5) {
  by <- c(configuration_columns(summary), "bytes")
  used <- summary[!is.na(median_s) & median_s > 0]
  used[, times_median := median_s / stats::median(median_s), by = by]
  outlying <- used[times_median > factor | times_median < 1 / factor]
  modes <- used[, dip_of(log(median_s), LEAST_DIP), keyby = by][!is.na(p) & p <= 0.01]
  list(outlying = outlying[], modes = modes[])
}

# The p of a dip takes far longer than the dip itself. For ten launches or more, a dip that is less
# than this number over the root of their number has a p above 1 % (table of the package diptest).
LEAST_DIP <- 0.5

# The dip of values, and its p unless the dip is small (`least`, see above).
dip_of <- function(x, least = 0) {
  n <- length(x)
  dip <- if (n < 10L || length(unique(x)) < 3L) NA_real_ else diptest::dip(x)
  large <- !is.na(dip) && dip * sqrt(n) >= least
  list(n = n, dip = dip, p = if (large) diptest::dip.test(x)$p.value else NA_real_)
}
