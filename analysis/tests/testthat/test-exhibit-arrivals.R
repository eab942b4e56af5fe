# SPDX-License-Identifier: BSD-3-Clause
# The fastest library when ranks arrive at different times, without the wait common to both.

test_that("times from the last arrival on decide, not the wait in both", {
  folder <- fresh_folder()
  set.seed(1L)
  # 2 us against 1 us after a wait of 50 us; with simultaneous arrival the order is reversed.
  times <- list(
    together = c(openmpi = 1e-6, mpich = 2e-6), ramp = c(openmpi = 52e-6, mpich = 51e-6)
  )
  for (launch in 1:6) {
    for (pattern in names(times)) {
      for (mpi in names(times[[pattern]])) {
        description <- make_description(
          mpi = mpi, launch = launch, test = "planted", parameters = list(arrival = pattern),
          options = list(arrival = pattern)
        )
        if (pattern == "ramp") {
          description$observed$arrival <- list(pattern = pattern, last_s = 50e-6)
        }
        time <- times[[pattern]][[mpi]] * exp(stats::rnorm(5L, 0, 1e-4))
        write_launch(folder, description, make_samples(8, matrix(time), "allreduce"))
      }
    }
  }
  drawn <- drawn_from(folder, one_row("arrivals", arguments = "by=mpi; x=option_arrival"))
  expect_identical(drawn$coverage$state, "drawn")
  ratio <- drawn$data[, stats::setNames(ifelse(a == "openmpi", ratio, 1 / ratio), x)]
  expect_equal(ratio[["arrival together"]], 1 / 2, tolerance = 0.01)
  expect_equal(ratio[["arrival ramp"]], 2, tolerance = 0.05)
})
