# SPDX-License-Identifier: BSD-3-Clause
# Algorithms of a broadcast: simulated algorithms are named if the data can distinguish them.

# Launch summaries of a broadcast that follows a model; `noise` is relative.
planted <- function(model, ranks = c(2, 4, 8, 16), bytes = c(8, 1024, 2^13, 2^16, 2^18, 2^20),
                    noise = 0.03, launches = 10L, latency_s = 2e-6, bytes_per_s = 4e9) {
  set.seed(7L)
  table <- data.table::CJ(launch = seq_len(launches), ranks = ranks, bytes = bytes)
  time <- model$steps(table$ranks) * latency_s + model$volume(table$ranks) * table$bytes /
    bytes_per_s
  table[, `:=`(
    median_s = time * exp(stats::rnorm(.N, 0, noise)), site = "local", simulated = "",
    operation = "bcast", mpi = "openmpi", transport = "shm", placement = "near", settings = ""
  )]
  table[]
}

test_that("each algorithm is named, with its step and its rate", {
  # A pipeline has segments of a size of its own: it has tests of its own.
  for (name in grep("^pipelined", names(SCALING_MODELS), value = TRUE, invert = TRUE)) {
    # In large messages a physical broadcast and a pipeline differ by a few percent.
    found <- which_broadcast(planted(SCALING_MODELS[[name]], noise = 0.01), replicates = 100L)
    expect_identical(as.character(found$sizes), c("small", "medium", "large"))
    expect_identical(found$best, rep(name, 3L), info = name)
    expect_true(all(found$sure >= 0.95), info = name)
    expect_equal(found$latency_s[[1L]], 2e-6, tolerance = 0.05, info = name)
    expect_equal(found$bytes_per_s[[3L]], 4e9, tolerance = 0.05, info = name)
    expect_match(found$verdict[[1L]], paste0("^", name), info = name)
  }
})

# Times of a chain of ranks that forwards segments of `segment` bytes (Open MPI's default for large
# messages), independent of the models.
pipeline <- function(ranks, bytes, latency_s, bytes_per_s, segment = 65536) {
  segments <- ceiling(bytes / segment)
  (ranks - 2 + segments) * (latency_s + pmin(segment, bytes) / bytes_per_s)
}

test_that("a pipelined chain of large messages is named", {
  summary <- planted(SCALING_MODELS[["binomial tree"]], bytes = c(2^20, 2^21, 2^22), noise = 0)
  set.seed(2L)
  summary[, median_s := pipeline(ranks, bytes, 2e-6, 4e9) * exp(stats::rnorm(.N, 0, 0.03))]
  found <- which_broadcast(summary, replicates = 100L)
  expect_identical(found$best, "pipelined chain")
  expect_match(found$verdict, "^pipelined chain")
})

test_that("a tree of segments is no chain", {
  summary <- planted(SCALING_MODELS[["binomial tree"]], bytes = c(2^18, 2^20, 2^22), noise = 0)
  set.seed(5L)
  summary[, median_s := (log2(ranks) - 1 + bytes / 8192) * (2e-6 + 8192 / 4e9) *
    exp(stats::rnorm(.N, 0, 0.002))]
  found <- which_broadcast(summary, replicates = 50L)
  expect_match(found$verdict, "^pipelined tree ")
  expect_lt(found$held_out, 0.01)
})

test_that("a chain is a chain at all sizes, and predicts a number of ranks that was left out", {
  for (segment in c(8192, 65536)) {
    for (ranks in list(c(2, 4, 8, 16), c(4, 8, 16, 32))) {
      summary <- planted(
        SCALING_MODELS[["binomial tree"]], ranks, c(8, 1024, 2^13, 2^15, 2^16, 2^18, 2^20, 2^22)
      )
      set.seed(3L)
      noise <- exp(stats::rnorm(nrow(summary), 0, 0.03))
      summary[, median_s := noise * pipeline(ranks, bytes, 2e-6, 4e9, segment)]
      found <- which_broadcast(summary, replicates = 50L)
      expect_match(found$verdict, "^(repeated sends or chain|pipelined chain) ")
      expect_identical(found$best[[3L]], "pipelined chain")
      expect_true(all(found$held_out < MOST_MISFIT))
    }
  }
})

