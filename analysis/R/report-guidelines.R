# SPDX-License-Identifier: BSD-3-Clause
# Performance guidelines: checks whether a collective is slower than a possible replacement.

#' Guidelines of the operations that were measured.
#'
#' An operation should not be slower than its replacements (Traeff, Gropp and Thakur 2010):
#' mock-ups made of other operations (`allgather_as_gather_bcast`), irregular operations with equal
#' counts (`allgatherv`), and non-blocking operations with an immediate wait (`iallgather`). The
#' last ones also replace persistent operations (`allgather_init`).
#'
#' @param operations names of operations.
#' @return data.table: `operation`, `replacement`, `kind`.
#' @noRd
guidelines_of <- function(operations) {
  plain <- operations[!grepl("_as_|[.]|_init$", operations)]
  mockups <- grep("_as_", operations, value = TRUE)
  persistent <- grep("_init$", operations, value = TRUE)
  irregular <- c("gather", "scatter", "allgather", "alltoall")
  found <- rbindlist(list(
    `mock-up` = list(operation = sub("_as_.*$", "", mockups), replacement = mockups),
    irregular = list(c(irregular, "alltoallv"), c(paste0(irregular, "v"), "alltoallw")),
    `non-blocking` = list(plain, paste0("i", plain, recycle0 = TRUE)),
    persistent = list(persistent, sub("^(.*)_init$", "i\\1", persistent))
  ), idcol = "kind")
  setcolorder(found, c("operation", "replacement"))
  found[operation %in% operations & replacement %in% operations]
}

#' Judge the performance guidelines of each MPI.
#'
#' @param summary what [summarise_launches()] returned.
#' @inheritParams compare_configurations
#' @return as [compare_configurations()], with `operation` and `replacement` in place of `a` and
#'   `b`, and two further columns. `kind`: `mock-up`, `irregular`, `non-blocking`, `persistent`
#'   (the operation is persistent, and the replacement is non-blocking), or `monotony` (the
#'   replacement is the same operation with the next larger size). `judgement`: `violated`
#'   (the operation is slower), `held` (it is faster, or within a bound), `not settled` or `not
#'   tested`.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' judge_guidelines(summary)[, c("mpi", "operation", "bytes", "kind", "judgement")]
#' @export
judge_guidelines <- function(summary, delta = 0.03) {
  known <- guidelines_of(unique(summary$operation))
  found <- lapply(seq_len(nrow(known)), function(i) {
    pair <- known[i]
    rows <- keep_rows(summary, which(summary$operation %in% c(pair$operation, pair$replacement)))
    rows <- compare_configurations(rows, by = "operation", delta = delta, refused = "list")
    if (nrow(rows)) {
      rows <- turned_to(rows, pair$operation)
      setnames(rows, c("a", "b"), c("operation", "replacement"))
      rows[, kind := pair$kind][]
    }
  })
  found <- rbindlist(c(found, list(monotony_of(summary, delta))), use.names = TRUE, fill = TRUE)
  if (!nrow(found)) {
    return(found)
  }
  found[, judgement := fcase(
    verdict == "slower", "violated", verdict %in% c("faster", "within"), "held",
    rep(TRUE, .N), verdict
  )]
  found[]
}

# Compares a message with one of the next larger size; the row has the smaller size.
monotony_of <- function(summary, delta) {
  rows <- keep_rows(summary, which(summary$bytes > 0 & !grepl("[.]|_as_", summary$operation)))
  sizes <- sort(unique(rows$bytes))
  if (length(sizes) < 2L) {
    return(NULL)
  }
  smaller <- keep_rows(rows, which(rows$bytes < sizes[[length(sizes)]]))
  larger <- keep_rows(rows, which(rows$bytes > sizes[[1L]]))
  set(larger, j = "bytes", value = sizes[match(larger$bytes, sizes) - 1L])
  set(larger, j = "part", value = "larger")
  set(smaller, j = "part", value = "smaller")
  found <- compare_configurations(
    rbind(smaller, larger), by = "part", delta = delta, refused = "list"
  )
  if (nrow(found)) {
    found <- turned_to(found, "smaller")
    next_size <- sizes[match(found$bytes, sizes) + 1L]
    found[, c("a", "b") := NULL]
    found[, replacement := sprintf("%s of %s", operation, format_bytes(next_size))]
    found[, kind := "monotony"][]
  }
}

