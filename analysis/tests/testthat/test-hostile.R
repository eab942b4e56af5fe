# SPDX-License-Identifier: BSD-3-Clause
# Data from strangers: archives that lead outside the folder, texts that a page would execute.

# A tar archive of entries, each a list of `name`, `type`, `size` as declared, and `text`.
tar_of <- function(...) {
  field <- function(text, n) {
    bytes <- charToRaw(text)
    c(bytes, raw(n - length(bytes)))
  }
  entry <- function(name = "a.001.json", type = "0", text = "{}", size = nchar(text)) {
    header <- c(
      field(name, 100L), field("0000644", 8L), field("0000000", 8L), field("0000000", 8L),
      field(sprintf("%011o", as.integer(size)), 12L), field("00000000000", 12L),
      field("        ", 8L), field(type, 1L), field("/etc/passwd", 100L), field("ustar", 8L),
      raw(247L)
    )
    c(header, field(text, 512L * ceiling(nchar(text) / 512)))
  }
  c(unlist(lapply(list(...), function(e) do.call(entry, e))), raw(1024L))
}

packed <- function(bytes) {
  folder <- fresh_folder()
  dir.create(file.path(folder, "local"))
  archive <- file.path(folder, "local", "x.tar.xz")
  stream <- xzfile(archive, "wb")
  writeBin(bytes, stream)
  close(stream)
  writeLines(paste0(sha256(archive), "  local/x.tar.xz"), file.path(folder, "SHA256SUMS"))
  folder
}

test_that("names of over 100 characters are read, and are no way out", {
  name <- paste0(strrep("a", 120L), ".001.json")
  long <- function(name, size = nchar(name) + 10L) {
    list(name = "././@PaxHeader", type = "x", text = sprintf("%d path=%s\n", size, name))
  }
  to <- unpack_dataset(packed(tar_of(long(name), list(), list(name = "a.001.csv"))))
  expect_identical(list.files(file.path(to, "local", "x")), c("a.001.csv", name))
  for (other in c("../x.001.json", "/etc/x.001.json", "x", "a b.001.json", strrep("a", 600L))) {
    expect_error(unpack_dataset(packed(tar_of(long(other), list()))), "x.tar.xz: .*trust it",
      class = "cotejo_bad_data"
    )
  }
  link <- list(type = "x", text = "20 linkpath=/etc/p\n")
  expect_error(unpack_dataset(packed(tar_of(link, list()))), "no plain file",
    class = "cotejo_bad_data"
  )
})

test_that("plain files of a session are unpacked", {
  to <- unpack_dataset(packed(tar_of(list(), list(name = "a.001.csv", text = strrep("x", 513)))))
  expect_identical(list.files(file.path(to, "local", "x")), c("a.001.csv", "a.001.json"))
  expect_identical(file.size(file.path(to, "local", "x", "a.001.csv")), 513)
})

test_that("an entry that is anything else is refused, and nothing of it stays", {
  hostile <- list(
    list(name = "../x.json"), list(name = "/tmp/x.json"), list(name = "b/x.json"),
    list(name = "x.sh"), list(name = ".json"), list(name = ""), list(type = "2"),
    list(type = "1"), list(type = "5"), list(type = "x"), list(type = "L"), list(type = "3"),
    list(size = 1e9), list(size = 3000)
  )
  for (entry in hostile) {
    expect_error(unpack_dataset(packed(tar_of(entry))), "x.tar.xz: .*trust it",
      class = "cotejo_bad_data")
  }
  expect_error(unpack_dataset(packed(tar_of(list(), list()))), "twice", class = "cotejo_bad_data")
  expect_error(unpack_dataset(packed(charToRaw("no archive"))), "ends early",
    class = "cotejo_bad_data")
  expect_false(file.exists("/tmp/x.json"))
})

