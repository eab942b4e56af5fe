# SPDX-License-Identifier: BSD-3-Clause
# The matrix at the start of a report, its sentences, and unique headings.

MPIS <- c(openmpi = 3e-7, mpich = 6e-7)

compared <- function(folder) {
  compare_configurations(summarise_launches(read_results(folder)), refused = "list")
}

test_that("the matrix names who wins in each class of sizes, by how much and how often", {
  # Twice as fast at small sizes, equal at large sizes, where the bandwidth dominates.
  folder <- write_study(
    fresh_folder(), MPIS,
    bytes = c(1, 1024, 16384, 4194304), blocks = 12L, cv = 0.002
  )
  comparison <- compared(folder)
  winners <- winners_by_class(comparison)
  small <- winners[sizes == "small"]
  expect_identical(small$winner, "openmpi")
  expect_identical(c(small$cells, small$of), c(2L, 2L))
  expect_gt(small$most, 1.9)
  expect_identical(winners[sizes == "large"]$winner, "")
  shown <- table_matrix(winners)
  expect_identical(shown$Question, "Ping-pong, shared memory")
  expect_match(shown[["Up to 4 KiB"]], "^Open MPI, 1[.][0-9]+ to .* times \\(all 2\\)$")
  expect_match(shown[["Above 80 KiB"]], "^within [0-9.]+ % \\(all 1\\)$")
  expect_identical(shown$n, 12L)
  said <- three_sentences(comparison, winners, summarise_launches(read_results(folder)))
  expect_length(said, 3L)
  expect_match(said[[1L]], "Open MPI is the fastest library in 3 of 4 tests", fixed = TRUE)
  expect_match(
    said[[2L]], "Open MPI wins most often for messages up to 4 KiB (2 of 2)", fixed = TRUE
  )
  expect_match(said[[3L]], "12 launches of each MPI in 1 session on 1 site", fixed = TRUE)
})

test_that("who wins where differs is said in one cell, the more frequent first", {
  rows <- data.table::data.table(
    winner = c("mpich", "", "openmpi"), cells = c(1L, 2L, 5L), of = 8L, least = c(1.1, 1, 1.5),
    most = c(1.1, 1.2, 2), close = 0L, bound = 0, n = 10L, candidates = ""
  )
  rows[, c("site", "simulated", "operation", "transport", "sizes") := list(
    "s", "", "bcast", "shm", "small"
  )]
  expect_identical(
    table_matrix(rows)[["Up to 4 KiB"]],
    "Open MPI, 1.50 to 2.00 times (5 of 8); no single winner (2 of 8); MPICH, 1.10 times (1 of 8)"
  )
})

test_that("a library that is behind is excluded where two others are alike", {
  folder <- write_study(
    fresh_folder(), c(openmpi = 3e-7, "intel-mpi" = 3e-7, mpich = 9e-7),
    bytes = c(1, 64, 1024), blocks = 12L, cv = 0.002
  )
  comparison <- compared(folder)
  winners <- winners_by_class(comparison)
  expect_identical(winners$candidates, "intel-mpi,openmpi")
  expect_identical(winners$cells, 3L)
  expect_equal(winners$most, 3, tolerance = 0.1)
  expect_match(
    table_matrix(winners)[["Up to 4 KiB"]],
    "^Intel MPI or Open MPI, [0-9.]+( to [0-9.]+)? times [(]all 3[)]$"
  )
  said <- three_sentences(comparison, winners, summarise_launches(read_results(folder)))
  expect_match(said[[1L]], paste0(
    "None of 3 tests has a single winner, but MPICH is slower than another library in 3 of them."
  ), fixed = TRUE)
  # The nearest of the libraries behind counts, and the fastest of the first ones.
  expect_equal(lead_of(
    c("x", "y"), c("x", "x", "x", "y", "y", "z"), c("y", "z", "w", "z", "w", "w"),
    c(0.9, 1 / 2, 1 / 4, 1 / 1.8, 1 / 3.6, 1 / 2)
  ), 2)
  expect_identical(lead_of(c("x", "y"), "x", "y", 0.5), NA_real_)
  # A card counts from the same library.
  used <- data.table(
    order = 1L, bytes = c(1, 1, 4), a = c("x", "w", "x"), b = c("w", "y", "w"),
    tier_a = c(1L, 2L, 1L), tier_b = c(2L, 1L, 2L), verdict = c("faster", "slower", "faster"),
    ratio = c(1 / 4, 2, 1 / 3), low = c(1 / 5, 1.5, 1 / 6), high = c(1 / 3, 3, 1 / 2)
  )
  expect_equal(lead_of(c("x", "y"), c("x", "w"), c("w", "y"), c(1 / 4, 2)), 4)
  expect_equal(
    ranges_of(factors_of(used), "configuration"),
    data.table(configuration = "w", least = 3, most = 4, low = 2, high = 6)
  )
})

