# SPDX-License-Identifier: BSD-3-Clause
# The parts of the bench of the analysis that run in R.
#
# Rscript bench/analysis.R PART ARGUMENTS: `ours` and `plain` summarise and compare a folder of
# synthetic launches with known numbers of samples and of comparisons; `coverage` prints figures of
# simulated studies; any other part writes one output of the reference.

words <- commandArgs(TRUE)

ours <- function(dir, rows, compared) {
  options(cotejo.cache = FALSE)
  summary <- cotejo::summarise_launches(cotejo::read_study(dir))
  found <- cotejo::compare_configurations(summary)
  stopifnot(
    sum(summary$n) == as.numeric(rows), nrow(found) == as.numeric(compared), !is.null(found$q)
  )
}

# The same by functions of R alone, unchecked.
plain <- function(dir, rows, compared) {
  files <- list.files(dir, "[.]csv$", recursive = TRUE, full.names = TRUE)
  parts <- lapply(files, function(file) {
    samples <- utils::read.csv(file, comment.char = "#")
    described <- jsonlite::fromJSON(sub("csv$", "json", file))$asked
    samples$key <- file
    samples$mpi <- described$mpi
    samples$test <- described$test
    samples
  })
  samples <- do.call(rbind, parts)
  summary <- stats::aggregate(time_s ~ key + mpi + test + bytes, samples, stats::median)
  p <- by(summary, summary[c("test", "bytes")], function(s) {
    stats::wilcox.test(time_s ~ mpi, s)$p.value
  })
  stopifnot(nrow(samples) == as.numeric(rows), length(p) == as.numeric(compared))
}

coverage <- function(repeats) {
  repeats <- as.integer(repeats)
  cells <- cotejo::prove_coverage(repeats)
  stopped <- cotejo::prove_stopping(repeats = repeats)
  off <- max(0, abs(cells$coverage - cells$level) - (cells$high - cells$low) / 2)
  # Under stopping the level is a bound.
  under <- max(0, stopped$level - stopped$coverage - (stopped$high - stopped$low) / 2)
  alarms <- cotejo:::pooled_alarms(cells)[[3L]]
  cat(off, under, alarms, cotejo::prove_power(0.05, 30L)[[1L]], "\n")
}

# The outputs of `make figures`, `report`, `paper` and `proof-page`.
write_output <- function(name, root, dir) {
  reference <- file.path(root, "data/reference")
  published <- file.path(root, "data/published")
  switch(name,
    "all exhibits" = cotejo::draw_all(reference, file.path(dir, "figures"), published = published),
    "the report" = cotejo::write_report(
      reference, file.path(dir, "report/report.html"),
      published = published
    ),
    "the paper" = cotejo:::write_paper(
      file.path(root, "analysis/paper.Rmd"), reference, file.path(dir, "paper/paper.html"),
      published = published
    ),
    "the page of the proof" = cotejo:::write_proof(
      file.path(root, "data/proof"), file.path(dir, "proof/proof.html")
    ),
    stop("no output ", name)
  )
}

known <- list(ours = ours, plain = plain, coverage = coverage)
invisible(if (words[[1L]] %in% names(known)) {
  do.call(known[[words[[1L]]]], as.list(words[-1L]))
} else {
  do.call(write_output, as.list(words))
})
