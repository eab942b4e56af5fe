# SPDX-License-Identifier: BSD-3-Clause
# Launch descriptions are checked against docs/data.md; faults are named with file and line.

# The n-th line that names a member.
line_with <- function(file, text, nth = 1L) grep(text, readLines(file), fixed = TRUE)[[nth]]

spoil <- function(change, what, member, nth = 1L) {
  launch <- one_launch()
  edit_json(launch$json, change)
  line <- if (is.null(member)) 1L else line_with(launch$json, paste0("\"", member, "\""), nth)
  expect_refused(read_results(launch$folder), launch$json, line, what)
}

test_that("a sound description gives one row with what was asked and observed", {
  launch <- one_launch(settings = list(eager_limit = "65536"), parameters = list(pairs = 2L))
  row <- read_results(launch$folder)$launches
  expect_identical(nrow(row), 1L)
  expect_identical(row$key, paste0("local/20261121T070000Z/", basename(launch$path)))
  expect_identical(row$settings, "eager_limit=65536")
  expect_identical(row$setting_eager_limit, "65536")
  expect_identical(row$parameters, "pairs=2")
  expect_identical(row$observed_cpus, "0|1")
  expect_identical(row$observed_hosts, "node|node")
  expect_identical(row$`option_max-bytes`, "65536")
  expect_identical(row$timer_overhead_s, 2e-8)
})

test_that("a row is of its own description, whatever the one before it said", {
  launches <- list(
    one_launch(settings = list(eager_limit = "65536"), parameters = list(pairs = 2L)),
    one_launch(), one_launch(parameters = list(pairs = 4L))
  )
  edit_json(launches[[2L]]$json, function(d) {
    d$observed$ranks[[2L]]$cpus <- "7"
    d$observed$options$`max-bytes` <- 1024L
    d$provenance$commit <- "another"
    d
  })
  row <- function(launch) flatten_description(parse_description(launch$json), launch$json)
  alone <- lapply(launches, function(launch) {
    rm(list = ls(said_before), envir = said_before)
    row(launch)
  })
  order <- c(1L, 2L, 3L, 2L, 1L, 1L)
  expect_identical(lapply(launches[order], row), alone[order])
  expect_identical(alone[[2L]]$observed_cpus, "0|7")
  expect_identical(alone[[2L]]$`option_max-bytes`, "1024")
})

test_that("sizes that were left out for lack of memory are in the row", {
  launch <- one_launch()
  edit_json(launch$json, function(d) {
    d$observed$found <- list(beyond_memory = list("bcast 1048576", "alltoall 1048576"))
    d
  })
  row <- read_results(launch$folder)$launches
  expect_identical(row$found_beyond_memory, "bcast 1048576,alltoall 1048576")
})

test_that("what is wrong twice is refused twice", {
  launch <- one_launch()
  edit_json(launch$json, function(d) {
    d$observed$ranks[[2L]]$cpus <- NULL
    d
  })
  for (time in 1:2) {
    expect_error(parse_description(launch$json), "observed.ranks.cpus", class = "cotejo_bad_data")
  }
})

test_that("an unknown schema is refused", {
  spoil(function(d) replace(d, "schema", "cotejo-launch/9"), "cotejo-launch/9", "schema")
  spoil(function(d) d[names(d) != "schema"], "schema NULL", NULL)
})

test_that("missing members and other types are refused at their line", {
  spoil(function(d) replace(d, "status", "fine"), "status \"fine\"", "status")
  spoil(function(d) replace(d, "id", "other"), "is not the file's name", "id")
  spoil(function(d) {
    d$asked$mpi <- NULL
    d
  }, "member asked.mpi is missing (text expected)", "asked")
  spoil(function(d) {
    d$asked$launch <- "one"
    d
  }, "member asked.launch is of another type (integer expected)", "launch")
  # `size` of observed, not another member with this name.
  spoil(function(d) {
    d$observed$size <- list(2L)
    d
  }, "member observed.size is of another type", "size")
  spoil(function(d) {
    d$observed$ranks[[2L]]$cpus <- NULL
    d
  }, "member observed.ranks.cpus is missing", "ranks", nth = 2L)
  spoil(function(d) {
    d$samples$columns[[2L]]$unit <- NULL
    d
  }, "member samples.columns.unit is missing", "columns")
  spoil(function(d) replace(d, "samples", list(NULL)), "member samples is missing", "samples")
  spoil(function(d) replace(d, "observed", list(NULL)), "member observed is missing", "observed")
})

