# SPDX-License-Identifier: BSD-3-Clause
# Runs work in as many processes as there are cores: forks, which share the data already read, so
# that nothing is copied to them.
#
# Setting text for a PDF starts threads and takes locks. A process that is forked later inherits
# the locks and waits for ever, so only forks draw PDF files. SVG files need neither.

# State of this process: whether it is a fork, and the jobs that run beside it.
process <- new.env(parent = emptyenv())
process$forked <- FALSE
process$beside <- list()

may_fork <- function() !process$forked && .Platform$OS.type == "unix"

# Number of processes worth starting now: cores, or 1 if forks are not allowed.
cores_here <- function() {
  if (!may_fork()) {
    return(1L)
  }
  as.integer(getOption("cotejo.cores", max(1L, length(parallel::mcaffinity(NULL)))))
}

#' Apply a function to each task, in forks.
#'
#' @param tasks list.
#' @param f takes a task; its first error becomes the error of `in_forks()`.
#' @return list of what `f` returned, in order.
#' @noRd
in_forks <- function(tasks, f, cores = cores_here()) {
  if (cores < 2L || length(tasks) < 2L) {
    return(lapply(tasks, f))
  }
  # A job beside this process holds memory until it is waited for.
  wait_for_beside()
  done <- parallel::mclapply(tasks, function(task) {
    process$forked <- TRUE
    # One thread each: there are as many processes as cores.
    setDTthreads(1L)
    tryCatch(f(task), error = identity)
  }, mc.cores = cores, mc.preschedule = FALSE, mc.set.seed = FALSE)
  lapply(done, returned)
}

# The value that a fork returned; an error of the fork becomes an error of this process.
returned <- function(part) {
  if (inherits(part, "condition")) stop(part)
  if (is.null(part) || inherits(part, "try-error")) {
    refuse("a process of the analysis was ended: is there enough memory?")
  }
  part
}

# Starts a job in a fork.
start_fork <- function(do) {
  parallel::mcparallel(
    {
      process$forked <- TRUE
      do()
    },
    mc.set.seed = FALSE
  )
}

# Do something in a fork of its own and wait for it, because it leaves threads behind.
apart <- function(do) {
  if (!may_fork()) {
    return(do())
  }
  job <- start_fork(function() tryCatch(do(), error = identity))
  returned(parallel::mccollect(job)[[1L]])
}

# Do work in a fork if a fork may be started, for work whose result this process does not need.
beside <- function(do) {
  if (cores_here() < 2L) {
    return(invisible(do()))
  }
  if (!length(process$beside)) reg.finalizer(process, \(p) wait_for_beside(), onexit = TRUE)
  process$beside <- c(process$beside, list(start_fork(do)))
}

# Wait until all jobs beside this process are done.
wait_for_beside <- function() {
  if (length(process$beside) && !process$forked) {
    parallel::mccollect(process$beside)
    process$beside <- list()
  }
}

#' Apply a function to numbers from 1 on, in as many forks as there are cores; each fork takes the
#' next number when it is ready.
#'
#' A fork copies every page that it changes, and R's garbage collector changes all pages: a few
#' long-lived forks are faster than one fork per task. A process takes a number by making a folder
#' with that name, which only one of several processes can do.
#'
#' @param numbers in the order in which they are taken.
#' @return list of what `f` returned, in the order of the numbers; its first error is this
#'   function's.
#' @noRd
in_turns <- function(numbers, f, cores = cores_here()) {
  if (cores < 2L || length(numbers) < 2L) {
    return(lapply(sort(numbers), f))
  }
  place <- tempfile("turns")
  dir.create(place)
  on.exit(unlink(place, recursive = TRUE))
  workers <- as.list(seq_len(min(cores, length(numbers))))
  done <- unlist(in_forks(workers, function(worker) {
    mine <- list()
    for (i in numbers) {
      if (dir.create(file.path(place, i), showWarnings = FALSE)) {
        mine <- c(mine, list(list(i, f(i))))
      }
    }
    mine
  }, cores), recursive = FALSE)
  out <- vector("list", length(numbers))
  for (one in done) out[one[[1L]]] <- one[2L]
  # Nobody took a number for which no folder could be made.
  rest <- setdiff(numbers, vapply(done, `[[`, 0L, 1L))
  out[rest] <- lapply(rest, f)
  out
}

#' Apply a function to parts of a vector or list.
#'
#' @param parts_of the vector or list that is cut into parts.
#' @param f takes a part.
#' @param work amount of work, in files.
#' @param most maximum number of elements of a part.
#' @param much whether parts return much: each part then has a fork of its own, and its result is
#'   transferred while others work.
#' @return list of what `f` returned, in order.
#' @noRd
over_cores <- function(parts_of, f, work = length(parts_of), most = Inf, much = FALSE) {
  # Fewer files than this are read faster without further processes.
  cores <- if (work < getOption("cotejo.forking", 400L)) 1L else cores_here()
  count <- min(length(parts_of), max(ceiling(length(parts_of) / most), if (cores > 1L) 4L * cores))
  if (count < 2L) {
    return(list(f(parts_of)))
  }
  turns <- sort(rep_len(seq_len(count), length(parts_of)))
  parts <- unname(split(parts_of, turns))
  if (much) in_forks(parts, f, cores) else in_turns(seq_along(parts), \(i) f(parts[[i]]), cores)
}

#' Apply a drawing function to numbers from 1 on, largest work first, so that at the end no core
#' waits long for another although durations are only roughly known.
#'
#' @param f takes a number and `shared`.
#' @param work amount of work of each number; 0: almost nothing.
#' @param shared values that all calls need.
#' @return list of what `f` returned, in order; its first error is this function's.
#' @noRd
over_processes <- function(f, work, shared) {
  cores <- if (sum(work > 0) < getOption("cotejo.drawing", 2L)) 1L else cores_here()
  in_turns(order(-work), \(i) f(i, shared), cores)
}
