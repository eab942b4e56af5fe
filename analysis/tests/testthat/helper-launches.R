# SPDX-License-Identifier: BSD-3-Clause
# Writes launches with simulated times in the format of docs/data.md. For tests only.

#' A launch description as nested lists, ready for JSON.
make_description <- function(mpi = "openmpi", transport = "shm", launch = 1L,
                             experiment = "pingpong", session = "20261121T070000Z",
                             site = "local", scale = "quick", cpus = 0:1, status = "ok",
                             reason = "", simulated = "", placement = "near",
                             settings = list(), parameters = list(),
                             test = paste(experiment, scale, sep = "_"), options = list()) {
  cell <- c(test, mpi, transport, placement, unlist(parameters), unlist(settings))
  id <- sprintf("%s.%03d", paste(cell, collapse = "."), launch)
  ranks <- lapply(seq_along(cpus) - 1L, function(r) {
    list(
      rank = r, host = "node", cpus = as.character(cpus[[r + 1L]]),
      cores = list(cpus[[r + 1L]]), numa = list(0L), package = list(0L)
    )
  })
  column <- function(name, unit) list(name = name, unit = unit, meaning = name)
  list(
    schema = "cotejo-launch/1", id = id, status = status, reason = reason,
    started = sprintf("2026-11-21T07:%02d:00Z", launch), wall_s = 1.5, simulated = simulated,
    asked = list(
      site = site, session = session, experiment = experiment,
      test = test, scale = scale, launch = launch,
      seed = 1000L + launch, mpi = mpi, transport = transport, placement = placement,
      cpus = as.list(cpus), hosts = 1L, ranks = length(cpus), settings = named(settings),
      parameters = named(parameters), time_limit_s = 60L
    ),
    command = "mpiexec -n 2 cotejo pingpong", environment = named(list()),
    provenance = list(
      commit = "0123456789abcdef", dirty = FALSE,
      stack = list(provider = "wheels", lock_sha256 = "feed"), reframe = "4.10.4"
    ),
    reported = list(transport = transport, evidence = ""),
    observed = list(
      program = "cotejo", version = "0.1.0", experiment = "pingpong",
      options = c(list("min-bytes" = 1L, "max-bytes" = 65536L, validate = TRUE), options),
      arguments = list("cotejo", "pingpong"),
      mpi = list(
        library = paste(mpi, "1.0"), standard = "4.1", thread_level = "single",
        wtime_is_global = FALSE
      ),
      build = list(
        compiler = "gcc 12.2.0", flags = "-O2", mpi_header = "4.1", libraries = list("libmpi.so")
      ),
      size = length(cpus), ranks = ranks,
      timer = list(
        name = "clock_monotonic_raw", resolution_s = 1e-9, overhead_s = 2e-8, monotonic = TRUE
      ),
      node = list(
        kernel = "6.1.0", cpu_model = "A CPU", governor = "unknown", cores = 2L,
        memory_bytes = 2^34, cache_bytes = 2^25, load_1min = 0.1
      ),
      interfaces = list(lo = 0L), tcp_bytes = 0, payload_bytes = 1e6, payload_checked = TRUE
    ),
    samples = list(
      file = paste0(id, ".csv"), rows = 0L,
      columns = list(
        column("operation", ""), column("bytes", "B"), column("repetition", ""),
        column("calls", ""), column("time_s", "s"), column("valid", "")
      )
    ),
    summary = list()
  )
}

# An empty list that JSON writes as {} and not as [].
named <- function(object) {
  if (length(object)) object else structure(list(), names = character())
}

#' Samples of one launch: `times`, seconds, one column per size in `bytes`.
make_samples <- function(bytes, times, operation = "pingpong") {
  data.table::data.table(
    operation = operation, bytes = rep(bytes, each = nrow(times)),
    repetition = rep(seq_len(nrow(times)) - 1L, length(bytes)), calls = 10L,
    time_s = sprintf("%.10e", as.vector(times)), valid = 1L
  )
}