test_that("numbers out of range are refused at their line", {
  within <- function(path, value) {
    function(d) {
      d[[path]] <- value
      d
    }
  }
  spoil(within("wall_s", -1), "wall_s: -1 is less than 0; write it as docs/data.md", "wall_s")
  spoil(within(c("asked", "ranks"), -2L), "asked.ranks: -2 is less than 1", "ranks")
  spoil(within(c("asked", "ranks"), 0L), "asked.ranks: 0 is less than 1", "ranks")
  spoil(within(c("asked", "ranks"), 1.5), "another type (integer expected)", "ranks")
  spoil(within(c("asked", "ranks"), 1e300), "is more than 2147483647", "ranks")
  spoil(within(c("observed", "size"), 0L), "observed.size: 0 is less than 1", "size")
  spoil(
    within(c("observed", "node", "memory_bytes"), -1), "node.memory_bytes: -1 is less than 0",
    "memory_bytes"
  )
})

test_that("text in place of a number is refused, and R gives no warning", {
  expect_no_warning({
    spoil(function(d) {
      d$observed$disturbed <- list(list(ranks = "0-x", migrations = 1L))
      d
    }, "observed.disturbed.ranks: \"0-x\"; it must have a list of numbers", "ranks", nth = 3L)
    spoil(function(d) {
      d$observed$machine <- list(steal_s = "much")
      d
    }, "observed.machine.steal_s is of another type", "steal_s")
    spoil(function(d) {
      d$observed$nodes <- list(c(d$observed$node, hosts = list("a")))
      d$observed$nodes[[1L]]$load_1min <- "1 %"
      d
    }, "observed.nodes.load_1min is of another type", "load_1min", nth = 2L)
    spoil(function(d) {
      d$observed$nodes <- list(list(kernel = "6.1", cpu_model = "A CPU"))
      d
    }, "member observed.nodes.governor is missing", "nodes")
    spoil(function(d) {
      d$asked$settings <- list(eager_limit = "64k")
      d
    }, "asked.settings.eager_limit: \"64k\"; it must have a number of bytes", "eager_limit")
  })
})

test_that("an object with a member twice is refused", {
  for (member in c("wall_s", "max-bytes", "governor")) {
    launch <- one_launch()
    edit_lines(launch$json, function(lines) {
      sub(sprintf("(\"%s\":)", member), "\\1 1, \\1", lines)
    })
    error <- expect_error(read_results(launch$folder), class = "cotejo_bad_data")
    expect_match(
      conditionMessage(error), sprintf("twice the member \".*%s\"; write each", member)
    )
  }
})

test_that("a file that is not one JSON object is refused at the line where it breaks", {
  launch <- one_launch()
  lines <- readLines(launch$json)
  writeLines(utils::head(lines, 20L), launch$json)
  expect_refused(read_results(launch$folder), launch$json, 20L, "not JSON")
  writeLines(replace(lines, 7L, "  @"), launch$json)
  expect_refused(read_results(launch$folder), launch$json, 7L, "not JSON")
  writeLines("[1, 2]", launch$json)
  expect_refused(read_results(launch$folder), launch$json, 1L, "not one JSON object")
  file.create(launch$json)
  expect_refused(read_results(launch$folder), launch$json, 1L, "no plain file, or empty")
})

test_that("samples that are not beside their description are refused", {
  launch <- one_launch()
  unlink(launch$csv)
  expect_refused(
    read_results(launch$folder), launch$json, line_with(launch$json, "\"file\""),
    "is not beside it"
  )
})

test_that("samples of another launch are refused", {
  launch <- one_launch()
  other <- sub("[0-9]+[.]csv$", "009.csv", launch$csv)
  file.copy(launch$csv, other)
  lines <- readLines(launch$json)
  writeLines(sub(basename(launch$csv), basename(other), lines, fixed = TRUE), launch$json)
  expect_refused(
    read_results(launch$folder), launch$json, line_with(launch$json, "\"file\""),
    "are not those of this launch"
  )
})

test_that("samples without a description did not happen", {
  launch <- one_launch()
  file.copy(launch$csv, file.path(dirname(launch$csv), "begun.001.csv"))
  expect_identical(nrow(read_results(launch$folder)$launches), 1L)
})

test_that("a launch that names a session which has another folder is left out", {
  launch <- one_launch()
  session <- dirname(launch$json)
  evil <- file.path(launch$folder, "evil", "20200101T000000Z")
  dir.create(evil, recursive = TRUE)
  files <- c(launch$csv, launch$json)
  file.copy(files, evil)
  results <- suppressMessages(read_results(launch$folder))
  expect_identical(as.character(results$launches$file), launch$json)
  expect_identical(nrow(results$samples), 6L)
  expect_match(
    results$broken$what, "evil/.*json: names session local/.*, which has another folder, too; put"
  )
  # If two copies are in folders of other names, neither is valid.
  another <- file.path(launch$folder, "evil", "20200202T000000Z")
  file.rename(session, another)
  expect_error(
    suppressMessages(read_results(launch$folder)), "which has another folder, too",
    class = "cotejo_bad_data"
  )
  unlink(another, recursive = TRUE)
  # A single copy is a session that was copied to a folder of another name.
  expect_identical(nrow(read_results(launch$folder)$launches), 1L)
})

