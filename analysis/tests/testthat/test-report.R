# SPDX-License-Identifier: BSD-3-Clause
# Answers in words, figures and the report: the right winner, reproducible bytes, one
# self-contained file.

MPIS <- c(openmpi = 3e-7, mpich = 6e-7)

quietly <- function(code) suppressMessages(utils::capture.output(code))

# The text of the report, without tags and figures.
text_of_report <- function(file) {
  html <- paste(readLines(file), collapse = " ")
  html <- gsub("<(script|style)[^>]*>.*?</\\1>", " ", html, perl = TRUE)
  html <- gsub("<[^>]+>", " ", html)
  gsub("[ \t]+", " ", gsub("&#39;", "'", html, fixed = TRUE))
}

# The only card of a study.
card_of <- function(...) {
  study <- suppressMessages(analyse(write_study(fresh_folder(), ...)))
  cards <- answer(study$comparison, study)
  expect_length(cards, 1L)
  c(cards[[1L]], list(rows = study$comparison))
}

test_that("a card names the tiers, the factor with its interval, n and the scope", {
  card <- card_of(MPIS, bytes = c(1, 256))
  found <- card$rows
  expect_identical(card$lines, c(
    sprintf(
      "1 B to 256 B: Open MPI; MPICH takes %s (at least %s %%)",
      say_factors(min(found$ratio), max(found$ratio)),
      format_digits(100 * (min(found$low) - 1), 2L)
    ),
    "10 launches of each, in this session; 2 of 2 comparisons settled"
  ))
  expect_equal(found$ratio[[1L]], 2, tolerance = 0.05)
  factors <- card$orders[[1L]]$configurations[[1L]]
  expect_identical(factors$configuration, c("openmpi", "mpich"))
  expect_equal(factors$low[[2L]], min(found$low))
  expect_null(card$to_settle)
})

test_that("the winner is named whichever side of the pair it is", {
  card <- card_of(c(openmpi = 6e-7, mpich = 3e-7), bytes = 1)
  expect_match(card$lines[[1L]], sprintf(
    "^1 B: MPICH; Open MPI takes %s", say_factors(1 / card$rows$ratio, 1 / card$rows$ratio)
  ))
})

test_that("equal and unclear configurations are not called different", {
  equal <- c(openmpi = 3e-7, mpich = 3e-7)
  card <- card_of(equal, bytes = 1, cv = 0.005, seed = 2L)
  expect_match(card$lines[[1L]], "^1 B: MPICH and Open MPI, within [0-9.]+ %$")
  card <- card_of(equal, bytes = 1, cv = 0.2, seed = 5L)
  expect_identical(card$lines[[1L]], "1 B: MPICH or Open MPI, not settled")
  expect_match(
    card$lines[[2L]],
    "^Not settled: MPICH and Open MPI at 1 B: MPICH may be anything from .* faster to .* slower$"
  )
  # The card shows the command that would settle it, and its cost.
  expect_match(
    card$lines[[length(card$lines)]], paste0(
      "^To settle: about [0-9]+ more launches.* \\([0-9]+ minutes?\\): make study ",
      "CELLS='\\^pingpong_quick\\\\[.][.][*]\\\\[.]shm\\\\[.]near' LAUNCHES=[0-9]+$"
    )
  )
  expect_match(
    "pingpong_quick.mpich.shm.near", gsub("^.*CELLS='|' .*$", "", card$to_settle$command)
  )
})

