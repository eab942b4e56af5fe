# SPDX-License-Identifier: BSD-3-Clause
# Rates of NAS kernels on simulated launches: operations over time, and the best split.

# Launches of a kernel of 1000 Mop: seconds by split, `times` named "RANKSxTHREADS".
plant_kernel <- function(folder, times, blocks = 6L, operation = "nas-cg-A", language = NULL,
                         spread = 0.001) {
  set.seed(1L)
  for (launch in seq_len(blocks)) {
    for (split in names(times)) {
      counts <- as.integer(strsplit(split, "x", fixed = TRUE)[[1L]])
      description <- make_description(
        launch = launch, test = "planted", experiment = "nas-cg",
        cpus = seq_len(counts[[1L]]) - 1L, parameters = c(list(split = split), language)
      )
      for (name in c("threads", "mop")) {
        description$samples$columns <- c(
          description$samples$columns, list(list(name = name, unit = "", meaning = name))
        )
      }
      drawn <- matrix(times[[split]] * exp(stats::rnorm(3L, 0, spread)))
      samples <- make_samples(0, drawn, operation)
      write_launch(folder, description, cbind(samples, threads = counts[[2L]], mop = 1000))
    }
  }
  folder
}

nas_row <- function(verb, arguments = "") {
  one_row(verb, arguments = arguments, study = "cotejo", title = "Planted")
}

drawn_nas <- function(folder, ...) {
  out <- fresh_folder()
  suppressMessages(utils::capture.output(
    coverage <- draw_exhibits(folder, out, exhibits = nas_row(...))
  ))
  path <- file.path(out, "cotejo", "fig-1")
  list(
    coverage = coverage, svg = words_of(paste0(path, ".svg")),
    data = data.table::fread(paste0(path, ".csv"))
  )
}

test_that("the planted best split is named with its rate and interval", {
  folder <- plant_kernel(fresh_folder(), c("1x1" = 2, "2x1" = 1, "1x2" = 1.25))
  drawn <- drawn_nas(folder, "splits")
  expect_identical(drawn$coverage$state, "drawn")
  expect_identical(drawn$data[best == TRUE]$split, "2 x 1")
  expect_equal(drawn$data[split == "1 x 2"]$rate_mops, 800, tolerance = 0.01)
  expect_true(drawn$data[split == "1 x 2", rate_low_mops < rate_mops & rate_mops < rate_high_mops])
  expect_match(drawn$svg, "best 2 x 1 (ranks x threads), 1", fixed = TRUE)
})

test_that("splits whose intervals overlap are not told apart", {
  folder <- plant_kernel(fresh_folder(), c("2x1" = 1, "1x2" = 1.01), spread = 0.1)
  expect_match(drawn_nas(folder, "splits")$svg, "not distinguishable from", fixed = TRUE)
})

test_that("ranks and threads on the same cores are curves of their own, and languages too", {
  folder <- plant_kernel(
    fresh_folder(), c("1x1" = 2, "2x1" = 1, "1x2" = 1.25),
    language = list(language = "c")
  )
  plant_kernel(folder, c("1x1" = 4, "1x2" = 2), language = list(language = "java"))
  data <- drawn_nas(folder, "rate", "series=parameter_language")$data
  expect_setequal(data$way, c("one core", "ranks", "threads"))
  expect_equal(
    data[grepl("java", parameters) & cores == 2]$rate_mops, 500, tolerance = 0.01
  )
  expect_identical(nrow(data), 5L)
})

test_that("balance of zones is told as planned and as seen, and what exchanging takes", {
  folder <- fresh_folder()
  for (launch in 1:6) {
    description <- make_description(
      launch = launch, test = "planted", experiment = "nas-sp-mz", cpus = 0:1,
      parameters = list(split = "2x1")
    )
    description$samples$columns <- c(description$samples$columns, list(
      list(name = "threads", unit = "", meaning = "threads"),
      list(name = "mop", unit = "", meaning = "operations"),
      list(name = "balance_planned", unit = "%", meaning = "planned"),
      list(name = "balance_seen", unit = "%", meaning = "seen"),
      list(name = "exchange_s", unit = "s", meaning = "exchange")
    ))
    write_launch(folder, description, cbind(
      make_samples(0, matrix(2 + 0.001 * launch + 0 * 1:3), "nas-sp-mz-W"),
      threads = 1, mop = 1000, balance_planned = 66.7, balance_seen = 60 + 0.01 * launch,
      exchange_s = 0.5
    ))
  }
  out <- fresh_folder()
  suppressMessages(utils::capture.output(
    draw_exhibits(folder, out, exhibits = nas_row("balance_table"))
  ))
  data <- data.table::fread(file.path(out, "cotejo", "fig-1.csv"))
  expect_identical(nrow(data), 1L)
  expect_equal(data$planned, 66.7)
  expect_equal(data$threads, 1)
  expect_equal(data$seen, 60.035)
  expect_equal(data$exchange, 25, tolerance = 0.01)
  expect_true(data$seen_low < data$seen && data$seen < data$seen_high)
})

test_that("the speed-up over one core stands below the rate, where one core was measured", {
  folder <- plant_kernel(fresh_folder(), c("1x1" = 2, "2x1" = 1, "1x2" = 1.25))
  drawn <- drawn_nas(folder, "rate")
  expect_equal(drawn$data[split == "2 x 1"]$speedup, 2, tolerance = 0.01)
  expect_equal(drawn$data[split == "1 x 2"]$speedup, 1.6, tolerance = 0.01)
  expect_match(drawn$svg, ": speed-up", fixed = TRUE)
  alone <- drawn_nas(plant_kernel(fresh_folder(), c("2x1" = 1, "2x2" = 0.6)), "rate")
  expect_true(all(is.na(alone$data$speedup)))
  expect_no_match(alone$svg, ": speed-up", fixed = TRUE)
})
