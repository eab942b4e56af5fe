# SPDX-License-Identifier: BSD-3-Clause
# Samples are read strictly: deviations from docs/data.md are refused with file and line.

# The sample file has two header lines, then six rows.
spoil <- function(change, what, line, packed = FALSE) {
  launch <- one_launch()
  edit_lines(launch$csv, change)
  file <- launch$csv
  if (packed) {
    file <- pack(launch$csv)
  }
  expect_refused(read_results(launch$folder), file, line, what)
}

pack <- function(csv) {
  file <- paste0(csv, ".gz")
  connection <- gzfile(file, "wb")
  writeBin(readBin(csv, "raw", file.size(csv)), connection)
  close(connection)
  unlink(csv)
  file
}

test_that("samples arrive with their values, units and types", {
  launch <- one_launch()
  samples <- read_results(launch$folder)$samples
  expect_identical(samples$time_s, c(1.5e-7, 1.25e-7, 1e-7, 3e-4, 2e-4, 2.5e-4))
  expect_identical(samples$bytes, rep(c(1L, 1048576L), each = 3L))
  expect_identical(samples$repetition, rep(0:2, 2L))
  expect_identical(samples$calls, rep(10L, 6L))
  expect_identical(samples$valid, rep(TRUE, 6L))
  expect_identical(samples$operation, rep("pingpong", 6L))
})

test_that("a packed file gives the same table as the plain one", {
  launch <- one_launch()
  plain <- read_results(launch$folder)$samples
  pack(launch$csv)
  expect_identical(read_results(launch$folder)$samples, plain)
})

test_that("another schema is refused", {
  spoil(function(l) replace(l, 1L, "# cotejo-samples/9"), "cotejo-samples/9", 1L)
  spoil(function(l) replace(l, 1L, "# cotejo-samples/9"), "cotejo-samples/9", 1L, packed = TRUE)
  spoil(function(l) character(), "no plain file, or empty", 1L)
})

test_that("missing, unknown and swapped columns are refused", {
  head <- "operation,bytes,repetition,calls,time_s,valid"
  spoil(function(l) replace(l, 2L, sub(",calls", "", head)), "missing column calls", 2L)
  spoil(function(l) replace(l, 2L, paste0(head, ",colour")), "unknown column colour", 2L)
  swapped <- "operation,repetition,bytes,calls,time_s,valid"
  spoil(function(l) replace(l, 2L, swapped), "another order", 2L)
})

test_that("a file without its last line end is cut off", {
  launch <- one_launch()
  bytes <- readBin(launch$csv, "raw", file.size(launch$csv))
  writeBin(bytes[seq_len(length(bytes) - 1L)], launch$csv)
  expect_refused(read_results(launch$folder), launch$csv, 8L, "the last line has no end")
  packed <- pack(launch$csv)
  expect_refused(read_results(launch$folder), packed, 8L, "the last line has no end")
})

test_that("fewer or more rows than samples.rows are refused", {
  spoil(function(l) l[-8L], "5 rows, but samples.rows says 6", 7L)
  spoil(function(l) c(l, l[[8L]]), "7 rows, but samples.rows says 6", 9L)
  spoil(function(l) l[1:2], "0 rows, but samples.rows says 6", 2L)
})

test_that("files that are read together are each as it is alone, and so is what is wrong in one", {
  alone <- function(files) {
    lapply(files, function(file) {
      part <- read_launches(file)
      if (nrow(part$samples)) part$samples[, !c("operation", "at")] else part$broken
    })
  }
  of_all <- function(files) {
    part <- read_launches(files)
    split(part$samples[, !"operation"], by = "at", keep.by = FALSE)
  }
  folder <- write_study(fresh_folder(), c(openmpi = 1e-6, mpich = 2e-6), bytes = 1, blocks = 3L)
  file.copy(test_path("fixtures", "v1", "local"), folder, recursive = TRUE)
  files <- launch_files(folder)$files
  together <- of_all(files)
  expect_gt(length(together), 6L)
  single <- Filter(is.data.frame, alone(files))
  for (i in seq_along(single)) {
    named <- names(single[[i]])
    expect_equal(as.list(together[[i]][, named, with = FALSE]), as.list(single[[i]]))
  }
  # One launch has an additional row, another launch lacks one.
  csv <- sub("json$", "csv", grep("pingpong_quick.*00[12][.]json$", files, value = TRUE))[1:2]
  edit_lines(csv[[1L]], function(l) c(l, utils::tail(l, 1L)))
  edit_lines(csv[[2L]], function(l) l[-length(l)])
  broken <- read_launches(files)$broken
  expect_identical(vapply(broken, `[[`, "", "file"), csv)
  expect_identical(
    vapply(broken, conditionMessage, ""),
    vapply(sub("csv$", "json", csv), function(file) {
      conditionMessage(read_launches(file)$broken[[1L]])
    }, "", USE.NAMES = FALSE)
  )
})

