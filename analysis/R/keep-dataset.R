# SPDX-License-Identifier: BSD-3-Clause
# Adds sessions of results to a packed dataset that is small enough for the repository:
# `make reference`.
#
# Each session is one archive, SITE/SESSION.tar.xz, with the launches as docs/data.md describes
# them. Data that belong to the owner of the machine and not to the measurement are removed: paths
# of the stack and of libraries outside of the system's folders, and addresses in the version text
# of some libraries. Packing the same results twice gives the same bytes.

# Maximum bytes of the archives of a dataset.
MOST_DATASET <- 40e6

#' Add all sessions of a folder of results to a dataset, in place of the sessions of their names.
#' Nothing else of the dataset is changed.
#'
#' @param results folder of results.
#' @param out folder of the dataset, which may be missing.
#' @param most maximum number of samples of each group (launch, operation, size and factors).
#' @param drop sessions to remove from the dataset, as `SITE/SESSION`.
#' @return the conditions of the files that were left out, invisibly.
#' @noRd
pack_dataset <- function(results, out, most = 20L, drop = "") {
  results <- real_path(results)
  out <- real_path(out)
  places <- paste0(c(results, out), "/")
  if (startsWith(places[[1L]], places[[2L]]) || startsWith(places[[2L]], places[[1L]])) {
    bad_data(out, NA, "one of results and dataset is in the other", "name another folder")
  }
  old <- file.path(dirname(out), sprintf(".%s.before-exchange", basename(out)))
  if (!file.exists(out) && length(listed_sessions(old))) rename(old, out)
  known <- listed_sessions(out)
  drop <- drop[nzchar(drop)]
  unknown <- setdiff(drop, known)
  if (length(unknown)) {
    bad_data(out, NA, paste("has no session", unknown[[1L]]), "SHA256SUMS lists the sessions")
  }
  found <- sessions_to_pack(results)
  if (!length(found$sessions) && !length(drop)) {
    if (length(found$faults)) stop(found$faults[[1L]])
    bad_data(results, NA, "no launch below it", "`make study` measures some")
  }
  dir.create(dirname(out), recursive = TRUE, showWarnings = FALSE)
  place <- place_beside(out)
  on.exit(remove_ours(place))
  # A killed exchange has left the old dataset beside the new one.
  if (length(listed_sessions(old))) rename(old, tempfile("before", place))
  new <- file.path(place, basename(out))
  copy_linked(out, new)
  unlink(file.path(new, sprintf("%s.tar.xz", drop)))
  faults <- c(found$faults, put_sessions(found$sessions, new, most))
  put_lists(new, c(setdiff(known, drop), names(found$sessions)), out, most)
  system2("sync", c("-f", shQuote(new)))
  put_in_place(new, out, old)
  if (file.exists(old)) rename(old, tempfile("before", place))
  for (fault in faults) message("left out: ", conditionMessage(fault))
  if (length(faults)) message(length(faults), " files were left out")
  invisible(faults)
}

# The path of a file without links, also of a file that does not exist yet.
real_path <- function(path) {
  if (file.exists(path) || dirname(path) == path) {
    normalizePath(path, mustWork = FALSE)
  } else {
    file.path(real_path(dirname(path)), basename(path))
  }
}

rename <- function(from, to) {
  if (!suppressWarnings(file.rename(from, to))) cannot_write(to)
}

# The sessions that a dataset lists, whose checksums must hold; none for a missing or empty folder.
listed_sessions <- function(dir) {
  if (!is_link(dir) && !length(list.files(dir, all.files = TRUE, no.. = TRUE)) &&
    (dir.exists(dir) || !file.exists(dir))) {
    return(character())
  }
  if (is_link(dir) || !file.exists(file.path(dir, "SHA256SUMS"))) {
    bad_data(
      dir, NA, "no dataset, for it has no SHA256SUMS; nothing was written",
      "name a new folder or a dataset (REFERENCE)"
    )
  }
  check_sums(dir)
}

# The `sessions` of results: SITE/SESSION -> files of its launches, plan and audit; and the
# `faults` of files that are left out.
sessions_to_pack <- function(results) {
  found <- session_files(results, "([.][0-9]{3,}|^session|^audit)[.]json$")
  files <- found$files[dirname(dirname(dirname(found$files))) == results]
  sessions <- split(files, file.path(site_of(files), session_of(files)))
  list(sessions = Filter(\(files) any(is_launch(files)), sessions), faults = found$faults)
}

