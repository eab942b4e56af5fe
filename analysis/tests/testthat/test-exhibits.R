# SPDX-License-Identifier: BSD-3-Clause
# The register and its verbs on simulated launches: known numbers are reproduced, missing data are
# reported, and nothing is drawn without data.

test_that("the register holds every published exhibit once and names verbs that are there", {
  exhibits <- list_exhibits()
  counts <- exhibits[, .N, by = "study"]
  expect_identical(
    counts[study != "cotejo"][order(study)]$N, c(49L, 6L, 52L, 7L, 15L)
  )
  expect_identical(sum(exhibits$study == "cotejo" & exhibits$exhibit == "start-line"), 1L)
  expect_identical(sum(grepl("^error-[1-6]$", exhibits$exhibit)), 6L)
  expect_false(anyDuplicated(exhibits$name) > 0L)
  verbs <- unique(exhibits$verb[nzchar(exhibits$tests)])
  expect_true(all(lengths(lapply(verbs, find_verb)) > 0L))
  # A filter's column is a column of launches, of their options, or of the samples.
  columns <- unique(unlist(lapply(exhibits$filter, names)))
  known <- c(
    "mpi", "algorithms", "transport", "placement", "ranks", "operation", "queue", "burst",
    "pairs", "log2_points", "threads", "any_source", "any_tag"
  )
  expect_true(all(columns %in% known | grepl("^(option|parameter|setting)_", columns)))
})

test_that("a wrong call of exhibit() is refused with its name, and registers nothing", {
  before <- nrow(list_exhibits())
  refused <- function(call, what) {
    error <- expect_error(call, class = "cotejo_bad_data")
    expect_match(conditionMessage(error), "stival-fig-1", fixed = TRUE)
    expect_match(conditionMessage(error), what, fixed = TRUE)
  }
  draw <- function(data, drawn) exhibit("stival-fig-1", "A figure", {{ data }}, {{ drawn }})
  refused(draw(launches_of("a"), by_size(series = operaton)), "no column operaton")
  refused(draw(launches_of("a"), by_size(colour = operation)), "unused argument")
  refused(draw(launches_of("a"), by_size(unit = "hours")), "no unit hours; there are ns, us")
  refused(draw(launches_of("a", tranport = "shm"), by_size()), "no column tranport")
  refused(draw(launches_of("a", option_ = "shm"), by_size()), "no column option_")
  refused(draw(launches_of("a", sizes = "1-4Ki"), by_size()), "neither FROM..TO nor a list")
  refused(draw(launches_of("a b"), by_size()), "no names of tests")
  refused(draw(launches_of(if_there("a")), by_size()), "no names of tests")
  refused(draw(launches_of("a"), NULL), "no verb to draw them")
  refused(draw(launches_of("a"), "by_size"), "draw is no verb")
  refused(draw(NULL, NULL), "nor what is still needed")
  expect_error(
    exhibit(list_exhibits()$name[[1L]], "Twice", needs = "it"), "there already",
    class = "cotejo_bad_data"
  )
  expect_error(exhibit("nostudy", "A figure"), "STUDY-EXHIBIT", class = "cotejo_bad_data")
  long <- expect_error(exhibit(strrep("[", 3000), "A figure"), "STUDY-EXHIBIT")
  expect_lt(nchar(conditionMessage(long)), 300) # a long name is shortened
  expect_identical(nrow(list_exhibits()), before)
})

test_that("tests that are shown where they are stand for the alternatives without them", {
  tests <- function(...) strsplit(launches_of(...)$tests, " ")[[1L]]
  expect_identical(
    tests(c("a", if_there(c("b", "c"))), "d"),
    c("a+b+c", "a+c", "a+b", "a", "d")
  )
  expect_identical(tests(c(if_there("b"), "a")), c("b+a", "a"))
})

