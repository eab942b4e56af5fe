# SPDX-License-Identifier: BSD-3-Clause
# Exhibits of estimates on simulated launches: the estimates match the truth, with intervals.

test_that("the opportunity of overlap is drawn by size with its interval", {
  folder <- fresh_folder()
  alone <- c(0, 5, 10, 15) * 1e-6
  twice <- c(alone, 15e-6)
  for (launch in 1:6) {
    write_overlap(folder, launch, c(0:3, 3L), pmax(10e-6, 4e-6 + twice), twice)
  }
  drawn <- drawn_from(folder, one_row("opportunity"))
  expect_identical(drawn$coverage$lacks, "another message size")
  expect_equal(drawn$data$share, 0.6)
  expect_equal(c(drawn$data$share_low, drawn$data$share_high), c(0.6, 0.6))
  expect_true(drawn$data$knee_seen)
  left_alone <- drawn_from(folder, one_row(
    "opportunity", arguments = "series=mpi setting_async_progress"
  ))
  expect_equal(left_alone$data$share, 0.6)
})

test_that("what was measured beside the time is drawn in its own unit, nothing of it too", {
  folder <- fresh_folder()
  for (launch in 1:6) {
    description <- make_description(launch = launch, test = "planted")
    description$samples$columns <- c(description$samples$columns, list(
      list(name = "depth", unit = "", meaning = "entries"),
      list(name = "resident_bytes", unit = "B", meaning = "memory")
    ))
    write_launch(folder, description, data.table(
      operation = "matching-posted", bytes = 0L, repetition = 0:3, calls = 1L,
      time_s = "1.0e-06", valid = 1L, depth = c(0L, 0L, 64L, 64L),
      resident_bytes = c(0, 0, 8192, 8192)
    ))
  }
  drawn <- drawn_from(folder, one_row(
    "by_parameter", arguments = "x=depth; unit=KiB; scale=linear linear; measure=resident_bytes"
  ))
  expect_identical(drawn$coverage$state, "drawn")
  expect_equal(drawn$data[order(depth)]$value, c(0, 8192))
  svg <- words_of(file.path(drawn$out, "stival", "fig-1.svg"))
  expect_match(svg, "memory (KiB)", fixed = TRUE)
})

test_that("what was hidden to the last step is ringed and said to be a bound", {
  folder <- fresh_folder()
  alone <- c(0, 2, 4, 5) * 1e-6
  for (launch in 1:6) write_overlap(folder, launch, 0:3, rep(10e-6, 4L), alone)
  drawn <- drawn_from(folder, one_row("opportunity"))
  expect_false(any(drawn$data$knee_seen))
  svg <- words_of(file.path(drawn$out, "stival", "fig-1.svg"))
  expect_match(svg, "Ringed: all computation that was tried is hidden", fixed = TRUE)
  table <- drawn_from(folder, one_row("overhead_table"))
  expect_match(page_of(table), "\u2265 5.00", fixed = TRUE)
  expect_match(page_of(table), "\u2264 5.00", fixed = TRUE)
  seen <- fresh_folder()
  for (launch in 1:6) write_overlap(seen, launch, 0:3, pmax(10e-6, 8e-6 + alone), alone)
  drawn <- drawn_from(seen, one_row("opportunity"))
  svg <- words_of(file.path(drawn$out, "stival", "fig-1.svg"))
  expect_false(grepl("Ringed", svg, fixed = TRUE))
})

# Ping-pong with a change of protocol above `limit`, and `eager-limit` launches that found it.
write_protocols <- function(folder, limit = 4096, seen = limit, setting = list(), held = TRUE,
                            session = "20261121T070000Z") {
  sizes <- 2^seq(0, 16)
  design <- design_of(bytes = sizes)
  design[, time := fifelse(bytes <= limit, 1e-6 + bytes * 1e-10, 5e-6 + bytes * 2e-10)]
  plant(folder, design)
  for (launch in 1:3) {
    description <- make_description(
      launch = launch, experiment = "eager-limit", test = "eager_limit_quick", settings = setting,
      session = session
    )
    write_launch(folder, description, rbind(
      make_samples(seen, matrix(1e-6), "eager-alone"),
      if (held) make_samples(seen + 1, matrix(1e-3), "eager-held")
    ))
  }
  folder
}

