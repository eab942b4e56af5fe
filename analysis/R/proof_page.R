# SPDX-License-Identifier: BSD-3-Clause
# The page of the proof: what was to be shown, what was shown, with figures.

# Launches of each configuration in a full study: the number at which the power is judged.
FULL_LAUNCHES <- 30L

#' Write the page of the proof.
#'
#' @param results_dir launches of the proof (`make proof` measures them).
#' @param out_file the HTML file; its folder is made when needed.
#' @param repeats simulated studies of each kind for the coverage.
#' @param draws of blocks for the power curve.
#' @return the table of goals, invisibly: `goal`, `shown` (which says why where one cannot be
#'   judged), `met`.
#'   Prints progress, and the path last. An error when no launch is usable.
#' @export
write_proof <- function(results_dir, out_file, repeats = 2000L, draws = 3L) {
  need_pandoc()
  proof <- prove(results_dir, repeats, draws)
  proof$plots <- plot_proof(proof)
  folder <- tempfile("cotejo-proof")
  on.exit(unlink(folder, recursive = TRUE))
  render_page("proof", list(proof = proof), proof$plots, folder, out_file)
  for (i in seq_len(nrow(proof$goals))) {
    cat(proof_mark(proof$goals$met[[i]]), ": ", proof$goals$goal[[i]], ": ",
      proof$goals$shown[[i]], "\n", sep = "")
  }
  cat(out_file, "\n", sep = "")
  invisible(proof$goals)
}

proof_mark <- function(met) {
  fifelse(met, "shown", "NOT SHOWN")
}

#' All parts of the proof from the launches of a folder.
#' @noRd
prove <- function(results_dir, repeats = 2000L, draws = 3L) {
  message("reading ", results_dir)
  results <- read_results(unpack_dataset(results_dir))
  summary <- summarise_launches(results)
  summary <- keep_rows_of(summary, summary$status == "ok" & !is.na(summary$parameter_alias))
  if (!nrow(summary)) {
    bad_data(results_dir, NA, "no launch of the proof", "measure some: make proof")
  }
  message("comparing names")
  # Read here for the account only: no comparison sees it.
  shares <- planted_shares(unique(summary, by = "key"))
  proof <- list(
    launches = uniqueN(summary$key), sessions = sort(unique(summary$session)),
    blocks = summary[, list(n = uniqueN(launch)), by = "session"]$n, shares = shares,
    by = list(
      `medians of launches` = account_for(summary, shares, draws),
      `undisturbed times` = account_for(undisturbed(summary), shares, draws)
    )
  )
  message("comparing sessions")
  proof$repetition <- rbind(
    prove_repetition(equal_names(summary, shares)),
    prove_repetition(true_names(summary, shares), by = "parameter_alias"),
    fill = TRUE
  )
  message("simulating")
  proof$coverage <- prove_coverage(repeats = repeats)
  proof$goals <- goals_of(proof)
  proof
}

#' Launches with nothing planted, under one name, for the comparison of MPIs.
#' @noRd
equal_names <- function(summary, shares) {
  first <- shares[share == 0, list(parameter_alias = min(parameter_alias)), by = "session"]
  out <- summary[first, on = c("session", "parameter_alias"), nomatch = NULL]
  set(out, j = "parameter_alias", value = "nothing planted")
  set(out, j = "parameters", value = "alias=nothing planted")
  setattr(out, "factors", attr(summary, "factors"))
  out[]
}

#' What was planted in place of the names, which each session draws anew; of the two names with
#' nothing planted the first.
#' @noRd
true_names <- function(summary, shares) {
  first <- shares[, list(parameter_alias = min(parameter_alias)), by = c("session", "share")]
  out <- summary[first, on = c("session", "parameter_alias"), nomatch = NULL]
  set(out, j = "parameter_alias", value = sprintf("planted %g", out$share))
  set(out, j = "parameters", value = "")
  setattr(out, "factors", attr(summary, "factors"))
  out[]
}

#' Power by share, number of launches and further columns.
#' @noRd
power_of <- function(trials, by) {
  part <- trials[share_a != share_b & pmin(share_a, share_b) == 0]
  part[, share := pmax(share_a, share_b)]
  out <- part[, list(
    trials = .N, hits = sum(found), wrong = sum(wrong)
  ), keyby = c("share", "launches", by)]
  out[, c("found", "low", "high") := share_of(hits, trials)]
  out[, hits := NULL]
  out[]
}

#' Spread of the launch medians with nothing planted: robust coefficient of variation, %.
#' @noRd
spread_of <- function(summary, shares) {
  none <- summary[shares[share == 0], on = c("session", "parameter_alias"), nomatch = NULL]
  none[, list(percent = 100 * stats::mad(log(median_s))), keyby = c("site", "mpi", "bytes")]
}

