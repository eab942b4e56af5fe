# SPDX-License-Identifier: BSD-3-Clause
# What is kept of comparisons: found again by whoever asks, never for other launches or other code.

#' As an installed package that keeps what it makes in `folder`; returns what undoes it.
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
  # A part of the columns, another margin: the same launches.
  other <- compare_configurations(narrow(summary), delta = 2)
  expect_identical(other$ratio, plain$ratio)
  expect_false(identical(other$verdict, plain$verdict))
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
