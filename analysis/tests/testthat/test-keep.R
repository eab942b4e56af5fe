# SPDX-License-Identifier: BSD-3-Clause
# Cached comparisons: found again by every caller, never used for other launches or other code.

#' Act as an installed package with the cache in `folder`; returns a function that undoes this.
keeping_in <- function(folder) {
  old <- options(cotejo.cache = folder)
  was <- made$code
  made$code <- strrep("a", 32L)
  function() {
    options(old)
    made$code <- was
    forget()
  }
}

forget <- function() rm(list = ls(kept_pairs), envir = kept_pairs)

files_in <- function(folder) list.files(folder, "[.]rds$", recursive = TRUE)

study_of_two <- function() {
  summarise_launches(read_results(
    write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 6e-7), bytes = c(1, 1024), blocks = 6L)
  ))
}

test_that("a comparison is made once, whoever asks, and is the same from the cache", {
  summary <- study_of_two()
  plain <- compare_configurations(summary)
  cache <- fresh_folder()
  undo <- keeping_in(cache)
  on.exit(undo())
  expect_identical(compare_configurations(summary), plain)
  written <- files_in(cache)
  expect_length(written, 1L)
  forget()
  expect_identical(compare_configurations(summary), plain)
  # Some of the columns and another margin: the launches are the same.
  other <- compare_configurations(narrow(summary), delta = 2)
  expect_identical(other$ratio, plain$ratio)
  expect_false(identical(other$relevance, plain$relevance))
  expect_identical(files_in(cache), written)
})

test_that("other launches and other code are compared anew", {
  summary <- study_of_two()
  cache <- fresh_folder()
  undo <- keeping_in(cache)
  on.exit(undo())
  before <- compare_configurations(summary)
  slower <- data.table::copy(summary)[mpi == "mpich", median_s := 2 * median_s]
  expect_equal(compare_configurations(slower)$ratio, 2 * before$ratio)
  few <- compare_configurations(summary[summary$launch > 1L])
  expect_identical(unique(few$n_a), 5L)
  expect_length(files_in(cache), 3L)
  expect_length(list.files(cache), 1L)
  made$code <- strrep("b", 32L)
  compare_configurations(summary)
  expect_length(list.files(cache), 2L)
})

test_that("only what is not known is made, and many files are joined into one", {
  cache <- fresh_folder()
  undo <- keeping_in(cache)
  on.exit(undo())
  asked <- integer()
  make <- function(wanted) {
    asked <<- c(asked, wanted)
    as.list(10 * wanted)
  }
  expect_identical(from_cache(c("x", "y", "x"), 3L, make), list(10, 20, 10))
  expect_identical(from_cache(c("z", "y"), 2L, make), list(10, 20))
  expect_identical(asked, c(1L, 2L, 1L))
  for (i in seq_len(JOIN_PAIR_FILES)) from_cache(paste("k", i), 1L, make)
  count <- length(files_in(cache))
  forget()
  expect_identical(from_cache(c("k 7", "y"), 2L, make), list(10, 20))
  expect_length(files_in(cache), 1L)
  expect_gt(count, JOIN_PAIR_FILES)
})

test_that("a cache that cannot be written, or is broken, changes nothing", {
  summary <- study_of_two()
  plain <- compare_configurations(summary)
  file <- tempfile()
  file.create(file)
  undo <- keeping_in(file.path(file, "below"))
  on.exit(undo())
  expect_message(found <- compare_configurations(summary), "comparisons are not kept")
  expect_identical(found, plain)
  cache <- fresh_folder()
  options(cotejo.cache = cache)
  compare_configurations(summary)
  writeLines("no RDS", file.path(cache, files_in(cache)))
  forget()
  expect_identical(compare_configurations(summary), plain)
})

