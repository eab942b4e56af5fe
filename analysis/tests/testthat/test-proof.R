# SPDX-License-Identifier: BSD-3-Clause
# The account of the proof on simulated launches whose truth is known, and the coverage on a few
# simulated studies.

# Launches of a proof: names with injected slowdowns by session, and their times. If a slowdown is
# no share, `as_if` is the share by which launches are slower.
plant_proof <- function(blocks = 10L, cv = 0.01, lie = 0, bytes = c(1, 1024), plants = c(
                          a = "0", b = "0.1", c = "0"
                        ), sessions = c("20271121T070000Z", "20271122T070000Z"),
                        test = "proof_planted", as_if = as.numeric) {
  folder <- fresh_folder()
  set.seed(2L)
  for (session in sessions) {
    here <- if (session == sessions[[1L]]) plants else stats::setNames(rev(plants), names(plants))
    for (block in seq_len(blocks)) {
      for (alias in names(here)) {
        # If `lie` is not 0, the last name without an injected slowdown is slow.
        lies <- here[[alias]] == "0" && alias == max(names(here)[here == "0"])
        real <- if (lies) lie else as_if(here[[alias]])
        times <- vapply(bytes, function(size) {
          (3e-7 + size / 6e9) * (1 + real) * exp(stats::rnorm(1L, 0, cv)) * c(0.999, 1, 1.001)
        }, numeric(3L))
        description <- make_description(
          launch = block, session = session, test = test, parameters = list(alias = alias)
        )
        description$environment <- list(COTEJO_SLOW = here[[alias]])
        write_launch(folder, description, make_samples(bytes, times))
      }
    }
  }
  folder
}

proof_of <- function(folder) {
  summary <- summarise_launches(read_results(folder))
  list(summary = summary, names = planted_names(unique(summary, by = "key")))
}

test_that("planted slowdowns are found whatever their names, and nothing else is", {
  proof <- proof_of(plant_proof())
  expect_identical(sort(unique(proof$names$plant)), c("0", "0.1"))
  trials <- planted_trials(proof$summary, proof$names, "0.1", 10L)
  # Two sessions, two names without a slowdown, two sizes.
  expect_identical(trials$verdict_of_slow, rep("slower", 8L))
  equal <- compare_sets(proof$summary, proof$names, 10L, equal_pairs)
  # One pair of names without a slowdown.
  expect_identical(nrow(equal), 4L)
  families <- alarms_of(equal)
  expect_identical(families$alarm, c(FALSE, FALSE))
})

test_that("the account notices when a side is blamed that is not the slower one", {
  proof <- proof_of(plant_proof(lie = 0.3))
  trials <- planted_trials(proof$summary, proof$names, "0.1", 10L)
  expect_identical(sum(trials$verdict_of_slow == "faster"), 4L)
  families <- alarms_of(compare_sets(proof$summary, proof$names, 10L, equal_pairs))
  expect_identical(families$alarm, c(TRUE, TRUE))
  stopped <- stop_families(proof$summary, proof$names, 10L, 0.2)
  expect_identical(stopped$alarm, c(TRUE, TRUE))
})

test_that("sets of blocks are disjoint, consecutive and whole", {
  expect_identical(unname(sets_of_blocks(c(3L, 1L, 2L, 9L, 7L), 2L)), list(1:2, c(3L, 7L)))
  expect_length(sets_of_blocks(1:9, 10L), 0L)
})

test_that("launches that are lost are others on either side, the same each time", {
  proof <- proof_of(plant_proof(sessions = "20271121T070000Z"))
  lost <- lose_launches(0.2)(proof$summary)
  expect_identical(uniqueN(lost$key), 24L)
  expect_identical(lost$key, lose_launches(0.2)(proof$summary)$key)
  families <- alarms_of(compare_sets(
    proof$summary, proof$names, 10L, equal_pairs, lose_launches(0.2)
  ))
  expect_identical(families$alarm, FALSE)
})

test_that("a study stops when its width is narrow twice, else with its last block", {
  set.seed(3L)
  d <- matrix(stats::rnorm(20L, 0, 0.01), 20L)
  narrow <- stops_at(list(d), function(curve) TRUE)
  expect_identical(narrow, 7L)
  expect_identical(stops_at(list(d), function(curve) FALSE), 20L)
})

test_that("sessions are held against each other by what was planted, not by the names", {
  proof <- proof_of(plant_proof())
  repeated <- prove_repetition(true_names(proof$summary, proof$names), by = "parameter_alias")
  expect_identical(repeated$agree, c(TRUE, TRUE))
  expect_identical(unique(repeated$first), "faster")
})

