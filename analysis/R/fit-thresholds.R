# SPDX-License-Identifier: BSD-3-Clause
# Finds the size above which rendezvous is faster than eager, and advises a limit for it.

#' Crossover of two protocols.
#'
#' `eager` and `rendezvous` are the same curve, measured with the highest and the lowest limit. The
#' best single limit is the cut of the sizes with the smallest product of the times, with eager
#' below and rendezvous above. A rule such as "the first size at which rendezvous is faster" would
#' follow one noisy size; the cut weighs all sizes. If the two neighbours of the cut disagree about
#' the faster protocol, the crossover is interpolated between them (log ratio against log size).
#'
#' @param eager,rendezvous data.tables `launch` (number or name of the block), `bytes`, `time_s`:
#'   one value each for the same launches and sizes, only for sizes at which the protocols differ.
#' @param level,replicates,seed of the bootstrap, which draws launches (of both protocols
#'   together).
#' @return list: `crossover_bytes` with `low_bytes`, `high_bytes` (`NA` for fewer than five
#'   launches): 0 if rendezvous, `Inf` if eager is better at every measured size. `eager_to_bytes`:
#'   the largest measured size for which eager is advised, or 0. `from_bytes`, `to_bytes`: the
#'   range of measured sizes. `gain`: time saved by a limit, compared with the worse of only eager
#'   and only rendezvous (geometric mean over sizes, 0.1 is 10 %). The limit and the worse protocol
#'   are chosen from other launches than the one whose gain is computed. `gain_low`, `gain_high`
#'   (95 %; `NA` for fewer than five launches); `level`; `n` launches.
#' @keywords internal
protocol_crossover <- function(eager, rendezvous, level = 0.95, replicates = 2000L, seed = 1L) {
  sides <- lapply(list(eager, rendezvous), \(side) {
    need_columns(side, c("launch", "bytes", "time_s"), "a protocol's curve")
    wide <- dcast(as.data.table(side), launch ~ bytes, value.var = "time_s")
    as.matrix(wide, rownames = "launch")
  })
  bytes <- as.numeric(colnames(sides[[1L]]))
  same <- identical(dimnames(sides[[1L]]), dimnames(sides[[2L]]))
  if (!same || anyNA(unlist(sides)) || min(unlist(sides)) <= 0) {
    refuse("a crossover needs a positive time of both protocols for the same launches and sizes")
  }
  # One row per draw, one column per size.
  ratios <- function(index) {
    log(drawn_medians(sides[[2L]], index)) - log(drawn_medians(sides[[1L]], index))
  }
  n <- nrow(sides[[1L]])
  found <- cut_of(bytes, ratios(matrix(seq_len(n)))[1L, ])
  gain <- gain_of_others(sides[[1L]], sides[[2L]])
  bounds <- c(NA_real_, NA_real_)
  if (n >= MIN_LAUNCHES) {
    drawn <- ratios(with_seed(seed, draw_indices(n, replicates)))
    drawn <- vapply(seq_len(replicates), \(i) cut_of(bytes, drawn[i, ])$crossover, 0)
    # Type 1 returns values that were drawn: interpolation would fail because a value may be
    # infinite.
    bounds <- stats::quantile(drawn, (1 + c(-level, level)) / 2, type = 1L, names = FALSE)
  }
  list(
    crossover_bytes = found$crossover, low_bytes = bounds[[1L]], high_bytes = bounds[[2L]],
    eager_to_bytes = if (found$at) bytes[[found$at]] else 0,
    from_bytes = bytes[[1L]], to_bytes = bytes[[length(bytes)]],
    gain = gain$ratio, gain_low = gain$low, gain_high = gain$high, level = level, n = n
  )
}

# The gain of a limit, with its interval. The limit and the protocol with which it is compared are
# chosen from the other launches: a best cut gains in its own launches even without a real gain.
gain_of_others <- function(eager, rendezvous) {
  n <- nrow(eager)
  own <- log(rendezvous) - log(eager)
  saved <- vapply(seq_len(n), function(i) {
    rest <- if (n > 1L) -i else i
    others <- log(column_medians(rendezvous[rest, , drop = FALSE])) -
      log(column_medians(eager[rest, , drop = FALSE]))
    at <- cut_of(seq_along(others), others)$at
    cut <- -sum(own[i, seq_len(at)])
    worse <- if (sum(others) < 0) -sum(own[i, ]) else 0
    (cut - worse) / length(others)
  }, 0)
  known <- ratio_interval(exp(saved), rep(1, n), TRUE)
  list(ratio = 1 - known$ratio, low = 1 - known$high, high = 1 - known$low)
}

