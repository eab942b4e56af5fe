# SPDX-License-Identifier: BSD-3-Clause
# Comparisons: planted differences are found, equal configurations are not called different, and
# what may not be compared is refused with the difference.

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
  expect_lt(compared$p_joint, 0.01)
  expect_identical(compared$cliffs_delta, 1)
})

test_that("the verdict is that of the other side when the MPIs change places", {
  compared <- compare_configurations(
    summary_from(write_study(fresh_folder(), rev(rev(MPIS)) / c(1, 4), bytes = 1))
  )
  expect_identical(compared$verdict, "faster")
  expect_equal(compared$ratio, 0.5, tolerance = 0.05)
})

test_that("equal configurations with little spread are equivalent, never different", {
  equal <- c(openmpi = 3e-7, mpich = 3e-7)
  compared <- compare_configurations(
    summary_from(write_study(fresh_folder(), equal, bytes = c(1, 64, 1024), cv = 0.005))
  )
  expect_identical(compared$verdict, rep("equivalent", 3L))
})

test_that("much spread is undecided and under five launches there is no verdict", {
  equal <- c(openmpi = 3e-7, mpich = 3.1e-7)
  wide <- compare_configurations(
    summary_from(write_study(fresh_folder(), equal, bytes = 1, cv = 0.2, seed = 5L))
  )
  expect_identical(wide$verdict, "undecided")
  few <- compare_configurations(
    summary_from(write_study(fresh_folder(), MPIS, bytes = 1, blocks = 4L))
  )
  expect_identical(few$verdict, NA_character_)
  expect_identical(few$note, "too few launches: 4 and 4, at least 5")
  expect_true(is.na(few$low))
})

test_that("five blocks show no difference and say so; six do", {
  five <- compare_configurations(
    summary_from(write_study(fresh_folder(), MPIS, bytes = 2^(0:8), blocks = 5L))
  )
  expect_identical(unique(five$verdict), "undecided")
  expect_match(five$note[[1L]], "5 blocks cannot show a difference at 5 %: take at least 6")
  expect_false(any(five$joint))
  # The range of five blocks: both of 32 sign flips that leave the truth out.
  expect_equal(unique(five$confidence), 1 - 2 / 32)
  expect_identical(unique(five$more_launches), 1)
  six <- compare_configurations(
    summary_from(write_study(fresh_folder(), MPIS, bytes = 2^(0:8), blocks = 6L))
  )
  expect_identical(unique(six$verdict), "slower")
})

test_that("bars and verdicts are of one interval, which has the level it says", {
  for (blocks in 5:9) {
    compared <- compare_configurations(summary_from(write_study(
      fresh_folder(), c(openmpi = 3e-7, mpich = 3.3e-7),
      blocks = blocks, cv = 0.02
    )))
    data <- attr(plot_difference(compared), "data")
    decided <- data$verdict %in% c("faster", "slower")
    expect_identical(decided, data$joint & (data$high < 1 | data$low > 1))
    expect_true(all(data$ratio >= data$low & data$ratio <= data$high))
    # Of five blocks it is the range: 1 - 2 / 2^5.
    expect_true(all(if (blocks == 5L) data$confidence == 0.9375 else data$confidence >= 0.95))
  }
})

test_that("a lost launch costs its block and no pairing", {
  folder <- write_study(fresh_folder(), MPIS, bytes = 1)
  unlink(list.files(folder, "mpich.*003[.]", recursive = TRUE, full.names = TRUE))
  compared <- compare_configurations(summary_from(folder))
  expect_true(compared$paired)
  expect_identical(c(compared$n_a, compared$n_b, compared$left_out), c(9L, 9L, 1L))
  expect_match(compared$note, "1 launch of blocks that lack the other side is left out")
})

test_that("late blocks of one side alone, as drift makes them, are no difference", {
  # All times double on the way; the second side was stopped after ten of thirty blocks.
  folder <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 3e-7), bytes = 1, cv = 0.01)
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
  expect_true(compared$verdict %in% c("equivalent", "undecided"))
})

