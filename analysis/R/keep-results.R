# SPDX-License-Identifier: BSD-3-Clause
# Cache of results in the user's cache folder: summaries of datasets, comparisons of pairs, and the
# files that were drawn and written for a dataset. Each result is stored under a checksum of all
# its inputs, including the code of this package, so that an outdated result is never used. Nothing
# depends on the cache: if the folder is lost or cannot be written, everything is computed again.

# The cache folder. `NULL` if nothing is cached: with the option `cotejo.cache` set to `FALSE`,
# and for a package that is not installed.
cache_folder <- function() {
  folder <- getOption("cotejo.cache", tools::R_user_dir("cotejo", "cache"))
  if (isFALSE(folder) || !nzchar(code_sum())) NULL else folder
}

# The checksum of the code that computes cached results; empty if the package is not installed.
code_sum <- function() {
  keep_once("code", function() {
    code <- system.file("R", "cotejo.rdb", package = "cotejo")
    if (nzchar(code)) unname(tools::md5sum(code)) else ""
  })
}

# Checksums of values, one per value.
sums_of <- function(values) vapply(values, rlang::hash, "", USE.NAMES = FALSE)

sum_of <- function(value) sums_of(list(value))

# Write a file of the cache; a failure is no error. Keeps only the `most` last used files that
# match `pattern`.
keep_file <- function(value, path, pattern, most, what) {
  tryCatch(
    {
      # Low compression: high compression takes longer than all later reads would save.
      write_whole(path, function(file) {
        packed <- gzfile(file, "wb", compression = 1L)
        on.exit(close(packed))
        saveRDS(value, packed)
      })
      files <- list.files(dirname(path), pattern, full.names = TRUE)
      unlink(files[order(file.mtime(files), decreasing = TRUE)][-seq_len(most)])
    },
    error = function(e) message(what, " are not kept: ", conditionMessage(e))
  )
}

# Read a file of the cache; `NULL` if it is missing or broken. A read file counts as just used.
kept_file <- function(path) {
  if (!file.exists(path)) {
    return(NULL)
  }
  value <- tryCatch(readRDS(path), error = function(e) NULL, warning = function(w) NULL)
  if (!is.null(value)) suppressWarnings(Sys.setFileTime(path, Sys.time()))
  value
}

# Comparisons known to this process, by the checksum of their inputs, and the cache files that were
# read.
kept_pairs <- new.env(parent = emptyenv())

# Maximum number of files of comparisons, and the number of files from which they are joined into
# one. Each call that computes new comparisons writes one file.
MOST_PAIR_FILES <- 400L
JOIN_PAIR_FILES <- 40L

#' Results by their keys. Only results that no earlier run and no other exhibit has computed are
#' computed.
#'
#' @param keys one text per result, which identifies the inputs of the result.
#' @param count number of results.
#' @param make function of key numbers: returns the list of their results.
#' @return list of results, in the order of `keys`.
#' @noRd
from_cache <- function(keys, count, make) {
  folder <- cache_folder()
  if (is.null(folder)) {
    return(make(seq_len(count)))
  }
  folder <- file.path(folder, paste0("comparisons-", code_sum()))
  known <- known_pairs(folder)
  wanted <- which(!keys %in% names(known) & !duplicated(keys))
  if (length(wanted)) {
    made <- make(wanted)
    names(made) <- keys[wanted]
    list2env(made, known)
    # Processes that compute the same results at the same time must not write to one file.
    name <- paste0(sum_of(list(keys[wanted], Sys.getpid())), ".rds")
    keep_file(made, file.path(folder, name), "[.]rds$", MOST_PAIR_FILES, "comparisons")
  }
  unname(mget(keys, known))
}

# All cached comparisons, read once per process (and inherited by its later forks).
known_pairs <- function(folder) {
  if (is.null(kept_pairs[[folder]])) {
    known <- new.env(parent = emptyenv())
    tryCatch(claim_folder(folder), error = function(e) NULL) # that nothing is kept is said later
    files <- list.files(folder, "^[0-9a-f]+[.]rds$", full.names = TRUE)
    for (file in files) {
      found <- kept_file(file)
      if (is.list(found)) list2env(found, known)
    }
    if (length(files) > JOIN_PAIR_FILES && !process$forked) {
      whole <- mget(ls(known, sorted = TRUE), known)
      path <- file.path(folder, paste0(sum_of(names(whole)), ".rds"))
      keep_file(whole, path, "[.]rds$", MOST_PAIR_FILES, "comparisons")
      if (file.exists(path)) unlink(setdiff(files, path))
    }
    kept_pairs[[folder]] <- known
    drop_old_code(dirname(folder))
  }
  kept_pairs[[folder]]
}

# Deletes comparisons of other states of the code, except the two last used states.
drop_old_code <- function(folder) {
  others <- list.files(folder, "^comparisons-[0-9a-f]{32}$", full.names = TRUE)
  remove_ours(others[order(file.mtime(others), decreasing = TRUE)][-seq_len(3L)])
}

