# SPDX-License-Identifier: BSD-3-Clause
# Turns comparisons into answer cards, one per question, for terminal, report, index and JSON.

#' The answers of a study, one card per stratum.
#'
#' @param comparison what [compare_configurations()] returned.
#' @param study what [analyse()] returned; if given, cards have warnings and commands.
#' @return list of cards, cotejo's own experiments first. A card is a list. `title`; `place`
#'   (columns that identify the stratum, by name). `orders`: the tiers of the configurations
#'   ([tiers_of()]), one element for each order that occurs at some sizes: `sizes`,
#'   `configurations` (a table), `within` (bound of the first tier, `NA`: not settled), `silent`
#'   (no effect shown), `text`. The table has `tier`, `configuration`, and after the first tier
#'   `least`, `most` (factors by which it takes longer) with the interval ends `low`, `high`.
#'   `open`: pairs that are not settled (a table). `tested`, `settled`: numbers of comparisons.
#'   `launches`: fewest and most of a configuration. `scope`. `held`: constant properties. `tails`:
#'   pairs with another order by the 99th percentile of each launch, in words. `warnings`, whose
#'   names are short; `to_settle` (`command`, `launches`, `minutes`; `NULL` if nothing is open);
#'   `confirm`, the command of another session (`NULL`: none is needed); `summary`, its first tiers
#'   in words; `lines`, the card in words.
#' @noRd
answer <- function(comparison, study = NULL) {
  if (!nrow(comparison)) {
    return(list())
  }
  strata <- strata_in(comparison)
  # All cards at once: for single cards, most of the time would go into function calls.
  rows <- copy(comparison)
  rows[, stratum := .GRP, by = strata]
  setorderv(rows, c("stratum", "bytes"))
  first <- rows[!duplicated(stratum)]
  orders <- orders_of(rows)
  open <- open_pairs(rows)
  facts <- rows[, list(
    tested = sum(!verdict %in% UNTESTED), settled = sum(verdict %in% SETTLED),
    least = min(n_a, n_b), most = max(n_a, n_b), scope = list(distinct(scope))
  ), keyby = "stratum"]
  place <- unclass(first)[c(intersect(PLACE, strata), setdiff(strata, c(PLACE, DROPPED)))]
  about <- if (!is.null(study)) about_strata(first, strata, study)
  titles <- unique_titles(first)
  by_stratum <- \(table, of = table) split(of, factor(table$stratum, first$stratum))
  texts <- function(table) if (NROW(table)) lapply(by_stratum(table), `[[`, "text")
  summaries <- say_leaders(orders)
  orders <- by_stratum(orders, lapply(seq_len(nrow(orders)), \(k) pick(orders, k)))
  open <- by_stratum(open)
  turned <- texts(turned_medians(rows))
  tails <- texts(tails_of(rows, study$by_time$p99))
  # Benchmarks of other tools after cotejo's own, and last the questions that were not tested.
  operation <- as.character(value_or(first, "operation"))
  shown <- order(
    facts$tested == 0L, startsWith(operation, "imb-"),
    place_in_report(base_operation(operation))
  )
  lapply(shown, function(i) {
    here <- lapply(place, `[[`, i)
    card <- list(
      title = titles[[i]], place = here[vapply(here, told, NA)], orders = orders[[i]],
      open = open[[i]], tested = facts$tested[[i]], settled = facts$settled[[i]],
      launches = c(facts$least[[i]], facts$most[[i]]), scope = facts$scope[[i]],
      held = about[[i]]$held, tails = tails[[i]],
      warnings = c(titled("medians in another order", turned[[i]]), about[[i]]$warnings),
      summary = summaries[[i]]
    )
    card$to_settle <- settle_command(card, about[[i]]$cells)
    if (DEPENDENT %in% names(card$warnings)) card$confirm <- about[[i]]$cells$session
    card$lines <- lines_of_card(card)
    card
  })
}

# Columns that identify a question, in this order, and columns that repeat other columns.
PLACE <- c(
  "site", "simulated", "test", "operation", "transport", "placement", "hosts", "ranks", "settings",
  "parameters"
)
DROPPED <- c("experiment", "factors", "scale")

told <- function(value) length(value) == 1L && !is.na(value) && nzchar(value)
value_or <- function(table, column) {
  if (is.null(table[[column]])) rep("", nrow(table)) else table[[column]]
}