# Two MPIs of which the second was observed with one thing else.
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
  agreed <- agree_tools(summary_from(folder))
  expect_identical(agreed$mpi, c("mpich", "openmpi"))
  expect_identical(agreed$a, rep("imb-pingpong", 2L))
  expect_equal(agreed$ratio, c(1.2, 1.2), tolerance = 0.05)
})

test_that("what is undecided says how many launches would decide it, and so many do", {
  # 80 % of curves should be decided with the launches that are asked for. 200 of them have a
  # standard error of 3 points; the normal approximation and the skew of a small sample's spread
  # are left 8 points.
  set.seed(11L)
  spread <- 0.1
  n <- 10L
  more <- launches_to_decide(exp(0.06), spread, n)
  decided <- replicate(200L, {
    d <- matrix(stats::rnorm(n + more, 0.06, spread))
    curve <- paired_curve(d)
    judge(
      exp(curve$low), exp(curve$high), exp(curve$low90), exp(curve$high90), curve$joint,
      curve$joint90, 0.03
    ) != "undecided"
  })
  expect_gt(mean(decided), 0.72)
  expect_lt(mean(decided), 0.92)
  # Twice the spread takes four times the launches.
  few <- launches_to_decide(1.05, 0.1, 20L)
  many <- launches_to_decide(1.05, 0.2, 20L)
  expect_equal((many + 20) / (few + 20), 4, tolerance = 0.05)
  expect_identical(launches_to_decide(1.0001, 0.5, 5L), Inf)
  expect_identical(launches_to_decide(1.01, NA_real_, 4L), NA_real_)
})

# Two MPIs whose ratio each session has its own.
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
  # Sessions that agree on the sign: these are slower; what another one shows is not known.
  differ <- in_sessions(c(1.1, 1.5))
  expect_identical(differ$sessions, 2L)
  expect_identical(c(differ$verdict, differ$scope), c("slower", "in these 2 sessions"))
  expect_gt(differ$session_spread, 0.1)
  agree <- in_sessions(c(1.5, 1.5, 1.5))
  expect_identical(c(agree$verdict, agree$scope), c("slower", "over 3 sessions"))
  expect_equal(agree$session_ratio, 1.5, tolerance = 0.03)
})

test_that("node sets are a level as sessions are: a verdict says on which it holds", {
  # Launches of two hosts each, the sides of a block on the same nodes, in any order of ranks.
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
  # Nodes that do not agree: these are slower, what others show is not known.
  differ <- on_sets(c("a|b", "c|d"), c(1.1, 1.9))
  expect_identical(
    c(differ$verdict, differ$scope), c("slower", "in this session, on these 2 node sets")
  )
  expect_lt(differ$nodes_low, 1)
})

test_that("sides that share no session differ as their sessions do, until each has three", {
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
  expect_identical(c(one$verdict, one$scope), c("differ", "between sessions"))
  expect_match(one$note, "^the sessions differ: measure both in the same blocks, or in 3 sessions")
  three <- apart(3L)
  expect_identical(c(three$verdict, three$method), c("slower", "Welch's test over sessions"))
  expect_identical(apart(3L, 1.001)$verdict %in% c("equivalent", "undecided"), TRUE)
})

test_that("where sessions contradict one another, sessions are what lacks", {
  against <- in_sessions(c(0.85, 1.25, 0.9, 1.2))
  expect_identical(against$verdict, "undecided")
  expect_true(is.na(against$more_launches))
  expect_gte(against$more_sessions, 1)
  expect_match(
    say_more(against$more_launches, against$more_sessions), "more sessions would likely decide"
  )
})

test_that("a second session never undoes what the first one showed by its number alone", {
  # Two launches a session in each of which the effect is plain.
  expect_identical(in_sessions(c(1.5, 1.5), blocks = 4L)$verdict, "slower")
})