test_that("the command of a card has the sizes, variables and program of its session", {
  folder <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 3e-7), bytes = 1, cv = 0.2,
    seed = 5L)
  file <- file.path(folder, "local", "20261121T070000Z", "session.json")
  command <- function(sizes, set = "", program = "") {
    cells <- sprintf("pingpong_quick.%s.shm.near", names(MPIS))
    write_json(list(
      tag = "quick", blocks = 10L, seed = 42L, cells = as.list(cells), begun = "", finished = "",
      sizes = sizes, set = set, program = program, reframe_s = 1
    ), file)
    study <- suppressMessages(analyse(folder))
    answer(study$comparison, study)[[1L]]$to_settle$command
  }
  expect_match(command("8Ki,1:64:x2"), "shm\\\\.near' SIZES=8Ki,1:64:x2 LAUNCHES=[0-9]+$")
  expect_match(command(""), "make study TAG=quick CELLS='.*shm\\\\.near' LAUNCHES=[0-9]+$")
  expect_no_match(command("8;id"), ";", fixed = TRUE)
  expect_match(command("", "A=b|c;$d"), "near' SET='A=b[|]c;[$]d' LAUNCHES=[0-9]+$")
  expect_match(
    command("", "", "app-1"), "make study CELLS='.*near' PROGRAM=app-1 LAUNCHES=[0-9]+$"
  )
  expect_no_match(command("", "", "x;id"), ";", fixed = TRUE)
})

test_that("warnings stand on the card of the question that they concern", {
  folder <- fresh_folder()
  cells <- character()
  for (operation in c("pingpong", "pingping")) {
    write_study(folder, MPIS, bytes = 1, experiment = operation, operation = operation)
    cells <- c(cells, sprintf("%s_quick.%s.shm.near", operation, names(MPIS)))
  }
  here <- file.path(folder, "local", "20261121T070000Z")
  # The first block of the ping-pong is slow; block 4 was disturbed and replaced.
  for (cell in grep("pingpong", cells, value = TRUE)) {
    edit_lines(file.path(here, paste0(cell, ".001.csv")), function(lines) {
      sub("e-07,", "e-06,", lines, fixed = TRUE)
    })
    edit_json(file.path(here, paste0(cell, ".004.json")), function(d) {
      d$status <- "marked"
      d$reason <- paste(
        "disturbed: the machine took up to 50 % of the cores of a launch in this block;",
        "block 11 is in its place"
      )
      d
    })
  }
  write_json(list(
    tag = "quick", blocks = 10L, seed = 42L, cells = as.list(cells), begun = "", finished = "",
    reframe_s = 1, skipped = list(
      list(cell = "pingpong_quick.intel-mpi.shm.near", reason = "no library of this name"),
      list(cell = "pingpong_quick.intel-mpi.tcp.near", reason = "of another question"),
      list(cell = cells[[1L]], reason = "measured by another session")
    )
  ), file.path(here, "session.json"))
  study <- suppressMessages(analyse(folder))
  cards <- answer(study$comparison, study)
  names(cards) <- vapply(cards, function(card) card$place$operation, "")
  expect_match(
    cards$pingpong$warnings[[1L]], "^the first block of the session was up to [0-9]+ % slower"
  )
  expect_identical(cards$pingpong$warnings[2:3], c(
    `replaced blocks` =
      "1 block was measured again, because the machine took up to 50 % of the cores of a launch",
    `not all measured` = "Intel MPI was not measured: no library of this name"
  ))
  expect_length(cards$pingping$warnings, 0L)
})

test_that("a card says where the 99th percentile orders libraries in another way", {
  slow_calls <- function(folder, share) {
    for (file in list.files(folder, "openmpi.*[.]csv$", recursive = TRUE, full.names = TRUE)) {
      edit_lines(file, function(lines) {
        fields <- strsplit(lines[-(1:2)], ",", fixed = TRUE)
        c(lines[1:2], vapply(fields, function(row) {
          late <- as.integer(row[[3L]]) %% 20L < 20L * share
          row[[5L]] <- format(as.numeric(row[[5L]]) * if (late) 10 else 1, digits = 8L)
          paste(row, collapse = ",")
        }, ""))
      })
    }
    study <- suppressMessages(analyse(folder))
    list(card = answer(study$comparison, study)[[1L]], study = study)
  }
  folder <- write_study(fresh_folder(), MPIS, bytes = 1, blocks = 6L, n = 40L)
  calm <- slow_calls(folder, 0)
  expect_length(calm$card$tails, 0L)
  found <- slow_calls(folder, 0.1)
  expect_match(found$card$lines[[1L]], "^1 B: Open MPI; MPICH takes 2[.]")
  expect_match(found$card$lines, paste(
    "^By the 99th percentile of each launch, Open MPI takes [0-9.]+ times as long as MPICH at 1 B",
    "[(]by the median: faster[)]$"
  ), all = FALSE)
  expect_named(found$study$by_time, setdiff(names(LAUNCH_TIMES), "median"))
  expect_identical(found$study$by_time$minimum$verdict, found$study$comparison$verdict)
  page <- as.character(other_times(found$study))
  expect_match(page, "99th percentile: the slowest calls", fixed = TRUE)
  # Too few samples have no tail.
  few <- write_study(fresh_folder(), MPIS, bytes = 1, blocks = 6L, n = 15L)
  expect_identical(nrow(slow_calls(few, 0.1)$study$by_time$p99), 0L)
})