test_that("regimes come with their lines, the change, and the library's own limit", {
  folder <- write_protocols(fresh_folder())
  drawn <- drawn_from(folder, one_row("regime_table"))
  expect_identical(nrow(drawn$data), 2L)
  expect_equal(drawn$data$alpha_s, c(1e-6, 5e-6), tolerance = 0.01)
  expect_equal(drawn$data$beta_s_per_byte, c(1e-10, 2e-10), tolerance = 0.02)
  expect_identical(drawn$data$after_bytes[[1L]], 4096L)
  expect_identical(drawn$data$low_bytes[[1L]], 4096L)
  expect_identical(drawn$data$high_bytes[[1L]], 8192L)
  expect_identical(drawn$data$explained[[1L]], TRUE)
  expect_match(page_of(drawn), "4 KiB: here", fixed = TRUE)
  elsewhere <- drawn_from(
    write_protocols(fresh_folder(), seen = 64), one_row("regime_table")
  )
  expect_identical(elsewhere$data$explained[[1L]], FALSE)
})

test_that("a curve with as many regimes as are fitted is named in the caption", {
  few <- drawn_from(write_protocols(fresh_folder()), one_row("regime_table"))
  expect_false(any(few$data$limited))
  expect_no_match(page_of(few), "largest number of regimes")
  design <- design_of(bytes = 2^seq(0, 20), mpi = c("openmpi", "mpich"))
  design[, time := 1e-6 + bytes * 1e-10]
  design[mpi == "mpich", time := 1e-6 * 4^findInterval(log2(bytes), c(4, 8, 12, 16))]
  many <- drawn_from(plant(fresh_folder(), design), one_row("regime_table"))
  expect_identical(unique(many$data[limited == TRUE]$mpi), "mpich")
  expect_match(page_of(many), "At the largest number of regimes, there may be more: MPICH")
})

test_that("limits set by hand are held against those that are seen", {
  folder <- write_protocols(fresh_folder(), seen = 4016, setting = list(eager_limit = "4096"))
  drawn <- drawn_from(folder, one_row("limit_table", "eager_limit_quick"))
  expect_identical(drawn$data$setting_eager_limit, 4096L)
  expect_identical(drawn$data$least_bytes, 4016L)
  known <- known_limits(read_results(folder))
  expect_identical(known$header_bytes, 80)
  expect_true(is.na(known$eager_limit_bytes))
})

test_that("where no size was held, none is told as the limit", {
  folder <- write_protocols(fresh_folder(), seen = 2^22, held = FALSE)
  drawn <- drawn_from(folder, one_row("limit_table", "eager_limit_quick"))
  expect_identical(drawn$data$most_bytes, Inf)
  expect_match(page_of(drawn), "no limit up to 4 MiB", fixed = TRUE)
  expect_identical(known_limits(read_results(folder))$eager_limit_bytes, Inf)
  regimes <- drawn_from(folder, one_row("regime_table"))
  expect_match(page_of(regimes), "none up to 4 MiB", fixed = TRUE)
  expect_false(regimes$data$explained[[1L]])
  # A limit that was set but not observed says nothing about the library's own header.
  set <- write_protocols(fresh_folder(), seen = 4096, setting = list(eager_limit = "8192"),
    held = FALSE
  )
  expect_true(is.na(known_limits(read_results(set))$header_bytes))
})

