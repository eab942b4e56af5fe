# SPDX-License-Identifier: BSD-3-Clause
# A packed dataset: small, the same bytes twice, and without the names of a machine's owners. It
# grows by sessions and loses none, and foreign content in results does not get into it.

SESSION <- "20260101T000000Z"
CELL <- "pingpong_quick.mpich.shm.near"

# Results of one session of two launches, one of them failed.
measured <- function() {
  folder <- fresh_folder()
  rows <- data.table::CJ(bytes = c(1, 1024), queue = c(0L, 2L), number = 0:49, sorted = FALSE)
  samples <- data.table::data.table(
    operation = "pingpong", bytes = rows$bytes, repetition = rows$number, calls = 1L,
    time_s = ifelse(rows$number == 47L, "1.50000049999e-06", "1.5e-06"), valid = 1L,
    queue = rows$queue
  )
  good <- make_description("mpich", session = SESSION)
  good$samples$columns <- c(
    good$samples$columns, list(list(name = "queue", unit = "", meaning = "queue"))
  )
  good$stderr <- list("a word of /home/someone")
  good$command <- paste(
    "/deep/site_configs/x/enter /run/x /deep/.stack/mpi/mpich/bin/cotejo pingpong",
    "/tmp/deep/src/languages/python/nas_ep.py"
  )
  good$observed$mpi$library <- "MPICH 5.0.2 Information: https://host.example/p/mpich/ "
  good$observed$build$libraries <- list(
    "/tmp/cotejo_8788_0.so", "/usr/lib/libm_1_2.so.6", "/sw/mpi/lib/libmpi.so.12"
  )
  path <- write_launch(folder, good, samples)
  failed <- make_description("mpich", launch = 2L, session = SESSION, status = "failed")
  write_launch(folder, failed)
  plan <- list(seed = 1L, tag = "quick", blocks = 2L, finished = "", cells = list(CELL))
  write_json(plan, file.path(dirname(path), "session.json"))
  audit <- list(list(mpi = "mpich", item = "version", value = "5.0.2"))
  write_json(audit, file.path(dirname(path), "audit.json"))
  list(
    results = folder, session = dirname(path), json = paste0(path, ".json"),
    csv = paste0(path, ".csv"), out = file.path(fresh_folder(), "out")
  )
}

# Packs results; returns the messages about files that were left out.
pack <- function(results, out, ...) {
  faults <- NULL
  utils::capture.output(faults <- suppressMessages(pack_dataset(results, out, ...)))
  vapply(faults, conditionMessage, "")
}

# The folder of the session of an unpacked dataset.
unpacked <- function(out) file.path(unpack_dataset(out), "local", SESSION)

contents <- function(folder) {
  files <- list.files(folder, recursive = TRUE, all.files = TRUE)
  stats::setNames(tools::md5sum(file.path(folder, files)), files)
}

test_that("a dataset is thinned, stripped and the same twice", {
  made <- measured()
  again <- file.path(fresh_folder(), "again")
  expect_length(pack(made$results, made$out), 0L)
  pack(made$results, again)
  expect_identical(contents(made$out), contents(again))
  archive <- file.path(made$out, "local", paste0(SESSION, ".tar.xz"))
  expect_identical(
    readLines(file.path(made$out, "SHA256SUMS")),
    sprintf("%s  local/%s.tar.xz", sha256(archive), SESSION)
  )
  files <- c(
    paste0(CELL, ".001.csv"), "audit.json", paste0(CELL, ".00", 1:2, ".json"), "session.json"
  )
  listed <- system2("tar", c("-tvJf", shQuote(archive)), stdout = TRUE, env = "TZ=UTC")
  expect_setequal(sub("^.* ", "", listed), files)
  expect_match(listed, "^-rw-r--r-- 0/0 .* 1970-01-01 ")
  folder <- unpacked(made$out)
  expect_setequal(list.files(folder), files)
  expect_identical(
    jsonlite::read_json(file.path(folder, "audit.json")),
    jsonlite::read_json(file.path(made$session, "audit.json"))
  )
  rows <- readLines(file.path(folder, basename(made$csv)))[-(1:2)]
  record <- jsonlite::read_json(file.path(folder, basename(made$json)))
  expect_length(rows, 4L * 20L)
  expect_identical(record$samples$rows, 80L)
  expect_identical(record$samples$thinned_from, 200L)
  # Six digits of 1.50000049999e-06.
  expect_true("pingpong,1,47,1,1.5e-06,1,0" %in% rows)
  # Evenly over the order of measuring: from the first to near the last.
  group <- data.table::fread(text = rows)[V2 == 1 & V7 == 2]
  expect_identical(range(group$V3), c(0L, 47L))
  expect_identical(nrow(group), 20L)
  expect_identical(record$command, paste(
    "site_configs/x/enter /run/x STACK/mpi/mpich/bin/cotejo pingpong",
    "src/languages/python/nas_ep.py"
  ))
  expect_identical(trimws(record$observed$mpi$library), "MPICH 5.0.2 Information:")
  expect_identical(
    unlist(record$observed$build$libraries), c("cotejo", "/usr/lib/libm_1_2.so.6", "libmpi.so.12")
  )
  expect_null(record$stderr)
  # Nothing else is changed.
  before <- jsonlite::read_json(made$json)
  before$stderr <- NULL
  for (member in c("command", "samples")) before[[member]] <- record[[member]]
  before$observed[c("mpi", "build")] <- record$observed[c("mpi", "build")]
  expect_equal(record, before)
  expect_match(readLines(file.path(made$out, "README.md")), paste(
    "| local |", SESSION, "| 2 | 1 | pingpong_quick | mpich | none | A CPU | 0123456789ab |"
  ), fixed = TRUE, all = FALSE)
})