test_that("an archive is not unpacked beyond what a session may have", {
  old <- options(cotejo.most_unpacked = 1000)
  on.exit(options(old))
  bomb <- packed(tar_of(list(text = strrep("x", 2000))))
  expect_error(unpack_dataset(bomb), "too large", class = "cotejo_bad_data")
  options(old)
  # No entry is larger than a reader accepts.
  bomb <- packed(tar_of(list(text = strrep(" ", MOST_JSON + 1))))
  expect_error(unpack_dataset(bomb), "too large", class = "cotejo_bad_data")
})

test_that("checksums name archives of the dataset and nothing else", {
  for (line in c("../../x.tar.xz", "/etc/x.tar.xz", "local/x.sh", "local/../x.tar.xz", "x")) {
    folder <- packed(tar_of(list()))
    writeLines(paste0(strrep("0", 64L), "  ", line), file.path(folder, "SHA256SUMS"))
    expect_error(unpack_dataset(folder), "SHA256SUMS:1: no checksum", class = "cotejo_bad_data")
  }
  folder <- packed(tar_of(list()))
  archive <- file.path(folder, "local", "x.tar.xz")
  file.rename(archive, file.path(folder, "y"))
  file.symlink(file.path(folder, "y"), archive)
  expect_error(unpack_dataset(folder), "is a link", class = "cotejo_bad_data")
})

test_that("a file of bytes at random is refused, whatever they are", {
  set.seed(20261123L)
  whole <- tar_of(list(), list(name = "b.001.csv", text = strrep("1,", 400)))
  for (i in 1:60) {
    at <- sample(length(whole), 8L)
    bytes <- whole
    bytes[at] <- as.raw(sample(0:255, 8L, replace = TRUE))
    to <- tryCatch(unpack_dataset(packed(bytes)), cotejo_bad_data = function(e) "")
    if (nzchar(to)) {
      expect_true(all(grepl(SESSION_FILE, list.files(file.path(to, "local", "x")))))
    }
  }
})

test_that("text from data is text on a page", {
  evil <- "a <script>alert(1)</script> & *b* [c](javascript:d) `r 1`"
  whole <- "a &lt;script&gt;alert(1)&lt;/script&gt; &amp; *b* [c](javascript:d) `r 1`"
  for (convert in list(commonmark::markdown_html, pandoc_html)) {
    html <- knit_template("`r evil`", list(evil = evil), convert)
    expect_identical(html, sprintf("<p>%s</p>", whole))
  }
  table <- html_table(data.table::data.table(x = evil), evil)
  expect_match(table, sprintf(">%s</td>", whole), fixed = TRUE)
  expect_match(table, sprintf(">%s</caption>", whole), fixed = TRUE)
  expect_match(as.character(bullets(evil)), whole, fixed = TRUE)
})

test_that("no page has markup from hosts, CPUs, commands or libraries", {
  evil <- "<img src=x onerror=alert(1)>"
  dir <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 4e-7), bytes = 1, blocks = 6L)
  for (file in list.files(dir, "[.]json$", recursive = TRUE, full.names = TRUE)) {
    text <- readLines(file)
    text <- gsub("\"(cpu_model|kernel|library|governor|host|command|evidence)\": *\"[^\"]*\"",
      sprintf("\"\\1\": \"%s\"", evil), text)
    writeLines(text, file)
  }
  out <- file.path(fresh_folder(), "report.html")
  suppressMessages(utils::capture.output(write_report(dir, out)))
  page <- paste(readLines(out), collapse = "\n")
  expect_false(grepl(evil, page, fixed = TRUE))
  expect_match(page, "&lt;img src=x onerror=alert(1)&gt;", fixed = TRUE)
})

PIECES <- c("{", "\"", ",", "1e999", "-1", "\n", "nan", "[[", "9e9")

# Bytes with a few mistakes, as by manual edits or disk errors.
spoiled <- function(bytes) {
  for (i in seq_len(sample(3L, 1L))) {
    ends <- sort(sample(0:length(bytes), 2L))
    bytes <- switch(sample(4L, 1L),
      append(bytes, charToRaw(sample(PIECES, 1L)), ends[[1L]]),
      utils::head(bytes, ends[[1L]]),
      bytes[-seq(ends[[1L]], min(ends[[2L]], ends[[1L]] + 30L))],
      replace(bytes, max(1L, ends[[1L]]), as.raw(sample(1:255, 1L)))
    )
  }
  bytes
}