test_that("limits are known of the sessions that would be reported", {
  folder <- write_protocols(fresh_folder(), seen = 4016)
  write_protocols(folder, seen = 8112, session = "20261123T070000Z")
  later <- list.files(file.path(folder, "local", "20261123T070000Z"), "json$", full.names = TRUE)
  for (file in later) {
    edit_json(file, function(d) {
      d$provenance$commit <- "another"
      d
    })
  }
  results <- read_results(folder)
  expect_identical(known_limits(results)$eager_limit_bytes, 8112)
  expect_identical(known_limits(results, "20261121T070000Z")$eager_limit_bytes, 4016)
})

test_that("launches that differ by a factor tell as much of the curve's shape as equal ones", {
  sizes <- 2^(0:16)
  set.seed(1L)
  curve <- rbindlist(lapply(1:6, function(launch) {
    seconds <- fifelse(sizes <= 512, 1e-6, 1.2e-6) + sizes * 1e-10
    list(
      key = rep(paste(launch), 17L), bytes = sizes,
      time_s = seconds * 1.5^launch * exp(stats::rnorm(17L, 0, 0.01))
    )
  }))
  expect_lt(noise_of(curve), 0.01)
  expect_true(is.na(noise_of(curve[key == "1"])))
  part <- curve[, list(key, bytes, median_s = time_s)]
  expect_equal(regimes_of(part)$after_bytes, c(512, NA))
  # The noise of the launches must not create regimes.
  straight <- part[, list(
    key, bytes, median_s = median_s / fifelse(bytes <= 512, 1e-6 + bytes * 1e-10, 1.2e-6 +
      bytes * 1e-10) * (1e-6 + bytes * 1e-10)
  )]
  expect_identical(nrow(regimes_of(straight)), 1L)
})

# Eager starts at 1 us, rendezvous at 9 us; equal at 32000 B.
write_thresholds <- function(folder, launches = 6L) {
  sizes <- 2^seq(11, 20)
  for (launch in seq_len(launches)) {
    for (limit in c("1024", "1048576")) {
      times <- if (limit == "1024") 9e-6 + 2.5e-10 * sizes else 1e-6 + 5e-10 * sizes
      description <- make_description(
        launch = launch, test = "planted", settings = list(eager_limit = limit)
      )
      description$environment <- named(list(EAGER_SIZE = limit))
      write_launch(folder, description, make_samples(sizes, rbind(times, times)))
    }
  }
  folder
}

test_that("the crossover is told with what to set, in the table and in the report's words", {
  folder <- write_thresholds(fresh_folder())
  drawn <- drawn_from(folder, one_row("crossover_table"))
  expect_equal(drawn$data$crossover_bytes, 32000, tolerance = 0.01)
  expect_equal(drawn$data$low_bytes, drawn$data$crossover_bytes)
  expect_match(page_of(drawn), sprintf("EAGER_SIZE = %.0f", round(drawn$data$crossover_bytes)))
  few <- drawn_from(
    write_thresholds(fresh_folder(), 3L), one_row("crossover_table")
  )
  expect_equal(few$data$crossover_bytes, drawn$data$crossover_bytes)
  expect_true(is.na(few$data$low_bytes))
  said <- advise(read_results(folder))
  expect_length(said, 1L)
  # It is unknown whether 1 MiB was sent eagerly with a limit of 1 MiB.
  expect_match(said, "set EAGER_SIZE to 3[12][0-9]{3} for messages of 2 KiB to 512 KiB")
  expect_length(advise(read_results(plant(fresh_folder(), design_of(bytes = 1)[, time := 1]))), 0L)
})

test_that("protocols are told apart by the least and the largest limit of each MPI", {
  table <- data.table(
    mpi = rep(c("mpich", "openmpi"), each = 3L), transport = "shm",
    setting_eager_limit = c("1024", "65536", NA, "8192", "524288", NA)
  )
  said <- c("rendezvous: smallest limit", "eager: largest limit", "the library's limit")
  expect_identical(add_protocol(table)$protocol, rep(said, 2L))
  drawn <- drawn_from(write_thresholds(fresh_folder()), one_row(
    "by_size", arguments = "series=protocol; panel=mpi"
  ))
  expect_identical(nrow(drawn$data), 20L)
  without <- drawn_from(
    plant(fresh_folder(), design_of(bytes = c(1, 8))[, time := 1]),
    one_row("by_size", arguments = "series=protocol")
  )
  expect_identical(without$coverage$lacks, "another protocol")
})