# The file that marks a folder as made by cotejo (harness/removal.py has the same mark).
MARK <- ".cotejo-stamp"
MARK_WORDS <- "Made by cotejo, which may replace or remove this folder with all that is in it."

# Make a folder, and mark it.
claim_folder <- function(folder) {
  write_whole(file.path(folder, MARK), function(file) put_lines(MARK_WORDS, file))
}

# Remove the folders that carry cotejo's mark.
remove_ours <- function(folders) {
  unlink(folders[file.exists(file.path(folders, MARK))], recursive = TRUE)
}

# Maximum number of cached folders with drawn files; the last used ones are kept.
MOST_DRAWN_KEPT <- 4L

#' Files that depend only on a dataset and the code: made once, then copied from the cache.
#'
#' @param from list of all inputs of the files except the code; its `dataset`
#'   ([sum_of_dataset()]) is `NULL` if nothing is to be cached.
#' @param out_dir folder that the files are written to.
#' @param files function of the result of `work`: returns the written files within `out_dir`;
#'   `NULL` if they are not to be cached.
#' @param work function that writes the files.
#' @return what `work` returned, in this run or in the cached run.
#' @noRd
kept_files <- function(from, out_dir, files, work) {
  folder <- cache_folder()
  if (is.null(folder) || is.null(from$dataset)) {
    return(work())
  }
  place <- file.path(folder, paste0("drawn-", sum_of(list(from, sum_of_tools()))))
  kept <- kept_file(file.path(place, "what.rds"))
  if (!is.null(kept) && identical(sums_of_copies(place, kept$files), kept$sums)) {
    message("nothing has changed: taken from ", folder)
    for (file in kept$files) {
      write_whole(file.path(out_dir, file), function(to) put_copy(file.path(place, file), to))
    }
    return(kept$value)
  }
  value <- work()
  written <- files(value)
  if (length(written)) keep_written(value, written, out_dir, place)
  value
}

# Checksums of files within a folder; `NA` for a missing file.
sums_of_copies <- function(folder, files) unname(tools::md5sum(file.path(folder, files)))

keep_written <- function(value, written, out_dir, place) {
  whole <- paste0(place, "-", Sys.getpid())
  on.exit(remove_ours(whole))
  tryCatch(
    {
      claim_folder(whole)
      for (part in unique(dirname(file.path(whole, written)))) {
        dir.create(part, recursive = TRUE, showWarnings = FALSE)
      }
      # Hard links are safe: rewriting makes a new file, and the checksum detects any other change.
      linked <- suppressWarnings(
        file.link(file.path(out_dir, written), file.path(whole, written))
      )
      for (file in written[!linked]) put_copy(file.path(out_dir, file), file.path(whole, file))
      sums <- sums_of_copies(out_dir, written)
      kept <- list(value = value, files = written, sums = sums)
      write_whole(file.path(whole, "what.rds"), function(file) saveRDS(kept, file))
      remove_ours(place)
      file.rename(whole, place)
      drop_old_drawn(dirname(place))
    },
    error = function(e) message("the cache of figures is not kept: ", conditionMessage(e)),
    warning = function(w) message("the cache of figures is not kept: ", conditionMessage(w))
  )
}

# Keeps the last used folders; incomplete folders of killed processes are deleted after an hour.
drop_old_drawn <- function(folder) {
  others <- list.files(folder, "^drawn-[0-9a-f]{32}$", full.names = TRUE)
  used <- file.mtime(file.path(others, "what.rds"))
  half <- list.files(folder, "^drawn-[0-9a-f]{32}-[0-9]+$", full.names = TRUE)
  old <- difftime(Sys.time(), file.mtime(half), units = "hours") > 1
  remove_ours(c(half[old], others[order(used, decreasing = TRUE)][-seq_len(MOST_DRAWN_KEPT)]))
}

# The checksum of everything except the code that affects drawn files: templates, names, packages.
sum_of_tools <- function() {
  files <- system.file(c("report", "report/third-party", ""), package = "cotejo")
  files <- list.files(files, "[.](Rmd|css|js|yaml)$", full.names = TRUE)
  versions <- vapply(c("ggplot2", "svglite", "data.table", "htmltools"), getNamespaceVersion, "")
  list(code_sum(), unname(tools::md5sum(files)), versions, R.version.string)
}

# The checksums of the files below folders (or of files themselves), and their names.
sum_of_files <- function(paths) {
  files <- unlist(lapply(paths, function(path) {
    if (dir.exists(path)) list.files(path, recursive = TRUE, full.names = TRUE) else path
  }))
  files <- sort(as.character(files), method = "radix")
  # Only plain files are summed: functions that read other kinds of files refuse them.
  plain <- vapply(files, function(file) is.null(fault_of_plain(file, MOST_SAMPLES)), NA)
  sums <- rep(NA_character_, length(files))
  sums[plain] <- tools::md5sum(files[plain])
  # A folder without files must differ from a missing folder.
  list(length(paths), basename(files), sums)
}
