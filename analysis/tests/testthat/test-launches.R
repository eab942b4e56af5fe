# SPDX-License-Identifier: BSD-3-Clause
# The used launches: summaries by launch, failed and marked launches, sessions, flags, drift.

MPIS <- c(openmpi = 3e-7, mpich = 6e-7)

plan_session <- function(folder, cells, blocks = 3L, session = "20261121T070000Z") {
  plan <- list(
    tag = "quick", blocks = blocks, seed = 42L, cells = as.list(cells),
    begun = "2026-11-21T07:00:00Z", finished = "", reframe_s = 1.5
  )
  write_json(plan, file.path(folder, "local", session, "session.json"))
}

test_that("launch summaries are medians, minima and 95 % quantiles of the valid samples", {
  launch <- one_launch()
  edit_lines(launch$csv, function(l) replace(l, 3L, sub(",1$", ",0", l[[3L]])))
  summary <- summarise_launches(read_results(launch$folder))
  expect_identical(summary$n, c(2L, 3L))
  expect_identical(summary$n_invalid, c(1L, 0L))
  expect_equal(summary$median_s, c(1.125e-7, 2.5e-4), tolerance = 1e-12)
  expect_equal(summary$min_s, c(1e-7, 2e-4), tolerance = 1e-12)
  expect_equal(summary$p95_s, c(1.2375e-7, 2.95e-4), tolerance = 1e-12)
  expect_equal(summary$p99_s, c(1.2475e-7, 2.99e-4), tolerance = 1e-12)
  expect_equal(summary$bytes_per_s[[2L]], 2^20 / 2.5e-4, tolerance = 1e-12)
})

test_that("extremes are of launches with twenty thousand valid samples only", {
  expect_false(any(c("p999_s", "max_s") %in% names(summarise_launches(read_results(
    one_launch()$folder
  )))))
  folder <- fresh_folder()
  times <- matrix(1e-9 * c(1:19999, 2.5e6), nrow = 20000L, ncol = 2L)
  path <- write_launch(folder, make_description(), make_samples(c(1, 2^20), times))
  few <- "^(pingpong,1048576,([3-9]|[0-9]{2,}),.*),1$"
  edit_lines(paste0(path, ".csv"), function(l) sub(few, "\\1,0", l))
  summary <- summarise_launches(read_results(folder))
  expect_identical(summary$n, c(20000L, 3L))
  expect_equal(summary$p999_s, c(1.9980001e-5, NA), tolerance = 1e-9)
  expect_equal(summary$max_s, c(2.5e-3, NA))
  measures <- as_study(read_results(folder))$measurements$measure
  expect_true(all(c("p999_s", "max_s") %in% measures))
})

test_that("a launch without a valid sample has no median and is in no configuration", {
  launch <- one_launch()
  edit_lines(launch$csv, function(l) sub("^(pingpong,1,.*),1$", "\\1,0", l))
  summary <- summarise_launches(read_results(launch$folder))
  expect_identical(summary$median_s[[1L]], NA_real_)
  expect_identical(summarise_configurations(summary)$bytes, 1048576L)
})

test_that("a study's summaries do not repeat all that is known of a launch on every row", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 5L, bytes = 1)
  results <- read_results(folder)
  all <- summarise_launches(results)
  whole <- suppressMessages(compare_results(folder))$whole
  options <- grep("^option_", names(results$launches), value = TRUE)
  expect_gt(length(options), 0L)
  expect_identical(intersect(c(options, "command"), names(whole)), character())
  # The same table results if the remaining columns are requested later.
  expect_equal(with_columns(whole, results$launches), all, ignore_attr = TRUE)
  expect_identical(names(with_columns(whole, results$launches)), names(all))
  few <- with_columns(whole, results$launches, c("command", "no such column"))
  expect_identical(setdiff(names(few), names(whole)), "command")
  expect_identical(few$command, all$command)
  expect_identical(with_columns(all, results$launches), all)
})

test_that("failed and marked launches are listed and never used", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1)
  write_launch(folder, make_description(
    "mpich", launch = 7L, status = "failed", reason = "time limit of 60 s"
  ))
  # Samples a hundred times too slow, which must not appear anywhere.
  write_launch(
    folder, make_description("mpich", launch = 8L, status = "marked", reason = "wrong core"),
    make_samples(1, matrix(6e-5))
  )
  results <- read_results(folder)
  expect_identical(as.vector(table(results$launches$status)), c(1L, 1L, 12L))
  expect_lt(max(results$samples$time_s), 1e-5)
  medians <- summarise_configurations(summarise_launches(results))
  expect_identical(medians$n, c(6L, 6L))
  study <- suppressMessages(analyse(folder))
  expect_identical(nrow(study$used), 12L)
  expect_identical(study$unusable$reason, c("time limit of 60 s", "wrong core"))
})