is_one_line <- function(e) {
  expect_s3_class(e, "cotejo_bad_data")
  expect_no_match(conditionMessage(e), "\n")
}

test_that("a description or samples spoiled by chance are read, or named and left out", {
  set.seed(20261124L)
  for (i in 1:40) {
    folder <- fresh_folder()
    file.copy(file.path(test_path("fixtures", "v2"), "local"), folder, recursive = TRUE)
    files <- list.files(folder, "[.](json|csv)$", recursive = TRUE, full.names = TRUE)
    file <- sample(files, 1L)
    writeBin(spoiled(readBin(file, "raw", file.size(file))), file)
    read <- tryCatch(
      suppressWarnings(suppressMessages(read_results(folder))),
      error = is_one_line
    )
    if (is.list(read)) expect_gte(nrow(read$launches), 3L)
  }
})

# A study of two sessions, one of which was changed by a stranger.
beside_a_hostile_one <- function(change) {
  dir <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 4e-7), bytes = 1, blocks = 2L)
  good <- list.files(file.path(dir, "local"), full.names = TRUE)[[1L]]
  bad <- file.path(dir, "local", "20990101T000000Z")
  dir.create(bad)
  file.copy(list.files(good, full.names = TRUE), bad)
  for (file in list.files(bad, "[.][0-9]+[.]json$", full.names = TRUE)) {
    writeLines(gsub(basename(good), basename(bad), readLines(file), fixed = TRUE), file)
  }
  change(bad)
  dir
}

# Rename the last column of each sample file, or add a further column with a value.
with_column <- function(folder, name, value = "1") {
  for (file in list.files(folder, "[.][0-9]+[.]json$", full.names = TRUE)) {
    launch <- jsonlite::read_json(file)
    launch$samples$columns <- c(
      launch$samples$columns, list(list(name = name, unit = "", meaning = "x", role = "factor"))
    )
    jsonlite::write_json(launch, file, auto_unbox = TRUE, digits = NA)
    samples <- sub("[.]json$", ".csv", file)
    lines <- readLines(samples)
    lines[-1L] <- paste(lines[-1L], c(name, rep(value, length(lines) - 2L)), sep = ",")
    writeLines(lines, samples)
  }
}

left_out <- function(dir) suppressMessages(read_study(dir))$broken

test_that("no name of a column runs code, is one of our own, or stops another session", {
  proof <- tempfile("pwned")
  evil <- sprintf("`bytes`+{file.create('%s');0}", proof)
  names <- c(
    evil, "a<b", "key", "mpi", "bytes", "`", "n", "median_s", "a b", "setting_x", "",
    strrep("x", 99L), "T", "if", "NA_real_", "x;y", "x)", "a.b", "\u00e4", "1x"
  )
  for (name in names) {
    broken <- left_out(beside_a_hostile_one(function(folder) with_column(folder, name)))
    expect_identical(nrow(broken), 4L, label = name)
    expect_match(broken$what, "20990101T000000Z.*name", label = name)
    expect_false(file.exists(proof))
  }
  broken <- left_out(beside_a_hostile_one(function(folder) with_column(folder, "queue")))
  expect_identical(nrow(broken), 0L)
})

test_that("columns of launches and of summaries are reserved names", {
  dir <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 4e-7), bytes = 1, blocks = 2L)
  study <- read_study(dir)
  own <- c(
    names(study$launches), names(summarise_launches(study)), names(study$cells),
    names(summarise_configurations(summarise_launches(study)))
  )
  own <- setdiff(own[!grepl(OUR_PREFIX, own)], SAMPLE_COLUMNS)
  # A missing name belongs into inst/reserved.txt.
  expect_identical(setdiff(own, reserved()), character())
})

