# SPDX-License-Identifier: BSD-3-Clause
# Sections of a report that are computed at the same time, each as HTML.

#' Compute sections of a report, in as many processes as there are cores.
#'
#' @return list of HTML: `answer`, `times`, `settings`, `agreement`, `unusual`.
#' @noRd
compute_sections <- function(study) {
  sections <- sections_of_report()
  html <- in_turns(seq_along(sections), function(i) {
    lapply(html_text(sections[[i]](study)), htmltools::HTML)
  })
  stats::setNames(html, names(sections))
}

sections_of_report <- function() {
  list(
    answer = section_of_answer, times = other_times, settings = section_of_settings,
    agreement = section_of_agreement, unusual = section_of_unusual
  )
}

# The first screen: the cards, the map of the fastest libraries, and the answer in sentences.
section_of_answer <- function(study) {
  mpis <- title_of(unique(study$used$mpi))
  own <- c(study$merits$cards, study$setting_cards)
  if (length(study$cards)) {
    htmltools::tagList(
      html_certainty(study$cards), first_cards(study$cards), html_steps(study$next_step),
      map_and_sentences(study),
      if (length(own)) first_cards(own), htmltools::HTML(CONTENTS), meaning_of_words()
    )
  } else if (length(own)) {
    htmltools::tagList(
      html_certainty(own), first_cards(own), html_steps(study$next_step),
      htmltools::HTML(CONTENTS), meaning_of_words()
    )
  } else if (length(mpis) == 1L) {
    htmltools::tags$p(sprintf("Only %s was measured: there is nothing to compare it with.", mpis))
  } else {
    htmltools::tags$p("No pair of MPIs was measured under the same conditions: see below.")
  }
}

# The map of the fastest libraries, and the answer in sentences.
map_and_sentences <- function(study) {
  winners <- winners_by_class(study$comparison)
  if (!nrow(winners)) {
    return(NULL)
  }
  said <- three_sentences(study$comparison, winners, study$used)
  htmltools::tagList(
    winner_map(winners, study$comparison, unique(study$used$mpi)),
    htmltools::tags$p(class = "key", study$next_step$further),
    htmltools::tags$p(htmltools::tags$strong(paste(said[-3L], collapse = " "))),
    htmltools::tags$p(
      said[3L], htmltools::tags$a(href = ANSWERS, "All answers as JSON", .noWS = "after"), "."
    ),
    fold("All outcomes by question", html_table(table_matrix(winners, study$comparison), paste(
      "The library that is faster than every other, or those that can be; the factors by",
      "which the next library is slower, and the number of such tests (over all placements,",
      "numbers of ranks and parameters). n: the smallest number of launches of a library."
    ), "n"))
  )
}

html_certainty <- function(cards) {
  htmltools::tags$p(class = "sure", htmltools::tags$strong("How sure:"), say_certainty(cards))
}

# How sure the answers of cards are.
say_certainty <- function(cards) {
  warned <- unlist(lapply(cards, \(card) names(card$warnings)))
  paste0(
    "\"at least\" holds with 95 % confidence; at most 5 % of the differences found for a ",
    "question are expected to be wrong",
    text_if(DEPENDENT %in% warned, " (more where a card warns that launches depend on others)"),
    ". Outliers only widen the limits."
  )
}

# The next step, with its command apart, and further steps.
html_steps <- function(steps) {
  htmltools::tags$p(
    class = "next", htmltools::tags$strong("Next:"), steps$said,
    if (length(steps$command)) htmltools::tags$code(steps$command)
  )
}

#' The next step in words: the command that confirms dependent launches, or that is expected to
#' settle the most comparisons per minute, or that no question is open; and how to measure what
#' launches on one host cannot show.
#'
#' @param used launches, as in [summarise_launches()].
#' @return list of texts: `said`, `command` and `further` (`NULL`: none).
#' @noRd
say_next_step <- function(cards, used) {
  further <- if (all(used$hosts %in% 1L)) {
    "To measure between hosts, run make site on a cluster, then make study."
  }
  left <- vapply(cards, \(card) max(card$tested - card$settled, !card$tested), 0)
  open <- left > 0
  known <- open & vapply(cards, \(card) nzchar(toString(card$to_settle$command)), NA)
  questions <- count_of(sum(open), "question is", "questions are")
  confirm <- unlist(lapply(cards, `[[`, "confirm"))
  if (length(confirm)) {
    return(list(said = paste0(
      "Confirm in another session, since launches depended on the ones before them",
      text_if(any(open), paste("; it also adds launches to", count_of(
        sum(open), "question that is not settled", "questions that are not settled"
      ))), ":"
    ), command = confirm[[1L]], further = further))
  }
  minutes <- vapply(cards, \(card) as.numeric(c(card$to_settle$minutes, NA)[[1L]]), 0)
  most <- order(!known, -left / minutes)[[1L]]
  list(
    said = if (any(known)) {
      card <- cards[[most]]
      sprintf(
        "%s not settled. The quickest gain is in \"%s\" (%s open), %s:",
        questions, plain_titles(cards)[[most]],
        if (card$tested) sprintf("%d of %d", left[[most]], card$tested) else "all",
        card$to_settle$said
      )
    } else if (any(open)) {
      paste(questions, "not settled, and more launches are not expected to settle them.")
    } else {
      "Nothing: every comparison is settled, and more launches would not change the answers."
    },
    command = if (any(known)) cards[[most]]$to_settle$command, further = further
  )
}

