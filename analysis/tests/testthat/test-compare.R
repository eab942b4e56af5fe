# SPDX-License-Identifier: BSD-3-Clause
# Comparisons: known differences are found, equal configurations are not called different, and
# incomparable configurations are refused with the difference.

MPIS <- c(openmpi = 3e-7, mpich = 6e-7)

summary_from <- function(folder) summarise_launches(read_results(folder))

test_that("a planted ratio is found with its side, interval and n", {
  compared <- compare_configurations(
    summary_from(write_study(fresh_folder(), MPIS, bytes = 1, cv = 0.03))
  )
  expect_identical(c(compared$a, compared$b), c("mpich", "openmpi"))
  expect_identical(compared$verdict, "slower")
  expect_identical(c(compared$n_a, compared$n_b), c(10L, 10L))
  expect_equal(compared$ratio, 2, tolerance = 0.05)
  expect_lt(compared$low, 2.05)
  expect_gt(compared$high, 1.95)
  expect_lt(compared$q, 0.01)
  expect_identical(compared$cliffs_delta, 1)
})

test_that("the verdict is that of the other side when the MPIs change places", {
  compared <- compare_configurations(
    summary_from(write_study(fresh_folder(), rev(rev(MPIS)) / c(1, 4), bytes = 1))
  )
  expect_identical(compared$verdict, "faster")
  expect_equal(compared$ratio, 0.5, tolerance = 0.05)
})

test_that("equal configurations with little spread are within a bound, never different", {
  equal <- c(openmpi = 3e-7, mpich = 3e-7)
  compared <- compare_configurations(
    summary_from(write_study(fresh_folder(), equal, bytes = c(1, 64, 1024), cv = 0.005))
  )
  expect_identical(compared$verdict, rep("within", 3L))
  expect_identical(compared$relevance, rep("negligible", 3L))
  # The bound is the achieved one.
  expect_equal(compared$at_most, pmax(compared$high, 1 / compared$low) - 1, tolerance = 1e-12)
})

test_that("much spread is not settled and under four launches nothing is tested", {
  equal <- c(openmpi = 3e-7, mpich = 3.1e-7)
  wide <- compare_configurations(
    summary_from(write_study(fresh_folder(), equal, bytes = 1, cv = 0.2, seed = 5L))
  )
  expect_identical(wide$verdict, "not settled")
  few <- compare_configurations(
    summary_from(write_study(fresh_folder(), MPIS, bytes = 1, blocks = 3L))
  )
  expect_identical(few$verdict, "not tested")
  expect_identical(few$note, "too few launches: 3 and 3, at least 4")
  expect_identical(few$more_launches, 1)
  expect_true(is.na(few$low))
})

test_that("four blocks show a difference, and say by how much at least", {
  four <- compare_configurations(
    summary_from(write_study(fresh_folder(), MPIS, bytes = 2^(0:8), blocks = 4L))
  )
  expect_identical(unique(four$verdict), "slower")
  expect_identical(unique(four$relevance), "relevant")
  expect_equal(four$at_least, four$low - 1, tolerance = 1e-12)
  expect_gt(min(four$at_least), 0.7)
  # Every comparison shows a difference: each interval has 95 %.
  expect_equal(unique(four$confidence), 0.95)
})

test_that("a proved direction is named, however small; its relevance stands apart", {
  small <- compare_configurations(summary_from(write_study(
    fresh_folder(), c(openmpi = 3e-7, mpich = 3.03e-7), bytes = c(1, 64), cv = 0.001
  )))
  expect_identical(small$verdict, rep("slower", 2L))
  expect_identical(small$relevance, rep("negligible", 2L))
  expect_identical(
    say_verdict(data.table::data.table(verdict = "slower", at_least = 0.0085, at_most = 0.011)),
    "slower by at least 0.85 %"
  )
})