test_that("names of what was asked for, of settings and of operations are words", {
  change <- function(from, to) {
    left_out(beside_a_hostile_one(function(folder) {
      for (file in list.files(folder, "[.][0-9]+[.]json$", full.names = TRUE)) {
        writeLines(gsub(from, to, readLines(file), perl = TRUE), file)
      }
    }))
  }
  asked <- schema_of("asked")$properties
  word <- schema_of("word")$pattern
  named <- names(Filter(\(one) identical(one$pattern, word), asked))
  expect_setequal(named, c(
    "site", "session", "experiment", "test", "scale", "mpi", "transport", "placement"
  ))
  for (evil in c("../x", strrep("x", 5000L), "a b", "<b>", "", "x\n")) {
    expect_false(grepl(word, evil, perl = TRUE), label = substr(evil, 1L, 9L))
  }
  for (member in named) {
    pattern <- sprintf("\"%s\" ?: ?\"[^\"]*\"", member)
    broken <- change(pattern, sprintf("\"%s\": \"../x\"", member))
    expect_identical(nrow(broken), 4L, label = member)
  }
  broken <- change("\"A CPU\"", "\"A \\\\u001b[31mCPU\"")
  expect_match(broken$what, "control character")
  expect_identical(nrow(broken), 4L)
  broken <- left_out(beside_a_hostile_one(function(folder) {
    for (file in list.files(folder, "[.]csv$", full.names = TRUE)) {
      writeLines(sub("^pingpong", "ping\033pong", readLines(file)), file)
    }
  }))
  expect_identical(nrow(broken), 4L)
})

test_that("why a file is left out is one line of text, whatever bytes the file has", {
  spoil <- function(first) {
    left_out(beside_a_hostile_one(function(folder) {
      for (file in list.files(folder, "[.]csv$", full.names = TRUE)) writeBin(first, file)
    }))
  }
  schema <- charToRaw("# cotejo-samples/1\n")
  for (first in list(
    as.raw(c(0xff, 0xfe, 0x23, 0x0a)), charToRaw("# \033[2Jschema\n"),
    c(schema, as.raw(c(0xe9, 0x2c, 0x80, 0x0a))), c(schema, charToRaw("a\033[2Jb,c\n"))
  )) {
    broken <- spoil(first)
    expect_identical(nrow(broken), 4L)
    expect_true(all(validUTF8(broken$what)))
    expect_false(any(grepl("[[:cntrl:]]", broken$what)))
  }
})

test_that("what a stranger calls a property of the machine is text", {
  traps <- list(list(trap = "a ~ b | c", found = "<1>", cure = "d"), list(trap = "e", found = "f"))
  found <- traps_found(data.table::data.table(traps = join_entries(traps, TRAP_MEMBERS)))
  expect_identical(found$trap, c("a - b - c", "e"))
  expect_identical(found$found, c("<1>", "f"))
})

test_that("times of 0 are named, since they are not compared", {
  summary <- data.table::as.data.table(list(
    key = c("1", "1", "2", "3"), operation = "pingpong", mpi = c("mpich", "mpich", "mpich", "x"),
    median_s = c(0, 0, 0, 1e-6)
  ))
  expect_match(zero_times(summary), "under MPICH: the median is 0 s in 2 launches. The timer is")
  expect_identical(zero_times(summary[median_s > 0]), character())
})