test_that("cells that lack launches are listed, and which of them failed", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 3L, bytes = 1)
  unlink(list.files(folder, "mpich.*003[.]", recursive = TRUE, full.names = TRUE))
  write_launch(folder, make_description(
    "mpich", launch = 2L, status = "failed", reason = "no reason given"
  ))
  cell <- function(mpi) sprintf("pingpong_quick.%s.shm.near", mpi)
  plan_session(folder, cell(c("intel-mpi", "mpich", "openmpi")))
  missing <- missing_cells(read_sessions(folder)$sessions, read_results(folder)$launches)
  expect_identical(missing$cell, cell(c("intel-mpi", "mpich")))
  expect_identical(missing$planned, c(3L, 3L))
  expect_identical(missing$usable, c(0L, 1L))
  expect_identical(missing$unusable, c(0L, 1L))
  expect_identical(missing$missing, c(3L, 1L))
  # The same from the session's own folder, given as a relative path.
  here <- file.path(folder, "local", "20261121T070000Z")
  expect_identical(read_sessions(here)$sessions$site, "local")
})

test_that("a plan that is not as documented is named and left out", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 1L, bytes = 1)
  plan_session(folder, "a", blocks = "three")
  file <- file.path(folder, "local", "20261121T070000Z", "session.json")
  plans <- suppressMessages(read_sessions(folder))
  expect_identical(nrow(plans$sessions), 0L)
  expect_match(
    plans$broken$what, paste0(normalizePath(file), ":3: member blocks is of another type"),
    fixed = TRUE
  )
  expect_identical(suppressMessages(read_results(folder))$broken, plans$broken)
})

LATER <- "20261122T070000Z"

test_that("two sessions of one state are used together, each with its own blocks", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1)
  write_study(folder, MPIS * 1.05, blocks = 5L, bytes = 1, session = LATER, seed = 2L)
  study <- suppressMessages(analyse(folder))
  expect_identical(nrow(study$used), 22L)
  expect_identical(study$comparison$n_a, 11L)
  expect_true(study$comparison$paired)
  expect_identical(nrow(study$older), 0L)
  expect_identical(study$drift$session, c("20261121T070000Z", LATER))
})

test_that("two sessions that hold one MPI each are compared, without pairing", {
  folder <- write_study(fresh_folder(), MPIS["openmpi"], blocks = 6L, bytes = 1)
  write_study(folder, MPIS["mpich"], blocks = 6L, bytes = 1, session = LATER)
  study <- suppressMessages(analyse(folder))
  expect_identical(study$comparison$verdict, "not settled")
  expect_false(study$comparison$paired)
})

test_that("a later session on another emulated network hides no earlier one", {
  network <- "emulated: %d hosts on 2 cores, fast-ethernet (switch, 100 Mbit/s)"
  folder <- write_study(
    fresh_folder(), MPIS,
    blocks = 6L, bytes = 1, simulated = sprintf(network, 2L)
  )
  write_study(
    folder, MPIS,
    blocks = 6L, bytes = 1, simulated = sprintf(network, 4L), session = LATER
  )
  study <- suppressMessages(analyse(folder))
  expect_setequal(study$used$simulated, sprintf(network, c(2L, 4L)))
  expect_identical(nrow(study$comparison), 2L)
  expect_identical(study$comparison$n_a, c(6L, 6L))
})

test_that("a session of another stack or scale is left out, and counted", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1)
  for (file in list.files(folder, "json$", recursive = TRUE, full.names = TRUE)) {
    edit_json(file, function(d) {
      d$provenance$stack$lock_sha256 <- "old"
      d
    })
  }
  write_study(folder, MPIS, blocks = 5L, bytes = 1, session = LATER)
  write_study(folder, MPIS, blocks = 1L, bytes = 1, session = "20261123T070000Z", scale = "smoke")
  study <- suppressMessages(analyse(folder))
  expect_identical(unique(study$used$session), LATER)
  expect_identical(nrow(study$older), 14L)
  only <- suppressMessages(analyse(folder, session = "20261121T070000Z"))
  expect_identical(nrow(only$used), 12L)
})