# Best cut of log ratios (rendezvous over eager): eager for the first `at` sizes.
cut_of <- function(bytes, ratio) {
  saved <- c(0, cumsum(ratio))
  at <- which.max(saved) - 1L
  crossover <- if (at == 0L) {
    0
  } else if (at == length(bytes)) {
    Inf
  } else {
    # The cut is a maximum of the sum: eager is faster before it, rendezvous after it.
    here <- ratio[[at]]
    share <- here / (here - ratio[[at + 1L]])
    2^(log2(bytes[[at]]) + share * (log2(bytes[[at + 1L]]) - log2(bytes[[at]])))
  }
  list(at = at, crossover = crossover)
}

#' Crossovers of every MPI, transport and placement of a study.
#'
#' @param summary what [summarise_launches()] returned, of launches with `setting_eager_limit`. In
#'   each configuration the smallest limit is taken for rendezvous and the largest for eager, at
#'   the sizes between them. Launches without a limit show which other variables were set with it.
#' @param limits what [known_limits()] returned; `NULL`: no limit is known. The largest eager
#'   message is the limit minus the library's own header. If the header is unknown, every size
#'   below the limit is taken for eager, and the limit itself is not.
#' @param ... of [protocol_crossover()].
#' @return data.table, one row per site, test, operation, MPI, transport and placement: the
#'   members of [protocol_crossover()], `least_limit`, `most_limit` (B), and `variables`: the
#'   environment variables that launches without a limit lack or set differently, as
#'   `A=1; B={value}` with `{value}` for the limit. If there are no launches without a limit, only
#'   the variables that differ between the two limits are known.
#' @keywords internal
find_crossovers <- function(summary, limits = NULL, ...) {
  need_columns(
    summary, c("setting_eager_limit", "environment", "median_s"), "the launch summary"
  )
  used <- summary[!is.na(median_s)]
  used[, limit := as.numeric(setting_eager_limit)]
  # The bytes of a limit that the library uses for its own header.
  header <- if (is.null(limits)) NA_real_ else limits$header_bytes[limit_of(used, limits)]
  set(used, j = "header", value = header)
  # A launch's number is its block within its session.
  used[, launch := paste(session, launch)]
  by <- c("site", "simulated", "test", "operation", "mpi", "transport", "placement")
  used[, crossover_of_limits(.SD, ...), keyby = by]
}

# The number of the row of [known_limits()] with the site, MPI and transport of each row.
limit_of <- function(rows, limits) {
  match(
    paste(rows$site, rows$mpi, rows$transport),
    paste(limits$site, limits$mpi, limits$transport)
  )
}

crossover_of_limits <- function(data, ...) {
  alone <- data[is.na(limit)]
  data <- data[!is.na(limit)]
  if (!nrow(data)) {
    return(NULL)
  }
  limits <- range(data$limit)
  # If the header is unknown, all sizes below the limit count, but not the limit itself.
  largest_eager <- limits[[2L]] - fcoalesce(data$header[[1L]], 1)
  between <- data[bytes > limits[[1L]] & bytes <= largest_eager]
  both <- intersect(between[limit == limits[[1L]]]$launch, between[limit == limits[[2L]]]$launch)
  if (limits[[1L]] == limits[[2L]] || !length(both)) {
    return(NULL)
  }
  side <- function(which) {
    rows <- between[limit == which & launch %in% both]
    rows[, list(launch, bytes, time_s = median_s)]
  }
  c(
    protocol_crossover(side(limits[[2L]]), side(limits[[1L]]), ...),
    list(
      least_limit = limits[[1L]], most_limit = limits[[2L]],
      variables = variables_of(
        data[limit == limits[[1L]]], data[limit == limits[[2L]]], alone
      )
    )
  )
}

