# SPDX-License-Identifier: BSD-3-Clause

test_that("what a non-blocking operation hides is told from its three times", {
  summary <- data.table(
    launch = rep(c("a", "b", "c"), each = 4L), bytes = 8,
    operation = c("ibcast", "ibcast.compute", "ibcast.both", "ibarrier"),
    median_s = c(10, 10, 12, 1, 10, 5, 16, 1, 10, 20, 19, 1)
  )
  setnames(summary, "launch", "key")
  found <- hidden_shares(summary)
  expect_identical(found$operation, rep("ibcast", 3L))
  expect_equal(found[order(key)]$share, c(0.8, 0, 1))
})

test_that("a figure of what is hidden has a point for each operation and size", {
  design <- design_of(
    bytes = c(8, 1024), operation = c("ibcast", "ibcast.compute", "ibcast.both")
  )
  design[, time := c(ibcast = 10, ibcast.compute = 10, ibcast.both = 15)[operation] * 1e-6]
  drawn <- drawn_from(plant(fresh_folder(), design), one_row(
    "hidden_share", arguments = "series=operation; panel=mpi"
  ))
  expect_identical(nrow(drawn$data), 2L)
  expect_equal(drawn$data$share, c(0.5, 0.5), tolerance = 0.01)
})

test_that("of the memory of a rank the library's part is told", {
  folder <- fresh_folder()
  more <- c(
    rank = "", resident_bytes = "B", shared_bytes = "B", before_bytes = "B", buffers_bytes = "B"
  )
  more <- Map(\(name, unit) list(name = name, unit = unit, meaning = name), names(more), more)
  for (launch in 1:6) {
    description <- make_description(launch = launch, test = "planted")
    description$samples$columns <- c(description$samples$columns, unname(more))
    write_launch(folder, description, data.table(
      operation = rep(c("init", "alltoall_last"), each = 2L), bytes = rep(c(0L, 8L), each = 2L),
      repetition = 0:1, calls = 1L, time_s = "1.0e-03", valid = 1L, rank = 0:1,
      resident_bytes = 2^20 * c(10, 11, 14, 15), shared_bytes = 2^20, before_bytes = 2^20 * 2,
      buffers_bytes = 2^20 * c(0, 0, 1, 1)
    ))
  }
  drawn <- drawn_from(folder, one_row("memory_table"))
  expect_equal(drawn$data$taken_bytes / 2^20, c(11, 12, 8, 9))
  expect_match(page_of(drawn), "after MPI_Init", fixed = TRUE)
})

test_that("a share is never told as a time", {
  summary <- data.table::data.table(
    share = c(0.2, 0.4, 0.6), bytes = 8, mpi = "mpich", factors = ""
  )
  for (name in setdiff(configuration_columns(summary), c(names(summary), "median_s"))) {
    data.table::set(summary, j = name, value = "x")
  }
  medians <- summarise_configurations(summary, measure = "share")
  expect_identical(medians$share, 0.4)
  expect_true(all(c("share_low", "share_high") %in% names(medians)))
  expect_false(any(c("median_s", "low_s", "bytes_per_s") %in% names(medians)))
})
