# SPDX-License-Identifier: BSD-3-Clause
# Both versions of samples, descriptions and plans are read; a broken file does not stop others.

fixture <- function(version) test_path("fixtures", version)

# A copy that may be changed; `json` and `csv` of its first launch.
copied <- function(version) {
  folder <- fresh_folder()
  file.copy(file.path(fixture(version), "local"), folder, recursive = TRUE)
  json <- list.files(folder, "mpich.*001[.]json$", recursive = TRUE, full.names = TRUE)
  list(folder = folder, json = json, csv = sub("json$", "csv", json))
}

# Columns that the tables of both versions share.
SAME <- c(
  "key", "launch", "mpi", "settings", "kernel", "cpu_model", "governor", "node_cores",
  "memory_bytes", "observed_cpus", "option_mode", "library", "commit"
)

test_that("real launches of version 1 and the same in version 2 are read alike", {
  old <- read_results(fixture("v1"))
  new <- read_results(fixture("v2"))
  expect_identical(nrow(old$launches), 4L)
  expect_identical(old$launches[, SAME, with = FALSE], new$launches[, SAME, with = FALSE])
  expect_identical(old$samples, new$samples[, !"switched"])
  expect_identical(old$roles, c(pairs = "factor", fastest_s = "measure"))
  expect_identical(new$roles, c(old$roles, switched = "flag"))
  summaries <- lapply(list(old, new), summarise_launches)
  expect_identical(summaries[[1L]]$median_s, summaries[[2L]]$median_s)
  expect_true(all(is.na(summaries[[1L]]$quantity)))
  expect_identical(unique(summaries[[2L]]$quantity), "single")
})

test_that("what version 1 does not know is unknown, and what version 2 says is there", {
  old <- read_results(fixture("v1"))$launches
  new <- read_results(fixture("v2"))$launches
  unknown <- c("layout", "machine", "allocation", "order_how", "overhead_sample_s", "steal_s")
  expect_true(all(is.na(old[, unknown, with = FALSE])))
  expect_identical(unique(old$measuring), unique(old$commit))
  row <- new[1L]
  expect_identical(row$layout, "page of 4096 B, receive at 0, send at 0")
  expect_identical(row$machine, "0f1e2d3c")
  expect_identical(row$machine_hosts, "vm")
  expect_identical(row$measuring, strrep("ab", 32L))
  expect_identical(row$involuntary_switches, 2)
  expect_identical(row$pit_ratio, 15.5)
  expect_identical(row$quota_cores, NA_real_)
  expect_identical(traps_found(new), data.table::data.table(
    trap = "memcpy of 64 KiB", cure = "a pit: compare at equal layouts only",
    found = "worst 15.50 times, 16 B further", n = 4L, of = 4L
  ))
  expect_identical(nrow(traps_found(old)), 0L)
  expect_identical(row$proof, "tcp=0")
  expect_identical(row$steering, "UCX_TLS=self,sm")
})

test_that("the two versions of one study are compared within each and never with each other", {
  expect_true(comparable(
    read_results(fixture("v2"))$launches[mpi == "mpich"],
    read_results(fixture("v2"))$launches[mpi == "openmpi"]
  ))
  words <- comparable(
    read_results(fixture("v1"))$launches[mpi == "mpich"],
    read_results(fixture("v2"))$launches[mpi == "openmpi"]
  )
  expect_match(words, "version of the measuring code", fixed = TRUE, all = FALSE)
})