test_that("a session that is thinned again keeps the number of its samples", {
  made <- measured()
  pack(made$results, made$out)
  again <- file.path(fresh_folder(), "again")
  pack(unpack_dataset(made$out), again, 5)
  record <- jsonlite::read_json(file.path(unpacked(again), basename(made$json)))
  expect_identical(record$samples$rows, 20L)
  expect_identical(record$samples$thinned_from, 200L)
})

test_that("times that explain a sample have four digits, and other measures stay", {
  columns <- described_columns(list(
    list(name = "operation", unit = ""), list(name = "bytes", unit = "B"),
    list(name = "repetition", unit = ""), list(name = "calls", unit = ""),
    list(name = "time_s", unit = "s"), list(name = "valid", unit = ""),
    list(name = "late_s", unit = "s", role = "measure"),
    list(name = "wait_s", unit = "s", role = "factor"),
    list(name = "hops", unit = "1", role = "measure")
  ))
  lines <- c("head", "names", "a,1,0,1,1.23456789e-6,1,1.23456789e-6,0.123456,0.1234567")
  expect_identical(
    thinned(lines, columns, 20L)[[3L]], "a,1,0,1,1.23457e-06,1,1.235e-06,0.123456,0.1234567"
  )
})

test_that("the folder in which Spack installs is left out", {
  expect_identical(
    stripped_texts("-I/work/me/spack/opt/spack/linux-x86_64_v3/mpich-4.0.2-abc/include"),
    "-ISPACK/linux-x86_64_v3/mpich-4.0.2-abc/include"
  )
})

test_that("folders are found in a time that grows as the text does", {
  parts <- c(
    "/", "-", "_1", "(/", "/lib", ".so", "/lib.so", " ", "file", "/.stack", "/opt/spack/linux-",
    "/src/languages", "/a_1_1"
  )
  # A text of 200,000 dashes took minutes.
  for (part in parts) {
    text <- strrep(part, 200000L)
    took <- system.time(expect_no_warning(stripped_texts(c(text, paste0(text, "/")))))
    expect_lt(took[["user.self"]], 10)
  }
})

test_that("a place that the rules do not know is refused, and nothing is written", {
  made <- measured()
  edit_json(made$json, function(launch) {
    launch$command <- "/home/someone/bin/mpirun"
    launch
  })
  expect_error(pack(made$results, made$out), "001.json: .* names a place that a dataset must not")
  expect_false(file.exists(made$out))
  expect_length(list.files(dirname(made$out), all.files = TRUE, no.. = TRUE), 0L)
})

test_that("a dataset that is too large is not written", {
  made <- measured()
  old <- options(cotejo.most_dataset = 100)
  on.exit(options(old))
  expect_error(pack(made$results, made$out), "keep fewer samples", class = "cotejo_bad_data")
  expect_false(file.exists(made$out))
})

# The same session under another name, in results of their own.
other_results <- function(made) {
  other <- file.path(fresh_folder(), "local", "20260202T000000Z")
  dir.create(dirname(other))
  file.rename(made$session, other)
  for (file in list.files(other, "[.][0-9]+[.]json$", full.names = TRUE)) {
    edit_json(file, function(launch) {
      launch$asked$session <- basename(other)
      launch
    })
  }
  dirname(dirname(other))
}

