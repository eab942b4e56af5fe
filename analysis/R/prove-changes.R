# SPDX-License-Identifier: BSD-3-Clause
# Proof of the search for a change: searches simulated studies that contain a known change.

#' Summaries of simulated launches of ordered levels, in blocks, slower from one level on.
#'
#' Launches of a block vary together, and so do the sizes of a launch; one launch in twenty is an
#' outlier, as on real machines (docs/statistics-method.md).
#'
#' @param seed of the draws.
#' @param share by which times are longer, from the `k`-th of `n` levels on, until `mended`.
#' @param blocks number of blocks.
#' @param spread standard deviation of the logarithm of a launch.
#' @return data.table as [summarise_launches()] returns it; levels `v1`, `v2`, ... are `mpi`.
#' @noRd
plant_levels <- function(seed, share, k = 5L, n = 8L, blocks = 20L, spread = 0.04,
                         mended = n + 1L) {
  rows <- CJ(launch = seq_len(blocks), at = seq_len(n), bytes = c(1, 1024, 65536))
  with_seed(seed, {
    rows[, y := log1p(share) * (at >= k & at < mended)]
    rows[, y := y + stats::rnorm(1L, 0, 0.02), by = "launch"]
    rows[, y := y + spread * stats::rnorm(1L) + 0.5 * (stats::runif(1L) < 0.05),
      by = c("launch", "at")
    ]
    rows[, y := y + stats::rnorm(.N, 0, 0.005)]
  })
  out <- data.table(
    site = "local", simulated = "", scale = "quick", experiment = "pingpong",
    test = "pingpong_quick", operation = "pingpong", mpi = paste0("v", rows$at),
    transport = "shm", placement = "near", hosts = 1L, ranks = 2L, settings = "",
    parameters = "", session = "s", launch = rows$launch, bytes = rows$bytes,
    median_s = 1e-6 * exp(rows$y), size = 2L, n = 5L
  )
  out[]
}

#' Search a simulated study as `make releases` does: all levels in the first blocks, then the
#' levels that [next_levels()] returns, until the maximum number of launches is reached.
#'
#' `whole` is what `plant_levels()` returned.
#' @param first,most number of first blocks; maximum share of the launches of the full matrix.
#' @return list: `named` (levels at which a change is named), `share` (of the launches).
#' @noRd
search_planted <- function(whole, levels, first = 8L, most = 0.7) {
  blocks <- max(whole$launch)
  seen <- whole[whole$launch <= first]
  launches <- first * length(levels)
  repeat {
    changes <- find_changes(seen, "mpi", levels)
    asked <- next_levels(changes, levels)$level
    block <- max(seen$launch) + 1L
    enough <- launches + length(asked) > most * blocks * length(levels)
    if (!length(asked) || enough || block > blocks) break
    seen <- rbind(seen, whole[whole$launch == block & whole$mpi %in% asked])
    launches <- launches + length(asked)
  }
  list(
    named = unique(changes[changes$named]$after), share = launches / (blocks * length(levels))
  )
}

#' Tests how often the search names a simulated change of a release, and how often a wrong level.
#'
#' @param studies number of studies; the level of the change varies from study to study.
#' @param share size of the change as a share of the time; `0` compares a study with itself.
#' @param spread as for `plant_levels()`.
#' @return data.table, one row per study: `k` (level; `NA`: no change), `right` (only this level
#'   was named, or no level if there is no change), `share` (of the launches of the full matrix).
#' @keywords internal
prove_releases <- function(studies = 100L, share = 0.05, spread = 0.015) {
  levels <- paste0("v", 1:8)
  rbindlist(lapply(seq_len(studies), function(i) {
    k <- 2L + i %% 7L
    found <- search_planted(plant_levels(i, share, k, spread = spread), levels)
    wanted <- if (share == 0) character() else levels[[k]]
    data.table(
      k = if (share == 0) NA_integer_ else k, right = setequal(found$named, wanted),
      share = found$share
    )
  }))
}
