# SPDX-License-Identifier: BSD-3-Clause
# The report of a search over releases: all changes with their releases, for the library's authors.

#' Write the report of a search over the releases of an MPI.
#'
#' @param dir folder of the session, `results/SITE/SESSION`; or results or a packed dataset, whose
#'   newest session with a search over releases is used.
#' @param out_file the HTML file; `releases.csv` (all boundaries) and the figure go beside it.
#' @return what [find_changes()] returned, invisibly. Prints a sentence for each named change, and
#'   the path last.
#' @noRd
write_releases <- function(dir, out_file) {
  session_dir <- utils::tail(sessions_of_releases(unpack_dataset(dir)), 1L)
  if (!length(session_dir)) {
    refuse(sprintf("%s has no session of releases; `make releases` measures one", dir))
  }
  plans <- read_sessions(session_dir)
  levels <- releases_of(session_dir)
  summary <- summary_of_session(session_dir)
  if (!nrow(summary)) bad_data(session_dir, NA, "no usable launch", "measure again")
  with_families(families_of(plans$sessions), {
    changes <- find_changes(summary, "mpi", levels)
    said <- say_changes(changes)
    values <- list(
      changes = changes, said = said, levels = levels, summary = summary, audit = plans$audit,
      launches = uniqueN(summary$key),
      # For a dataset, only its name: the page is kept with the dataset and read elsewhere.
      place = if (session_dir == dir) {
        dir
      } else {
        file.path(basename(dirname(dir)), basename(dir), session_name(session_dir))
      }
    )
    plots <- list(releases = plot_releases(summary, levels))
    values$plots <- plots
    render_page("releases", values, out_file, plots)
  })
  write_csv(changes, file.path(dirname(out_file), "releases.csv"))
  put_said(said)
  cat(out_file, "\n", sep = "")
  invisible(changes)
}

# Folders of the sessions that searched releases, oldest first; `dir` is one, or contains them.
sessions_of_releases <- function(dir) {
  plans <- session_files(dir, "^session[.]json$")
  read <- lapply(dirname(plans$files), function(folder) {
    tryCatch(releases_of(folder), cotejo_bad_data = identity)
  })
  faulty <- vapply(read, inherits, NA, "condition")
  list_broken(c(plans$faults, read[faulty]))
  folders <- dirname(plans$files)[!faulty & lengths(read) >= 2L]
  folders[order(basename(folders), method = "radix")]
}

# SITE/SESSION of a session's folder.
session_name <- function(session_dir) {
  file.path(basename(dirname(session_dir)), basename(session_dir))
}

# Releases in which a session searched, oldest first.
releases_of <- function(session_dir) {
  file <- file.path(session_dir, "session.json")
  plan <- parse_json_file(file)
  check_schema(plan, schema_of("session"), file)
  releases <- unlist(plan$releases)
  if (!is.null(releases) && !is.character(releases)) {
    bad_member(file, "releases", "releases: no names", "measure again")
  }
  releases
}

# A sentence for each curve and boundary with a change, or one sentence that nothing changed.
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
    most <- part[which.max(abs(log(ratio)))]
    sprintf(
      paste(
        "%s, placement %s: %s changed at %s%s: time after over time before %s times at %s",
        "(probability that it is this one %s)%s."
      ),
      paste(title_of(first$operation), over(first$transport)), first$placement,
      say_sizes(part$bytes), title_of(first$after),
      if (first$between > 0L) {
        sprintf(" or one of the %d between it and %s", first$between, title_of(first$before))
      } else {
        sprintf(" (not yet in %s)", title_of(first$before))
      },
      format_interval(most$ratio, most$low, most$high), format_bytes(most$bytes),
      format_probability(most$probability),
      text_if(nrow(part) > 1L, sprintf(", the largest of %d sizes", nrow(part)))
    )
  }, ""))
}

# The range of sizes, in words.
say_sizes <- function(bytes) {
  ends <- unique(format_bytes(range(bytes)))
  if (length(ends) == 1L) paste("at", ends) else paste("from", ends[[1L]], "to", ends[[2L]])
}

format_probability <- function(p) ifelse(p > 0.999, "over 0.999", sprintf("%.3f", p))