test_that("other questions take no verdict away", {
  three <- c(openmpi = 3e-7, mpich = 3.9e-7, mpi3 = 3.4e-7)
  folder <- write_study(fresh_folder(), three, blocks = 6L, cv = 0.03)
  alone <- compare_configurations(summary_from(folder))
  for (i in 1:6) {
    write_study(
      folder, 0 * three + 3e-7, blocks = 6L, cv = 0.03, seed = 10L + i,
      experiment = paste0("equal", i), operation = paste0("equal", i)
    )
  }
  # The same operation over another transport is another question.
  write_study(folder, 0 * three + 3e-7, blocks = 6L, cv = 0.03, seed = 20L, transports = "tcp")
  many <- compare_configurations(summary_from(folder))
  expect_gt(nrow(many), 6L * nrow(alone))
  own <- many[operation == "pingpong" & transport == "shm"]
  columns <- intersect(names(alone), names(own))
  expect_equal(own[, ..columns], alone[, ..columns], ignore_attr = TRUE)
  expect_identical(fastest_of(own)$winner, fastest_of(alone)$winner)
  expect_gt(sum(nzchar(fastest_of(many)[operation == "pingpong"]$winner)), 0L)
  expect_identical(unique(many[transport == "tcp"]$operation), "pingpong")
})

test_that("bars and verdicts are of one interval, which has the level it says", {
  for (blocks in 5:9) {
    compared <- compare_configurations(summary_from(write_study(
      fresh_folder(), c(openmpi = 3e-7, mpich = 3.3e-7),
      blocks = blocks, cv = 0.02
    )))
    data <- attr(plot_difference(compared), "data")
    decided <- data$verdict %in% c("faster", "slower")
    expect_identical(decided, data$high < 1 | data$low > 1)
    expect_true(all(data$ratio >= data$low & data$ratio <= data$high))
    expect_true(all(data$confidence >= 0.95))
  }
})

test_that("a lost launch costs its block and no pairing", {
  folder <- write_study(fresh_folder(), MPIS, bytes = 1)
  unlink(list.files(folder, "mpich.*003[.]", recursive = TRUE, full.names = TRUE))
  compared <- compare_configurations(summary_from(folder))
  expect_true(compared$paired)
  expect_identical(c(compared$n_a, compared$n_b, compared$left_out), c(9L, 9L, 1L))
  expect_match(compared$note, "1 launch of blocks that lack the other configuration is left out")
})

test_that("late blocks of one side alone, as drift makes them, are no difference", {
  # All times double during the study; the second library was stopped after ten of thirty blocks.
  folder <- write_study(
    fresh_folder(), c(openmpi = 3e-7, mpich = 3e-7), bytes = 1, cv = 0.01, seed = 2L
  )
  late <- write_study(
    fresh_folder(), c(openmpi = 6e-7, mpich = 6e-7), bytes = 1, cv = 0.01, blocks = 30L
  )
  for (file in list.files(late, "openmpi.*0[1-3][1-9][.]|openmpi.*0[23]0[.]",
    recursive = TRUE, full.names = TRUE
  )) {
    if (grepl("openmpi.*0(1[1-9]|2|30)", file)) {
      file.copy(file, sub(late, folder, file, fixed = TRUE))
    }
  }
  compared <- compare_configurations(summary_from(folder))
  expect_identical(compared$left_out, 20L)
  expect_equal(compared$ratio, 1, tolerance = 0.02)
  expect_true(compared$verdict %in% c("within", "not settled"))
})

# Two MPIs; the second was observed with one other difference.
differing <- function(change) {
  folder <- write_study(fresh_folder(), MPIS, bytes = 1, blocks = 6L)
  for (file in list.files(folder, "mpich.*json$", recursive = TRUE, full.names = TRUE)) {
    edit_json(file, change)
  }
  summary_from(folder)
}

test_that("other cores, hosts, transports or stacks are refused with the difference", {
  refused <- function(change, what) {
    error <- expect_error(
      compare_configurations(differing(change)), class = "cotejo_not_comparable"
    )
    expect_match(conditionMessage(error), what, fixed = TRUE)
    expect_false(grepl("\n", conditionMessage(error), fixed = TRUE))
  }
  refused(function(d) {
    d$observed$ranks[[2L]]$cpus <- "3"
    d
  }, "processors of the ranks: 0|3 (mpich), 0|1 (openmpi)")
  refused(function(d) {
    d$observed$ranks[[2L]]$cores <- list(7L)
    d
  }, "cores of the ranks: 0|7 (mpich), 0|1 (openmpi)")
  refused(function(d) {
    d$observed$ranks[[1L]]$host <- "other"
    d
  }, "hosts: other|node (mpich), node|node (openmpi)")
  refused(function(d) {
    d$reported$transport <- "tcp"
    d
  }, "transport reported by the library: tcp (mpich), shm (openmpi)")
  refused(function(d) {
    d$provenance$stack$lock_sha256 <- "beef"
    d
  }, "stack: beef (mpich), feed (openmpi)")
  refused(function(d) {
    if (d$asked$launch == 3L) d$observed$mpi$library <- "mpich 2.0"
    d
  }, "mpich is 2 MPI libraries: mpich 1.0, mpich 2.0")
})