test_that("a session is added, and none goes that was not named", {
  made <- measured()
  pack(made$results, made$out)
  first <- contents(made$out)
  results <- other_results(made)
  pack(results, made$out)
  both <- contents(made$out)
  kept <- setdiff(names(first), c("README.md", "SHA256SUMS"))
  expect_identical(both[kept], first[kept])
  expect_length(readLines(file.path(made$out, "SHA256SUMS")), 2L)
  expect_length(grep("pingpong_quick", readLines(file.path(made$out, "README.md"))), 2L)
  pack(results, made$out, drop = file.path("local", SESSION))
  expect_identical(list.files(file.path(made$out, "local")), "20260202T000000Z.tar.xz")
  expect_error(
    pack(results, made$out, drop = "local/x"), "has no session local/x", class = "cotejo_bad_data"
  )
  expect_identical(list.files(dirname(made$out), all.files = TRUE, no.. = TRUE), "out")
})

test_that("only a dataset is written to", {
  made <- measured()
  theirs <- fresh_folder()
  file.create(file.path(theirs, "thesis.tex"))
  link <- tempfile("link")
  file.symlink(file.path(theirs, "nothing"), link)
  places <- c(made$results, file.path(made$results, "local"), dirname(made$results), theirs,
    file.path(theirs, "thesis.tex"), link)
  before <- lapply(c(made$results, theirs), contents)
  for (out in places) {
    expect_error(
      pack(made$results, out), "name (another|a new) folder", class = "cotejo_bad_data"
    )
    expect_identical(lapply(c(made$results, theirs), contents), before)
  }
  # Other files in a dataset's folder stay.
  pack(made$results, made$out)
  writeLines("mine", file.path(made$out, "note.txt"))
  pack(made$results, made$out, 10L)
  expect_identical(readLines(file.path(made$out, "note.txt")), "mine")
  expect_error(pack("/nowhere", made$out), "/nowhere: a folder that cannot be read")
  expect_error(pack(fresh_folder(), made$out), "no launch below it; `make study` measures some")
})

# Packs in a process that ends, as by SIGKILL, before its step of that number that changes a name;
# returns whether it came to its end.
killed_after <- function(steps, results, out) {
  job <- parallel::mcparallel({
    step <- function() {
      steps <<- steps - 1L
      if (steps < 0L) tools::pskill(Sys.getpid(), tools::SIGKILL)
    }
    for (name in c("file.rename", "file.remove", "unlink", "dir.create", "system2")) {
      # The call has the function itself, since its name is that of a function of stats, too.
      suppressMessages(trace(name, as.call(list(step)), print = FALSE))
    }
    pack(results, out)
    "done"
  }, silent = TRUE)
  "done" %in% unlist(suppressWarnings(parallel::mccollect(job)))
}

test_that("a kill at any step loses nothing", {
  old <- options(cotejo.cores = 1L) # all steps are of the process that is killed
  on.exit(options(old))
  made <- measured()
  pack(made$results, made$out)
  archive <- file.path("local", paste0(SESSION, ".tar.xz"))
  was <- tools::md5sum(file.path(made$out, archive))[[1L]]
  results <- other_results(made)
  for (steps in 0:100) {
    done <- killed_after(steps, results, made$out)
    before <- file.path(dirname(made$out), ".out.before-exchange")
    place <- if (file.exists(made$out)) made$out else before
    sessions <- check_sums(place)
    expect_identical(tools::md5sum(file.path(place, archive))[[1L]], was)
    if (done) break
  }
  expect_true(done)
  expect_gt(steps, 5L)
  expect_length(sessions, 2L)
  expect_identical(list.files(dirname(made$out), all.files = TRUE, no.. = TRUE), "out")
})

# A description with other members of its samples.
within_samples <- function(launch, ...) {
  launch$samples[...names()] <- list(...)
  launch
}