test_that("one call adds an exhibit, which is drawn like the others", {
  row <- exhibit("ours-fig-1", "Ours",
    data = launches_of("planted", mpi = not("mpich"), sizes = c("1", "1Ki")),
    draw = by_size(series = c(mpi, transport), panel = placement, scale = "linear")
  )
  on.exit(registered$rows$`ours-fig-1` <- NULL)
  expect_identical(utils::tail(list_exhibits()$name, 1L), "ours-fig-1")
  expect_identical(row$arguments[[1L]]$series, c("mpi", "transport"))
  design <- design_of(bytes = c(1, 2, 1024), mpi = c("openmpi", "mpich"))[, time := 1e-6]
  out <- fresh_folder()
  quiet(draw_exhibits(plant(fresh_folder(), design), out))
  data <- data.table::fread(file.path(out, "ours", "fig-1.csv"))
  expect_identical(unique(data$mpi), "openmpi")
  expect_identical(data$bytes, c(1L, 1024L))
})

test_that("an exhibit may be drawn by a function of the launches, with a stat", {
  local_exhibits <- function(...) {
    before <- registered$rows
    registered$rows <- list()
    exhibit("ours-fig-9", "Violins",
      data = launches_of("planted"),
      draw = function(launches) {
        ggplot2::ggplot(launches, ggplot2::aes(mpi, 1e6 * median_s)) +
          ggplot2::geom_boxplot() + ggplot2::stat_summary(fun = median)
      }
    )
    exhibit("ours-tab-9", "Medians", data = launches_of("planted"), kind = "table",
      draw = function(launches) launches[, list(median_us = 1e6 * median(median_s)), by = "mpi"]
    )
    exhibit("ours-tab-8", "Wrong", data = launches_of("planted"), kind = "table",
      draw = function(launches) "text"
    )
    made <- list_exhibits()
    registered$rows <- before
    made
  }
  out <- fresh_folder()
  design <- design_of(bytes = c(1, 1024), mpi = c("openmpi", "mpich"))[, time := 1e-6]
  folder <- plant(fresh_folder(), design)
  suppressWarnings(try(quiet(draw_exhibits(folder, out, exhibits = local_exhibits())), TRUE))
  expect_true(file.exists(file.path(out, "ours", "fig-9.svg")))
  table <- data.table::fread(file.path(out, "ours", "tab-9.csv"))
  expect_true(all(table$median_us > 0))
  expect_false(file.exists(file.path(out, "ours", "tab-8.csv")))
})

test_that("every verb of the register has its function, and its arguments are formals", {
  exhibits <- list_exhibits()
  verbs <- setdiff(unique(exhibits$verb), "")
  words <- words_of_exhibits()
  for (verb in verbs) {
    used <- unique(unlist(lapply(exhibits$arguments[exhibits$verb == verb], names)))
    expect_length(setdiff(used, names(formals(words[[verb]]))), 0L)
  }
  # Every verb draws, and has a place on the help page of the verbs.
  expect_setequal(names(words), c("launches_of", "not", "if_there", verbs, "message_matrix"))
})

test_that("filters and sizes choose what they say", {
  expect_identical(
    parse_members("a=b c*; d=!e"), list(a = c("b", "c*"), d = "!e")
  )
  expect_identical(in_sizes(c(0, 1, 4096, 4097), "1..4Ki"), c(FALSE, TRUE, TRUE, FALSE))
  expect_identical(in_sizes(c(8, 16384, 2^20), "16Ki 1Mi"), c(FALSE, TRUE, TRUE))
  table <- data.table(operation = c("exchange-a", "exchange-b", "other", NA))
  expect_identical(
    matches(table, list(operation = "exchange-*")), c(TRUE, TRUE, FALSE, FALSE)
  )
  expect_identical(
    matches(table, list(operation = c("exchange-*", "!exchange-b"))), c(TRUE, FALSE, FALSE, FALSE)
  )
  expect_identical(matches(table, list(operation = "!other")), c(TRUE, TRUE, FALSE, TRUE))
  expect_identical(matches(table, list(queue = "1")), rep(FALSE, 4L))
  expect_identical(matches(table, list(queue = "!1")), rep(TRUE, 4L))
  expect_identical(
    lacking_values(table, list(operation = c("other", "gone", "!exchange-b"))), "operation gone"
  )
  # A value in brackets is shown if present, and not missed if absent.
  expect_identical(
    matches(table, list(operation = c("gone", "(other)"))), c(FALSE, FALSE, TRUE, FALSE)
  )
  expect_null(lacking_values(table, list(operation = c("other", "(gone)"))))
  expect_identical(lacking_values(table, list(operation = c("gone", "(other)"))), "operation gone")
})

