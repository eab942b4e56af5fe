# SPDX-License-Identifier: BSD-3-Clause
# Regimes and LogP parameters on curves whose truth is known.

SIZES <- sort(unique(round(2^seq(0, 22, by = 0.5))))

#' Time at each size: an eager line to `limit`, a rendezvous line beyond.
two_protocols <- function(bytes, limit = 65536) {
  ifelse(bytes <= limit, 3e-7 + bytes / 4e9, 4e-6 + bytes / 9e9)
}

#' Curves of several launches with multiplicative noise.
launches_of <- function(curve, n = 12L, cv = 0.02, seed = 1L) {
  set.seed(seed)
  data.table::rbindlist(lapply(seq_len(n), \(i) list(
    key = rep(sprintf("launch%02d", i), length(SIZES)), bytes = SIZES,
    time_s = curve * exp(stats::rnorm(length(SIZES), 0, cv))
  )))
}

test_that("a change of protocol is found where it was planted, with both lines", {
  fit <- fit_regimes(launches_of(two_protocols(SIZES)), replicates = 200L)
  expect_equal(nrow(fit$changes), 1L)
  expect_equal(fit$changes$after_bytes, 65536)
  expect_gt(fit$changes$before_bytes, 65536)
  expect_lte(fit$changes$low_bytes, 65536)
  expect_gte(fit$changes$high_bytes, fit$changes$before_bytes)
  expect_gt(fit$changes$support, 0.9)
  eager <- fit$regimes[1L]
  expect_lte(eager$alpha_s_low, 3e-7)
  expect_gte(eager$alpha_s_high, 3e-7)
  expect_equal(fit$regimes$beta_s_per_byte, c(1 / 4e9, 1 / 9e9), tolerance = 0.03)
})

test_that("a jump with the same slope is found, a straight line has no change", {
  jump <- ifelse(SIZES <= 4096, 1e-6, 3e-6) + SIZES / 5e9
  fit <- fit_regimes(launches_of(jump), replicates = 50L)
  expect_equal(fit$changes$after_bytes, 4096)
  straight <- fit_regimes(launches_of(1e-6 + SIZES / 5e9), replicates = 50L)
  expect_equal(nrow(straight$changes), 0L)
  expect_equal(straight$regimes$alpha_s, 1e-6, tolerance = 0.02)
  expect_equal(1 / straight$regimes$beta_s_per_byte, 5e9, tolerance = 0.02)
})

test_that("a smooth curve has bends and no jump, a change of protocol is a jump", {
  # Copies become twice as slow as they leave a cache.
  cache <- 1e-6 + SIZES / 2e10 * (1 + SIZES / (SIZES + 1e5))
  curves <- list(power = 1e-6 + 1e-9 * SIZES^0.75, cache = cache)
  for (curve in curves) {
    fit <- fit_regimes(launches_of(curve, cv = 0.005), replicates = 20L)
    expect_false(any(fit$changes$jump))
  }
  jumps <- vapply(1:10, \(seed) {
    fit_regimes(launches_of(two_protocols(SIZES), seed = seed), replicates = 20L)$changes$jump
  }, NA)
  expect_true(all(jumps))
  few <- fit_regimes(launches_of(two_protocols(SIZES), n = 4L))
  expect_identical(few$changes$jump, NA)
  expect_true(fit_regimes(launches_of(curves$power, cv = 0.002), replicates = 5L)$limited)
})

test_that("two changes are found", {
  curve <- ifelse(SIZES <= 512, 2e-7 + SIZES / 8e9,
    ifelse(SIZES <= 32768, 8e-7 + SIZES / 3e9, 5e-6 + SIZES / 1e10)
  )
  fit <- fit_regimes(launches_of(curve), replicates = 100L)
  expect_equal(fit$changes$after_bytes, c(512, 32768))
})

test_that("the interval of a change holds the truth in at least nine of ten studies", {
  curve <- ifelse(SIZES <= 16384, 1e-6 + SIZES / 4e9, 1.6e-6 + SIZES / 4.5e9)
  held <- vapply(1:20, \(seed) {
    fit <- fit_regimes(
      launches_of(curve, n = 10L, cv = 0.04, seed = seed),
      most = 2L, replicates = 100L
    )
    if (!nrow(fit$changes)) {
      return(FALSE)
    }
    fit$changes$low_bytes <= 16384 && fit$changes$high_bytes > 16384
  }, NA)
  expect_gte(mean(held), 0.9)
})

#' Sizes perturbed as by NetPIPE: three sizes close to each power of two.
PERTURBED <- sort(unique(pmax(1, c(outer(c(-3, 0, 3), 2^(2:22), `+`)))))

