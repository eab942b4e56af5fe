# SPDX-License-Identifier: BSD-3-Clause
# Texts of captions, labels and axes.

test_that("what is simulated or emulated is drawn apart, in files that say so", {
  grounds <- c(
    near = "", packed = "emulated: 2 hosts on 2 cores, gigabit (switch, 1000 Mbit/s)",
    scatter = "simulated by SimGrid: Deep Thought, 4 nodes"
  )
  design <- design_of(bytes = c(1, 1024), placement = names(grounds))
  design[, `:=`(time = 1e-6, simulated = grounds[placement])]
  drawn <- drawn_from(plant(fresh_folder(), design), one_row("by_size"))
  expect_identical(drawn$coverage$ground, c("measured", "emulated", "simulated"))
  expect_identical(drawn$coverage$file, c("fig-1", "fig-1-emulated", "fig-1-simulated"))
  expect_identical(drawn$coverage$launches, c(6L, 6L, 6L))
  for (i in 1:3) {
    file <- file.path(drawn$out, "stival", paste0(drawn$coverage$file[[i]], ".csv"))
    data <- fread(file, colClasses = list(character = "simulated"), na.strings = NULL)
    expect_identical(unique(data$simulated), grounds[[i]])
  }
  # They are one exhibit, with the state of the best of them.
  expect_identical(nrow(best_of(drawn$coverage)), 1L)
  summed <- readLines(file.path(drawn$out, "coverage.md"))
  expect_true("| all | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |" %in% summed)
  only <- drawn_from(plant(fresh_folder(), design[placement == "packed"]), one_row("by_size"))
  expect_identical(only$coverage$file, "fig-1-emulated")
})

test_that("labels of unreal machines are short only while they tell them apart", {
  expect_identical(
    short_label(c(
      "", "emulated: 4 hosts on 2 cores, mixed (switch, 1000/100 Mbit/s)",
      "simulated by SimGrid: UFPR TCP, 16 nodes, 100 Mbit/s"
    )),
    c("", "4 hosts of mixed", "UFPR TCP")
  )
  guests <- sprintf("emulated: 2 User-mode Linux guests on 2 cores, %s", c(
    "fast-ethernet (switch, 100 Mbit/s)", "gigabit-slowed (switch, 1000 Mbit/s), 10 times slower"
  ))
  expect_identical(short_label(guests), paste("2 guests of", c("fast-ethernet", "gigabit-slowed")))
  alike <- paste("simulated by SimGrid: UFPR,", c(8, 16), "nodes")
  expect_identical(short_label(alike), alike)
})

test_that("captions own up to shared processors, simulation and TCP without a network", {
  design <- design_of(bytes = 1, transport = "tcp")[, `:=`(time = 1e-6, simulated = "by netem")]
  design[, cpus := list(list(c(0L, 1L, 0L)))]
  folder <- plant(fresh_folder(), design)
  out <- drawn_from(folder, one_row("by_size", differs = "It was 2006."))$out
  svg <- paste(readLines(file.path(out, "stival", "fig-1-emulated.svg")), collapse = " ")
  for (text in c(
    "ranks share processors", "by netem", "TCP stays within one host", "It was 2006."
  )) {
    expect_match(gsub("</text>.*?<text[^>]*>", " ", svg), text, fixed = TRUE)
  }
})

test_that("a rate of messages counts every pair, and its interval keeps its order", {
  table <- data.table(ranks = 4L, median_s = 1e-6, low_s = 0.5e-6, high_s = 2e-6)
  add_values(table, UNITS[["messages/s"]])
  expect_equal(unlist(table[, list(y, y_low, y_high)]), c(y = 2, y_low = 1, y_high = 4))
})

test_that("threads that take turns on cores are said, and all of them make the rate", {
  few <- data.table(threads = c(1, 2, 4), thread_cores = c(2, 2, 2))
  expect_identical(
    crowded_threads(few), "from 4 threads on they take turns on the 2 cores of their rank"
  )
  expect_match(crowded_threads(copy(few)[, thread_cores := 1]), "from 2 threads on .* one core")
  expect_null(crowded_threads(few[threads <= thread_cores]))
  expect_null(crowded_threads(few[, !"thread_cores"]))
  table <- data.table(
    ranks = 4L, threads = c("1", "4"), median_s = 1e-6, low_s = 1e-6, high_s = 2e-6
  )
  add_values(table, UNITS[["messages/s"]])
  expect_equal(table$y, c(2, 8))
  expect_equal(table$y_low, c(1, 4))
})

test_that("a title names the best level, in how many cases, and how far another is behind", {
  medians <- CJ(mpi = c("a", "b"), bytes = c(1, 8, 64), panel = "p")[, y := c(2, 2, 9, 4, 5, 6)]
  title <- function(table, best = "lowest", series = "mpi", axis = "time (ms)") {
    finding_of_curves(table, "bytes", axis, best, series)
  }
  expect_identical(
    title(medians), "a has the lowest time at 2 of 3 sizes; b takes up to 2.5 times as long"
  )
  expect_identical(
    title(medians, "highest", axis = "bandwidth (MB/s)"),
    "b has the highest bandwidth at 2 of 3 sizes; a reaches at least 40 % of it"
  )
  both <- rbind(medians, copy(medians)[, panel := "q"])
  expect_match(title(both), "in 4 of 6 cases", fixed = TRUE)
  expect_identical(
    title(medians[bytes == 8]), "a has the lowest time; b takes up to 2.5 times as long"
  )
  # Without competitors the title states the growth. Levels of more work do not compete.
  expect_identical(title(medians[mpi == "b"]), "Time at 64 B is 1.5 times that at 1 B")
  more <- rbind(copy(medians)[, queue := 1], copy(medians)[, `:=`(queue = 64, y = y / 8)])
  more[, panel := title_of(mpi)]
  expect_identical(
    title(more, series = "queue"), paste(
      "a has the lowest time in 4 of 6 cases; b takes up to 2.5 times as long"
    )
  )
  expect_identical(
    finding_of_curves(medians[mpi == "a"], "panel", "time (ms)", "lowest", "bytes"),
    "Time from 2.0 to 9.0 ms"
  )
  expect_identical(title(copy(medians)[, y := 3]), "Time of 3.0 ms")
  expect_identical(say_wins(c("a", "", "a", "b"), "faster", "comparison"),
    "a is faster in 2 and b is faster in 1 of 4 comparisons")
})

test_that("an exhibit has its finding as title, and its subject and place below", {
  design <- design_of(bytes = c(1, 1024), mpi = c("openmpi", "mpich"))
  design[, time := fifelse(mpi == "mpich", 1e-6, 3e-6)]
  out <- drawn_from(plant(fresh_folder(), design), one_row("by_size"))$out
  svg <- paste(readLines(file.path(out, "stival", "fig-1.svg")), collapse = " ")
  expect_match(svg, paste0(
    "<title>MPICH has the lowest time at both sizes; Open MPI takes up to 3.0 times as long",
    "</title> <desc>[^.]*[.] Ping-pong, shared memory, site local[.]"
  ))
})
