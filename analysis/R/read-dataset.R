# SPDX-License-Identifier: BSD-3-Clause
# Packed datasets: a session is one archive, SITE/SESSION.tar.xz, and SHA256SUMS lists them all.

#' Unpack a packed dataset; any other folder is returned as it is.
#'
#' @param dir `data/reference`, or another folder with `SHA256SUMS` and `SITE/SESSION.tar.xz`;
#'   or a folder of results.
#' @param only sessions to unpack, as `SITE/SESSION`; all by default.
#' @return the folder to read: for a packed dataset a temporary folder, deleted when R ends. An
#'   error of class `cotejo_bad_data` if an archive is missing or does not match its checksum.
#' @examples
#' folder <- unpack_dataset(system.file("extdata/study", package = "cotejo"))
#' list.files(folder, "openmpi.*json$", recursive = TRUE)
#' @export
unpack_dataset <- function(dir, only = NULL) {
  if (!file.exists(file.path(dir, "SHA256SUMS"))) {
    return(dir)
  }
  sessions <- check_sums(dir, only)
  archive_of <- function(session) file.path(dir, paste0(session, ".tar.xz"))
  to <- tempfile("dataset")
  # The largest archives first, so that no process waits for a large archive at the end.
  in_turns(order(-file.size(archive_of(sessions))), function(i) {
    unpack_archive(archive_of(sessions[[i]]), file.path(to, sessions[[i]]))
  })
  to
}

#' Check the archives of a packed dataset against their sums.
#' @return the sessions, as `SITE/SESSION`.
#' @noRd
check_sums <- function(dir, only = NULL) {
  sums <- file.path(dir, "SHA256SUMS")
  form <- sprintf("^([0-9a-f]{64})  (%s/%s)[.]tar[.]xz$", DATASET_NAME, DATASET_NAME)
  parts <- lapply(plain_lines(sums, "restore the dataset"), function(line) {
    regmatches(line, regexec(form, line, useBytes = TRUE))[[1L]]
  })
  odd <- which(lengths(parts) != 3L)
  if (length(odd)) {
    bad_data(sums, odd[[1L]], "no checksum of a SITE/SESSION.tar.xz", "restore the dataset")
  }
  sessions <- vapply(parts, `[[`, "", 3L)
  wanted <- is.null(only) | sessions %in% only
  archives <- file.path(dir, paste0(sessions, ".tar.xz"))
  there <- wanted & file.exists(archives)
  for (archive in archives[there]) check_plain(archive, MOST_SAMPLES, "restore the dataset")
  found <- rep(NA_character_, length(sessions))
  if (any(there)) found[there] <- sha256(archives[there])
  odd <- which(wanted & (is.na(found) | found != vapply(parts, `[[`, "", 2L)))
  if (length(odd)) {
    bad_data(
      archives[[odd[[1L]]]], NA, "missing, or its checksum differs", "restore the dataset"
    )
  }
  sessions[wanted]
}

# Names of sites and sessions, and of the files of a session: no name leads to another folder.
DATASET_NAME <- "[A-Za-z0-9][A-Za-z0-9._-]*"

# Unpack the archive of a session from any source into `folder`: plain files of a session, each
# once, with the size given in its header. Anything else is refused.
unpack_archive <- function(archive, folder) {
  odd <- function(what) {
    unlink(folder, recursive = TRUE)
    bad_data(archive, NA, what, "get the dataset from where you trust it")
  }
  dir.create(folder, recursive = TRUE)
  stream <- xzfile(archive, "rb")
  on.exit(close(stream))
  room <- getOption("cotejo.most_unpacked", MOST_UNPACKED)
  files <- 0
  repeat {
    entry <- next_entry(stream, odd)
    if (is.null(entry)) break
    files <- files + 1
    file <- file.path(folder, entry$name)
    most <- if (endsWith(entry$name, ".json")) MOST_JSON else MOST_SAMPLES
    if (entry$size > min(room, most) || files > MOST_FILES || file.exists(file)) {
      odd("an entry is there twice, or too large, or one too many")
    }
    bytes <- bytes_of(stream, entry$size)
    padding <- bytes_of(stream, -entry$size %% 512)
    if (length(bytes) + length(padding) < 512 * ceiling(entry$size / 512)) odd("it ends early")
    put_bytes(bytes, file)
    room <- room - entry$size
  }
}