test_that("sizes close together are no regime, whatever disturbed them together", {
  curve <- 1e-6 + PERTURBED / 5e9
  near <- abs(PERTURBED - 2^12) <= 3
  # 8 % slower at 4 KiB; the difference is larger at smaller sizes.
  curve[near] <- curve[near] * c(1.09, 1.08, 1.07)
  data <- data.table::as.data.table(list(
    key = rep("a", length(curve)), bytes = PERTURBED, time_s = curve
  ))
  regimes <- fit_regimes(data, noise = 0.001)$regimes
  expect_true(all(regimes$to_bytes >= 4 * regimes$from_bytes))
  expect_true(all(regimes$beta_s_per_byte >= 0))
  expect_equal(regimes$alpha_s[[1L]], 1e-6, tolerance = 0.05)
  # Without that bound, there is such a regime.
  ends <- find_breaks(PERTURBED, curve, noise = 0.001, span = 1)
  spans <- PERTURBED[c(ends, length(curve))] / PERTURBED[c(1L, ends + 1L)]
  expect_lt(min(spans), 4)
  # A change of protocol among these sizes is still found.
  data$time_s <- two_protocols(PERTURBED, 65536 + 3)
  expect_equal(fit_regimes(data)$changes$after_bytes, 65536 + 3)
})

test_that("no byte takes less than no time: a falling regime is a level one", {
  falling <- ifelse(SIZES <= 1024, 1e-6 - SIZES * 1e-11, 4e-6 + SIZES / 9e9)
  regimes <- fit_regimes(launches_of(falling, cv = 0.001), replicates = 50L)$regimes
  expect_equal(regimes$to_bytes[[1L]], 1024)
  expect_identical(regimes$beta_s_per_byte[[1L]], 0)
  expect_equal(regimes$alpha_s[[1L]], 1e-6, tolerance = 0.01)
  expect_gte(regimes$beta_s_per_byte_low[[1L]], 0)
})

test_that("the best partition is the one that trying all of them finds", {
  set.seed(4)
  bytes <- SIZES[1:24]
  n <- length(bytes)
  seconds <- two_protocols(bytes, 16) * exp(stats::rnorm(n, 0, 0.05))
  cost_of <- function(ends) {
    from <- c(1L, ends + 1L)
    to <- c(ends, n)
    sum(vapply(seq_along(from), \(r) {
      i <- from[r]:to[r]
      fit <- stats::lm(seconds[i] ~ bytes[i], weights = 1 / seconds[i]^2)
      if (stats::coef(fit)[[2L]] < 0) fit <- stats::lm(seconds[i] ~ 1, weights = 1 / seconds[i]^2)
      sum((stats::residuals(fit) / seconds[i])^2)
    }, 0))
  }
  cuts <- utils::combn(3:(n - 3L), 2L)
  cuts <- cuts[, cuts[2L, ] - cuts[1L, ] >= 3L]
  wide <- function(from, to) bytes[to] >= 4 * pmax(bytes[from], 16)
  cuts <- cuts[, wide(1L, cuts[1L, ]) & wide(cuts[1L, ] + 1L, cuts[2L, ]) &
    wide(cuts[2L, ] + 1L, n)]
  all <- apply(cuts, 2L, cost_of)
  found <- find_breaks(bytes, seconds, pieces = 3L)
  expect_equal(found, cuts[, which.min(all)])
  expect_equal(cost_of(found), min(all), tolerance = 1e-9)
})

test_that("under five launches there is a fit but no interval", {
  fit <- fit_regimes(launches_of(two_protocols(SIZES), n = 4L))
  expect_equal(fit$changes$after_bytes, 65536)
  expect_true(is.na(fit$changes$low_bytes))
  expect_true(all(is.na(fit$regimes$alpha_s_low)))
})

test_that("fits are the same twice and leave the caller's random numbers alone", {
  data <- launches_of(two_protocols(SIZES))
  set.seed(7)
  before <- .Random.seed
  once <- fit_regimes(data, replicates = 50L)
  expect_identical(.Random.seed, before)
  expect_identical(fit_regimes(data, replicates = 50L), once)
})

test_that("a change is held against the library's limit", {
  changes <- data.table::data.table(
    after_bytes = c(4096, 65536), before_bytes = c(8192, 131072),
    low_bytes = c(4096, NA), high_bytes = c(8192, NA), support = c(1, NA)
  )
  expect_equal(explain_changes(changes, 4096)$explained, c(TRUE, FALSE))
  expect_equal(explain_changes(changes, 8192)$explained, c(FALSE, FALSE))
  expect_equal(explain_changes(changes, 70000)$explained, c(FALSE, TRUE))
  # Each change has its own limit; without an observed limit, no change is explained.
  expect_equal(explain_changes(changes, c(4096, 70000))$explained, c(TRUE, TRUE))
  expect_equal(explain_changes(changes, c(Inf, NA))$explained, c(FALSE, NA))
})

test_that("a curve with a hole or without size is refused", {
  data <- launches_of(two_protocols(SIZES))
  expect_error(fit_regimes(data[-3L]), class = "cotejo_refused")
  expect_error(fit_regimes(data[bytes <= 1]), class = "cotejo_refused")
})

