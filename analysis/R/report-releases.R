# SPDX-License-Identifier: BSD-3-Clause
# The report of a search over releases: what changed at which, fit to be sent to who wrote it.

#' Write the report of a search over the releases of an MPI.
#'
#' @param session_dir folder of the session, `results/SITE/SESSION`.
#' @param out_file the HTML file; `releases.csv` (all boundaries) and the figure go beside it.
#' @return what [find_changes()] returned, invisibly. Prints a sentence for each change that is
#'   named, and the path last.
#' @export
write_releases <- function(session_dir, out_file) {
  need_pandoc()
  plans <- read_sessions(session_dir)
  plan <- jsonlite::read_json(file.path(session_dir, "session.json"), simplifyVector = TRUE)
  levels <- plan$releases
  if (length(levels) < 2L) {
    refuse(sprintf("%s is no session of releases; `make releases` measures one", session_dir))
  }
  summary <- summary_of_session(session_dir)
  if (!nrow(summary)) bad_data(session_dir, NA, "no usable launch", "measure again")
  with_families(families_of(plans$sessions), {
    changes <- find_changes(summary, "mpi", levels)
    said <- say_changes(changes)
    values <- list(
      changes = changes, said = said, levels = levels, summary = summary, audit = plans$audit,
      launches = uniqueN(summary$key), session_dir = session_dir
    )
    folder <- tempfile("cotejo-releases")
    dir.create(folder)
    on.exit(unlink(folder, recursive = TRUE))
    plots <- list(releases = plot_releases(summary, levels))
    values$plots <- plots
    render_page("releases", values, plots, folder, out_file)
  })
  write_csv(changes, file.path(dirname(out_file), "releases.csv"))
  cat(said, sep = "\n")
  cat(out_file, "\n", sep = "")
  invisible(changes)
}

#' A sentence for each curve and boundary where it changed, or one that says that none did.
#' @noRd
say_changes <- function(changes) {
  named <- changes[changes$named]
  if (!nrow(named)) {
    return(sprintf(
      "No release changed anything that was measured by %.0f %% or more (of %d curves).",
      100 * LEAST_CHANGE, uniqueN(changes[, c("operation", "transport", "placement", "bytes")])
    ))
  }
  parts <- split(named, by = c(
    "site", "test", "operation", "transport", "placement", "ranks", "settings", "parameters",
    "before", "after"
  ), sorted = FALSE)
  unname(vapply(parts, function(part) {
    first <- part[1L]
    change <- function(i) {
      sprintf(
        "%s times %s (probability that it is this one %s)",
        format_interval(part$ratio[[i]], part$low[[i]], part$high[[i]]),
        paste("at", format_bytes(part$bytes[[i]])), format_probability(part$probability[[i]])
      )
    }
    most <- which.max(abs(log(part$ratio)))
    sprintf(
      "%s, placement %s: %s changed at %s%s: time after over time before %s%s.",
      paste(title_of(first$operation), over(first$transport)), first$placement,
      say_sizes(part$bytes), title_of(first$after),
      if (first$between > 0L) {
        sprintf(" or one of the %d between it and %s", first$between, title_of(first$before))
      } else {
        sprintf(" (not yet in %s)", title_of(first$before))
      },
      change(most), if (nrow(part) > 1L) sprintf(", the largest of %d sizes", nrow(part)) else ""
    )
  }, ""))
}

format_probability <- function(p) ifelse(p > 0.999, "over 0.999", sprintf("%.3f", p))

#' Times of the releases over those of the first one, by block.
#' @noRd
plot_releases <- function(summary, levels) {
  rows <- summary[summary$mpi %in% levels]
  by <- c(setdiff(configuration_columns(summary), "mpi"), "bytes", "session", "launch")
  base <- rows[rows$mpi == levels[levels %in% rows$mpi][[1L]], c(by, "median_s"), with = FALSE]
  setnames(base, "median_s", "base_s")
  points <- base[rows, on = by, nomatch = NULL]
  points[, `:=`(y = median_s / base_s, x = factor(mpi, levels))]
  points[, panel := paste0(
    title_of(operation), ", ", title_of(transport), ", ", size_class(bytes), " messages"
  )]
  middle <- points[, list(y = median(y)), by = c("panel", "x", "bytes")]
  plot <- ggplot(points, aes(x, y)) +
    ggplot2::geom_hline(yintercept = 1, linewidth = 0.2) +
    ggplot2::geom_point(size = 0.6, alpha = 0.3) +
    ggplot2::geom_line(aes(group = bytes), data = middle, linewidth = 0.3) +
    ggplot2::facet_wrap(~panel, ncol = 2L, scales = "free_y") +
    ggplot2::scale_y_log10("time over that of the first release") +
    ggplot2::scale_x_discrete("", labels = title_of, drop = FALSE) +
    ggplot2::labs(
      title = "Times of the releases",
      caption = caption_of(
        "A point a launch and size, against the first release in its block; lines are medians.",
        uniqueN(points$key), points$simulated
      )
    ) +
    theme_cotejo() +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 30, hjust = 1))
  with_data(plot, points[, c("panel", "bytes", "mpi", "session", "launch", "y"), with = FALSE])
}

#' What differs between the builds of the releases on either side of a change.
#' @noRd
builds_around <- function(audit, changes) {
  pairs <- unique(changes[changes$named, c("before", "after"), with = FALSE])
  if (!nrow(audit) || !nrow(pairs)) {
    return(data.table())
  }
  rbindlist(lapply(seq_len(nrow(pairs)), function(i) {
    side <- function(name) audit[audit$mpi == name, c("item", "value"), with = FALSE]
    both <- merge(side(pairs$before[[i]]), side(pairs$after[[i]]), by = "item", all = TRUE)
    both <- both[!(value.x %in% value.y & value.y %in% value.x) | is.na(value.x != value.y) |
      value.x != value.y]
    if (!nrow(both)) {
      return(NULL)
    }
    data.table(
      Before = title_of(pairs$before[[i]]), After = title_of(pairs$after[[i]]), Item = both$item,
      `Value before` = both$value.x, `Value after` = both$value.y
    )
  }))
}
