# SPDX-License-Identifier: BSD-3-Clause
# What is kept from one run to the next in the user's cache folder: summaries of datasets,
# comparisons of pairs, and what was drawn and written of a dataset. Each is kept under a checksum
# of all that it was made from, this package's code among it, so that nothing old is ever taken
# for new. Nothing depends on it: where the folder cannot be written, or is lost, all is made
# again.

#' The folder where results are kept, `NULL` where they are not: with the option `cotejo.cache` set
#' to `FALSE`, and of a package that is not installed.
#' @noRd
cache_folder <- function() {
  folder <- getOption("cotejo.cache", tools::R_user_dir("cotejo", "cache"))
  if (isFALSE(folder) || !nzchar(code_sum())) NULL else folder
}

#' The checksum of the code that makes what is kept; empty where the package is not installed.
#' @noRd
code_sum <- function() {
  keep_once("code", function() {
    code <- system.file("R", "cotejo.rdb", package = "cotejo")
    if (nzchar(code)) unname(tools::md5sum(code)) else ""
  })
}

#' Checksums of values, one each.
#' @noRd
sums_of <- function(values) vapply(values, rlang::hash, "", USE.NAMES = FALSE)

sum_of <- function(value) sums_of(list(value))

#' Write a file of the cache; that it cannot be done is no error. Of the files that match `pattern`
#' the `most` last used ones stay.
#' @noRd
keep_file <- function(value, path, pattern, most, what) {
  tryCatch(
    {
      # Packed a little: packing well takes longer than all that reading it again would save.
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

#' Read a file of the cache; `NULL` where it is not there, or is broken. What is used stays.
#' @noRd
kept_file <- function(path) {
  if (!file.exists(path)) {
    return(NULL)
  }
  value <- tryCatch(readRDS(path), error = function(e) NULL, warning = function(w) NULL)
  if (!is.null(value)) suppressWarnings(Sys.setFileTime(path, Sys.time()))
  value
}

# Comparisons that this process knows, by the checksum of what they were made from, and the files
# of the cache that it has read.
kept_pairs <- new.env(parent = emptyenv())

# So many files of comparisons are kept; one is written by each call that made new ones. Beyond so
# many they are joined into one.
MOST_PAIR_FILES <- 400L
JOIN_PAIR_FILES <- 40L

#' Results by their keys, of which only those are made that no earlier run, and no other exhibit,
#' has made.
#'
#' @param keys a text each, that tells what a result is made from.
#' @param count of results.
#' @param make function of numbers of keys: list of their results.
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
    # Processes that make the same at once do not write to one file.
    name <- paste0(sum_of(list(keys[wanted], Sys.getpid())), ".rds")
    keep_file(made, file.path(folder, name), "[.]rds$", MOST_PAIR_FILES, "comparisons")
  }
  unname(mget(keys, known))
}

#' All that is kept of comparisons, read once a process (and by the forks of it that follow).
#' @noRd
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

# Comparisons of other states of the code go, but for the last two that were used.
drop_old_code <- function(folder) {
  others <- list.files(folder, "^comparisons-[0-9a-f]{32}$", full.names = TRUE)
  remove_ours(others[order(file.mtime(others), decreasing = TRUE)][-seq_len(3L)])
}

# The mark by which we know a folder that we made (harness/removal.py has the same).
MARK <- ".cotejo-stamp"
MARK_WORDS <- "Made by cotejo, which may replace or remove this folder with all that is in it."

#' Make a folder, and mark it.
#' @noRd
claim_folder <- function(folder) {
  write_whole(file.path(folder, MARK), function(file) put_lines(MARK_WORDS, file))
}

#' Remove those of some folders that carry our mark.
#' @noRd
remove_ours <- function(folders) {
  unlink(folders[file.exists(file.path(folders, MARK))], recursive = TRUE)
}

# So many folders of drawn files are kept, the last used.
MOST_DRAWN_KEPT <- 4L

#' Files that follow from a dataset and the code alone: made once, copied after that.
#'
#' @param from list of all that they are made from beside the code; its `dataset`
#'   ([sum_of_dataset()]) is `NULL` where nothing is to be kept.
#' @param out_dir folder that the files are written to.
#' @param files function of what `work` returned: the files it wrote, within `out_dir`; `NULL`
#'   where they are not to be kept.
#' @param work function that writes the files.
#' @return what `work` returned, now or then.
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

#' Checksums of files within a folder; `NA` of one that is not there.
#' @noRd
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
      # What is written again is another file, and whatever else changes this one shows in its sum.
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
    error = function(e) message("what was drawn is not kept: ", conditionMessage(e)),
    warning = function(w) message("what was drawn is not kept: ", conditionMessage(w))
  )
}

# The last used stay; what a process that was killed left half goes after an hour.
drop_old_drawn <- function(folder) {
  others <- list.files(folder, "^drawn-[0-9a-f]{32}$", full.names = TRUE)
  used <- file.mtime(file.path(others, "what.rds"))
  half <- list.files(folder, "^drawn-[0-9a-f]{32}-[0-9]+$", full.names = TRUE)
  old <- difftime(Sys.time(), file.mtime(half), units = "hours") > 1
  remove_ours(c(half[old], others[order(used, decreasing = TRUE)][-seq_len(MOST_DRAWN_KEPT)]))
}

#' The checksum of what draws and writes beside the code: templates, names and packages.
#' @noRd
sum_of_tools <- function() {
  files <- system.file(c("report", "report/third-party", ""), package = "cotejo")
  files <- list.files(files, "[.](Rmd|css|js|yaml)$", full.names = TRUE)
  versions <- vapply(c("ggplot2", "svglite", "data.table", "htmltools"), getNamespaceVersion, "")
  list(code_sum(), unname(tools::md5sum(files)), versions, R.version.string)
}

#' The checksums of the files below a folder (or of files), and their names.
#' @noRd
sum_of_files <- function(paths) {
  files <- unlist(lapply(paths, function(path) {
    if (dir.exists(path)) list.files(path, recursive = TRUE, full.names = TRUE) else path
  }))
  files <- sort(as.character(files), method = "radix")
  # What reads another one than a plain file will refuse it.
  plain <- vapply(files, function(file) is.null(fault_of_plain(file, MOST_SAMPLES)), NA)
  sums <- rep(NA_character_, length(files))
  sums[plain] <- tools::md5sum(files[plain])
  # A folder without files is not the same as none.
  list(length(paths), basename(files), sums)
}