test_that("what is refused is listed where the caller wants it so", {
  summary <- differing(function(d) {
    d$observed$ranks[[2L]]$cpus <- "3"
    d
  })
  compared <- compare_configurations(summary, refused = "list")
  expect_identical(nrow(compared), 0L)
  expect_match(refused_pairs(summary)$why, "processors of the ranks", fixed = TRUE)
})

test_that("placements that were observed to differ are compared when placement is the question", {
  folder <- fresh_folder()
  for (block in 1:6) {
    for (far in c(FALSE, TRUE)) {
      times <- matrix(c(1, 1.01, 0.99) * (if (far) 2e-7 else 1e-7) * (1 + block / 100))
      description <- make_description(
        launch = block, placement = if (far) "far" else "near", cpus = if (far) c(0, 8) else 0:1
      )
      write_launch(folder, description, make_samples(1, times))
    }
  }
  compared <- compare_configurations(summary_from(folder), by = "placement")
  expect_identical(c(compared$a, compared$b), c("far", "near"))
  expect_equal(compared$ratio, 2, tolerance = 1e-9)
})

test_that("hosts and processors that nobody observed prove nothing", {
  launches <- read_results(one_launch()$folder)$launches
  unseen <- data.table::copy(launches)[, observed_cpus := NA_character_]
  expect_identical(comparable(launches, unseen), "processors of the ranks: not observed")
  expect_true(comparable(launches, launches))
})

test_that("two tools are compared on the same MPI", {
  folder <- fresh_folder()
  write_study(folder, MPIS, bytes = 1)
  write_study(
    folder, MPIS * 1.2,
    bytes = 1, experiment = "imb", operation = "imb-pingpong", seed = 2L,
    parameters = list(benchmark = "PingPong")
  )
  agreed <- compare_tools(summary_from(folder))
  expect_identical(agreed$mpi, c("mpich", "openmpi"))
  expect_identical(agreed$a, rep("imb-pingpong", 2L))
  expect_equal(agreed$ratio, c(1.2, 1.2), tolerance = 0.05)
})

test_that("so many launches as are asked for settle a comparison that is not settled", {
  # Six launches: the number is estimated only from the study itself, continued by resampling.
  set.seed(11L)
  sizes <- 4L
  draw <- function(n, effect) {
    effect + 0.07 * (stats::rnorm(n) + matrix(stats::rnorm(n * sizes), n)) / sqrt(2)
  }
  verdicts <- function(d) {
    curve <- paired_curve(d)
    judge(exp(curve$low), exp(curve$high), 0.03)
  }
  forecast <- function(d, open) {
    curve <- paired_curve(d)
    with_seed(1L, units_to_settle(
      6L, continue_blocks(d), open, 1 - curve$confidence[open], 0.1
    ))
  }
  open <- Filter(\(d) verdicts(d)[[1L]] == "not settled", replicate(80L, draw(6L, 0.04), FALSE))
  more <- vapply(open, forecast, 0, 1L)
  expect_identical(forecast(open[[1L]], 1L), more[[1L]])
  settled <- mapply(function(d, add) verdicts(rbind(d, draw(add, 0.04)))[[1L]], open, more)
  expect_gt(mean(settled != "not settled"), 0.65)
  # The forecast must not be many times the needed number.
  needed <- Position(function(n) {
    mean(replicate(60L, verdicts(draw(n, 0.04))[[1L]]) != "not settled") >= 0.8
  }, 7:40) + 6L
  expect_lt(stats::median(6 + more), 1.6 * needed)
  expect_gt(stats::median(6 + more), 0.6 * needed)
  expect_match(say_more(Inf), "^more than 200 more launches would be needed")
})

test_that("the blocks that a width is said to need bring it there about as often as said", {
  set.seed(12L)
  sizes <- 4L
  draw <- function(n) 0.07 * (stats::rnorm(n) + matrix(stats::rnorm(n * sizes), n)) / sqrt(2)
  width <- function(d) with(paired_curve(d), expm1((high - low) / 2))
  ends <- replicate(60L, {
    d <- draw(8L)
    open <- which(width(d) > 0.03)
    more <- blocks_to_narrow(
      8L, continue_blocks(d), open, rep(0.05, length(open)), 0.03, width_of_tests
    )
    c(more = more, reached = max(width(rbind(d, draw(min(more, 200))))) <= 0.03)
  })
  expect_gt(mean(ends["reached", ]), 0.6)
  needed <- Position(\(n) mean(replicate(60L, max(width(draw(n))) <= 0.03)) >= 0.8, 10:60) + 9L
  expect_lt(stats::median(8 + ends["more", ]), 1.6 * needed)
  expect_gt(stats::median(8 + ends["more", ]), 0.6 * needed)
})