test_that("headings are unique, by what tells their strata apart", {
  folder <- write_study(fresh_folder(), MPIS, bytes = 1, blocks = 5L)
  for (cpus in list(0:1, 0:3)) {
    write_study(folder, MPIS, bytes = 1, blocks = 5L, test = "t", cpus = cpus, session = sprintf(
      "2026112%dT070000Z", length(cpus)
    ))
  }
  titles <- vapply(answer(compared(folder)), `[[`, "", "title")
  expect_length(titles, 3L)
  expect_identical(anyDuplicated(titles), 0L)
  expect_match(titles, "4 ranks", all = FALSE)
})

# A comparison of two MPIs at a number of places.
compared_at <- function(places) {
  comparison <- compared(write_study(fresh_folder(), MPIS, bytes = c(1, 1024), blocks = 6L))
  rbindlist(lapply(seq_len(places), function(i) copy(comparison)[, site := sprintf("s%02d", i)]))
}

test_that("what is said of a study is written at once, however many strata it has", {
  counted <- function(places) {
    plain <- format_digits
    calls <- 0L
    counting <- function(...) {
      calls <<- calls + 1L
      plain(...)
    }
    comparison <- compared_at(places)
    said <- with_replaced("format_digits", counting, answer(comparison))
    expect_length(said, places)
    expect_identical(unlist(lapply(said, `[[`, "lines")), rep(said[[1L]]$lines, places))
    calls
  }
  expect_gt(counted(1L), 0L)
  expect_identical(counted(20L), counted(1L))
})

test_that("tables of strata have headings of what their rows share, each its own", {
  comparison <- rbind(
    compared_at(2L), copy(compared_at(1L))[, `:=`(placement = "far", site = "s02")]
  )
  parts <- strata_tables(
    comparison, cells_of_comparison(comparison), function(title, at) title, COMPARISON_TEXTS
  )
  titles <- vapply(parts, `[[`, "", "title")
  expect_length(titles, 2L)
  expect_identical(anyDuplicated(titles), 0L)
  # One part has two placements: they are a column, not part of the heading.
  expect_identical(grepl("placement near", titles), c(TRUE, FALSE))
  expect_match(parts[[2L]]$html, "<th class=\"num\">Placement</th>", fixed = TRUE)
  expect_false(grepl("Placement</th>", parts[[1L]]$html, fixed = TRUE))
  expect_identical(lengths(gregexpr("<tr>", vapply(parts, `[[`, "", "html"))), c(3L, 5L))
  # Rows that differ by a factor of the samples must not look alike.
  one <- compared_at(1L)
  both <- rbind(cbind(queue = "1", one), cbind(queue = "64", one))
  expect_identical(table_comparison(both)$Queue, c("1", "1", "64", "64"))
  expect_null(table_comparison(one)$Queue)
})

test_that("no line leads through two configurations", {
  medians <- data.table::data.table(
    x = c(1, 2, 1, 2, 1, 1, 2), y = 1, y_low = 1, y_high = 1,
    level = factor(c("a", "a", "b", "b", "c", "c", "c")), panel = factor("p")
  )
  plot <- draw_curves(medians[0L], medians)
  lines <- Filter(function(layer) inherits(layer$geom, "GeomLine"), plot$layers)
  expect_setequal(as.character(lines[[1L]]$data$level), c("a", "b"))
  # Simulated machines have panels of their own.
  table <- data.table::data.table(
    operation = "bcast", transport = "shm", simulated = c("simulated by X: A, 2 nodes", ""),
    site = "s", test = "t"
  )
  expect_identical(nlevels(panel_of(table)), 2L)
})

