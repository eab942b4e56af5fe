# SPDX-License-Identifier: BSD-3-Clause
# The account of the proof on launches whose truth is planted here, and the coverage on a few
# simulated studies.

# Launches of a proof: names with shares planted by session, times as they then are.
plant_proof <- function(blocks = 10L, cv = 0.01, lie = 0, bytes = c(1, 1024)) {
  folder <- fresh_folder()
  set.seed(2L)
  sessions <- list(
    `20261121T070000Z` = c(a = 0, b = 0.1, c = 0), `20261122T070000Z` = c(a = 0.1, b = 0, c = 0)
  )
  for (session in names(sessions)) {
    shares <- sessions[[session]]
    for (block in seq_len(blocks)) {
      for (alias in names(shares)) {
        share <- shares[[alias]]
        # With a lie, a name with nothing planted is slow.
        real <- if (alias == "c") lie else share
        times <- vapply(bytes, function(size) {
          (3e-7 + size / 6e9) * (1 + real) * exp(stats::rnorm(1L, 0, cv)) * c(0.999, 1, 1.001)
        }, numeric(3L))
        description <- make_description(
          launch = block, session = session, test = "proof_pingpong",
          parameters = list(alias = alias)
        )
        description$environment <- list(COTEJO_SLOW = as.character(share))
        write_launch(folder, description, make_samples(bytes, times))
      }
    }
  }
  folder
}

account_of <- function(folder) {
  summary <- summarise_launches(read_results(folder))
  shares <- planted_shares(unique(summary, by = "key"))
  list(
    summary = summary, shares = shares, equal = prove_equal(summary, shares, 7L),
    trials = power_trials(summary, shares, c(7L, 10L), 1L, 1L)
  )
}

test_that("planted slowdowns are found whatever their names, and nothing else is", {
  account <- account_of(plant_proof())
  expect_identical(sort(unique(account$shares$share)), c(0, 0.1))
  power <- power_of(account$trials, character())
  expect_identical(power$found[power$launches == 10L], 1)
  expect_identical(sum(account$trials$wrong), 0L)
  # Two sessions, two sizes, one pair of names with nothing planted.
  expect_identical(nrow(account$equal), 4L)
  expect_false(any(account$equal$verdict %in% c("faster", "slower")))
})

test_that("the account notices when a side is blamed that is not the slower one", {
  account <- account_of(plant_proof(lie = 0.3))
  expect_gt(sum(account$trials$wrong), 0L)
  expect_true(all(account$equal$verdict %in% c("faster", "slower")))
})

test_that("sessions are held against each other by what was planted, not by the names", {
  summary <- summarise_launches(read_results(plant_proof()))
  shares <- planted_shares(unique(summary, by = "key"))
  repeated <- prove_repetition(true_names(summary, shares), by = "parameter_alias")
  expect_identical(repeated$agree, c(TRUE, TRUE))
  expect_identical(unique(repeated$first), "faster")
})

test_that("intervals hold the truth as often as they say, on a few simulated studies", {
  # 200 studies have a standard error of 1.6 points: 2 points and three of those.
  designs <- COVERED[design == "one session" & blocks %in% c(5L, 7L, 10L) |
    design != "one session" & blocks == 10L]
  kinds <- c("log-normal", "two modes")
  coverage <- prove_coverage(200L, sizes = 4L, kinds = kinds, designs = designs)
  expect_identical(nrow(coverage), 10L)
  expect_true(all(abs(coverage$coverage - coverage$level) <= 0.02 + 3 * 0.016))
  expect_true(all(coverage$alarms <= 0.05 + 3 * 0.016))
  expect_identical(unique(coverage$alarms[coverage$blocks == 5L]), 0)
})

test_that("intervals hold the truth under stopping by their width", {
  # 250 studies have a standard error of 1.4 points: 2 points and three of those.
  stopped <- prove_stopping(0.8, 250L)
  expect_gt(stopped$blocks, 7.5)
  expect_lt(stopped$blocks, 20)
  expect_gt(stopped$coverage, stopped$level - 0.02 - 3 * 0.014)
})

test_that("the page says what is shown and what is not yet", {
  folder <- plant_proof(blocks = 12L)
  out <- file.path(fresh_folder(), "proof.html")
  goals <- NULL
  suppressMessages(utils::capture.output(
    goals <- write_proof(folder, out, repeats = 20L, draws = 1L)
  ))
  # Five by medians, five by undisturbed times, and two.
  expect_identical(nrow(goals), 12L)
  # 30 launches were not made, 200 comparisons neither.
  # What cannot be judged is not shown.
  expect_identical(goals$met[c(1:3, 6:8)], rep(FALSE, 6L))
  expect_match(goals$shown[[2L]], "no session has 30 blocks")
  expect_true(all(goals$met[c(4L, 5L, 9L, 10L, 12L)]))
  page <- paste(readLines(out), collapse = "\n")
  said <- c("A against A", "NOT SHOWN", "Coverage of the intervals", "of [0-9]+ comparisons")
  for (text in said) {
    expect_match(page, text)
  }
  expect_false(grepl("(src|href)=\"(http|//)", page))
})

test_that("power is judged where launches agree well enough for it, and says what is in reach", {
  power <- data.table(
    site = c("calm", "noisy", "weak"), share = 0.05, launches = 30L, found = c(1, 0.1, 0.5),
    trials = 24L
  )
  spread <- data.table(
    site = c("calm", "noisy", "weak"), mpi = "openmpi", bytes = 8, percent = c(1, 16, 1)
  )
  goals <- goals_of_power(power, spread, "30")
  expect_identical(goals$met, c(TRUE, FALSE, FALSE))
  expect_match(goals$shown[[2L]], "differ by 16.0 %, with which 1[0-9].[0-9] % can be found")
  # As often as it says, on launches of which the truth is known.
  set.seed(4L)
  share <- smallest_found(0.1, 30L, 1L)
  found <- replicate(1000L, stats::wilcox.test(
    stats::rnorm(30L, log1p(share), 0.1), stats::rnorm(30L, 0, 0.1)
  )$p.value <= 0.05)
  expect_gt(mean(found), 0.93)
  expect_lt(mean(found), 0.97)
})

test_that("a launch that does not say what was planted is no launch of a proof", {
  launches <- read_results(write_study(fresh_folder(), c(openmpi = 1e-6), blocks = 1L))$launches
  expect_error(planted_shares(launches), "COTEJO_SLOW")
})

test_that("false alarms of one set of blocks are one, not as many as its families", {
  # Ten sets of twenty families: in one set all of them, or as many alarms by themselves.
  set <- rep(1:10, each = 20L)
  together <- share_of_clusters(set == 1L, set)
  apart <- share_of_clusters(rep(c(TRUE, rep(FALSE, 9L)), 20L), set)
  expect_equal(c(together[[1L]], apart[[1L]]), c(0.1, 0.1))
  expect_gt(together[[3L]], 0.35)
  expect_lt(apart[[3L]], 0.16)
  # No alarm in one cluster alone is one trial's worth.
  expect_gt(share_of_clusters(rep(FALSE, 50L), rep(1L, 50L))[[3L]], 0.9)
})
