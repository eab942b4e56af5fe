# SPDX-License-Identifier: BSD-3-Clause
# Tables for readers: data.tables of texts, and their HTML.

#' Medians of configurations, one row per size, one column per MPI.
#'
#' @param medians what [summarise_configurations()] returned.
#' @return data.table of texts: site, experiment, operation, transport, placement, settings,
#'   size, and for each MPI `median [95 % interval]` in microseconds and `n`; of collectives also
#'   the algorithm that ran.
#' @keywords internal
table_medians <- function(medians) {
  table <- copy(medians)
  table[, text := format_interval(median_s * 1e6, low_s * 1e6, high_s * 1e6, 4L)]
  table[, text := sprintf("%s (n = %d)", text, n)]
  rows <- c(
    "site", "simulated", "scale", "experiment", "test", "operation", "transport", "placement",
    "hosts", "ranks", "settings", "parameters", factor_names(medians), "bytes"
  )
  if (!nrow(table)) {
    return(table[, rows, with = FALSE])
  }
  shown <- c(text = "(\u00b5s)", algorithm = "algorithm")
  shown <- shown[names(shown) %in% names(table)]
  by_mpi <- Map(function(column, title) {
    table[, of := paste(title_of(mpi), title)]
    dcast(table, stats::as.formula(paste(paste0("`", rows, "`", collapse = "+"), "~ of")),
      value.var = column, fill = ""
    )
  }, names(shown), shown)
  if (length(by_mpi) == 1L) {
    return(by_mpi[[1L]])
  }
  mpis <- lapply(by_mpi, function(wide) setdiff(names(wide), rows))
  wide <- cbind(by_mpi[[1L]], by_mpi[[2L]][, mpis[[2L]], with = FALSE])
  # The algorithm of each MPI stands next to its time.
  setcolorder(wide, c(rows, rbind(mpis[[1L]], mpis[[2L]])))
  wide[]
}

#' A table in parts, one per stratum, each as HTML with its own heading; other tools' benchmarks
#' after cotejo's own.
#'
#' @param table with the columns of strata that distinguish the rows.
#' @param cells the shown texts of each row, made for all rows at once.
#' @param caption function of a heading and of numbers of rows.
#' @param left columns of `cells` that are texts, aligned left. The others are aligned right, and
#'   so are the columns that distinguish the rows of a part.
#' @param by columns with one value in each part.
#' @return list, one element per part: `title`, `html`.
#' @noRd
strata_tables <- function(table, cells, caption, left,
                          by = c("site", "test", "operation", "transport")) {
  if (!nrow(table)) {
    return(list())
  }
  group <- number_of(table, by)
  heads <- heads_of(table, group)
  parts <- split(seq_along(group), group)[order(startsWith(heads$operation, "imb-"))]
  titles <- unique_titles(heads)
  strata <- titled_strata(table)
  shown <- unclass(cells)
  right <- setdiff(c(names(strata), names(shown)), left)
  texts <- c(strata, shown)
  # Made for all parts at once.
  html <- html_cells(texts, right)
  lapply(parts, function(at) {
    title <- titles[[group[[at[[1L]]]]]]
    # A column with the same value in every row is part of the title. The columns of an MPI that a
    # part does not have are left out.
    several <- vapply(strata, function(values) length(unique(values[at])) > 1L, NA)
    filled <- vapply(shown, function(values) any(nzchar(values[at])), NA)
    list(title = title, html = join_cells_of_table(
      pick(html[c(several, filled)], at), caption(title, at), right
    ))
  })
}

# The first row of each group, without columns that differ within the group.
heads_of <- function(table, group) {
  first <- which(!duplicated(group))
  heads <- table[first]
  for (column in setdiff(intersect(names(table), names(STRATA_TITLES)), c("hosts", "ranks"))) {
    values <- table[[column]]
    differs <- unique(group[which(values != values[first[group]])])
    set(heads, differs, column, "")
  }
  if (!is.null(table$hosts)) {
    set(heads, unique(group[which(table$hosts != heads$hosts[group])]), "hosts", NA)
  }
  heads
}