test_that("few launches are not tested, and the command says how many are", {
  card <- card_of(MPIS, bytes = 1, blocks = 3L)
  expect_match(card$lines[[1L]], "MPICH and Open MPI not tested", fixed = TRUE)
  expect_identical(c(card$tested, card$to_settle$launches), c(0, 1))
})

test_that("of three MPIs the order is said run by run of sizes", {
  rows <- data.table::data.table(
    bytes = rep(c(1, 4, 16, 64), each = 3L), a = c("x", "x", "y"), b = c("y", "z", "z"),
    verdict = c(
      "faster", "faster", "slower", "faster", "faster", "slower",
      "slower", "not settled", "faster", "within", "slower", "slower"
    )
  )
  rows[, c("relevance", "at_most", "stratum") := list("relevant", 0.09, 1L)]
  ratio <- c(faster = 0.5, slower = 2, within = 1, `not settled` = 1)
  rows[, c("ratio", "low", "high") := list(
    ratio[verdict], ratio[verdict] * 0.9, ratio[verdict] * 1.1
  )]
  # y beats x at 16 B, x and z are not settled, but z is behind y.
  twice <- function(name, least) {
    sprintf("%s takes 2.0 times as long (at least %s %%)", name, least)
  }
  said <- c(
    paste("16 B: y", twice("x", 80), twice("z", 82), sep = "; "),
    paste("64 B: z", twice("x", 80), twice("y", 80), sep = "; ")
  )
  rows[bytes <= 4 & a == "x" & b == "y", ratio := 0.4]
  found <- orders_of(rows)
  expect_identical(found$text[-1L], said)
  expect_match(found$text[[1L]], "^1 B to 4 B: x; z takes 2.0 times as long .*; y takes 2.5 times")
  rows[bytes == 64, verdict := c("within", "faster", "faster")]
  expect_match(orders_of(rows)$text[[3L]], "^64 B: x and y, within 9.0 %; z takes")
  # Circular verdicts give no order; without a test there is no tier.
  circle <- rows[bytes == 1][, verdict := c("faster", "slower", "faster")]
  expect_identical(tiers_of(circle)$tier, rep(1L, 3L))
  lacking <- rows[bytes == 1][, verdict := c("faster", "not tested", "not tested")]
  expect_identical(tiers_of(lacking)$tier, c(1L, 2L, NA))
  expect_identical(fastest_of(lacking)$winner, "")
})

test_that("answers are written as JSON that the schema describes", {
  study <- suppressMessages(analyse(write_study(
    fresh_folder(), c(MPIS, `intel-mpi` = 6.1e-7), bytes = c(1, 1024), cv = 0.05
  )))
  file <- file.path(fresh_folder(), "answers.json")
  write_answers(answer(study$comparison, study), file)
  read <- jsonlite::read_json(file)
  expect_identical(read$schema, "cotejo-answers/1")
  expect_identical(read$answers[[1L]]$place$operation, "pingpong")
  expect_identical(read$answers[[1L]]$orders[[1L]]$sizes[[1L]], 1L)
})

test_that("sizes, times and p are written with units and without loss", {
  expect_identical(
    format_bytes(c(0, 1, 1000, 1024, 1536, 2^20, 4 * 2^20, 2^33)),
    c("0 B", "1 B", "1000 B", "1 KiB", "1536 B", "1 MiB", "4 MiB", "8 GiB")
  )
  expect_identical(format_us(2.45171875e-7), "0.2452")
  expect_identical(format_digits(c(0.000123456, 12.3456, 1234.5)), c("0.000123", "12.3", "1234"))
  expect_identical(format_interval(2, 1.5, 2.25), "2.00 [1.50, 2.25]")
  expect_identical(format_p(c(1e-30, 0.5, NA)), c("1.0e-30", "0.500", "NA"))
})