test_that("pipes, links, huge files and folders of no name are left out at once", {
  take <- function(change) {
    setTimeLimit(elapsed = 20, transient = TRUE)
    on.exit(setTimeLimit())
    left_out(beside_a_hostile_one(change))
  }
  for (name in c("x.001.json", "session.json")) {
    broken <- take(function(folder) {
      unlink(file.path(folder, name))
      system2("mkfifo", shQuote(file.path(folder, name)))
    })
    expect_match(broken$what, "no plain file", label = name)
  }
  samples <- function(folder) list.files(folder, "[.]csv$", full.names = TRUE)[[1L]]
  broken <- take(function(folder) {
    file <- samples(folder)
    unlink(file)
    system2("mkfifo", shQuote(file))
  })
  expect_match(broken$what, "no plain file")
  broken <- take(function(folder) {
    system2("truncate", c("-s", "6G", shQuote(samples(folder))))
  })
  expect_match(broken$what, "more than")
  broken <- take(function(folder) {
    file <- samples(folder)
    file.rename(file, file.path(dirname(dirname(folder)), "elsewhere"))
    file.symlink(file.path(dirname(dirname(folder)), "elsewhere"), file)
  })
  expect_match(broken$what, "is a link")
  broken <- take(function(folder) {
    file <- samples(folder)
    packed <- gzfile(paste0(file, ".gz"), "wb")
    for (i in 1:80) writeBin(raw(2^22), packed)
    close(packed)
    unlink(file)
  })
  expect_match(broken$what, "too large")
  broken <- take(function(folder) file.symlink("/", file.path(dirname(folder), "root")))
  expect_match(broken$what, "a link")
  broken <- take(function(folder) {
    to <- sprintf("cp -r '%s' \"$(printf '%s/a\\377\\376')\"", folder, dirname(folder))
    system2("sh", c("-c", shQuote(to)))
  })
  expect_match(broken$what, "no name of a site or session")
  broken <- take(function(folder) {
    deep <- file.path(folder, "a", "b", "c")
    dir.create(deep, recursive = TRUE)
    system2("mkfifo", shQuote(file.path(deep, "x.001.json")))
  })
  expect_identical(nrow(broken), 0L)
})

# A named pipe in place of a file. A process writes to it for a while, so that a reader gets
# nonsense and does not wait for ever.
pipe_at <- function(file) {
  unlink(file)
  system2("mkfifo", shQuote(file))
  code <- sprintf("while sleep 0.1; test -p %1$s; do echo x > %1$s; done", shQuote(file))
  system2("timeout", c("20", "sh", "-c", shQuote(code)), wait = FALSE, stderr = FALSE)
}

test_that("a pipe in the place of a file that comes with data is refused at once", {
  refused <- function(code, what = "no plain file") {
    expect_error(code, what, class = "cotejo_bad_data")
  }
  folder <- packed(tar_of(list()))
  old <- options(cotejo.cache = NULL, cotejo.keeping = 0L)
  on.exit(options(old))
  pipe_at(file.path(folder, "local", "x.tar.xz"))
  refused(unpack_dataset(folder), "x.tar.xz:1: no plain file.*; restore the dataset")
  pipe_at(file.path(folder, "SHA256SUMS"))
  refused(unpack_dataset(folder), "SHA256SUMS:1: no plain file.*; restore the dataset")
  refused(read_study(folder))
  refused(dataset_sum(folder))
  session <- file.path(fresh_folder(), "local", "20990101T000000Z")
  dir.create(session, recursive = TRUE)
  pipe_at(file.path(session, "session.json"))
  refused(releases_of(session))
  expect_identical(sum_of_files(session), list(1L, "session.json", NA_character_))
  for (name in c("claims", "README")) pipe_at(file.path(session, paste0(name, ".csv")))
  refused(read_claims(file.path(session, "claims.csv")))
  refused(read_expected(file.path(session, "claims.csv")))
  refused(read_published(session, "claims"))
})