# The variables that set a limit: launches with the smallest and with the largest limit have them,
# and launches without a limit lack them or have another value. A variable with the same value for
# both limits is set together with the limit; its value is not the limit, even if it is equal.
variables_of <- function(least, most, alone) {
  # Within one session: two sessions may differ in more than the limit, as in the library's path.
  common <- intersect(least$session, most$session)
  here <- c(intersect(common, alone$session), common)[[1L]]
  low <- environment_of(least[session == here])
  high <- environment_of(most[session == here])
  same <- alone[session == here]
  before <- environment_of(if (nrow(same)) same else alone)
  names <- sort(intersect(names(low), names(high)), method = "radix")
  moves <- low[names] != high[names]
  absent <- nrow(alone) > 0L & is.na(before[names])
  differs <- nrow(same) > 0L & before[names] != high[names]
  limit <- most$setting_eager_limit[[1L]]
  values <- ifelse(moves, sub(limit, "{value}", high[names], fixed = TRUE), high[names])
  paste(sprintf("%s=%s", names, values)[moves | absent | differs], collapse = "; ")
}

# The environment of the first launch of some launches: values by name.
environment_of <- function(rows) {
  pairs <- strsplit(c(rows$environment, "")[[1L]], "; ", fixed = TRUE)[[1L]]
  stats::setNames(sub("^[^=]*=", "", pairs), sub("=.*", "", pairs))
}

#' Eager limit of each launch of the experiment `eager-limit`. In this experiment a rank sends
#' messages before anyone receives them: an eager send returns, any other send waits.
#'
#' @param results what [read_results()] returned.
#' @return data.table, one row per launch: the columns of the launches; `eager_limit_bytes`, the
#'   largest size (B) that returned and is smaller than each size that waited, `Inf` if none
#'   waited; and `tried_bytes`, the largest tried size (B). A size counts as returned if one of its
#'   sends returned: a send that must wait never returns, but a busy machine can delay an eager
#'   send.
#' @keywords internal
eager_limits <- function(results) {
  used <- summary_of_samples(results)
  used <- used[n > 0L & operation %in% c("eager-alone", "eager-held")]
  if (!nrow(used)) {
    refuse("no valid sample of the experiment eager-limit; measure it first")
  }
  sizes <- used[, list(alone = any(operation == "eager-alone")), keyby = c("key", "bytes")]
  out <- sizes[, list(
    eager_limit_bytes = if (all(alone)) Inf else max(0, bytes[alone & bytes < min(bytes[!alone])]),
    tried_bytes = max(bytes)
  ), keyby = "key"]
  out[, key := as.character(key)]
  results$launches[out, on = "key"]
}

#' The advised settings in words: one line per configuration.
#'
#' @param crossovers what [find_crossovers()] returned.
#' @param limits what [known_limits()] returned; `NULL`: no limit is known.
#' @return character.
#' @keywords internal
threshold_advice <- function(crossovers, limits = NULL) {
  vapply(seq_len(nrow(crossovers)), \(i) {
    row <- crossovers[i]
    now <- limits[limits$site == row$site & limits$mpi == row$mpi &
      limits$transport == row$transport]
    if (NROW(now)) row[, header_bytes := now$header_bytes]
    known <- NROW(now) && !is.na(now$eager_limit_bytes)
    sprintf(
      "%s over %s, %s, %s: %s%s", title_of(row$mpi), title_of(row$transport), row$placement,
      title_of(row$operation), advice_of(row), if (known) default_of(row, now) else ""
    )
  }, "")
}

# The advice for a study: one line per test, MPI, transport and placement whose eager limit was
# set by hand; no lines without such launches.
advise <- function(results, session = NULL, whole = summarise_launches(results)) {
  if (!"setting_eager_limit" %in% names(results$launches)) {
    return(character())
  }
  used <- choose_states(whole, SIDES, session)$used & whole$experiment != "eager-limit"
  by_hand <- results$launches$key[!is.na(results$launches$setting_eager_limit)]
  set_by_hand <- unique(whole$test[used & whole$key %in% by_hand])
  summary <- keep_rows(whole, which(used & whole$test %in% set_by_hand))
  summary <- with_columns(summary, results$launches)
  if (!nrow(summary)) {
    return(character())
  }
  limits <- known_limits(results, session)
  crossovers <- find_crossovers(summary, limits)
  if (nrow(crossovers)) threshold_advice(crossovers, limits) else character()
}

