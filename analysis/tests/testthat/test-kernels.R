# SPDX-License-Identifier: BSD-3-Clause
# Exhibits of complete programs: known phases, speed-ups, counts and gains are reproduced.

quiet <- function(code) suppressMessages(utils::capture.output(code))

# Launches of one FFT: `time` (s) by ranks; computation takes three tenths of it.
write_kernel <- function(folder, ranks, time, transport = "shm", launches = 1:6,
                         messages = 3 * (ranks - 1), operations = c("fft-original-sendrecv" = 1)) {
  for (launch in launches) {
    description <- make_description(
      transport = transport, launch = launch, experiment = "fft", test = "planted",
      cpus = seq_len(ranks) - 1L, parameters = list(ranks = ranks)
    )
    column <- function(name, unit) list(name = name, unit = unit, meaning = name)
    description$samples$columns <- c(description$samples$columns, list(
      column("log2_points", ""), column("transposition_s", "s"), column("rows_s", "s"),
      column("twiddle_s", "s"), column("messages", "messages"), column("sent_bytes", "B")
    ))
    noise <- 1 + 0.001 * (launch - 3.5)
    write_launch(folder, description, data.table::data.table(
      operation = rep(names(operations), each = 3L), bytes = 2^24 / ranks^2,
      repetition = rep(0:2, length(operations)), calls = 1L,
      time_s = sprintf("%.9e", rep(operations, each = 3L) * time * noise), valid = 1L,
      log2_points = 20L,
      transposition_s = sprintf("%.9e", 0.7 * time), rows_s = sprintf("%.9e", 0.2 * time),
      twiddle_s = sprintf("%.9e", 0.1 * time), messages = messages,
      sent_bytes = messages * 2^24 / ranks^2
    ))
  }
}

# The result of one row of a register for a folder: its state and its numbers.
drawn <- function(folder, verb, arguments) {
  register <- one_row(verb, arguments = arguments)
  out <- fresh_folder()
  quiet(coverage <- draw_exhibits(folder, out, exhibits = register))
  file <- file.path(out, "stival", "fig-1.csv")
  page <- file.path(out, "stival", "fig-1.html")
  svg <- file.path(out, "stival", "fig-1.svg")
  list(
    coverage = coverage, data = if (file.exists(file)) data.table::fread(file),
    words = if (file.exists(svg)) {
      grep("^<desc>", readLines(svg, encoding = "UTF-8"), value = TRUE)
    },
    page = if (file.exists(page)) paste(readLines(page), collapse = " ")
  )
}

test_that("speed-up and efficiency are those of one problem, or of as much on every rank", {
  folder <- fresh_folder()
  write_kernel(folder, 1L, 80e-3)
  expect_identical(drawn(folder, "scaling", "")$coverage$lacks, "another number of ranks")
  write_kernel(folder, 2L, 50e-3)
  write_kernel(folder, 4L, 40e-3)
  strong <- drawn(folder, "scaling", "")$data[order(ranks)]
  expect_equal(strong$speedup, c(1, 1.6, 2), tolerance = 1e-6)
  expect_equal(strong$efficiency, c(1, 0.8, 0.5), tolerance = 1e-6)
  expect_true(all(strong$speedup_low <= strong$speedup & strong$speedup <= strong$speedup_high))
  weak <- drawn(folder, "scaling", "work=per-rank")$data[order(ranks)]
  expect_equal(weak$efficiency, c(1, 1.6, 2), tolerance = 1e-6)
})

test_that("the caption of a speed-up from few launches explains no interval", {
  folder <- fresh_folder()
  for (ranks in 1:2) write_kernel(folder, ranks, 80e-3 / ranks, launches = 1:2)
  expect_match(
    drawn(folder, "scaling", "")$words, "1 at best. .*No intervals: fewer than 5 launches. n"
  )
  expect_no_match(drawn(folder, "scaling", "")$words, "95 %", fixed = TRUE)
  write_kernel(folder, 1L, 80e-3, launches = 3:6)
  write_kernel(folder, 2L, 40e-3, launches = 3:6)
  words <- drawn(folder, "scaling", "")$words
  expect_match(words, "Bars: 95 % interval over launches", fixed = TRUE)
})

