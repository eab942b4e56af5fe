# SPDX-License-Identifier: BSD-3-Clause
# Did the machine change while a session ran? Asked of the blocks, which ran one after the other.

#' Drift of times over the blocks of each session.
#'
#' The level of a block is the geometric mean, over all configurations, operations and sizes, of
#' its launch medians over the configuration's median. Comparisons within blocks cancel what moves
#' a whole block; medians over launches do not. The trend is Theil's slope (Theil 1950) of the
#' level's logarithm over the blocks; its p is that of Kendall's test, exact without ties.
#'
#' @param summary what [summarise_launches()] returned.
#' @return data.table, one row a site, session and transport: `blocks`, `change` (relative, from
#'   the first block to the last along the trend), `lowest`, `highest` (levels of single blocks
#'   relative to the median), `p` (`NA` under five blocks).
#' @export
drift_of_blocks <- function(summary) {
  by <- c(configuration_columns(summary), "bytes")
  used <- summary[!is.na(median_s) & median_s > 0]
  used[, off := log(median_s / stats::median(median_s)), by = by]
  levels <- used[, list(level = mean(off)), keyby = c("site", "session", "transport", "launch")]
  levels[, trend_of(launch, level), keyby = c("site", "session", "transport")]
}

trend_of <- function(block, level) {
  n <- length(block)
  p <- if (n >= MIN_LAUNCHES && length(unique(level)) > 1L) {
    suppressWarnings(stats::cor.test(block, level, method = "kendall"))$p.value
  } else {
    NA_real_
  }
  steps <- outer(block, block, `-`)
  slopes <- (outer(level, level, `-`) / steps)[steps > 0]
  slope <- if (length(slopes)) stats::median(slopes) else 0
  list(
    blocks = n, change = expm1(slope * (max(block) - min(block))),
    lowest = exp(min(level)), highest = exp(max(level)), p = p
  )
}
