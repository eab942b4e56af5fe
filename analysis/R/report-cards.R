# SPDX-License-Identifier: BSD-3-Clause
# Answer cards of figures of merit, in their units and in words on figures instead of times.

#' The answers of comparisons that may contain figures of merit, see [answer()].
#'
#' [answer()] takes all figures as times. Cards of figures of merit get the unit and its better
#' direction in their title. If the figure is no time, "worse" replaces "takes longer".
#' @noRd
answer_merits <- function(comparison, study = NULL) {
  lapply(answer(comparison, study), function(card) {
    unit <- card$place$figure_unit
    if (is.null(unit)) {
      return(card)
    }
    card$title <- toString(c(
      card$title, if (unit != "1") paste("in", sub("^us$", "\u00b5s", unit)),
      paste(card$place$figure_better, "is better")
    ))
    reword <- function(texts) {
      # Figures without a size have the size 0.
      texts <- gsub("^0 B: | at 0 B(?=: )|at 0 B (?=the )", "", texts, perl = TRUE)
      if (unit %in% names(MERIT_TIMES)) texts else reword_merits(texts)
    }
    card$lines <- reword(card$lines)
    card$summary <- reword(card$summary)
    card$orders <- lapply(card$orders, function(one) {
      one$text <- reword(one$text)
      one
    })
    card
  })
}

# Words on times as words on other figures: "is 6 % worse" instead of "takes 6 % longer".
reword_merits <- function(texts) {
  texts <- gsub("takes ([0-9. to]+) % longer", "is \\1 % worse", texts)
  texts <- gsub("takes ([0-9. to]+) times as long", "is \\1 times worse", texts)
  texts <- gsub("takes longer", "is worse", texts, fixed = TRUE)
  texts <- gsub("(%|times|no) faster", "\\1 better", texts)
  gsub("(%|times|no) slower", "\\1 worse", texts)
}

# Explains the words of `answer_merits()` on figures that are no times.
MERIT_CARD_WORDS <- paste(
  "\"6 % worse\" means that the larger of the two figures is 6 % above the other.",
  "\"3 times worse\" means that it is 3 times the other."
)
