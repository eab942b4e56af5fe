# SPDX-License-Identifier: BSD-3-Clause
# From which size on rendezvous is faster than eager, and what to set therefore.

#' Crossover of two protocols.
#'
#' `eager` and `rendezvous` are the same curve with the limit set as high and as low as it goes.
#' The best single limit is the cut of the sizes that makes the product of the times least, with
#' eager below and rendezvous above. A rule such as "the first size at which rendezvous is
#' faster" would follow one noisy size; the cut weighs all of them. Where the two neighbours of
#' the cut disagree about which is faster, the crossover is interpolated between them (log ratio
#' against log size).
#'
#' @param eager,rendezvous data.tables `launch` (number or name of the block), `bytes`, `time_s`: a
#'   value each for the same launches and sizes. Only sizes at which the protocols differ belong
#'   in.
#' @param level,replicates,seed of the bootstrap, which draws launches (both sides together).
#' @return list: `crossover_bytes` with `low_bytes`, `high_bytes` (`NA` under five launches):
#'   0 when rendezvous, `Inf` when eager is the better one at every size measured;
#'   `eager_to_bytes` the largest size measured at which eager is to be taken (0, or the least
#'   size, ...); `from_bytes`, `to_bytes`: the sizes measured; `gain`: time that a limit saves
#'   against the worse of only eager and only rendezvous (geometric mean over sizes, 0.1 is
#'   10 %), both chosen from the other launches than the one in which it is taken, with `gain_low`,
#'   `gain_high` (95 %; `NA` under five launches); `level`; `n` launches.
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
  # A row a draw, a column a size.
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
    # Type 1: bounds are values that were drawn, since one may be infinite.
    bounds <- stats::quantile(drawn, (1 + c(-level, level)) / 2, type = 1L, names = FALSE)
  }
  list(
    crossover_bytes = found$crossover, low_bytes = bounds[[1L]], high_bytes = bounds[[2L]],
    eager_to_bytes = if (found$at) bytes[[found$at]] else 0,
    from_bytes = bytes[[1L]], to_bytes = bytes[[length(bytes)]],
    gain = gain$ratio, gain_low = gain$low, gain_high = gain$high, level = level, n = n
  )
}

# What a limit saves, with its interval: the limit, and what it is held against, are those of the
# other launches. A best cut gains in its own launches even where there is nothing to gain.
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
    # The cut is a maximum of the sum: eager is faster before it, rendezvous behind.
    here <- ratio[[at]]
    share <- here / (here - ratio[[at + 1L]])
    2^(log2(bytes[[at]]) + share * (log2(bytes[[at + 1L]]) - log2(bytes[[at]])))
  }
  list(at = at, crossover = crossover)
}

#' Crossovers of every MPI, transport and placement of a study.
#'
#' @param summary what [summarise_launches()] returned, of launches with `setting_eager_limit`:
#'   per configuration the least and the largest limit are taken for rendezvous and eager, at the
#'   sizes between them. Launches that left the limit alone tell what else was set with it.
#' @param limits what [known_limits()] returned; `NULL`: nothing is known of them. The largest
#'   message that is eager is the limit less what the library takes of it for itself: where
#'   that was not seen, every size below the limit is taken for eager, and the limit itself is
#'   not.
#' @param ... of [protocol_crossover()].
#' @return data.table, one row a site, test, operation, MPI, transport and placement: the
#'   members of [protocol_crossover()], `least_limit`, `most_limit` (B), and `variables`: the
#'   environment of these launches that those which left the limit alone have not, or otherwise,
#'   as `A=1; B={value}` with `{value}` for the limit. Without such launches only what differs
#'   between the two limits is known.
#' @keywords internal
find_crossovers <- function(summary, limits = NULL, ...) {
  need_columns(
    summary, c("setting_eager_limit", "environment", "median_s"), "the launch summary"
  )
  used <- summary[!is.na(median_s)]
  used[, limit := as.numeric(setting_eager_limit)]
  used[, header := header_of(limits, used)]
  # A launch's number is its block in its session.
  used[, launch := paste(session, launch)]
  by <- c("site", "simulated", "test", "operation", "mpi", "transport", "placement")
  used[, crossover_of_limits(.SD, ...), keyby = by]
}