test_that("a chain of small segments is named on few ranks, and the segments predict more ranks", {
  for (ranks in list(c(2, 4), 2:4)) {
    summary <- planted(SCALING_MODELS[["binomial tree"]], ranks, c(2^13, 2^15, 2^16), noise = 0)
    set.seed(4L)
    noise <- exp(stats::rnorm(nrow(summary), 0, 0.03))
    summary[, median_s := noise * pipeline(ranks, bytes, 2e-6, 4e9, segment = 8192)]
    found <- which_broadcast(summary, replicates = 50L)
    expect_match(found$verdict, "^pipelined chain ")
  }
  expect_lt(found$held_out, 0.05)
  # A message of one segment is a chain, whose time grows with each rank.
  model <- SCALING_MODELS[["pipelined chain"]]
  cells <- data.table::CJ(ranks = c(2, 4, 8), bytes = 2^(12:20))
  cells[, time_s := pipeline(ranks, bytes, 2e-6, 4e9)]
  fit <- fit_scaling(cells$ranks, cells$bytes, cells$time_s, model)
  expect_equal(fit$predict(64, 2^22), pipeline(64, 2^22, 2e-6, 4e9), tolerance = 1e-6)
  expect_equal(fit$predict(64, 2^12), 63 * (2e-6 + 2^12 / 4e9), tolerance = 1e-6)
})

test_that("an algorithm outside the list is rejected by a held-out number of ranks", {
  # Congestion: the time grows with the square of the ranks.
  summary <- planted(SCALING_MODELS[["repeated sends or chain"]], bytes = 2^20, noise = 0)
  set.seed(2L)
  summary[, median_s := 1e-4 * ranks^2 * exp(stats::rnorm(.N, 0, 0.03))]
  found <- which_broadcast(summary, replicates = 100L)
  expect_gt(found$held_out, MOST_MISFIT)
  expect_match(found$verdict, "^none of the models")
  # Two numbers of ranks leave none out: the verdict says that the model was not checked.
  two <- which_broadcast(summary[ranks <= 4], replicates = 50L)
  expect_match(two$verdict, "^repeated sends .*; not checked on a third number of ranks[)]$")
  good <- which_broadcast(planted(SCALING_MODELS[["binomial tree"]]), replicates = 50L)
  expect_no_match(good$verdict, "not checked")
  expect_true(all(good$held_out < 0.05))
})

test_that("the algorithms of other collectives are named, each among its own", {
  for (operation in c("scatter", "allgather", "alltoall", "allreduce")) {
    for (name in names(models_of(operation))) {
      summary <- planted(models_of(operation)[[name]], bytes = c(8, 1024, 2^16, 2^18))
      summary$operation <- operation
      found <- which_broadcast(summary, replicates = 50L)
      # Small messages depend only on steps, large ones only on volume; two models may share one of
      # these.
      expect_true(name %in% found$best, info = paste(operation, name))
    }
  }
  expect_identical(models_of("bcast"), SCALING_MODELS)
})

test_that("counted messages that contradict the model are in the verdict", {
  judged <- function(words, model = "binomial tree") {
    summary <- planted(SCALING_MODELS[[model]], bytes = c(8, 1024))
    which_broadcast(summary[, algorithm := words][], replicates = 50L)
  }
  linear <- judged("ran as basic_linear")
  expect_identical(linear$ran, "ran as basic_linear")
  expect_match(
    linear$verdict,
    "^binomial tree .*; the counted messages contradict it: ran as basic_linear$"
  )
  expect_match(
    judged("ran as binomial", "physical broadcast")$verdict, "contradict it: ran as binomial"
  )
  # The same, one of several, an algorithm without a model, and no evidence.
  for (words in c(
    "ran as requested (binomial)", "ran as linear, cannot be distinguished from binomial",
    "ran as an unnamed pattern (1a2b3c4d)", "no evidence available", NA
  )) {
    expect_no_match(judged(words)$verdict, "contradict")
  }
  # An algorithm that was replaced did not run.
  expect_match(judged("ran as knomial, not as binomial")$verdict, "contradict")
  expect_match(judged("ran as knomial, requested as binomial")$verdict, "contradict")
  without <- which_broadcast(planted(SCALING_MODELS[["binomial tree"]]), replicates = 50L)
  expect_false("ran" %in% names(without))
})