test_that("what is of another type among others than alone is read alone", {
  columns <- list(
    name = c(SAMPLE_COLUMNS, "kind"), role = c(rep("factor", 4L), "measure", "flag", "factor")
  )
  asks <- function(...) {
    lapply(list(...), function(kinds) {
      file <- tempfile(fileext = ".csv")
      rows <- sprintf("op,1,%d,10,1e-6,1,%s", seq_along(kinds) - 1L, kinds)
      writeLines(c(SAMPLES_SCHEMAS[[1L]], toString(columns$name), rows), file)
      edit_lines(file, function(l) gsub(", ", ",", l))
      list(file = file, columns = columns, rows = length(kinds))
    })
  }
  expect_identical(read_alike(asks(c("a", "b"), "c"))$kind, c("a", "b", "c"))
  expect_identical(read_alike(asks(1:2, 3L))$kind, 1:3)
  for (odd in list("01", "", "TRUE", "2026-01-01", "NA")) {
    expect_null(read_alike(asks("a", odd)))
    found <- read_sample_files(asks("a", odd))
    expect_identical(lapply(found, `[[`, "of"), list(1L, 2L))
  }
  # Two files with the right total number of rows.
  uneven <- asks(c("a", "b"), "c")
  uneven[[1L]]$rows <- 1L
  uneven[[2L]]$rows <- 2L
  expect_null(read_alike(uneven))
})

test_that("a launch that is ok has samples", {
  launch <- one_launch()
  edit_lines(launch$csv, function(l) l[1:2])
  edit_json(launch$json, function(d) {
    d$samples$rows <- 0L
    d
  })
  expect_refused(read_results(launch$folder), launch$csv, 2L, "no samples")
})

test_that("values of another type or out of range are refused at their line", {
  row <- function(text) function(l) replace(l, 5L, text)
  spoil(row(",1,2,10,1e-7,1"), "column operation", 5L)
  spoil(row("ping\"pong,1,2,10,1e-7,1"), "column operation", 5L)
  spoil(row("pingpong,-1,2,10,1e-7,1"), "bad value \"-1\" in column bytes", 5L)
  spoil(row("pingpong,1.5,2,10,1e-7,1"), "column bytes", 5L)
  spoil(row("pingpong,1.0,2,10,1e-7,1"), "column bytes", 5L)
  spoil(row("pingpong,,2,10,1e-7,1"), "column bytes", 5L)
  spoil(row("pingpong,1,x,10,1e-7,1"), "column repetition", 5L)
  spoil(row("pingpong,1,2,0,1e-7,1"), "column calls", 5L)
  spoil(row("pingpong,1,2,10,-1e-7,1"), "column time_s", 5L)
  spoil(row("pingpong,1,2,10,nan,1"), "column time_s", 5L)
  spoil(row("pingpong,1,2,10,1e300,1"), "column time_s", 5L)
  spoil(row("pingpong,1,2,10,NA,1"), "column time_s", 5L)
  spoil(row("pingpong,1,2,10,inf,1"), "column time_s", 5L)
  spoil(row("pingpong,1,2,10,1e-7,2"), "bad value \"2\" in column valid", 5L)
  spoil(row("pingpong,1,2,10,1e-7,TRUE"), "column valid", 5L)
})

test_that("uneven and empty lines are refused at their line", {
  row <- function(text) function(l) replace(l, 6L, text)
  spoil(row("pingpong,1,2,10,1e-7"), "5 fields, not 6", 6L)
  spoil(row("pingpong,1,2,10,1e-7,1,1"), "7 fields, not 6", 6L)
  spoil(row(""), "1 fields, not 6", 6L)
})

test_that("the first of several bad lines is named", {
  spoil(function(l) {
    l[[4L]] <- "pingpong,1,2,10,bad,1"
    l[[5L]] <- "pingpong,1,2"
    l[[7L]] <- "pingpong,-4,2,10,1e-7,1"
    l
  }, "column time_s", 4L)
})

