# SPDX-License-Identifier: BSD-3-Clause
# Verbs for estimates from curves: opportunity of overlap, protocol regimes, crossovers, eager
# limits, parameters of LogP. Each number has its interval over launches.

#' Add the columns of the configurations from the launch summary to an estimate.
#'
#' @param table an estimate, one row a configuration.
#' @param by columns of `table` that identify a configuration.
#' @return `table` with the added columns.
#' @noRd
with_configurations <- function(table, exhibit, by) {
  more <- grep("^(option|parameter|setting)_", names(exhibit$summary), value = TRUE)
  more <- c("test", "hosts", "ranks", more)
  by <- setdiff(by, "bytes")
  # Rows are selected first, because there are hundreds of such columns.
  keys <- keep_rows(exhibit$summary, which(!duplicated(exhibit$summary, by = by)))
  keys <- keys[, setdiff(c(by, more), "bytes"), with = FALSE]
  out <- keys[table, on = by]
  # A setting that no launch of these results has is unset in all of them.
  named <- unlist(exhibit$arguments[c("series", "panel")])
  unset <- setdiff(grep("^setting_", named, value = TRUE), names(out))
  if (length(unset)) set(out, j = unset, value = NA_character_)
  out[]
}

# Names of configurations in words: the requested columns, and further columns that differ.
name_configurations <- function(table, named, x) {
  level_of(table, c(named, unexplained(table, named, x)))
}

#' @describeIn exhibit_by_size Largest share of a message's time in which computation is hidden, by
#'   message size.
exhibit_opportunity <- function(exhibit, series = NULL, panel = NULL, scale = NULL) {
  curves <- overlap_curves(results_of(exhibit))
  wanted <- unique(exhibit$summary[, c("key", "operation", "bytes")])
  found <- estimate_overlap(curves[wanted, on = names(wanted), nomatch = NULL])
  found <- with_configurations(found, exhibit, OVERLAP_CELL)
  series <- argument(exhibit, "series", "mpi")
  panel <- argument(exhibit, "panel", "transport")
  panel <- c(panel, unexplained(found, c(series, panel), "bytes"))
  found[, `:=`(
    level = level_of(found, series), panel = level_of(found, panel), y = 100 * share,
    y_low = 100 * share_low, y_high = 100 * share_high
  )]
  axis <- axis_of("bytes", found$bytes, "log")
  found[, x := axis$place(bytes, level)]
  plot <- draw_curves(found[0L], found) + axis$scale +
    ggplot2::scale_y_continuous(
      "hidden share of the time (%)",
      limits = c(0, 100), labels = format_axis
    ) +
    # A ring around the point, because the shape of the point shows its series.
    ggplot2::geom_point(
      data = found[knee_seen == FALSE], shape = 1L, size = 3.2, show.legend = FALSE
    ) +
    ggplot2::labs(caption = caption_of_exhibit(exhibit, paste(c(
      "Points: the largest computation that is hidden, in % of the time without computation, from",
      "a hinge fitted to the curve of each launch; median over launches. Bars: 95 %",
      "interval over launches. 0: nothing is hidden; 100: the processor is free.",
      if (!all(found$knee_seen)) {
        "Ringed: all computation that was tried is hidden, in a launch or more; at least so much."
      }
    ), collapse = " "), found$n))
  with_finding(with_data(plot, tidy_data(found[, !"level"])), finding_of_curves(
    found, "bytes", "hidden share (%)", "highest", series
  ))
}

#' @describeIn exhibit_by_size Protocol regimes: the latency and the time per byte in each, and the
#'   sizes where they change. Compares them with the library's eager limit if there are launches of
#'   `eager-limit`. See [fit_regimes()].
exhibit_regime_table <- function(exhibit) {
  found <- regimes_found(exhibit)
  with_table(cbind(regimes_shown(found), changes_shown(found)), found, caption_of_exhibit(
    exhibit, paste(
      "Lines \u03b1 + G m of least relative squares in each regime, whose largest size is four",
      "times its smallest or more;", say_regimes(found)
    ), found$n
  ))
}

