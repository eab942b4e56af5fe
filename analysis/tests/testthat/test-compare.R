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
  expect_lt(compared$low, 2)
  expect_gt(compared$high, 2)
  expect_lt(compared$p_holm, 0.01)
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

test_that("equal configurations are called different no more often than alpha says", {
  set.seed(3L)
  verdicts <- unlist(lapply(1:60, function(i) {
    side <- function() {
      medians <- exp(stats::rnorm(40L, 0, 0.05))
      split(
        data.table::data.table(
          session = "s", block = rep(1:10, 4L), median_s = medians, bytes = rep(1:4, each = 10L)
        ), rep(1:4, each = 10L)
      )
    }
    both <- lapply(1:2, function(s) data.table::rbindlist(side()))
    rows <- compare_sizes(both[[1L]], both[[2L]], 0.03, 0.05, 200L, 1L)
    any(rows$verdict %in% c("faster", "slower"))
  }))
  # Families of four sizes, 5 % each at most: more than 8 of 60 have a chance under 1 %.
  expect_lte(sum(verdicts), 8L)
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

test_that("too many sizes for so few launches is said", {
  compared <- compare_configurations(
    summary_from(write_study(fresh_folder(), MPIS, bytes = 2^(0:8), blocks = 5L))
  )
  expect_identical(unique(compared$verdict), "undecided")
  expect_match(compared$note[[1L]], "cannot show a difference over 9 sizes", fixed = TRUE)
})

test_that("incomplete blocks are compared without pairing", {
  folder <- write_study(fresh_folder(), MPIS, bytes = 1)
  unlink(list.files(folder, "mpich.*003[.]", recursive = TRUE, full.names = TRUE))
  compared <- compare_configurations(summary_from(folder))
  expect_false(compared$blocked)
  expect_identical(compared$method, "rank-sum")
  expect_identical(c(compared$n_a, compared$n_b), c(9L, 10L))
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
  expect_match(attr(compared, "refused")$why, "processors of the ranks", fixed = TRUE)
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
  # 80 % of the pairs should be decided with the launches that are asked for; 40 pairs of which
  # fewer than 22 are have a chance under 1 in 1000.
  set.seed(11L)
  decided <- replicate(40L, {
    truth <- 0.05
    cv <- 0.08
    more <- launches_to_decide(
      exp(truth), exp(truth - 1.96 * cv * sqrt(2 / 10)), exp(truth + 1.96 * cv * sqrt(2 / 10)), 10L
    )
    n <- 10L + as.integer(more)
    wilcoxon_independent(exp(stats::rnorm(n, truth, cv)), exp(stats::rnorm(n, 0, cv))) <= 0.05
  })
  expect_gte(sum(decided), 22L)
  # Twice the spread takes four times the launches.
  few <- launches_to_decide(1.05, 1.05 / 1.08, 1.05 * 1.08, 20L)
  many <- launches_to_decide(1.05, 1.05 / 1.08^2, 1.05 * 1.08^2, 20L)
  expect_equal((many + 20) / (few + 20), 4, tolerance = 0.05)
  expect_identical(launches_to_decide(1.0001, 0.5, 2, 5L), Inf)
  expect_identical(launches_to_decide(1.01, NA_real_, NA_real_, 4L), NA_real_)
})

test_that("sessions that contradict one another leave no verdict, those that agree leave theirs", {
  two_sessions <- function(factors) {
    folder <- fresh_folder()
    for (i in 1:2) {
      write_study(
        folder, c(openmpi = 3e-7, mpich = 3e-7 * factors[[i]]), bytes = 1, seed = i,
        session = sprintf("2026112%dT070000Z", i)
      )
    }
    compare_configurations(summary_from(folder))
  }
  differ <- two_sessions(c(1.1, 1.5))
  expect_identical(differ$sessions, 2L)
  expect_identical(differ$verdict, "undecided")
  expect_match(differ$note, "^sessions differ by [0-9.]+ %: over them the ratio is")
  agree <- two_sessions(c(1.5, 1.5))
  expect_identical(agree$verdict, "slower")
  expect_gt(agree$p_sessions, 0.01)
  expect_equal(agree$session_ratio, 1.5, tolerance = 0.03)
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
  medians <- compare_configurations(summary, replicates = 200L)
  quiet <- compare_configurations(undisturbed(summary), replicates = 200L)
  expect_identical(medians$verdict, "undecided")
  expect_identical(quiet$verdict, "faster")
  expect_equal(quiet$hl_ratio, 1 / 1.05, tolerance = 0.01)
  both <- compare_verdicts(medians, quiet)
  expect_identical(c(both$open, both$settled, both$turned), c(TRUE, TRUE, FALSE))
})