test_that("figures are the same bytes twice, as SVG and CSV, as PDF when asked for", {
  folder <- write_study(
    fresh_folder(), MPIS,
    bytes = c(0, 1, 1024), transports = c("shm", "tcp"), blocks = 6L, n = 5L
  )
  first <- fresh_folder()
  second <- fresh_folder()
  expect_silent(quietly(draw_figures(folder, first, pdf = TRUE)))
  # A PDF's date has seconds.
  Sys.sleep(1.1)
  set.seed(99L)
  said <- quietly(draw_figures(folder, second, pdf = TRUE))
  expect_identical(said, second)
  drawn <- list.files(first)
  stems <- c("bandwidth-pingpong", "difference-pingpong", "drift", "latency-pingpong")
  expect_setequal(
    drawn, c("medians.csv", outer(stems, c(".svg", ".pdf", ".csv"), paste0))
  )
  same <- if (pdf_without_date()) drawn else grep("pdf$", drawn, value = TRUE, invert = TRUE)
  expect_identical(
    unname(tools::md5sum(file.path(first, same))), unname(tools::md5sum(file.path(second, same)))
  )
  plain <- fresh_folder()
  quietly(draw_figures(folder, plain))
  expect_setequal(list.files(plain), grep("pdf$", drawn, value = TRUE, invert = TRUE))
  # Only complete files, and no hidden files.
  expect_identical(list.files(first, all.files = TRUE, no.. = TRUE), drawn)
})

test_that("a figure's data are what it shows", {
  folder <- write_study(fresh_folder(), MPIS, bytes = c(1, 1024), blocks = 6L)
  out <- fresh_folder()
  quietly(draw_figures(folder, out))
  medians <- data.table::fread(file.path(out, "latency-pingpong.csv"))
  summary <- summarise_configurations(summarise_launches(read_results(folder)))
  expect_equal(medians$median_s, summary$median_s, tolerance = 1e-12)
  svg <- paste(readLines(file.path(out, "latency-pingpong.svg")), collapse = "\n")
  for (text in c("1 B", "1 KiB", "Open MPI", "MPICH", "message size")) {
    expect_match(svg, paste0(">", text, "<"), fixed = TRUE)
  }
})

test_that("simulated results are labelled on every figure and in the report", {
  folder <- write_study(
    fresh_folder(), MPIS,
    bytes = 1, blocks = 6L, simulated = "by SimGrid 3.32"
  )
  study <- suppressMessages(analyse(folder))
  for (make in plots_of_study(study)) {
    plot <- make()
    expect_match(plot$labels$caption, "NOT REAL HARDWARE: by SimGrid 3.32", fixed = TRUE)
  }
})

