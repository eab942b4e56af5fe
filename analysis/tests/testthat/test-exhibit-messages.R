# SPDX-License-Identifier: BSD-3-Clause
# The messages between ranks as a picture.

# Launches of two MPIs: in a broadcast of 8 B rank 0 sends to all, or each rank to the next one.
plant_messages <- function(folder, sends) {
  for (mpi in names(sends)) for (launch in 1:2) {
    description <- make_description(
      mpi, launch = launch, test = "planted", experiment = "collective", cpus = 0:2,
      parameters = list(ranks = 3L)
    )
    description$algorithms <- list(list(
      operation = "bcast", bytes = 8, words = "ran as planted", sends = sends[[mpi]]
    ))
    write_launch(folder, description, make_samples(8, matrix(1e-6), "bcast"))
  }
  folder
}

test_that("each pair of ranks has the messages of the record", {
  folder <- plant_messages(fresh_folder(), list(
    openmpi = list(list(0, 1, 1, 8), list(0, 2, 1, 8)),
    mpich = list(list(0, 1, 2, 16), list(1, 2, 2, 16))
  ))
  drawn <- drawn_from(folder, one_row("message_matrix", arguments = "panel=mpi"))
  expect_identical(drawn$coverage$state, "drawn")
  found <- drawn$data[, lapply(.SD, as.character)][order(panel, from, to)]
  expect_identical(unique(found$panel), c("MPICH, ran as planted", "Open MPI, ran as planted"))
  expect_identical(found$from, c("0", "1", "0", "0"))
  expect_identical(found$to, c("1", "2", "1", "2"))
  expect_identical(found$messages, c("2", "2", "1", "1"))
  expect_identical(found$sent, c("16", "16", "8", "8"))
})

test_that("records without messages are awaited", {
  folder <- plant_messages(fresh_folder(), list(openmpi = NULL, mpich = list()))
  drawn <- drawn_from(folder, one_row("message_matrix", arguments = "panel=mpi"))
  expect_identical(drawn$coverage$state, "waiting")
})