# Columns of strata, named for readers.
STRATA_TITLES <- c(
  site = "Site", simulated = "Simulated", scale = "Scale", test = "Test",
  operation = "Operation", mpi = "MPI", transport = "Transport", placement = "Placement",
  hosts = "Hosts", ranks = "Ranks", settings = "Settings", parameters = "Parameters"
)

# Columns of strata that STRATA_TITLES does not name: factors of the samples, parameters and
# settings. They stand before the compared configurations, or before the size.
further_strata <- function(table) {
  end <- min(match(c("a", "bytes"), names(table)), na.rm = TRUE)
  setdiff(names(table)[seq_len(end - 1L)], c(names(STRATA_TITLES), "experiment", "factors"))
}

# Columns of strata whose values differ between rows, named for readers.
varying_strata <- function(table) {
  Filter(function(values) length(unique(values)) > 1L, titled_strata(table))
}

# The columns of strata of a table as texts, named for readers.
titled_strata <- function(table) {
  known <- intersect(names(STRATA_TITLES), names(table))
  more <- further_strata(table)
  table <- unclass(table)
  c(
    stats::setNames(lapply(table[known], title_of), STRATA_TITLES[known]),
    stats::setNames(
      lapply(table[more], function(values) fcoalesce(as.character(values), "")),
      sentence_case(word_of_column(more))
    )
  )
}

# The comparison as a table for readers, with the columns that distinguish its rows.
table_comparison <- function(comparison) {
  setDT(c(varying_strata(comparison), cells_of_comparison(comparison)))[]
}

# The shown cells of a comparison.
cells_of_comparison <- function(comparison) {
  n <- comparison[, c("n_a", "n_b"), with = FALSE]
  Filter(Negate(is.null), list(
    First = title_of(comparison$a), Second = title_of(comparison$b),
    Size = format_bytes(comparison$bytes),
    n = fifelse(n$n_a == n$n_b, as.character(n$n_a), paste(n$n_a, n$n_b)),
    "First (\u00b5s)" = format_us(comparison$median_a_s),
    "Second (\u00b5s)" = format_us(comparison$median_b_s),
    `Ratio [interval]` = format_interval(comparison$ratio, comparison$low, comparison$high, 4L),
    `First algorithm` = comparison$algorithm_a, `Second algorithm` = comparison$algorithm_b,
    "Cliff's \u03b4" = sprintf("%+.2f", comparison$cliffs_delta),
    q = format_p(comparison$q), `Welch p` = format_p(comparison$welch_p),
    "Welch 99 % of difference (\u00b5s)" = fifelse(is.na(comparison$welch_low_s), "NA", sprintf(
      "%s .. %s", format_digits(comparison$welch_low_s * 1e6),
      format_digits(comparison$welch_high_s * 1e6)
    )),
    `First is` = fcase(
      comparison$verdict == "not tested" | by_sessions(comparison), paste0(
        comparison$verdict, ": ", comparison$note
      ),
      startsWith(comparison$note, NO_EFFECT), paste0(
        say_verdict(comparison), ": ", comparison$note
      ),
      comparison$verdict == "not settled", sub(": $", "", paste0(
        "not settled: ",
        sub(" would.*", "", say_more(comparison$more_launches, comparison$more_sessions))
      )),
      rep(TRUE, nrow(comparison)), paste0(
        say_verdict(comparison), " ", comparison$scope,
        fifelse(against_medians(comparison), "; the medians point the other way", "")
      )
    )
  ))
}

# Whether the medians of a pair do not have the order that its verdict states.
#
# A verdict is about the typical ratio of two launches. A configuration with some slow launches is
# slower, also if its median is the smaller one.
against_medians <- function(rows) {
  if (is.null(rows$median_a_s)) {
    return(logical(nrow(rows)))
  }
  rows$verdict %in% DIRECTIONS & sign(log(rows$ratio)) != sign(rows$median_a_s - rows$median_b_s)
}