#' @describeIn exhibit_by_size Parameters of LogGP in each regime of the end-to-end latency.
exhibit_loggp_table <- function(exhibit) {
  parameters <- logp_parameters(results_of(exhibit))
  found <- regimes_found(exhibit, function(part, rows) {
    here <- parameters[unique(part[, c("key", "bytes")]), on = c("key", "bytes"), nomatch = NULL]
    loggp_of(here[bytes %in% sizes_of_all(here)], rows)
  })
  names <- c("os", "or", "g", "L")
  cells <- lapply(paste0(names, "_s"), \(name) format_columns(found, name, 1e6))
  cells <- setDT(stats::setNames(cells, paste(names, "(\u00b5s)")))
  with_table(cbind(regimes_shown(found), cells, changes_shown(found)), found, caption_of_exhibit(
    exhibit, paste(
      "Lines \u03b1 + G m through the end-to-end latency in each regime. os, or (overheads by",
      "overlap) and g (gap): lines through them at the same sizes, at no bytes; L = \u03b1 - os",
      "- or. G contains the parts of os and or that grow with the size;", say_regimes(found)
    ), found$n
  ))
}

WHAT_REGIMES_SAY <- paste(
  "the number of regimes by BIC. Intervals are of 95 %, by a bootstrap over launches; support:",
  "share of draws with the change between the same two sizes. Jump: the two lines predict",
  "launches that were left out better than curves without a jump do; a bend is no evidence of",
  "another protocol."
)

# Captions on regimes name the configurations with as many regimes as are fitted at most.
say_regimes <- function(found) {
  limited <- unique(name_configurations(found, c("mpi", "transport"), "from_bytes")[found$limited])
  paste(c(WHAT_REGIMES_SAY, if (length(limited)) {
    sprintf("At the largest number of regimes, there may be more: %s.", toString(limited))
  }), collapse = " ")
}

# Regimes of every configuration of an exhibit. The function `more` makes further columns from the
# launches (`key`, `bytes`, `median_s`) and the regimes of a configuration.
regimes_found <- function(exhibit, more = NULL) {
  by <- configuration_columns(exhibit$summary)
  limits <- known_limits(exhibit$results)
  curves <- exhibit$summary[, c(by, "key", "bytes", "median_s"), with = FALSE]
  found <- rbindlist(lapply(split(curves, by = by), function(part) {
    rows <- regimes_of(part)
    if (!is.null(rows)) {
      cbind(part[1L, by, with = FALSE], rows, if (!is.null(more)) more(part, rows))
    }
  }))
  if (!nrow(found)) await("launches with three sizes or more")
  at <- limit_of(found, limits)
  found[, `:=`(
    eager_limit_bytes = limits$eager_limit_bytes[at], tried_bytes = limits$tried_bytes[at]
  )]
  found <- explain_changes(found, found$eager_limit_bytes)
  found[]
}

regimes_shown <- function(found) {
  data.table(
    Configuration = as.character(name_configurations(found, c("mpi", "transport"), "from_bytes")),
    n = found$n, From = format_bytes(found$from_bytes), To = format_bytes(found$to_bytes),
    "Latency \u03b1 (\u00b5s)" = format_columns(found, "alpha_s", 1e6),
    "Time of a byte G (ns)" = format_columns(found, "beta_s_per_byte", 1e9)
  )
}

changes_shown <- function(found) {
  data.table(
    "Changes between" = ifelse(is.na(found$after_bytes), "", sprintf(
      "%s to %s", format_bytes(fcoalesce(found$low_bytes, found$after_bytes)),
      format_bytes(fcoalesce(found$high_bytes, found$before_bytes))
    )),
    Support = ifelse(is.na(found$support), "", sprintf("%.0f %%", 100 * found$support)),
    Shape = fcase(found$jump %in% TRUE, "jump", found$jump %in% FALSE, "bend", default = ""),
    "Eager limit of the library" = ifelse(is.na(found$eager_limit_bytes), "not measured", paste0(
      say_limit(found$eager_limit_bytes, found$tried_bytes),
      ifelse(found$explained %in% TRUE, ": here", "")
    ))
  )
}