test_that("a foreign launch or plan is named and left out, and the others go on", {
  change <- function(edit) {
    function(made) edit_json(made$json, edit)
  }
  with_link <- function(name, to) {
    function(made) {
      if (is.null(to)) {
        to <- file.path(dirname(made$results), basename(tempfile("elsewhere")))
        file.rename(made[[name]], to)
      }
      unlink(made[[name]])
      file.symlink(to, made[[name]])
    }
  }
  hostile <- list(
    change(\(one) within_samples(one, file = "/etc/passwd")),
    change(\(one) within_samples(one, file = "../../x.csv")),
    change(\(one) within_samples(one, file = paste0(CELL, ".002.csv"))),
    change(\(one) within_samples(one, file = 7L)), change(\(one) within_samples(one, rows = 3L)),
    change(\(one) within_samples(one, columns = list(list(name = "x")))),
    change(\(one) within_samples(one, columns = NULL)),
    change(\(one) replace(one, "id", "../cell.001")),
    change(\(one) replace(one, "asked", list(replace(one$asked, "site", "other")))),
    change(\(one) replace(one, "asked", list(replace(one$asked, "session", "other")))),
    change(\(one) replace(one, "asked", list(replace(one$asked, "mpi", "../x")))),
    with_link("csv", "/etc/passwd"), with_link("json", "/etc/passwd"), with_link("csv", NULL),
    with_link("json", NULL), \(made) writeLines("{", made$json),
    \(made) writeLines(strrep("[", 100000L), made$json), \(made) writeLines("[]", made$json),
    \(made) writeBin(as.raw(0:255), made$csv),
    \(made) system2("truncate", c("-s", "300", shQuote(made$csv))),
    \(made) edit_lines(made$csv, \(lines) sub("1.5e-06", "fast", lines, fixed = TRUE)),
    \(made) edit_lines(made$json, \(lines) sub("\"wall_s\"", "\"wall_s\": 1, \"wall_s\"", lines)),
    function(made) {
      unlink(made$csv)
      system2("mkfifo", shQuote(made$csv))
    }
  )
  for (spoil in hostile) {
    made <- measured()
    spoil(made)
    said <- pack(made$results, made$out)
    expect_length(said, 1L)
    expect_match(said, paste0(CELL, ".001"), fixed = TRUE)
    expect_false(grepl("\n", said, fixed = TRUE))
    folder <- unpacked(made$out)
    expect_setequal(
      list.files(folder), c("audit.json", paste0(CELL, ".002.json"), "session.json")
    )
    texts <- unlist(lapply(list.files(folder, full.names = TRUE), readLines))
    expect_false(any(grepl("root:", texts, fixed = TRUE)))
  }
})

test_that("samples of launches that are in no statistic are checked and thinned, too", {
  made <- measured()
  edit_json(made$json, \(one) replace(one, c("status", "reason"), c("marked", "x")))
  expect_length(pack(made$results, made$out), 0L)
  expect_length(readLines(file.path(unpacked(made$out), basename(made$csv))), 82L)
  edit_lines(made$csv, \(lines) sub("1.5e-06", "fast", lines, fixed = TRUE))
  expect_match(pack(made$results, made$out), "001.csv:3: bad value \"fast\" in column time_s")
})

test_that("a plan that no figure can show is left out", {
  for (colour in c("red;x", "", "#12345")) {
    made <- measured()
    edit_json(file.path(made$session, "session.json"), function(plan) {
      plan$families <- list(list(name = "mpich", title = "MPICH", colour = colour, order = 1L))
      plan
    })
    expect_match(pack(made$results, made$out), "session.json:.*colour.* a colour such as #0072B2")
  }
})

test_that("a session behind a link is left out", {
  made <- measured()
  file.symlink(made$session, file.path(made$results, "local", "20260303T000000Z"))
  expect_match(pack(made$results, made$out), "20260303T000000Z: a link")
  expect_length(check_sums(made$out), 1L)
})

test_that("a name of over 100 characters is packed", {
  files <- list(a = charToRaw("{}"), b = charToRaw("{ }"))
  names(files) <- c(paste0(strrep("a", 120L), ".001.json"), "b.001.json")
  archive <- tempfile(fileext = ".tar.xz")
  put_bytes(archive_of(files), archive)
  folder <- tempfile("unpacked")
  unpack_archive(archive, folder)
  expect_identical(lapply(file.path(folder, names(files)), readBin, "raw", 9L), unname(files))
  expect_setequal(system2("tar", c("-tJf", shQuote(archive)), stdout = TRUE), names(files))
})

test_that("a dataset whose list names anything else is refused", {
  made <- measured()
  pack(made$results, made$out)
  sums <- file.path(made$out, "SHA256SUMS")
  good <- readLines(sums)
  names <- c("../x/y.tar.xz", "/etc/passwd", "local/x.tar.xz")
  for (line in c("x", paste0(strrep("0", 64L), "  ", names))) {
    writeLines(c(good, line), sums)
    expect_error(
      pack(made$results, made$out), "no checksum of|x.tar.xz: missing", class = "cotejo_bad_data"
    )
  }
})
