# SPDX-License-Identifier: BSD-3-Clause
# `make compare`: results from before and after an upgrade, and the decision on it.

# Names that CHANGED= accepts, and the columns of launches that each of them changes.
CHANGES <- list(
  mpi = c("library", "lock_sha256"), stack = c("library", "lock_sha256"), kernel = "kernel",
  cotejo = "measuring", governor = "governor",
  site = EXEMPT$site
)

#' Compare the results of two folders, cell by cell.
#'
#' Every property of a configuration must be the same before and after, except the properties in
#' `changed`. The two folders share no block. With fewer than three sessions before or after, the
#' verdict on a difference is that the sessions differ ([compare_configurations()]).
#'
#' @param before,after folders of results, as for [read_results()]. Launches in both folders count
#'   as `before` only.
#' @param changed changes made by the upgrade: names of `CHANGES`. An error of class
#'   `cotejo_not_comparable` if one of them is the same before and after.
#' @param delta largest relative slowdown that is accepted.
#' @return `compare_folders()`: as [compare_configurations()] with `refused = "list"`; `a` is
#'   `after`, `b` is `before`, so `ratio` is the time after divided by the time before.
#' @examples
#' sessions <- system.file("extdata/study/local", package = "cotejo")
#' days <- sub("[.].*", "", list.files(sessions))
#' folders <- file.path(tempfile(), days)
#' for (i in 1:2) {
#'   utils::untar(
#'     file.path(sessions, paste0(days[[i]], ".tar.xz")),
#'     exdir = file.path(folders[[i]], "local/a")
#'   )
#' }
#' found <- compare_folders(folders[[1]], folders[[2]])
#' found[, c("mpi", "bytes", "ratio", "verdict")]
#' judge_upgrade(found)
#' write_comparison(folders[[1]], folders[[2]], file.path(tempfile(), "compare.html"))
#' @export
compare_folders <- function(before, after, changed = character(), delta = 0.03) {
  compare_changed(both_folders(before, after, changed), changed, delta)
}

compare_changed <- function(both, changed, delta) {
  compare_configurations(both,
    by = "when", delta = delta, refused = "list", allowing = unlist(CHANGES[changed]),
    forecast = forecast_upgrade(delta)
  )
}

# The launches of two folders as one table; the column `when` is `before` or `after`.
both_folders <- function(before, after, changed) {
  unknown <- setdiff(changed, names(CHANGES))
  if (length(unknown)) {
    not_comparable(sprintf(
      "CHANGED=%s: unknown; choose from %s", toString(unknown), toString(names(CHANGES))
    ))
  }
  sides <- list(after = side_of_folder(after), before = side_of_folder(before))
  sides$after <- without_shared(sides$after, sides$before, before, after)
  for (when in names(sides)) {
    # Equal session names before and after do not mean common blocks.
    set(sides[[when]], j = c("when", "session"), value = list(
      when, paste(when, sides[[when]]$session)
    ))
  }
  both <- rbindlist(sides, fill = TRUE)
  for (name in changed) check_changed(both, name)
  if ("site" %in% changed) both[, site := paste(sort(unique(site)), collapse = " / ")]
  both
}

side_of_folder <- function(folder) {
  whole <- summarise_launches(read_study(folder), c(COMPARED, "wall_s"))
  out <- keep_rows(whole, which(choose_sessions(whole)$rows))
  if (!nrow(out)) bad_data(folder, NA, "no usable launch", "name a folder of results")
  copy(out)
}

# Results after an upgrade often lie beside those from before it.
without_shared <- function(after, before, before_folder, after_folder) {
  columns <- c("site", "session", "id", "bytes", "median_s")
  shared <- unique(before[after, on = columns, nomatch = NULL][, c("site", "session")])
  if (!nrow(shared)) {
    return(after)
  }
  left <- after[!shared, on = c("site", "session")]
  if (!nrow(left)) {
    not_comparable(sprintf(
      "%s and %s hold the same launches; name the results before and after the upgrade",
      before_folder, after_folder
    ))
  }
  message(sprintf(
    "left out of %s: %s, which %s also in %s", after_folder,
    count_of(nrow(shared), "session", "sessions"), if (nrow(shared) == 1L) "is" else "are",
    before_folder
  ))
  left
}

