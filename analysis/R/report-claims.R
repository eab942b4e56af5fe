# SPDX-License-Identifier: BSD-3-Clause
# The conclusions of the studies, for readers: a table and a figure.

#' @param judged what [judge_claims()] returned.
#' @return `plot_claims()`: a ggplot of all claims, the ratio here with its interval beside the
#'   printed one. Claims without a ratio have a line without a point.
#' @rdname judge_claims
#' @export
plot_claims <- function(judged) {
  rows <- copy(judged)
  rows[, name := factor(paste(study, claim), levels = rev(paste(study, claim)))]
  rows[, printed := sqrt(printed_low * printed_high)]
  rows[, verdict := factor(verdict, levels = CLAIM_VERDICTS)]
  plot <- ggplot2::ggplot(rows, ggplot2::aes(y = name)) +
    ggplot2::geom_vline(xintercept = 1, colour = "grey60") +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = low, xmax = high, colour = verdict),
      data = rows[!is.na(low)], orientation = "y"
    ) +
    ggplot2::geom_point(ggplot2::aes(x = ratio, colour = verdict), data = rows[!is.na(ratio)]) +
    ggplot2::geom_point(ggplot2::aes(x = printed), data = rows[!is.na(printed)], shape = 5) +
    ggplot2::facet_grid(study ~ ., scales = "free_y", space = "free_y", drop = FALSE) +
    ggplot2::scale_y_discrete(labels = function(names) sub("^\\S+ ", "", names)) +
    ggplot2::scale_x_log10() +
    ggplot2::labs(
      x = "ratio of the two times that the conclusion compares (diamond: printed)", y = NULL,
      colour = NULL
    ) +
    theme_cotejo()
  with_data(plot, claims_table(judged))
}

# Verdicts on claims, with their meanings for readers.
CLAIM_MEANINGS <- c(
  holds = paste(
    "the interval of the ratio shows the printed direction and lies within the printed range, or",
    "within 10 % of a single printed number"
  ),
  `holds in direction` = "the interval shows the direction and only overlaps the printed range",
  `holds by another amount` = "the interval shows the direction and excludes the printed range",
  contradicted = paste(
    "the interval shows the other direction on a real machine, or a difference below the margin",
    "in place of a larger one"
  ),
  `not settled` = "the interval allows both, or a difference may come from the sessions",
  `not comparable` = paste(
    "no launches make the comparison, or only an emulated or simulated machine shows the opposite"
  )
)
CLAIM_VERDICTS <- names(CLAIM_MEANINGS)
# Verdicts that confirm the direction of a claim, but not its number.
HOLD_IN_DIRECTION <- c("holds in direction", "holds by another amount")

# The judgement on the conclusions of a study, in a sentence; `NULL` for a study without any.
say_claims <- function(judged) {
  if (!nrow(judged)) {
    return(NULL)
  }
  there <- intersect(names(SAID_OF_CLAIMS), judged$verdict)
  said <- vapply(there, function(verdict) {
    several <- sum(judged$verdict == verdict) > 1L
    paste(fact_of_claims(judged, verdict), SAID_OF_CLAIMS[[verdict]][[1L + several]])
  }, "")
  sprintf(
    "The paper judges %s %s of this study: %s.", fact_of_claims(judged),
    if (nrow(judged) == 1L) "conclusion" else "conclusions", in_series(said)
  )
}

# The verbs of each verdict, after one conclusion and after several conclusions.
SAID_OF_CLAIMS <- list(
  holds = c("holds", "hold"), `holds in direction` = c("holds in direction", "hold in direction"),
  `holds by another amount` = c("holds by another amount", "hold by another amount"),
  contradicted = c("is contradicted", "are contradicted"),
  `not settled` = c("is not settled", "are not settled"),
  `not comparable` = c("cannot be judged", "cannot be judged")
)

# The meanings of the verdicts of some claims, in words.
say_meanings <- function(judged) {
  there <- intersect(CLAIM_VERDICTS, judged$verdict)
  paste0(there, ": ", CLAIM_MEANINGS[there], ".", recycle0 = TRUE)
}

# The numbers of claims by verdict and by the grade of their launches.
table_of_grades <- function(judged) {
  grade <- factor(fcoalesce(judged$grade, "no launches"), c(GROUNDS, "no launches"))
  counts <- table(factor(judged$verdict, CLAIM_VERDICTS), grade)
  data.table(Verdict = CLAIM_VERDICTS, as.data.table(unclass(counts)))
}

is_or_are <- function(number) if (number == 1L) "is" else "are"

#' The number of conclusions of the studies with a verdict.
#'
#' @param claims what [judge_claims()] returned, of all studies or of one study.
#' @noRd
fact_of_claims <- function(claims, wanted = NULL) {
  one <- unique(claims$study)
  rows <- paste(c(
    if (length(one) == 1L) paste("Study", one),
    if (length(wanted)) paste("Verdict", in_series(wanted, "or"))
  ), collapse = " and ")
  tests <- unique(unlist(strsplit(claims$tests, " +")))
  fact(
    if (length(wanted)) sum(claims$verdict %in% wanted) else nrow(claims), "claims",
    if (nzchar(rows)) paste("rows with", rows) else "all rows",
    if (length(one) == 1L && length(tests)) {
      sprintf("make study CELLS='^(%s)'", paste(utils::head(tests, 4L), collapse = "|"))
    } else {
      "make paper DATA=reference"
    }
  )
}
