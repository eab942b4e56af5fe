# SPDX-License-Identifier: BSD-3-Clause
# The heat map of all pairs shows a slow rank.

test_that("each pair has the median of its launches, and a slow rank shows", {
  folder <- fresh_folder()
  pairs <- data.table::CJ(first = 0:3, second = 0:3)[first < second]
  for (i in 1:12) {
    description <- make_description(
      mpi = c("mpich", "openmpi")[[1L + i %% 2L]], launch = (i + 1L) %/% 2L, test = "planted",
      cpus = 0:3
    )
    column <- function(name) list(name = name, unit = "", meaning = name)
    description$samples$columns <- c(
      description$samples$columns, list(column("first"), column("second"))
    )
    samples <- data.table::rbindlist(lapply(seq_len(nrow(pairs)), function(pair) {
      time <- if (pairs$second[[pair]] == 3L) 4e-6 else 1e-6
      cbind(make_samples(8, matrix(rep(time, 5L)), "matrix"), pairs[pair])
    }))
    write_launch(folder, description, samples)
  }
  drawn <- drawn_from(folder, one_row("pair_map", arguments = "panel=mpi"))
  expect_identical(drawn$coverage$state, "drawn")
  expect_identical(nrow(drawn$data), 12L)
  slow <- drawn$data[as.integer(second) == 3L]
  expect_equal(slow$median_s, rep(4e-6, 6L))
  expect_equal(drawn$data[!slow, on = c("first", "second")]$median_s, rep(1e-6, 6L))
  texts <- texts_of(paste(readLines(file.path(drawn$out, "stival", "fig-1.svg")), collapse = ""))
  expect_gte(min(texts$size), 8)
  expect_gte(sum(texts$label == "4"), 12L)
  # Labels that would be wider than their cells are left out.
  expect_identical(fitting(c("1.5", "12345"), 18L), c("1.5", "12345"))
  expect_identical(fitting(c("1.5", "12345"), 19L), c("", ""))
})
