# SPDX-License-Identifier: BSD-3-Clause
# Drawing in two processes. Not by fork: what sets text starts threads and takes locks, which a
# forked child inherits locked.

#' Apply a function to numbers from 1 on, in two more processes of R where that is worth it.
#'
#' @param f function of the package: takes a number and `shared`.
#' @param long which of the numbers take long.
#' @param shared what all calls need; each process gets one copy.
#' @return list of what `f` returned, in order; its first error is this function's.
#' @noRd
over_processes <- function(f, long, shared) {
  # Two processes are ready to draw after some 2 s.
  worth_it <- getOption("cotejo.drawing", 30L)
  if (sum(long) < worth_it || length(parallel::mcaffinity(NULL)) == 1L) {
    return(lapply(seq_along(long), f, shared))
  }
  workers <- parallel::makePSOCKcluster(2L, outfile = "")
  on.exit(parallel::stopCluster(workers))
  # By name: a function of this package could not be read before the package is found.
  parallel::clusterCall(workers, ".libPaths", .libPaths())
  parallel::clusterCall(workers, keep_shared, shared, said$families)
  # What takes long first, so that both end together.
  turns <- order(!long)
  done <- parallel::clusterApplyLB(workers, turns, apply_shared, f)
  failed <- Filter(function(result) inherits(result, "condition"), done)
  if (length(failed)) stop(failed[[1L]])
  done[order(turns)]
}

# In a process of its own the package has this as a place for what is shared.
kept <- new.env(parent = emptyenv())

keep_shared <- function(shared, families) {
  setDTthreads(1L)
  kept$shared <- shared
  said$families <- families
  invisible()
}

apply_shared <- function(i, f) tryCatch(f(i, kept$shared), error = identity)