test_that("what is there is drawn the same bytes twice, and the rest waits and says for what", {
  design <- design_of(bytes = c(1, 1024), mpi = c("openmpi", "mpich"))
  design[, time := 1e-6 + bytes * 1e-9]
  folder <- plant(fresh_folder(), design)
  register <- one_row("by_size", filter = "mpi=openmpi mpich intel-mpi")
  first <- drawn_from(folder, register)
  set.seed(5L)
  second <- drawn_from(folder, register)
  files <- list.files(first$out, all.files = TRUE, no.. = TRUE, recursive = TRUE)
  expect_setequal(
    files, c(
      paste0("stival/fig-1.", c("svg", "csv")), "coverage.csv", "coverage.md", "index.html"
    )
  )
  expect_identical(
    unname(tools::md5sum(file.path(first$out, files))),
    unname(tools::md5sum(file.path(second$out, files)))
  )
  expect_identical(first$coverage$state, "partly")
  expect_identical(first$coverage$lacks, "MPI intel-mpi")
  lone <- drawn_from(
    plant(fresh_folder(), design[mpi == "mpich"]), one_row("by_parameter", arguments = "x=ranks")
  )$coverage
  expect_identical(lone$lacks, "another number of ranks")
  expect_identical(first$coverage$launches, 12L)
  expect_equal(first$data[bytes == 1024 & mpi == "mpich"]$median_s, 2.024e-6, tolerance = 1e-3)
  svg <- words_of(file.path(first$out, "stival", "fig-1.svg"))
  expect_match(
    svg, "Same comparison as figure 1 of Stival (2006). Test planted.", fixed = TRUE
  )
  waiting <- drawn_from(folder, one_row("by_size", tests = "other_full", sizes = "1..8"))
  expect_identical(waiting$coverage$state, "waiting")
  expect_identical(
    waiting$coverage$lacks,
    "launches of other_full with sizes 1..8: make study TAG=stival-fig-1 CELLS='^other_full'"
  )
  expect_identical(list.files(waiting$out), c("coverage.csv", "coverage.md", "index.html"))
  needs <- drawn_from(folder, one_row("", tests = "", needs = "an FFT experiment"))
  expect_identical(needs$coverage$lacks, "an FFT experiment")
  # The first alternative with data counts; both tests of a pair must be present.
  expect_identical(
    drawn_from(folder, one_row("by_size", tests = "other+planted planted"))$coverage$launches, 12L
  )
  expect_identical(
    drawn_from(folder, one_row("by_size", tests = "other+planted"))$coverage$state, "waiting"
  )
})

test_that("a lone MPI or transport in the panels of real machines is missed, and nowhere else", {
  design <- design_of(bytes = c(8, 1024), mpi = c("openmpi", "mpich"))[, time := 1e-6]
  state <- function(design, ..., verb = "by_size") {
    drawn_from(plant(fresh_folder(), design), one_row(verb, ...))$coverage
  }
  panels <- "series=operation; panel=mpi transport"
  lone <- state(design, arguments = panels, filter = "operation=*")
  expect_identical(lone$state, "partly")
  expect_identical(lone$lacks, "another transport")
  expect_identical(lone$class, "real >= 6")
  lone <- state(design[mpi == "mpich"], arguments = panels, filter = "operation=*")
  expect_identical(lone$lacks, "another MPI, another transport")
  # An exhibit whose own filter selects one transport misses no other transport.
  asked <- "operation=*; transport=shm"
  expect_identical(state(design, arguments = panels, filter = asked)$state, "drawn")
  expect_identical(
    state(design, arguments = "columns=mpi; rows=transport", verb = "medians_table")$lacks,
    "another transport"
  )
  both <- rbind(design, copy(design)[, transport := "tcp"])
  # One size is no curve over sizes. By another column, one size is as good as several.
  one <- both[bytes == 8]
  lone <- state(one, arguments = panels, filter = "operation=*")
  expect_identical(lone[, c(state, lacks, class)], c("partly", "another message size", "stand-in"))
  lone <- state(one, verb = "values", arguments = "x=mpi; panel=transport")
  expect_identical(lone$state, "drawn")
  expect_identical(state(both, arguments = panels, filter = "operation=*")$state, "drawn")
  for (label in c("simulated by SimGrid: Deep Thought, 4 nodes", "emulated: 2 hosts")) {
    unreal <- copy(design)[, simulated := label]
    expect_identical(state(unreal, arguments = panels, filter = "operation=*")$state, "drawn")
    lone <- state(unreal[mpi == "mpich"], arguments = "series=mpi", filter = "operation=*")
    expect_identical(lone$state, if (startsWith(label, "simulated")) "drawn" else "partly")
    # A single MPI varies nothing that the exhibit compares.
    expect_identical(lone$class, if (startsWith(label, "simulated")) "simulated" else "stand-in")
  }
})