# Verdicts of a comparison in words, for the first configuration of a pair.
say_verdict <- function(rows) {
  fcase(
    rows$verdict %in% DIRECTIONS, sprintf(
      "%s by at least %s", rows$verdict, say_percent(rows$at_least)
    ),
    rows$verdict == "within", sprintf("within %s", say_percent(rows$at_most)),
    rep(TRUE, nrow(rows)), rows$verdict
  )
}

# The number of additional launches or sessions, in words.
say_more <- function(launches, sessions = NA_real_) {
  one <- fifelse(is.na(sessions), "launch", "session")
  many <- fifelse(is.na(sessions), "launches", "sessions")
  more <- fcoalesce(sessions, launches)
  fcase(
    is.na(more), "",
    is.infinite(more), sprintf("more than %d more %s would be needed", MOST_LAUNCHES, many),
    rep(TRUE, length(more)), sprintf(
      "about %.0f more %s would likely settle it", more, fifelse(more == 1, one, many)
    )
  )
}
# Columns of the comparison's cells that are texts.
COMPARISON_TEXTS <- c("First", "Second", "First algorithm", "Second algorithm", "First is")

# Outlying launches, one row per launch and operation, with the size of the largest deviation.
table_outlying <- function(outlying) {
  furthest <- outlying[order(-abs(log(times_median)))][, list(
    sizes = .N, bytes = bytes[[1L]], median_s = median_s[[1L]], times = times_median[[1L]]
  ), keyby = c("id", "operation")]
  furthest[, list(
    Launch = id, Operation = question_in_words(operation), Sizes = sizes,
    `Furthest at` = format_bytes(bytes), "Median there (\u00b5s)" = format_us(median_s),
    "Times its configuration's median" = format_digits(times)
  )]
}

# The drift of sessions as a table for readers.
table_drift <- function(drift) {
  change <- function(x) sprintf("%+.1f %%", 100 * x)
  data.table(
    Site = drift$site, Session = drift$session, Transport = title_of(drift$transport),
    Blocks = drift$blocks, Change = change(drift$change), p = format_p(drift$p),
    `Blocks from` = change(drift$lowest - 1), to = change(drift$highest - 1),
    `First block` = fifelse(is.na(drift$first), "NA", paste0(
      change(drift$first), fifelse(drift$warm_up, ", warming up", "")
    ))
  )
}

# The serial dependence of sessions as a table for readers.
table_serial <- function(serial) {
  data.table(
    Site = serial$site, Session = serial$session, Blocks = serial$blocks, Series = serial$series,
    `Lag-1 correlation` = format_digits(serial$lag, 2L), p = format_p(serial$p)
  )
}

# The build audit: all items, and the items in which the MPIs differ.
table_audit <- function(audit) {
  if (!nrow(audit)) {
    return(list(all = audit, differing = audit))
  }
  latest <- unique(audit, by = c("site", "mpi", "item"), fromLast = TRUE)
  latest[, mpi := title_of(mpi)]
  wide <- dcast(latest, site + item ~ mpi, value.var = "value", fill = "")
  mpis <- setdiff(names(wide), c("site", "item"))
  differs <- apply(as.matrix(wide[, mpis, with = FALSE]), 1L, function(v) length(unique(v)) > 1L)
  setnames(wide, c("site", "item"), c("Site", "Item"))
  list(all = wide, differing = wide[differs])
}

# The account of sessions, used sessions first.
table_account <- function(account) {
  shown <- account[order(site, test, -xtfrm(session))]
  data.table(
    Site = shown$site, Test = shown$test, Session = shown$session, Machine = shown$machine,
    Status = shown$status, Launches = shown$launches, Used = shown$used, Why = shown$why
  )
}
