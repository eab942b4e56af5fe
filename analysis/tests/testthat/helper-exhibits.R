# SPDX-License-Identifier: BSD-3-Clause
# Registers of one row, and simulated launches for them. For tests only.

quiet <- function(code) suppressMessages(utils::capture.output(code))

# Evaluate `code` with a replacement for one function of the package, or for one that it imports.
with_replaced <- function(name, value, code) {
  package <- asNamespace("cotejo")
  if (!exists(name, package, inherits = FALSE)) package <- parent.env(package)
  put <- function(what) {
    unlockBinding(name, package)
    assign(name, what, package)
    lockBinding(name, package)
  }
  old <- get(name, package)
  on.exit(put(old))
  put(value)
  force(code)
}

# A register of one exhibit for draw_exhibits(), as a row of exhibits.yaml would make it.
one_row <- function(verb, tests = "planted", arguments = "", filter = "", sizes = "",
                    study = "stival", exhibit = "fig-1", differs = "", needs = "",
                    title = "A planted figure") {
  fields <- list(
    title = title, tests = tests, where = filter, sizes = sizes, draw = c(verb, arguments),
    differs = differs, needs = needs
  )
  exhibit_of_row(paste0(study, "-", exhibit), Filter(\(field) nzchar(field[[1L]]), fields))
}

# The words of a figure, its lines joined.
words_of <- function(svg) {
  text <- paste(readLines(svg), collapse = " ")
  gsub(" +", " ", gsub("<[^>]*>", " ", text))
}

# The texts of an SVG: `label` and `size` (points).
texts_of <- function(svg) {
  found <- regmatches(svg, gregexpr("<text [^>]*>[^<]*</text>", svg))[[1L]]
  data.table(
    label = gsub("<[^>]*>", "", found),
    size = as.numeric(sub(".*font-size: ([0-9.]+)px.*", "\\1", found))
  )
}

# Write simulated launches of the test `planted`: `design` is a data.table of `time` (s) by
# operation, size and the arguments of make_description().
plant <- function(folder, design, blocks = 6L, options = function(row) list(),
                  parameters = function(row) list(), samples = NULL) {
  set.seed(1L)
  keys <- intersect(names(design), c("mpi", "transport", "placement", "simulated", "variant"))
  for (launch in seq_len(blocks)) {
    for (part in split(design, by = keys)) {
      row <- part[1L]
      cpus <- if ("cpus" %in% names(row)) row$cpus[[1L]] else 0:1
      arguments <- as.list(row[, intersect(
        keys, c("mpi", "transport", "placement", "simulated")
      ), with = FALSE])
      made <- rbindlist(lapply(seq_len(nrow(part)), function(i) {
        times <- matrix(part$time[[i]] * exp(stats::rnorm(5L, 0, 0.001)))
        make_samples(part$bytes[[i]], times, part$operation[[i]])
      }))
      description <- do.call(make_description, c(arguments, list(
        launch = launch, test = "planted", cpus = cpus, options = options(row),
        parameters = parameters(row)
      )))
      write_launch(folder, description, made)
    }
  }
  folder
}

design_of <- function(..., operation = "pingpong", mpi = "openmpi", transport = "shm",
                      placement = "near") {
  CJ(..., operation = operation, mpi = mpi, transport = transport, placement = placement)
}

drawn_from <- function(folder, register) {
  out <- fresh_folder()
  coverage <- NULL
  quiet(coverage <- draw_exhibits(folder, out, exhibits = register))
  file <- file.path(out, "stival", "fig-1.csv")
  list(coverage = coverage, out = out, data = if (file.exists(file)) data.table::fread(file))
}

# The page of a table drawn by drawn_from(), in one line.
page_of <- function(drawn) {
  page <- file.path(drawn$out, "stival", "fig-1.html")
  paste(readLines(page, encoding = "UTF-8"), collapse = " ")
}

# Samples of the patterns with computation: `alone` beside the time, one step per amount.
write_overlap <- function(folder, launch, steps, time, alone, operation = "overlap-gap-send") {
  description <- make_description(launch = launch, test = "planted")
  more <- c(
    alone_s = "s", wait_s = "s", start_s = "s", compute_s = "s",
    multiply_adds = "multiply-adds", step = ""
  )
  more <- Map(\(name, unit) list(name = name, unit = unit, meaning = name), names(more), more)
  description$samples$columns <- c(description$samples$columns, unname(more))
  samples <- data.table(
    operation = operation, bytes = 57344L, repetition = seq_along(steps) - 1L, calls = 10L,
    time_s = sprintf("%.9e", time), valid = 1L, alone_s = sprintf("%.9e", alone),
    wait_s = "1.0e-07", start_s = "2.0e-07", compute_s = "3.0e-07",
    multiply_adds = seq_along(steps), step = steps
  )
  write_launch(folder, description, samples)
}

# Whether R can leave the date out of its PDF files: cairo 1.18 compresses it.
pdf_without_date <- function() {
  cairo <- grDevices::grSoftVersion()[["cairo"]]
  !nzchar(cairo) || package_version(cairo) < "1.18"
}
