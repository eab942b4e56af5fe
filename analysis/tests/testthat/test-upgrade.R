# SPDX-License-Identifier: BSD-3-Clause
# Decisions on an upgrade: comparisons, refusals, and the exit status.

MPIS <- c(openmpi = 3e-7, mpich = 6e-7)

# Results of libraries whose times are multiplied by `factor`, from the day `day` of a month on.
version <- function(factor, library, sessions = 1L, kernel = "6.1.0", noise = 0.01, blocks = 6L,
                    day = 1L, ...) {
  folder <- fresh_folder()
  for (i in seq_len(sessions)) {
    write_study(folder, MPIS * factor * (1 + i / 500),
      bytes = c(1, 64), blocks = blocks, seed = i + round(100 * factor), cv = noise,
      session = sprintf("202611%02dT070000Z", day + i), ...
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

# The printed lines of the command; its exit status is the attribute `status`.
decision <- function(...) {
  out <- file.path(fresh_folder(), "compare.html")
  status <- NULL
  said <- suppressMessages(utils::capture.output(status <- write_comparison(..., out_file = out)))
  structure(said, status = status, page = out)
}

test_that("before and after are compared cell by cell, with exactly the named difference", {
  old <- version(1, "1.0")
  new <- version(0.8, "2.0")
  found <- suppressMessages(compare_folders(old, new, "mpi"))
  expect_identical(nrow(found), 4L)
  expect_identical(unique(c(found$a, found$b)), c("after", "before"))
  expect_equal(found[bytes == 1]$ratio, c(0.8, 0.8), tolerance = 0.05)
  # One session before and one after: the difference may come from the day.
  expect_identical(unique(found$verdict), "not settled")
  expect_true(all(by_sessions(found)))
  expect_identical(nrow(suppressMessages(compare_folders(old, new))), 0L)
  why <- function(after, changed) {
    both <- suppressMessages(both_folders(old, after, changed))
    refused_pairs(both, "when", allowing = unlist(CHANGES[changed]))$why[[1L]]
  }
  expect_match(why(new, character()), "MPI library: mpich 2.0 (after)", fixed = TRUE)
  kernel <- version(0.8, "2.0", kernel = "6.2.0")
  expect_match(why(kernel, "mpi"), "kernel: 6.2.0 (after), 6.1.0 (before)", fixed = TRUE)
  expect_error(compare_folders(old, new, "weather"), "CHANGED=weather: unknown; choose from mpi")
})

test_that("the same launches, and a change that did not happen, are refused", {
  old <- version(1, "1.0", 2L)
  expect_error(
    suppressMessages(compare_folders(old, old)), "hold the same launches",
    class = "cotejo_not_comparable"
  )
  again <- version(1.01, "1.0", 2L)
  expect_error(
    suppressMessages(compare_folders(old, again, "mpi")),
    "CHANGED=mpi, but the MPI library is the same before and after: mpich 1.0, openmpi 1.0",
    class = "cotejo_not_comparable"
  )
  # Results from before the upgrade may be in the same folder as those from after it.
  new <- version(0.8, "2.0", 3L, day = 20L)
  alone <- suppressMessages(compare_folders(old, new, "mpi"))
  file.copy(file.path(old, "local"), new, recursive = TRUE)
  expect_equal(suppressMessages(compare_folders(old, new, "mpi")), alone)
})

test_that("an upgrade is judged by the worst slowdown that its launches allow", {
  old <- version(1, "1.0", 3L)
  faster <- decision(old, version(0.8, "2.0", 3L), changed = "mpi")
  expect_identical(attr(faster, "status"), 0L)
  expect_match(faster, "2 questions: 0 slower by more than 3 %, 0 not settled", all = FALSE)
  expect_match(faster, "MPICH: mpich 1.0 before, mpich 2.0 after", fixed = TRUE, all = FALSE)
  slower <- decision(old, version(1.3, "2.0", 3L), changed = "mpi")
  expect_identical(attr(slower, "status"), 1L)
  expect_match(slower, "slower: MPICH, .* up to 1\\.3", all = FALSE)
  # An accepted slowdown is no slowdown.
  accepted <- decision(old, version(1.3, "2.0", 3L), changed = "mpi", delta = 0.5)
  expect_identical(attr(accepted, "status"), 0L)
  # One session before and one after cannot separate the upgrade from the day.
  days <- decision(version(1, "1.0"), version(1.3, "2.0"), changed = "mpi")
  expect_identical(attr(days, "status"), 2L)
  expect_match(days, paste0(
    "Measure 3 sessions before and 3 after: make study RESULTS=.* ",
    "CELLS='\\^\\(pingpong_quick\\\\[.]mpich\\\\[.]shm\\\\[.]near\\|"
  ), all = FALSE)
})

test_that("launches that vary more after an upgrade are no difference", {
  # Families of eight sizes with the same medians, for many operations. Half of the variance of a
  # launch is common to its sizes.
  families <- 150L
  sizes <- 4^(1:8)
  of <- rep(seq_len(families), each = length(sizes))
  set.seed(16L)
  folder_of <- function(session, blocks, spread) {
    folder <- fresh_folder()
    for (block in seq_len(blocks)) {
      noise <- stats::rnorm(families)[of] + stats::rnorm(length(of))
      time <- 1e-6 * exp(spread * noise / sqrt(2))
      samples <- make_samples(rep(sizes, families), matrix(time, 1L), paste0("bcast.", of))
      write_launch(folder, make_description(launch = block, session = session), samples)
    }
    folder
  }
  before <- folder_of("20261101T070000Z", 30L, 0.01)
  after <- folder_of("20261102T070000Z", 6L, 0.06)
  found <- suppressMessages(compare_folders(before, after))
  expect_identical(uniqueN(found$operation), families)
  expect_identical(c(found$n_a[[1L]], found$n_b[[1L]]), c(6L, 30L))
  # One session before and after: differences of the intervals are counted, whatever the verdict.
  called <- found[, list(any = any(verdict %in% DIRECTIONS | by_sessions(.SD))), by = "operation"]
  expect_lte(mean(called$any), 0.06)
  expect_identical(sum(judge_upgrade(found)$status == "slower"), 0L)
  # A test with the variance of all launches together would call far more of them different.
  all <- suppressMessages(both_folders(before, after, character()))
  pooled <- all[bytes == 4, list(
    p = stats::t.test(log(median_s) ~ when, var.equal = TRUE)$p.value
  ), by = "operation"]
  expect_gt(mean(pooled$p < 0.05), 0.15)
})

test_that("without enough launches the status is 2, and the launches are said that would do", {
  new <- version(1.02, "2.0", noise = 0.2)
  cells <- sprintf("pingpong_quick.%s.shm.near", names(MPIS))
  write_json(list(
    tag = "quick", blocks = 6L, seed = 42L, cells = as.list(cells), begun = "", finished = "",
    reframe_s = 1
  ), file.path(new, "local", "20261102T070000Z", "session.json"))
  open <- decision(version(1, "1.0", noise = 0.2), new, changed = "mpi")
  expect_identical(attr(open, "status"), 2L)
  expect_match(open, paste0(
    "about [0-9]+ launches before and after: make study RESULTS=[^ ]* TAG=quick ",
    "CELLS='[^ ]+' LAUNCHES=[0-9]+ \\([0-9]+ minutes? each\\); likewise RESULTS="
  ), all = FALSE)
  expect_error(
    decision(version(1, "1.0", blocks = 3L), version(1.01, "2.0", blocks = 3L), changed = "mpi"),
    "no configuration has 4 launches before and after", class = "cotejo_not_comparable"
  )
})

test_that("two folders without a common operation are refused in one line", {
  other <- version(1, "2.0", experiment = "bcast", operation = "bcast")
  expect_error(
    decision(version(1, "1.0"), other, changed = "mpi"),
    "^nothing can be compared: the two have no configuration in common$",
    class = "cotejo_not_comparable"
  )
})

test_that("page, table and JUnit file of a decision agree", {
  said <- decision(version(1, "1.0", 3L), version(1.3, "2.0", 3L), changed = "mpi")
  page <- paste(readLines(attr(said, "page")), collapse = "\n")
  expect_match(
    page, "2 questions: 2 slower by more than 3 % (2 if the correction covers all questions)",
    fixed = TRUE
  )
  expect_match(page, "The upgrade changed: mpi.", fixed = TRUE)
  junit <- readLines(sub("html$", "xml", attr(said, "page")))
  expect_match(junit, "tests=\"2\" failures=\"2\" errors=\"0\"", all = FALSE)
  expect_length(grep("<testcase", junit), 2L)
  cells <- data.table::fread(sub("html$", "csv", attr(said, "page")))
  expect_identical(unique(cells$verdict), "slower")
})

test_that("the launches that are said to be needed suffice about as often as said", {
  set.seed(1L)
  settled <- forecast_upgrade(0.03)$settled
  # Two versions without a difference, and with launches that spread by 4 %.
  done <- replicate(150L, {
    sides <- replicate(2L, matrix(stats::rnorm(120L, 0, 0.04)), simplify = FALSE)
    first <- lapply(sides, \(side) side[1:8, , drop = FALSE])
    if (settled(test_independent(first[[1L]], first[[2L]]), 0.05)) {
      return(NA)
    }
    more <- units_to_settle(8L, continue_sides(first), 1L, 0.05, 0.1, settled)
    n <- min(8 + more, 120)
    all <- lapply(sides, \(side) side[seq_len(n), , drop = FALSE])
    settled(test_independent(all[[1L]], all[[2L]]), 0.05)
  })
  expect_gt(mean(done, na.rm = TRUE), 0.7)
  expect_lt(mean(done, na.rm = TRUE), 0.95)
})
