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
    parts <- regmatches(lines[[i]], regexec("^([0-9a-f]{64})  (.+)$", lines[[i]]))[[1L]]
    if (length(parts) != 3L) {
      bad_data(sums, i, "no checksum and file", "restore the dataset")
    }
    archive <- file.path(dir, parts[[3L]])
    if (!file.exists(archive) || !identical(sha256(archive), parts[[2L]])) {
      bad_data(archive, NA, "missing, or not what its checksum says", "restore the dataset")
    }
    if (endsWith(archive, ".tar.xz")) {
      folder <- file.path(to, sub("[.]tar[.]xz$", "", parts[[3L]]))
      dir.create(folder, recursive = TRUE)
      utils::untar(archive, exdir = folder, tar = "internal")
    }
  }
  to
}

# R itself has MD5 only; every system that has make has this program.
sha256 <- function(file) {
  said <- system2("sha256sum", shQuote(file), stdout = TRUE)
  substr(said[[length(said)]], 1L, 64L)
}
