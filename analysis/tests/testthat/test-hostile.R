# SPDX-License-Identifier: BSD-3-Clause
# What a stranger wrote: archives that lead elsewhere, texts that a page would run.

# A tar archive of entries, each a list of `name`, `type`, `size` as told, and `text`.
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
  expect_error(unpack_dataset(folder), "missing, or not", class = "cotejo_bad_data")
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
  values <- list2env(list(evil = evil), parent = topenv())
  expect_identical(render_text("`r evil`", values), sprintf("<p>%s</p>", whole))
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

# Bytes with a few mistakes in them, as hands and disks make them.
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

one_line <- function(e) {
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
      error = one_line
    )
    if (is.list(read)) expect_gte(nrow(read$launches), 3L)
  }
})
