# SPDX-License-Identifier: BSD-3-Clause
# Summaries are made while samples are read, and cached by dataset; samples are read on request.

MPIS <- c(openmpi = 3e-7, mpich = 6e-7)

test_that("summaries of parts are those of the whole", {
  folder <- write_study(fresh_folder(), MPIS, bytes = c(1, 1024), blocks = 3L)
  whole <- read_results(folder)
  old <- options(cotejo.forking = 1L, cotejo.cores = 2L)
  on.exit(options(old))
  study <- read_study(folder)
  expect_null(study$samples)
  expect_equal(summarise_launches(study)[, !"file"], summarise_launches(whole)[, !"file"])
})

test_that("samples of some launches are read when something asks for them", {
  folder <- write_study(fresh_folder(), MPIS, bytes = c(1, 1024), blocks = 3L)
  keys <- read_results(folder)$launches$key[c(2L, 5L)]
  whole <- read_results(folder)
  asked <- samples_of(read_study(folder), keys)
  expect_identical(unique(as.character(asked$key)), keys)
  expect_identical(asked$time_s, samples_of(whole, keys)$time_s)
  expect_identical(nrow(samples_of(whole, character())), 0L)
})

test_that("what is kept is found again, and not when a file has changed or another code reads", {
  folder <- write_study(fresh_folder(), MPIS, bytes = 1, blocks = 2L)
  cache <- fresh_folder()
  path <- file.path(cache, "x.rds")
  study <- read_summaries(folder)
  keep_summaries(study, path)
  expect_identical(readRDS(path)$summary$median_s, study$summary$median_s)
  for (i in 1:9) keep_summaries(1, file.path(cache, paste0(strrep("a", 31L), i, ".rds")))
  expect_lte(length(list.files(cache, "^a+[0-9].rds$")), MOST_KEPT)
  old <- options(cotejo.cache = FALSE)
  on.exit(options(old))
  expect_null(kept_of(folder))
})

test_that("a cache that cannot be written or read is no error", {
  folder <- write_study(fresh_folder(), MPIS, bytes = 1, blocks = 2L)
  file <- tempfile()
  file.create(file)
  expect_message(keep_summaries(list(), file.path(file, "x.rds")), "summaries are not kept")
})

test_that("comparisons need no more of a summary than a few columns", {
  folder <- write_study(fresh_folder(), MPIS, bytes = c(1, 1024), blocks = 6L)
  summary <- summarise_launches(read_results(folder))
  few <- narrow(summary)
  expect_lt(ncol(few), 60L)
  expect_identical(compare_configurations(few), compare_configurations(summary))
  expect_identical(drift_of_blocks(few), drift_of_blocks(summary))
})

test_that("samples of some launches are summarised though others have more columns", {
  folder <- write_study(fresh_folder(), MPIS["mpich"], bytes = 1, blocks = 1L)
  file.copy(test_path("fixtures", "v1", "local"), folder, recursive = TRUE)
  study <- read_study(folder)
  expect_identical(study$roles[["pairs"]], "factor")
  whole <- summarise_launches(study)
  key <- whole$key[is.na(whole$pairs)][[1L]]
  part <- summarise_launches(with_samples(study, samples_of(study, key)))
  expect_identical(part$median_s, whole$median_s[whole$key == key])
  expect_identical(part$factors, "")
  by <- c("key", "operation", "bytes", "pairs")
  expect_identical(nrow(part[whole[, by, with = FALSE], on = by, nomatch = NULL]), 1L)
})
