# SPDX-License-Identifier: BSD-3-Clause
# The page of the proof: the goals, the results, and figures.

#' Write the page of the proof.
#'
#' @param results_dir launches of the proof (`make proof` measures them).
#' @param out_file the HTML file; its folder is made when needed.
#' @param repeats simulated studies of each kind for the coverage.
#' @return the table of goals, invisibly: `goal`, `shown` (which gives the reason if a goal cannot
#'   be judged), `met`, `why` (the reason for a missed goal, by a control).
#'   Prints progress, and the path last. An error if no launch is usable.
#' @keywords internal
write_proof <- function(results_dir, out_file, repeats = 1000L) {
  from <- list("proof", dataset = sum_of_dataset(results_dir), repeats, basename(out_file))
  files <- \(written) c(written$page, file.path("figures", figure_files(written$figures)))
  written <- kept_files(from, dirname(out_file), files, function() {
    proof <- prove(results_dir, repeats)
    proof$plots <- Filter(length, list(
      `proof-alarms` = plot_alarms(proof), `proof-power` = plot_power(proof),
      `proof-coverage` = plot_coverage(proof$coverage)
    ))
    render_page("proof", list(proof = proof), out_file, proof$plots)
    list(page = basename(out_file), figures = names(proof$plots), goals = proof$goals)
  })
  goals <- written$goals
  cat(paste0(
    proof_mark(goals$met), ": ", goals$goal, ": ", goals$shown,
    ifelse(nzchar(goals$why), paste0("; why: ", goals$why), ""), "\n"
  ), sep = "")
  cat(out_file, "\n", sep = "")
  invisible(goals)
}

proof_mark <- function(met) fifelse(met, "shown", "NOT SHOWN")

# All parts of the proof from the launches of a folder.
prove <- function(results_dir, repeats = 2000L, criteria = proof_criteria()) {
  message("reading ", results_dir)
  summary <- summarise_launches(
    read_study(results_dir), c(COMPARED, "parameter_alias", "environment")
  )
  summary <- keep_rows(summary, which(summary$status == "ok" & !is.na(summary$parameter_alias)))
  older <- setdiff(summary$session, Filter(
    \(one) after_criteria(one, criteria$frozen), unique(summary$session)
  ))
  summary <- keep_rows(summary, which(!summary$session %in% older))
  if (!nrow(summary)) {
    bad_data(results_dir, NA, sprintf(
      "no launch of the proof that is newer than its criteria (%s)", criteria$frozen
    ), "measure some: make proof")
  }
  # The names are read for counting only: no comparison uses them.
  names <- planted_names(unique(summary, by = "key"))
  proof <- list(
    launches = uniqueN(summary$key), sessions = sort(unique(summary$session)),
    older = sort(older), names = names,
    blocks = summary[, list(n = uniqueN(launch)), by = c("site", "session", "test")]
  )
  message("comparing and simulating")
  # The longest tasks come first, so that at the end no process waits long for another.
  done <- do_all(c(
    list(
      coverage = \() prove_coverage(repeats = repeats),
      stopping = \() prove_stopping(repeats = max(5L, repeats %/% 4L))
    ),
    trials_on(summary, names, criteria),
    list(
      by_mpi = \() prove_repetition(true_names(summary, names[plant == NO_PLANT])),
      by_plant = \() prove_repetition(true_names(summary, names), by = "parameter_alias")
    )
  ))
  proof <- c(proof, trials_from(done), done[c("coverage", "stopping")])
  proof$repetition <- rbind(done$by_mpi, done$by_plant, fill = TRUE)
  proof$goals <- goals_of(proof, criteria)
  proof
}

# Replaces the names, which each session draws anew, by the injected slowdown. If several
# names have the same slowdown, the first name is used.
true_names <- function(summary, names) {
  first <- names[, list(parameter_alias = min(parameter_alias)),
    by = c("site", "session", "test", "plant")
  ]
  out <- summary[first, on = setdiff(base::names(first), "plant"), nomatch = NULL]
  out[, c("parameter_alias", "parameters") := list(paste("injected slowdown", plant), "")][]
}

# Power by injected slowdown and size, and the variation of the blocks.
power_table <- function(trials) {
  if (!NROW(trials)) {
    return(NULL)
  }
  trials[, stats::setNames(c(
    share_of_clusters(verdict_of_slow == "slower", cluster),
    list(.N, stats::median(variation), stats::median(predicted))
  ), c("found", "low", "high", "trials", "variation", "predicted")),
  keyby = c("plant", "site", "design", "bytes")]
}

