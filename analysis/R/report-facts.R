# SPDX-License-Identifier: BSD-3-Clause
# The numbers of the paper: each number links to a row that names its data and its command.

# The numbers of the paper that is being written: a list of texts per number.
paper_facts <- new.env(parent = emptyenv())
paper_facts$rows <- list()

# Characters that no text contains, placed around a number and its index in the list.
FACT_BEGIN <- "\u0001"
FACT_END <- "\u0002"

#' A number for a sentence, which [link_facts()] turns into a link.
#'
#' @param value number or text.
#' @param file CSV of the folder `paper-data`, without ending; `rows`: which of its rows, in words.
#' @param command that computes or measures the numbers.
#' @noRd
fact <- function(value, file, rows, command = "make paper DATA=reference") {
  text <- if (is.numeric(value)) format_whole(value) else as.character(value)
  paper_facts$rows <- c(paper_facts$rows, list(list(text, file, rows, command)))
  paste0(FACT_BEGIN, length(paper_facts$rows), " ", text, FACT_END)
}

# A sentence whose numbers of tests are facts of the same rows.
facts_in <- function(text, ...) {
  numbers <- gregexpr("(?<=in |of |; |[(])[0-9]+\\b", text, perl = TRUE)
  regmatches(text, numbers) <- lapply(regmatches(text, numbers), \(n) vapply(n, fact, "", ...))
  text
}

# Evaluate an expression that produces a text with facts.
with_facts <- function(code) {
  old <- paper_facts$rows
  on.exit(paper_facts$rows <- old)
  paper_facts$rows <- list()
  force(code)
}

# HTML in which facts are links to their rows.
link_facts <- function(html) {
  gsub(
    paste0(FACT_BEGIN, "([0-9]+) ([^", FACT_END, "]*)", FACT_END),
    "<a class=\"fact\" id=\"use-\\1\" href=\"#fact-\\1\">\\2</a>", html
  )
}

# The link to the data of a figure or table, and the command that measures or computes them.
data_link <- function(file, command, made = "Computed") {
  sprintf(
    "<a href=\"paper-data/%s.csv\">Data (CSV)</a>. %s by <code>%s</code>.", file, made,
    htmlEscape(command)
  )
}

#' A table of numbers, whose caption links to their data.
#'
#' @param file,command as for [fact()].
#' @inheritParams html_table
#' @noRd
fact_table <- function(table, caption, file, right = character(),
                       command = "make paper DATA=reference") {
  html_table(
    table, htmltools::HTML(paste(htmlEscape(caption), data_link(file, command))), right
  )
}

# The table of all facts so far.
facts_table <- function() {
  rows <- paper_facts$rows
  column <- function(i) vapply(rows, `[[`, "", i)
  file <- column(2L)
  html_table(
    data.table(Number = column(1L), Data = file, Rows = column(3L), Command = column(4L)),
    "Every linked number of this paper: its data, the rows that it comes from, and the command.",
    character(), list(
      Number = sprintf(
        "<a id=\"fact-%d\" href=\"#use-%d\">%s</a>", seq_along(rows), seq_along(rows),
        htmlEscape(column(1L))
      ),
      Data = sprintf("<a href=\"paper-data/%s.csv\">%s.csv</a>", file, file),
      Command = sprintf("<code>%s</code>", htmlEscape(column(4L)))
    )
  )
}

# Columns of launches, comparisons and medians in the paper's data.
FACT_COLUMNS <- list(
  launches = c(
    "site", "session", "launch", "id", "test", "mpi", "library", "provider", "transport",
    "placement", "hosts", "ranks", "simulated", "status", "started", "commit", "cpu_model"
  ),
  comparisons = c(
    "site", "simulated", "test", "operation", "transport", "placement", "hosts", "ranks",
    "settings", "parameters", "a", "b", "bytes", "ratio", "low", "high", "q", "verdict", "n_a",
    "n_b"
  ),
  medians = c(
    "site", "simulated", "test", "operation", "mpi", "transport", "placement", "hosts", "ranks",
    "settings", "parameters", "bytes", "n", "median_s", "cv"
  )
)

#' Write the data of the paper's numbers.
#'
#' @return the files' names within `out_dir`.
#' @noRd
write_fact_data <- function(given, out_dir) {
  study <- given$study
  shown <- function(table, columns) {
    table[, intersect(columns, names(table)), with = FALSE]
  }
  launches <- shown(study$launches, FACT_COLUMNS$launches)
  launches[, `:=`(
    used = study$launches$key %in% study$used$key,
    outlying = study$launches$key %in% study$flags$outlying$key
  )]
  tables <- list(
    launches = launches, comparisons = shown(study$comparison, FACT_COLUMNS$comparisons),
    claims = claims_table(given$claims), exhibits = given$coverage, printed = given$audit,
    drift = study$drift, medians = shown(study$medians, FACT_COLUMNS$medians),
    modes = study$flags$modes
  )
  for (name in names(tables)) {
    write_csv(tables[[name]], file.path(out_dir, "paper-data", paste0(name, ".csv")))
  }
  file.path("paper-data", paste0(names(tables), ".csv"))
}

#' Print a page as PDF into the same folder, if a Chromium is on PATH.
#'
#' @return the file, or `character()`.
#' @noRd
print_page <- function(html) {
  browser <- Sys.which(c("chromium-headless-shell", "chromium", "google-chrome"))
  browser <- browser[nzchar(browser)]
  if (!length(browser)) {
    message("no Chromium on PATH: no PDF of the paper")
    return(character())
  }
  pdf <- sub("[.]html$", ".pdf", html)
  place <- tempfile("print")
  on.exit(unlink(place, recursive = TRUE))
  made <- file.path(place, basename(pdf))
  dir.create(place)
  status <- system2(browser[[1L]], shQuote(c(
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-pdf-header-footer", paste0("--user-data-dir=", file.path(place, "profile")),
    paste0("--print-to-pdf=", made), paste0("file://", normalizePath(html))
  )), stdout = FALSE, stderr = FALSE, timeout = 60)
  if (status != 0L || !file.exists(made)) {
    message("no PDF of the paper: ", browser[[1L]], " ended with status ", status)
    return(character())
  }
  remove_dates(made)
  write_whole(pdf, function(file) put_copy(made, file))
}

#' Claims as a table for readers.
#'
#' @param judged what [judge_claims()] returned.
#' @return data.table of texts.
#' @noRd
claims_table <- function(judged) {
  more <- fcase(
    !is.na(judged$more_sessions), count_of(judged$more_sessions, "session", "sessions"),
    is.finite(judged$more_launches), count_of(judged$more_launches, "launch", "launches"),
    rep(TRUE, nrow(judged)), ""
  )
  more <- fifelse(nzchar(more), sprintf("about %s more", more), "")
  range <- function(low, high) {
    fifelse(is.na(low), "", in_range(format_digits(low), format_digits(high)))
  }
  data.table(
    Study = judged$study, Where = judged$where, Conclusion = judged$says,
    Printed = range(judged$printed_low, judged$printed_high),
    `Here, ratio of times` = fifelse(
      is.na(judged$ratio), "", paste0(format_digits(judged$ratio), fifelse(
        is.na(judged$low), "", sprintf(
          " [%s, %s]", format_digits(judged$low), format_digits(judged$high)
        )
      ))
    ),
    n = fifelse(is.na(judged$n), "", as.character(judged$n)),
    Place = fcoalesce(judged$place, ""), Grade = fcoalesce(judged$grade, ""),
    Verdict = judged$verdict,
    Remark = paste0(judged$why, fifelse(nzchar(judged$why) & nzchar(more), "; ", ""), more)
  )
}