test_that("phases and the share of computation come out, as figure and as table", {
  folder <- fresh_folder()
  write_kernel(folder, 2L, 50e-3)
  write_kernel(folder, 4L, 40e-3)
  measures <- "measures=transposition_s rows_s twiddle_s"
  phases <- drawn(folder, "phases", measures)$data
  expect_equal(phases[ranks == 2L & measure == "rows_s"]$value, 10e-3)
  expect_equal(phases[ranks == 4L & measure == "time_s"]$value, 40e-3)
  table <- drawn(folder, "phase_table", paste0(measures, "; share=rows_s twiddle_s"))
  expect_equal(table$data$share, c(0.3, 0.3))
  expect_equal(table$data[ranks == 4L]$speedup, 1.25, tolerance = 1e-6)
  expect_match(table$page, "28.0", fixed = TRUE)
  missing <- drawn(folder, "phases", "measures=idle_s")$coverage
  expect_identical(missing$lacks, "launches with the measure idle")
})

test_that("messages are listed as they were counted", {
  folder <- fresh_folder()
  write_kernel(folder, 2L, 50e-3)
  write_kernel(folder, 4L, 40e-3)
  table <- drawn(folder, "message_table", "rows=operation log2_points")
  expect_match(table$page, "3 x 4 MiB", fixed = TRUE)
  expect_match(table$page, "9 x 1 MiB", fixed = TRUE)
  # The messages of a program do not depend on the transport: still one row.
  write_kernel(folder, 2L, 70e-3, transport = "tcp")
  table <- drawn(folder, "message_table", "rows=operation log2_points")
  expect_identical(nrow(table$data), 2L)
  write_kernel(folder, 4L, 40e-3, launches = 7:12, messages = 10)
  expect_error(
    quiet(drawn(folder, "message_table", "rows=operation log2_points")),
    "different number"
  )
})

test_that("a planted gain of a transport comes out in %", {
  folder <- fresh_folder()
  write_kernel(folder, 2L, 40e-3)
  write_kernel(folder, 2L, 50e-3, transport = "tcp")
  table <- drawn(folder, "gain_table", "by=transport")
  expect_match(table$page, ">20.0 [", fixed = TRUE)
})

test_that("a variant that is slower than the original is said to be, and no other", {
  folder <- fresh_folder()
  write_kernel(folder, 2L, 50e-3, operations = c(
    "fft-original-sendrecv" = 1, "fft-rows-sendrecv" = 1.2, "fft-fused" = 0.5
  ))
  arguments <- "reference=fft-original-sendrecv; x=log2_points"
  table <- drawn(folder, "variants_table", arguments)
  expect_identical(nrow(table$data), 2L)
  expect_equal(table$data[operation == "fft-rows-sendrecv"]$ratio, 1.2)
  expect_identical(table$data[operation == "fft-rows-sendrecv"]$verdict, "slower")
  expect_identical(table$data[operation == "fft-fused"]$verdict, "faster")
  expect_match(table$page, "by more than noise: row by row.", fixed = TRUE)
  alone <- fresh_folder()
  write_kernel(alone, 2L, 50e-3)
  expect_identical(
    drawn(alone, "variants_table", arguments)$coverage$lacks,
    "another variant in the same launches"
  )
})

test_that("a variant with more sizes of messages is not quicker for that alone", {
  set.seed(6L)
  # No difference: one size of the original, eight sizes of the variant.
  ratios <- vapply(1:40, function(i) {
    parts <- data.table::CJ(key = sprintf("k%02d", 1:10), bytes = 2^(0:7))
    variant <- chosen_by_others(
      parts[, list(key, bytes, median_s = exp(stats::rnorm(.N, 0, 0.1)))]
    )
    original <- chosen_by_others(
      parts[bytes == 1, list(key, bytes, median_s = exp(stats::rnorm(.N, 0, 0.1)))]
    )
    mean(log(variant$time_s)) - mean(log(original$time_s))
  }, 0)
  # The smallest of eight would be 14 % below.
  expect_lt(abs(mean(ratios)), 0.03)
})