test_that("sessions that are older than the criteria are not used", {
  frozen <- "2026-11-23T13:30:00Z"
  expect_identical(after_criteria("20261123T132959Z", frozen), FALSE)
  expect_identical(after_criteria("20261123T133000Z", frozen), TRUE)
  folder <- plant_proof(sessions = "20261121T070000Z", blocks = 1L)
  expect_error(suppressMessages(prove(folder)), "newer than its criteria")
})

test_that("intervals hold the truth as often as they say, on a few simulated studies", {
  # 200 studies have a standard error of 1.6 points: the tolerance is 2 points and three of these.
  designs <- COVERED[design == "one session" & blocks %in% c(5L, 7L, 10L) |
    design != "one session" & blocks == 10L]
  kinds <- c("log-normal", "two modes")
  coverage <- prove_coverage(200L, sizes = 4L, kinds = kinds, designs = designs)
  expect_identical(nrow(coverage), 10L)
  expect_true(all(abs(coverage$coverage - coverage$level) <= 0.02 + 3 * 0.016))
  expect_true(all(coverage$alarms <= 0.05 + 3 * 0.016))
})

test_that("the truth is rejected where launches without it would be called different", {
  set.seed(7L)
  truth <- c(-0.1, 0, 0.2)
  for (blocks in c(5L, 8L, 14L)) {
    studies <- lapply(1:60, function(k) simulate_blocks("two modes", blocks, truth))
    asked <- paired_curves(studies)
    none <- paired_curves(lapply(studies, function(d) d - rep(truth, each = blocks)))
    # The level of an interval depends on the other differences; the test of each single size is
    # equal.
    alone <- Map(function(curve) {
      reach <- stats::qt(1 - curve$p / 2, curve$df) * curve$error
      abs(curve$effect) - reach
    }, none)
    expect_lt(max(abs(unlist(alone))), 1e-9)
    expect_equal(lapply(asked, `[[`, "error"), lapply(none, `[[`, "error"), tolerance = 1e-9)
    expect_equal(
      lapply(asked, \(curve) curve$effect - truth), lapply(none, `[[`, "effect"),
      tolerance = 1e-9
    )
    called <- unlist(lapply(none, \(curve) any(curve$q <= ALPHA)))
    expect_lte(mean(called), 0.05 + 3 * 0.028)
  }
})

test_that("intervals hold the truth under stopping by their width", {
  # 250 studies have a standard error of 1.4 points: the tolerance is 2 points and three of these.
  stopped <- prove_stopping(0.8, 250L)
  expect_gt(stopped$blocks, 7.5)
  expect_lt(stopped$blocks, 20)
  expect_gt(stopped$coverage, stopped$level - 0.02 - 3 * 0.014)
})

# Criteria that few launches can judge.
few <- function() {
  criteria <- proof_criteria()
  criteria$false_alarms <- list(designs = c(6L, 10L), families = 2L, at_most = 0.9)
  criteria$incomplete <- list(design = 10L, lost = 0.1, families = 2L, at_most = 0.9)
  criteria$stopping_real <- list(until = 0.03, blocks = 10L, families = 2L, at_most = 0.9)
  criteria$power_within <- list(
    share = 0.1, launches = 10L, bytes = 1024, studies = 2L, variation = 0.06, at_least = 0.8,
    points = 0.1
  )
  criteria$power <- list(share = 0.05, launches = 10L, at_least = 0.95)
  criteria$expected <- list(list(
    plant = "0.1", summary = "median", from = 1024, verdict = "slower", at_least = 0.8,
    never = list("faster", "within the margin"), at_most = 0.05
  ))
  criteria$repetition <- list(agree = 0.95)
  criteria
}

trials_of <- function(proof, criteria) {
  trials_from(do_all(trials_on(proof$summary, proof$names, criteria)))
}

# The goals of trials on launches, without the simulation.
goals_on <- function(folder, criteria = few()) {
  proof <- proof_of(folder)
  found <- suppressMessages(trials_of(proof, criteria))
  # The injected slowdowns of this test have no 30 blocks.
  found$expected <- cbind(time = "median", found$within)
  proof <- c(found, list(repetition = data.table(agree = c(TRUE, TRUE))))
  rbind(
    goals_of_alarms(proof$alarms, criteria),
    goal_of_few("with launches lost", proof$incomplete, criteria$incomplete, 10L),
    goal_of_few("stopping by the width", proof$stopped, criteria$stopping_real, 10L),
    goals_within(proof$within, criteria$power_within),
    goals_expected(proof$expected, criteria$expected),
    goal_of_blame(proof$expected, proof$between, list(at_most = 0.7)),
    goal_of_repetition(proof$repetition, criteria$repetition)
  )
}

