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
})