test_that("other addresses of buffers, machines and quantities are refused", {
  launches <- read_results(fixture("v2"))$launches
  a <- launches[mpi == "mpich"]
  b <- data.table::copy(launches[mpi == "openmpi"])
  b[, layout := "page of 4096 B, receive at 16, send at 0"]
  expect_match(
    comparable(a, b),
    "^memory and addresses of the buffers: .*send at 0 \\(a\\).*receive at 16"
  )
  b[, layout := NA_character_]
  expect_true(comparable(a, b))
  b[, machine := "another"]
  expect_match(comparable(a, b), "machine: 0f1e2d3c (a), another (b)", fixed = TRUE)
  summary <- summarise_launches(read_results(fixture("v2")))
  a <- summary[mpi == "mpich"]
  b <- data.table::copy(summary[mpi == "openmpi"])[, quantity := "steady"]
  expect_match(comparable(a, b), "quantity timed: single (a), steady (b)", fixed = TRUE)
})

test_that("addresses of a program's own buffers are told beside its comparison, not refused", {
  summary <- summarise_launches(read_results(fixture("v2")))
  summary <- data.table::copy(summary[transport == transport[[1L]]])
  summary[mpi == "openmpi", layout := "page of 4096 B, receive at 16, send at 0"]
  refused <- refused_pairs(summary)
  expect_gt(nrow(refused), 0L)
  expect_match(refused$why, "memory and addresses of the buffers")
  summary[, layout_name := "own"]
  told <- differing_pairs(summary)
  expect_identical(told[, c("a", "b", "why")], refused[, c("a", "b", "why")])
  expect_true(all(told$compared))
  expect_identical(nrow(refused_pairs(summary)), 0L)
  expect_gt(nrow(compare_configurations(summary)), 0L)
  # If each launch has addresses of its own, their number is reported.
  apart <- data.table::copy(summary)
  apart[, layout := paste(mpi, layout, launch)]
  number <- length(unique(apart[mpi == "openmpi"]$layout))
  expect_match(
    differing_pairs(apart)$why, paste(number, "different values (openmpi)"), fixed = TRUE
  )
  # A program's own buffers in one MPI, cotejo's in the other: not only the MPI differs.
  summary[mpi == "openmpi", layout_name := "page"]
  expect_identical(refused_pairs(summary)$why, refused$why)
})

test_that("places that ranks share are read as those of each rank", {
  place <- function(host, ...) list(host = host, numa = list(0L), package = list(0L), ...)
  own <- lapply(3:0, function(rank) list(rank = rank, cpus = text_of(rank), cores = list(rank)))
  hosts <- c("b", "a", "a", "b")
  each <- Map(function(rank, host) c(rank, place(host)), own, rev(hosts))
  folded <- list(place("b", ranks = "0,3"), place("a", ranks = "1-2"))
  expected <- flatten_ranks(list(ranks = each))
  expect_identical(flatten_ranks(list(ranks = own, places = folded)), expected)
  expect_identical(expected$observed_hosts, "b|a|a|b")
  expect_identical(expected$observed_cpus, "0|1|2|3")
  cores <- lapply(own, function(one) list(ranks = one$cpus, cpus = one$cpus, cores = one$cores))
  seen <- list(size = 4L, ranks = list(), cores = cores, places = folded)
  expect_identical(flatten_ranks(seen), expected)
})

test_that("layouts are told apart by rank only where ranks differ", {
  buffer <- function(ranks, offset) list(ranks = ranks, buffer = "send", offset = offset)
  layout <- function(...) list(name = "page", page_bytes = 4096, buffers = list(...))
  expect_identical(layout_of(layout(buffer("0-3,8", 16)), 5), "page of 4096 B, send at 16")
  expect_identical(
    layout_of(layout(buffer("1", 16), buffer("0", 0)), 2),
    "page of 4096 B, send at 0 (ranks 0), send at 16 (ranks 1)"
  )
  expect_identical(layout_of(NULL, 2), NA_character_)
})

test_that("buffers of a device are never taken for the host's", {
  buffers <- list(list(ranks = "0-1", buffer = "send", offset = 0))
  of <- function(...) layout_of(list(name = "page", page_bytes = 4096, buffers = buffers, ...), 2)
  expect_identical(of(memory = "host"), of())
  buffers[[1L]]$device <- 1
  expect_identical(of(memory = "cuda"), "page of 4096 B, cuda memory, send at 0 of device 1")
  expect_false("layout" %in% names(facts_of(
    as.list(stats::setNames(rep("x", length(HELD_FIXED) + 1L), c(names(HELD_FIXED), "library"))),
    "option_memory"
  )$fixed))
})