test_that("the report is one file that says what the study found and what it rests on", {
  folder <- write_study(
    fresh_folder(), MPIS, bytes = c(1, 1024), blocks = 6L, transports = c("shm", "tcp")
  )
  session <- file.path(folder, "local", "20261121T070000Z")
  write_launch(folder, make_description(
    "mpich", launch = 7L, status = "failed", reason = "time limit of 60 s"
  ))
  cells <- sprintf("pingpong_quick.%s.shm.near", c("mpich", "openmpi"))
  write_json(list(
    tag = "quick", blocks = 7L, seed = 42L, cells = as.list(cells), begun = "", finished = "",
    reframe_s = 1
  ), file.path(session, "session.json"))
  write_json(list(
    list(mpi = "mpich", item = "flags", value = "-O2"),
    list(mpi = "openmpi", item = "flags", value = "-O3"),
    list(mpi = "mpich", item = "hwloc", value = "2.9"),
    list(mpi = "openmpi", item = "hwloc", value = "2.9")
  ), file.path(session, "audit.json"))
  out <- file.path(fresh_folder(), "deep", "report.html")
  said <- quietly(write_report(folder, out))
  # The answers are printed before the path, and written beside the report.
  expect_match(said, "1 B to 1 KiB: Open MPI; MPICH takes", fixed = TRUE, all = FALSE)
  expect_identical(utils::tail(said, 1L), out)
  expect_true(file.exists(file.path(dirname(out), "answers.json")))
  html <- paste(readLines(out), collapse = "\n")
  # Every source is inside the page, and each link leads to a section or to a file beside the
  # report.
  sources <- regmatches(html, gregexpr("src=\"[^\"]{0,20}", html))[[1L]]
  expect_true(length(sources) > 0L && all(startsWith(sources, "src=\"data:")))
  links <- regmatches(html, gregexpr("(?<=href=\")[^\"]*", html, perl = TRUE))[[1L]]
  inner <- startsWith(links, "#")
  ids <- regmatches(html, gregexpr("(?<=id=\")[^\"]*", html, perl = TRUE))[[1L]]
  expect_true(all(substring(links[inner], 2L) %in% ids))
  expect_true(any(!inner) && all(file.exists(file.path(dirname(out), links[!inner]))))
  expect_false(grepl("url(h", html, fixed = TRUE))
  expect_false(grepl("## (Warning|Error)", html))
  text <- text_of_report(out)
  answer_at <- regexpr("The answer", text, fixed = TRUE)
  expect_lt(answer_at, regexpr("1 B to 1 KiB: Open MPI; MPICH takes", text, fixed = TRUE))
  for (expected in c(
    "6 launches of each, in this session", "Ping-pong, TCP",
    "time limit of 60 s", "pingpong_quick.mpich.shm.near.007",
    "Configurations with fewer usable launches than planned", "Drift over the blocks",
    "0123456789abcdef",
    "Seed of the session", "the build audit in which the MPIs differ", "-O3", "Frequency governor",
    "By question", "Times and bandwidth", "Library of Open MPI", "mpiexec -n 2 cotejo pingpong",
    "of 129 published figures and tables of five studies"
  )) {
    expect_match(text, expected, fixed = TRUE)
  }
  figures <- list.files(file.path(dirname(out), "figures"))
  for (ending in c("svg", "csv")) {
    expect_true(paste0("difference-pingpong.", ending) %in% figures)
  }
  expect_true("exhibits/tinetti/p2p-mpi.html" %in% links)
  # The first screen has the machine, the versions and the map of winners, and no warnings that
  # belong to the quality of the data.
  first <- regexpr("class=\"map\"", html, fixed = TRUE)
  expect_lt(regexpr("Compared: MPICH 1.0, Open MPI 1.0", html, fixed = TRUE), first)
  expect_lt(first, regexpr("<summary>Contents", html, fixed = TRUE))
  expect_lt(first, regexpr("<h2 id=\"data-quality\"", html, fixed = TRUE))
  exhibits <- list.files(file.path(dirname(out), "exhibits"), recursive = TRUE)
  expect_true(all(c("tinetti/p2p-mpi.html", "tinetti/p2p-mpi.csv", "coverage.md") %in% exhibits))
})

test_that("a large study has a page of each question, and a table of them in the report", {
  folder <- write_study(
    fresh_folder(), MPIS, bytes = c(1, 1024), blocks = 6L, transports = c("shm", "tcp")
  )
  write_study(folder, MPIS, bytes = c(1, 1024), blocks = 5L, settings = list(eager_limit = "8192"))
  read_page <- function(path) paste(readLines(path), collapse = "\n")
  small <- file.path(fresh_folder(), "report.html")
  quietly(write_report(folder, small))
  large <- file.path(fresh_folder(), "report.html")
  with_replaced("MOST_ROWS_INSIDE", 1L, quietly(write_report(folder, large)))
  page <- file.path(dirname(large), "questions", "pingpong.html")
  tables <- "Ratio: time of the first divided by the time of the second"
  card <- "<h4>Ping-pong"
  expect_match(read_page(small), tables, fixed = TRUE)
  expect_false(dir.exists(file.path(dirname(small), "questions")))
  expect_false(grepl(tables, read_page(large), fixed = TRUE))
  expect_match(read_page(large), "href=\"questions/pingpong.html\"", fixed = TRUE)
  expect_match(read_page(small), card, fixed = TRUE)
  expect_false(grepl(card, read_page(large), fixed = TRUE))
  expect_match(text_of_report(large), "Open MPI is the fastest library in \\d of \\d tests")
  for (text in c(tables, card, "src=\"data", "href=\"../figures/difference-pingpong.csv\"")) {
    expect_match(read_page(page), text, fixed = TRUE)
  }
  expect_match(read_page(page), "href=\"../report.html\"", fixed = TRUE)
  # The words that explain a card are on each page before its cards.
  words <- "Each answer lists the libraries in tiers"
  for (text in c(read_page(small), read_page(page), read_page(large))) {
    expect_length(gregexpr(words, text, fixed = TRUE)[[1L]], 1L)
  }
  set <- regexpr("<h2[^>]*>Effects of settings", read_page(large))
  expect_gt(set, 0L)
  expect_gt(regexpr(words, read_page(large), fixed = TRUE), set)
  expect_match(read_page(page), "class=\"chart\"", fixed = TRUE)
})

