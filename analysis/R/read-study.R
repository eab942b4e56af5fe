# SPDX-License-Identifier: BSD-3-Clause
# Reads the launches of a dataset and their summaries, and caches them under the dataset's
# checksum. Raw samples are read only for launches whose samples are needed.

#' Read the launches of a dataset and their summaries.
#'
#' Like [read_results()], but samples are summarised while they are read, part by part in as many
#' processes as there are cores, and not kept. The result is cached in the user's cache folder
#' (`tools::R_user_dir("cotejo", "cache")`). The cache key identifies the dataset and this package:
#' the checksums of a packed dataset, or the names, sizes and times of the files of a results
#' folder.
#'
#' @param dir folder of results, or a packed dataset ([unpack_dataset()]).
#' @return a `cotejo_study` ([new_study()]), with the folder `dir` and, if it was read now, `root`.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' study
#' @export
read_study <- function(dir) {
  # A background process may just have read it.
  wait_for_beside()
  kept <- kept_of(dir)
  results <- if (!is.null(kept)) kept_file(kept)
  if (!is.null(results)) {
    results$dir <- dir
    results$sum <- basename(kept)
    return(results)
  }
  root <- unpack_dataset(dir)
  results <- read_summaries(root)
  if (!is.null(kept)) {
    beside(function() {
      results$cells <- NULL
      keep_summaries(results, kept)
    })
  }
  results$dir <- dir
  results$sum <- if (!is.null(kept)) basename(kept)
  results$root <- root
  results
}

read_summaries <- function(root) {
  found <- launch_files(root)
  parts <- over_cores(found$files, summarise_part, most = 250L)
  parts <- unlist(parts, recursive = FALSE)
  grouped <- unique(unlist(lapply(parts, `[[`, "factors")))
  results <- assemble(parts, found$faults)
  rm(parts)
  if (any(results$roles[grouped] != "factor")) {
    # A column that one part had to guess as a factor is no factor.
    results <- read_results(root)
    results$summary <- summary_of_samples(results)
  } else {
    results <- with_plans(results, root)
  }
  results$launches[, file := substring(file, nchar(root) + 2L)]
  study <- study_of_results(results)
  if (NROW(results$summary)) study$cells <- cells_of_summary(results$summary, study)
  study
}

#' Read some launches and keep the summaries of their samples.
#' @return list of parts as [assemble()] takes them: one part, or one per launch after a failure.
#' @noRd
summarise_part <- function(files) {
  tryCatch(
    list(summarised(read_launches(files))),
    error = function(fault) {
      if (length(files) == 1L) {
        left_out <- list(launches = data.table(), broken = list(as_fault(fault, files)))
        return(list(left_out))
      }
      # A launch that cannot be summarised must not stop the others.
      unlist(lapply(files, summarise_part), recursive = FALSE)
    }
  )
}

summarised <- function(part) {
  roles <- bare_role(roles_of(part$columns))
  part$factors <- names(roles)[roles == "factor"]
  if (nrow(part$samples)) {
    part$summary <- with_tails(summarise_samples(
      part$samples, "at", part$factors, names(roles)[roles == "measure"]
    ), part$tails)
  }
  part$samples <- part$tails <- NULL
  part
}

#' The samples of some launches of a study.
#'
#' @param results what [read_study()] or [read_results()] returned.
#' @param keys of launches.
#' @return data.table as `samples` of [read_results()].
#' @noRd
samples_of <- function(results, keys) {
  if (!is.null(results$samples)) {
    return(results$samples[which(as.character(results$samples$key) %in% keys)])
  }
  rows <- results$launches[results$launches$status == "ok" & results$launches$key %in% keys]
  if (!nrow(rows)) {
    return(no_samples())
  }
  root <- results$root
  if (is.null(root)) {
    root <- unpack_dataset(results$dir, unique(dirname(rows$file)))
  }
  parts <- over_cores(file.path(root, rows$file), read_launches, much = TRUE)
  assemble(parts)$samples
}

# The cache key of a dataset and this code; `NULL` if the dataset is not cached.
sum_of_dataset <- function(dir) {
  kept <- kept_of(dir)
  if (!is.null(kept)) basename(kept)
}

# Maximum number of cached summaries of datasets; the last used ones are kept.
MOST_KEPT <- 6L

# The path of the cached summaries of a dataset. NULL if they are not cached: for few files, which
# are read as fast, and if nothing is cached (`cache_folder()`).
kept_of <- function(dir) {
  folder <- cache_folder()
  if (is.null(folder) || !dir.exists(dir)) {
    return(NULL)
  }
  sums <- file.path(dir, "SHA256SUMS")
  what <- if (file.exists(sums)) {
    check_sums(dir)
    plain_lines(sums, "restore the dataset")
  } else {
    files <- session_files(dir, "[.](json|csv|gz)$")$files
    if (length(files) < getOption("cotejo.keeping", 800L)) {
      return(NULL)
    }
    facts <- file.info(files, extra_cols = FALSE)
    changed <- format(as.numeric(facts$mtime), digits = 17L)
    paste(substring(files, nchar(dir) + 2L), facts$size, changed)
  }
  file.path(folder, paste0(sum_of(c(code_sum(), what)), ".rds"))
}

# Cache summaries. The least recently used summaries are deleted.
keep_summaries <- function(results, path) {
  keep_file(results, path, "^[0-9a-f]{32}[.]rds$", MOST_KEPT, "summaries")
}
