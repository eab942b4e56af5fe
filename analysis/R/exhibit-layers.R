# SPDX-License-Identifier: BSD-3-Clause
# Compares the layers of a site with the layer below: echo, frames, sockets, libraries (Tinetti and
# Barbieri).

# Transport of a library -> the transports without a library below it. The first measured transport
# is used. A transport that is missing here has no layer below.
LAYER_BELOW <- list(
  direct = "tcp", tcp = "tcp", daemon = "udp", lamd = "udp", llc = "llc", shm = c("shm", "unix")
)
# The same mapping for layers without a library.
SOCKET_BELOW <- list(raw = "icmp", tcp = "raw", udp = "raw", llc = "raw")
# Layers, the lowest first.
LAYER_ORDER <- c("icmp", "raw", "udp", "unix", "shm", "llc", "tcp")

#' Start-up and bandwidth of every layer of a site, with the time that it adds to the layer below.
#'
#' Start-up is the time of the smallest message above 0 B. Bandwidths are given as the largest
#' value and at the largest size. A layer is compared with the layer below at the smallest and at
#' the largest common size, on the same site, emulated network, placement and number of ranks.
#'
#' @param summary what [summarise_launches()] returned; its ping-pongs between 2 ranks count.
#' @return data.table, a row a configuration, the lowest layer first: `site`, `simulated`,
#'   `placement`, `kernel` and `cpu_model` (where the summary has them), `mpi`, `transport`,
#'   `settings`, `parameters`, `n` (launches), `startup_s`,
#'   `startup_low_s`, `startup_high_s`, `best_bytes_per_s`, `best_bytes`, `last_bytes_per_s`,
#'   `last_bytes`, `below` (the layer below; `NA`: none was measured), `startup_ratio` with
#'   `startup_ratio_low`, `_high`, `added_s` (s, start-up), `bandwidth_ratio` with `_low`, `_high`
#'   (at the largest common size, `common_bytes`).
#' @keywords internal
compare_layers <- function(summary) {
  where <- c(
    "site", "simulated", "placement", intersect(c("kernel", "cpu_model"), names(summary))
  )
  what <- c("mpi", "transport", "settings", "parameters")
  need_columns(summary, c(where, what, "operation", "ranks", "bytes", "median_s"), "the summary")
  used <- summary[
    operation == "pingpong" & ranks == 2L & bytes > 0 & !is.na(median_s) & !nzchar(settings)
  ]
  # Packed messages are a configuration of their own.
  used <- used[plain_message(used[, !intersect("option_packing", names(used)), with = FALSE])]
  if (!nrow(used)) await("ping-pongs between 2 ranks")
  cells <- used[, list(times = list(median_s)), keyby = c(where, what, "bytes")]
  groups <- split(cells, by = c(where, what), sorted = FALSE)
  rows <- rbindlist(lapply(groups, layer_row))
  rows <- cbind(rows, rbindlist(lapply(seq_len(nrow(rows)), function(i) {
    row <- rows[i]
    here <- cells[row, on = where][mpi == "sockets"]
    known <- if (row$mpi == "sockets") SOCKET_BELOW else LAYER_BELOW
    under <- c(intersect(known[[row$transport]], here$transport), NA_character_)[[1L]]
    c(below = under, layer_overhead(groups[[i]], here[transport == under]))
  })))
  rows[is.na(startup_ratio), below := NA_character_]
  rows[, order := fifelse(mpi == "sockets", match(transport, LAYER_ORDER), 100L)]
  setorder(rows, site, simulated, placement, order, startup_s)
  rows[, order := NULL][]
}

layer_row <- function(cells) {
  medians <- vapply(cells$times, stats::median, 0)
  least <- which.min(cells$bytes)
  last <- which.max(cells$bytes)
  rate <- cells$bytes / medians
  interval <- median_interval(cells$times[[least]])
  cbind(cells[1L, !c("bytes", "times")], data.table(
    n = min(lengths(cells$times)), startup_s = medians[[least]], startup_low_s = interval$low,
    startup_high_s = interval$high, best_bytes_per_s = max(rate),
    best_bytes = cells$bytes[[which.max(rate)]], last_bytes_per_s = rate[[last]],
    last_bytes = cells$bytes[[last]]
  ))
}