test_that("an exhibit with one level of the study's factor or axis is a stand-in", {
  design <- design_of(bytes = c(8, 1024), mpi = c("openmpi", "mpich"))[, time := 1e-6]
  class_of <- function(design, verb, arguments, filter) {
    row <- one_row(verb, arguments = arguments, filter = filter)
    drawn_from(plant(fresh_folder(), design), row)$coverage[, c(state, class)]
  }
  # The study compares transports. Libraries over one transport are another contrast.
  by <- "by=transport mpi"
  transports <- "transport=(shm) (tcp)"
  expect_identical(class_of(design, "gain", by, transports), c("drawn", "stand-in"))
  both <- rbind(design, copy(design)[, transport := "tcp"])
  expect_identical(class_of(both, "gain", by, transports), c("drawn", "real >= 6"))
  expect_identical(class_of(both, "gain", by, "transport=shm tcp llc")[[2L]], "real >= 6")
  # A table over ranks with one number of them, and one that does not vary ranks.
  phases <- "measures=time_s; share=time_s"
  expect_identical(class_of(design, "phase_table", phases, "ranks=2 4"), c("partly", "stand-in"))
  expect_identical(class_of(design, "phase_table", phases, "ranks=!1"), c("drawn", "real >= 6"))
  # A peer program that no launch ran, and an operation that is requested alone.
  series <- "series=operation; panel=mpi"
  expect_identical(
    class_of(both, "by_size", series, "operation=pingpong (imb-pingpong)"), c("drawn", "stand-in")
  )
  expect_identical(
    class_of(both, "by_size", series, "operation=pingpong"), c("drawn", "real >= 6")
  )
})

test_that("simulated libraries stand where the study has the library", {
  folder <- fresh_folder()
  for (selector in c("ompi", "impi")) {
    description <- make_description(
      mpi = "simgrid", test = "planted", settings = list(coll_selector = selector),
      simulated = "simulated by SimGrid: Deep Thought, 4 nodes"
    )
    write_launch(folder, description, make_samples(c(1, 8), matrix(1e-6, 2L, 2L)))
  }
  register <- one_row("by_size", filter = "algorithms=intel-mpi", arguments = "series=algorithms")
  drawn <- drawn_from(folder, register)
  expect_identical(drawn$coverage$state, "drawn")
  expect_identical(drawn$coverage$launches, 1L)
  data <- fread(file.path(drawn$out, "stival", "fig-1-simulated.csv"))
  expect_identical(unique(data$level), "Intel MPI")
})

test_that("what is compared is the first column that differs here", {
  design <- design_of(bytes = c(1, 1024), mpi = c("mpich", "openmpi"), transport = "tcp")
  design[, time := fifelse(mpi == "mpich", 0.8e-6, 1e-6)]
  folder <- plant(fresh_folder(), design)
  register <- one_row("gain", arguments = "by=transport mpi; panel=mpi")
  drawn <- drawn_from(folder, register)
  expect_identical(drawn$coverage$lacks, "")
  expect_equal(drawn$data[level == "MPICH over Open MPI"]$y, c(20, 20), tolerance = 0.01)
  register <- one_row("relative", arguments = "by=transport mpi; reference=shm open*; panel=mpi")
  expect_equal(drawn_from(folder, register)$data$percent, c(125, 125), tolerance = 0.01)
})