test_that("an accident is listed with its evidence and never used", {
  at <- copied("v2")
  edit_json(at$json, function(d) {
    d$status <- "accident"
    d$reason <- "killed by signal 9"
    d$accident <- list(kind = "memory", evidence = "oom-kill of rank 1")
    d[c("observed", "samples", "summary")] <- list(NULL)
    d
  })
  results <- read_results(at$folder)
  lost <- results$launches[status == "accident"]
  expect_identical(lost$accident_kind, "memory")
  expect_identical(lost$accident_evidence, "oom-kill of rank 1")
  expect_false(lost$key %in% results$samples$key)
  expect_identical(nrow(summarise_launches(results)), 9L)
})

test_that("unknown members are left alone, and optional ones may be absent", {
  at <- copied("v2")
  edit_json(at$json, function(d) {
    d$weather <- "fine"
    d$observed$moon <- list(phase = 0.5)
    d$observed[c("layout", "order", "overhead", "disturbed", "machine", "environment")] <- NULL
    d[c("proof", "machine", "allocation", "accident")] <- NULL
    d$samples["quantities"] <- list(NULL)
    d
  })
  results <- read_results(at$folder)
  expect_identical(nrow(results$launches), 4L)
  expect_identical(nrow(results$broken), 0L)
  expect_identical(sum(is.na(results$launches$layout)), 1L)
})

test_that("launch numbers have no upper end", {
  folder <- fresh_folder()
  for (launch in c(999L, 1000L, 123456L)) {
    write_launch(folder, make_description(launch = launch), make_samples(1, matrix(1e-6)))
  }
  results <- read_results(folder)
  expect_identical(sort(results$launches$launch), c(999L, 1000L, 123456L))
  expect_identical(unique(cell_of(results$launches$id)), "pingpong_quick.openmpi.shm.near")
})

test_that("a launch's block is its number", {
  at <- copied("v2")
  edit_json(at$json, function(d) {
    d$asked$block <- 7L
    d
  })
  results <- suppressMessages(read_results(at$folder))
  expect_match(results$broken$what, "asked.block is not asked.launch", fixed = TRUE)
})

test_that("broken files are named, left out and counted, and stop no other", {
  at <- copied("v2")
  writeLines(utils::head(readLines(at$json), 20L), at$json)
  other <- sub("mpich(.*)001", "openmpi\\1002", at$csv)
  edit_lines(other, function(l) l[-5L])
  said <- testthat::capture_messages(results <- read_results(at$folder))
  expect_identical(nrow(results$launches), 2L)
  expect_identical(results$broken$file, c(at$json, other))
  expect_match(results$broken$what, "not JSON|8 rows, but samples.rows says 9")
  expect_identical(sum(startsWith(said, "left out: ")), 2L)
})

test_that("a description that makes R itself stumble is named too", {
  at <- copied("v2")
  edit_json(at$json, function(d) {
    d$observed$disturbed[[1L]]$ranks <- 7L
    d
  })
  results <- suppressMessages(read_results(at$folder))
  expect_identical(results$broken$file, at$json)
})

test_that("a role said by version 2 stands above one supposed of version 1", {
  columns <- list(
    roles_of_columns(list(list(name = "late", unit = ""))),
    roles_of_columns(list(list(name = "late", unit = "", role = "flag")))
  )
  expect_identical(roles_of(columns), c(late = "flag"))
  expect_identical(disagreeing(columns, roles_of(columns)), c(FALSE, FALSE))
  measured <- list(roles_of_columns(list(list(name = "late", unit = "s"))))
  expect_identical(disagreeing(c(columns, measured), roles_of(columns)), c(FALSE, FALSE, TRUE))
})