test_that("each goal on launches is met where it holds, and can fail", {
  good <- goals_on(plant_proof(bytes = c(1024, 4096)))
  expect_identical(good$goal[!good$met], character())
  # All goals fail: a name without a slowdown is slower, and the name with the slowdown is not.
  bad <- goals_on(
    plant_proof(bytes = c(1024, 4096), lie = 0.5, as_if = function(plant) -0.2)
  )
  expect_identical(
    bad$goal[bad$met], grep("two sessions", bad$goal, value = TRUE)
  )
  expect_false(goal_of_repetition(
    data.table(agree = c(TRUE, FALSE)), few()$repetition
  )$met)
  noisy <- goals_on(plant_proof(bytes = c(1024, 4096), cv = 0.3))
  vary <- grepl("vary more", noisy$goal)
  expect_match(noisy$shown[vary], "the report predicts")
})

test_that("trials are the same in one process as in several", {
  proof <- proof_of(plant_proof(sessions = "20271121T070000Z"))
  trials <- function(cores) {
    before <- options(cotejo.cores = cores)
    on.exit(options(before))
    trials_of(proof, few())
  }
  both <- trials(2L)
  expect_identical(lengths(both$alarms) > 0L, c(
    median = TRUE, `undisturbed time` = TRUE, p95 = TRUE
  ))
  expect_equal(both, trials(1L))
})

test_that("a power that is predicted is found", {
  set.seed(5L)
  hits <- replicate(150L, {
    d <- matrix(stats::rnorm(10L, log(1.1), 0.1), 10L)
    paired_curve(d)$low > 0
  })
  expect_lt(abs(mean(hits) - power_of_test(log(1.1), 0.1 / sqrt(10), 9)), 0.12)
})

test_that("what is not shown has its cause beside it, by a control", {
  # Launches that hardly differ, and launches that do.
  criteria <- list(list(
    plant = "0.1", summary = "median", from = 0, verdict = "slower", at_least = 0.8,
    never = list("faster"), at_most = 0.05
  ))
  found <- lapply(c(calm = 0.005, noisy = 0.5), function(cv) {
    proof <- proof_of(plant_proof(blocks = 30L, sessions = "20271121T070000Z", cv = cv))
    summary <- narrow(proof$summary)
    set(summary, j = "parameter_alias", value = proof$summary$parameter_alias)
    added_trials(summary, proof$names, criteria)
  })
  rate <- function(trials, of) mean(trials[plant == of]$verdict == "slower")
  expect_identical(rate(found$calm, "0.1"), 1)
  expect_lt(rate(found$noisy, "0.1"), 0.5)
  half <- with_seed(1L, times_planted("launch:0.5:0.3")(1000L))
  expect_setequal(half, c(1, 1.3))
  expect_lt(abs(mean(half == 1.3) - 0.5), 0.05)
  expect_identical(times_planted("levels:0.02:0.3")(2L), c(1.3, 1.3))
  expect_null(times_planted("fixed:2e-6"))
  expect_null(times_planted("tail:0.1:5e-5"))
  trials <- data.table(
    plant = "0.1", time = "median", bytes = 1, verdict_of_slow = "not settled", cluster = 1:9,
    variation = 0.2, predicted = 0.25
  )
  goals <- goals_expected(trials, criteria, found$noisy)
  expect_identical(goals$met, c(FALSE, TRUE))
  expect_match(goals$why[[1L]], "vary by 20.0 %.*predicts 25.0 %.*added to the times")
  expect_identical(goals$why[[2L]], "")
  # The upper bound for 24 clusters without a case is 14 %; 72 clusters would suffice.
  blame <- goal_of_blame(NULL, data.table(
    verdict_of_slow = rep("not settled", 240L), cluster = rep(1:24, 10L)
  ), list(at_most = 0.05))
  expect_false(blame$met)
  expect_match(blame$why, "24 such clusters.*14.2 %; 72 would be needed")
  expect_equal(share_of_clusters(rep(FALSE, 24L), 1:24)[[3L]], 1 - 0.025^(1 / 24))
})

test_that("between hosts a plant that is not found fails, and one that is not there too", {
  trials <- data.table(
    verdict_of_slow = rep(c("slower", "not settled"), c(94L, 6L)), cluster = rep(1:10, 10L)
  )
  criteria <- list(share = 0.05, launches = 30L, at_least = 0.95)
  expect_false(goal_of_power(trials, criteria)$met)
  expect_true(goal_of_power(trials[-(1:4)][, verdict_of_slow := "slower"], criteria)$met)
  none <- goal_of_power(trials[0L], criteria)
  expect_false(none$met)
  expect_match(none$shown, "no session between hosts has 30 blocks")
})