test_that("models whose times are the same at the measured ranks are named together", {
  summary <- planted(SCALING_MODELS[["4-nomial tree"]], c(2, 4), c(8, 1024))
  found <- which_broadcast(summary, replicates = 50L)
  expect_identical(c(found$best, found$equal), c("repeated sends or chain", "4-nomial tree"))
  expect_identical(found$verdict, paste(
    "repeated sends or chain, or 4-nomial tree (100 % of draws;",
    "not checked on a third number of ranks)"
  ))
  expect_false(found$next_best %in% c(found$best, found$equal))
  # Counted messages of either model are no contradiction.
  for (words in c("ran as knomial", "ran as basic_linear")) {
    counted <- which_broadcast(data.table::copy(summary)[, algorithm := words], replicates = 50L)
    expect_identical(counted$verdict, found$verdict)
  }
  other <- which_broadcast(data.table::copy(summary)[, algorithm := "ran as binomial"][], 50L)
  expect_match(other$verdict, "; the counted messages contradict it: ran as binomial$")
  # On 2 and 3 ranks, gathering along a tree takes as long as gathering one by one.
  gather <- planted(SCATTER_MODELS[["binomial tree"]], 2:3)[, operation := "gather"]
  found <- which_broadcast(gather, replicates = 50L)
  expect_identical(unique(found$equal), "binomial tree")
  expect_identical(unique(found$next_best), NA_character_)
  apart <- which_broadcast(planted(SCALING_MODELS[["binomial tree"]]), replicates = 50L)
  expect_identical(unique(apart$equal), "")
})

test_that("every model of an operation names its algorithms", {
  for (models in c(list(SCALING_MODELS), MODELS_OF)) {
    expect_true(all(vapply(models, \(model) nzchar(model$ran), NA)))
  }
})

test_that("a library that changes its algorithm with the size is two", {
  small <- planted(SCALING_MODELS[["binomial tree"]], bytes = c(8, 1024))
  large <- planted(SCALING_MODELS[["scatter-allgather"]], bytes = c(2^18, 2^20))
  found <- which_broadcast(rbind(small, large), replicates = 100L)
  expect_identical(found$best, c("binomial tree", "scatter-allgather"))
})

test_that("what cannot be told is said not to be", {
  two <- which_broadcast(planted(SCALING_MODELS[["binomial tree"]], ranks = 2))
  expect_true(all(is.na(two$best)))
  expect_match(two$verdict[[1L]], "two numbers of ranks", fixed = TRUE)
  noisy <- which_broadcast(planted(SCALING_MODELS[["binomial tree"]],
    ranks = c(2, 4), noise = 0.9, launches = 5L, bytes = c(8, 1024)
  ), replicates = 100L)
  expect_match(noisy$verdict, "^(not settled between|none of the models)")
  # Times that fall with the ranks match none of the models.
  falling <- planted(SCALING_MODELS[["binomial tree"]], bytes = c(8, 1024))
  falling[, median_s := 1e-3 / ranks^2]
  expect_match(which_broadcast(falling, replicates = 50L)$verdict, "^none of the models")
  few <- which_broadcast(planted(SCALING_MODELS[["binomial tree"]], launches = 3L))
  expect_identical(few$verdict[[1L]], "too few launches: 3, at least 5")
})

test_that("blocks are drawn whole: what moves a launch at all sizes makes no model surer", {
  # Each launch is slow or fast at all sizes; drawing size by size would average this out.
  moved <- planted(SCALING_MODELS[["binomial tree"]], ranks = c(4, 8), noise = 0, launches = 7L)
  set.seed(3L)
  factor <- exp(stats::rnorm(14L, 0, 0.5))
  moved[, median_s := median_s * factor[launch + 7L * (ranks == 8)]]
  shuffled <- copy(moved)
  shuffled[, launch := sample(launch), by = c("ranks", "bytes")]
  together <- which_broadcast(moved, replicates = 200L)
  apart <- which_broadcast(shuffled, replicates = 200L)
  expect_identical(together$best, apart$best)
  expect_false(identical(together$sure, apart$sure))
})