test_that("the index page has contents, search, and class and launches of each exhibit", {
  design <- design_of(bytes = c(1, 1024), mpi = c("openmpi", "mpich"))[, time := 1e-6]
  made <- drawn_from(plant(fresh_folder(), design), one_row("by_size"))
  page <- paste(readLines(file.path(made$out, "index.html")), collapse = "\n")
  for (text in c(
    "id=\"search\"", "1 of 1 drawn", "make study TAG=full", "A planted figure",
    "<span>real &gt;= 6</span>",
    "<span>n = 6</span>", "addEventListener", "<title>Exhibits</title>", "charset"
  )) {
    expect_match(page, text, fixed = TRUE)
  }
  # A figure is loaded when its card comes into view.
  expect_match(page, "src=\"stival/fig-1.svg\" alt=\"A planted figure\" loading=\"lazy\"",
    fixed = TRUE)
  # The page is a local file: it fetches nothing.
  expect_false(grepl("(src|href)=\"?https?://", page))
})

test_that("the index shows figures, then answers, then exhibits, and the studies folded", {
  folder <- write_study(fresh_folder(), blocks = 6L, bytes = c(1, 1024))
  out <- fresh_folder()
  quiet(draw_all(folder, out, published = NULL))
  page <- paste(readLines(file.path(out, "index.html")), collapse = "\n")
  at <- function(text) regexpr(text, page, fixed = TRUE)[[1L]]
  expect_gt(at("difference-pingpong.svg"), 0L)
  # The answers are the cards that the report shows.
  card <- answer(compared(folder))[[1L]]
  expect_gt(at(card$lines[[1L]]), at(card$title))
  expect_no_match(page, "To settle")
  expect_lt(at("difference-pingpong.svg"), at("latency-pingpong.svg"))
  expect_lt(at("latency-pingpong.svg"), at(">Answers<"))
  expect_lt(at(card$lines[[1L]]), at("Exhibits of cotejo"))
  # The five studies are one line.
  studies <- at("<summary>The five studies: ")
  expect_lt(at("Exhibits of cotejo"), studies)
  expect_lt(studies, at("<summary>Stival (2006)"))
  expect_match(page, "The five studies: [0-9]+ of 129 drawn. To measure more: make study TAG=full")
  # A table is shown as a table.
  expect_match(page, "class=\"thumb\">\\s*<table><tr><th>")
})

test_that("a library that wins at half of the sizes or fewer is not named as the winner", {
  winners <- data.table(
    site = "s", simulated = "", operation = "pingpong", transport = "tcp",
    sizes = factor(c("small", "small", "small", "large"), names(CLASS_TITLES)),
    winner = c("openmpi", "mpich", "", "openmpi"),
    cells = c(1L, 1L, 1L, 2L), of = c(3L, 3L, 3L, 2L), least = 1.1, most = c(3.89, 3.85, 1, 2),
    close = 0L, bound = 0, n = 6L, candidates = ""
  )
  html <- as.character(winner_map(winners))
  expect_match(html, ">no single winner</td>", fixed = TRUE)
  expect_match(html, "Open MPI, 1.10 to 3.89 times (1 of 3); MPICH", fixed = TRUE)
  pair <- data.table(a = "mpich", b = "openmpi", verdict = "faster", n_a = 6L, n_b = 6L)
  said <- \(winners) three_sentences(pair, winners, data.table(site = "s", session = "1"))[[2L]]
  expect_identical(said(winners), "Open MPI wins most often for messages above 80 KiB (2 of 2).")
  expect_identical(said(winners[1:3]), "No library wins at most sizes of a class.")
})