test_that("no line runs through two configurations", {
  design <- design_of(bytes = 1, transport = c("shm", "tcp"), placement = c("near", "packed"))
  design[, time := 1e-6]
  folder <- plant(fresh_folder(), design)
  data <- drawn_from(folder, one_row("by_size", arguments = "series=mpi; panel=transport"))$data
  expect_setequal(data$panel, c(
    "shared memory, near", "shared memory, packed", "TCP, near", "TCP, packed"
  ))
})

test_that("a planted gain and a planted loss of the far placement come out", {
  design <- design_of(bytes = c(1, 1024), mpi = c("mpich", "openmpi"))
  design[, time := fifelse(mpi == "mpich", 0.8e-6, 1e-6)]
  gain <- drawn_from(plant(fresh_folder(), design), one_row("gain", arguments = "by=mpi"))$data
  gain <- gain[level == "MPICH over Open MPI"]
  expect_equal(gain$y, c(20, 20), tolerance = 0.01)
  expect_true(all(gain$y_low <= gain$y & gain$y <= gain$y_high))
  rate <- drawn_from(
    plant(fresh_folder(), design), one_row("gain", arguments = "by=mpi; unit=MB/s")
  )$data
  expect_equal(rate[level == "MPICH over Open MPI"]$y, c(25, 25), tolerance = 0.01)
  design <- design_of(bytes = c(1, 1024), placement = c("far", "near"))
  design[, time := fifelse(placement == "far", 2e-6, 1e-6)]
  folder <- plant(fresh_folder(), design)
  register <- one_row("relative", arguments = "by=placement; reference=near")
  relative <- drawn_from(folder, register)$data
  expect_equal(relative$percent, c(50, 50), tolerance = 0.01)
  expect_true(all(relative$percent_low <= relative$percent))
  expect_true(all(relative$percent_high >= relative$percent))
  times <- drawn_from(folder, one_row("relative", arguments = "by=placement; of=time"))$data
  expect_equal(times$percent, c(200, 200), tolerance = 0.01)
  expect_true(all(times$percent_low <= times$percent & times$percent <= times$percent_high))
  alone <- plant(fresh_folder(), design[placement == "near"])
  waiting <- drawn_from(alone, register)$coverage
  expect_identical(waiting$state, "waiting")
  expect_identical(waiting$lacks, "a second placement beside near")
})

test_that("the start line that changes the winner is shown to change it", {
  design <- rbindlist(lapply(c("barrier", "windows"), function(start) {
    cbind(design_of(bytes = 8, operation = "bcast", mpi = c("mpich", "openmpi")), variant = start)
  }))
  design[, time := fifelse((mpi == "mpich") == (variant == "barrier"), 1e-6, 2e-6)]
  start <- function(row) list(start = row$variant)
  folder <- plant(fresh_folder(), design, options = start, parameters = start)
  data <- drawn_from(folder, one_row("ratio", arguments = "by=mpi; x=option_start"))$data
  expect_setequal(data$x, c("cotejo's barrier", "windows"))
  expect_equal(data[x == "cotejo's barrier"]$ratio, 0.5, tolerance = 0.01)
  expect_identical(data[x == "windows"]$verdict, "slower")
  one <- plant(
    fresh_folder(), design[variant == "windows"], options = start, parameters = start
  )
  waiting <- drawn_from(one, one_row("ratio", arguments = "by=mpi; x=option_start"))$coverage
  expect_match(waiting$lacks, "a second start beside windows", fixed = TRUE)
})