test_that("what follows from the same dataset is written once and copied after that", {
  cache <- fresh_folder()
  undo <- keeping_in(cache)
  on.exit(undo())
  calls <- 0L
  write <- function(out, dataset = "one", files = function(value) c("a/b.txt", "c.txt")) {
    kept_files(list("test", dataset = dataset), out, files, function() {
      calls <<- calls + 1L
      dir.create(file.path(out, "a"), recursive = TRUE)
      writeLines(paste0(dataset, ""), file.path(out, "a/b.txt"))
      writeLines("c", file.path(out, "c.txt"))
      calls
    })
  }
  expect_identical(write(fresh_folder()), 1L)
  again <- fresh_folder()
  expect_message(value <- write(again), "nothing has changed")
  expect_identical(value, 1L)
  expect_identical(list.files(again, recursive = TRUE), c("a/b.txt", "c.txt"))
  expect_identical(readLines(file.path(again, "a/b.txt")), "one")
  # Another dataset, an unknown dataset, and results that must not be cached are computed again.
  expect_identical(write(fresh_folder(), "two"), 2L)
  expect_identical(write(fresh_folder(), NULL), 3L)
  for (i in 4:5) expect_identical(write(fresh_folder(), "three", function(value) NULL), i)
  # A folder with a missing or truncated file is no valid copy.
  kept <- function() list.files(cache, "^c[.]txt$", recursive = TRUE, full.names = TRUE)
  unlink(kept())
  expect_identical(write(fresh_folder()), 6L)
  for (file in kept()) file.create(file)
  expect_identical(write(fresh_folder()), 7L)
})

test_that("a full disk is told where files are copied, and sums need no disk", {
  file <- tempfile()
  writeLines("some words", file)
  expect_error(put_copy(file, "/dev/full"), "cannot be written", class = "cotejo_cannot_write")
  before <- sum_of(1)
  with_replaced("put_bytes", function(bytes, file) cannot_write(file), {
    expect_identical(sum_of(1), before)
  })
  expect_false(identical(sum_of(2), before))
})

test_that("of the cache only folders go that we have marked", {
  cache <- fresh_folder()
  undo <- keeping_in(cache)
  on.exit(undo())
  place <- function(kind, sign, after = "") {
    file.path(cache, paste0(kind, "-", strrep(sign, 32L), after))
  }
  theirs <- c(place("drawn", "0"), place("comparisons", "0"))
  half <- place("drawn", "1", "-17")
  ours <- c(place("drawn", "2"), place("comparisons", "2"))
  for (folder in theirs) dir.create(folder)
  for (folder in c(half, ours)) claim_folder(folder)
  Sys.setFileTime(c(theirs, half, ours), Sys.time() - 7200)
  for (i in seq_len(MOST_DRAWN_KEPT)) {
    out <- fresh_folder()
    kept_files(list("test", dataset = i), out, function(value) "x", function() {
      writeLines("x", file.path(out, "x"))
    })
    claim_folder(place("comparisons", letters[[i]]))
  }
  claim_folder(half_now <- place("drawn", "3", "-17"))
  drop_old_drawn(cache)
  drop_old_code(cache)
  expect_true(all(dir.exists(c(theirs, half_now))))
  expect_false(any(dir.exists(c(half, ours))))
})

test_that("the index of a dataset that is drawn again is the same, and was not drawn", {
  dir <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 6e-7), bytes = 1, blocks = 5L)
  undo <- keeping_in(fresh_folder())
  old <- options(cotejo.keeping = 1L)
  on.exit({
    options(old)
    undo()
  })
  draw <- function() {
    out <- fresh_folder()
    said <- capture.output(drawn <- draw_all(dir, out))
    files <- list.files(out, recursive = TRUE)
    list(drawn = drawn, files = files, sums = unname(tools::md5sum(file.path(out, files))))
  }
  first <- suppressMessages(draw())
  forget()
  said <- testthat::capture_messages(again <- draw())
  expect_match(said, "nothing has changed", all = FALSE)
  expect_identical(again, first)
  expect_true(all(c("index.html", "medians.csv") %in% first$files))
  # An exhibit added by a script is drawn, although the dataset and the code are the same.
  exhibit("own-pingpong", "Ping-pong by library",
    data = launches_of("pingpong_quick"), draw = by_size(series = mpi)
  )
  on.exit(registered$rows[["own-pingpong"]] <- NULL, add = TRUE)
  forget()
  expect_true("own/pingpong.svg" %in% suppressMessages(draw())$files)
})

test_that("a folder without files is told from none, and from one with a file", {
  folder <- fresh_folder()
  empty <- sum_of_files(folder)
  expect_false(identical(empty, sum_of_files(NULL)))
  writeLines("x", file.path(folder, "x.csv"))
  expect_false(identical(sum_of_files(folder), empty))
})