test_that("a byte order mark is no fault and no warning", {
  launch <- one_launch()
  bytes <- readBin(launch$json, "raw", 1e6)
  writeBin(c(as.raw(c(0xef, 0xbb, 0xbf)), bytes), launch$json)
  expect_no_warning(results <- read_results(launch$folder))
  expect_identical(nrow(results$launches), 1L)
})

test_that("one launch read twice is used once", {
  launch <- one_launch()
  session <- dirname(launch$json)
  copy <- file.path(session, basename(dirname(session)), basename(session))
  dir.create(copy, recursive = TRUE)
  file.copy(c(launch$csv, launch$json), copy)
  results <- suppressMessages(read_results(session))
  expect_identical(nrow(results$launches), 1L)
  expect_identical(nrow(results$samples), 6L)
  expect_match(results$broken$what, "is there twice; keep one copy", fixed = TRUE)
})

test_that("bytes that are no text are refused at their line, without a warning", {
  expect_no_warning({
    launch <- one_launch()
    bytes <- readBin(launch$csv, "raw", file.size(launch$csv))
    bytes[grepRaw("pingpong,", bytes)] <- as.raw(0xff)
    writeBin(bytes, launch$csv)
    expect_refused(read_results(launch$folder), launch$csv, 3L, "not UTF-8")
    launch <- one_launch()
    writeBin(c(charToRaw("{}"), as.raw(0)), launch$json)
    error <- expect_error(read_results(launch$folder), class = "cotejo_bad_data")
    expect_match(conditionMessage(error), "not JSON: a byte of 0", fixed = TRUE)
  })
})

test_that("a missing and an empty folder are refused in one line", {
  folder <- fresh_folder()
  error <- expect_error(read_results(folder), class = "cotejo_bad_data")
  expect_match(conditionMessage(error), "no launch in it; measure something first")
  error <- expect_error(read_results(file.path(folder, "none")), class = "cotejo_bad_data")
  expect_match(conditionMessage(error), "no such folder")
})

test_that("a site's and a session's folder are read as the whole is", {
  folder <- fresh_folder()
  write_study(folder, blocks = 2L)
  whole <- read_results(folder)
  site <- read_results(file.path(folder, "local"))
  session <- read_results(file.path(folder, "local", "20261121T070000Z"))
  expect_identical(site$launches$key, whole$launches$key)
  expect_identical(session$samples, whole$samples)
})

test_that("objects, lists and texts with more in them than any should have are refused", {
  many <- function(n) stats::setNames(as.list(rep("1", n)), paste0("a", seq_len(n)))
  within <- function(path, value) {
    function(d) {
      d[[path]] <- value
      d
    }
  }
  for (member in c("settings", "parameters")) {
    spoil(within(c("asked", member), many(129L)), "129 entries are more than 128", member)
  }
  for (member in c("options", "found")) {
    spoil(within(c("observed", member), many(129L)), "129 entries are more than 128", member)
  }
  spoil(
    function(d) within(c("samples", "columns"), rep(d$samples$columns, 22L))(d),
    "132 entries are more than 128", "columns"
  )
  spoil(
    within(c("asked", "settings"), list(a = list("1", strrep("x", MOST_TEXT + 1)))),
    "too long a text: asked.settings.a", "a"
  )
  launch <- one_launch()
  edit_json(launch$json, within(c("asked", "settings"), many(128L)))
  expect_identical(sum(grepl("^setting_", names(read_results(launch$folder)$launches))), 128L)
})

test_that("a member that is there twice is named with what holds it", {
  file <- tempfile(fileext = ".json")
  for (inner in c("[[1], {\"c\": 1,\n\"c\": 2}]", "{\"c\": {}, \"c\": 0}")) {
    text <- sprintf("{\"a\": {\"b\": %s}}", inner)
    writeLines(text, file)
    expect_error(parse_json_file(file), "twice the member \"a.b.c\"", class = "cotejo_bad_data")
  }
  writeLines("{\"a\": [\"b\", \"b\"], \"b\": [[], [], {}], \"\": {\"b\": null}}", file)
  expect_length(parse_json_file(file), 3L)
})

test_that("the line at which JSON ends or breaks is found by one look at it", {
  broken <- c(
    "{" = 1L, "[1,\n2\n" = 2L, "{}\n\nx\n" = 3L, "\n\nx" = 3L,
    "{\"a\"\n:\nnul}\n" = 3L, "\n\n" = 2L
  )
  for (text in names(broken)) expect_identical(broken_line(text), broken[[text]], label = text)
  text <- paste0(strrep("[[],\n", 10L), strrep("[],\n", 3e5), "x")
  took <- function(call) sum(system.time(force(call))[1:2])
  once <- took(try(jsonlite::parse_json(text), silent = TRUE))
  expect_lt(took(expect_identical(broken_line(text), 300011L)), 4 * once + 0.1)
})