test_that("the error of a method is the ratio of the wrong to the right, as figure and table", {
  design <- design_of(bytes = 0, operation = c("first", "second"), mpi = c("mpich", "openmpi"))
  design[, time := fifelse(operation == "first", 3e-6, 1e-6)]
  folder <- plant(fresh_folder(), design)
  arguments <- "wrong=first; right=second"
  data <- drawn_from(folder, one_row("error", arguments = arguments))$data
  expect_equal(data$ratio, c(3, 3), tolerance = 0.01)
  expect_identical(data$verdict, c("slower", "slower"))
  out <- drawn_from(folder, one_row("error_table", arguments = arguments))$out
  html <- paste(readLines(file.path(out, "stival", "fig-1.html")), collapse = " ")
  expect_match(html, "<td class=\"num\">3.0[0-9] \\[[23].[0-9]{2}, 3.[0-9]{2}\\]</td>|>3.00 \\[")
  # Only one repetition: the first, which is simulated slower than all others.
  for (file in list.files(folder, "[.]csv$", recursive = TRUE, full.names = TRUE)) {
    edit_lines(file, function(lines) {
      at <- startsWith(lines, "first,0,0,")
      replace(lines, at, sub("[0-9.e-]+,1$", "9.0e-06,1", lines[at]))
    })
  }
  first <- drawn_from(folder, one_row("error", arguments = paste0(arguments, "; repetition=0")))
  expect_equal(first$data$ratio, c(9, 9), tolerance = 0.01)
  waiting <- drawn_from(folder, one_row("error", arguments = "wrong=third; right=second"))$coverage
  expect_identical(waiting$lacks, "launches with the operations third and second")
})

test_that("hidden computation and overhead come out of a planted curve", {
  folder <- fresh_folder()
  # A gap of 10 us of which the processor needs 4 us: computation up to 6 us is hidden.
  alone <- c(0, 4, 8, 12) * 1e-6
  # Steps of one sample and of two samples: medians of integer amounts, integer or not.
  twice <- alone[c(1:4, 4L)]
  for (launch in 1:6) {
    write_overlap(folder, launch, c(0:3, 3L), pmax(10e-6, 4e-6 + twice), twice)
  }
  # Several times at one size are no curve over sizes.
  medians <- summarise_configurations(summarise_launches(read_results(folder)))
  expect_length(measured_by_size(medians), 0L)
  out <- drawn_from(folder, one_row("overhead_table"))
  expect_equal(out$data$base_s, 10e-6)
  expect_equal(out$data$overhead_s, 4e-6)
  expect_equal(out$data$hidden_s, 6e-6)
  curve <- drawn_from(folder, one_row(
    "overlap", arguments = "measures=time_s alone_s wait_s; panel=mpi"
  ))$data
  expect_equal(curve[measure == "time_s"][order(step)]$median_s, pmax(10e-6, 4e-6 + alone))
  expect_equal(curve[measure == "alone_s"][order(step)]$median_s, alone)
  expect_equal(unique(curve[measure == "wait_s"]$median_s), 1e-7)
  waiting <- drawn_from(folder, one_row("overlap", arguments = "measures=end_s"))$coverage
  expect_identical(waiting$lacks, "launches with the measure end")
  overhead <- fresh_folder()
  operations <- paste0("logp-", c(
    "eel", "g", "os-call", "or-call", "os-overlap", "or-overlap", "words"
  ))
  for (launch in 1:6) {
    write_overlap(
      overhead, launch, 0L, c(9, 8, 3, 2, 14, 14, 11) * 1e-6, c(0, 0, 0, 0, 10, 10, 10) * 1e-6,
      operations
    )
  }
  data <- drawn_from(overhead, one_row(
    "overheads", arguments = "series=operation", filter = "operation=logp-os-*"
  ))$data
  expect_equal(data[order(operation)]$median_s, c(3e-6, 4e-6))
})