test_that("a damaged gzip file is refused", {
  launch <- one_launch()
  file <- pack(launch$csv)
  bytes <- readBin(file, "raw", file.size(file))
  for (kept in list(bytes[seq_len(length(bytes) - 12L)], bytes[1:2])) {
    writeBin(kept, file)
    error <- expect_error(read_results(launch$folder), class = "cotejo_bad_data")
    expect_match(conditionMessage(error), paste0(file, ": not a complete gzip file"), fixed = TRUE)
  }
})

test_that("sizes beyond 2^31 are whole numbers", {
  launch <- one_launch()
  edit_lines(launch$csv, function(l) sub(",1048576,", ",8589934592,", l))
  expect_identical(unique(read_results(launch$folder)$samples$bytes), c(1, 2^33))
})

further_column <- function(unit, values) {
  launch <- one_launch()
  edit_lines(launch$csv, function(l) {
    l[-1L] <- paste0(l[-1L], ",", c("extra", values))
    l
  })
  edit_json(launch$json, function(d) {
    d$samples$columns <- c(
      d$samples$columns, list(list(name = "extra", unit = unit, meaning = "a further column"))
    )
    d
  })
  launch
}

test_that("further columns are read; one with a unit holds numbers", {
  results <- read_results(further_column("s", 1:6 / 4)$folder)
  expect_identical(results$samples$extra, 1:6 / 4)
  expect_identical(results$roles, c(extra = "measure"))
  named <- read_results(further_column("", c("a", "b", "a", "b", "a", "b"))$folder)
  expect_identical(named$roles, c(extra = "factor"))
  launch <- further_column("s", c(1, 2, "x", 4, 5, 6))
  expect_refused(read_results(launch$folder), launch$csv, 5L, "bad value \"x\" in column extra")
})

# The maximum memory (B) that R uses in a call, in addition to the memory in use before.
memory_of <- function(call) {
  before <- sum(gc(reset = TRUE)[, 2L])
  force(call)
  2^20 * (sum(gc()[, 6L]) - before)
}

test_that("empty and endless lines take little memory, however many there are", {
  size <- 2^22
  head <- paste0(SAMPLES_SCHEMAS[[1L]], "\n", paste(SAMPLE_COLUMNS, collapse = ","), "\n")
  columns <- list(name = SAMPLE_COLUMNS, role = c(rep("factor", 4L), "measure", "flag"))
  good <- "pingpong,1,0,10,1e-6,1\n"
  for (body in list(strrep("\n", size), paste0(strrep(",", size), "\n"), paste0(good, "\n"))) {
    file <- tempfile(fileext = ".csv")
    writeBin(charToRaw(paste0(head, body)), file)
    for (rows in c(1, 2, size)) {
      ask <- list(file = file, columns = columns, rows = rows)
      taken <- memory_of({
        expect_error(read_samples(file, columns, rows), "fields, not 6|may have",
          class = "cotejo_bad_data")
        expect_null(read_alike(list(ask, ask)))
      })
      expect_lt(taken, 30 * size)
    }
  }
})

test_that("the last of many lines is named", {
  launch <- one_launch()
  rows <- 25000L
  edit_lines(launch$csv, function(l) c(l[1:2], rep(l[[3L]], rows), sub(",1$", ",7", l[[3L]])))
  expect_refused(
    read_results(launch$folder), launch$csv, rows + 3L, "bad value \"7\" in column valid"
  )
})

test_that("a gzip file is not unpacked beyond what a sample file may have", {
  launch <- one_launch()
  connection <- gzfile(paste0(launch$csv, ".gz"), "wb")
  writeBin(c(readBin(launch$csv, "raw", 1e6), rep(LINE_END, MOST_SAMPLES)), connection)
  close(connection)
  unlink(launch$csv)
  expect_error(read_results(launch$folder), "or too large", class = "cotejo_bad_data")
})

test_that("a launch has as many samples as it likes, but no more groups than a report can show", {
  one <- \(...) write_launch(fresh_folder(), make_description(), make_samples(...))
  groups <- 2^16
  many <- one(1, matrix(1e-6, nrow = groups + 1))
  expect_identical(nrow(read_results(dirname(many))$samples), as.integer(groups + 1))
  many <- one(seq_len(groups + 1), matrix(1e-6, 1L, groups + 1))
  expect_error(
    suppressMessages(read_results(dirname(many))),
    "more than 65536 operations, sizes and values of factors", fixed = TRUE
  )
})
