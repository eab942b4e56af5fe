# SPDX-License-Identifier: BSD-3-Clause
# Settings of one MPI are held against one another, and an MPI only against itself.

planted_settings <- function() {
  folder <- fresh_folder()
  set.seed(1L)
  for (launch in 1:8) {
    for (mpi in c("openmpi", "mpich")) {
      for (value in list(NULL, "8k", "64k")) {
        time <- 1e-6 * if (identical(value, "64k")) 1.2 else 1
        description <- make_description(mpi, launch = launch, settings = if (length(value)) {
          list(UCX_RNDV_THRESH = value)
        } else {
          list()
        })
        write_launch(folder, description, make_samples(
          1024, matrix(time * exp(stats::rnorm(5L, 0, 0.005)))
        ))
      }
    }
  }
  folder
}

test_that("a level that is slower is named, and the unset one is a level", {
  study <- suppressMessages(analyse(planted_settings()))
  found <- study$settings
  expect_setequal(unique(found$mpi), c("openmpi", "mpich"))
  slow <- found[a == "UCX_RNDV_THRESH=64k" | b == "UCX_RNDV_THRESH=64k"]
  expect_identical(nrow(slow), 4L)
  expect_true(all(slow$verdict == ifelse(slow$a == "UCX_RNDV_THRESH=64k", "slower", "faster")))
  same <- found[a == "UCX_RNDV_THRESH=8k" & b == "defaults"]
  expect_identical(nrow(same), 2L)
  expect_true(all(same$verdict == "equivalent"))
})

test_that("without settings nothing is compared", {
  study <- suppressMessages(analyse(write_study(
    fresh_folder(), c(openmpi = 3e-7, mpich = 6e-7), bytes = 1
  )))
  expect_identical(nrow(study$settings), 0L)
})
