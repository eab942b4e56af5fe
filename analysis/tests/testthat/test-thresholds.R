# SPDX-License-Identifier: BSD-3-Clause
# The crossover of eager and rendezvous, on curves whose crossover is known.

BETWEEN <- 2^seq(11, 20)

#' Launches of one protocol.
protocol <- function(alpha, beta, n = 10L, cv = 0.02, seed = 1L, bytes = BETWEEN) {
  set.seed(seed)
  data.table::rbindlist(lapply(seq_len(n), \(i) list(
    launch = rep(i, length(bytes)), bytes = bytes,
    time_s = (alpha + beta * bytes) * exp(stats::rnorm(length(bytes), 0, cv))
  )))
}

# 1 us + m / 2 GB/s against 9 us + m / 4 GB/s: equal at m = 8 us / (0.25 ns/B) = 32000 B.
eager_side <- function(...) protocol(1e-6, 5e-10, ...)
rendezvous_side <- function(...) protocol(9e-6, 2.5e-10, ...)
TRUTH <- 32000

test_that("the planted crossover is found, exactly where there is no noise", {
  found <- protocol_crossover(eager_side(cv = 0), rendezvous_side(cv = 0))
  # Interpolation is linear in the logarithms, the curves are not.
  expect_equal(found$crossover_bytes, TRUTH, tolerance = 0.01)
  expect_equal(found$eager_to_bytes, 16384)
  expect_equal(found$low_bytes, found$crossover_bytes)
  expect_equal(found$high_bytes, found$crossover_bytes)
})

test_that("the interval holds the truth in at least nine of ten studies", {
  held <- vapply(1:20, \(seed) {
    found <- protocol_crossover(
      eager_side(cv = 0.05, seed = seed), rendezvous_side(cv = 0.05, seed = 100L + seed),
      replicates = 400L
    )
    found$low_bytes <= TRUTH * 1.01 && found$high_bytes >= TRUTH * 0.99
  }, NA)
  expect_gte(mean(held), 0.9)
})

test_that("one size that is wrong does not move the crossover there", {
  eager <- eager_side(cv = 0)
  eager[bytes == 2048, time_s := 3 * time_s]
  found <- protocol_crossover(eager, rendezvous_side(cv = 0))
  expect_equal(found$crossover_bytes, TRUTH, tolerance = 0.01)
})

test_that("a protocol that wins everywhere is said so, with what it saves", {
  slow <- protocol(2e-5, 1e-9, cv = 0)
  quick <- protocol(1e-5, 5e-10, cv = 0)
  always_eager <- protocol_crossover(quick, slow)
  expect_identical(always_eager$crossover_bytes, Inf)
  expect_identical(always_eager$high_bytes, Inf)
  expect_equal(always_eager$eager_to_bytes, max(BETWEEN))
  expect_equal(always_eager$gain, 0.5)
  never <- protocol_crossover(slow, quick)
  expect_identical(never$crossover_bytes, 0)
  expect_identical(never$eager_to_bytes, 0)
  expect_equal(never$gain, 0.5)
})

test_that("where protocols are the same no limit is advised, and none gains", {
  gains <- vapply(1:40, \(seed) {
    same <- protocol_crossover(
      protocol(1e-6, 5e-10, cv = 0.05, seed = seed),
      protocol(1e-6, 5e-10, cv = 0.05, seed = 100L + seed), replicates = 20L
    )
    c(same$gain, same$gain_low > 0)
  }, c(0, 0))
  # The best cut of the same launches would gain every time, by a percent or two.
  expect_lt(abs(mean(gains[1L, ])), 0.004)
  # 5 % of 40, in one direction, is one; more than six have a probability under 1 in 1000.
  expect_lte(sum(gains[2L, ]), 6)
})

test_that("few launches give a crossover without interval; sides that do not match are refused", {
  found <- protocol_crossover(eager_side(n = 3L), rendezvous_side(n = 3L))
  expect_true(is.na(found$low_bytes))
  expect_equal(found$n, 3L)
  expect_error(
    protocol_crossover(eager_side(n = 5L), rendezvous_side(n = 6L)),
    class = "cotejo_refused"
  )
  expect_error(
    protocol_crossover(eager_side(), rendezvous_side(bytes = BETWEEN[-1L])),
    class = "cotejo_refused"
  )
})

#' A launch summary with both limits set, and launches without a setting.
#'
#' `with`: variables set together with the limit; their numbers may equal those of a limit.
threshold_summary <- function(n = 10L, with = "") {
  side <- function(data, limit) {
    set <- if (is.na(limit)) "" else sprintf("; EAGER_SIZE=%s%s", limit, with)
    data[, list(
      site = "local", simulated = "", session = "s", test = "protocol_quick",
      operation = "pingpong", mpi = "openmpi", transport = "shm", placement = "near", launch,
      bytes, median_s = time_s,
      setting_eager_limit = limit,
      environment = paste0("A=1; ALWAYS=1048576", set)
    )]
  }
  sizes <- c(512, BETWEEN, 2^21)
  rbind(
    side(eager_side(n = n, bytes = sizes), "1048576"),
    side(rendezvous_side(n = n, bytes = sizes, seed = 2L), "1024"),
    side(eager_side(n = n, bytes = sizes, seed = 3L), NA_character_)
  )
}