advice_of <- function(row) {
  interval <- if (is.na(row$low_bytes)) {
    sprintf("no interval: %s", count_of(row$n, "launch", "launches"))
  } else {
    sprintf(
      "%.0f %% interval %s to %s", 100 * row$level, bound_of(row, row$low_bytes),
      bound_of(row, row$high_bytes)
    )
  }
  faster <- if (row$crossover_bytes == 0) {
    sprintf("rendezvous is faster at every size above %s", format_bytes(row$least_limit))
  } else if (is.infinite(row$crossover_bytes)) {
    sprintf("eager is faster at every size up to %s", format_bytes(row$eager_to_bytes))
  } else {
    sprintf("eager is faster up to %s", format_bytes(round(row$crossover_bytes)))
  }
  if (is.na(row$gain_low) || row$gain_low <= 0) {
    return(sprintf(
      "not settled, %s (%s): that a limit saves time against the worse protocol is not shown, %s",
      faster, interval, say_gain(row)
    ))
  }
  sprintf(
    "%s (%s): set %s for messages of %s to %s; %s quicker than the worse protocol",
    faster, interval, variables_in_words(row, " to "),
    format_bytes(row$from_bytes), format_bytes(row$to_bytes), say_gain(row)
  )
}

say_gain <- function(row) paste(format_columns(row, "gain", 100, 2L), "%")

# Value (B) to set. It is restricted to the range of measured sizes, and the size of the library's
# own header is added.
advised_limit <- function(rows) {
  value <- pmax(pmin(round(rows$crossover_bytes), rows$to_bytes), rows$least_limit)
  pmin(value + fcoalesce(value_or_na(rows, "header_bytes"), 0), rows$most_limit)
}

# The settings for the advised limit: every variable with its value.
variables_in_words <- function(rows, is) {
  variables <- fifelse(nzchar(rows$variables), rows$variables, "eager_limit={value}")
  mapply(function(text, limit) {
    text <- gsub("{value}", sprintf("%.0f", limit), text, fixed = TRUE)
    pairs <- strsplit(text, "; ", fixed = TRUE)[[1L]]
    toString(sub("=", is, pairs, fixed = TRUE))
  }, variables, advised_limit(rows), USE.NAMES = FALSE)
}

bound_of <- function(rows, bytes) {
  fcase(
    is.na(bytes), "", bytes == 0, paste("below", format_bytes(rows$least_limit)),
    is.infinite(bytes), "beyond the sizes measured",
    rep(TRUE, length(bytes)), format_bytes(round(bytes))
  )
}

default_of <- function(row, known) {
  now <- known$eager_limit_bytes
  held <- !is.na(row$low_bytes) && row$low_bytes <= now && now <= row$high_bytes
  default <- if (is.infinite(now)) {
    sprintf("by default no message up to %s waits", format_bytes(known$tried_bytes))
  } else {
    paste("the default is", format_bytes(now))
  }
  paste0("; ", default, if (held) ", within the interval: leave it")
}

# Eager limits in words. If every tried size was sent eagerly, there is no number.
say_limit <- function(bytes, tried) {
  fifelse(is.infinite(bytes), paste("none up to", format_bytes(tried)), format_bytes(bytes))
}

#' Eager limits as found by `eager-limit`, of the sessions that would be reported.
#'
#' @param results what [read_results()] returned.
#' @param session names of sessions to choose from, see [choose_sessions()].
#' @return data.table, one row a site, MPI and transport. `eager_limit_bytes`: the library's own
#'   limit (median over launches, `Inf`: it held no size; `NA`: every launch set a limit).
#'   `tried_bytes`: the largest size that was tried for it. `header_bytes`: the part of a limit set
#'   by hand that the library uses itself (`NA`: none was set, or none seen). No rows without
#'   launches.
#' @keywords internal
known_limits <- function(results, session = NULL) {
  tried <- results$launches[experiment == "eager-limit"]
  # Outside `[]`, where `session` would be the column.
  chosen <- if (nrow(tried)) choose_states(tried, SIDES, session)$used else logical()
  used <- tried[which(chosen)]
  if (!nrow(used)) {
    return(data.table(
      site = character(), mpi = character(), transport = character(),
      eager_limit_bytes = numeric(), tried_bytes = numeric(), header_bytes = numeric()
    ))
  }
  found <- eager_limits(results_of_launches(results, used$key))
  set <- as.numeric(value_or_na(found, "setting_eager_limit"))
  # If a limit lies beyond the tried sizes, its header was not observed.
  found[, header := fifelse(is.finite(eager_limit_bytes), set - eager_limit_bytes, NA_real_)]
  found[, own := is.na(set)]
  found[, list(
    eager_limit_bytes = stats::median(eager_limit_bytes[own]),
    tried_bytes = max(tried_bytes[own | !any(own)]),
    header_bytes = stats::median(header, na.rm = TRUE)
  ), keyby = c("site", "mpi", "transport")]
}