# Refuse a named change that did not happen. Changes that no launch recorded are not refused.
check_changed <- function(both, name) {
  columns <- if (name == "mpi") "library" else CHANGES[[name]]
  same <- vapply(columns, function(column) {
    sides <- lapply(split(both[[column]], both$when), distinct)
    all(lengths(sides)) && identical(sides[[1L]], sides[[2L]])
  }, NA)
  known <- vapply(columns, function(column) length(distinct(both[[column]])) > 0L, NA)
  if (!any(known) || !all(same[known])) {
    return(invisible())
  }
  column <- columns[known][[1L]]
  not_comparable(sprintf(
    "CHANGED=%s, but the %s is the same before and after: %s", name, HELD_FIXED[[column]],
    toString(distinct(both[[column]]))
  ))
}

not_comparable <- function(text) refuse(text, "cotejo_not_comparable")

# Exit status of `make compare` by the judgement on an upgrade.
UPGRADE_STATUS <- c(slower = 1L, "not settled" = 2L, "not slower" = 0L)

#' @details [write_comparison()] writes the decision on an upgrade: a page, a table of all cells
#' and a JUnit file.
#' @param out_file the HTML file; its folder is made when needed. The table (`.csv`, columns of
#'   [compare_configurations()]) and the JUnit file (`.xml`, one test case a question) have its
#'   name with their own endings.
#' @return `write_comparison()`: the exit status, invisibly: 0 no question is slower, 1 some
#'   question is slower by more than `delta`, 2 more launches are needed. Prints the decision, and
#'   the path last. An error of class `cotejo_not_comparable` when nothing may be compared.
#' @rdname compare_folders
#' @export
write_comparison <- function(before, after, out_file, changed = character(), delta = 0.03) {
  folders <- list(before = before, after = after)
  new <- unpack_dataset(after)
  both <- both_folders(unpack_dataset(before), new, changed)
  found <- compare_changed(both, changed, delta)
  refused <- unique(refused_pairs(both, "when", allowing = unlist(CHANGES[changed]))$why)
  judged <- judge_upgrade(found, delta)
  if (!nrow(judged)) {
    not_comparable(paste0(
      "nothing can be compared: ",
      if (length(refused)) {
        named <- toString(names(CHANGES))
        sprintf("%s; name the upgraded part with CHANGED=, one of %s", refused[[1L]], named)
      } else if (nrow(found)) {
        sprintf("no configuration has %d launches before and after", LEAST_BLOCKS)
      } else {
        "the two have no configuration in common"
      }
    ))
  }
  # The first status of this list that any question has.
  status <- intersect(names(UPGRADE_STATUS), judged$status)[[1L]]
  again <- again_after_upgrade(judged[status == "not settled"], both, read_sessions(new)$sessions)
  said <- say_upgrade(judged, both, delta, folders, again)
  put_said(c(said$decision, said$versions, said$slower, said$open, said$next_command))
  put_said(paste0("not compared: ", refused, recycle0 = TRUE))
  values <- list(
    said = said, judged = judged, found = found, answers = answer(found),
    refused = refused, folders = folders, changed = changed, delta = delta,
    files = basename(sub("html$", "", out_file))
  )
  plots <- list(upgrade = plot_upgrade(judged, delta))
  render_page("compare", values, out_file, plots)
  write_csv(found, sub("html$", "csv", out_file))
  write_junit(judged, delta, sub("html$", "xml", out_file))
  cat(out_file, "\n", sep = "")
  invisible(UPGRADE_STATUS[[status]])
}

