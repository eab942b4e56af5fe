# SPDX-License-Identifier: BSD-3-Clause
# Verbs that write tables. Each returns a list: a table for readers, the numbers behind it as
# `data` and its caption as `caption`.

#' @describeIn exhibit_by_size Medians with their intervals: a row a value of `rows`, a column a
#'   level of `columns`. Further columns that differ have rows of their own.
exhibit_medians_table <- function(exhibit, rows = NULL, columns = NULL, unit = NULL) {
  unit <- unit_of(exhibit)
  rows <- argument(exhibit, "rows", "bytes")
  exhibit$arguments$series <- argument(exhibit, "columns", "mpi")
  exhibit$arguments$panel <- union(
    setdiff(rows, "bytes"), argument(exhibit, "panel", "transport")
  )
  medians <- add_values(curves_of_exhibit(exhibit)$medians, unit)
  medians[, text := sprintf("%s (n = %d)", format_interval(y, y_low, y_high), n)]
  wide <- dcast(medians, panel + bytes ~ level, value.var = "text", fill = "")
  shown <- cbind(
    data.table(Configuration = as.character(wide$panel), Size = format_bytes(wide$bytes)),
    wide[, !c("panel", "bytes")]
  )
  with_table(shown, tidy_data(medians), caption_of_exhibit(exhibit, sprintf(
    "%s: median of the launch medians with its 95 %% interval.",
    sentence_case(unit$axis)
  ), medians$n))
}

#' @describeIn exhibit_by_size Welch's t-test as the study printed it: means, p and the 99 %
#'   interval of the difference.
exhibit_welch_table <- function(exhibit, by = NULL, unit = NULL) {
  by <- argument(exhibit, "by", "mpi")
  comparison <- compare_exhibit(exhibit, by)
  us <- format_us
  shown <- data.table(
    First = in_words(by, comparison$a), Second = in_words(by, comparison$b),
    Size = format_bytes(comparison$bytes),
    n = ifelse(
      comparison$n_a == comparison$n_b, comparison$n_a, paste(comparison$n_a, comparison$n_b)
    ),
    "First, mean (\u00b5s)" = us(comparison$welch_mean_a_s),
    "Second, mean (\u00b5s)" = us(comparison$welch_mean_b_s),
    p = format_p(comparison$welch_p),
    "99 % of the difference (\u00b5s)" = ifelse(is.na(comparison$welch_low_s), "NA", paste(
      us(comparison$welch_low_s), "..", us(comparison$welch_high_s)
    ))
  )
  with_table(
    setDT(c(varying_strata(comparison), shown)), comparison,
    caption_of_exhibit(
      exhibit, "Welch's t-test on the launch medians, not corrected for the number of sizes.",
      pmin(comparison$n_a, comparison$n_b)
    )
  )
}

#' @describeIn exhibit_by_size Ratios of pairs of operations: a row an operation and size, a column
#'   an MPI.
exhibit_error_table <- function(exhibit, wrong = NULL, right = NULL, repetition = NULL) {
  table <- error_ratios(exhibit)
  table[, text := format_interval(ratio, low, high)]
  table[, level := in_words("mpi", mpi)]
  rows <- c("right", "bytes", "transport", "ranks")
  rows <- c(rows, unexplained_in(table, c(rows, "mpi", "operation")))
  wide <- dcast(
    table, stats::as.formula(paste(paste0("`", rows, "`", collapse = "+"), "~ level")),
    value.var = "text", fill = ""
  )
  shown <- cbind(
    data.table(
      Configuration = as.character(level_of(wide, setdiff(rows, "bytes"))),
      Size = format_bytes(wide$bytes)
    ),
    wide[, setdiff(names(wide), rows), with = FALSE]
  )
  with_table(shown, table[, !c("text", "level")], caption_of_exhibit(
    exhibit, "Ratio of times over blocks with its interval within the question.", table$n
  ))
}

WHAT_TABLES_SHOW <- "Medians over launches with their 95 % intervals."

# A table exhibit: the shown table, the numbers behind it, and its caption.
with_table <- function(shown, data, caption) {
  list(shown = shown, data = data, caption = gsub("\n", " ", caption))
}

#' Write a table as an HTML file, and the numbers behind it as CSV.
#'
#' @param table what [with_table()] returned.
#' @param printed list of the study's printed tables, named by their descriptions.
#' @noRd
save_table <- function(table, title, out_dir, name, printed = list()) {
  path <- function(ending) file.path(out_dir, paste0(name, ".", ending))
  numbers <- setdiff(names(table$shown), c("Configuration", "First", "Second", "Nearest"))
  body <- c(
    html_table(table$shown, table$caption, numbers),
    unlist(Map(html_table, unname(printed), names(printed)))
  )
  write_page(title, body, path("html"))
  write_csv(table$data, path("csv"))
  vapply(c("html", "csv"), path, "")
}