is_launch <- function(files) grepl("[.][0-9]{3,}[.]json$", files)

# A marked folder beside another one, on its file system. Such folders of killed processes are
# removed here, and by harness/removal.py, which names them in the same way: by the number of the
# process and the namespace of such numbers.
place_beside <- function(folder) {
  among <- gsub("[^0-9]", "", Sys.readlink("/proc/self/ns/pid"))
  left <- list.files(
    dirname(folder), sprintf("^[.]cotejo-temporary[.][0-9]+[.]%s[.]", among),
    all.files = TRUE, full.names = TRUE
  )
  maker <- sub("^[.][^.]*[.]([0-9]+).*", "\\1", basename(left))
  left <- left[!file.exists(file.path("/proc", maker))]
  remove_ours(left)
  # A folder without a mark is removed only if it is empty.
  suppressWarnings(file.remove(left[file.exists(left)]))
  place <- tempfile(sprintf(".cotejo-temporary.%d.%s.", Sys.getpid(), among), dirname(folder))
  if (!dir.create(place, showWarnings = FALSE, mode = "0700")) cannot_write(folder)
  tryCatch(put_lines(MARK_WORDS, file.path(place, MARK)), error = function(e) {
    unlink(place, recursive = TRUE)
    stop(e)
  })
  place
}

# Copies a dataset, by hard links if that is possible: a rewritten file is a new file.
copy_linked <- function(from, to) {
  copied <- function(how) system2("cp", c(how, shQuote(c(from, to))), stderr = FALSE) == 0L
  if (!file.exists(from)) {
    if (!dir.create(to, showWarnings = FALSE)) cannot_write(to)
  } else if (!copied("-al")) {
    unlink(to, recursive = TRUE)
    if (!copied("-a")) cannot_write(from)
  }
}

# Puts a new dataset in the place of an old one. If the process is killed between the two steps,
# the next call puts the old dataset back.
put_in_place <- function(new, out, old) {
  if (file.exists(out)) rename(out, old)
  rename(new, out)
}

# Writes the archives of sessions; returns the faults of files that are left out.
put_sessions <- function(sessions, dir, most) {
  faults <- lapply(names(sessions), function(session) {
    read <- lapply(sessions[[session]], function(file) {
      tryCatch(
        if (is_launch(file)) thinned_launch(file, most) else list(record = checked_plan(file)),
        error = function(fault) as_fault(fault, file)
      )
    })
    faulty <- vapply(read, inherits, NA, "condition")
    files <- sessions[[session]][!faulty]
    if (any(is_launch(files))) {
      contents <- unlist(Map(contents_of, read[!faulty], files, USE.NAMES = FALSE), FALSE)
      path <- file.path(dir, paste0(session, ".tar.xz"))
      write_whole(path, function(to) put_bytes(archive_of(contents), to))
      cat(sprintf("dataset: %s.tar.xz: %.2f MB\n", session, file.size(path) / 1e6))
    }
    read[faulty]
  })
  unlist(faults, recursive = FALSE)
}

# The checked plan or audit of a session.
checked_plan <- function(file) {
  plan <- basename(file) == "session.json"
  if (plan) read_plan(file) else read_audit(file)
  parse_json_file(file, if (plan) "object" else "list")
}

# A launch as a dataset has it: its `record`, and the `lines` of its samples.
thinned_launch <- function(file, most) {
  record <- parse_description(file)
  for (name in c("site", "session")) {
    folder <- if (name == "site") site_of(file) else session_of(file)
    asked <- record$asked[[name]]
    if (asked != folder) {
      bad_data(
        file, line_of_member(file, c("asked", name)),
        sprintf("%s %s, but its folder is %s", name, quoted(asked), folder),
        "do not rename folders of results"
      )
    }
  }
  record$stderr <- NULL # names folders of the machine, for the user who measured
  lines <- if (!is.null(record$samples)) {
    check_columns(record$samples$columns, file)
    columns <- described_columns(record$samples$columns)
    path <- sample_file(file, record$samples$file)
    read_samples(path, columns$all, record$samples$rows)
    lines <- thinned(readLines(path, warn = FALSE), columns, most)
    kept <- length(lines) - 2L
    if (kept < record$samples$rows) {
      # A session that is thinned again keeps the number of its samples.
      if (is.null(record$samples$thinned_from)) {
        record$samples$thinned_from <- record$samples$rows
      }
      record$samples$rows <- kept
    }
    record$samples$file <- paste0(record$id, ".csv")
    lines
  }
  list(record = record, lines = lines)
}