test_that("goals on simulated launches can fail", {
  proof <- list(
    coverage = data.table(
      kind = "two modes", blocks = 7L, lost = 0:1, coverage = c(0.95, 0.96), level = 0.95,
      low = 0.94, high = 0.96, alarms = c(0.05, 0.03), alarms_low = 0.02, alarms_high = 0.06,
      studies = 20000L
    ),
    stopping = data.table(coverage = 0.94, level = 0.95, low = 0.93, high = 0.95)
  )
  goals <- goals_of_simulation(proof, proof_criteria())
  expect_identical(goals$met, c(TRUE, TRUE, TRUE))
  # The cell with the largest deviation is reported with its control.
  expect_match(goals$shown[[1L]], paste(
    "two modes, 7 blocks, 1 lost: 96.0 % hold the truth, 95.0 % is said;",
    "the truth itself is rejected in 3.00 %"
  ), fixed = TRUE)
  # Too wide, with a test that rejects the truth as often as allowed; "too narrow" has no such
  # cause.
  wide <- proof
  wide$coverage <- data.table::copy(proof$coverage)[2L, `:=`(
    coverage = 0.999, low = 0.998, high = 1, alarms = 0.05, alarms_low = 0.04, alarms_high = 0.06
  )]
  wide <- goals_of_simulation(wide, proof_criteria())
  expect_identical(wide$met[[1L]], FALSE)
  expect_match(
    wide$why[[1L]], "1 of 2 cells; the intervals are wider there than their level needs"
  )
  proof$coverage[, c("coverage", "alarms", "alarms_low", "alarms_high") := list(
    0.91, 0.07, 0.06, 0.08
  )]
  proof$stopping[, coverage := 0.9]
  bad <- goals_of_simulation(proof, proof_criteria())
  expect_identical(bad$met, c(FALSE, FALSE, FALSE))
  expect_identical(bad$why, c("", "", ""))
})

test_that("a planted 5 % is found on simulated launches as often as it is to be", {
  # 30 studies of nine sizes; the bench uses 500.
  expect_gt(prove_power(repeats = 30L)[[1L]], 0.9)
  expect_lt(prove_power(share = 0.005, repeats = 10L)[[1L]], 0.5)
})

test_that("ten launches of twelve sizes find a planted 10 %", {
  # Ratios of blocks that differ by 6 %. By Holm's correction ten blocks of twelve sizes find it
  # only where all ten agree. 60 studies have a standard error of 5 points.
  found <- prove_power(0.1, 10L, spread = 0.06 / sqrt(2), repeats = 60L, sizes = 12L)
  expect_gt(found[[1L]], 0.8 - 3 * 0.05)
})

test_that("the page says what is shown and what is not yet", {
  folder <- plant_proof(blocks = 11L)
  out <- file.path(fresh_folder(), "proof.html")
  goals <- NULL
  suppressMessages(utils::capture.output(goals <- write_proof(folder, out, repeats = 20L)))
  # A goal that cannot be judged is not met: 200 families, 30 launches and hosts are missing.
  unjudged <- grepl("no session|no such|no other", goals$shown) | grepl("200 families", goals$goal)
  expect_gt(sum(unjudged), 20L)
  expect_false(any(goals$met[unjudged]))
  expect_true(goals$met[grepl("two sessions", goals$goal)])
  page <- paste(readLines(out), collapse = "\n")
  for (text in c("Nothing differs", "NOT SHOWN", "Coverage of the intervals", "criteria frozen")) {
    expect_match(page, text)
  }
  expect_false(grepl("(src|href)=\"(http|//)", page))
})

test_that("a launch that does not say what was planted is no launch of a proof", {
  launches <- read_results(write_study(fresh_folder(), c(openmpi = 1e-6), blocks = 1L))$launches
  expect_error(planted_names(launches), "COTEJO_SLOW")
})

test_that("false alarms of one set of blocks are one, not as many as its families", {
  # Ten sets of twenty families: all alarms in one set, or the same number spread over the sets.
  set <- rep(1:10, each = 20L)
  together <- share_of_clusters(set == 1L, set)
  apart <- share_of_clusters(rep(c(TRUE, rep(FALSE, 9L)), 20L), set)
  expect_equal(c(together[[1L]], apart[[1L]]), c(0.1, 0.1))
  expect_gt(together[[3L]], 0.35)
  expect_lt(apart[[3L]], 0.16)
  # No alarm in one single cluster counts as one trial.
  expect_gt(share_of_clusters(rep(FALSE, 50L), rep(1L, 50L))[[3L]], 0.9)
})