#' Samples of one launch of logp with known parameters (us) at one size.
logp_samples <- function(bytes, eel, g, os_call, or_call, os, or, words = 0.5) {
  work <- 1.25 * c(max(g, eel), 2 * eel)
  times <- c(eel, g, os_call, or_call, work + c(os, or + words), work[[2L]] + words)
  alone <- c(0, 0, 0, 0, work, work[[2L]])
  operations <- paste0("logp-", c(
    "eel", "g", "os-call", "or-call", "os-overlap", "or-overlap", "words"
  ))
  data.table::as.data.table(list(
    key = factor(rep("a", 21L)), operation = rep(operations, each = 3L), bytes = rep(bytes, 21L),
    time_s = 1e-6 * rep(times, each = 3L) * c(0.99, 1, 1.5), valid = rep(TRUE, 21L),
    alone_s = 1e-6 * rep(alone, each = 3L) * c(0.99, 1, 1.5)
  ))
}

test_that("LogP parameters are those that were planted", {
  launches <- data.table::as.data.table(list(
    key = "a", site = "local", mpi = "mpich", transport = "shm", placement = "near",
    parameters = ""
  ))
  samples <- rbind(
    logp_samples(2048, eel = 10, g = 4, os_call = 7, or_call = 6, os = 2, or = 3),
    logp_samples(4096, eel = 10, g = 4, os_call = 3, or_call = 3, os = 9, or = -1),
    logp_samples(8, eel = 1, g = 4, os_call = 3, or_call = 3, os = 2, or = 3)
  )
  found <- logp_parameters(list(
    launches = launches, samples = samples, roles = c(alone_s = "measure")
  ))
  at <- found[bytes == 2048]
  expect_equal(at$os_overlap_s, 2e-6, tolerance = 1e-9)
  expect_equal(at$or_overlap_s, 3e-6, tolerance = 1e-9)
  expect_equal(at$L_overlap_s, 5e-6, tolerance = 1e-9)
  expect_equal(at$L_call_s, -3e-6, tolerance = 1e-9)
  # 4 us at 8 B, plus the growth of the latency by 9 us.
  expect_equal(at$g_derived_s, 13e-6, tolerance = 1e-9)
  # An overhead is neither negative nor greater than the gap.
  expect_equal(found[bytes == 4096]$os_overlap_s, 4e-6, tolerance = 1e-9)
  expect_equal(found[bytes == 4096]$or_overlap_s, 0)
  share <- overheads_within_latency(found)
  expect_equal(share$sizes, 2L)
  expect_equal(share$share_call, 0.5)
  expect_equal(share$share_overlap, 1)
  # 13 and 6 us, 5 and 4 us of 10 us.
  expect_equal(c(share$ratio_call, share$ratio_overlap), c(0.95, 0.45))
  # 13 us of calls against 10 us of latency.
  expect_equal(overheads_within_latency(found, tolerance = 0.31)$share_call, 1)
  # By default, there is no tolerance.
  over <- copy(found)[, L_overlap_s := -0.01 * eel_s]
  expect_equal(overheads_within_latency(over)$share_overlap, 0)
  expect_equal(overheads_within_latency(over, tolerance = 0.02)$share_overlap, 1)
})

test_that("LogGP's parameters of each regime are those that were planted", {
  bytes <- 2^(0:20)
  eager <- bytes <= 4096
  set.seed(3)
  parameters <- data.table::rbindlist(lapply(sprintf("launch%d", 1:6), \(key) {
    off <- function() exp(stats::rnorm(length(bytes), 0, 1e-4))
    os <- ifelse(eager, 2e-7 + bytes * 1e-10, 6e-7)
    or <- ifelse(eager, 1e-7, 3e-7)
    list(
      key = rep(key, length(bytes)), bytes = bytes, os_overlap_s = os * off(),
      or_overlap_s = or * off(), g_s = ifelse(eager, 4e-7, 2e-6) * off(),
      eel_s = (ifelse(eager, 9e-7, 5e-6) + bytes * 2e-10) * off()
    )
  }))
  regimes <- data.table::data.table(from_bytes = c(1, 8192), to_bytes = c(4096, 2^20))
  found <- loggp_of(parameters, regimes, replicates = 100L)
  expect_equal(found$os_s, c(2e-7, 6e-7), tolerance = 0.01)
  expect_equal(found$or_s, c(1e-7, 3e-7), tolerance = 0.01)
  expect_equal(found$g_s, c(4e-7, 2e-6), tolerance = 0.01)
  expect_equal(found$L_s, c(6e-7, 4.1e-6), tolerance = 0.01)
  expect_true(all(found$L_s_low <= found$L_s & found$L_s <= found$L_s_high))
  few <- loggp_of(parameters[key < "launch4"], regimes)
  expect_true(all(is.na(few$os_s_low)))
  expect_identical(names(few), names(found))
})