test_that("advice names the variable, the value, the interval and what is so now", {
  found <- find_crossovers(threshold_summary())
  expect_equal(nrow(found), 1L)
  expect_equal(found$least_limit, 1024)
  expect_equal(found$most_limit, 1048576)
  expect_equal(found$crossover_bytes, TRUTH, tolerance = 0.15)
  limits <- data.table::data.table(
    site = "local", mpi = "openmpi", transport = "shm", eager_limit_bytes = 4016,
    tried_bytes = 2^22, header_bytes = 80
  )
  said <- threshold_advice(found, limits)
  expect_match(
    said, "Open MPI over shared memory, near, ping-pong: eager is faster up to", fixed = TRUE
  )
  expect_match(said, sprintf(
    "set EAGER_SIZE to %.0f for", round(found$crossover_bytes) + 80
  ), fixed = TRUE)
  expect_match(said, "95 % interval", fixed = TRUE)
  expect_match(said, "the default is 4016 B$")
  limits$eager_limit_bytes <- TRUTH
  expect_match(threshold_advice(found, limits), "within the interval: leave it$")
  # If every tried size was sent eagerly, the largest tried size is no limit.
  limits$eager_limit_bytes <- Inf
  expect_match(threshold_advice(found, limits), "by default no message up to 4 MiB waits$")
})

test_that("advice names all that was set with the limit, and nothing that is always set", {
  summary <- threshold_summary(with = "; COPIES=1; ROOM=1048576")
  found <- find_crossovers(summary)
  expect_identical(found$variables, "COPIES=1; EAGER_SIZE={value}; ROOM=1048576")
  expect_match(threshold_advice(found), sprintf(
    "set COPIES to 1, EAGER_SIZE to %.0f, ROOM to 1048576 for", round(found$crossover_bytes)
  ), fixed = TRUE)
  # The launches without a limit have the same variable with another value.
  other <- copy(summary)[is.na(setting_eager_limit), environment := "A=2; ALWAYS=1048576"]
  expect_match(find_crossovers(other)$variables, "^A=1; COPIES=1; ")
  # Another session may have differed in more than the limit.
  later <- other[is.na(setting_eager_limit)][, session := "t"]
  expect_identical(find_crossovers(rbind(later, summary))$variables, found$variables)
  # Without launches that left the limit alone: the variables that differ between the two limits.
  expect_identical(
    find_crossovers(summary[!is.na(setting_eager_limit)])$variables, "EAGER_SIZE={value}"
  )
})

test_that("a size that the larger limit sends by rendezvous too says nothing", {
  summary <- threshold_summary()
  # 1 MiB is the larger limit: with the library's own header, 1 MiB is not sent eagerly.
  expect_equal(find_crossovers(summary)$to_bytes, 2^19)
  limits <- data.table::data.table(
    site = "local", mpi = "openmpi", transport = "shm", header_bytes = c(0, 80, 2^19 + 1)
  )
  to <- vapply(1:3, \(i) find_crossovers(summary, limits[i])$to_bytes, 0)
  expect_equal(to, c(2^20, 2^19, 2^18))
  limits[, mpi := "mpich"]
  expect_equal(find_crossovers(summary, limits)$to_bytes, 2^19)
})

test_that("blocks of two sessions are blocks of their own", {
  twice <- rbind(threshold_summary(n = 3L), threshold_summary(n = 3L)[, session := "t"])
  expect_equal(find_crossovers(twice)$n, 6L)
})

test_that("advice does not go beyond the sizes measured", {
  always <- find_crossovers(threshold_summary()[bytes < 16384])
  expect_identical(always$crossover_bytes, Inf)
  said <- threshold_advice(always)
  expect_match(said, "eager is faster at every size up to 8 KiB", fixed = TRUE)
  expect_match(said, "set EAGER_SIZE to 8192 for", fixed = TRUE)
})

test_that("sizes that no limit tells apart are left out", {
  found <- find_crossovers(threshold_summary(n = 3L))
  expect_match(threshold_advice(found), "no interval: 3 launches", fixed = TRUE)
  expect_equal(found$from_bytes, 2^11)
  expect_lt(found$to_bytes, 2^20)
})

test_that("the eager limit is read from the sends that were watched", {
  tries <- function(key, bytes, alone) {
    data.table::as.data.table(list(
      key = factor(rep(key, length(bytes))), bytes = bytes, valid = rep(TRUE, length(bytes)),
      operation = ifelse(alone, "eager-alone", "eager-held"), time_s = rep(1e-6, length(bytes))
    ))
  }
  samples <- rbind(
    # Two sends of 4016 B were delayed; one size above the limit returned.
    tries("a", c(1, 4016, 4016, 4016, 4017, 8192), c(TRUE, FALSE, TRUE, FALSE, FALSE, TRUE)),
    # Every size was sent eagerly: the limit is somewhere above 64 B.
    tries("b", c(1, 64), c(TRUE, TRUE)), tries("c", c(1, 64), c(FALSE, FALSE))
  )
  launches <- data.table::as.data.table(list(key = c("a", "b", "c"), mpi = "openmpi"))
  found <- eager_limits(list(launches = launches, samples = samples))
  expect_equal(found$eager_limit_bytes, c(4016, Inf, 0))
  expect_equal(found$tried_bytes, c(8192, 64, 64))
})

test_that("advice is not settled where nothing is shown to be saved", {
  same <- threshold_summary()
  set.seed(5L)
  same[, median_s := 1e-6 * exp(stats::rnorm(.N, 0, 0.05))]
  said <- threshold_advice(find_crossovers(same, replicates = 50L))
  expect_match(said, "not settled, .*worse protocol is not shown, -?[0-9.]+ \\[")
})
