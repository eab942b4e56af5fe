# SPDX-License-Identifier: BSD-3-Clause
# Verbs for complete programs: their phases, their scaling and their messages.

# Medians of several measures of the samples, one row a configuration and measure: `value`.
medians_of_measures <- function(exhibit, measures, x) {
  rbindlist(lapply(measures, function(measure) {
    part <- exhibit
    part$summary <- summary_of_measure(exhibit, measure)
    part$medians <- summarise_configurations(part$summary, measure = "value")
    curves_of_exhibit(part, x)$medians
  }))
}

#' @describeIn exhibit_by_size Phases of a program, stacked. The phases are those of the rank that
#'   took longest. The gap between the bar and the point is time outside of the phases. If phases
#'   overlap, the bar is higher than the point.
exhibit_phases <- function(exhibit, x = NULL, series = NULL, panel = NULL, measures = NULL) {
  x <- argument(exhibit, "x", "ranks")
  measures <- argument(exhibit, "measures")
  parts <- medians_of_measures(exhibit, measures, x)
  whole <- curves_of_exhibit(exhibit, x)$medians
  bar <- function(table) level_of(table, unique(c(x, argument(exhibit, "series", "mpi"))))
  set(parts, j = "bar", value = bar(parts))
  set(whole, j = "bar", value = factor(as.character(bar(whole)), levels(parts$bar)))
  parts[, phase := factor(word_of_column(measure), word_of_column(measures))]
  plot <- ggplot2::ggplot(parts, ggplot2::aes(bar, 1e3 * value)) +
    ggplot2::geom_col(ggplot2::aes(fill = phase), width = 0.6) +
    ggplot2::geom_pointrange(
      ggplot2::aes(y = 1e3 * median_s, ymin = 1e3 * low_s, ymax = 1e3 * high_s),
      data = whole, size = 0.2, na.rm = TRUE
    ) +
    facet_panels(columns_of_panels(uniqueN(parts$panel)), "free_y") +
    ggplot2::scale_fill_grey(NULL, start = 0.35, end = 0.85) +
    ggplot2::scale_x_discrete(NULL, labels = \(text) {
      # Each word has its own line, since bars are narrow. A size stays with its unit.
      gsub(",? (?![KM]?i?B\\b)|(?<=-)", "\n", text, perl = TRUE)
    }) +
    y_axis("time (ms)", "linear") + theme_cotejo() +
    ggplot2::labs(caption = caption_of_exhibit(exhibit, paste(
      "Bars: medians over launches of the phases of the slowest rank. Points: the total time with",
      "its 95 % interval. Overlapping phases add up to more than the total time."
    ), whole$n))
  shares <- parts[, list(phase, share = 100 * value / sum(value)), by = c("panel", "bar", "bytes")]
  largest <- shares[, list(share = sum(share)), by = "phase"][which.max(share)]$phase
  # The time of the program is one more measure.
  time <- tidy_data(whole)[, !c("bar", "bytes_per_s", "bytes_per_s_low", "bytes_per_s_high")]
  setnames(time, c("median_s", "low_s", "high_s"), c("value", "value_low", "value_high"))
  data <- rbind(tidy_data(parts)[, !c("bar", "phase")], time[, measure := "time_s"], fill = TRUE)
  with_finding(with_data(plot, data), sprintf(
    "The largest phase, %s, takes %s %% of the time", largest,
    say_range(shares[phase == largest]$share)
  ))
}

#' Scaling relative to the fewest ranks, by configuration.
#'
#' @param per_rank whether the work of a rank is the same for any number of ranks.
#' @return data.table: `panel`, `level`, `ranks`, `base` (ranks of the reference), `n`; `speedup`
#'   and `efficiency` (1: ideal), each with `_low` and `_high` (`NA` under five launches).
#' @noRd
scaling_of <- function(points, per_rank) {
  rows <- lapply(split(points, by = c("panel", "level"), drop = TRUE), function(part) {
    base <- min(part$ranks)
    first <- part$median_s[part$ranks == base]
    rbindlist(lapply(sort(unique(part$ranks)), function(ranks) {
      times <- part$median_s[part$ranks == ranks]
      ratio <- ratio_interval(first, times)
      work <- if (per_rank) ranks / base else 1
      speedup <- work * unlist(ratio[c("ratio", "low", "high")])
      if (ranks == base) speedup[] <- 1
      data.table(
        panel = part$panel[[1L]], level = part$level[[1L]], ranks, base, n = length(times),
        speedup = speedup[["ratio"]], speedup_low = speedup[["low"]],
        speedup_high = speedup[["high"]]
      )
    }))
  })
  out <- rbindlist(rows)
  for (end in c("", "_low", "_high")) {
    out[, paste0("efficiency", end) := .SD[[1L]] * base / ranks,
      .SDcols = paste0("speedup", end)
    ]
  }
  out[]
}

