# SPDX-License-Identifier: BSD-3-Clause
test_that("two processes draw the same bytes as one", {
  folder <- plant(fresh_folder(), design_of(bytes = 2^(0:3), mpi = c("openmpi", "mpich"))[
    , time := 1e-6 * bytes
  ])
  register <- one_row("by_size")
  row <- readLines(register)[[2L]]
  writeLines(c(readLines(register), sub("fig-1", "fig-2", row)), register)
  draw <- function(worth_it) {
    out <- fresh_folder()
    before <- options(cotejo.drawing = worth_it)
    on.exit(options(before))
    quiet(coverage <- draw_exhibits(folder, out, exhibits = list_exhibits(register)))
    files <- list.files(out, recursive = TRUE)
    list(coverage, stats::setNames(tools::md5sum(file.path(out, files)), files))
  }
  both <- draw(1L)
  expect_identical(both[[1L]]$exhibit, c("fig-1", "fig-2"))
  expect_true(all(both[[1L]]$state != "waiting"))
  expect_identical(both, draw(Inf))
})

test_that("an error in another process keeps its class and its words", {
  before <- options(cotejo.drawing = 1L)
  on.exit(options(before))
  expect_error(over_processes(refuse, c(TRUE, TRUE), "cotejo_planted"), "^1$",
    class = "cotejo_planted"
  )
})
