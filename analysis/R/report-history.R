# SPDX-License-Identifier: BSD-3-Clause
# The history of a site: all its sessions as series, their changes, and simultaneous other changes.

#' Write the history of a site: page, figure, table, and files for other tools.
#'
#' @param results_dir as for [read_results()].
#' @param out_dir folder: `history.html`, `history.csv` (every point, for readers),
#'   `history.json` (series and changes, for dashboards), and `otava/` (one CSV per series group
#'   and `otava.yaml`, which `otava analyze GROUP` of Apache Otava reads).
#' @param site its name.
#' @return the changes ([history_changes()]), invisibly. Prints a sentence for each, and the page's
#'   path last.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' write_history(folder, tempfile())
#' @export
write_history <- function(results_dir, out_dir, site = "local") {
  results <- read_study(results_dir)
  whole <- summarise_launches(results, c(COMPARED, "started", names(MAY_CHANGE)))
  whole <- keep_rows(whole, which(whole$site == site & !whole$scale %in% LESSER_SCALES))
  if (!nrow(whole)) {
    bad_data(results_dir, NA, sprintf("no usable launch of site %s", site), "name it with SITE=")
  }
  points <- series_of_sessions(whole)
  with_families(families_of(results$sessions), {
    changes <- history_changes(points)
    said <- say_history(changes, points)
    plots <- list(
      history = plot_history(points, changes), residuals = plot_residuals(points, changes)
    )
    values <- list(points = points, changes = changes, said = said, plots = plots, site = site)
    render_page("history", values, file.path(out_dir, "history.html"), plots)
    write_csv(points_table(points), file.path(out_dir, "history.csv"))
    write_whole(file.path(out_dir, "history.json"), function(file) {
      put_lines(history_json(points, changes), file)
    })
    write_otava(points, file.path(out_dir, "otava"))
  })
  put_said(said)
  cat(file.path(out_dir, "history.html"), "\n", sep = "")
  invisible(changes)
}

# The name of each series, as one text.
series_names <- function(points) {
  first <- points[!duplicated(series)]
  first <- first[order(series)]
  trimws(gsub(" +", " ", paste(
    first$test, first$operation, first$mpi, first$transport, first$placement, first$settings,
    first$parameters, paste0(first$ranks, "r"), paste0(format_whole(first$bytes), "B")
  )))
}

# A sentence for each change; changes of one session and MPI share a sentence.
say_history <- function(changes, points) {
  count <- points[, .N, by = "series"]
  held <- sprintf(
    "%d series of %d sessions, %d of them with four points or more.", nrow(count),
    uniqueN(points$session), sum(count$N >= 2L * LEAST_STRETCH)
  )
  if (!nrow(changes)) {
    return(c(held, "No change is shown."))
  }
  parts <- split(changes, by = c("session", "mpi", "operation", "transport"), sorted = TRUE)
  c(held, unname(vapply(parts, function(part) {
    most <- part[which.max(abs(log(ratio)))]
    sprintf(
      "%s, %s %s: %s from session %s on (%s): %s times at %s, probability %s; %s.",
      title_of(most$mpi), title_of(most$operation), over(most$transport),
      if (most$ratio > 1) "slower" else "faster", most$session,
      if (all(part$from == part$to)) {
        "and from no other"
      } else {
        paste("between", min(part$from), "and", max(part$to))
      },
      format_interval(most$ratio, most$low, most$high), format_bytes(most$bytes),
      format_probability(most$probability),
      if (nzchar(most$causes)) {
        paste("changed at the same time:", most$causes)
      } else {
        "nothing that is recorded changed at the same time"
      }
    )
  }, "")))
}

# Maximum number of drawn series: the series with the largest changes.
MOST_DRAWN <- 12L

# The drawn series, largest changes first: their points with `panel` (name of the series) and `at`
# (number of the session).
drawn_series <- function(points, changes) {
  count <- points[, list(n = .N), by = "series"]
  moved <- if (nrow(changes)) {
    changes[, list(by = max(abs(log(ratio)))), by = "series"][order(-by)]$series
  }
  shown <- utils::head(unique(c(moved, count[order(-n)]$series)), MOST_DRAWN)
  rows <- copy(points[points$series %in% shown])
  names <- series_names(points)
  sessions <- sort(unique(rows$session))
  rows[, `:=`(panel = factor(names[series], names[shown]), at = match(session, sessions))]
  rows[]
}

# Series with their intervals over sessions, and their changes.
plot_history <- function(points, changes) {
  rows <- drawn_series(points, changes)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(at, median_s * 1e6)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = low_s * 1e6, ymax = high_s * 1e6), na.rm = TRUE) +
    ggplot2::geom_point(size = 0.8) +
    ggplot2::geom_line(linewidth = 0.2) +
    ggplot2::facet_wrap(~panel, ncol = 2L, scales = "free_y") +
    ggplot2::labs(
      title = "Sessions of this site", x = "session",
      y = "\u00b5s",
      caption = caption_of(
        "Medians of sessions with 95 % intervals over their launches; lines: changes.",
        rows$n, rows$simulated
      )
    ) +
    theme_cotejo()
  marks <- if (nrow(changes)) {
    merge(changes[, c("series", "session")], rows[, c("series", "session", "panel", "at")])
  }
  if (length(marks$at)) {
    plot <- plot + ggplot2::geom_vline(
      ggplot2::aes(xintercept = at - 0.5), data = marks, linetype = 2
    )
  }
  with_data(plot, points_table(rows))
}

