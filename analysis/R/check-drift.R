# SPDX-License-Identifier: BSD-3-Clause
# Detects changes of the machine during a session by comparing its blocks, which ran in sequence.

#' Levels of the blocks of each session, in their order.
#'
#' The level of a block is the geometric mean, over all configurations, operations and sizes, of
#' its launch medians over the configuration's median in that session.
#'
#' @param summary what [summarise_launches()] returned.
#' @param of columns of the series.
#' @return data.table `of`, `launch` (the block's number), `level` (logarithm of the ratio to the
#'   median).
#' @noRd
levels_of_blocks <- function(summary, of = c("site", "session", "transport")) {
  by <- c(configuration_columns(summary), "bytes", "session")
  columns <- c(by, "launch", "median_s")
  used <- summary[which(median_s > 0), columns, with = FALSE]
  used[, in_cell := .GRP, by = by]
  middle <- used[, list(middle = median(median_s)), keyby = "in_cell"]$middle
  used[, off := log(median_s / middle[in_cell])]
  used[, list(level = mean(off)), keyby = c(of, "launch")]
}

#' Drift and warm-up over the blocks of each session.
#'
#' Comparisons within blocks cancel effects that change all launches of a block; medians over
#' launches do not. The trend is Theil's slope (Theil 1950) of the blocks' levels. Its p is that of
#' Kendall's test, exact without ties. Warm-up compares the first block with the median of the
#' other blocks, also in robust standard deviations of these blocks (1.4826 times the median
#' absolute deviation).
#'
#' @param summary what [summarise_launches()] returned.
#' @return data.table, one row a site, session and transport: `blocks`; `change` (relative, from
#'   the first block to the last along the trend); `lowest`, `highest` (levels of single blocks
#'   relative to the median); `p` (`NA` under five blocks); `first` (relative level of the first
#'   block); `first_deviations` (`NA` under five blocks); `warm_up` (slower by more than three
#'   standard deviations).
#' @keywords internal
drift_of_blocks <- function(summary) drift_of_levels(levels_of_blocks(summary))

drift_of_levels <- function(levels) {
  levels[, c(trend_of(launch, level), first_of(level)), keyby = c("site", "session", "transport")]
}

first_of <- function(level) {
  others <- level[-1L]
  enough <- length(level) >= MIN_LAUNCHES
  above <- if (enough) level[[1L]] - stats::median(others) else NA_real_
  deviations <- if (enough) above / max(stats::mad(others), .Machine$double.eps) else NA_real_
  list(
    first = expm1(above), first_deviations = deviations, warm_up = !is.na(above) & deviations > 3
  )
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
    lowest = exp(min(level) - stats::median(level)),
    highest = exp(max(level) - stats::median(level)), p = p
  )
}

#' Plot the level of each block in the order of the session.
#'
#' @param summary what [summarise_launches()] returned.
#' @return a ggplot, a panel a site, session and transport; its data as attribute `data`.
#' @keywords internal
plot_drift <- function(summary) {
  levels <- levels_of_blocks(summary)
  drift <- drift_of_levels(levels)
  all <- levels[drift, on = c("site", "session", "transport")]
  largest <- utils::head(drift[order(-abs(change))], MOST_PANELS)
  shown <- all[largest, on = c("site", "session", "transport"), nomatch = NULL]
  shown[, panel := sprintf(
    "%s, session %s, %s: %+.1f %%%s%s", site, session, title_of(transport), 100 * change,
    fifelse(is.na(p), "", paste(", p =", format_p(p))),
    fifelse(warm_up, sprintf(", first block %+.1f %%", 100 * first), "")
  )]
  shown[, panel := factor(panel, unique(panel))]
  shown[, percent := 100 * expm1(level)]
  lines <- shown[, list(
    launch = range(launch),
    percent = 100 * expm1(trend_line(launch, level, log1p(change[[1L]])))
  ), by = "panel"]
  whole <- function(limits) unique(floor(pretty(limits, 8L)))
  plot <- ggplot2::ggplot(shown, ggplot2::aes(launch, percent)) +
    ggplot2::geom_hline(yintercept = 0, linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_line(data = lines, colour = COLOURS[[2L]], linetype = "42", linewidth = 0.5) +
    ggplot2::geom_point(size = 1.5, colour = COLOURS[[1L]]) +
    facet_panels(2L, "free") +
    ggplot2::scale_x_continuous("block, in the order of the session", breaks = whole) +
    ggplot2::ylab("times of the block against the median (%)") +
    ggplot2::labs(title = sprintf(
      "Times changed by up to %s %% over a session", format_digits(100 * max(abs(drift$change)))
    ), subtitle = paste(c(
      sprintf("Level of all times in each block, site %s.", toString(unique(drift$site))),
      if (nrow(largest) < nrow(drift)) {
        sprintf(
          "The %d of %d sessions and transports with the largest change; the CSV file has all.",
          nrow(largest), nrow(drift)
        )
      }
    ), collapse = " "), caption = caption_of(
      paste(
        "Points: geometric mean over all configurations and sizes of the launch medians of a",
        "block over their median. Dashed: Theil's trend, its change over the session in the title",
        "with Kendall's p. A first block is named when it is slower by more than three robust",
        "standard deviations."
      ), drift$blocks, summary$simulated
    )) + theme_cotejo()
  with_data(plot, all)
}

trend_line <- function(block, level, change) {
  steps <- diff(range(block))
  slope <- if (steps > 0) change / steps else 0
  stats::median(level - slope * block) + slope * range(block)
}