goals_of <- function(proof) {
  judged <- proof$coverage
  off <- judged[, pmax(0, abs(coverage - level) - (high - low) / 2)]
  agree <- proof$repetition$agree
  of_launches <- rbindlist(Map(goals_of_account, proof$by, names(proof$by),
    blocks = toString(unique(proof$blocks))
  ))
  rbind(of_launches, data.table(
    goal = c(
      "the intervals on which verdicts rest cover within 2 points of what they say",
      "verdicts that two sessions both reach agree in at least 95 %"
    ),
    shown = c(
      sprintf(
        "%s to %s points off", format_digits(100 * min(judged$coverage - judged$level)),
        format_digits(100 * max(judged$coverage - judged$level))
      ),
      if (length(agree)) {
        sprintf("%d of %d", sum(agree), length(agree))
      } else {
        "one session: run make proof again on another day"
      }
    ),
    met = c(
      all(off <= proof_criteria()$coverage$within) &&
        all(judged$alarms_low <= proof_criteria()$false_alarms_simulated$at_most),
      length(agree) > 0L && mean(agree) >= proof_criteria()$repetition$agree
    )
  ))
}

percent_of <- function(x) paste0(format_digits(100 * x), " %")

#' What the launches have to show, by one time of each launch (`name`).
#' @noRd
goals_of_account <- function(account, name, blocks) {
  criteria <- proof_criteria()
  wrong <- account$trials$wrong
  # 5 beside 2 % is equivalent within 3 %.
  missed <- account$trials[abs(share_a - share_b) > 0.04]$verdict == "equivalent"
  goals <- rbind(
    rbindlist(lapply(criteria$designs, function(n) goal_of_alarms(account$equal, n, criteria))),
    goals_of_power(account$power, account$spread, blocks),
    data.table(
      goal = c(
        "no side is called slower that is not",
        "a planted 5 or 10 % is not called equivalent within 3 %"
      ),
      shown = c(
        sprintf("%d of %d trials blame another", sum(wrong), length(wrong)),
        sprintf("%d of %d trials do", sum(missed), length(missed))
      ),
      # Of the trials at 5 %, corrected: what chance may do.
      met = c(mean(wrong) <= criteria$blamed$at_most, mean(missed) <= criteria$missed$at_most)
    )
  )
  goals[, goal := paste0(name, ": ", goal)]
  goals[]
}

# False alarms of a shipped design: a family is a pair of names with all its sizes.
goal_of_alarms <- function(equal, n, criteria) {
  most <- criteria$false_alarms
  part <- if (nrow(equal)) equal[equal$design == n] else equal
  families <- if (nrow(part)) {
    part[, list(alarm = any(verdict %in% c("faster", "slower"))),
      by = setdiff(names(part)[seq_len(match("b", names(part)))], "bytes")
    ]
  }
  enough <- NROW(families) >= most$families
  rate <- if (NROW(families)) {
    share_of_clusters(families$alarm, paste(families$session, families$set))
  }
  data.table(
    goal = sprintf(
      "A against A with %d launches, at least %d families: false alarms, upper end under %s",
      n, most$families, percent_of(most$at_most)
    ),
    shown = if (is.null(rate)) {
      sprintf("no session has %d blocks", n)
    } else {
      sprintf(
        "%s [%s, %s] of %s", percent_of(rate[[1L]]), percent_of(rate[[2L]]),
        percent_of(rate[[3L]]), count_of(nrow(families), "family", "families")
      )
    },
    met = enough && rate[[3L]] < most$at_most
  )
}

#' One goal a site: what is found there of what was planted, and what could be.
#' @noRd
goals_of_power <- function(power, spread, blocks) {
  of_site <- spread[, list(
    percent = stats::median(percent), smallest = smallest_found(
      stats::median(percent) / 100, FULL_LAUNCHES, uniqueN(bytes)
    )
  ), keyby = "site"]
  five <- power[abs(share - 0.05) < 1e-9 & launches == FULL_LAUNCHES][of_site, on = "site"]
  data.table(
    goal = sprintf(
      "a planted 5 %% is found in at least 95 %% of trials with %d launches, %s", FULL_LAUNCHES,
      five$site
    ),
    shown = fifelse(
      is.na(five$found), sprintf("sessions have %s blocks", blocks),
      sprintf(
        "%s of %d; launches differ by %s, with which %s can be found so often",
        percent_of(five$found), five$trials, percent_of(five$percent / 100),
        percent_of(five$smallest)
      )
    ),
    # What cannot be judged is not shown.
    met = fcoalesce(five$found, 0) >= proof_criteria()$power$at_least
  )
}

#' Smallest slowdown that a rank test finds with a power, if launch medians are log-normal.
#'
#' @param spread standard deviation of the logarithm of the medians, one value or several.
#' @param launches of each side; `family` sizes are corrected for, by Holm's least level.
#' @return share of the time. The efficiency of rank tests against t is 3 / pi (Hodges and Lehmann
#'   1956).
#' @noRd
smallest_found <- function(spread, launches, family, power = 0.95, alpha = 0.05) {
  z <- stats::qnorm(1 - alpha / (2 * family)) + stats::qnorm(power)
  expm1(z * spread * sqrt(2 / launches * pi / 3))
}