#' Write one launch below `dir`; returns the paths without their endings.
write_launch <- function(dir, description, samples = NULL) {
  folder <- file.path(dir, description$asked$site, description$asked$session)
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  path <- file.path(folder, description$id)
  if (description$status == "failed") {
    description["observed"] <- description["samples"] <- description["summary"] <- list(NULL)
  } else {
    description$samples$rows <- nrow(samples)
    lines <- c("# cotejo-samples/1", paste(names(samples), collapse = ","))
    writeLines(c(lines, do.call(paste, c(samples, sep = ","))), paste0(path, ".csv"))
  }
  write_json(description, paste0(path, ".json"))
  path
}

write_json <- function(value, file) writeLines(json_of(value), file)

#' JSON as `jsonlite::toJSON(value, auto_unbox = TRUE, null = "null", digits = NA, pretty = 2)`
#' writes it. Parts of earlier descriptions are stored for reuse: writing all parts again takes a
#' third of the time of these tests.
json_of <- function(value, indent = "") {
  key <- rlang::hash(list(value, indent))
  if (is.null(json_parts[[key]])) {
    json_parts[[key]] <- if (!is.data.frame(value) && is.list(value) && length(names(value))) {
      deeper <- paste0(indent, "  ")
      members <- vapply(names(value), function(name) {
        sprintf("%s%s: %s", deeper, json_of(name), json_of(value[[name]], deeper))
      }, "")
      sprintf("{\n%s\n%s}", paste(members, collapse = ",\n"), indent)
    } else {
      json <- jsonlite::toJSON(value, auto_unbox = TRUE, null = "null", digits = NA, pretty = 2)
      gsub("\n(?=.)", paste0("\n", indent), trimws(json, "right"), perl = TRUE)
    }
  }
  json_parts[[key]]
}

json_parts <- new.env()

#' A study with known medians: `base` seconds for each MPI at 1 B, growing with the size.
write_study <- function(dir, base = c(openmpi = 3e-7, mpich = 6e-7), blocks = 10L,
                        bytes = c(1, 1024, 65536), transports = "shm", cv = 0.02, seed = 1L,
                        experiment = "pingpong", operation = "pingpong", n = 15L, ...) {
  set.seed(seed)
  for (block in seq_len(blocks)) {
    for (transport in transports) {
      for (mpi in names(base)) {
        medians <- (base[[mpi]] * (if (transport == "tcp") 20 else 1) + bytes / 6e9) *
          exp(stats::rnorm(length(bytes), 0, cv))
        times <- vapply(medians, function(m) m * exp(abs(stats::rnorm(n, 0, 0.01))), numeric(n))
        write_launch(
          dir, make_description(mpi, transport, block, experiment, ...),
          make_samples(bytes, times, operation)
        )
      }
    }
  }
  invisible(dir)
}

#' A folder with one valid launch; `folder` and `path` without ending.
one_launch <- function(...) {
  folder <- fresh_folder()
  times <- matrix(c(1.5e-7, 1.25e-7, 1e-7, 3e-4, 2e-4, 2.5e-4), nrow = 3L)
  path <- write_launch(folder, make_description(...), make_samples(c(1, 2^20), times))
  list(folder = folder, path = path, csv = paste0(path, ".csv"), json = paste0(path, ".json"))
}

#' A new folder; it is deleted with R's own temporary folder.
fresh_folder <- function() {
  folder <- tempfile("results")
  dir.create(folder)
  folder
}

#' Change the lines of a text file with a function of them.
edit_lines <- function(file, change) writeLines(change(readLines(file)), file)

#' Change the launch description with a function of the nested list.
edit_json <- function(file, change) {
  write_json(change(jsonlite::parse_json(paste(readLines(file), collapse = "\n"))), file)
}

#' Expect the refusal of a file: one line that begins with FILE:LINE and names the fault.
expect_refused <- function(code, file, line, what) {
  error <- testthat::expect_error(code, class = "cotejo_bad_data")
  message <- conditionMessage(error)
  testthat::expect_false(grepl("\n", message, fixed = TRUE))
  testthat::expect_true(
    startsWith(message, paste0(file, ":", line, ": ")),
    info = paste0("expected ", basename(file), ":", line, ", got ", message)
  )
  testthat::expect_match(message, what, fixed = TRUE)
}
