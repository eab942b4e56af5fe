# SPDX-License-Identifier: BSD-3-Clause
# The sections of a report, one per question: the difference plot, the answer in words, the
# warnings, the times, and the tables. In a large report each question has a page of its own.

# Maximum rows of medians and comparisons whose tables are inside the report.
MOST_ROWS_INSIDE <- 3000L

#' The questions of a study: one per experiment, or per operation of an experiment with many.
#'
#' @param figures what [list_figures()] returned.
#' @return data.table `experiment`, `operation` (`NA`: all), `slug` (of its files), `title`.
#' @noRd
questions_of <- function(study, figures) {
  rows <- unique(study$medians[, c("experiment", "operation")])
  set(rows, j = "operation", value = base_operation(rows$operation))
  rows[!experiment %in% figures$experiment[!is.na(figures$operation)], operation := NA_character_]
  rows <- unique(rows)
  rows[, slug := slug_of_question(experiment, operation)]
  rows[, title := title_of_question(experiment, operation)]
  # Several experiments may have the same operation.
  rows[title %in% title[duplicated(title)], title := sprintf("%s (%s)", title, experiment)]
  # The most common operations come first; other tools' benchmarks follow cotejo's own.
  rows[order(experiment == "imb", place_in_report(fcoalesce(operation, experiment)))]
}

# A question in words: its operation, if any, with the experiment unless this is plain.
title_of_question <- function(experiment, operation) {
  named <- fcoalesce(
    unname(words_for("titles of experiments")[experiment]),
    fifelse(
      startsWith(experiment, "nas-"), paste("NAS", toupper(substring(experiment, 5L))),
      as.character(title_of(gsub("-", " ", experiment, fixed = TRUE)))
    )
  )
  sentence_case(fifelse(is.na(operation), named, paste0(
    question_in_words(fcoalesce(operation, "")),
    fifelse(experiment == "collective", "", sprintf(" (%s)", named))
  )))
}

# Whether the questions of a study have pages of their own.
has_pages <- function(study) nrow(study$medians) + nrow(study$comparison) > MOST_ROWS_INSIDE

# The pages of the questions of a study, beside the report.
question_pages <- function(study) {
  if (has_pages(study)) file.path("questions", paste0(study$questions$slug, ".html"))
}

#' The questions of a report: a section for each, or, if the tables do not fit one page, a row for
#' each with a link to the page of its section.
#'
#' @param figures names of the drawn figures; `embed_plot` shows one, on a page of the folder that
#'   it is given.
#' @param out_file the report.
#' @noRd
question_sections <- function(study, figures, embed_plot, out_file) {
  questions <- study$questions
  pages <- question_pages(study)
  work <- vapply(seq_len(nrow(questions)), \(i) {
    as.numeric(nrow(rows_of_question(study$medians, questions[i])))
  }, 0)
  sections <- over_processes(function(i, study) {
    question <- questions[i]
    part <- part_of_study(study, question)
    shown <- intersect(paste0(c("difference-", "latency-", "bandwidth-"), question$slug), figures)
    if (!length(pages)) {
      return(htmltools::div(
        class = "found question", htmltools::tags$h3(question$title),
        section_of_question(part, lapply(shown, embed_plot))
      ))
    }
    body <- html_text(htmltools::tagList(
      htmltools::tags$p(htmltools::tags$a(
        href = file.path("..", basename(out_file)), "Back to the report"
      )),
      htmltools::tags$p(CARD_WORDS), search_box("such as: 64 ranks"),
      section_of_question(part, lapply(shown, embed_plot, ".."))
    ))
    write_page(question$title, body, file.path(dirname(out_file), pages[[i]]))
    row_of_question(part, question, pages[[i]])
  }, work, study)
  list(
    if (!length(pages)) htmltools::tags$p(CARD_WORDS), search_box("such as: bcast tcp"),
    if (length(pages)) table_of_questions(rbindlist(sections)) else sections
  )
}

# A row for the table of questions.
row_of_question <- function(part, question, page) {
  tested <- part$comparison[!verdict %in% UNTESTED]
  said <- three_sentences(part$comparison, winners_by_class(part$comparison), part$used)
  data.table(
    Question = question$title, page = page,
    `Fastest library` = if (length(said)) said[[1L]] else "Nothing was compared.",
    Transports = toString(sort(unique(as.character(title_of(part$medians$transport))))),
    Settled = text_if(
      nrow(tested) > 0L, sprintf("%.0f %%", 100 * mean(tested$verdict %in% SETTLED))
    ), Tests = nrow(tested)
  )
}