#' The lines of a file of samples with at most `most` rows of each group, evenly over their order,
#' and with the digits that a dataset keeps: no clock resolves a millionth of a sample, and no
#' statistic needs more digits of times that explain a sample.
#'
#' @param columns what [described_columns()] returned.
#' @noRd
thinned <- function(lines, columns, most) {
  names <- columns$all$name
  text <- paste0(lines[-(1:2)], "\n", collapse = "")
  rows <- parse_samples(text, names, 0L, texts = seq_along(names))
  factors <- names(columns$roles)[bare_role(columns$roles) == "factor"]
  evenly <- function(rows) {
    count <- min(most, length(rows))
    rows[((seq_len(count) - 1) * length(rows)) %/% count + 1]
  }
  rows <- rows[sort(rows[, evenly(.I), by = c("operation", "bytes", factors)]$V1)]
  seconds <- setdiff(names(columns$units)[columns$units == "s"], factors)
  for (name in c("time_s", seconds)) {
    digits <- if (name == "time_s") "%.6g" else "%.4g"
    set(rows, j = name, value = sprintf(digits, as.numeric(rows[[name]])))
  }
  c(utils::head(lines, 2L), do.call(paste, c(rows, sep = ",")))
}

# The files of a launch or plan in an archive: name -> bytes. Refuses a description that names a
# place of the machine.
contents_of <- function(read, file) {
  record <- stripped(read$record)
  left <- grep("://|/tmp/|/home/|/root/", texts_of(record), value = TRUE)
  if (length(left)) {
    refuse(sprintf(
      "%s: %s names a place that a dataset must not name; extend the rules in keep-dataset.R",
      file, quoted(left[[1L]])
    ))
  }
  json <- jsonlite::toJSON(record, auto_unbox = TRUE, null = "null", digits = NA, pretty = 1L)
  found <- list(charToRaw(paste0(enc2utf8(json), "\n")))
  names(found) <- basename(file)
  if (!is.null(read$lines)) {
    found[[record$samples$file]] <- charToRaw(paste0(read$lines, "\n", collapse = ""))
  }
  found
}

# All texts in a description, in the order in which rapply() finds them.
texts_of <- function(record) {
  as.character(rapply(record, identity, "character", how = "unlist"))
}

# A description without addresses and without folders of the machine.
stripped <- function(record) {
  texts <- stripped_texts(texts_of(record))
  at <- 0L
  rapply(record, function(text) {
    at <<- at + 1L
    texts[[at]]
  }, "character", how = "replace")
}

stripped_texts <- function(texts) {
  has <- grepl("/", texts, fixed = TRUE)
  if (!any(has)) {
    return(texts)
  }
  words <- gregexpr("[^\\s=:\"',]+", texts[has], perl = TRUE)
  new <- texts[has]
  regmatches(new, words) <- lapply(regmatches(new, words), without_folders)
  texts[has] <- gsub("(?<!\\s)\\s*(?:https?|ftp|file)://[^\\s\"',]*", "", new, perl = TRUE)
  texts
}

# Texts that replace the beginning of a word, in this order. The time to find one grows with the
# length of the word. First, SMPI's copy of the program: each rank has one, with the number of a
# process. Last, the path of the checkout: launches run files of its folders.
FOLDERS <- c(
  "^.*/(\\w+?)_\\d+_\\d+[.]so(?![\\w.])" = "\\1",
  "^.*/[.](?:stack|spack-env)(?=/)" = "STACK",
  "^([^/]*)/.*/opt/spack/(?=linux-)" = "\\1SPACK/",
  "^.*/(?=(?:site_configs|src/languages)/)" = ""
)

# Words without folders of the machine; STACK and SPACK replace two of them.
without_folders <- function(words) {
  for (form in names(FOLDERS)) words <- sub(form, FOLDERS[[form]], words, perl = TRUE)
  # Libraries in a site's own folders, such as Spack's externals, and where their paths begin.
  library <- regexpr("^.*\\K/lib[^/]*[.]so[.\\d]*(?![\\w.])", words, perl = TRUE)
  folder <- regexpr("(?<![\\w./-])/(?!usr/|lib)", words, perl = TRUE)
  own <- folder > 0L & folder < library
  words[own] <- paste0(
    substr(words[own], 1L, folder[own] - 1L), substring(words[own], library[own] + 1L)
  )
  words
}