test_that("one table of an archive that cannot be read is named beside the others", {
  there <- fresh_folder()
  here <- fresh_folder()
  dir.create(file.path(there, "s"))
  file.symlink(there, file.path(there, "loop"))
  for (name in c("a.csv", "b.csv", "named.csv", "mark.csv", "s/link.csv", "same.csv")) {
    for (folder in c(there, here)) {
      dir.create(file.path(folder, dirname(name)), showWarnings = FALSE)
      writeLines(c("x,y", "1,2"), file.path(folder, name))
    }
  }
  pipe_at(file.path(there, "a.csv"))
  writeLines(c("x,y", "1,2", "\"3"), file.path(there, "b.csv"))
  writeLines(c("x,z", "1,2"), file.path(there, "named.csv"))
  writeLines(c("\ufeffx,y", "1,2"), file.path(there, "mark.csv"), useBytes = TRUE)
  unlink(file.path(there, "s/link.csv"))
  file.symlink(file.path(there, "same.csv"), file.path(there, "s/link.csv"))
  wrong <- compare_drawn(there, here)
  expect_setequal(wrong$name, c("a.csv", "b.csv", "named.csv", "s/link.csv"))
  why <- stats::setNames(wrong$why, wrong$name)
  expect_match(why[["a.csv"]], "no plain file")
  expect_identical(why[["b.csv"]], "is no table")
  expect_identical(why[["named.csv"]], "has other columns")
  expect_identical(why[["s/link.csv"]], "is a link")
})

test_that("claims of an archive are checked before they are judged", {
  file <- tempfile(fileext = ".csv")
  said <- function(...) {
    writeLines(c(...), file)
    conditionMessage(expect_error(read_expected(file), class = "cotejo_bad_data"))
  }
  head <- "study,claim,says,verdict,ratio,low,high,why"
  expect_match(said("study,claim", "a,b"), ":1: no column says, verdict, .*unpack the archive")
  expect_match(said(head, "a,b,c,holds,1,x\033[2J,2,"), ":2: low: .* is no number; unpack")
  expect_match(said(head, "a,b,c,holds,Inf,1,2,"), ":2: ratio: .* is no number")
  expect_match(said(head, "a,b,c,holds,1,1,2,", "a"), "no table")
  writeLines(c(head, "a,1,c,holds,,NA,2,"), file)
  expect_identical(read_expected(file)$claim, "1")
})

test_that("invisible characters and marks of direction are shown by their codes", {
  expect_identical(one_line("a\u202eb\u2028c\u200b"), "a<U+202E>b c<U+200B>")
  expect_identical(one_line(c("\u00e4 \U1F600", "\u001b[1mb\n c")), c("\u00e4 \U1F600", " [1mb c"))
})

test_that("a line is printed for each text, and none for no text", {
  expect_identical(utils::capture.output(put_said(c("a\nb", "\u202ec"))), c("a b", "<U+202E>c"))
  expect_identical(utils::capture.output(put_said(character())), character())
})

test_that("a session that cannot be read is named and left out, and stops no other", {
  results <- fresh_folder()
  place <- tempdir()
  mode <- file.mode(place)
  Sys.chmod(place, "755")
  on.exit(Sys.chmod(place, mode))
  write_study(results, c(openmpi = 3e-7), bytes = 1, blocks = 2L)
  other <- file.path(results, "local", "20990101T000000Z")
  dir.create(other)
  file <- list.files(results, "[.]002[.]json$", recursive = TRUE, full.names = TRUE)
  Sys.chmod(c(other, file), "000")
  on.exit(Sys.chmod(c(other, file), "700"), add = TRUE)
  code <- sprintf(paste(
    "options(cotejo.cache = FALSE, warn = 1);",
    "cat(cotejo::read_study('%s')$broken$what, sep = '\\n')"
  ), results)
  words <- c(file.path(R.home("bin"), "Rscript"), "--vanilla", "-e", shQuote(code))
  # No file is closed to root, so the command runs as another user.
  user <- system2("id", "-u", stdout = TRUE)
  if (user == "0") words <- c("setpriv", "--reuid=65534", "--clear-groups", words)
  errors <- tempfile()
  told <- system2(words[[1L]], words[-1L], stdout = TRUE, stderr = errors)
  expect_length(told, 2L)
  expect_match(told, "20990101T000000Z: a folder that cannot be read; make it", all = FALSE)
  expect_match(told, "[.]002[.]json:1: cannot be read; ", all = FALSE)
  expect_match(readLines(errors), "^left out: ")
})
