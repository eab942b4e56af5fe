# SPDX-License-Identifier: BSD-3-Clause
# Coverage: classes of exhibits, a broken exhibit among others, the sentence of docs/studies.md.

GROUND_LABELS <- c(
  near = "", packed = "emulated: 2 hosts on 2 cores, x",
  scatter = "simulated by SimGrid: Deep Thought, 4 nodes"
)

planted_time <- function(labels = GROUND_LABELS["near"]) {
  design <- design_of(
    bytes = c(1, 1024), mpi = c("openmpi", "mpich"), placement = names(labels)
  )
  design[, `:=`(time = 1e-6, simulated = labels[placement])]
  plant(fresh_folder(), design)
}

test_that("an error in one exhibit keeps none of the others, is named, and is the end's", {
  found <- find_verb
  broken <- function(verb) {
    if (verb == "gain") function(exhibit) stop("broken\n  verb") else found(verb)
  }
  register <- rbind(
    one_row("by_size"), one_row("gain", arguments = "by=mpi", exhibit = "fig-2"),
    one_row("by_size", exhibit = "fig-3")
  )
  out <- fresh_folder()
  expect_error(
    with_replaced(
      "find_verb", broken, quiet(draw_exhibits(planted_time(), out, exhibits = register))
    ),
    "1 exhibit could not be drawn, all others are there: stival-fig-2 [(]broken verb[)]",
    class = "cotejo_refused"
  )
  coverage <- data.table::fread(file.path(out, "coverage.csv"))
  expect_identical(coverage$state, c("drawn", "failed", "drawn"))
  expect_identical(coverage$class, c("real >= 6", "failed", "real >= 6"))
  expect_true(all(file.exists(file.path(out, c("stival/fig-1.svg", "stival/fig-3.svg")))))
  expect_match(paste(readLines(file.path(out, "index.html")), collapse = " "), "broken verb")
})

test_that("a disk that takes nothing ends all at once", {
  folder <- planted_time()
  expect_error(
    with_replaced("put_bytes", function(bytes, file) cannot_write(file), {
      quiet(draw_exhibits(folder, fresh_folder(), exhibits = one_row("by_size")))
    }),
    "cannot be written", class = "cotejo_cannot_write"
  )
})

test_that("the class of an exhibit is what its launches are, by the fewest of a configuration", {
  folder <- planted_time(GROUND_LABELS)
  drawn <- drawn_from(folder, one_row("by_size"))$coverage
  expect_identical(drawn$class, c("real >= 6", "emulated", "simulated"))
  expect_identical(drawn$n, c(6L, 6L, 6L))
  expect_match(drawn$date, "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$")
  # The configuration with the fewest launches counts.
  all <- list.files(folder, "mpich.*near.*[.]json$", recursive = TRUE, full.names = TRUE)
  expect_length(all, 6L)
  unlink(all[1:2])
  fewer <- drawn_from(folder, one_row("by_size"))$coverage
  expect_identical(fewer$class[[1L]], "real")
  expect_identical(fewer$n[[1L]], 4L)
  register <- one_row("by_size")
  register$circular <- TRUE
  marked <- drawn_from(folder, register)
  expect_identical(marked$coverage$class, c("real", "emulated", "circular"))
  said <- words_of(file.path(marked$out, "stival", "fig-1-simulated.svg"))
  expect_match(said, "Circular:", fixed = TRUE)
  expect_no_match(words_of(file.path(marked$out, "stival", "fig-1.svg")), "Circular:")
})

test_that("enough launches for an exhibit are the fewest whose medians have intervals of 95 %", {
  level <- function(n) median_interval(seq_len(n))$level
  expect_gte(level(ENOUGH_LAUNCHES), 1 - ALPHA)
  expect_lt(level(ENOUGH_LAUNCHES - 1L), 1 - ALPHA)
  n <- ENOUGH_LAUNCHES
  expect_identical(class_of_exhibit("drawn", "measured", n, FALSE), names(EXHIBIT_CLASSES)[[1L]])
  expect_identical(class_of_exhibit("drawn", "measured", n - 1L, FALSE), "real")
})