test_that("a study of one MPI has figures and says that there is nothing to compare", {
  folder <- write_study(fresh_folder(), MPIS["mpich"], bytes = 1, blocks = 5L)
  out <- file.path(fresh_folder(), "report.html")
  quietly(write_report(folder, out))
  expect_match(text_of_report(out), "Only MPICH was measured", fixed = TRUE)
})

test_that("MPIs that may not be compared are named in the report with the difference", {
  folder <- write_study(fresh_folder(), MPIS["mpich"], bytes = 1, blocks = 5L)
  write_study(folder, MPIS["openmpi"], bytes = 1, blocks = 5L, cpus = c(0L, 3L))
  out <- file.path(fresh_folder(), "report.html")
  quietly(write_report(folder, out))
  text <- text_of_report(out)
  expect_match(text, "Not compared, because more differs than the MPI", fixed = TRUE)
  expect_match(text, "processors of the ranks: 0|1 (mpich), 0|3 (openmpi)", fixed = TRUE)
})

test_that("nothing is written when there is nothing to report", {
  refuse_both <- function(folder, what) {
    figures <- file.path(fresh_folder(), "figures")
    report <- file.path(fresh_folder(), "report", "report.html")
    for (code in list(quote(draw_figures(folder, figures)), quote(write_report(folder, report)))) {
      error <- expect_error(suppressMessages(eval(code)), class = "cotejo_bad_data")
      expect_match(conditionMessage(error), what, fixed = TRUE)
      expect_false(grepl("\n", conditionMessage(error), fixed = TRUE))
    }
    expect_false(file.exists(figures))
    expect_false(file.exists(dirname(report)))
  }
  empty <- fresh_folder()
  refuse_both(empty, "no launch in it; measure something first")
  refuse_both(file.path(empty, "none"), "no such folder")
  # A file exists at the path of the folder.
  folder <- write_study(fresh_folder(), MPIS["mpich"], bytes = 1, blocks = 1L)
  file <- tempfile()
  file.create(file)
  expect_error(
    quietly(draw_figures(folder, file.path(file, "figures"))), "no such folder",
    class = "cotejo_bad_data"
  )
  write_launch(empty, make_description(status = "failed", reason = "out of time"))
  refuse_both(empty, "none of 1 launch is usable (first reason: out of time)")
})

test_that("shares are read as per cent or as numbers, and nothing else is one", {
  expect_identical(share_of_text("5%", 0.03), 0.05)
  expect_identical(share_of_text("0.02", 0.03), 0.02)
  expect_identical(share_of_text("", 0.03), 0.03)
  for (text in c("5", "%", "x%", "0", "-1%")) {
    expect_error(share_of_text(text, 0.03), "is no share")
  }
})

test_that("one launch of a program without sizes has a report, and no figure", {
  dir <- write_study(fresh_folder(), c(openmpi = 3e-3), bytes = 0, blocks = 1L, n = 2L)
  out <- file.path(fresh_folder(), "report.html")
  suppressMessages(utils::capture.output(write_report(dir, out)))
  expect_true(file.exists(out))
})