# Two MPIs with a different ratio in each session.
in_sessions <- function(factors, ..., blocks = 10L) {
  folder <- fresh_folder()
  for (i in seq_along(factors)) {
    write_study(
      folder, c(openmpi = 3e-7, mpich = 3e-7 * factors[[i]]),
      bytes = 1, seed = i, blocks = blocks, session = sprintf("2026112%dT070000Z", i), ...
    )
  }
  compare_configurations(summary_from(folder))
}

test_that("a verdict says of which sessions it is", {
  one <- in_sessions(1.5)
  expect_identical(c(one$verdict, one$scope), c("slower", "in this session"))
  # Sessions that agree on the sign: the verdict holds for these sessions, not for others.
  differ <- in_sessions(c(1.1, 1.5))
  expect_identical(differ$sessions, 2L)
  expect_identical(c(differ$verdict, differ$scope), c("slower", "in these 2 sessions"))
  expect_gt(differ$session_spread, 0.1)
  agree <- in_sessions(c(1.5, 1.5, 1.5))
  expect_identical(c(agree$verdict, agree$scope), c("slower", "over 3 sessions"))
  expect_equal(agree$session_ratio, 1.5, tolerance = 0.03)
})

test_that("node sets are a level as sessions are: a verdict says on which it holds", {
  # Launches of two hosts each, both libraries of a block on the same nodes, in any order of ranks.
  on_sets <- function(sets, factors = rep(1.5, length(sets)), blocks = 18L) {
    summary <- summary_from(write_study(
      fresh_folder(), c(openmpi = 3e-7, mpich = 3e-7), bytes = 1, blocks = blocks
    ))
    at <- summary$launch %% length(sets) + 1L
    set(summary, j = "observed_hosts", value = sets[at])
    set(summary, j = "hosts", value = 2L)
    slow <- which(summary$mpi == "mpich")
    set(summary, slow, "median_s", summary$median_s[slow] * factors[at[slow]])
    compare_configurations(summary)
  }
  one <- on_sets(c("a|b", "b|a"))
  expect_identical(c(one$nodes, one$verdict), c("1", "slower"))
  expect_identical(one$scope, "in this session, on these nodes")
  three <- on_sets(c("a|b", "c|d", "e|f"))
  expect_identical(c(three$verdict, three$scope), c("slower", "in this session, over 3 node sets"))
  expect_gt(three$nodes_low, 1)
  # Nodes that disagree on the size: the verdict holds for these nodes, not for others.
  differ <- on_sets(c("a|b", "c|d"), c(1.1, 1.9))
  expect_identical(
    c(differ$verdict, differ$scope), c("slower", "in this session, on these 2 node sets")
  )
  expect_lt(differ$nodes_low, 1)
})

test_that("sides that share no session are not settled, until each has three", {
  apart <- function(sessions, factor = 1.5) {
    folder <- fresh_folder()
    for (i in seq_len(2L * sessions)) {
      base <- if (i %% 2L) c(openmpi = 3e-7) else c(mpich = 3e-7 * factor)
      write_study(
        folder, base * (1 + i / 200), bytes = 1, seed = i, blocks = 6L,
        session = sprintf("2026112%dT070000Z", i)
      )
    }
    compare_configurations(summary_from(folder))
  }
  one <- apart(1L)
  expect_identical(c(one$verdict, one$scope), c("not settled", "between sessions"))
  expect_match(one$note, "^the sessions differ: measure both in the same blocks, or in 3 sessions")
  expect_identical(cells_of_comparison(one)[["First is"]], paste("not settled:", one$note))
  expect_identical(answer(one)[[1L]]$open$text, "MPICH and Open MPI at 1 B: the sessions differ")
  three <- apart(3L)
  expect_identical(c(three$verdict, three$method), c("slower", "Welch's test over sessions"))
  expect_identical(apart(3L, 1.001)$verdict %in% c("within", "not settled"), TRUE)
})

