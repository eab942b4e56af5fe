# SPDX-License-Identifier: BSD-3-Clause
# Waits for a condition, at most two minutes, because processes are slow on a busy machine.
wait_until <- function(condition) {
  for (look in 1:2400) {
    if (eval.parent(substitute(condition))) {
      return(invisible())
    }
    Sys.sleep(0.05)
  }
  stop("what a test waits for did not happen within two minutes")
}

test_that("several processes draw the same bytes as one", {
  folder <- plant(fresh_folder(), design_of(bytes = 2^(0:3), mpi = c("openmpi", "mpich"))[
    , time := 1e-6 * bytes
  ])
  register <- rbind(one_row("by_size"), one_row("by_size", exhibit = "fig-2"))
  draw <- function(worth_it) {
    out <- fresh_folder()
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
  before <- options(cotejo.cores = 2L)
  on.exit(options(before))
  expect_error(over_processes(refuse, c(1, 1), "cotejo_planted"), "^1$",
    class = "cotejo_planted"
  )
})

test_that("each process takes the next number when it is ready, and no core waits for another", {
  before <- options(cotejo.cores = 2L)
  on.exit(options(before))
  # The first task lasts until all others are done.
  place <- fresh_folder()
  found <- in_turns(c(4L, 1:3, 5:40), function(i) {
    file.create(file.path(place, i))
    if (i == 4L) wait_until(length(dir(place)) == 40L)
    c(i, Sys.getpid())
  })
  expect_identical(vapply(found, `[[`, 0L, 1L), 1:40)
  pids <- vapply(found, `[[`, 0L, 2L)
  expect_false(any(pids[-4L] == pids[[4L]]))
  expect_identical(in_turns(2:1, function(i) NULL), list(NULL, NULL))
  expect_identical(over_processes(\(i, shared) i + shared, c(1, 0, 3), 1L), list(2L, 3L, 4L))
})

test_that("numbers that no process could take are done all the same", {
  before <- options(cotejo.cores = 2L)
  on.exit(options(before))
  turns <- in_turns
  environment(turns) <- list2env(list(dir.create = \(...) FALSE), parent = environment(in_turns))
  expect_identical(turns(1:3, function(i) i), list(1L, 2L, 3L))
})

test_that("what is done beside a process is there when it was waited for", {
  before <- options(cotejo.cores = 2L)
  on.exit(options(before))
  file <- tempfile()
  go_on <- tempfile()
  beside(function() {
    wait_until(file.exists(go_on))
    writeLines(as.character(Sys.getpid()), file)
  })
  expect_false(file.exists(file))
  file.create(go_on)
  wait_for_beside()
  expect_false(identical(readLines(file), as.character(Sys.getpid())))
  expect_length(process$beside, 0L)
})

test_that("as many processes work as there are cores, also after a PDF, none in a fork", {
  before <- options(cotejo.cores = 3L, cotejo.forking = 1L)
  on.exit(options(before))
  ids <- unlist(in_forks(as.list(1:6), function(i) c(Sys.getpid(), cores_here())))
  expect_false(Sys.getpid() %in% ids[c(TRUE, FALSE)])
  expect_identical(unique(ids[c(FALSE, TRUE)]), 1L)
  expect_identical(unlist(over_cores(1:50, identity)), 1:50)
  expect_identical(cores_here(), 3L)
  plot <- ggplot2::ggplot(data.frame(x = 1), ggplot2::aes(x, x)) + ggplot2::geom_point()
  expect_match(svg_text(lay_out(plot)), "<svg", fixed = TRUE)
  expect_identical(cores_here(), 3L)
  # If this process had set the text itself, the forks would wait for ever.
  files <- replicate(4L, tempfile(fileext = ".pdf"))
  draw_pdf(lay_out(plot), files[1L])
  expect_identical(cores_here(), 3L)
  in_forks(as.list(files[-1L]), function(file) draw_pdf(lay_out(plot), file))
  expect_true(all(file.size(files) > 1000))
  expect_error(apart(\() stop("no space")), "no space", fixed = TRUE)
})