# The bytes of a tar.xz of name -> bytes, without dates and owners. Descriptions stand together,
# and samples too: they compress far better so.
archive_of <- function(contents) {
  names <- names(contents)
  names <- names[order(sub("^.*[.]", "", names), names, method = "radix")]
  entries <- lapply(names, function(name) {
    long <- if (nchar(name) > 100L) {
      # A header of pax with the name (POSIX.1-2001). A name has at most 255 bytes.
      tar_bytes("PaxHeader", charToRaw(sprintf("%d path=%s\n", nchar(name) + 10L, name)), "x")
    }
    c(long, tar_bytes(name, contents[[name]]))
  })
  memCompress(c(unlist(entries), raw(1024L)), "xz")
}

tar_bytes <- function(name, bytes, type = "0") {
  field <- function(text, size) c(charToRaw(text), raw(size - nchar(text)))
  header <- c(
    field(substr(name, 1L, 100L), 100L), field("0000644", 8L), field("0000000", 8L),
    field("0000000", 8L), field(sprintf("%011o", length(bytes)), 12L), field("00000000000", 12L),
    charToRaw("        "), charToRaw(type), raw(100L), field("ustar", 6L), charToRaw("00"),
    raw(64L), field("0000000", 8L), field("0000000", 8L), raw(167L)
  )
  header[149:156] <- field(sprintf("%06o", sum(as.integer(header))), 8L)
  c(header, bytes, raw(-length(bytes) %% 512L))
}

# Writes the lists of a dataset: SHA256SUMS, and README.md with a row for each session. Refuses a
# dataset that is too large.
put_lists <- function(dir, sessions, out, most) {
  names <- sort(unique(paste0(sessions, ".tar.xz")), method = "radix")
  names <- names[file.exists(file.path(dir, names))]
  total <- sum(file.size(file.path(dir, names)))
  limit <- getOption("cotejo.most_dataset", MOST_DATASET)
  if (total > limit) {
    bad_data(
      out, NA, sprintf("%.1f MB are more than %.0f MB", total / 1e6, limit / 1e6),
      sprintf("keep fewer samples than %d (SAMPLES), or fewer sessions (DROP)", most)
    )
  }
  sums <- paste0(sha256(file.path(dir, names)), "  ", names)
  write_whole(file.path(dir, "SHA256SUMS"), \(file) put_lines(sums, file))
  root <- unpack_dataset(dir)
  on.exit(unlink(root, recursive = TRUE))
  folders <- file.path(root, sub("[.]tar[.]xz$", "", names))
  work <- length(list.files(root, recursive = TRUE))
  rows <- unlist(over_cores(folders, \(part) vapply(part, row_of_session, ""), work))
  used_by <- intersect(c(basename(out), basename(dirname(out)), "reference"), names(USED_BY))
  text <- readLines(system.file("dataset.md", package = "cotejo", mustWork = TRUE))
  text[text == "COMMAND"] <- USED_BY[[used_by[[1L]]]]
  text <- append(text[text != "ROWS"], rows, which(text == "ROWS") - 1L)
  write_whole(file.path(dir, "README.md"), \(file) put_lines(text, file))
  cat(sprintf("dataset: %s: %d sessions, %.2f MB\n", out, length(names), total / 1e6))
}

# Commands that use a dataset, by the name of its folder or of the folder above it.
USED_BY <- c(
  reference = "make figures report paper DATA=reference",
  proof = "make proof-page DATA=reference", questions = "make questions DATA=reference"
)

# The row of a session, an unpacked folder, in README.md.
row_of_session <- function(folder) {
  files <- list.files(folder, full.names = TRUE)
  launches <- lapply(files[is_launch(files)], parse_description)
  used <- Filter(\(launch) launch$status == "ok", launches)
  listed <- function(of, none = "none") {
    texts <- gsub("|", "/", as.character(unlist(lapply(used, of))), fixed = TRUE)
    texts <- trimws(gsub("[[:space:]]+", " ", texts))
    texts <- sort(unique(texts[nzchar(texts)]), method = "radix")
    if (length(texts)) toString(texts) else none
  }
  cells <- c(
    basename(dirname(folder)), basename(folder), length(launches), length(used),
    listed(\(launch) launch$asked$test), listed(\(launch) launch$asked$mpi),
    listed(\(launch) launch$simulated),
    listed(\(launch) {
      c(launch$observed$node$cpu_model, lapply(launch$observed$nodes, `[[`, "cpu_model"))
    }),
    listed(\(launch) substr(launch$provenance$commit, 1L, 12L), none = "")
  )
  paste("|", paste(cells, collapse = " | "), "|")
}