#' The decision in words.
#'
#' @param again what [again_after_upgrade()] returned.
#' @return list of texts: `decision`, `versions`, `slower` (a line each), `open`, `next_command`.
#' @noRd
say_upgrade <- function(judged, both, delta, folders, again) {
  names <- unique_titles(judged)
  count <- function(status) sum(judged$status == status)
  margin <- say_margin(delta)
  worst <- judged[which.max(worst)]
  slower <- judged$status == "slower"
  open <- judged$status == "not settled"
  list(
    decision = c(
      sprintf(
        "%s: %s slower by more than %s%s, %d not settled, %d not slower.",
        count_of(nrow(judged), "question", "questions"), count("slower"), margin,
        text_if(any(slower) && nrow(judged) > 1L, sprintf(
          " (%d if the correction covers all questions)", sum(judged$over_all)
        )),
        count("not settled"), count("not slower")
      ),
      sprintf(
        "Slowdowns above %s are excluded everywhere (largest upper limit: %s at %s, n = %d).",
        say_percent(max(worst$worst - 1, 0)), names[[which.max(judged$worst)]],
        format_bytes(worst$bytes), worst$n
      )
    ),
    versions = say_versions(both),
    slower = sprintf(
      "slower: %s, up to %s times the time at %s", names[slower],
      format_interval(judged$ratio, judged$low, judged$worst)[slower],
      format_bytes(judged$bytes[slower])
    ),
    open = if (any(open)) {
      sprintf(
        "not settled: %s%s", toString(utils::head(names[open], 3L)),
        if (sum(open) > 3L) sprintf(" and %d more", sum(open) - 3L) else ""
      )
    },
    next_command = if (any(open)) say_next(judged[open], folders, again)
  )
}

#' The command that settles the open questions of an upgrade, in words.
#'
#' @param open questions that are not settled.
#' @noRd
say_next <- function(open, folders, again) {
  differ <- is.na(open$more) & is.na(open$more_sessions)
  launches <- max(open$more, 0, na.rm = TRUE)
  count <- function(n, one, many) {
    if (n > MOST_LAUNCHES) paste("more than", MOST_LAUNCHES, many) else count_of(n, one, many)
  }
  said <- if (any(differ)) {
    sprintf("The sessions differ. Measure %d sessions before and %1$d after", MIN_SESSIONS)
  } else {
    sprintf("To settle the rest, add about %s before and after", if (anyNA(open$more)) {
      count(max(open$more_sessions, na.rm = TRUE), "session", "sessions")
    } else {
      count(launches, "launch", "launches")
    })
  }
  # A study of few launches is not tested alone, and sessions have the usual number.
  blocks <- if (!anyNA(open$more)) max(LEAST_BLOCKS, min(launches, MOST_LAUNCHES))
  minutes <- again$block_s * (if (length(blocks)) blocks else again$blocks) / 60
  sprintf(
    "%s: make study RESULTS=%s%s%s%s; likewise RESULTS=%s with the old version", said,
    folders$after, again$options, if (length(blocks)) sprintf(" LAUNCHES=%.0f", blocks) else "",
    if (is.finite(minutes)) sprintf(" (%s each)", say_minutes(minutes)) else "", folders$before
  )
}

#' How open questions of an upgrade are measured again.
#'
#' @param open questions that are not settled.
#' @param sessions sessions after the upgrade.
#' @return list: `options` of `make study`; `blocks` of the last session; `block_s`, the duration
#'   of a block.
#' @noRd
again_after_upgrade <- function(open, both, sessions) {
  cells <- unique(open[, c("test", "mpi", "transport", "placement"), with = FALSE])
  own <- both[cells, on = names(cells), nomatch = NULL]
  each <- unique(own, by = "key")[, list(wall_s = mean(wall_s)), by = list(cell = cell_of(id))]
  has <- vapply(sessions$cells, function(all) any(each$cell %in% all), NA)
  last <- utils::tail(sessions[has], 1L)
  names <- do.call(paste, c(cells, sep = "\\."))
  list(
    options = paste0(
      if (nrow(last)) sprintf(" TAG=%s", last$tag),
      if (length(names) <= MOST_NAMED) sprintf(" CELLS='^(%s)'", paste(names, collapse = "|"))
    ),
    blocks = if (nrow(last)) last$blocks else NA_integer_, block_s = sum(each$wall_s + OVERHEAD_S)
  )
}