# The words at the beginning of all titles.
shared_words <- function(titles) {
  Reduce(function(a, b) {
    n <- min(length(a), length(b))
    utils::head(a, sum(cumprod(utils::head(a, n) == utils::head(b, n))))
  }, strsplit(titles, " "))
}

# Texts without their first `n` words.
without_words <- function(texts, n) sub(sprintf("^([^ ]+( |$)){%d}", n), "", texts)

# A factor whose levels are its values in the order in which `at` has them.
factor_by <- function(values, at) factor(values, unique(values[at]))

# Times of the releases over those of the first release, by block.
plot_releases <- function(summary, levels) {
  rows <- summary[summary$mpi %in% levels]
  by <- c(setdiff(configuration_columns(summary), "mpi"), "bytes", "session", "launch")
  base <- rows[rows$mpi == levels[levels %in% rows$mpi][[1L]], c(by, "median_s"), with = FALSE]
  setnames(base, "median_s", "base_s")
  points <- base[rows, on = by, nomatch = NULL]
  points[, `:=`(y = median_s / base_s, x = factor(mpi, levels))]
  points[, panel := factor_by(
    paste0(title_of(operation), ", ", title_of(transport), ", ", size_class(bytes), " messages"),
    order(operation, transport, bytes)
  )]
  points[, size := factor_by(format_bytes(bytes), order(bytes))]
  middle <- points[, list(y = median(y)), by = c("panel", "x", "size")]
  sizes <- levels(points$size)
  shared <- shared_words(title_of(levels))
  plot <- ggplot2::ggplot(points, ggplot2::aes(x, y, colour = size)) +
    ggplot2::geom_hline(yintercept = 1, linewidth = 0.2) +
    ggplot2::geom_point(size = 0.6, alpha = 0.3) +
    ggplot2::geom_line(ggplot2::aes(group = size), data = middle, linewidth = 0.4) +
    ggplot2::facet_wrap(~panel, ncol = 3L, scales = "free_y") +
    ggplot2::scale_y_log10("time over that of the first release") +
    ggplot2::scale_x_discrete(
      paste(c("release of", shared), collapse = " "),
      labels = function(x) without_words(title_of(x), length(shared)), drop = FALSE
    ) +
    ggplot2::scale_colour_manual(
      "size", values = stats::setNames(grDevices::hcl.colors(length(sizes), "Viridis"), sizes)
    ) +
    ggplot2::labs(
      title = "Times of the releases",
      caption = caption_of(
        "A point a launch and size, against the first release in its block; lines are medians.",
        uniqueN(points$key), points$simulated
      )
    ) +
    theme_cotejo()
  with_data(plot, points[, c("panel", "bytes", "mpi", "session", "launch", "y"), with = FALSE])
}

# The differences between the builds of the releases before and after a change.
builds_around <- function(audit, changes) {
  pairs <- unique(changes[changes$named, c("before", "after"), with = FALSE])
  if (!nrow(audit) || !nrow(pairs)) {
    return(data.table())
  }
  rbindlist(lapply(seq_len(nrow(pairs)), function(i) {
    side <- function(name) audit[audit$mpi == name, c("item", "value"), with = FALSE]
    both <- merge(side(pairs$before[[i]]), side(pairs$after[[i]]), by = "item", all = TRUE)
    both <- both[!(value.x == value.y) %in% TRUE]
    if (!nrow(both)) {
      return(NULL)
    }
    data.table(
      Before = title_of(pairs$before[[i]]), After = title_of(pairs$after[[i]]), Item = both$item,
      `Value before` = both$value.x, `Value after` = both$value.y
    )
  }))
}

summary_of_session <- function(session_dir) {
  results <- read_study(session_dir)
  whole <- summarise_launches(results)
  keep_rows(whole, which(whole$status == "ok" & !is.na(whole$median_s)))
}

#' Print the cells of the next block of a search, one per line, for the harness.
#'
#' @param session_dir folder of the session, `results/SITE/SESSION`.
#' @param levels families in the order of their releases.
#' @return nothing.
#' @noRd
print_next_releases <- function(session_dir, levels) {
  summary <- summary_of_session(session_dir)
  asked <- next_levels(find_changes(summary, "mpi", levels), levels)
  writeLines(do.call(paste, c(unname(as.list(asked)), sep = "\t")))
}