table_of_questions <- function(rows) {
  html_table(
    rows[, !"page"], paste(
      "Each question has a page with its figures, answers, warnings, a chart with a baseline of",
      "your choice, and all comparisons and medians. Tests: pairs of libraries at one size."
    ), c("Settled", "Tests"),
    list(Question = sprintf("<a href=\"%s\">%s</a>", rows$page, htmlEscape(rows$Question)))
  )
}

# The rows of a study that belong to a question.
part_of_study <- function(study, question) {
  of <- function(table) rows_of_question(table, question)
  tables <- c("medians", "comparison")
  study[tables] <- lapply(study[tables], of)
  study$by_time <- lapply(study$by_time, of)
  operations <- unique(study$medians$operation)
  study$differing <- study$differing[study$differing$operation %in% operations]
  study$flags <- lapply(study$flags, function(table) table[table$operation %in% operations])
  study
}

#' The section of a question: its first figure, answers, warnings, further figures, chart, tables.
#'
#' @param plots HTML of its figures.
#' @noRd
section_of_question <- function(study, plots) {
  chart <- chart_of_question(study)
  here <- unique(paste(study$comparison$test, study$comparison$operation))
  cards <- Filter(\(card) paste(card$place$test, card$place$operation) %in% here, study$cards)
  list(
    utils::head(plots, 1L), html_cards(cards, htmltools::tags$h4),
    warnings_of_question(study),
    if (length(plots) > 1L) fold("Times and bandwidth", plots[-1L]),
    if (length(chart)) fold("Chart: choose a baseline, read values and intervals", chart),
    tables_of_question(study)
  )
}

# Warnings for a reader of one question: pairs that differ in more than the library, and outlying
# launches.
warnings_of_question <- function(study) {
  out <- uniqueN(study$flags$outlying$key)
  modes <- nrow(study$flags$modes)
  list(
    words_of_pairs(
      study$differing[!study$differing$compared],
      "Not compared, because more differs than the MPI:"
    ),
    words_of_pairs(
      study$differing[study$differing$compared],
      paste(
        "Caution: the program allocates its buffers at different addresses under each library;",
        "this is part of the measured difference."
      )
    ),
    if (out + modes > 0L) {
      htmltools::div(class = "warning", paste(c(
        if (out) {
          sprintf(
            "%s unusually slow or fast; they are used.",
            count_of(out, "launch was", "launches were")
          )
        },
        if (modes) {
          sprintf(
            "The launches of %s fall into more than one group.",
            count_of(modes, "configuration", "configurations")
          )
        }, "See Data quality."
      ), collapse = " "))
    }
  )
}

# Meaning of the other times of a launch, by their names in `LAUNCH_TIMES`.
TIMES_IN_WORDS <- c(
  p95 = "95th percentile: slow calls", p99 = "99th percentile: the slowest calls",
  minimum = "minimum: the fastest call",
  `undisturbed time` = "10th percentile (best case): other work on the machine hardly reaches it"
)

# Agreement of the verdicts by other times of the launches with those by the median.
other_times <- function(study) {
  rows <- lapply(names(TIMES_IN_WORDS), function(time) {
    both <- compare_verdicts(study$comparison, study$by_time[[time]])
    if (nrow(both)) {
      list(
        `time of a launch` = TIMES_IN_WORDS[[time]], comparisons = nrow(both),
        `settled by the median` = sum(both$first %in% SETTLED),
        `settled by this time` = sum(both$second %in% SETTLED), reversed = both[
          first %in% DIRECTIONS & second %in% DIRECTIONS & first != second, .N
        ]
      )
    }
  })
  rows <- rbindlist(rows)
  if (!nrow(rows)) {
    return(NULL)
  }
  htmltools::tagList(
    htmltools::tags$h2("Other times of a launch"),
    html_table(rows, sprintf(
      paste(
        "The same comparisons by other times of each launch. Verdicts above are by the median.",
        "The answer cards name the pairs that the 99th percentile orders in another way.",
        "Percentiles of slow calls need launches of %d samples; with fewer than 100, the 99th",
        "percentile is almost the largest sample. Reversed: faster by one time, slower by the",
        "other."
      ), LEAST_OF_TAIL
    ), right = names(rows)[-1L])
  )
}