#' The orders of the configurations of each stratum: runs of sizes with the same tiers.
#'
#' @param rows a comparison with the number of its `stratum`, ordered by it and `bytes`.
#' @return data.table, a row a stratum and run of sizes: `stratum`, `sizes` (list),
#'   `configurations` (list of tables), `nearest` (list of tables: at each size, the next after the
#'   first tier), `within`, `text`.
#' @noRd
orders_of <- function(rows) {
  used <- rows[, c(
    "stratum", "a", "b", "bytes", "verdict", "relevance", "ratio", "low", "high", "at_most"
  ), with = FALSE]
  used[, silent := startsWith(value_or(rows, "note"), NO_EFFECT)]
  tiers <- tiers_of(used)
  at <- tiers[, list(pattern = paste(configuration, tier, collapse = "|")),
    by = c("stratum", "bytes")
  ]
  at[, order := rleid(stratum, pattern)]
  tiers[at, order := i.order, on = c("stratum", "bytes")]
  used[at, order := i.order, on = c("stratum", "bytes")]
  tier_of <- function(side) {
    tiers[used, tier, on = c("stratum", "bytes", stats::setNames(side, "configuration"))]
  }
  used[, c("tier_a", "tier_b") := list(tier_of("a"), tier_of("b"))]
  members <- unique(tiers[, c("order", "tier", "configuration")])
  factors <- factors_of(used)
  members <- ranges_of(factors, c("order", "configuration"))[
    members, on = c("order", "configuration")
  ]
  setorderv(members, c("order", "tier", "least", "configuration"), na.last = TRUE)
  peers <- used[tier_a == 1L & tier_b == 1L, list(
    close = all(verdict == "within" | relevance %in% "negligible"), bound = max(0, at_most),
    silent = any(silent)
  ), keyby = "order"]
  said <- say_orders(peers[members, on = "order"])
  out <- at[, list(stratum = stratum[[1L]], sizes = list(bytes)), keyby = "order"]
  shown <- members[, c("tier", "configuration", "least", "most", "low", "high")]
  out[, configurations := split(shown, members$order)]
  nearest <- unique(factors[order(ratio)], by = c("order", "bytes"))
  out[, nearest := unname(split(
    nearest[, c("configuration", "ratio", "low", "high")], factor(nearest$order, order)
  ))]
  known <- peers[.(out$order)]
  out[, `:=`(within = fifelse(known$close, known$bound, NA_real_), silent = known$silent)]
  ends <- lapply(list(min, max), \(end) format_bytes(vapply(out$sizes, end, 0)))
  out[, text := sprintf("%s: %s", in_range(ends[[1L]], ends[[2L]]), said)]
  out[, !"order"]
}

#' Factors by which configurations of later tiers take longer than the best of the first tier, at
#' each size: `order`, `bytes`, `configuration`, `ratio`, `low`, `high`.
#' @noRd
factors_of <- function(used) {
  slow <- used[pmin(tier_a, tier_b) == 1L & tier_a != tier_b & verdict %in% DIRECTIONS]
  slow <- turned_to(slow, turn = slow$tier_a < slow$tier_b)[order(-ratio)]
  setnames(slow, "a", "configuration")
  unique(slow, by = c("order", "bytes", "configuration"))
}

#' Orders in words: "Open MPI and Intel MPI, within 9 %; MPICH takes 6 to 7 times as long".
#'
#' @param members a row a configuration of each order, with what is known of the first tier.
#' @noRd
say_orders <- function(members) {
  members[, `:=`(title = title_of(configuration), within = say_percent(bound))]
  members[, text := say_behind_by(title, least, most, low)]
  members[, list(text = say_tiers(.SD)), by = "order"]$text
}

#' Pairs of configurations that are not settled at some sizes, with the range of their intervals.
#' @noRd
open_pairs <- function(rows) {
  open <- rows[verdict == "not settled"]
  open[, apart := by_sessions(open)]
  # Without rows, the ends are those of no range.
  out <- open[, list(
    sizes = list(bytes), low = min(low, Inf), high = max(high, 0),
    more_launches = most_of_them(more_launches),
    more_sessions = most_of_them(more_sessions), apart = all(apart)
  ), by = c("stratum", "a", "b")]
  out[, text := sprintf(
    "%s and %s at %s: %s", title_of(a), title_of(b), vapply(sizes, name_sizes, ""),
    fifelse(apart, "the sessions differ", say_interval(a, low, high))
  )]
  out[]
}

# The number that settles four of five pairs.
most_of_them <- function(more) {
  more <- sort(more)
  if (length(more)) more[[ceiling(0.8 * length(more))]] else NA_real_
}

#' The differences that an interval leaves open, in words, for the first of a pair.
#' @noRd
say_interval <- function(a, low, high) {
  part <- function(bound, word) {
    fcase(
      bound >= 1, sprintf("%s times %s", format_digits(1 + bound, 2L), word),
      bound > 0, sprintf("%s %s", say_percent(bound), word),
      rep(TRUE, length(bound)), sprintf("no %s", word)
    )
  }
  sprintf(
    "%s may be anything from %s to %s", title_of(a), part(pmax(1 / low - 1, 0), "faster"),
    part(pmax(high - 1, 0), "slower")
  )
}