test_that("the map of winners says in words what its colours say", {
  winners <- data.table(
    site = "s", simulated = "", operation = "pingpong", transport = "shm",
    sizes = factor(c("small", "small", "large"), names(CLASS_TITLES)),
    winner = c("openmpi", "", ""),
    cells = c(3L, 2L, 4L), of = c(5L, 5L, 4L), least = 1.1, most = c(2, 1.2, 1.3),
    close = 0L, bound = 0, n = 6L, candidates = ""
  )
  html <- as.character(winner_map(winners))
  expect_match(html, ">Open MPI, up to 2.0 times</td>", fixed = TRUE)
  expect_match(html, "title=\"Open MPI, 1.10 to 2.00 times (3 of 5); no single winner (2 of 5)\"",
    fixed = TRUE)
  expect_match(html, ">no single winner</td>", fixed = TRUE)
  expect_match(html, "Ping-pong, shared memory</td>", fixed = TRUE)
  expect_null(winner_map(winners[0L]))
  # The key names each library; a row names its libraries if there are more.
  compared <- data.table(
    site = "s", simulated = "", operation = c("pingpong", "bcast"), transport = "tcp", hosts = 1L,
    a = "mpich", b = c("openmpi", "intel-mpi")
  )
  html <- as.character(winner_map(copy(winners)[, transport := "tcp"], compared))
  expect_match(html, "TCP within one host (without Intel MPI)</td>", fixed = TRUE)
  expect_match(html, "</span>Intel MPI, <span .*</span>MPICH, <span .*</span>Open MPI\\.</p>")
  # Without a winner, the possible winners are named if they hold for most of these sizes.
  winners[2:3, candidates := "mpich,openmpi"]
  html <- as.character(winner_map(winners))
  expect_match(html, ">MPICH or Open MPI</td>", fixed = TRUE)
  three <- data.table(
    site = "s", simulated = "", operation = "pingpong", transport = "shm", hosts = 1L,
    a = "mpich", b = c("openmpi", "intel-mpi")
  )
  expect_match(as.character(winner_map(winners, three)), ">MPICH or Open MPI, not Intel MPI</td>")
  expect_match(html, ">Open MPI, up to 2.0 times</td>", fixed = TRUE)
  many <- copy(winners)[, candidates := fifelse(nzchar(winner), "", "a,b,c,d")]
  expect_match(as.character(winner_map(many)), ">one of 4 libraries</td>")
  open <- rbind(copy(winners)[3L, `:=`(cells = 3L)], copy(winners)[3L, `:=`(candidates = "")])
  html <- as.character(winner_map(open[, of := 7L]))
  expect_match(html, ">no single winner</td>", fixed = TRUE)
  expect_match(html, "MPICH or Open MPI, 1.10 to 1.30 times (3 of 7)", fixed = TRUE)
  # Black text on a mixed colour has a contrast of at least 4.5, for every colour.
  for (colour in c("#000000", COLOURS)) {
    channel <- grDevices::col2rgb(mixed_colour(colour, 0.5))[, 1L] / 255
    linear <- ifelse(channel <= 0.03928, channel / 12.92, ((channel + 0.055) / 1.055)^2.4)
    expect_gt((sum(linear * c(0.2126, 0.7152, 0.0722)) + 0.05) / 0.05, 4.5)
  }
})

test_that("questions are named in words, and the line of the machine names each version once", {
  expect_identical(
    title_of_question(
      c("collective", "systematic-errors", "fft", "nas-bt-mz", "spells", "pingpong", "rally"),
      c("allreduce-first", "bcast", NA, NA, NA, NA, NA)
    ),
    c(
      "Allreduce, first call", "Bcast (errors of measuring)", "FFT", "NAS BT-MZ",
      "Variance between launches", "Ping-pong", "Rally"
    )
  )
  expect_identical(
    question_in_words(c("logp-g", "pingpong", "put.fence.create", "matching-posted")),
    c("LogP, gap", "ping-pong", "put, fence, window created", "matching, receives posted before")
  )
  used <- data.table(
    mpi = c("Open MPI 5.0.7", "openmpi", "sockets"), cpu_model = "x", site = "s",
    provider = "wheels", started = "2026-11-21T07:00:00Z", library = c(
      "Open MPI v5.0.7, package", "Open MPI v5.0.11, package", "no library, sockets of Linux 6.1.2"
    )
  )
  expect_match(
    machine_line(used), "Compared: Open MPI 5.0.7, Open MPI 5.0.11 (wheels).", fixed = TRUE
  )
  expect_match(machine_line(used[3L]), "Compared: no MPI library (wheels).", fixed = TRUE)
})

test_that("columns and settings have words, without underscores and without equality signs", {
  expect_identical(
    word_of_column(c("mpi", "setting_eager_limit", "option_start", "cpu_model", "alone_s")),
    c("MPI", "eager limit", "start", "CPU model", "alone")
  )
  expect_no_match(word_of_column(FILTER_COLUMNS), "_")
  expect_identical(levels(in_words("option_layout", "page")), "layout page")
  expect_identical(levels(in_words("setting_coll_selector", "ompi")), "choice of Open MPI")
  rows <- data.table(
    operation = "pingpong", transport = "shm", test = "pingpong_full",
    settings = c("", "async_progress=yes; eager_limit=1024")
  )
  expect_identical(title_of_stratum(rows), c(
    "Ping-pong, shared memory (pingpong_full)",
    "Ping-pong, shared memory, asynchronous progress, eager up to 1 KiB (pingpong_full)"
  ))
  expect_identical(levels(in_words("parameter_packing", "raw")), "packing raw")
  expect_identical(levels(in_words("algorithm", "recursive_doubling")), "recursive doubling")
})