# Residuals of the series without their steps: a trend or long runs of one sign show drift or
# serial dependence, which the steps do not explain.
plot_residuals <- function(points, changes) {
  rows <- drawn_series(points, changes)[order(series, session)]
  begins <- if (nrow(changes)) split(changes$session, changes$series)
  rows[, level := cumsum(session %in% begins[[as.character(.BY$series)]]), by = "series"]
  rows[, residual := median_s / stats::median(median_s) - 1, by = c("series", "level")]
  rows[, lag := lag_correlation(residual), by = "series"]
  rows[, label := sprintf("%s (lag-1 correlation %.2f)", panel, lag)]
  rows[, label := factor(label, unique(label[order(panel)]))]
  plot <- ggplot2::ggplot(rows, ggplot2::aes(at, 100 * residual)) +
    ggplot2::geom_hline(yintercept = 0, linewidth = 0.3) +
    ggplot2::geom_point(size = 0.8) +
    ggplot2::facet_wrap(~label, ncol = 2L, scales = "free_y") +
    ggplot2::labs(
      title = "Residuals: sessions relative to the level between changes", x = "session",
      y = "residual (%)", caption = caption_of(
        "Median of a session over the median of the sessions between two changes.", rows$n,
        rows$simulated
      )
    ) +
    theme_cotejo()
  with_data(plot, rows[, c("label", "session", "residual", "lag")])
}

# Correlation of neighbours; 0 if nothing varies.
lag_correlation <- function(x) {
  n <- length(x)
  if (n < 3L || stats::sd(x[-1L]) == 0 || stats::sd(x[-n]) == 0) 0 else stats::cor(x[-1L], x[-n])
}

# Points as a table for readers: one row per series and session.
points_table <- function(points) {
  known <- intersect(names(MAY_CHANGE), names(points))
  out <- data.table(series = series_names(points)[points$series])
  columns <- c("session", "started", "n", "median_s", "low_s", "high_s", known)
  set(out, j = columns, value = unclass(points)[columns])
  out[order(series, session)]
}

# Series and changes as JSON: times in s, instants in UTC. Columns are written at once, because a
# site has tens of thousands of series.
history_json <- function(points, changes) {
  names <- series_names(points)
  count <- length(names)
  rows <- points[order(series, session)]
  of_series <- function(table, columns) {
    members <- lapply(columns, function(column) json_values(table[[column]]))
    json_arrays(json_objects(members), table$series, count)
  }
  found <- c("session", "before", "from", "to", "probability", "ratio", "low", "high", "causes")
  series <- json_objects(list(
    name = json_values(names), unit = rep("\"s\"", count), better = rep("\"less\"", count),
    points = of_series(rows, c(
      session = "session", started = "started", commit = "commit", n = "n", value = "median_s",
      low = "low_s", high = "high_s"
    )), changes = of_series(changes, stats::setNames(found, found))
  ))
  c("{\"schema\":\"cotejo-history/1\",\"series\":[", paste(series, collapse = ",\n"), "]}")
}

# Files for Apache Otava: a CSV for each group of series with the same sessions, and the
# configuration that names them.
write_otava <- function(points, folder) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  names <- gsub("[^A-Za-z0-9]+", "_", series_names(points))
  held <- points[, list(sessions = paste(session, collapse = " ")), by = "series"]
  groups <- split(held$series, match(held$sessions, unique(held$sessions)))
  tests <- Map(function(members, number) {
    rows <- points[points$series %in% members]
    set(rows, j = "name", value = names[rows$series])
    rows[, commit := commit[[1L]], by = "session"]
    wide <- dcast(rows, session + commit ~ name,
      value.var = "median_s", fun.aggregate = median
    )
    set(wide, j = "time", value = as.POSIXct(wide$session, "UTC", "%Y%m%dT%H%M%SZ"))
    set(wide, j = "time", value = format(wide$time, "%Y-%m-%dT%H:%M:%S+00:00"))
    metrics <- setdiff(colnames(wide), c("session", "commit", "time"))
    name <- sprintf("group%03d", number)
    write_csv(wide[, c("time", "commit", "session", metrics), with = FALSE],
      file.path(folder, paste0(name, ".csv"))
    )
    list(
      type = "csv", file = paste0(name, ".csv"), time_column = "time",
      attributes = list("commit", "session"), metrics = as.list(metrics),
      csv_options = list(delimiter = ",", quote_char = "\"")
    )
  }, groups, seq_along(groups))
  names(tests) <- sprintf("group%03d", seq_along(groups))
  write_whole(file.path(folder, "otava.yaml"), function(file) {
    put_lines(sub("\n$", "", yaml::as.yaml(list(tests = tests))), file)
  })
}
