# SPDX-License-Identifier: BSD-3-Clause
# Verbs that draw or list comparisons: relative performance, ratios of pairs, errors of methods.

#' Compare the levels of a column within an exhibit's data.
#'
#' Extends [compare_configurations()]: `by` may also be an option, a parameter or a setting. Then
#' it is no longer part of the strata.
#'
#' @return the table of comparisons; waits with the reason if nothing can be compared.
#' @noRd
compare_exhibit <- function(exhibit, by, summary = exhibit$summary) {
  varied <- grep("^(parameter|setting)_", names(summary), value = TRUE)
  others <- varied[bare_name(varied) != bare_name(by)]
  # The columns of single parameters and settings contain all values of these two columns.
  ignoring <- c("settings", "parameters")
  comparison <- compare_configurations(
    summary, by,
    ignoring = ignoring, also = others, refused = "list", forecast = FALSE
  )
  if (!nrow(comparison)) {
    why <- refused_pairs(summary, by, ignoring, also = others)$why
    if (length(why)) await("launches that may be compared (", why[[1L]], ")")
    levels <- in_words(by, unique(summary[[by]]))
    await("a second ", word_of_column(by), " beside ", toString(levels))
  }
  comparison
}

#' @describeIn exhibit_by_size Performance or time of each level of `by` in % of that of the
#'   reference level, by size.
exhibit_relative <- function(exhibit, by = NULL, series = NULL, panel = NULL, reference = NULL,
                             of = NULL) {
  by <- compared_in(exhibit, "placement")
  comparison <- compare_exhibit(exhibit, by)
  reference <- reference_in(comparison, argument(exhibit, "reference", "near"))
  relative <- relative_to(comparison, reference)
  if (!nrow(relative)) {
    await("launches with ", word_of_column(by), " ", reference, " and with another")
  }
  of <- argument(exhibit, "of", "performance")
  relative[, `:=`(ratio = 100 * performance, low = 100 * low, high = 100 * high)]
  if (of == "time") relative[, `:=`(ratio = 1e4 / ratio, low = 1e4 / high, high = 1e4 / low)]
  # The compared level is in the column `other`.
  exhibit$arguments$series <- c(setdiff(argument(exhibit, "series", "mpi"), by), "other")
  panel <- setdiff(argument(exhibit, "panel", "transport"), by)
  plot <- plot_ratios(
    relative, exhibit, if (length(panel)) panel else "transport",
    sprintf("%s, %% of %s", of, in_words(by, reference)),
    sprintf(WHAT_RELATIVE_SHOWS[[of]], word_of_column(by), in_words(by, reference)),
    none = 100
  )
  others <- levels(in_words(by, unique(relative$other)))
  finding <- sprintf(
    "%s with %s: %s %% of that with %s", sentence_case(of),
    if (length(others) > 2L) "the others" else paste(others, collapse = " or "),
    say_range(relative$ratio), in_words(by, reference)
  )
  data <- relative[, !"performance"]
  setnames(data, c("ratio", "low", "high"), c("percent", "percent_low", "percent_high"))
  with_finding(with_data(plot, data), finding)
}

WHAT_RELATIVE_SHOWS <- c(
  performance = paste(
    "Points: time with %s %s over time with the other, in %%, over blocks; this is the relative",
    "bandwidth, the inverse of the relative latency. Bars: interval within the question.",
    "Under 100 %% the other is slower."
  ),
  time = paste(
    "Points: time over time with %s %s, in %%, over blocks. Bars: interval within",
    "the question. Above 100 %% the other is slower."
  )
)

#' Plot ratios with their intervals by size, log-log, with a line at no difference.
#'
#' @param table comparison with `ratio`, `low`, `high`, `n`.
#' @param none the ratio of no difference.
#' @noRd
plot_ratios <- function(table, exhibit, panel, axis, what, none = 1) {
  series <- argument(exhibit, "series", "mpi")
  panel <- c(panel, unexplained_in(table, c(series, panel, "operation")))
  shown <- copy(table)[is.finite(ratio) & ratio > 0]
  if (!nrow(shown)) await("times above zero")
  shown[, `:=`(level = level_of(shown, series), panel = level_of(shown, panel))]
  shown[, `:=`(
    x = place_bytes(bytes, bytes) * set_apart(level), y = ratio, y_low = low, y_high = high
  )]
  plot <- draw_curves(shown[0L], shown) + line_at(none) + scale_bytes(shown$bytes) +
    ratio_axis(axis) +
    ggplot2::labs(caption = caption_of_exhibit(exhibit, what, shown$n))
  with_data(plot, table)
}

# A line at the value of no difference, and the axis of ratios.
line_at <- function(y) ggplot2::geom_hline(yintercept = y, linewidth = 0.3, colour = "grey40")
ratio_axis <- function(title) {
  ggplot2::scale_y_continuous(
    title, trans = "log2", breaks = ratio_breaks, labels = \(v) format_axis(signif(v, 3L))
  )
}

# The first of the wanted levels (which may have stars) that is in a comparison.
reference_in <- function(comparison, wanted) {
  levels <- unique(c(comparison$a, comparison$b))
  there <- unlist(lapply(wanted, function(w) grep(utils::glob2rx(w), levels, value = TRUE)))
  if (length(there)) there[[1L]] else wanted[[1L]]
}

# The pairs with the reference; `performance` is the time of the reference over the other time.
relative_to <- function(comparison, reference) {
  rows <- rbind(comparison[a == reference], comparison[b == reference])
  turned <- turned_to(rows, reference)
  rows[, c("other", "performance", "low", "high", "verdict", "n") := c(
    turned[, list(b, ratio, low, high, verdict)], list(pmin(n_a, n_b))
  )]
  rows[]
}

