# SPDX-License-Identifier: BSD-3-Clause
test_that("several processes draw the same bytes as one", {
  folder <- plant(fresh_folder(), design_of(bytes = 2^(0:3), mpi = c("openmpi", "mpich"))[
    , time := 1e-6 * bytes
  ])
  register <- rbind(one_row("by_size"), one_row("by_size", exhibit = "fig-2"))
  draw <- function(worth_it) {
    out <- fresh_folder()
    process$drew <- FALSE
    before <- options(cotejo.drawing = worth_it, cotejo.cores = 2L)
    on.exit(options(before))
    quiet(coverage <- draw_exhibits(folder, out, exhibits = register))
    files <- list.files(out, recursive = TRUE)
    list(coverage, stats::setNames(tools::md5sum(file.path(out, files)), files))
  }
  both <- draw(1L)
  expect_identical(both[[1L]]$exhibit, c("fig-1", "fig-2"))
  expect_true(all(both[[1L]]$state != "waiting"))
  expect_identical(both, draw(Inf))
})

test_that("an error in another process keeps its class and its words", {
  process$drew <- FALSE
  before <- options(cotejo.cores = 2L)
  on.exit(options(before))
  expect_error(over_processes(refuse, c(1, 1), "cotejo_planted"), "^1$",
    class = "cotejo_planted"
  )
})

test_that("work is dealt out in hands that get smaller, so that no core waits long at the end", {
  work <- with_seed(1L, stats::rexp(300L))
  hands <- deal(work, 2L)
  expect_setequal(unlist(hands), seq_along(work))
  expect_identical(anyDuplicated(unlist(hands)), 0L)
  held <- vapply(hands, function(hand) sum(work[hand]), 0)
  expect_lte(length(hands), 20L)
  expect_lte(max(held), sum(work) / 4)
  expect_lte(max(utils::tail(held, 4L)), sum(work) / 30)
  expect_length(deal(c(0, 0), 2L), 2L)
  # What is more than all the rest is taken first, by itself.
  expect_identical(deal(c(1, 1, 90, 1), 2L)[[1L]], 3L)
})

test_that("as many processes work as there are cores, none once text was set, none in a fork", {
  process$drew <- FALSE
  before <- options(cotejo.cores = 3L, cotejo.forking = 1L)
  on.exit(options(before))
  ids <- unlist(in_forks(as.list(1:6), function(i) c(Sys.getpid(), cores_here())))
  expect_false(Sys.getpid() %in% ids[c(TRUE, FALSE)])
  expect_identical(unique(ids[c(FALSE, TRUE)]), 1L)
  expect_identical(unlist(over_cores(1:50, identity)), 1:50)
  expect_identical(cores_here(), 3L)
  plot <- ggplot2::ggplot(data.frame(x = 1), ggplot2::aes(x, x)) + ggplot2::geom_point()
  expect_match(svg_text(picture_of(plot)), "<svg", fixed = TRUE)
  expect_identical(cores_here(), 3L)
  draw_pdf(picture_of(plot), tempfile(fileext = ".pdf"))
  expect_identical(cores_here(), 1L)
  expect_identical(unique(unlist(over_cores(1:4, \(i) Sys.getpid()))), Sys.getpid())
  process$drew <- FALSE
})