# Ratios of times and of bandwidths at the common sizes.
layer_overhead <- function(cells, under) {
  common <- intersect(cells$bytes, under$bytes)
  ends <- if (length(common)) range(common) else c(NA_real_, NA_real_)
  # No times at a size that is missing.
  at <- function(table, size) as.numeric(unlist(table$times[match(size, table$bytes)]))
  start <- ratio_interval(at(cells, ends[[1L]]), at(under, ends[[1L]]))
  # The ratio of bandwidths is the inverse ratio of times.
  large <- ratio_interval(at(under, ends[[2L]]), at(cells, ends[[2L]]))
  list(
    startup_ratio = start$ratio, startup_ratio_low = start$low,
    startup_ratio_high = start$high,
    added_s = stats::median(at(cells, ends[[1L]])) - stats::median(at(under, ends[[1L]])),
    bandwidth_ratio = large$ratio, bandwidth_ratio_low = large$low,
    bandwidth_ratio_high = large$high, common_bytes = ends[[2L]]
  )
}

# The layers as a table for readers.
show_layers <- function(layers) {
  ratio <- function(name) ifelse(is.na(layers[[name]]), "", format_columns(layers, name))
  below <- in_words("transport", layers$below)
  rate_at <- function(rate, bytes) paste(format_digits(rate / 1e6), "at", format_bytes(bytes))
  data.table(
    Network = ifelse(nzchar(layers$simulated), layers$simulated, layers$site),
    Layer = as.character(level_of(layers, c("mpi", "transport", "settings", "parameters"))),
    Placement = layers$placement, n = layers$n,
    "Start-up (\u00b5s)" = format_interval(
      1e6 * layers$startup_s, 1e6 * layers$startup_low_s, 1e6 * layers$startup_high_s
    ),
    "Largest bandwidth (MB/s)" = rate_at(layers$best_bytes_per_s, layers$best_bytes),
    "At the largest size (MB/s)" = rate_at(layers$last_bytes_per_s, layers$last_bytes),
    Over = ifelse(is.na(layers$below), "", as.character(below)),
    "adds (\u00b5s)" = ifelse(is.na(layers$added_s), "", format_us(layers$added_s, 3L)),
    `Start-up, times` = ratio("startup_ratio"), `Bandwidth, times` = ratio("bandwidth_ratio")
  )
}

#' @describeIn exhibit_by_size Start-up time and bandwidth of each layer, and the cost it adds to
#'   the layer below.
exhibit_layers_table <- function(exhibit) {
  layers <- compare_layers(exhibit$summary)
  with_table(show_layers(layers), layers, caption_of_exhibit(exhibit, paste(
    "Medians over launches with their 95 % intervals. Over: the layer below, at the",
    "smallest and at the largest size that both have."
  ), layers$n))
}

#' Print the layers of a site: start-up, bandwidth, overheads, and the broadcast algorithm that
#' each library appears to use.
#'
#' @param results_dir as for [read_results()].
#' @param site its name.
#' @return list of the tables `layers` and `broadcasts` (`NULL`: no data for it), invisibly.
#' @noRd
print_layers <- function(results_dir, site) {
  results <- read_study(results_dir)
  results <- results[results$launches$site == site]
  if (!nrow(results$launches)) {
    bad_data(results_dir, NA, sprintf("no launch of site %s", site), sprintf(
      "COTEJO_SITE=%s make study TAG=transports, then TAG=libraries and TAG=quick", site
    ))
  }
  summary <- summary_of_tests(results, NULL)
  layers <- compare_layers(summary)
  cat(sprintf("Layers of %s, the lowest first\n\n", site))
  print_wide(show_layers(layers))
  broadcasts <- layer_broadcasts(summary)
  if (is.null(broadcasts)) {
    cat("\nNo broadcasts among more than 2 ranks.\n")
  } else {
    cat("\nWhich broadcast it is\n\n")
    print_wide(broadcasts)
  }
  invisible(list(layers = layers, broadcasts = broadcasts))
}

# Scaling models of broadcasts, for each way of sending of a library.
layer_broadcasts <- function(summary) {
  sent <- summary[operation == "bcast"]
  if (!nrow(sent[ranks > 2L])) {
    return(NULL)
  }
  # A time from a different start line is a different quantity.
  start <- if ("option_start" %in% names(sent)) fcoalesce(sent$option_start, "") else ""
  sent[, settings := trimws(paste(paste0(settings, way_of_broadcast(sent)), start))]
  found <- which_broadcast(sent)
  data.table(
    Network = ifelse(nzchar(found$simulated), found$simulated, found$site),
    Library = as.character(level_of(found, c("mpi", "transport", "settings"))),
    Sizes = found$sizes, Ranks = found$ranks, n = found$n, `It is` = found$verdict
  )
}

print_wide <- function(table) {
  texts <- lapply(names(table), function(name) format(c(name, as.character(table[[name]]))))
  put_said(do.call(paste, c(texts, sep = "  ")))
}