# The tables of a question, folded.
tables_of_question <- function(study) {
  ratios <- function(comparison, caption) {
    parts <- strata_tables(comparison, cells_of_comparison(comparison), caption, COMPARISON_TEXTS)
    lapply(parts, `[[`, "html")
  }
  medians <- if (nrow(study$medians)) {
    wide <- table_medians(study$medians)
    shown <- c(
      list(Size = format_bytes(wide$bytes)),
      as.list(wide)[-seq_len(match("bytes", names(wide)))]
    )
    lapply(strata_tables(wide, shown, function(title, at) {
      sprintf("%s: median of the launch medians, one way, with its 95 %% interval.", title)
    }, c("Size", grep(" algorithm$", names(wide), value = TRUE))), `[[`, "html")
  }
  compared <- if (nrow(study$comparison)) {
    ratios(study$comparison, function(title, at) {
      sprintf(
        paste(
          "%s. Ratio: time of the first divided by the time of the second; below 1, the first is",
          "faster. Corrected over %s. Test: %s."
        ),
        title, toString(unique(study$comparison$family[at])),
        toString(unique(study$comparison$method[at]))
      )
    })
  }
  undisturbed <- study$by_time[["undisturbed time"]]
  best <- if (NROW(undisturbed)) {
    ratios(undisturbed, function(title, at) {
      paste0(title, ". Ratio of best-case times; columns as in the comparisons.")
    })
  }
  parts <- list(Comparisons = compared, Medians = medians, `Best-case times` = best)
  parts <- Filter(length, parts)
  lapply(names(parts), function(name) fold(name, parts[[name]]))
}

# A warning that lists pairs of `differing_pairs()` and their differences; `NULL` without pairs.
words_of_pairs <- function(pairs, heading) {
  if (nrow(pairs)) {
    htmltools::div(class = "warning", heading, bullets(unique(sprintf(
      "%s and %s (%s, %s): %s", title_of(pairs$a), title_of(pairs$b),
      question_in_words(pairs$operation), title_of(pairs$transport), pairs$why
    ))))
  }
}

#' The first cards, for the first screen: each a line with its summary, which unfolds to the card.
#' @noRd
first_cards <- function(cards) {
  shown <- utils::head(cards, MOST_ANSWERS)
  htmltools::div(class = "cards", mapply(function(card, title) {
    warnings <- unique(names(card$warnings))
    fold(
      list(
        htmltools::tags$strong(paste0(title, ":")),
        paste(c(
          card$summary, toString(c(
            sprintf(
              "%d of %d settled by %s", card$settled, card$tested,
              count_of(paste(unique(card$launches), collapse = " to "), "launch", "launches")
            ), setdiff(card$scope, ONE_SESSION)
          )), if (length(warnings)) paste("Warning:", toString(warnings))
        ), collapse = ". ")
      ),
      bullets(card$lines)
    )
  }, shown, plain_titles(shown), SIMPLIFY = FALSE))
}

# Titles of cards without the name of the test and without the placement, where they differ
# without these.
plain_titles <- function(cards) {
  titles <- vapply(cards, `[[`, "", "title")
  left_out <- function(pattern, column) {
    parts <- sprintf(pattern, vapply(cards, \(card) toString(card$place[[column]]), ""))
    plain <- mapply(\(title, part) sub(part, "", title, fixed = TRUE), titles, parts)
    ifelse(plain %in% plain[duplicated(plain)], titles, plain)
  }
  titles <- left_out(" (%s)", "test")
  left_out(", placement %s", "placement")
}

# Explains the words of a card; stands above the first card of each page.
CARD_WORDS <- paste(
  "Each answer lists the libraries in tiers: the first is the fastest, or those that are not",
  "ordered. \"Within 9 %\" means that their times differ by no more. \"Takes 6 to 7 times as",
  "long\" is the range over message sizes of the typical ratio of two launches of the same block.",
  "\"At least\" names the nearer end of its interval. It may differ from the ratio of the medians."
)

#' Cards as HTML: the first cards, and the others folded.
#' @noRd
html_cards <- function(cards, heading = htmltools::tags$h3) {
  answers <- lapply(cards, function(card) {
    htmltools::div(class = "found", heading(card$title), bullets(card$lines))
  })
  further <- utils::tail(answers, -MOST_ANSWERS)
  list(utils::head(answers, MOST_ANSWERS), if (length(further)) {
    fold(count_of(length(further), "further case", "further cases"), further)
  })
}

# Number of answers that a section shows unfolded.
MOST_ANSWERS <- 4L