test_that("a check is drawn less its true time, and spread as a standard error", {
  design <- design_of(bytes = 0, operation = "waitpattern-up")[, time := 2.05e-6]
  options <- function(row) list(wait = 1e-6, start = "none")
  one_number <- plant(fresh_folder(), design, options = options)
  expect_identical(drawn_from(one_number, one_row("spread", arguments = "x=ranks"))$coverage$lacks,
    "another number of ranks")
  parameters <- function(row) list(ranks = "4")
  four <- design_of(bytes = 0, operation = "waitpattern-up")[, `:=`(
    time = 4.05e-6, cpus = list(0:3)
  )]
  folder <- plant(fresh_folder(), design, options = options)
  plant(folder, four, options = options, parameters = parameters)
  out <- drawn_from(folder, one_row(
    "wait_pattern", arguments = "x=ranks; series=option_start; panel=mpi; truth=up"
  ))$out
  svg <- paste(readLines(file.path(out, "stival", "fig-1.svg")), collapse = " ")
  expect_match(svg, ">measured less true time (ns)<", fixed = TRUE)
  expect_match(svg, ">50<", fixed = TRUE)
  expect_false(grepl(">2000<", svg, fixed = TRUE))
  spread <- drawn_from(folder, one_row("spread", arguments = "x=ranks"))$data
  medians <- summarise_launches(read_results(folder))[ranks == 2L]$median_s
  expect_equal(spread[ranks == 2L]$y, 100 * stats::sd(medians) / mean(medians) / sqrt(6))
  one <- plant(fresh_folder(), design, blocks = 1L)
  expect_identical(
    drawn_from(one, one_row("spread", arguments = "x=ranks"))$coverage$lacks, "a second launch"
  )
})

test_that("tables hold Welch's test, start-up with bandwidth, and the nearest broadcast", {
  design <- design_of(bytes = c(1, 2^20), mpi = c("mpich", "openmpi"))
  design[, time := fifelse(mpi == "mpich", 1e-6, 2e-6) + bytes * 1e-9]
  folder <- plant(fresh_folder(), design)
  welch <- drawn_from(folder, one_row("welch_table", arguments = "by=mpi"))
  test <- t.test(
    summarise_launches(read_results(folder))[mpi == "mpich" & bytes == 1]$median_s,
    summarise_launches(read_results(folder))[mpi == "openmpi" & bytes == 1]$median_s,
    conf.level = 0.99
  )
  expect_equal(welch$data[bytes == 1]$welch_p, test$p.value, tolerance = 1e-6)
  expect_equal(welch$data[bytes == 1]$welch_low_s, test$conf.int[[1L]], tolerance = 1e-6)
  startup <- drawn_from(folder, one_row("startup_table"))$out
  html <- paste(readLines(file.path(startup, "stival", "fig-1.html")), collapse = " ")
  expect_match(html, "Open MPI, shared memory, near, 2 ranks", fixed = TRUE)
  expect_match(html, "at 1 MiB", fixed = TRUE)
  expect_match(html, "Shortest start-up, 1[.]00.* us: MPICH.*Longest, 2[.]00.* us: Open MPI")
  # Libraries over different transports have a row each, and no row is without launches.
  folder <- plant(fresh_folder(), rbind(
    design[mpi == "mpich"], design[mpi == "openmpi"][, transport := "tcp"], fill = TRUE
  )[is.na(transport), transport := "shm"])
  apart <- drawn_from(folder, one_row("startup_table"))$out
  html <- paste(readLines(file.path(apart, "stival", "fig-1.html")), collapse = " ")
  expect_length(gregexpr(", near, 2 ranks</td>", html, fixed = TRUE)[[1L]], 2L)
  expect_no_match(html, "NA, NA", fixed = TRUE)
  # Four ranks, a third of a message's bandwidth: the root sends to one rank after the other.
  message <- design_of(bytes = 1024, operation = "pingpong")[, `:=`(time = 1e-6, variant = 2L)]
  broadcast <- design_of(bytes = 1024, operation = "bcast")[, `:=`(time = 3e-6, variant = 4L)]
  both <- rbind(message, broadcast)[, cpus := lapply(variant, function(n) seq_len(n) - 1L)]
  folder <- plant(fresh_folder(), both, parameters = function(row) list(ranks = row$variant))
  table <- drawn_from(folder, one_row("broadcast_table"))
  expect_equal(table$data$ratio, 1 / 3, tolerance = 0.01)
  html <- paste(readLines(file.path(table$out, "stival", "fig-1.html")), collapse = " ")
  expect_match(html, ">repeated sends</td>", fixed = TRUE)
})