test_that("LogP is told by both methods, with the share of sizes whose overheads fit", {
  folder <- fresh_folder()
  operations <- paste0("logp-", c(
    "eel", "g", "os-call", "or-call", "os-overlap", "or-overlap", "words"
  ))
  for (launch in 1:6) {
    write_overlap(
      folder, launch, 0L, c(9, 8, 3, 2, 14, 14, 11) * 1e-6, c(0, 0, 0, 0, 10, 10, 10) * 1e-6,
      operations
    )
  }
  drawn <- drawn_from(folder, one_row("logp_table"))
  expect_equal(drawn$data$L_call_s, 4e-6)
  expect_equal(drawn$data$L_overlap_s, 2e-6)
  expect_equal(drawn$data$os_overlap_s_low, 4e-6)
  expect_match(page_of(drawn), "at most EEL at 100 % of the sizes above 1 kB", fixed = TRUE)
})

test_that("LogGP is told in each regime, its parts adding up to the line of the latency", {
  folder <- fresh_folder()
  operations <- paste0("logp-", c(
    "eel", "g", "os-call", "or-call", "os-overlap", "or-overlap", "words"
  ))
  sizes <- 2^(0:5) * 1024L
  for (launch in 1:6) {
    description <- make_description(launch = launch, test = "planted")
    description$samples$columns <- c(description$samples$columns, list(
      list(name = "alone_s", unit = "s", meaning = "alone_s")
    ))
    samples <- rbindlist(lapply(sizes, function(size) {
      eel <- 10e-6 + size * 1e-9
      times <- c(eel, 8e-6, 3e-6, 2e-6, 100e-6 + 4e-6, 100e-6 + 3e-6 + 1e-6, 100e-6 + 1e-6)
      made <- rbindlist(Map(\(time, operation) make_samples(size, matrix(time), operation),
        times, operations
      ))
      made[, alone_s := fifelse(operation %in% operations[5:7], "1.0e-04", "0.0e+00")][]
    }))
    write_launch(folder, description, samples)
  }
  drawn <- drawn_from(folder, one_row(
    "loggp_table", filter = "operation=logp-eel"
  ))
  expect_identical(nrow(drawn$data), 1L)
  expect_equal(drawn$data$os_s, 4e-6, tolerance = 1e-6)
  expect_equal(drawn$data$or_s, 3e-6, tolerance = 1e-6)
  expect_equal(drawn$data$g_s, 8e-6, tolerance = 1e-6)
  expect_equal(drawn$data$L_s, 3e-6, tolerance = 1e-6)
  expect_equal(drawn$data$alpha_s, drawn$data$os_s + drawn$data$or_s + drawn$data$L_s)
  expect_equal(drawn$data$L_s_high, drawn$data$L_s)
  expect_match(page_of(drawn), "os (\u00b5s)", fixed = TRUE)
})

test_that("the size at which blocking sends deadlock is told, and that there is none", {
  folder <- fresh_folder()
  for (launch in 1:3) {
    for (mpi in c("mpich", "openmpi")) {
      description <- make_description(mpi, launch = launch, test = "planted")
      found <- if (mpi == "mpich") 4000L + launch else NULL
      description$observed$found <- list(deadlock_bytes = found)
      write_launch(folder, description, make_samples(1024, matrix(1e-6)))
    }
  }
  drawn <- drawn_from(folder, one_row("deadlock_table"))
  expect_equal(drawn$data[mpi == "mpich"]$deadlock_bytes, 4002)
  expect_match(page_of(drawn), "none up to 1 KiB", fixed = TRUE)
})