# The terms of cards and the map, folded.
meaning_of_words <- function() {
  fold("Meaning of the words", bullets(c(
    "Launch: one start of a program with one library. All statistics count launches.",
    "Session: the launches of one run of make study.",
    paste(
      "Settled: it is known which of two libraries is faster, or that they differ by 10 % or",
      "less. At most 5 % of the differences found for a question are expected to be wrong."
    ),
    paste(
      "\"Takes 15 to 56 % longer (at least 14 %)\": the typical difference from the fastest, by",
      "message size, and the smallest end of its 95 % intervals at these sizes."
    ),
    paste(
      "Warning \"dependent launches\": more than 5 % of the differences may be wrong. Warning",
      "\"outliers\": more than a tenth of the launches are unusually slow or fast."
    ),
    "Ping-pong: two ranks send in turns. Ping-ping: both send at the same time.",
    "Placement near: the ranks run on cores that share most. Far: on cores that share little.",
    "TCP within one host: messages through the kernel's network code, but over no network.",
    "IMB: the Intel MPI Benchmarks, another program that measures the same operation.",
    "Wheels: libraries from Python packages, not those installed on this machine."
  )))
}

# Each MPI against itself with another setting.
section_of_settings <- function(study) {
  if (nrow(study$settings)) {
    htmltools::tagList(
      htmltools::tags$h2("Effects of settings"),
      htmltools::tags$p("Each MPI against itself: the difference is the setting made by hand."),
      if (has_pages(study)) htmltools::tags$p(CARD_WORDS),
      html_cards(study$setting_cards),
      lapply(strata_tables(
        study$settings, cells_of_comparison(study$settings),
        function(title, at) "Ratio: time with the first over time with the second.",
        COMPARISON_TEXTS, c("site", "test", "mpi", "transport", "operation")
      ), function(part) fold(part$title, part$html))
    )
  }
}

# The times of cotejo against those of the Intel MPI Benchmarks.
section_of_agreement <- function(study) {
  if (nrow(study$agreement)) {
    table <- cbind(data.table::data.table(MPI = title_of(study$agreement$mpi)),
      table_comparison(study$agreement[, !"mpi"]))
    verdicts <- table(study$agreement$verdict, useNA = "ifany")
    htmltools::tagList(
      htmltools::tags$h2("Agreement with the Intel MPI Benchmarks"),
      htmltools::tags$p(sprintf(
        "The same MPI, transport, placement and size measured by both tools: %s of %d sizes.",
        paste(verdicts, names(verdicts), collapse = ", "), nrow(study$agreement)
      ), "IMB reports a mean of one run, cotejo the median of samples."),
      fold("By size", html_table(table, "First and second are tools.", "Size"))
    )
  }
}

# Launches that are unusually slow or fast, drift, serial dependence and modes.
section_of_unusual <- function(study) {
  out <- study$flags$outlying
  modes <- study$flags$modes
  htmltools::tagList(
    if (nrow(out)) {
      table <- table_outlying(out)
      fold(
        sprintf(
          "Unusually slow or fast at some size: %d of %s. They are part of the results.",
          length(unique(out$key)), count_of(nrow(study$used), "launch", "launches")
        ),
        html_table(
          table, "Launches over 1.5 times their configuration's median, or under 1/1.5 of it.",
          names(table)[-(1:2)]
        )
      )
    } else {
      htmltools::tags$p(
        "No launch is over 1.5 times its configuration's median, or under 1/1.5 of it."
      )
    },
    fold_long(table_drift(study$drift), paste(
      "Drift over the blocks of a session. Change: all times from the first block to the last",
      "(Theil's slope). p: Kendall's test. Blocks from, to: range of single blocks about their",
      "median. First block: compared with the other blocks; it is a warm-up if it is slower by",
      "more than three robust standard deviations. Each block has every configuration, so that",
      "drift cancels in comparisons within blocks."
    ), c("Blocks", "Change", "p", "Blocks from", "to", "First block")),
    if (nrow(study$serial)) {
      fold_long(table_serial(study$serial), paste(
        "Serial dependence: correlation of launches with those of the block before, after the",
        "mean of the libraries in a block is removed (one-sided p of permutations of the blocks).",
        "The tests of comparisons take blocks as independent."
      ), c("Blocks", "Series", "Lag-1 correlation", "p"))
    },
    if (nrow(modes)) {
      table <- data.table::data.table(
        MPI = title_of(modes$mpi), Operation = title_of(modes$operation),
        Transport = title_of(modes$transport), Size = format_bytes(modes$bytes), n = modes$n,
        `Dip test p` = format_p(modes$p)
      )
      fold_long(table, paste(
        "Configurations whose launches have more than one mode (Hartigan's dip test, 1 %, not",
        "corrected): one median does not say all of them."
      ), c("Size", "n", "Dip test p"))
    } else {
      htmltools::tags$p("No configuration of ten launches or more shows several modes.")
    }
  )
}