test_that("the sentence on coverage counts each exhibit once, by its best class", {
  row <- function(study, exhibit, state, class, n = NA) {
    data.table::data.table(study = study, exhibit = exhibit, state = state, class = class, n = n)
  }
  coverage <- rbind(
    row("a", "1", "partly", "real", 3L), row("a", "1", "drawn", "emulated", 5L),
    row("a", "2", "drawn", "real >= 6", 9L), row("b", "1", "waiting", "waiting"),
    row("b", "2", "partly", "emulated", 1L), row("cotejo", "1", "drawn", "real", 1L),
    row("b", "3", "drawn", "real", 2L), row("b", "3", "drawn", "emulated", 6L),
    row("b", "3", "drawn", "simulated", 9L)
  )
  expect_identical(say_classes(coverage), paste(
    "The data draw 4 of the 5 published figures and tables of 2 studies, 1 of them in part:",
    "1 from at least 6 real launches of each configuration; 3 from emulated hosts or networks",
    "(1 from at least 6 launches); 1 waiting for launches."
  ))
  # An exhibit without the contrast of the study does not count, and other states come first.
  coverage <- rbind(
    coverage, row("a", "3", "partly", "stand-in", 9L), row("b", "2", "partly", "stand-in", 6L)
  )
  said <- say_classes(coverage)
  expect_match(said, "^The data draw 4 of the 6 published figures and tables of 2 studies, 1 of")
  expect_match(said, "[.] 1 other exhibit is a stand-in: only one level of the factor")
})

test_that("claims that are circular are of exhibits that say so", {
  file <- test_path("..", "..", "..", "data", "published", "claims.csv")
  skip_if_not(file.exists(file), "the published numbers are not beside the package")
  claims <- read_claims(file)
  named <- unique(claims$exhibit[nzchar(claims$circular)])
  register <- list_exhibits()
  expect_true(all(register$circular[match(named, register$name)]))
})

test_that("The sentence of docs/studies.md and docs/coverage.csv agree with the dataset", {
  root <- test_path("..", "..", "..")
  list_file <- file.path(root, "docs", "coverage.csv")
  skip_if_not(file.exists(list_file), "the repository is not beside the package")
  coverage <- data.table::fread(list_file)
  again <- "is older than the dataset or the register: make coverage DATA=reference"
  expect_identical(
    unique(coverage$dataset), dataset_sum(file.path(root, "data", "reference")), info = again
  )
  expect_setequal(paste0(coverage$study, "-", coverage$exhibit), list_exhibits()$name)
  took <- data.table::fread(file.path(root, "analysis", "inst", FULL_STUDY))
  expect_identical(took$dataset, unique(coverage$dataset), info = again)
  lines <- readLines(file.path(root, "docs", "studies.md"), encoding = "UTF-8")
  ends <- match(c(COVERAGE_BEGIN, COVERAGE_END), lines)
  said <- lines[seq(ends[[1L]] + 1L, ends[[2L]] - 1L)]
  expect_identical(paste(said, collapse = " "), say_classes(coverage), info = again)
})

test_that("The line of the five studies says how long a complete study takes", {
  launches <- data.table::data.table(
    status = c("ok", "ok", "failed", "ok"), scale = c("full", "full", "full", "quick"),
    wall_s = c(3599, 3599, 9999, 9999)
  )
  took <- time_of_full(list(launches = launches), tempfile())
  expect_identical(took, data.table::data.table(launches = 2L, hours = 2, dataset = ""))
  expect_match(say_full(), "^[1-9][0-9.]* hours for the [0-9]{4,} launches of the reference$")
})

test_that("a launch that chose its own sizes counts for all of them", {
  summary <- data.table::as.data.table(list(
    mpi = rep("openmpi", 12L), key = rep(1:6, each = 2L), bytes = c(rbind(8, 100 + 1:6)),
    option_adaptive = rep("0.02", 12L)
  ))
  expect_identical(fewest_launches(summary), 6L)
  expect_identical(fewest_launches(summary[, option_adaptive := "0"]), 1L)
  expect_identical(fewest_launches(summary[, !"option_adaptive"]), 1L)
})

test_that("of a simulation no transport is missed", {
  labels <- GROUND_LABELS["scatter"]
  register <- one_row("by_size", filter = "transport=shm llc")
  coverage <- drawn_from(planted_time(labels), register)$coverage
  expect_identical(coverage$lacks, "")
  expect_identical(drawn_from(planted_time(), register)$coverage$lacks, "transport llc")
})

test_that("files of those exhibits alone that are wanted are written, of the same coverage", {
  folder <- plant(fresh_folder(), design_of(bytes = 2^(0:3), mpi = c("openmpi", "mpich"))[
    , time := 1e-6 * bytes
  ])
  register <- rbind(one_row("by_size"), one_row("by_size", exhibit = "fig-2"))
  results <- read_study(folder)
  draw <- function(...) {
    out <- fresh_folder()
    quiet(coverage <- draw_all_exhibits(results, out, exhibits = register, ...))
    list(coverage = coverage, files = list.files(out, "[.]svg$", recursive = TRUE))
  }
  all <- draw()
  one <- draw(shown = function(coverage) coverage[exhibit == "fig-2"])
  expect_identical(one$coverage, all$coverage)
  expect_identical(one$files, grep("fig-2", all$files, value = TRUE))
  expect_length(draw(shown = function(coverage) coverage[0L])$files, 0L)
})