# What each launch's library takes of a limit for itself (B), `NA` where that was not seen.
header_of <- function(limits, launches) {
  if (is.null(limits)) {
    return(rep(NA_real_, nrow(launches)))
  }
  limits$header_bytes[limit_of(launches, limits)]
}

# Which row of [known_limits()] is that of each row's site, MPI and transport.
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
  # Where what the library takes for itself is not known: all below the limit, not the limit.
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

# What sets a limit: the variables that launches with the least and with the largest limit have and
# those that left it alone have not, or with another value. A value that both limits share goes
# with them and is no limit, though it may be the same number.
variables_of <- function(least, most, alone) {
  # Within one session: two may differ in more than the limit, as in where the library is.
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

# The environment of the first of some launches: values by name.
environment_of <- function(rows) {
  pairs <- strsplit(c(rows$environment, "")[[1L]], "; ", fixed = TRUE)[[1L]]
  stats::setNames(sub("^[^=]*=", "", pairs), sub("=.*", "", pairs))
}

#' Eager limit of each launch of the experiment `eager-limit`, in which a rank sends messages that
#' nobody receives yet: an eager send returns, any other one waits.
#'
#' @param results what [read_results()] returned.
#' @return data.table, one row a launch: the columns of the launches; `eager_limit_bytes`, the
#'   largest size (B) that returned and is smaller than each that waited, `Inf` where none waited;
#'   and `tried_bytes`, the largest size (B) that was tried. A size returned
#'   where one of its sends did: none does that waits, but a busy machine can delay others.
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

#' What to set, in words: one line a configuration.
#'
#' @param crossovers what [find_crossovers()] returned.
#' @param limits what [known_limits()] returned; `NULL`: nothing is known of them.
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

#' The advice of a whole study: one line a test, MPI, transport and placement whose eager limit
#' was set by hand; none without such launches.
#' @noRd
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
      "undecided, %s (%s): that a limit saves time against the worse protocol is not shown, %s",
      faster, interval, say_gain(row)
    ))
  }
  sprintf(
    "%s (%s): set %s for messages of %s to %s; %s quicker than the worse protocol",
    faster, interval, variables_in_words(row, " to "),
    format_bytes(row$from_bytes), format_bytes(row$to_bytes), say_gain(row)
  )
}

say_gain <- function(row) {
  paste(format_interval(100 * row$gain, 100 * row$gain_low, 100 * row$gain_high, 2L), "%")
}

#' Value (B) to set. Nothing is known of sizes that were not measured; what the library takes of
#' a limit for itself is added.
#' @noRd
advised_limit <- function(rows) {
  value <- pmax(pmin(round(rows$crossover_bytes), rows$to_bytes), rows$least_limit)
  pmin(value + fcoalesce(value_or_na(rows, "header_bytes"), 0), rows$most_limit)
}

#' What to set for the advised limit: every variable with its value.
#' @noRd
variables_in_words <- function(rows, is) {
  variables <- fifelse(nzchar(rows$variables), rows$variables, "eager_limit={value}")
  mapply(function(text, limit) {
    text <- gsub("{value}", sprintf("%.0f", limit), text, fixed = TRUE)
    pairs <- strsplit(text, "; ", fixed = TRUE)[[1L]]
    toString(sub("=", is, pairs, fixed = TRUE))
  }, variables, advised_limit(rows), USE.NAMES = FALSE)
}

bound_of <- function(row, bytes) {
  if (is.na(bytes)) {
    return("")
  }
  if (bytes == 0) {
    return(paste("below", format_bytes(row$least_limit)))
  }
  if (is.infinite(bytes)) "beyond the sizes measured" else format_bytes(round(bytes))
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

#' Eager limits in words: where no size that was tried was held, there is no number.
#' @noRd
say_limit <- function(bytes, tried) {
  fifelse(is.infinite(bytes), paste("none up to", format_bytes(tried)), format_bytes(bytes))
}