# The most common operations, which come first in cards, the map and the sections of a report.
MAP_FIRST <- c("pingpong", "pingping", "allreduce", "bcast", "alltoall")
place_in_report <- function(operation) {
  match(operation, MAP_FIRST, nomatch = length(MAP_FIRST) + 1L)
}

# Orders shown on a card, those with the most sizes; the JSON file contains all orders.
MOST_ORDERS <- 8L

sizes_of_orders <- function(card) lengths(lapply(card$orders, \(one) one$sizes[[1L]]))

#' A card in words.
#' @noRd
lines_of_card <- function(card) {
  sizes <- sizes_of_orders(card)
  settle <- card$to_settle
  shown <- sort(utils::head(order(-sizes), MOST_ORDERS))
  hidden <- sum(sizes[-shown])
  c(
    vapply(card$orders[shown], `[[`, "", "text"),
    if (hidden) sprintf("%s: other orders", count_of(hidden, "more size", "more sizes")),
    if (nrow(card$open)) sprintf("Not settled: %s", card$open$text),
    card$tails, say_basis(card), if (length(card$warnings)) sprintf("Warning: %s", card$warnings),
    if (!is.null(settle)) {
      paste(c(paste("To settle:", settle$said), Filter(nzchar, settle$command)), collapse = ": ")
    }
  )
}

say_basis <- function(card) {
  launches <- count_of(paste(unique(card$launches), collapse = " to "), "launch", "launches")
  sprintf(
    "%s; %d of %s settled", toString(c(paste(launches, "of each"), card$scope)), card$settled,
    count_of(card$tested, "comparison", "comparisons")
  )
}

#' The command that would settle the open pairs of a card, or at least half of them.
#'
#' @param cells what [about_strata()] found for the stratum's cells; `NULL`: unknown.
#' @noRd
settle_command <- function(card, cells) {
  open <- card$open
  # Without a forecast, only sessions that differ have an advice.
  known <- open$apart | !is.na(open$more_launches) | !is.na(open$more_sessions)
  if (!any(known) && card$tested > 0L) {
    return(NULL)
  }
  all <- if (card$tested > 0L) {
    most_of_them(open$more_launches)
  } else {
    max(1, LEAST_BLOCKS - card$launches[[1L]])
  }
  launches <- all
  if (is.infinite(all)) launches <- ceiling(stats::median(open$more_launches, na.rm = TRUE))
  said <- say_needed(launches, most_of_them(open$more_sessions), is.infinite(all))
  out <- list(said = said, command = "", launches = NA_real_, minutes = NA_real_)
  if (is.finite(launches)) out$launches <- launches
  if (is.null(cells) || is.infinite(launches)) {
    return(out)
  }
  out$command <- cells$command
  if (is.finite(launches)) {
    out$minutes <- launches * cells$block_s / 60
    out$said <- sprintf("%s (%s)", said, say_minutes(out$minutes))
    out$command <- sprintf("%s LAUNCHES=%d", cells$command, as.integer(launches))
  }
  out
}

# The launches or sessions that are needed, in words; `half`: by half of the open pairs.
say_needed <- function(launches, sessions, half) {
  if (is.infinite(launches)) {
    sprintf("more than %d launches would be needed", MOST_LAUNCHES)
  } else if (is.finite(launches)) {
    more <- count_of(launches, "more launch", "more launches")
    sprintf("about %s of each%s", more, text_if(half, " for half of them"))
  } else if (is.na(sessions)) {
    sprintf("measure both in the same blocks, or in %d sessions each", MIN_SESSIONS)
  } else {
    paste("about", count_of(sessions, "more session", "more sessions"))
  }
}

say_minutes <- function(minutes) {
  if (minutes < 1) "under 1 minute" else count_of(ceiling(minutes), "minute", "minutes")
}

#' The cards of a study in words, for a terminal.
#'
#' @param cards what [answer()] returned.
#' @param most cards that are shown.
#' @noRd
say_cards <- function(cards, most = MOST_CARDS) {
  shown <- utils::head(cards, most)
  lines <- unlist(lapply(shown, function(card) c(card$title, paste0("  ", card$lines))))
  left <- length(cards) - length(shown)
  c(lines, if (left) sprintf("%d more answers are in the report and in answers.json", left))
}

#' Cards measured by the newest session before those of older sessions.
#' @noRd
newest_first <- function(cards, used) {
  newest <- unique(used[session == max(session), list(site, test)])
  tests <- paste(newest$site, newest$test)
  new <- vapply(cards, \(card) paste(card$place$site, card$place$test) %in% tests, NA)
  cards[order(!new)]
}

# Maximum number of cards shown on a terminal.
MOST_CARDS <- 12L
