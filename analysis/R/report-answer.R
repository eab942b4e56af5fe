# SPDX-License-Identifier: BSD-3-Clause
# Turns comparisons into answer cards, one per question, for terminal, report, index and JSON.

#' The answers of a study, one card per stratum.
#'
#' @param comparison what [compare_configurations()] returned.
#' @param study what [analyse()] returned; if given, cards have warnings and commands.
#' @return list of cards, cotejo's own experiments first. A card is a list. `title`; `place`
#'   (columns that identify the stratum, by name). `orders`: the tiers of the configurations
#'   ([tiers_of()]), one element for each order that occurs at some sizes: `sizes`,
#'   `configurations` (a table), `within` (bound of the first tier, `NA`: not settled), `text`. The
#'   table has `tier`, `configuration`, and after the first tier `least`, `most` (factors by which
#'   it takes longer) with the interval ends `low`, `high`. `open`: pairs that are not settled (a
#'   table). `tested`, `settled`: numbers of comparisons. `launches`: fewest and most of a
#'   configuration. `scope`. `held`: constant properties. `tails`: pairs with another order by the
#'   99th percentile of each launch, in words. `warnings`; `to_settle` (`command`, `launches`,
#'   `minutes`; `NULL` if nothing is open); `lines`, the card in words.
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
  about <- if (is.null(study)) list() else about_strata(first, strata, study)
  titles <- unique_titles(first)
  by_stratum <- function(table) split(table, factor(table$stratum, first$stratum))
  orders <- by_stratum(orders)
  open <- by_stratum(open)
  turned <- lapply(by_stratum(turned_medians(rows)), `[[`, "text")
  tails <- lapply(by_stratum(tails_of(rows, study$by_time$p99)), `[[`, "text")
  # Benchmarks of other tools after cotejo's own, and last the questions that were not tested.
  operation <- as.character(value_or(first, "operation"))
  shown <- order(
    facts$tested == 0L, startsWith(operation, "imb-"),
    place_in_report(base_operation(operation))
  )
  lapply(shown, function(i) {
    here <- lapply(place, `[[`, i)
    card <- list(
      title = titles[[i]], place = here[vapply(here, told, NA)],
      orders = lapply(seq_len(nrow(orders[[i]])), function(k) as.list(orders[[i]][k])),
      open = open[[i]], tested = facts$tested[[i]], settled = facts$settled[[i]],
      launches = c(facts$least[[i]], facts$most[[i]]), scope = facts$scope[[i]],
      held = about$held[[i]], warnings = c(turned[[i]], about$warnings[[i]]), tails = tails[[i]]
    )
    card$to_settle <- settle_command(card, about$cells[[i]])
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
#'   `configurations` (list of tables), `within`, `text`.
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
  members <- unique(tiers[, c("order", "stratum", "tier", "configuration"), with = FALSE])
  of <- function(side) {
    members[used, tier, on = c("order", stats::setNames(side, "configuration"))]
  }
  used[, c("tier_a", "tier_b") := list(of("a"), of("b"))]
  factors <- factors_of(used)
  members[factors, c("least", "most", "low", "high") := list(i.least, i.most, i.low, i.high),
    on = c("order", "configuration")
  ]
  if (is.null(members$least)) members[, c("least", "most", "low", "high") := NA_real_]
  setorderv(members, c("order", "tier", "least", "configuration"), na.last = TRUE)
  peers <- used[tier_a == 1L & tier_b == 1L, list(
    order, close = verdict == "within" | relevance %in% "negligible", at_most,
    silent
  )]
  peers <- peers[, list(
    close = all(close), bound = max(0, at_most), silent = any(silent)
  ), keyby = "order"]
  said <- say_orders(members, peers)
  out <- at[, list(stratum = stratum[[1L]], sizes = list(bytes)), keyby = "order"]
  out[, configurations := split(members[, !c("order", "stratum")], members$order)]
  out[, within := peers[.(out$order), fifelse(close, bound, NA_real_)]]
  ends <- lapply(list(min, max), \(end) format_bytes(vapply(out$sizes, end, 0)))
  out[, text := sprintf("%s: %s", fifelse(
    ends[[1L]] == ends[[2L]], ends[[1L]], paste(ends[[1L]], "to", ends[[2L]])
  ), said)]
  out[, !"order"]
}

#' Factors by which configurations of later tiers take longer than those of the first tier.
#' @noRd
factors_of <- function(used) {
  slow <- used[pmin(tier_a, tier_b) == 1L & tier_a != tier_b & verdict %in% DIRECTIONS]
  turned <- slow$tier_a < slow$tier_b
  slow <- slow[, list(
    order, configuration = fifelse(turned, b, a), ratio = fifelse(turned, 1 / ratio, ratio),
    low = fifelse(turned, 1 / high, low), high = fifelse(turned, 1 / low, high)
  )]
  if (!nrow(slow)) {
    return(slow[, list(order, configuration, least = ratio, most = ratio, low, high)])
  }
  slow[, list(
    least = min(ratio), most = max(ratio), low = min(low), high = max(high)
  ), by = c("order", "configuration")]
}

#' Orders in words: "Open MPI and Intel MPI, within 9 %; MPICH takes 6 to 7 times as long".
#' @noRd
say_orders <- function(members, peers) {
  members <- copy(members)
  members[, title := title_of(configuration)]
  first <- members[tier == 1L, list(names = list(title), n = .N), keyby = "order"]
  first <- peers[first, on = "order"]
  first[, text := fcase(
    n == 1L, vapply(names, `[[`, "", 1L),
    close, sprintf("%s, within %s", vapply(names, in_series, ""), say_percent(bound)),
    rep(TRUE, .N), sprintf("%s, not settled", vapply(names, in_series, "", "or"))
  )]
  first[n > 1L & silent, text := paste(text, "(no effect shown)")]
  members[, text := fifelse(
    is.na(least), "takes longer", sprintf(
      "takes %s%s", say_factors(least, most), fifelse(
        low > 1, sprintf(" (at least %s)", say_factor(low)), ""
      )
    )
  )]
  later <- members[tier > 1L, list(
    later = paste0("; ", paste(title, text, collapse = "; "))
  ), keyby = "order"]
  lacking <- members[is.na(tier), list(
    lacking = sprintf("%s not tested", in_series(title))
  ), keyby = "order"]
  all <- unique(members$order)
  text <- fcoalesce(first[.(all), text], "")
  later <- fcoalesce(later[.(all), later], "")
  lacking <- fcoalesce(lacking[.(all), lacking], "")
  paste0(text, later, fifelse(nzchar(text) & nzchar(lacking), "; ", ""), lacking)
}

#' Factors of times in words: small factors as percent longer.
#' @noRd
say_factors <- function(least, most) {
  percent <- format_digits(100 * (least - 1), 2L)
  percents <- format_digits(100 * (most - 1), 2L)
  times <- format_digits(least, 2L)
  several <- format_digits(most, 2L)
  range <- function(from, to) fifelse(from == to, from, paste(from, "to", to))
  fifelse(
    most < 2, paste(range(percent, percents), "% longer"),
    paste(range(times, several), "times as long")
  )
}

say_factor <- function(low) {
  fifelse(
    low < 2, paste(format_digits(100 * (low - 1), 2L), "%"), paste(format_digits(low, 2L), "times")
  )
}

#' Pairs of configurations that are not settled at some sizes, with the range of their intervals.
#' @noRd
open_pairs <- function(rows) {
  open <- rows[verdict == "not settled"]
  open[, apart := by_sessions(open)]
  if (!nrow(open)) {
    return(data.table(
      stratum = integer(), a = character(), b = character(), sizes = list(), low = numeric(),
      high = numeric(), more_launches = numeric(), more_sessions = numeric(), apart = logical(),
      text = character()
    ))
  }
  out <- open[, list(
    sizes = list(bytes), low = min(low), high = max(high),
    more_launches = most_of_them(more_launches),
    more_sessions = most_of_them(more_sessions), apart = all(apart)
  ), by = c("stratum", "a", "b")]
  out[, text := sprintf(
    "%s and %s at %s: %s", title_of(a), title_of(b),
    vapply(sizes, function(x) {
      if (length(x) < 4L) toString(format_bytes(x)) else paste(length(x), "sizes")
    }, ""),
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

#' Pairs whose medians point the other way than their verdict, with the explanation.
#' @return data.table: `stratum`, `text`.
#' @noRd
turned_medians <- function(rows) {
  turned <- rows[against_medians(rows)]
  if (!nrow(turned)) {
    return(data.table(stratum = integer(), text = character()))
  }
  turned[, c("a", "b") := list(
    fifelse(verdict == "faster", a, b), fifelse(verdict == "faster", b, a)
  )]
  turned[, list(text = sprintf(
    paste(
      "at %s the medians of %s and %s do not have the order of the verdict. It is about the",
      "typical ratio of %s, to which all launches contribute"
    ),
    if (.N < 4L) toString(format_bytes(bytes)) else paste(.N, "sizes"), title_of(a[[1L]]),
    title_of(b[[1L]]), if (all(paired)) "two launches of a block" else "two launches"
  )), by = c("stratum", "a", "b")][, c("stratum", "text")]
}

#' Pairs that the 99th percentile of each launch orders differently than the median: the order is
#' reversed, or the configurations have medians within a bound.
#'
#' @param rows a comparison with the number of its `stratum`; `by_p99`, the same comparison by the
#'   99th percentile ([pairs_by_time()]); `NULL`: it was not made.
#' @return data.table: `stratum`, `text`.
#' @noRd
tails_of <- function(rows, by_p99) {
  none <- data.table(stratum = integer(), text = character())
  if (!NROW(by_p99)) {
    return(none)
  }
  both <- by_p99[rows, list(
    stratum, a, b, bytes, verdict, relevance, ratio, median = i.verdict, bound = i.at_most
  ), on = c(intersect(strata_in(rows), strata_in(by_p99)), "a", "b", "bytes"), nomatch = NULL]
  other <- both[verdict %in% DIRECTIONS & relevance %in% "relevant" &
    median %in% SETTLED & median != verdict]
  if (!nrow(other)) {
    return(none)
  }
  # The slower configuration first.
  other[, within := median == "within"]
  other[verdict == "faster", c("a", "b", "ratio") := list(b, a, 1 / ratio)]
  other <- other[, list(
    factor = say_factors(min(ratio), max(ratio)), bound = max(bound),
    at = if (.N < 4L) toString(format_bytes(bytes)) else paste(.N, "sizes")
  ), by = c("stratum", "a", "b", "within")]
  other[, text := sprintf(
    "By the 99th percentile of each launch, %s takes %s %s %s at %s (by the median: %s)",
    title_of(a), factor, fifelse(endsWith(factor, "longer"), "than", "as"), title_of(b), at,
    fifelse(within, paste("within", say_percent(bound)), "faster")
  )]
  other[, c("stratum", "text")]
}

# The most common operations, which come first in cards, the map and the sections of a report.
MAP_FIRST <- c("pingpong", "pingping", "allreduce", "bcast", "alltoall")
place_in_report <- function(operation) {
  match(operation, MAP_FIRST, nomatch = length(MAP_FIRST) + 1L)
}

# Orders shown on a card, those with the most sizes; the JSON file contains all orders.
MOST_ORDERS <- 5L

sizes_of_orders <- function(card) lengths(lapply(card$orders, \(one) one$sizes[[1L]]))

#' A card in words.
#' @noRd
lines_of_card <- function(card) {
  sizes <- sizes_of_orders(card)
  shown <- sort(utils::head(order(-sizes), MOST_ORDERS))
  hidden <- sum(sizes[-shown])
  c(
    vapply(card$orders[shown], `[[`, "", "text"),
    if (hidden) sprintf("%s: other orders", count_of(hidden, "more size", "more sizes")),
    if (nrow(card$open)) sprintf("Not settled: %s", card$open$text),
    card$tails, say_basis(card), if (length(card$warnings)) sprintf("Warning: %s", card$warnings),
    say_settle(card$to_settle)
  )
}

say_basis <- function(card) {
  sprintf(
    "%s of each, %s; %d of %s settled",
    count_of(paste(unique(card$launches), collapse = " to "), "launch", "launches"),
    toString(card$scope), card$settled, count_of(card$tested, "comparison", "comparisons")
  )
}

#' The measurements that would settle a question, in words.
#' @noRd
say_settle <- function(settle) {
  if (is.null(settle)) {
    return(NULL)
  }
  sprintf(
    "To settle: %s%s", settle$said, if (nzchar(settle$command)) paste(":", settle$command) else ""
  )
}

#' The command that would settle the open pairs of a card.
#'
#' @param cells what [about_strata()] found for the stratum's cells; `NULL`: unknown.
#' @noRd
settle_command <- function(card, cells) {
  # Without a forecast, only sessions that differ have an advice.
  known <- card$open$apart | !is.na(card$open$more_launches) | !is.na(card$open$more_sessions)
  if (!any(known) && card$tested > 0L) {
    return(NULL)
  }
  more <- more_of_card(card)
  if (!is.finite(more$launches)) {
    command <- if (is.null(cells) || is.infinite(more$launches)) "" else cells$command
    return(list(said = more$said, command = command, launches = NA_real_, minutes = NA_real_))
  }
  said <- sprintf(
    "about %s of each%s", count_of(more$launches, "more launch", "more launches"), more$part
  )
  if (is.null(cells)) {
    return(list(said = said, command = "", launches = more$launches, minutes = NA_real_))
  }
  minutes <- more$launches * cells$block_s / 60
  list(
    said = sprintf("%s (%s)", said, say_minutes(minutes)),
    command = sprintf("%s LAUNCHES=%d", cells$command, as.integer(more$launches)),
    launches = more$launches, minutes = minutes
  )
}

#' Number of launches that settle the open pairs of a card, or half of them; else advice in words.
#' @noRd
more_of_card <- function(card) {
  if (card$tested == 0L) {
    return(list(launches = max(1, LEAST_BLOCKS - card$launches[[1L]]), part = ""))
  }
  launches <- most_of_them(card$open$more_launches)
  sessions <- most_of_them(card$open$more_sessions)
  part <- ""
  if (is.infinite(launches)) {
    part <- " for half of them"
    launches <- ceiling(stats::median(card$open$more_launches, na.rm = TRUE))
  }
  list(launches = launches, part = part, said = if (is.infinite(launches)) {
    sprintf("more than %d launches would be needed", MOST_LAUNCHES)
  } else if (is.na(sessions)) {
    sprintf("measure both in the same blocks, or in %d sessions each", MIN_SESSIONS)
  } else {
    sprintf("about %s", count_of(sessions, "more session", "more sessions"))
  })
}

say_minutes <- function(minutes) {
  if (minutes < 1) "under 1 minute" else count_of(ceiling(minutes), "minute", "minutes")
}

#' Facts of a study about each stratum, in addition to its comparisons.
#'
#' @param first a row of each stratum.
#' @return list, each with one element per stratum: `held` (constant properties), `warnings`,
#'   `cells` (`command` that measures them again, `block_s`, seconds for one block of them).
#' @noRd
about_strata <- function(first, strata, study) {
  used <- study$used
  by <- intersect(c("site", "test", "transport", "placement", "hosts", "ranks"), strata)
  study$first <- levels_of_blocks(study$summary, union(c("site", "session"), by))[
    , first_of(level),
    by = c("session", by)
  ]
  group <- number_of(first, by)
  heads <- first[!duplicated(group)]
  found <- lapply(seq_len(nrow(heads)), function(i) {
    launches <- used[heads[i, by, with = FALSE], on = by, nomatch = NULL]
    cells <- cells_of(heads[i], launches, study$sessions)
    list(
      held = held_fixed(launches), cells = cells,
      warnings = warnings_of(heads[i, by, with = FALSE], launches, study, cells$command)
    )
  })
  # Only some operations of a stratum's launches may stand out.
  of <- match(group, group[!duplicated(group)])
  lapply(list(held = "held", warnings = "warnings", cells = "cells"), function(name) {
    lapply(found[of], `[[`, name)
  })
}

#' Warnings that concern the launches of a question.
#'
#' @param head the columns of the study that identify the launches.
#' @param command measures them again.
#' @noRd
warnings_of <- function(head, launches, study, command) {
  slow <- study$first[head, on = names(head), nomatch = NULL][warm_up & first > study$delta]
  serial <- of_sessions(study$serial, unique(launches[, c("site", "session")]))
  odd <- sum(launches$key %in% study$flags$outlying$key)
  c(
    if (nrow(slow)) {
      sprintf(
        "the first block of %s was up to %s %% slower than the other blocks",
        if (nrow(slow) == 1L) "the session" else count_of(nrow(slow), "session", "sessions"),
        format_digits(100 * max(slow$first), 2L)
      )
    },
    warn_of_serial(serial, command),
    warn_of_disturbed(study$unusable[head, on = names(head), nomatch = NULL]),
    warn_of_skipped(head, launches, study$sessions),
    if (odd > nrow(launches) / 10) {
      sprintf(
        "%d of %d launches are outliers (section \"Unusual launches and drift\")",
        odd, nrow(launches)
      )
    }
  )
}

# Blocks that a study replaced, since the machine disturbed them.
warn_of_disturbed <- function(unusable) {
  replaced <- unusable[startsWith(reason, "disturbed: ")]
  if (nrow(replaced)) {
    share <- max(as.numeric(sub(".* up to ([0-9]+) %.*", "\\1", replaced$reason)))
    count <- uniqueN(replaced[, list(session, sub(".*[.]", "", id))])
    sprintf(
      "%s measured again, because the machine took up to %.0f %% of the cores of a launch",
      count_of(count, "block was", "blocks were"), share
    )
  }
}

#' Configurations of a question that a site cannot measure, a text for each reason.
#' @noRd
warn_of_skipped <- function(head, launches, sessions) {
  skipped <- unique(rbindlist(sessions$skipped[sessions$site == head$site]))
  place <- gsub("([^A-Za-z0-9_])", "\\\\\\1", paste0(".", head$transport, ".", head$placement))
  name <- sprintf("^%s\\.(.+)%s(\\..*)?$", head$test, place)
  if (nrow(skipped)) skipped <- skipped[grepl(name, cell) & !cell %in% cell_of(launches$id)]
  if (nrow(skipped)) {
    skipped[, title := trimws(paste(
      title_of(sub(name, "\\1", cell)), gsub(".", " ", sub(name, "\\2", cell), fixed = TRUE)
    ))]
    skipped[, list(text = sprintf(
      "%s not measured: %s", if (.N == 1L) {
        paste(title, "was")
      } else {
        paste(.N, "configurations were")
      }, reason
    )), by = "reason"]$text
  }
}

#' The cells of a question: the command that measures them again, and the duration of a block.
#' @noRd
cells_of <- function(head, launches, sessions) {
  if (!nrow(launches)) {
    return(NULL)
  }
  has <- vapply(sessions$cells, function(cells) any(startsWith(cells, paste0(head$test, "."))), NA)
  last <- utils::tail(sessions[has], 1L)
  each <- launches[, list(wall_s = mean(wall_s, na.rm = TRUE)), by = list(cell = cell_of(id))]
  list(
    command = paste0(
      if (head$site != "local") sprintf("COTEJO_SITE=%s ", head$site), "make study",
      if (nrow(last)) sprintf(" TAG=%s", last$tag),
      sprintf(" CELLS='^%s\\..*\\.%s\\.%s'", head$test, head$transport, head$placement),
      if (nrow(last) && nzchar(last$sizes)) sprintf(" SIZES=%s", last$sizes)
    ),
    block_s = sum(each$wall_s + OVERHEAD_S)
  )
}

# Time of a launch outside the program (s): ReFrame and the harness.
OVERHEAD_S <- 1

#' Properties that were the same for all launches of a study, in words.
#' @noRd
held_fixed <- function(used) {
  one <- function(column) {
    values <- setdiff(distinct(used[[column]]), "unknown")
    if (length(values) == 1L) toString(unique(strsplit(values, "|", fixed = TRUE)[[1L]]))
  }
  facts <- c(
    host = one("observed_hosts"), `processors of the ranks` = one("observed_cpus"),
    CPU = one("cpu_model"), kernel = one("kernel"), `frequency governor` = one("governor"),
    timer = one("timer"), `thread level` = one("thread_level"), compiler = one("compiler"),
    `number of ranks` = one("ranks"), `number of hosts` = one("hosts")
  )
  toString(paste(names(facts), facts))
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

# Explains the words of a card; stands above the first card of each page.
CARD_WORDS <- paste(
  "Each answer lists the libraries in tiers: the first is the fastest, or those that are not",
  "ordered. \"Within 9 %\" means that their times differ by no more. \"Takes 6 to 7 times as",
  "long\" is the range over message sizes of the typical ratio of two launches of the same block.",
  "\"At least\" names the nearer end of its interval. It may differ from the ratio of the medians."
)

# Maximum number of cards shown on a terminal.
MOST_CARDS <- 12L

#' A card as HTML.
#' @noRd
html_card <- function(card, heading = htmltools::tags$h3) {
  htmltools::div(
    class = "found",
    heading(card$title), bullets(card$lines)
  )
}

#' Cards as HTML: the first cards, and the others folded.
#' @noRd
html_cards <- function(cards, heading = htmltools::tags$h3) {
  answers <- lapply(cards, html_card, heading = heading)
  further <- utils::tail(answers, -MOST_ANSWERS)
  list(utils::head(answers, MOST_ANSWERS), if (length(further)) {
    fold(count_of(length(further), "further case", "further cases"), further)
  })
}

# Number of answers that a section shows unfolded.
MOST_ANSWERS <- 4L
