# SPDX-License-Identifier: BSD-3-Clause
# Writes files that are complete whenever they exist, and keeps values for a session of R.

# Write under a temporary name and rename, so that an existing file is always complete.
write_whole <- function(path, write) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  if (!dir.exists(dirname(path))) {
    bad_data(dirname(path), NA, "no such folder and it cannot be made", "name another folder")
  }
  # R cannot create a file exclusively and without following links, but it can create a folder so.
  place <- tempfile(".tmp-", dirname(path))
  if (!dir.create(place, showWarnings = FALSE, mode = "0700")) cannot_write(path)
  on.exit(unlink(place, recursive = TRUE))
  temporary <- file.path(place, basename(path))
  tryCatch(write(temporary), error = function(e) {
    if (grepl("no space|disk full|write failed", conditionMessage(e), ignore.case = TRUE)) {
      cannot_write(path)
    }
    stop(e)
  })
  if (!suppressWarnings(file.rename(temporary, path))) cannot_write(path)
  invisible(path)
}

# R reports no error on a full disk. It writes fewer bytes than requested.
put_bytes <- function(bytes, file) {
  suppressWarnings(writeBin(bytes, file))
  if (!identical(as.numeric(file.size(file)), as.numeric(length(bytes)))) cannot_write(file)
}

put_lines <- function(lines, file) {
  put_bytes(charToRaw(paste(c(enc2utf8(lines), ""), collapse = "\n")), file)
}

# `file.copy()` does not report a full disk.
put_copy <- function(from, file) {
  done <- suppressWarnings(file.copy(from, file, overwrite = TRUE))
  if (!done || !identical(file.size(from), file.size(file))) cannot_write(file)
}

cannot_write <- function(path) {
  bad_data(
    sub("/[.]tmp-[^/]*/", "/", path), NA, "cannot be written",
    "check the folder's permissions and the free space", "cotejo_cannot_write"
  )
}

# Values that are computed once in a session of R.
made <- new.env(parent = emptyenv())

keep_once <- function(name, make) {
  if (is.null(made[[name]])) made[[name]] <- make()
  made[[name]]
}
