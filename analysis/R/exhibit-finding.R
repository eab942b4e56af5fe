# SPDX-License-Identifier: BSD-3-Clause
# Findings of figures: short sentences for titles, computed from the drawn data only.

#' Give a figure its finding as title, and the title of its exhibit with the place as subtitle.
#'
#' @param plot a ggplot with the attribute `finding`; without a finding the title of the exhibit
#'   stays.
#' @noRd
with_headline <- function(plot, exhibit) {
  finding <- attr(plot, "finding")
  where <- paste0(where_measured(exhibit$summary), ".")
  title <- sub("([^.?!])$", "\\1.", exhibit$spec$title)
  plot$labels$title <- if (length(finding)) sentence_case(finding) else exhibit$spec$title
  plot$labels$subtitle <- paste(c(if (length(finding)) title, where), collapse = " ")
  plot
}

with_finding <- function(plot, finding) {
  attr(plot, "finding") <- finding
  plot
}

# Columns that change the amount of work, or the statistic. Their levels compete with no other: one
# byte is always faster than a thousand, and a minimum is below its median.
AMOUNTS <- c(
  "bytes", "ranks", "hosts", "cores", "pairs", "threads", "burst", "queue", "before", "depth",
  "measure"
)

#' The level that is best in most places, and the largest factor by which another level is behind.
#'
#' @param medians table with `panel`, `y`, the column `x` and the columns of `series`.
#' @param axis title of the axis of `y`: "time (ms)".
#' @param best whether the `lowest` or the `highest` value is best.
#' @return a text. If no place has several levels of the series, the MPI libraries of otherwise
#'   equal places compete, and then the values of `x`. Without any competition, the text states the
#'   growth over `x`, or the range of the values.
#' @noRd
finding_of_curves <- function(medians, x, axis, best, series) {
  cases <- setDT(as.list(medians))[is.finite(y)]
  place <- intersect(unique(c("panel", x, intersect(AMOUNTS, c(series, "bytes")))), names(cases))
  named <- setdiff(series, AMOUNTS)
  # Some columns are computed for the drawing alone; then the levels have their words.
  if (all(named %in% names(cases))) {
    set(cases, j = "level", value = if (length(named)) level_of(cases, named) else "")
  }
  fixed <- intersect(unique(c(place, series, PLACES, names(cases)[
    grepl(VARIED_COLUMN, names(cases))
  ])), names(cases))
  rivals <- c("mpi", if (!is.numeric(cases[[x]]) && !x %in% c("panel", AMOUNTS)) x)
  contests <- c(list(contest_of(cases, place, cases$level, best)), lapply(
    intersect(rivals, names(cases)),
    \(by) contest_of(cases, setdiff(fixed, c("panel", by)), in_words(by, cases[[by]]), best)
  ))
  won <- Filter(\(contest) any(contest$cases$leads), contests)
  if (!length(won)) {
    return(fcoalesce(growth_of(medians, x, axis), range_of_values(medians$y, axis)))
  }
  cases <- won[[1L]]$cases
  place <- won[[1L]]$place
  count <- sort(table(cases$level[cases$leads]), decreasing = TRUE)
  leader <- names(count)[[1L]]
  noun <- sub("(,| [(]).*", "", axis)
  places <- uniqueN(cases[cases$several], by = place)
  led <- cases[cases$leads & cases$level == leader, c(place), with = FALSE]
  others <- cases[led, on = place][level != leader & y > 0]
  lowest <- best == "lowest"
  others[, factor := if (lowest) y / best else best / y]
  others <- others[is.finite(factor) & factor >= 1.05]
  paste(c(
    sprintf("%s has the %s %s%s", leader, best, noun, say_places(
      count[[1L]], places, uniqueN(medians$panel) == 1L && x == "bytes"
    )),
    if (nrow(others)) say_how_far(others[which.max(factor)], noun, best)
  ), collapse = "; ")
}

# Columns of a configuration that must be equal where the MPI libraries compete.
PLACES <- c(
  "site", "simulated", "test", "transport", "placement", "operation", "queue", "step"
)

# The levels at each place, and which of them alone has the best value.
contest_of <- function(cases, place, level, best) {
  cases <- copy(cases)
  set(cases, j = "level", value = as.character(level))
  cases <- cases[, list(y = median(y)), by = c(place, "level")]
  pick <- if (best == "lowest") min else max
  cases[, `:=`(best = pick(y), several = .N > 1L), by = c(place)]
  cases[, leads := several & y == best]
  cases[, leads := leads & sum(leads) == 1L, by = c(place)]
  list(cases = cases, place = place)
}