# Further columns in which the rows of a comparison differ, except the columns `named`.
unexplained_in <- function(comparison, named) {
  columns <- c(
    "site", "simulated", "operation", "test", "transport", "placement", "ranks", "hosts",
    grep("^(parameter|setting)_", names(comparison), value = TRUE)
  )
  columns <- columns[!bare_name(columns) %in% bare_name(named)]
  Filter(function(column) {
    values <- comparison[[column]]
    !is.null(values) && length(unique(values)) > 1L
  }, columns)
}

# An option and the parameter that sets it have the same bare name.
bare_name <- function(column) gsub("[ -]+", "-", word_of_column(column))

#' @describeIn exhibit_by_size Ratios of times with their verdicts, at fixed sizes, by the levels
#'   of the column `x`: the ratio of each pair of MPIs with every start line.
exhibit_ratio <- function(exhibit, by = NULL, x = NULL) {
  by <- argument(exhibit, "by", "mpi")
  x <- argument(exhibit, "x")
  parts <- split(exhibit$summary, by = x)
  table <- rbindlist(lapply(parts, function(part) {
    comparison <- compare_exhibit(exhibit, by, part)
    cbind(x = part[[x]][[1L]], comparison)
  }), fill = TRUE)
  if (uniqueN(table$x) < 2L) await("a second ", word_of_column(x), " beside ", table$x[[1L]])
  table[, pair := paste(in_words(by, a), "/", in_words(by, b))]
  table[, pair := factor(pair, unique(pair))]
  # Size, transport and the other columns that distinguish the rows.
  more <- unexplained_in(table, c("bytes", "transport", "operation", x))
  set(table, j = "where", value = level_of(table, c("bytes", "transport", more)))
  set(table, j = "x", value = in_words(x, table$x))
  plot <- draw_ratios(table, exhibit, "ratio of times, first / second", by)
  with_finding(with_data(plot, table[, !c("shown", "where", "panel")]), say_wins(
    fifelse(table$shown %in% VERDICTS, "", sub(" faster$", "", table$shown)), "faster",
    "comparison", "No difference shown in"
  ))
}

# Ratios as points over a discrete axis `x`, coloured by verdict.
draw_ratios <- function(table, exhibit, axis, by, what = WHAT_RATIOS_SHOW) {
  table[, shown := result_of(table, function(level) in_words(by, level))]
  panels <- c(t(outer(levels(table$where), levels(table$pair), paste, sep = "\n")))
  set(table, j = "panel", value = factor(paste0(table$where, "\n", table$pair), panels))
  columns <- if (nlevels(table$pair) == 3L) 3L else columns_of_panels(uniqueN(table$panel))
  ggplot2::ggplot(table, ggplot2::aes(x, ratio)) + line_at(1) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = low, ymax = high, colour = shown), linewidth = 0.6, na.rm = TRUE
    ) +
    ggplot2::geom_point(ggplot2::aes(colour = shown, fill = shown, shape = shown), size = 2.4) +
    facet_panels(columns) +
    result_scales(levels(droplevels(table$shown))) +
    ggplot2::scale_x_discrete(NULL, labels = function(v) gsub(" ", "\n", v, fixed = TRUE)) +
    ratio_axis(axis) +
    ggplot2::labs(caption = caption_of_exhibit(exhibit, what, pmin(table$n_a, table$n_b))) +
    theme_cotejo()
}

WHAT_RATIOS_SHOW <- paste(
  "Points: ratio of times over blocks. Bars: interval within the question, on which",
  "verdicts rest. Under 1 the first of the pair is faster."
)

#' @describeIn exhibit_by_size The error of a wrong way of measuring: the ratio of its time to that
#'   of the right way, by size.
exhibit_error <- function(exhibit, series = NULL, wrong = NULL, right = NULL, repetition = NULL) {
  table <- error_ratios(exhibit)
  # The title of an exhibit names the error; the title of a panel names the operation.
  table[, pair := fifelse(
    base_operation(wrong) == base_operation(right), base_operation(right),
    paste(title_of(wrong), "/", title_of(right))
  )]
  plot <- plot_ratios(
    table, exhibit, c("pair", "transport"), "ratio of times, wrong / right", paste(
      "Points: ratio of times over blocks, 1 without an error. Bars: interval within",
      "the question."
    )
  )
  with_finding(plot, sprintf(
    "The wrong way of measuring shows times %s times as long", say_range(table$ratio)
  ))
}

# Comparisons of the exhibit's pairs of operations, wrong over right.
#
# Pairs that no launch has are left out. With the argument `repetition` only that repetition
# counts. For first calls, 0 is the first call of the launch, in which the library sets itself up.
error_ratios <- function(exhibit) {
  only <- argument(exhibit, "repetition")
  if (!is.null(only)) {
    samples <- samples_of_exhibit(exhibit)
    exhibit$summary <- summary_from_samples(exhibit, samples[repetition == as.integer(only)])
  }
  pairs <- data.table(
    wrong = argument(exhibit, "wrong"), right = argument(exhibit, "right")
  )
  measured <- unique(exhibit$summary$operation)
  there <- pairs$wrong %in% measured & pairs$right %in% measured
  if (!any(there)) {
    await("launches with the operations ", in_series(operation_in_words(unlist(pairs[1L]))))
  }
  pairs <- pairs[there]
  rbindlist(lapply(seq_len(nrow(pairs)), function(i) {
    pair <- pairs[i]
    rows <- exhibit$summary$operation %in% unlist(pair)
    comparison <- relative_to(
      compare_exhibit(exhibit, "operation", keep_rows(exhibit$summary, rows)), pair$wrong
    )
    comparison[, `:=`(wrong = pair$wrong, right = pair$right, ratio = performance)][]
  }), fill = TRUE)
}
