# SPDX-License-Identifier: BSD-3-Clause
# Tables of start-up and bandwidth, and of the algorithm that a broadcast's bandwidth implies.

#' @describeIn exhibit_by_size Start-up (time at the smallest size), the largest bandwidth with its
#'   size, and the bandwidth at the largest size.
exhibit_startup_table <- function(exhibit) {
  exhibit$arguments$series <- "mpi"
  exhibit$arguments$panel <- c("transport", "placement", "ranks")
  medians <- curves_of_exhibit(exhibit)$medians[bytes > 0]
  if (!nrow(medians)) await("sizes above zero")
  setorder(medians, panel, level, bytes)
  rate_at <- function(row) {
    paste(format_columns(row, "bytes_per_s", 1e-6), "at", format_bytes(row$bytes))
  }
  rows <- split(medians, by = c("panel", "level"), sorted = FALSE, drop = TRUE)
  shown <- rbindlist(lapply(rows, function(part) {
    least <- part[1L]
    best <- part[which.max(bytes_per_s)]
    last <- part[.N]
    data.table(
      Configuration = paste(least$level, least$panel, sep = ", "), n = least$n,
      "Start-up (\u00b5s)" = paste(
        format_interval(1e6 * least$median_s, 1e6 * least$low_s, 1e6 * least$high_s),
        "at", format_bytes(least$bytes)
      ),
      "Largest bandwidth (MB/s)" = rate_at(best),
      "Bandwidth at the largest size (MB/s)" = rate_at(last)
    )
  }))
  # The configurations, with their placement, that start fastest and slowest.
  ends <- medians[, list(startup = median_s[[1L]]), by = c("panel", "level")][order(startup)]
  named <- ends[, sprintf("%s us: %s, %s", format_us(startup), level, panel)]
  with_table(shown, medians[, !c("level", "panel")], caption_of_exhibit(
    exhibit, c(
      WHAT_TABLES_SHOW,
      if (nrow(ends) > 1L) {
        sprintf("Shortest start-up, %s. Longest, %s.", named[[1L]], named[[length(named)]])
      }
    ), medians$n
  ))
}

# The way of spreading a message (`option_broadcast`), for tests with several ways.
way_of_broadcast <- function(summary) {
  way <- summary$option_broadcast
  if (is.null(way)) rep("", nrow(summary)) else fcoalesce(as.character(way), "")
}

# Whether each row is of a message that is sent with the default options.
plain_message <- function(summary) {
  plain <- rep(TRUE, nrow(summary))
  defaults <- c(
    option_mode = "standard", option_blocking = "yes", option_cache = "warm",
    option_wait = "poll", option_packing = "raw"
  )
  for (column in intersect(names(defaults), names(summary))) {
    value <- as.character(summary[[column]])
    plain <- plain & (is.na(value) | value == defaults[[column]])
  }
  plain
}

# An emulated network without the number of its hosts.
network_of <- function(simulated) {
  sub("[0-9]+ (hosts|User-mode Linux guests) on", "\\1 on", simulated)
}

#' @describeIn exhibit_by_size A broadcast's bandwidth over that of a message, at the largest
#'   common size. For comparison, it shows the ratios for repeated sends (1 / (p - 1)), a binomial
#'   tree (1 / ceil(log2 p)) and a broadcast by the network itself (1).
exhibit_broadcast_table <- function(exhibit) {
  summary <- copy(exhibit$summary)
  # Two hosts and all hosts of a network count as one network.
  summary[, simulated := network_of(simulated)]
  summary[, way := way_of_broadcast(summary)]
  one <- summary[operation == "pingpong" & plain_message(summary)]
  all <- summary[operation == "bcast" & ranks > 2L]
  if (!nrow(all)) await("broadcasts among more than 2 ranks")
  common <- max(intersect(one$bytes, all$bytes), -Inf)
  if (common <= 0) await("a size that both operations have")
  by <- c("site", "simulated", "mpi", "transport", "placement")
  alone <- one[bytes == common, list(message = list(median_s)), by = by]
  rows <- alone[all[bytes == common, list(broadcast = list(median_s)), by = c(by, "ranks", "way")],
    on = by, nomatch = NULL
  ]
  if (!nrow(rows)) await("both operations on one transport and placement")
  rows <- cbind(rows, rbindlist(Map(function(message, broadcast) {
    interval <- ratio_interval(message, broadcast)
    c(list(n = min(length(message), length(broadcast))), interval[c("ratio", "low", "high")])
  }, rows$message, rows$broadcast)))
  models <- rows[, list(
    `repeated sends` = 1 / (ranks - 1), `binomial tree` = 1 / ceiling(log2(ranks)),
    `physical broadcast` = 1
  )]
  distance <- abs(log(as.matrix(models) / rows$ratio))
  shown <- data.table(
    Configuration = as.character(level_of(rows, c("mpi", "transport", "placement", "way"))),
    Ranks = rows$ranks, n = rows$n,
    `Bandwidth, of a message's` = format_interval(rows$ratio, rows$low, rows$high),
    models[, lapply(.SD, format_digits)],
    `Nearest` = names(models)[max.col(-distance, "first")]
  )
  if (uniqueN(rows$simulated) > 1L) {
    # Without the words that all networks of a machine share: "mixed (switch, 1000/100 Mbit/s)".
    shown[, Network := sub("^emulated: .* on [0-9]+ cores, ", "", rows$simulated)]
  }
  with_table(
    shown, cbind(rows[, !c("message", "broadcast")], models), caption_of_exhibit(exhibit, sprintf(
      "Bandwidth of a broadcast of %s over that of a message of this size, 95 %% interval.",
      format_bytes(common)
    ), rows$n)
  )
}
