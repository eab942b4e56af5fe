# SPDX-License-Identifier: BSD-3-Clause
# Summaries of answer cards: the fastest configurations, and how far the next are behind.

# Largest number of first tiers in a summary, those at the most sizes.
MOST_LEADERS <- 2L

#' The first tiers of cards in words, each with its sizes and the next configuration.
#'
#' All cards at once, as in [answer()].
#' @param orders what [orders_of()] returned.
#' @return a text per stratum, such as "1 B to 256 KiB: Intel MPI; the next takes 15 to 56 % longer
#'   (at least 14 %). 1 MiB: Open MPI; MPICH takes 17 % longer (at least 14 %)".
#' @noRd
say_leaders <- function(orders) {
  tables <- rbindlist(orders$configurations, idcol = "row")
  nearest <- rbindlist(orders$nearest, idcol = "row")
  orders <- orders[, c("stratum", "sizes", "within", "silent")]
  orders[, first := tables[, paste(configuration[tier %in% 1L], collapse = "|"), keyby = "row"]$V1]
  # A run: adjacent orders with one first tier.
  orders[, run := rleid(stratum, first, is.na(within))]
  tables[, run := orders$run[row]]
  nearest[, run := orders$run[row]]
  runs <- orders[, list(
    stratum = stratum[[1L]], from = min(unlist(sizes)), to = max(unlist(sizes)),
    bytes = list(unlist(sizes)), sizes = sum(lengths(sizes)), close = !anyNA(within),
    bound = max(within),
    silent = any(silent %in% TRUE)
  ), keyby = "run"]
  runs[, `:=`(range = in_range(format_bytes(from), format_bytes(to)), within = say_percent(bound))]
  said <- say_members(tables, nearest)[runs, on = "run"]
  runs[, text := paste0(range, ": ", said[, say_tiers(.SD), keyby = "run"]$V1)]
  runs[, led := said[, sum(tier %in% 1L) == 1L, keyby = "run"]$V1]
  runs[, leader := said[, say_leader(title[tier %in% 1L], close[[1L]]), keyby = "run"]$V1]
  runs[, list(text = {
    # One of them has a leader, if any has.
    most <- unique(c(if (any(led)) which.max(sizes * led), order(-sizes)))
    shown <- sort(utils::head(most, MOST_LEADERS))
    left <- setdiff(seq_along(text), shown)
    groups <- split(bytes[left], factor(leader[left], unique(leader[left])))
    if (length(groups) > MOST_LEADERS) groups <- list(`various leaders` = bytes[left])
    others <- vapply(groups, \(sizes) name_sizes(unlist(sizes)), "")
    paste(c(text[shown], sprintf("%s: %s", others, names(groups))), collapse = ". ")
  }), keyby = "stratum"]$text
}

# The configurations of runs that a summary names: the first tier, those that were not tested, and
# (as tier 2) the next after the first tier, at each size the nearest one.
say_members <- function(tables, nearest) {
  names <- nearest[, list(
    only = if (uniqueN(configuration) == 1L) configuration[[1L]] else NA_character_
  ), by = "run"]
  behind <- ranges_of(nearest, "run")[names, on = "run"]
  behind[, `:=`(tier = 2L, title = fifelse(is.na(only), "the next", title_of(only)))]
  behind[, text := say_behind_by(title, least, most, low)]
  named <- unique(tables[tier %in% 1L | is.na(tier), c("run", "tier", "configuration")])
  named[, title := title_of(configuration)]
  rbind(named, behind[, c("run", "tier", "title", "text")], fill = TRUE)
}

# Ranges of factors over sizes. Without rows, the ends are those of no range.
ranges_of <- function(factors, by) {
  factors[, list(
    least = min(ratio, Inf), most = max(ratio, 0), low = min(low, Inf), high = max(high, 0)
  ), by = by]
}

# By which factors a configuration is behind the first tier: "MPICH takes 6 to 7 times as long".
say_behind_by <- function(title, least, most, low) {
  paste(title, fifelse(
    is.na(least), "takes longer", sprintf(
      "takes %s%s", say_factors(least, most), fifelse(
        low > 1, sprintf(" (at least %s)", say_factors(low, low, " %", " times")), ""
      )
    )
  ))
}

# Tiers in words: "Open MPI and Intel MPI, within 9 %; MPICH takes 6 to 7 times as long". A row of
# `rows` is a configuration: `tier`, `title`, `text` (by how much it is behind), and what is known
# of the first tier: `close`, `within`, `silent`.
say_tiers <- function(rows) {
  paste(c(
    say_first(
      rows$title[rows$tier %in% 1L], rows$close[[1L]], rows$within[[1L]], rows$silent[[1L]]
    ),
    rows$text[which(rows$tier > 1L)],
    if (anyNA(rows$tier)) paste(in_series(rows$title[is.na(rows$tier)]), "not tested")
  ), collapse = "; ")
}

# The first tier in a few words.
say_leader <- function(titles, close) {
  if (length(titles) == 1L || isTRUE(close)) in_series(titles) else "not settled"
}

# The first tier in words: one configuration, or several that no verdict orders.
say_first <- function(titles, close, within, silent) {
  if (length(titles) < 2L) {
    return(titles)
  }
  paste0(
    if (isTRUE(close)) {
      paste0(in_series(titles), ", within ", within)
    } else {
      paste0(in_series(titles, "or"), ", not settled")
    }, if (isTRUE(silent)) " (no effect shown)"
  )
}
