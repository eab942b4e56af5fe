# SPDX-License-Identifier: BSD-3-Clause
# One binary: the cost of the ABI is reported with the achieved interval; two binaries are refused.

planted_abi <- function(hash = function(mpi) "beef") {
  folder <- fresh_folder()
  set.seed(1L)
  cost <- c(mpich = 1, "mpich-abi" = 1, "intel-mpi" = 1, "intel-mpi-abi" = 1.2)
  for (launch in 1:10) {
    for (mpi in names(cost)) {
      description <- make_description(mpi, launch = launch)
      # A parameter of ping-pong with the same name as the report's list of pairs.
      description$options$pairs <- "1"
      description$provenance$program_sha256 <- if (endsWith(mpi, "-abi")) hash(mpi) else mpi
      time <- 1e-6 * cost[[mpi]] * exp(stats::rnorm(5L, 0, 0.005))
      write_launch(folder, description, make_samples(1024, matrix(time)))
    }
  }
  folder
}

test_that("each MPI is held against itself, and a cost is above 1", {
  out <- file.path(fresh_folder(), "abi.html")
  found <- NULL
  said <- utils::capture.output(suppressMessages(found <- write_abi(planted_abi(), out)))
  expect_identical(sort(found$native$a), c("intel-mpi-abi", "mpich-abi"))
  row <- found$native[a == "intel-mpi-abi"]
  expect_identical(row$verdict, "slower")
  expect_true(row$low < 1.2 && row$high > 1.2)
  expect_identical(found$native[a == "mpich-abi"]$verdict, "within")
  expect_match(said, "interval that was reached 1.", all = FALSE)
  expect_match(paste(readLines(out), collapse = " "), "SHA-256 beef", fixed = TRUE)
})

test_that("two binaries are not one", {
  expect_error(
    suppressMessages(write_abi(planted_abi(identity), tempfile(fileext = ".html"))),
    "2 binaries under 2 MPIs"
  )
})