test_that("plans of both versions are read; a later one is refused", {
  old <- read_sessions(fixture("v1"))$sessions
  expect_identical(old$tries, NA_integer_)
  expect_identical(nrow(old$families[[1L]]), 0L)
  at <- copied("v2")
  new <- read_sessions(at$folder)$sessions
  expect_identical(new$tries, 3L)
  expect_identical(new$families[[1L]]$title, c("MPICH 5", "Open MPI 5"))
  expect_identical(new$accidents[[1L]], c("pingpong_quick.mpich.shm.near" = 1L))
  file <- list.files(at$folder, "session.json", recursive = TRUE, full.names = TRUE)
  edit_json(file, function(d) replace(d, "schema", "cotejo-session/9"))
  expect_match(
    suppressMessages(read_sessions(at$folder))$broken$what, "cotejo-session/9",
    fixed = TRUE
  )
})

test_that("a transport is called as its session says, which is not asked for colour or order", {
  at <- copied("v2")
  file <- list.files(at$folder, "session.json", recursive = TRUE, full.names = TRUE)
  edit_json(file, function(d) {
    d$transports <- list(list(name = "tcp", title = "pigeons"), list(name = "x", title = "X"))
    d
  })
  with_families(families_of(read_sessions(at$folder)$sessions), {
    expect_identical(title_of(c("mpich", "tcp", "x")), c("MPICH 5", "pigeons", "X"))
    known <- c("openmpi", "mpich", "tcp", "x")
    expect_identical(in_order(known[c(4L, 2L, 3L, 1L)]), known)
    expect_identical(
      level_scales(c("pigeons", "X"))[[1L]]$palette(2L), c(pigeons = COLOURS[1L], X = COLOURS[2L])
    )
  })
  edit_json(file, function(d) replace(d, "transports", list(list(list(name = "tcp")))))
  expect_match(
    suppressMessages(read_sessions(at$folder))$broken$what, "transports",
    fixed = TRUE
  )
})

test_that("figures have the titles, colours and order that families say, else our own words", {
  families <- families_of(read_sessions(fixture("v2"))$sessions)
  with_families(families, {
    expect_identical(title_of(c("mpich", "openmpi", "tcp")), c("MPICH 5", "Open MPI 5", "TCP"))
    expect_identical(levels(in_words("mpi", c("mpich", "openmpi"))), c("Open MPI 5", "MPICH 5"))
    expect_identical(
      level_scales(c("Open MPI 5", "MPICH 5"))[[1L]]$palette(2L)[["MPICH 5"]], "#117733"
    )
  })
  expect_identical(title_of("mpich"), "MPICH")
  expect_identical(levels(in_words("mpi", c("mpich", "openmpi"))), c("MPICH", "Open MPI"))
  out <- fresh_folder()
  suppressMessages(utils::capture.output(draw_figures(fixture("v2"), out)))
  svg <- paste(readLines(file.path(out, "latency-pingpong.svg")), collapse = "
")
  expect_match(svg, ">Open MPI 5<", fixed = TRUE)
  expect_match(svg, "#117733", fixed = TRUE)
  suppressMessages(utils::capture.output(draw_figures(fixture("v1"), out)))
  svg <- paste(readLines(file.path(out, "latency-pingpong.svg")), collapse = "
")
  expect_match(svg, ">Open MPI<", fixed = TRUE)
})

test_that("libraries of one title are told apart by their names", {
  sessions <- data.table(
    session = "1", transports = list(data.table(name = "shm", title = "shared memory")),
    families = list(data.table(
      name = c("a", "b", "c"), title = c("X", "X", "Open MPI"), colour = "#000000", order = 1:3
    ))
  )
  # One title belongs to a library that the sessions do not describe.
  expect_identical(
    families_of(sessions)$title, c("X (a)", "X (b)", "Open MPI (c)", "shared memory")
  )
})