# One sentence for each guideline and configuration of an MPI: its judgement by sizes.
say_guidelines <- function(found) {
  by <- c("mpi", "transport", "placement", "hosts", "ranks", "operation", "replacement")
  found <- copy(found)[kind == "monotony", replacement := "itself with the next larger size"]
  worst <- found[judgement == "violated"][order(-at_least)]
  if (!nrow(worst)) {
    return(character())
  }
  worst[, list(text = sprintf(
    "%s of %s %s, %d ranks on %s, is slower than %s at %s: by at least %s at %s.",
    sentence_case(title_of(operation[[1L]])), title_of(mpi[[1L]]), over(transport[[1L]]),
    ranks[[1L]], count_of(hosts[[1L]], "host", "hosts"), title_of(replacement[[1L]]),
    toString(format_bytes(sort(bytes))), say_percent(at_least[[1L]]), format_bytes(bytes[[1L]])
  )), by = by]$text
}

# The counts of judgements, one row per MPI, transport, placement and number of ranks.
table_judgements <- function(found) {
  by <- c("mpi", "transport", "placement", "hosts", "ranks", "kind")
  out <- found[, list(
    Violated = sum(judgement == "violated"),
    `By more than the margin` = sum(judgement == "violated" & relevance %in% "relevant"),
    Held = sum(judgement == "held"), `Not settled` = sum(judgement == "not settled"),
    `Not tested` = sum(judgement == "not tested")
  ), keyby = by]
  out[, mpi := title_of(mpi)][, transport := title_of(transport)]
  setnames(out, by, c("MPI", "Transport", "Placement", "Hosts", "Ranks", "Replacement"))
  out[]
}

# The judged guidelines as a table for readers.
table_guidelines <- function(found) {
  shown <- found[order(factor(judgement, c("violated", "not settled", "not tested", "held")),
    -at_least)]
  data.table(
    MPI = title_of(shown$mpi), Transport = title_of(shown$transport),
    Placement = shown$placement, Ranks = shown$ranks, Operation = title_of(shown$operation),
    Replacement = title_of(shown$replacement), Size = format_bytes(shown$bytes),
    "Operation (\u00b5s)" = format_us(shown$median_a_s),
    "Replacement (\u00b5s)" = format_us(shown$median_b_s),
    `Ratio [interval]` = format_interval(shown$ratio, shown$low, shown$high, 3L), n = shown$n_a,
    Judgement = fcase(
      shown$judgement == "violated",
      sprintf("violated by at least %s", say_percent(shown$at_least)),
      shown$verdict == "within", sprintf("held (within %s)", say_percent(shown$at_most)),
      rep(TRUE, nrow(shown)), shown$judgement
    ), `Algorithm of the operation` = shown[["algorithm"]]
  )
}

#' Write the report on performance guidelines.
#'
#' @param results_dir as for [read_results()].
#' @param out_file the HTML file; `guidelines.csv` goes beside it.
#' @param mpi name of an MPI library; empty: all that were measured.
#' @inheritParams judge_guidelines
#' @return what [judge_guidelines()] returned, invisibly. Its column `algorithm` says in words
#'   which one the operation ran. Prints one sentence for each violated guideline, and the path
#'   last.
#' @noRd
write_guidelines <- function(results_dir, out_file, mpi = "", delta = 0.03) {
  results <- read_study(results_dir)
  whole <- summarise_launches(results, COMPARED)
  whole <- keep_rows(whole, which(
    startsWith(whole$test, "guidelines_") & (!nzchar(mpi) | whole$mpi %in% mpi)
  ))
  if (!nrow(whole)) {
    bad_data(results_dir, NA, "no launch of guidelines", "run `make guidelines MPI=x`")
  }
  summary <- narrow(keep_rows(whole, which(choose_sessions(whole)$rows)))
  summary <- with_algorithms(summary, results$launches)
  with_families(families_of(results$sessions), {
    found <- algorithms_beside(judge_guidelines(summary, delta), summary)
    said <- say_guidelines(found)
    used <- keep_rows(results$launches, which(results$launches$key %in% summary$key))
    render_page("guidelines", list(found = found, said = said, used = used, delta = delta),
      out_file)
  })
  write_csv(found, file.path(dirname(out_file), "guidelines.csv"))
  put_said(said)
  cat(out_file, "\n", sep = "")
  invisible(found)
}