test_that("where one test's launches do not carry an exhibit, the next one's do", {
  folder <- plant(
    fresh_folder(), design_of(bytes = 1, mpi = c("mpich", "openmpi"))[, time := 1e-6]
  )
  write_launch(
    folder, make_description("mpich", test = "finer"), make_samples(1, matrix(1e-6))
  )
  coverage <- drawn_from(folder, one_row("gain", "finer planted", "by=mpi"))$coverage
  expect_identical(coverage$tests, "planted")
  coverage <- drawn_from(folder, one_row("gain", "finer", "by=mpi"))$coverage
  expect_identical(coverage$lacks, "a second MPI beside MPICH")
})

test_that("a later session of another test of the same experiment hides nothing", {
  design <- design_of(bytes = 1)[, time := 1e-6]
  folder <- plant(fresh_folder(), design)
  later <- make_description(
    launch = 1L, test = "other", experiment = "pingpong", session = "20261122T070000Z"
  )
  write_launch(folder, later, make_samples(1, matrix(1e-6)))
  # The later session of another test of the same experiment must not hide this session.
  expect_identical(drawn_from(folder, one_row("by_size"))$coverage$launches, 6L)
})

test_that("a setting that no launch had is unset in all, and hides no exhibit", {
  folder <- plant(fresh_folder(), design_of(bytes = 1)[, time := 1e-6])
  row <- one_row("by_size", arguments = "series=mpi setting_async_progress")
  drawn <- drawn_from(folder, row)
  expect_match(drawn$coverage$lacks, "another async progress", fixed = TRUE)
  expect_match(as.character(drawn$data$level), "the library's own progress", fixed = TRUE)
})

test_that("a parameter that is 0 somewhere is drawn on a linear axis", {
  axis <- axis_of("depth", c(0, 16, 4096), "log")
  expect_identical(axis$place(c(0, 16), c("a", "b")), c(0, 16))
  log_axis <- axis_of("depth", c(16, 4096), "log")
  expect_lt(log_axis$place(16, factor("a", c("a", "b"))), 16)
})

test_that("the minimum of a launch is shown with its median where an exhibit asks for it", {
  design <- design_of(bytes = c(8, 64), transport = c("shm", "tcp"))
  design[, time := fifelse(transport == "tcp", 2e-6, 1e-6)]
  folder <- plant(fresh_folder(), design)
  register <- one_row("gain", arguments = "by=transport; panel=measure")
  drawn <- drawn_from(folder, register)
  expect_identical(drawn$coverage$lacks, "")
  times <- drawn$data[grepl("time", panel)]
  times[, least := grepl("minimum of a launch", panel)]
  expect_identical(sort(unique(times$least)), c(FALSE, TRUE))
  y <- function(which) times[least == which][order(level, bytes)]$y
  expect_true(all(y(TRUE) < y(FALSE)))
})

test_that("an exhibit whose own contrast was not measured waits, and draws no other one", {
  design <- design_of(bytes = 2^(0:3), transport = c("shm", "tcp"), mpi = c("mpich", "openmpi"))
  folder <- plant(fresh_folder(), design[, time := 1e-6 * bytes])
  row <- function(filter) {
    one_row("gain", arguments = "by=transport; panel=mpi", filter = filter, needs = "guests")
  }
  waiting <- drawn_from(folder, row("transport=tcp llc (shm)"))$coverage
  expect_identical(waiting$state, "waiting")
  expect_match(
    waiting$lacks,
    "launches with transport llc: make study TAG=stival-fig-1 CELLS='^planted', guests",
    fixed = TRUE
  )
  expect_identical(drawn_from(folder, row("transport=tcp shm"))$coverage$state, "drawn")
  # Two of three levels are a contrast, drawn in part.
  expect_identical(drawn_from(folder, row("transport=tcp shm llc"))$coverage$state, "partly")
})

test_that("a figure by a parameter that has one value waits for another", {
  folder <- plant(fresh_folder(), design_of(bytes = 1)[, time := 1e-6])
  found <- drawn_from(folder, one_row("by_parameter", arguments = "x=ranks"))$coverage
  expect_identical(c(found$state, found$lacks), c("waiting", "another number of ranks"))
})