test_that("headings say whether network transports stayed within one host", {
  rows <- data.table(
    operation = "pingpong", transport = c("tcp", "tcp", "shm", "tcp"), hosts = c(1L, 2L, 1L, NA),
    test = "t"
  )
  expect_identical(title_of_stratum(rows), sprintf("Ping-pong, %s (t)", c(
    "TCP within one host", "TCP between hosts", "shared memory", "TCP"
  )))
  # A table of both names the transport alone, and has a column of hosts.
  comparison <- rbind(compared_at(1L), copy(compared_at(1L))[, hosts := 2L])[, transport := "tcp"]
  parts <- strata_tables(
    comparison, cells_of_comparison(comparison), function(title, at) title, COMPARISON_TEXTS
  )
  expect_match(parts[[1L]]$title, "pong, TCP, placement near (", fixed = TRUE)
  expect_match(parts[[1L]]$html, "<th class=\"num\">Hosts</th>", fixed = TRUE)
})

test_that("a library that leads for several sizes is named once", {
  winners <- data.table(
    site = "s", simulated = "", operation = "pingpong", transport = "shm",
    sizes = factor(names(CLASS_TITLES), names(CLASS_TITLES)),
    winner = c("openmpi", "openmpi", "mpich"), cells = 3L, of = 5L
  )
  compared <- data.table(
    site = "s", verdict = "not settled", at_most = NA_real_, n_a = 6L, n_b = 6L, q = 1
  )
  expect_match(
    three_sentences(compared, winners, data.table(site = "s", session = "t"))[[2L]], paste(
      "Open MPI wins most often for messages up to 4 KiB (3 of 3) and up to 80 KiB (3 of 3) and",
      "MPICH wins most often for messages above 80 KiB (3 of 3)."
    ), fixed = TRUE
  )
})

test_that("a page of real and emulated launches says which tests are emulated", {
  used <- data.table(
    test = c("pingpong_quick", "hosts", "hosts", "hosts_full"),
    simulated = c("", "emulated: 4 hosts", "emulated: 4 hosts", "emulated: 4 hosts")
  )
  expect_identical(
    say_emulated(used), "Only hosts, hosts_full ran on no real hardware: emulated: 4 hosts."
  )
  expect_identical(say_emulated(used[-1L]), "Not real hardware: emulated: 4 hosts.")
})

test_that("a report says what to run next, or that nothing is left", {
  card <- function(settled, command = "", minutes = NA_real_, tested = 4L) {
    list(
      title = sprintf("Card %s, placement near (%s)", command, command),
      place = list(test = command, placement = "near"), settled = settled, tested = tested,
      to_settle = if (nzchar(command)) {
        list(said = "about 3 more launches of each", command = command, minutes = minutes)
      }
    )
  }
  hosts <- data.table(hosts = c(1L, 2L))
  done <- say_next_step(list(card(4L)), hosts)
  expect_match(done$said, "^Nothing: every comparison is settled")
  expect_null(done$further)
  expect_match(say_next_step(list(card(4L)), hosts[1L])$further, "run make site on a cluster")
  left <- say_next_step(list(card(3L)), hosts)
  expect_match(left$said, "1 question is not settled, and more launch")
  expect_null(left$command)
  # The command that settles the most per minute, of 1, 2 and 4 open comparisons.
  expect_identical(
    say_next_step(list(card(3L, "some", 2), card(4L), card(2L, "most", 3), card(0L, "all", 9)),
      hosts),
    list(
      said = paste(
        "3 questions are not settled. The quickest gain is in \"Card most\" (2 of 4 open),",
        "about 3 more launches of each:"
      ), command = "most", further = NULL
    )
  )
  expect_match(say_next_step(list(card(0L, "new", 1, 0L)), hosts)$said, "(all open)", fixed = TRUE)
  dependent <- list(card(3L, "some", 2), c(card(4L), confirm = "make study"))
  expect_identical(say_next_step(dependent, hosts), list(
    said = paste(
      "Confirm in another session, since launches depended on the ones before them; it also adds",
      "launches to 1 question that is not settled:"
    ), command = "make study", further = NULL
  ))
  expect_match(say_next_step(dependent[2L], hosts)$said, "on the ones before them:$")
})

test_that("the first screen says how sure it is", {
  sure <- \(warnings) as.character(html_certainty(list(list(warnings = warnings))))
  expect_match(sure(character()), "95 % confidence; at most 5 % of the differences")
  expect_no_match(sure(c(outliers = "o")), "dependent")
  expect_match(sure(c(`dependent launches` = "d")), "more where a card warns that launches depend")
})