# Regimes of one configuration, a row each. A change is in the row of the regime before it.
regimes_of <- function(part) {
  sizes <- sizes_of_all(part)
  curve <- part[bytes %in% sizes, list(key, bytes, time_s = median_s)]
  if (length(sizes) < 3L || any(curve$time_s <= 0)) {
    return(NULL)
  }
  fit <- fit_regimes(curve, noise = max(0.01, noise_of(curve), na.rm = TRUE))
  changes <- fit$changes[c(seq_len(nrow(fit$changes)), NA)]
  data.table(n = uniqueN(curve$key), fit$regimes, changes, limited = fit$limited)
}

# The sizes with the most launches. If launches choose sizes, only common sizes can be combined.
sizes_of_all <- function(rows) {
  count <- rows[, list(launches = .N), keyby = "bytes"]
  count$bytes[count$launches == max(count$launches)]
}

#' Relative error of the medians over launches as points of one curve. A launch that is slower by
#' the same factor at every size moves the curve and does not change its shape. So each launch
#' counts only by the deviations from its own mean.
#'
#' @param curve `key`, `bytes`, `time_s`.
#' @return the median over sizes; `NA` for a single launch.
#' @noRd
noise_of <- function(curve) {
  off <- curve[, list(bytes, off = log(time_s) - mean(log(time_s))), by = "key"]
  spread <- off[, list(error = stats::sd(off) / sqrt(.N)), by = "bytes"]
  stats::median(spread$error, na.rm = TRUE)
}

#' @describeIn exhibit_by_size The message sizes (B) up to which eager messages are faster than
#'   rendezvous. Also gives the library's own eager limit, and the variables that set a better one.
exhibit_crossover_table <- function(exhibit) {
  limits <- known_limits(exhibit$results)
  found <- find_crossovers(exhibit$summary, limits)
  if (!nrow(found)) await("launches of one block with the smallest and the largest eager limit")
  found <- limits[found, on = c("site", "mpi", "transport")]
  shown <- data.table(
    Configuration = as.character(level_of(found, c("mpi", "transport", "placement", "operation"))),
    n = found$n,
    Messages = paste(format_bytes(found$from_bytes), "to", format_bytes(found$to_bytes)),
    "Eager is faster up to" = bound_of(found, found$crossover_bytes),
    "95 % interval" = ifelse(is.na(found$low_bytes), "", paste(
      bound_of(found, found$low_bytes), "to", bound_of(found, found$high_bytes)
    )),
    "The library's own limit" = fifelse(
      is.na(found$eager_limit_bytes), "not measured",
      say_limit(found$eager_limit_bytes, found$tried_bytes)
    ),
    "Variables to set" = variables_in_words(found, " = "),
    "Saves (%)" = format_columns(found, "gain", 100, 2L)
  )
  with_table(shown, found, caption_of_exhibit(exhibit, paste(
    "The limit with the shortest times of these messages; saves: of the time of the worse",
    "protocol. Intervals by a bootstrap over launches."
  ), found$n))
}

#' @describeIn exhibit_by_size Eager limits: the limit that was set, and the largest size sent
#'   without a receive.
exhibit_limit_table <- function(exhibit) {
  found <- eager_limits(results_of(exhibit))
  found[, setting_eager_limit := value_or_na(found, "setting_eager_limit")]
  table <- found[, list(
    n = .N, least_bytes = min(eager_limit_bytes), most_bytes = max(eager_limit_bytes),
    tried_bytes = max(tried_bytes)
  ), keyby = c("site", "mpi", "transport", "placement", "setting_eager_limit")]
  set <- as.numeric(table$setting_eager_limit)
  table <- table[order(mpi, transport, placement, !is.na(set), set)]
  set <- as.numeric(table$setting_eager_limit)
  seen <- function(bytes) {
    fifelse(
      is.infinite(bytes), paste("no limit up to", format_bytes(table$tried_bytes)),
      format_bytes(bytes)
    )
  }
  shown <- data.table(
    Configuration = as.character(level_of(table, c("mpi", "transport", "placement"))),
    n = table$n, "Limit set" = ifelse(is.na(set), "nothing", format_bytes(fcoalesce(set, 0))),
    "Sent without waiting up to" = in_range(seen(table$least_bytes), seen(table$most_bytes))
  )
  with_table(shown, table, caption_of_exhibit(exhibit, paste(
    "Found by sends whose receive is posted late, to the byte. No limit: not even the largest",
    "size that was tried had to wait."
  ), table$n))
}

