# SPDX-License-Identifier: BSD-3-Clause
# Work in as many processes as there are cores: forks, which share what is read and bring nothing
# along.
#
# What sets text (for a PDF; SVG needs nothing that does) starts threads and takes locks, which a
# forked child inherits locked: a process that has done so forks no more.

# What is true of this process: it is a fork, it has set text.
process <- new.env(parent = emptyenv())
process$forked <- FALSE
process$drew <- FALSE

#' Processes that are worth starting now: cores, or 1 where none may be forked.
#' @noRd
cores_here <- function() {
  if (process$forked || process$drew || .Platform$OS.type != "unix") {
    return(1L)
  }
  as.integer(getOption("cotejo.cores", max(1L, length(parallel::mcaffinity(NULL)))))
}

#' Apply a function to each task, in forks.
#'
#' @param tasks list.
#' @param f takes a task; its first error is this function's.
#' @return list of what `f` returned, in order.
#' @noRd
in_forks <- function(tasks, f, cores = cores_here()) {
  if (cores < 2L || length(tasks) < 2L) {
    return(lapply(tasks, f))
  }
  done <- parallel::mclapply(tasks, function(task) {
    process$forked <- TRUE
    # One thread each: there are as many processes as cores.
    setDTthreads(1L)
    tryCatch(f(task), error = identity)
  }, mc.cores = cores, mc.preschedule = FALSE, mc.set.seed = FALSE)
  for (part in done) {
    if (inherits(part, "condition")) stop(part)
    if (is.null(part) || inherits(part, "try-error")) {
      refuse("a process of the analysis was ended: is there enough memory?")
    }
  }
  done
}

#' Apply a function to parts of a vector or list.
#'
#' @param parts_of what is cut into parts.
#' @param f takes a part.
#' @param work how much it is, in files.
#' @param most elements of a part.
#' @return list of what `f` returned, in order.
#' @noRd
over_cores <- function(parts_of, f, work = length(parts_of), most = Inf) {
  # Fewer files than this are read sooner than processes are started.
  cores <- if (work < getOption("cotejo.forking", 400L)) 1L else cores_here()
  count <- min(length(parts_of), max(ceiling(length(parts_of) / most), if (cores > 1L) 4L * cores))
  if (count < 2L) {
    return(list(f(parts_of)))
  }
  turns <- sort(rep_len(seq_len(count), length(parts_of)))
  unname(in_forks(split(parts_of, turns), f, cores))
}

#' Apply a function that draws to numbers from 1 on.
#'
#' @param f takes a number and `shared`.
#' @param work how much each of the numbers is; 0: next to nothing.
#' @param shared what all calls need.
#' @return list of what `f` returned, in order; its first error is this function's.
#' @noRd
over_processes <- function(f, work, shared) {
  cores <- if (sum(work > 0) < getOption("cotejo.drawing", 2L)) 1L else cores_here()
  if (cores < 2L) {
    return(lapply(seq_along(work), f, shared))
  }
  hands <- deal(work, cores)
  done <- in_forks(hands, function(hand) lapply(hand, f, shared), cores)
  unlist(done, recursive = FALSE)[order(unlist(hands))]
}

#' Work dealt out in hands that get smaller, of which each process takes the next when it is ready
#' (guided self-scheduling, Polychronopoulos and Kuck 1987): the largest work first, and at the
#' end no core waits long for another, though how long anything takes is known roughly only.
#'
#' Few hands in all, since each is a process, which brings its own copy of what it touches.
#'
#' @return list of numbers of `work`, in the order in which they are to be taken.
#' @noRd
deal <- function(work, cores) {
  # What is next to nothing is something.
  work <- work + max(work, 1) / 1000
  rest <- order(-work)
  hands <- list()
  while (length(rest)) {
    left <- cumsum(work[rest])
    most <- max(left[[length(left)]] / (2 * cores), sum(work) / (SMALLEST_HANDS * cores))
    count <- max(1L, sum(left <= most))
    hands <- c(hands, list(rest[seq_len(count)]))
    rest <- rest[-seq_len(count)]
  }
  hands
}
# So many of the smallest hands would be a core's whole work.
SMALLEST_HANDS <- 16L