# Bytes of a compressed file; fewer where it is damaged.
bytes_of <- function(stream, size) {
  tryCatch(suppressWarnings(readBin(stream, "raw", size)), error = function(e) raw())
}

# The next entry of an archive; NULL at its end. `odd(what)` refuses.
next_entry <- function(stream, odd) {
  next_header <- function() {
    header <- bytes_of(stream, 512L)
    if (length(header) < 512L) odd("it ends early, or is no archive")
    header
  }
  header <- next_header()
  if (all(header == as.raw(0))) {
    return(NULL)
  }
  name <- tar_text(header[1:100])
  if (header[[157L]] == charToRaw("x")) {
    size <- tar_number(header[125:136])
    if (is.na(size) || size > 512) odd("the name of an entry is too long")
    name <- pax_name(bytes_of(stream, 512 * ceiling(size / 512))[seq_len(size)])
    header <- next_header()
  }
  entry <- tar_entry(header, name)
  if (is.null(entry)) odd("an entry is no plain file of a session")
  entry
}

# The name in a header of pax (POSIX.1-2001), which has names of over 100 characters; "" if the
# header has anything else.
pax_name <- function(body) {
  text <- if (any(body == as.raw(0))) "" else rawToChar(body)
  form <- "^[0-9]+ path=([!-~]+)\n$"
  if (grepl(form, text, useBytes = TRUE)) sub(form, "\\1", text, useBytes = TRUE) else ""
}

# Name and size of an entry; NULL if it is no plain file of a session.
tar_entry <- function(header, name) {
  entry <- list(name = name, size = tar_number(header[125:136]))
  plain <- header[[157L]] %in% as.raw(c(0, 48)) && header[[346L]] == as.raw(0)
  good <- plain && !is.na(entry$size) && grepl(SESSION_FILE, entry$name, useBytes = TRUE)
  if (good) entry
}

# Text of a header's field, which a zero ends; "" if the field is no text.
tar_text <- function(field) {
  end <- match(as.raw(0), field, nomatch = length(field) + 1L)
  text <- field[seq_len(end - 1L)]
  if (all(text > as.raw(32) & text < as.raw(127))) rawToChar(text) else ""
}

# A number in octal digits; NA if the field is no number.
tar_number <- function(field) {
  digits <- as.integer(field[!field %in% as.raw(c(0, 32))]) - 48L
  if (length(digits) && all(digits %in% 0:7)) sum(digits * 8^(rev(seq_along(digits)) - 1)) else NA
}

# Checksums of files by one call, `NA` for unreadable files; for an unchanged file once per R
# session. R itself has only MD5; every system that has make has sha256sum.
sha256 <- function(files) {
  facts <- file.info(files, extra_cols = FALSE)
  changed <- as.numeric(facts$mtime)
  state <- paste(normalizePath(files), facts$size, format(changed, digits = 17L))
  sums <- unlist(mget(state, known_sums, ifnotfound = NA_character_), use.names = FALSE)
  new <- which(is.na(sums))
  if (length(new)) {
    said <- system2("sha256sum", c("--", shQuote(files[new])), stdout = TRUE)
    sums[new] <- substr(said, 1L, 64L)[match(files[new], substring(said, 67L))]
    # A just written file may change again without a new time stamp, so its sum is not remembered.
    stays <- new[!is.na(sums[new]) & as.numeric(Sys.time()) - changed[new] > 2]
    list2env(stats::setNames(as.list(sums[stays]), state[stays]), known_sums)
  }
  sums
}
known_sums <- new.env(parent = emptyenv())
