# SPDX-License-Identifier: BSD-3-Clause
# Before and after: two folders of results, of which one thing is known to differ.

# What may be said to differ between before and after, and the columns that it moves.
CHANGES <- list(
  mpi = c("library", "lock_sha256"), stack = c("library", "lock_sha256"), kernel = "kernel",
  cotejo = "measuring", governor = "governor",
  site = c(
    "site", "observed_hosts", "observed_cpus", "observed_cores", "cpu_model", "kernel",
    "governor", "lock_sha256", "machine"
  )
)

#' Compare the results of two folders, cell by cell.
#'
#' Everything that makes a configuration must be the same on both sides, and everything that may
#' not differ in a comparison, but for what is named. Sides of different folders share no block:
#' with one or two sessions a side the verdict is that the sessions differ; with three a side
#' sessions are compared ([compare_configurations()]).
#'
#' @param before,after folders of results, as for [read_results()].
#' @param changed what is known to differ: names of `CHANGES`; others are refused by name.
#' @param delta margin of equivalence.
#' @return as [compare_configurations()] with `refused = "list"`; `a` is `after`, `b` is `before`.
#' @export
compare_folders <- function(before, after, changed = character(), delta = 0.03) {
  compare_changed(both_folders(before, after, changed), changed, delta)
}

compare_changed <- function(both, changed, delta) {
  compare_configurations(both,
    by = "when", delta = delta, refused = "list", allowing = unlist(CHANGES[changed])
  )
}

#' The launches of two folders as one table, told apart by `when`.
#' @noRd
both_folders <- function(before, after, changed) {
  unknown <- setdiff(changed, names(CHANGES))
  if (length(unknown)) {
    refuse(sprintf(
      "%s is nothing that may be named as changed; these are: %s", toString(unknown),
      toString(names(CHANGES))
    ))
  }
  sides <- Map(side_of_folder, c(after = after, before = before), c("after", "before"))
  both <- rbindlist(sides, fill = TRUE)
  if ("site" %in% changed) both[, site := paste(sort(unique(site)), collapse = " / ")]
  both
}

side_of_folder <- function(folder, when) {
  results <- read_study(folder)
  whole <- summarise_launches(results, COMPARED)
  out <- keep_rows(whole, which(choose_sessions(whole)$rows))
  if (!nrow(out)) bad_data(folder, NA, "no usable launch", "name a folder of results")
  # A copied session is no block that both sides have.
  sessions <- paste(when, out$session)
  out <- copy(out)
  set(out, j = c("when", "session"), value = list(when, sessions))
  out[]
}

#' Write what changed between two folders of results: sentences, and a table of every cell.
#'
#' @inheritParams compare_folders
#' @param out_file the HTML file; its folder is made when needed.
#' @return the comparison, invisibly. Prints the sentences, and the path last. An error when
#'   nothing may be compared, with the reasons.
#' @export
write_comparison <- function(before, after, out_file, changed = character(), delta = 0.03) {
  both <- both_folders(unpack_dataset(before), unpack_dataset(after), changed)
  found <- compare_changed(both, changed, delta)
  refused <- unique(refused_pairs(both, "when", allowing = unlist(CHANGES[changed]))$why)
  if (!nrow(found)) {
    refuse(paste0(
      "nothing can be compared: ",
      if (length(refused)) refused[[1L]] else "the two have no cell in common",
      "; name what changed with CHANGED=, of: ", toString(names(CHANGES))
    ))
  }
  answers <- answer(found, delta)
  for (part in answers) cat(c(part$title, paste(" ", part$ranges)), sep = "\n")
  for (why in refused) cat("not compared: ", why, "\n", sep = "")
  values <- list(
    found = found, answers = answers, refused = refused, before = before, after = after,
    changed = changed
  )
  render_page("compare", values, out_file)
  cat(out_file, "\n", sep = "")
  invisible(found)
}
