# SPDX-License-Identifier: BSD-3-Clause
# Packed datasets: complete ones are unpacked, incomplete ones are refused.

pack_one <- function() {
  results <- write_study(fresh_folder(), c(openmpi = 3e-7), bytes = 1, blocks = 2L)
  folder <- fresh_folder()
  dir.create(file.path(folder, "local"))
  archive <- file.path(folder, "local", "20261121T070000Z.tar.xz")
  files <- list.files(file.path(results, "local", "20261121T070000Z"))
  old <- setwd(file.path(results, "local", "20261121T070000Z"))
  on.exit(setwd(old))
  utils::tar(archive, files, compression = "xz", tar = "internal")
  writeLines(
    paste0(sha256(archive), "  local/20261121T070000Z.tar.xz"), file.path(folder, "SHA256SUMS")
  )
  list(folder = folder, archive = archive, results = results)
}

test_that("a packed dataset reads as the results that it was made from", {
  made <- pack_one()
  ours <- read_results(unpack_dataset(made$folder))
  expect_identical(ours$samples, read_results(made$results)$samples)
  expect_identical(unpack_dataset(made$results), made$results)
})

test_that("a damaged dataset is refused with the archive's name", {
  made <- pack_one()
  bytes <- readBin(made$archive, "raw", file.size(made$archive))
  bytes[[length(bytes)]] <- xor(bytes[[length(bytes)]], as.raw(1))
  writeBin(bytes, made$archive)
  expect_error(
    unpack_dataset(made$folder), "20261121T070000Z.tar.xz: missing, or its checksum differs",
    class = "cotejo_bad_data"
  )
  unlink(made$archive)
  expect_error(unpack_dataset(made$folder), "missing", class = "cotejo_bad_data")
})

test_that("a file that stays as it is is summed once, one that was just written each time", {
  file <- tempfile()
  before <- names(known_sums)
  writeLines("one", file)
  first <- sha256(file)
  writeLines("two", file)
  expect_false(sha256(file) == first)
  expect_setequal(names(known_sums), before)
  Sys.setFileTime(file, Sys.time() - 60)
  sha256(file)
  new <- setdiff(names(known_sums), before)
  expect_length(new, 1L)
  assign(new, "planted", known_sums)
  expect_identical(sha256(file), "planted")
  writeLines("one", file)
  Sys.setFileTime(file, Sys.time() - 30)
  expect_identical(sha256(file), first)
})