test_that("the fastest of a study is said at a false discovery rate over all its claims", {
  rows <- function(bytes, p) {
    data.table::data.table(
      test = "t", bytes = bytes, a = "mpich", b = "openmpi", ratio = 0.9, p_joint = p,
      verdict = "faster", joint = TRUE
    )
  }
  alone <- fastest_of(rows(1, 0.04))
  expect_identical(alone$winner, "mpich")
  # Among thirty claims of which none else has anything, one p of 4 % is chance.
  others <- rows(2:30, 1)
  others[, verdict := "undecided"]
  many <- fastest_of(rbind(rows(1, 0.04), others))
  expect_identical(unique(many$winner), "")
  expect_identical(unique(many$claims), 30L)
  expect_equal(many$q[[1L]], 1, tolerance = 1e-9)
  # Claims of five launches, which cannot be made, cost the others nothing.
  others[, joint := FALSE]
  can <- fastest_of(rbind(rows(1, 0.04), others))
  expect_identical(can$winner[[1L]], "mpich")
  expect_identical(unique(can$claims), 1L)
})

test_that("undisturbed times find what medians of a restless machine do not", {
  set.seed(4L)
  folder <- fresh_folder()
  for (block in seq_len(12L)) {
    for (mpi in c("mpich", "openmpi")) {
      # In most launches something else takes a share of the core for most of the samples.
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
  expect_identical(medians$verdict, "undecided")
  expect_identical(quiet$verdict, "faster")
  expect_equal(quiet$ratio, 1 / 1.05, tolerance = 0.01)
  both <- compare_verdicts(medians, quiet)
  expect_identical(c(both$open, both$settled, both$turned), c(TRUE, TRUE, FALSE))
})

test_that("before and after are compared cell by cell, with exactly the named difference", {
  version <- function(factor, library, sessions = 1L, kernel = "6.1.0") {
    folder <- fresh_folder()
    for (i in seq_len(sessions)) {
      write_study(folder, MPIS * factor * (1 + i / 500),
        bytes = c(1, 64), blocks = 6L, seed = i + round(100 * factor),
        session = sprintf("2026112%dT070000Z", i)
      )
    }
    for (file in list.files(folder, "json$", recursive = TRUE, full.names = TRUE)) {
      edit_json(file, function(d) {
        d$observed$mpi$library <- paste(d$asked$mpi, library)
        d$provenance$stack$lock_sha256 <- library
        d$observed$node$kernel <- kernel
        d
      })
    }
    folder
  }
  old <- version(1, "1.0")
  new <- version(0.8, "2.0")
  found <- suppressMessages(compare_folders(old, new, "mpi"))
  expect_identical(nrow(found), 4L)
  expect_identical(unique(c(found$a, found$b)), c("after", "before"))
  expect_equal(found[bytes == 1]$ratio, c(0.8, 0.8), tolerance = 0.05)
  # One session a side: what differs may be the day.
  expect_identical(unique(found$verdict), "differ")
  nothing <- suppressMessages(compare_folders(old, new))
  expect_identical(nrow(nothing), 0L)
  why <- function(after, changed) {
    both <- suppressMessages(both_folders(old, after, changed))
    refused_pairs(both, "when", allowing = unlist(CHANGES[changed]))$why[[1L]]
  }
  expect_match(why(new, character()), "MPI library: mpich 2.0 (after)", fixed = TRUE)
  kernel <- version(0.8, "2.0", kernel = "6.2.0")
  expect_match(why(kernel, "mpi"), "kernel: 6.2.0 (after), 6.1.0 (before)", fixed = TRUE)
  expect_error(compare_folders(old, new, "weather"), "weather is nothing that may be named")
  three <- suppressMessages(compare_folders(
    version(1, "1.0", 3L), version(0.8, "2.0", 3L), "mpi"
  ))
  expect_identical(unique(three$verdict), "faster")
  out <- file.path(fresh_folder(), "compare.html")
  said <- suppressMessages(utils::capture.output(write_comparison(old, new, out, "mpi")))
  expect_match(said, "the sessions differ from 1 B to 64 B", all = FALSE)
  expect_match(paste(readLines(out), collapse = "\n"), "Said to have changed: mpi", fixed = TRUE)
  # The same folder on both sides is no pair of blocks, and no difference.
  same <- suppressMessages(compare_folders(old, old))
  expect_false(any(same$verdict %in% c("faster", "slower", "differ")))
})