#' Figures of the proof.
#' @noRd
plot_proof <- function(proof) {
  list(
    `proof-equal` = plot_p_values(proof$by), `proof-power` = plot_power(proof$by),
    `proof-coverage` = plot_coverage(proof$coverage)
  )
}

plot_p_values <- function(accounts) {
  shown <- rbindlist(lapply(accounts, function(account) account$equal), idcol = "of")
  shown[, of := factor(of, unique(of))]
  setorderv(shown, c("of", "p"))
  shown[, expected := (seq_len(.N) - 0.5) / .N, by = "of"]
  plot <- ggplot(shown, aes(expected, p)) +
    ggplot2::geom_abline(slope = 1, intercept = 0, linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_point(size = 1, colour = COLOURS[[1L]]) +
    ggplot2::coord_equal() +
    ggplot2::facet_wrap(~of) +
    ggplot2::labs(
      title = "A against A: p of comparisons in which nothing differs",
      x = "expected if nothing differs", y = "p, not corrected", caption = paste(strwrap(paste(
        "Points: every comparison, sorted. On or above the line: no more false alarms than the",
        "level says. Sizes of one launch are not independent."
      ), CAPTION_WIDTH), collapse = "\n")
    ) + theme_cotejo()
  with_data(plot, shown)
}

plot_power <- function(accounts) {
  shown <- rbindlist(lapply(accounts, function(account) {
    rbind(cbind(account$power, mpi = "all"), account$power_by_mpi, fill = TRUE)
  }), idcol = "of")
  shown[, of := factor(of, unique(of))]
  shown[, panel := fifelse(mpi == "all", "all MPIs", title_of(mpi))]
  if (uniqueN(shown$site) > 1L) shown[, panel := paste0(site, "\n", panel)]
  shown[, panel := factor(panel, unique(panel[order(site, mpi != "all")]))]
  shown[, level := paste("planted", percent_text(share))]
  shown[, level := factor(level, unique(level[order(share)]))]
  plot <- ggplot(shown, aes(launches, 100 * found, colour = level)) +
    ggplot2::geom_hline(yintercept = 95, linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_line(aes(linetype = level), linewidth = 0.4) +
    ggplot2::geom_linerange(aes(ymin = 100 * low, ymax = 100 * high), linewidth = 0.4) +
    ggplot2::geom_point(aes(shape = level), size = 1.7) +
    ggplot2::facet_grid(panel ~ of) +
    level_scales(levels(shown$level)) +
    ggplot2::scale_x_continuous("launches of each side", breaks = unique(shown$launches)) +
    ggplot2::scale_y_continuous("found (% of trials)", limits = c(0, 100)) +
    ggplot2::labs(
      title = "How often a planted slowdown is found", caption = paste(strwrap(paste(
        "Trials: sizes and sessions, the slowed name against each with nothing planted, on random",
        "choices of blocks, after Holm's correction over the sizes. Bars: 95 % interval as if",
        "trials were independent. Line: 95 %."
      ), CAPTION_WIDTH), collapse = "\n")
    ) + theme_cotejo()
  with_data(plot, shown)
}

percent_text <- function(x) paste(format(100 * x, trim = TRUE), "%")

plot_coverage <- function(coverage) {
  shown <- copy(coverage)
  shown[, series := sprintf("%d blocks", blocks)]
  shown[, series := factor(series, unique(series[order(blocks)]))]
  shown[, x := as.integer(factor(kind, unique(kind))) + 0.15 * (as.integer(series) - 2.5)]
  kinds <- unique(shown$kind)
  plot <- ggplot(shown, aes(x, 100 * (coverage - level), colour = series)) +
    ggplot2::geom_hline(yintercept = 0, linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_hline(yintercept = c(-2, 2), linetype = "dotted", colour = "grey40") +
    ggplot2::geom_linerange(
      aes(ymin = 100 * (low - level), ymax = 100 * (high - level)), linewidth = 0.5
    ) +
    ggplot2::geom_point(aes(shape = series), size = 1.8) +
    ggplot2::facet_wrap(~design) +
    level_scales(levels(shown$series)) +
    ggplot2::scale_x_continuous(NULL,
      breaks = seq_along(kinds), labels = gsub(" ", "\n", kinds),
      limits = c(0.5, length(kinds) + 0.5)
    ) +
    ggplot2::ylab("coverage less the level that intervals say they have (points)") +
    ggplot2::labs(
      title = "Coverage on simulated launches (SIMULATED DATA)", caption = paste(strwrap(paste(
        "Bars: 95 % interval of the simulation. Dotted: 2 points to either side."
      ), CAPTION_WIDTH), collapse = "\n")
    ) + theme_cotejo()
  with_data(plot, shown)
}