# How much a value grows from the smallest to the largest `x`: "Time at 8 ranks is from 2.0 to 31
# times that at 2 ranks". `NA` if `x` is no number, or if all values are equal or not positive.
growth_of <- function(medians, x, axis) {
  steps <- medians[[x]]
  if (!is.numeric(steps) || uniqueN(steps) < 2L || uniqueN(medians$y) < 2L) {
    return(NA_character_)
  }
  ends <- setDT(list(
    curve = paste(medians$panel, medians$level, sep = "\n"), x = steps, y = medians$y
  ))[is.finite(y) & x %in% range(x), list(y = median(y)), keyby = c("curve", "x")]
  factors <- ends[, list(factor = if (.N == 2L && y[[1L]] > 0) y[[2L]] / y[[1L]] else NaN),
    by = "curve"][is.finite(factor)]
  if (!nrow(factors)) {
    return(NA_character_)
  }
  word <- function(value) {
    said <- say_value(x, format_whole(value))
    if (grepl(" ", said, fixed = TRUE)) said else paste(word_of_column(x), said)
  }
  sprintf(
    "%s at %s is %s times that at %s", sentence_case(sub("(,| [(]).*", "", axis)),
    word(max(steps)), sub("^of ", "", say_range(factors$factor)), word(min(steps))
  )
}

say_places <- function(count, places, sizes) {
  what <- if (sizes) "sizes" else "cases"
  within <- if (places == 1L) {
    return("")
  } else if (count < places) {
    sprintf("%d of %d", count, places)
  } else if (places == 2L) {
    "both"
  } else {
    sprintf("all %d", places)
  }
  paste("", if (sizes) "at" else "in", within, what)
}

say_how_far <- function(worst, noun, best) {
  if (best == "highest") {
    share <- format_digits(100 / worst$factor, 2L)
    return(sprintf("%s reaches at least %s %% of it", worst$level, share))
  }
  long <- grepl("^time", noun)
  sprintf(
    if (long) "%s takes up to %s times as long" else "%s has up to %s times as much",
    worst$level, format_digits(worst$factor, 2L)
  )
}

# The range of values with their unit: "Time from 0.91 to 812 us".
range_of_values <- function(values, axis) {
  unit <- if (grepl("[(]", axis)) sub(".*[(](.*)[)].*", " \\1", axis) else ""
  sprintf("%s %s%s", sentence_case(sub(" [(].*", "", axis)), say_range(values), unit)
}

# "from 2.0 to 31", or "of 2.0" for one value.
say_range <- function(values) {
  values <- unique(format_digits(range(values[is.finite(values)]), 2L))
  if (length(values) == 1L) paste("of", values) else paste(c("from", "to"), values, collapse = " ")
}

#' The share of a message's time that is hidden by computation, over all curves.
#'
#' @param medians table with `panel`, `level`, `x` (time of the computation alone) and `y`.
#' @noRd
finding_of_overlap <- function(medians) {
  hidden <- medians[is.finite(x) & is.finite(y), {
    alone <- y[which.min(x)]
    list(share = if (.N > 1L) 100 * min(1, max(0, (alone + x - min(x) - y) / alone)))
  }, by = c("panel", "level")]
  if (nrow(hidden)) {
    sprintf("The computation hides %s %% of the time of the messages", say_range(hidden$share))
  }
}

# The best level in verdicts: "Open MPI is faster in 3 and MPICH in 2 of 12 comparisons".
say_wins <- function(winner, how = "fastest", one = "test", none = "No single winner in") {
  won <- sort(table(winner[nzchar(winner)]), decreasing = TRUE)
  of <- count_of(length(winner), one, paste0(one, "s"))
  if (!length(won)) {
    return(paste(none, of))
  }
  sprintf("%s of %s", in_series(sprintf("%s is %s in %d", title_of(names(won)), how, won)), of)
}

# The measured operations, transports and sites, for a subtitle.
where_measured <- function(table) {
  some <- function(values, what) {
    values <- unique(as.character(values))
    values <- values[nzchar(values)]
    if (length(values) > 4L) paste(length(values), what) else toString(values)
  }
  parts <- c(
    some(operation_in_words(table$operation), "operations"),
    some(title_of(table$transport), "transports"),
    if (!is.null(table$site)) paste("site", some(table$site, "sites"))
  )
  sentence_case(toString(parts[nzchar(parts)]))
}