# False alarms by design, compared with the level.
plot_alarms <- function(proof) {
  most <- proof_criteria()$false_alarms$at_most
  rates <- function(families, of, n = families$design[[1L]]) {
    if (!NROW(families)) {
      return(NULL)
    }
    found <- share_of_clusters(families$alarm, families$cluster)
    data.table(
      of = of, launches = n, rate = found[[1L]], low = found[[2L]], high = found[[3L]],
      families = nrow(families)
    )
  }
  shown <- rbind(
    rbindlist(lapply(names(proof$alarms), function(time) {
      rbindlist(lapply(split(proof$alarms[[time]], by = "design"), rates, time))
    })),
    rates(proof$incomplete, "median, launches lost"), rates(proof$stopped, "median, stopping")
  )
  shown[, of := factor(of, unique(of))]
  shown[, x := as.integer(factor(launches)) + 0.12 * (as.integer(of) - 3)]
  at <- sort(unique(shown$launches))
  draw_rates(
    shown, shown$x, shown$of, c("rate", "low", "high"),
    "Nothing differs: how often something is called different",
    paste(
      "A family: two names, one operation, all sizes. Bars: 95 % interval, clustered by",
      "launches. Lines: 5 %, and the end that no bar may reach."
    ),
    ggplot2::geom_hline(yintercept = c(5, 100 * most), linewidth = 0.3, colour = "grey40")
  ) +
    ggplot2::scale_x_continuous("launches of each name", breaks = seq_along(at), labels = at) +
    ggplot2::scale_y_continuous("called different (% of families)", limits = c(0, NA))
}

#' Rates in % with their intervals, by series: the common part of the figures of the proof.
#'
#' @param shown the data of the figure.
#' @param x,series values of its rows.
#' @param columns of rate and interval.
#' @param ... layers below the points.
#' @return a ggplot without axes' scales.
#' @noRd
draw_rates <- function(shown, x, series, columns, title, caption, ...) {
  drawn <- copy(shown)
  drawn[, c("at", "series") := list(x, factor(series, unique(series)))]
  drawn[, c("y", "y_low", "y_high") := lapply(.SD, `*`, 100), .SDcols = columns]
  plot <- ggplot2::ggplot(drawn, ggplot2::aes(at, y, colour = series)) + list(...) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = y_low, ymax = y_high), linewidth = 0.5) +
    ggplot2::geom_point(ggplot2::aes(shape = series), size = 1.8) +
    level_scales(levels(drawn$series)) +
    ggplot2::labs(title = title, caption = caption) + theme_cotejo()
  with_data(plot, shown)
}

plot_power <- function(proof) {
  shown <- rbind(
    if (NROW(proof$between)) cbind(of = "between hosts", power_table(proof$between)),
    if (NROW(proof$within)) cbind(of = "within a host", power_table(proof$within)),
    if (NROW(proof$expected)) {
      cbind(of = "within a host", power_table(proof$expected[time == "median" & plant != "0.1"]))
    }
  )
  if (!NROW(shown)) {
    return(NULL)
  }
  draw_rates(
    shown, shown$bytes, sprintf("%s, %d launches", shown$plant, shown$design),
    c("found", "low", "high"), "How often injected slowdowns are called slower, by the median",
    paste(
      "Over MPIs, operations and disjoint sets of blocks. Bars: 95 % interval, clustered by",
      "launches."
    ),
    ggplot2::geom_line(linewidth = 0.4)
  ) +
    ggplot2::facet_wrap(~of) +
    ggplot2::scale_x_log10("message (B)") +
    ggplot2::scale_y_continuous("called slower (% of comparisons)", limits = c(0, 100))
}

plot_coverage <- function(coverage) {
  shown <- copy(coverage)[order(blocks)]
  kinds <- unique(coverage$kind)
  shown[, x := match(kind, kinds) + 0.15 * (match(blocks, unique(blocks)) - 2.5)]
  shown[, c("beside", "beside_low", "beside_high") := list(
    coverage - level, low - level, high - level
  )]
  draw_rates(
    shown, shown$x, sprintf("%d blocks", shown$blocks), c("beside", "beside_low", "beside_high"),
    "Coverage on simulated launches (SIMULATED DATA)",
    "Bars: 95 % interval of the simulation. Dotted: 2 points above and below.",
    ggplot2::geom_hline(yintercept = 0, linewidth = 0.3, colour = "grey40"),
    ggplot2::geom_hline(yintercept = c(-2, 2), linetype = "dotted", colour = "grey40")
  ) +
    ggplot2::facet_wrap(~design) +
    ggplot2::scale_x_continuous(NULL,
      breaks = seq_along(kinds), labels = gsub(" ", "\n", kinds),
      limits = c(0.5, length(kinds) + 0.5)
    ) +
    ggplot2::ylab("coverage less the level that intervals say they have (points)")
}
