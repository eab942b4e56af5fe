# SPDX-License-Identifier: BSD-3-Clause
# Packed datasets: a session is one archive, SITE/SESSION.tar.xz, and SHA256SUMS lists them all.

#' Unpack a packed dataset; any other folder is returned as it is.
#'
#' @param dir `data/reference`, or another folder with `SHA256SUMS` and `SITE/SESSION.tar.xz`;
#'   or a folder of results.
#' @return the folder to read: a temporary one for a packed dataset, which goes with R's own. An
#'   error of class `cotejo_bad_data` when an archive is missing or is not what its checksum says.
#' @export
unpack_dataset <- function(dir) {
  sums <- file.path(dir, "SHA256SUMS")
  if (!file.exists(sums)) {
    return(dir)
  }
  lines <- readLines(sums, warn = FALSE)
  to <- tempfile("dataset")
  for (i in seq_along(lines)) {
    form <- sprintf("^([0-9a-f]{64})  (%s/%s)[.]tar[.]xz$", DATASET_NAME, DATASET_NAME)
    parts <- regmatches(lines[[i]], regexec(form, lines[[i]], useBytes = TRUE))[[1L]]
    if (length(parts) != 3L) {
      bad_data(sums, i, "no checksum of a SITE/SESSION.tar.xz", "restore the dataset")
    }
    archive <- file.path(dir, paste0(parts[[3L]], ".tar.xz"))
    if (!file.exists(archive) || is_link(archive) || !identical(sha256(archive), parts[[2L]])) {
      bad_data(archive, NA, "missing, or not what its checksum says", "restore the dataset")
    }
    unpack_archive(archive, file.path(to, parts[[3L]]))
  }
  to
}

# Names of sites and sessions, and of the files of a session: none of them leads elsewhere.
DATASET_NAME <- "[A-Za-z0-9][A-Za-z0-9._-]*"
SESSION_FILE <- "^[A-Za-z0-9][A-Za-z0-9_.+,=@-]*[.](json|csv|csv[.]gz)$"

is_link <- function(path) !is.na(Sys.readlink(path)) && nzchar(Sys.readlink(path))

#' Unpack the archive of a session, whoever wrote it: plain files of a session into `folder`, each
#' once, as long as its header says. Anything else is refused.
#' @noRd
unpack_archive <- function(archive, folder) {
  odd <- function(what) {
    unlink(folder, recursive = TRUE)
    bad_data(archive, NA, what, "get the dataset from where you trust it")
  }
  dir.create(folder, recursive = TRUE)
  stream <- xzfile(archive, "rb")
  on.exit(close(stream))
  room <- getOption("cotejo.most_unpacked", 2^30)
  repeat {
    header <- tryCatch(readBin(stream, "raw", 512L), warning = identity, error = identity)
    if (!is.raw(header) || length(header) < 512L) odd("it ends early, or is no archive")
    if (all(header == as.raw(0))) break
    entry <- tar_entry(header)
    if (is.null(entry)) odd("an entry is no plain file of a session")
    room <- room - entry$size
    file <- file.path(folder, entry$name)
    if (room < 0 || file.exists(file)) odd("an entry is there twice, or too large")
    padded <- 512 * ceiling(entry$size / 512)
    bytes <- readBin(stream, "raw", padded)
    if (length(bytes) < padded) odd("it ends early")
    put_bytes(utils::head(bytes, entry$size), file)
  }
}

# Name and size of an entry; NULL where it is no plain file of a session.
tar_entry <- function(header) {
  entry <- list(name = tar_text(header[1:100]), size = tar_number(header[125:136]))
  plain <- header[[157L]] %in% as.raw(c(0, 48)) && header[[346L]] == as.raw(0)
  good <- plain && !is.na(entry$size) && grepl(SESSION_FILE, entry$name, useBytes = TRUE)
  if (good) entry
}

# Text of a header's field, which a zero ends; "" where it is none.
tar_text <- function(field) {
  end <- match(as.raw(0), field, nomatch = length(field) + 1L)
  text <- field[seq_len(end - 1L)]
  if (all(text > as.raw(32) & text < as.raw(127))) rawToChar(text) else ""
}

# A number of octal digits; NA where it is none.
tar_number <- function(field) {
  digits <- as.integer(field[!field %in% as.raw(c(0, 32))]) - 48L
  if (length(digits) && all(digits %in% 0:7)) sum(digits * 8^(rev(seq_along(digits)) - 1)) else NA
}

# R itself has MD5 only; every system that has make has this program.
sha256 <- function(file) {
  said <- system2("sha256sum", shQuote(file), stdout = TRUE)
  substr(said[[length(said)]], 1L, 64L)
}