#' @describeIn exhibit_by_size The size from which the exchange of blocking sends deadlocks, as
#'   found by each launch.
exhibit_deadlock_table <- function(exhibit) {
  launches <- unique(exhibit$summary, by = "key")
  if (!"found_deadlock_bytes" %in% names(launches)) await("launches that looked for the deadlock")
  largest <- max(exhibit$summary$bytes)
  # "null": no deadlock at any requested size.
  launches[, least := fcoalesce(suppressWarnings(as.numeric(found_deadlock_bytes)), Inf)]
  table <- launches[, list(
    n = .N, deadlock_bytes = stats::median(least), least_bytes = min(least),
    most_bytes = max(least)
  ), keyby = c("site", "mpi", "transport", "placement")]
  shown <- data.table(
    Configuration = as.character(level_of(table, c("mpi", "transport", "placement"))),
    n = table$n, "Deadlocks from" = say_limit(table$deadlock_bytes, largest),
    "Smallest and largest of the launches" = paste(
      say_limit(table$least_bytes, largest), "to", say_limit(table$most_bytes, largest)
    )
  )
  with_table(shown, table, caption_of_exhibit(exhibit, paste(
    "Median over launches. Both ranks send first and then receive: this ends only while a send",
    "is complete before its receive is posted."
  ), table$n))
}

#' @describeIn exhibit_by_size Parameters of LogP by message size, by both methods. Also gives the
#'   share of sizes above 1 kB at which both overheads fit into the latency.
exhibit_logp_table <- function(exhibit) {
  parameters <- logp_parameters(results_of(exhibit))
  by <- c("site", "simulated", "mpi", "transport", "placement", "settings", "parameters", "bytes")
  names <- c(
    "eel", "g", "g_derived", "os_call", "or_call", "L_call", "os_overlap", "or_overlap",
    "L_overlap"
  )
  found <- parameters[, c(list(n = .N), unlist(lapply(.SD, function(x) {
    stats::setNames(median_interval(x)[1:3], c("mid", "low", "high"))
  }), recursive = FALSE)), keyby = by, .SDcols = paste0(names, "_s")]
  setnames(found, sub(".mid", "", names(found), fixed = TRUE))
  setnames(found, gsub(".", "_", names(found), fixed = TRUE))
  found <- with_configurations(found, exhibit, by)
  cells <- lapply(paste0(names, "_s"), \(name) format_columns(found, name, 1e6))
  cells <- setDT(stats::setNames(cells, sub("_", ", ", sub("eel", "EEL", names))))
  shown <- cbind(data.table(
    Configuration = as.character(name_configurations(found, c("mpi", "transport"), "bytes")),
    Size = format_bytes(found$bytes), n = found$n
  ), cells)
  fit <- overheads_within_latency(parameters)
  fits <- sprintf("%.0f %%", 100 * range(fit$share_overlap))
  with_table(shown, found, caption_of_exhibit(exhibit, paste(
    "\u00b5s.", WHAT_TABLES_SHOW, sprintf(
      paste(
        "g, derived: that of the smallest size, plus the growth of EEL from there.",
        "os + or by overlap is at most EEL at %s of the sizes above 1 kB."
      ), paste(unique(fits), collapse = " to ")
    )
  ), found$n))
}