test_that("a launch far from its configuration is flagged and kept", {
  folder <- write_study(fresh_folder(), MPIS, bytes = 1)
  file <- list.files(folder, "openmpi.*004.csv", recursive = TRUE, full.names = TRUE)
  launch <- read_results(folder)$launches[id == "pingpong_quick.openmpi.shm.near.004"]
  samples <- make_samples(1, matrix(rep(7e-7, 15L)))
  lines <- c(readLines(file)[1:2], do.call(paste, c(samples, sep = ",")))
  writeLines(lines, file)
  summary <- summarise_launches(read_results(folder))
  flags <- flag_launches(summary)
  expect_identical(flags$outlying$id, launch$id)
  expect_identical(summarise_configurations(summary)$n, c(10L, 10L))
})

test_that("launches in two modes are told", {
  times <- c(1, 1.01, 1.02, 0.99, 0.98, 2, 2.01, 1.99, 2.02, 1.98, 1, 2, 1.005, 2.005)
  expect_lt(dip_of(log(times))$p, 0.01)
  set.seed(1L)
  expect_gt(dip_of(stats::rnorm(20L))$p, 0.01)
})

test_that("a dip that is too small for two modes needs no p", {
  tables <- new.env()
  utils::data("qDiptab", package = "diptest", envir = tables)
  n <- as.numeric(rownames(tables$qDiptab))
  expect_gt(min((sqrt(n) * tables$qDiptab[, "0.99"])[n >= 10]), LEAST_DIP)
  set.seed(1L)
  expect_identical(dip_of(stats::rnorm(20L), LEAST_DIP)$p, NA_real_)
})

test_that("the range of blocks is about their median, also where slow launches raise all means", {
  found <- drift_of_levels(data.table(
    site = "s", session = "1", transport = "shm", launch = 1:8, level = 0.3 + (1:8) / 100
  ))
  expect_lt(found$lowest, 1)
  expect_gt(found$highest, 1)
})

test_that("drift over the blocks is found where it was planted, and only there", {
  drifting <- fresh_folder()
  steady <- write_study(fresh_folder(), MPIS, bytes = c(1, 64))
  for (block in 1:10) {
    for (mpi in names(MPIS)) {
      times <- matrix(MPIS[[mpi]] * 1.01^(block - 1) * c(1, 1.01, 0.99))
      write_launch(drifting, make_description(mpi, launch = block), make_samples(1, times))
    }
  }
  found <- drift_of_blocks(summarise_launches(read_results(drifting)))
  expect_equal(found$change, 1.01^9 - 1, tolerance = 1e-6)
  expect_lt(found$p, 1e-5)
  expect_identical(found$blocks, 10L)
  expect_gt(drift_of_blocks(summarise_launches(read_results(steady)))$p, 0.05)
})

test_that("two processes read what one does, and leave out what one leaves out", {
  folder <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 6e-7), bytes = 1, blocks = 3L)
  files <- sort(list.files(folder, "json$", recursive = TRUE, full.names = TRUE))
  one <- read_results(folder)
  expect_identical(sum(unlist(over_cores(rep(files, 100L), length))), 600L)
  old <- options(cotejo.forking = 2L)
  on.exit(options(old))
  two <- read_results(folder)
  expect_identical(two$launches, one$launches)
  expect_identical(two$samples, one$samples)
  edit_lines(sub("json$", "csv", files[[6L]]), function(lines) sub(",1$", ",2", lines))
  rest <- suppressMessages(read_results(folder))
  expect_identical(nrow(rest$launches), 5L)
  expect_identical(rest$broken$file, sub("json$", "csv", files[[6L]]))
  expect_match(rest$broken$what, "bad value \"2\" in column valid", fixed = TRUE)
})

test_that("which columns are factors is told by any part of a table of launches", {
  # Two queues of one operation: pooled, they would be twelve replicates instead of six.
  folder <- fresh_folder()
  file.copy(test_path("fixtures", "v1", "local"), folder, recursive = TRUE)
  summary <- summarise_launches(read_results(folder))
  expect_true("pairs" %in% factor_names(summary))
  part <- summary[!is.na(summary$pairs)][order(bytes)]
  expect_true("pairs" %in% configuration_columns(part))
  by_hand <- data.table::uniqueN(part, by = c("operation", "pairs", "bytes", "mpi"))
  expect_identical(nrow(summarise_configurations(part)), by_hand)
  expect_identical(factor_names(summary[is.na(summary$pairs)]), character())
  # A name within a value is no factor.
  odd <- data.table::data.table(a = "x=1", b = 2, x = 3, factors = "a=x=1; b=2")
  expect_identical(factor_names(odd), c("a", "b"))
})
