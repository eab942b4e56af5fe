# SPDX-License-Identifier: BSD-3-Clause
# Splits the variance between launches: the process, slow periods of the cores, the rest.

#' Parts of the variance between launches of the log time of a message.
#'
#' Rounds of a launch measure the message and a cache line alternately. Within a launch the process
#' stays the same. So the slope of the message over the line (logs) is the effect of slow periods
#' of the cores. Between launches: `spells` is the variance that this slope predicts from the
#' lines. `rest` is the difference between the halves of a launch beyond the slope, scaled to the
#' mean of a launch. `process` is the remaining variance, at least 0.
#'
#' @param rounds data.table: `launch`, `round`, `y` (log time of the message), `x` (log time
#'   of the line).
#' @return list: `launches`, `total`, `spells`, `rest`, `process` (variances of the log time),
#'   `slope`; `NA` under two launches.
#' @noRd
variance_parts <- function(rounds) {
  out <- list(
    launches = uniqueN(rounds$launch), total = NA_real_, spells = NA_real_, rest = NA_real_,
    process = NA_real_, slope = NA_real_
  )
  if (out$launches < 2L) {
    return(out)
  }
  rounds <- copy(rounds)
  rounds[, `:=`(dx = x - mean(x), dy = y - mean(y)), by = launch]
  rounds[, half := round > stats::median(round), by = launch]
  within <- sum(rounds$dx^2)
  slope <- if (within > 0) sum(rounds$dx * rounds$dy) / within else 0
  means <- rounds[, list(x = mean(x), y = mean(y)), by = launch]
  halves <- rounds[, list(left = mean(y) - slope * mean(x)), by = c("launch", "half")]
  apart <- halves[, list(d = diff(left)), by = launch]$d
  total <- stats::var(means$y)
  spells <- min(total, slope^2 * stats::var(means$x))
  rest <- min(total - spells, mean(apart^2) / 4)
  out[-1L] <- list(total, spells, rest, total - spells - rest, slope)
  out
}

# Rounds of the exhibit's launches: medians of the message and of the line, a row a launch, size
# and round.
rounds_of <- function(samples) {
  medians <- samples[valid == 1L, list(time = stats::median(time_s)),
    by = c("key", "operation", "bytes", "round")
  ]
  line <- medians[operation == "cache-line", list(key, round, x = log(time))]
  message <- medians[operation != "cache-line", list(key, operation, bytes, round, y = log(time))]
  message[line, on = c("key", "round"), nomatch = NULL]
}

#' @describeIn exhibit_by_size The parts of the variance between launches, a row a configuration
#'   and size.
exhibit_variance_table <- function(exhibit) {
  samples <- samples_of_exhibit(exhibit)
  if (!"round" %in% names(samples)) await("launches of the experiment `spells`")
  rounds <- rounds_of(samples)
  where <- unique(exhibit$summary[, c("key", "site", "mpi", "transport", "placement")])
  rounds <- where[rounds, on = "key"]
  setnames(rounds, "key", "launch")
  by <- c("site", "mpi", "transport", "placement", "operation", "bytes")
  parts <- rounds[, variance_parts(.SD), by = by, .SDcols = c("launch", "round", "y", "x")]
  if (all(is.na(parts$total))) await("a second launch")
  setorderv(parts, by)
  share <- function(part) sprintf("%.0f %%", 100 * part / parts$total)
  shown <- data.table(
    Configuration = as.character(level_of(parts, c("mpi", "transport", "placement"))),
    Size = format_bytes(parts$bytes), n = parts$launches,
    "Between launches (standard deviation)" = sprintf("%.1f %%", 100 * sqrt(parts$total)),
    "Share of its variance: process" = share(parts$process),
    "latency between the cores" = share(parts$spells), rest = share(parts$rest),
    "Slope over the cache line" = sprintf("%.2f", parts$slope)
  )
  with_table(shown, parts, caption_of_exhibit(exhibit, paste(
    "Variance of launch means of the log time. Latency between the cores: the part that",
    "the time of a cache line explains, by the slope within launches, where the process is the",
    "same. Rest: further differences between halves of a launch. Process: the remaining part."
  ), parts$launches))
}