#' @describeIn exhibit_by_size Speed-up and efficiency relative to the fewest measured ranks.
exhibit_scaling <- function(exhibit, series = NULL, panel = NULL, work = NULL) {
  points <- curves_of_exhibit(exhibit, "ranks")$points
  if (uniqueN(points$ranks) < 2L) await("another number of ranks")
  table <- scaling_of(points, argument(exhibit, "work", "fixed") == "per-rank")
  shown <- rbindlist(lapply(c("speedup", "efficiency"), function(what) {
    value <- function(end) table[[paste0(what, end)]]
    table[, list(
      ranks, level,
      panel = join_cells(as.character(panel), sub("speedup", "speed-up", what)),
      y = value(""), y_low = value("_low"), y_high = value("_high")
    )]
  }))
  shown[, panel := factor(panel, unique(panel[order(match(panel, unique(panel)))]))]
  axis <- axis_of("ranks", shown$ranks, "log")
  shown[, x := axis$place(ranks, level)]
  plot <- draw_curves(shown[0L], shown, "free_y") + axis$scale + y_axis(NULL, "linear") +
    ggplot2::labs(caption = caption_of_exhibit(exhibit, paste(
      "Time with the fewest ranks of a curve over the time; efficiency is that over the ratio of",
      "ranks, 1 at best. Bars: 95 % interval over launches."
    ), table$n))
  top <- table[which.max(speedup)]
  with_finding(with_data(plot, table), sprintf(
    "Largest speed-up: %s from %d to %d ranks%s", format_digits(top$speedup), top$base, top$ranks,
    if (nzchar(as.character(top$level))) sprintf(" (%s)", top$level) else ""
  ))
}

#' @describeIn exhibit_by_size Time, its phases, the share of computation, and the speed-up over
#'   the fewest ranks.
exhibit_phase_table <- function(exhibit, series = NULL, panel = NULL, measures = NULL,
                                share = NULL) {
  measures <- argument(exhibit, "measures")
  by <- c("panel", "level", "ranks", "bytes")
  curves <- curves_of_exhibit(exhibit, "ranks")
  whole <- curves$medians
  parts <- dcast(medians_of_measures(exhibit, measures, "ranks"),
    panel + level + ranks + bytes ~ measure,
    value.var = "value"
  )
  table <- parts[whole, on = by]
  computing <- rowSums(as.matrix(table[, argument(exhibit, "share"), with = FALSE]))
  table[, share := computing / median_s]
  gains <- scaling_of(curves$points, FALSE)
  table <- gains[table, on = c("panel", "level", "ranks")]
  ms <- function(seconds) format_digits(1e3 * seconds)
  shown <- data.table(
    Configuration = join_cells(as.character(table$panel), as.character(table$level)),
    Ranks = table$ranks, n = table$i.n,
    "Time (ms)" = format_interval(1e3 * table$median_s, 1e3 * table$low_s, 1e3 * table$high_s)
  )
  for (measure in measures) {
    name <- paste0(sentence_case(word_of_column(measure)), " (ms)")
    set(shown, j = name, value = ms(table[[measure]]))
  }
  set(shown, j = "Computation (%)", value = format_digits(100 * table$share))
  set(shown, j = "Speed-up", value = ifelse(
    table$ranks == table$base, sprintf("1 (%d)", table$base), format_digits(table$speedup)
  ))
  with_table(shown, tidy_data(table[, !"i.n"]), caption_of_exhibit(exhibit, paste(
    "Medians over launches, the time with its 95 % interval. Phases are those of the",
    "slowest rank. Speed-up over the number of ranks in brackets."
  ), table$i.n))
}

#' @describeIn exhibit_by_size Size and number of the messages that a rank sends in one run.
exhibit_message_table <- function(exhibit, rows = NULL) {
  rows <- argument(exhibit, "rows", "operation")
  measures <- c("messages", "sent_bytes")
  counts <- rbindlist(lapply(measures, \(measure) summary_of_measure(exhibit, measure)))
  set(counts, j = "panel", value = level_of(counts, rows))
  set(counts, j = "level", value = level_of(counts, "ranks"))
  table <- dcast(counts, panel + level + bytes ~ measure, value.var = "value",
    fun.aggregate = unique_one, fill = NA_real_
  )
  table[, text := ifelse(
    messages > 0, sprintf("%s x %s", format_whole(messages), format_bytes(bytes)), "none"
  )]
  wide <- dcast(table, panel ~ level, value.var = "text", fill = "")
  shown <- cbind(data.table(Configuration = as.character(wide$panel)), wide[, !"panel"])
  with_table(shown, table[, !"text"], caption_of_exhibit(
    exhibit, "Messages that one rank sends in one run, counted where it calls the library.",
    uniqueN(exhibit$summary$key)
  ))
}

# The common value of all launches; different values are an error of the counting.
unique_one <- function(values) {
  one <- unique(values)
  if (length(one) > 1L) refuse("launches of one program sent different numbers of messages")
  if (length(one)) one else NA_real_
}

#' @describeIn exhibit_by_size The gain of one level of a column over another, in % of the other's
#'   time.
exhibit_gain_table <- function(exhibit, by = NULL) {
  by <- argument(exhibit, "by", "mpi")
  comparison <- compare_exhibit(exhibit, by)
  shown <- data.table(
    First = in_words(by, comparison$a), Second = in_words(by, comparison$b),
    "Gain of the first (%)" = format_interval(
      100 * (1 - comparison$ratio), 100 * (1 - comparison$high), 100 * (1 - comparison$low)
    ),
    "p (Welch)" = format_p(comparison$welch_p),
    n = format_count(comparison$n_a, comparison$n_b)
  )
  with_table(setDT(c(varying_strata(comparison), shown)), comparison, caption_of_exhibit(
    exhibit, paste(
      "Gain: by how much the first's time is less, in % of the second's, over blocks, with its",
      "95 % interval."
    ), pmin(comparison$n_a, comparison$n_b)
  ))
}