# Maximum number of questions that a command names; with more, it measures everything again.
MOST_NAMED <- 6L

# Versions before and after the upgrade, for everything that differs.
say_versions <- function(both) {
  lines <- lapply(intersect(c("library", "kernel", "measuring"), names(both)), function(column) {
    of <- if (column == "library") both$mpi else rep("", nrow(both))
    vapply(sort(unique(of)), function(side) {
      rows <- which(of == side)
      values <- split(both[[column]][rows], both$when[rows])
      sides <- lapply(values, function(all) toString(short_library(distinct(all))))
      if (length(sides) < 2L || identical(sides$before, sides$after)) {
        return("")
      }
      name <- if (nzchar(side)) title_of(side) else sentence_case(HELD_FIXED[[column]])
      sprintf("%s: %s before, %s after", name, sides$before, sides$after)
    }, "", USE.NAMES = FALSE)
  })
  Filter(nzchar, unlist(lines))
}

# Maximum number of questions in one picture: the worst ones.
MOST_SHOWN_QUESTIONS <- 40L

# The worst ratio of each question with its limits.
plot_upgrade <- function(judged, delta) {
  rows <- copy(judged)[, name := unique_titles(judged)][order(-worst)]
  rows <- utils::head(rows, MOST_SHOWN_QUESTIONS)
  rows[, name := factor(name, rev(unique(name)))]
  marks <- c("not slower" = 16L, "not settled" = 1L, slower = 17L)
  rows[, status := factor(status, names(marks))]
  plot <- ggplot2::ggplot(rows, ggplot2::aes(ratio, name, colour = status, shape = status)) +
    ggplot2::geom_vline(xintercept = c(1, 1 + delta), linetype = c(1L, 2L), linewidth = 0.3) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = low, xmax = worst)) +
    ggplot2::geom_point(size = 2) +
    ggplot2::scale_x_continuous(trans = "log2") +
    ggplot2::scale_shape_manual(NULL, values = marks, drop = FALSE) +
    ggplot2::scale_colour_manual(NULL, drop = FALSE, values = c(
      "not slower" = "#0072B2", "not settled" = "grey45", slower = "#D55E00"
    )) +
    ggplot2::labs(
      title = "Worst slowdown of each question", x = "time after / time before (ratio)", y = NULL,
      caption = sprintf(
        "Bars: one-sided 95 %% limits at the worst size. Dashed: accepted slowdown of %s.%s",
        say_margin(delta),
        if (nrow(judged) > nrow(rows)) sprintf(" The worst %d questions.", nrow(rows)) else ""
      )
    ) +
    theme_cotejo()
  with_data(plot, rows)
}

#' The judgement as JUnit XML: "slower" is a failure, "not settled" is an error.
#'
#' @references The XML schema of the Jenkins xUnit plugin.
#' @noRd
write_junit <- function(judged, delta, out_file) {
  tag <- function(name, ..., attributes = list()) {
    htmltools::tag(name, c(attributes, list(...)))
  }
  names <- unique_titles(judged)
  cases <- lapply(seq_len(nrow(judged)), function(i) {
    row <- judged[i]
    text <- sprintf(
      "ratio of times %s at %s, n = %d; accepted slowdown %s",
      format_interval(row$ratio, row$low, row$worst), format_bytes(row$bytes), row$n,
      say_margin(delta)
    )
    inner <- switch(row$status,
      slower = tag("failure", text, attributes = list(message = "slower")),
      "not settled" = tag("error", text, attributes = list(message = "not settled")),
      tag("system-out", text)
    )
    tag("testcase", inner, attributes = list(
      classname = paste0("cotejo.", row$test), name = names[[i]]
    ))
  })
  suite <- tag("testsuite", cases, attributes = list(
    name = "cotejo compare", tests = nrow(judged), failures = sum(judged$status == "slower"),
    errors = sum(judged$status == "not settled")
  ))
  lines <- c("<?xml version=\"1.0\" encoding=\"UTF-8\"?>", as.character(suite))
  write_whole(out_file, function(file) put_lines(lines, file))
}