test_that("a verdict that the medians beside it contradict is explained", {
  folder <- write_study(
    fresh_folder(), c(openmpi = 1e-6, mpich = 1e-6), blocks = 30L, bytes = c(1, 1024), cv = 0.002
  )
  summary <- summary_from(folder)
  agreeing <- compare_configurations(copy(summary)[mpi == "openmpi", median_s := 1.4 * median_s])
  expect_false(any(against_medians(agreeing)))
  expect_length(answer(agreeing)[[1L]]$warnings, 0L)
  # Open MPI is 2 % faster at the median, and takes 40 % longer in 13 launches of 30.
  summary[mpi == "openmpi", median_s := 0.98 * median_s]
  summary[mpi == "openmpi" & launch <= 13L, median_s := 1.4 * median_s]
  found <- compare_configurations(summary)
  expect_identical(paste(found$a, found$verdict), rep("mpich faster", 2L))
  expect_true(all(found$median_a_s > found$median_b_s))
  said <- paste(
    "at 1 B, 1 KiB the medians of MPICH and Open MPI do not have the order of the verdict. It is",
    "about the typical ratio of two launches of a block, to which all launches contribute"
  )
  card <- answer(found)[[1L]]
  expect_identical(card$warnings, c(`medians in another order` = said))
  expect_true(paste("Warning:", said) %in% card$lines)
  expect_match(cells_of_comparison(found)[["First is"]], "; the medians point the other way$")
})

test_that("where sessions contradict one another, sessions are what lacks", {
  against <- in_sessions(c(0.85, 1.25, 0.9, 1.2))
  expect_identical(against$verdict, "not settled")
  expect_true(is.na(against$more_launches))
  expect_gte(against$more_sessions, 1)
  expect_match(
    say_more(against$more_launches, against$more_sessions), "more sessions? would likely settle it"
  )
})

test_that("a second session never undoes what the first one showed by its number alone", {
  # Two launches per session; each session shows the effect clearly.
  expect_identical(in_sessions(c(1.5, 1.5), blocks = 4L)$verdict, "slower")
})

test_that("the fastest is the one that every verdict calls faster, whatever else is asked", {
  rows <- function(bytes, a, b, verdict) {
    data.table::data.table(
      test = "t", bytes = bytes, a = a, b = b, verdict = verdict, relevance = "relevant"
    )
  }
  three <- rows(
    1, c("intel", "intel", "mpich"), c("mpich", "openmpi", "openmpi"),
    c("slower", "slower", "not settled")
  )
  expect_identical(fastest_of(three)$winner, "")
  three$verdict[[3L]] <- "slower"
  expect_identical(fastest_of(three)$winner, "openmpi")
  # A difference that is shown to be negligible is no reason to choose a library.
  three$relevance[[3L]] <- "negligible"
  expect_identical(fastest_of(three)$winner, "")
  three$verdict[[2L]] <- "not tested"
  expect_identical(fastest_of(three)$winner, "")
  others <- rows(2:400, "mpich", "openmpi", "not settled")
  both <- fastest_of(rbind(rows(1, "mpich", "openmpi", "faster"), others))
  expect_identical(both[bytes == 1]$winner, "mpich")
  expect_identical(unique(both[bytes > 1]$winner), "")
})

test_that("undisturbed times find what medians of a restless machine do not", {
  set.seed(4L)
  folder <- fresh_folder()
  for (block in seq_len(12L)) {
    for (mpi in c("mpich", "openmpi")) {
      # In most launches, other work takes a share of the core for most of the samples.
      disturbed <- stats::runif(20L) < stats::runif(1L, 0.2, 0.8)
      quiet <- 1e-6 * (if (mpi == "mpich") 1 else 1.05)
      times <- quiet * (1 + 0.01 * stats::runif(20L)) * (1 + disturbed * stats::runif(1L, 0, 1))
      write_launch(
        folder, make_description(mpi = mpi, launch = block), make_samples(8, as.matrix(times))
      )
    }
  }
  summary <- summarise_launches(read_results(folder))
  medians <- compare_configurations(summary)
  quiet <- compare_configurations(by_time(summary, "undisturbed time"))
  expect_identical(medians$verdict, "not settled")
  expect_identical(quiet$verdict, "faster")
  expect_equal(quiet$ratio, 1 / 1.05, tolerance = 0.01)
  both <- compare_verdicts(medians, quiet)
  expect_identical(both$first, "not settled")
  expect_true(both$second %in% SETTLED)
})
