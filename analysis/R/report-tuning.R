# SPDX-License-Identifier: BSD-3-Clause
# Compares a file of algorithms with the library's default, by launches not used to choose it.

#' Compare a tuning file with the default, in the session that confirms it.
#'
#' @param session folder of the session.
#' @inheritParams compare_configurations
#' @return as [compare_settings()]; `a` is the file, `b` the default.
#' @noRd
compare_tuning <- function(session, delta = 0.03) {
  results <- read_study(session)
  summary <- narrow(summarise_launches(results, COMPARED))
  found <- compare_settings(with_algorithms(summary, results$launches), delta)
  if (!nrow(found)) {
    bad_data(session, NA, "no launch of a tuning file beside the default", "run `make tune MPI=x`")
  }
  turned_to(found, setdiff(c(found$a, found$b), "defaults"))
}

#' Print operation, size and verdict of a tuning file against the default, separated by tabs.
#'
#' @param session folder of the session.
#' @noRd
print_tuning <- function(session) {
  suppressMessages(found <- compare_tuning(session))
  cat(sprintf("%s\t%.0f\t%s\n", found$operation, found$bytes, found$verdict), sep = "")
}

# The comparison of a tuning file as a table for readers: the largest gain first.
table_tuning <- function(found) {
  shown <- found[order(factor(verdict, c("faster", "slower")), -at_least)]
  data.table(
    Operation = title_of(shown$operation), Size = format_bytes(shown$bytes), n = shown$n_a,
    "File (\u00b5s)" = format_us(shown$median_a_s),
    "Default (\u00b5s)" = format_us(shown$median_b_s),
    `Ratio [interval]` = format_interval(shown$ratio, shown$low, shown$high, 3L),
    `The file is` = say_verdict(shown), `Algorithm with the file` = shown[["algorithm_a"]],
    `Algorithm of the default` = shown[["algorithm_b"]]
  )
}

#' Write the page of a tuning file: its gain, how to use it, and how to undo it.
#'
#' @param session folder of the session that confirmed the file.
#' @param file the settings file.
#' @param out_file the HTML file; `tuning.csv` goes beside it.
#' @inheritParams compare_configurations
#' @return the comparison, invisibly. Prints one sentence, and the path last.
#' @noRd
write_tuning <- function(session, file, out_file, delta = 0.03) {
  results <- read_study(session)
  found <- compare_tuning(session, delta)
  lines <- if (file.exists(file)) plain_lines(file, "restore the file") else character()
  with_families(families_of(results$sessions), {
    said <- sprintf(
      paste(
        "Among %d operations and sizes, the file is faster than the default at %d, slower at %d,",
        "within %s at %d; %d are not settled."
      ),
      nrow(found), sum(found$verdict == "faster"), sum(found$verdict == "slower"),
      say_percent(most_within(delta)), sum(found$verdict == "within"),
      sum(!found$verdict %in% SETTLED)
    )
    render_page("tuning", list(
      found = found, said = said, used = results$launches, lines = lines, file = file
    ), out_file)
  })
  write_csv(found, file.path(dirname(out_file), "tuning.csv"))
  cat(said, out_file, sep = "\n")
  invisible(found)
}
