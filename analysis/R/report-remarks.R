# SPDX-License-Identifier: BSD-3-Clause
# The remarks on an answer: what its verdicts do not show, warnings about its launches, their
# constant properties, and the command that measures them again.

#' Pairs whose medians point the other way than their verdict, with the explanation.
#' @return data.table: `stratum`, `text`; `NULL` without any.
#' @noRd
turned_medians <- function(rows) {
  turned <- rows[against_medians(rows)]
  if (nrow(turned)) {
    turned_to(turned, turn = turned$verdict == "slower")[, list(text = sprintf(
      paste(
        "at %s the medians of %s and %s do not have the order of the verdict. It is about the",
        "typical ratio of %s, to which all launches contribute"
      ), name_sizes(bytes), title_of(.BY$a), title_of(.BY$b),
      if (all(paired)) "two launches of a block" else "two launches"
    )), by = c("stratum", "a", "b")]
  }
}

#' Pairs that the 99th percentile of each launch orders differently than the median: the order is
#' reversed, or the configurations have medians within a bound.
#'
#' @param rows a comparison with the number of its `stratum`; `by_p99`, the same comparison by the
#'   99th percentile ([pairs_by_time()]); `NULL`: it was not made.
#' @return data.table: `stratum`, `text`; `NULL` without a comparison.
#' @noRd
tails_of <- function(rows, by_p99) {
  if (!NROW(by_p99)) {
    return(NULL)
  }
  both <- by_p99[rows, list(
    stratum, a, b, bytes, verdict, relevance, ratio, median = i.verdict, bound = i.at_most
  ), on = c(intersect(strata_in(rows), strata_in(by_p99)), "a", "b", "bytes"), nomatch = NULL]
  other <- both[verdict %in% DIRECTIONS & relevance %in% "relevant" &
    median %in% SETTLED & median != verdict]
  # The slower configuration first.
  other[, within := median == "within"]
  other[verdict == "faster", c("a", "b", "ratio") := list(b, a, 1 / ratio)]
  other <- other[, list(
    factor = say_factors(min(ratio, Inf), max(ratio, 0)), bound = max(bound, 0),
    at = name_sizes(bytes)
  ), by = c("stratum", "a", "b", "within")]
  other[, text := sprintf(
    "By the 99th percentile of each launch, %s takes %s %s %s at %s (by the median: %s)",
    title_of(a), factor, fifelse(endsWith(factor, "longer"), "than", "as"), title_of(b), at,
    fifelse(within, paste("within", say_percent(bound)), "faster")
  )]
  other[]
}

#' Facts of a study about each stratum, in addition to its comparisons.
#'
#' @param first a row of each stratum.
#' @return list, one element per stratum: `held` (constant properties), `warnings`, `cells`
#'   (`command` that measures them again, `block_s`, seconds for one block of them).
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
  found[match(group, unique(group))]
}

# The title of a warning that launches depend on those before them.
DEPENDENT <- "dependent launches"

#' Warnings that concern the launches of a question; their names say each in a few words.
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
      titled("slow first block", sprintf(
        "the first block of %s was up to %s %% slower than the other blocks",
        if (nrow(slow) == 1L) "the session" else count_of(nrow(slow), "session", "sessions"),
        format_digits(100 * max(slow$first), 2L)
      ))
    },
    titled(DEPENDENT, warn_of_serial(serial, command)),
    titled(
      "replaced blocks", warn_of_disturbed(study$unusable[head, on = names(head), nomatch = NULL])
    ),
    titled("not all measured", warn_of_skipped(head, launches, study$sessions)),
    if (odd > nrow(launches) / 10) {
      titled("outliers", sprintf(
        "%d of %d launches are outliers (section \"Unusual launches and drift\")",
        odd, nrow(launches)
      ))
    }
  )
}

# Warnings under a title.
titled <- function(title, texts) {
  if (length(texts)) stats::setNames(texts, rep(title, length(texts)))
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
    skipped[, title := paste0(
      title_of(sub(name, "\\1", cell)), gsub(".", " ", sub(name, "\\2", cell), fixed = TRUE)
    )]
    skipped[, list(text = sprintf(
      "%s not measured: %s", if (.N == 1L) {
        paste(title, "was")
      } else {
        paste(.N, "configurations were")
      }, reason
    )), by = "reason"]$text
  }
}

#' The cells of a question: the command that measures them again, the command of their session
#' (`session`), and the duration of a block.
#' @noRd
cells_of <- function(head, launches, sessions) {
  if (!nrow(launches)) {
    return(NULL)
  }
  has <- vapply(sessions$cells, function(cells) any(startsWith(cells, paste0(head$test, "."))), NA)
  last <- utils::tail(sessions[has], 1L)
  each <- launches[, list(wall_s = mean(wall_s, na.rm = TRUE)), by = list(cell = cell_of(id))]
  study <- function(cells) {
    paste0(
      if (head$site != "local") sprintf("COTEJO_SITE=%s ", head$site), "make study",
      if (nrow(last) && !nzchar(last$program)) sprintf(" TAG=%s", last$tag), cells,
      if (nrow(last) && nzchar(last$sizes)) sprintf(" SIZES=%s", last$sizes),
      if (nrow(last) && nzchar(last$set)) paste0(" SET=", shQuote(last$set, "sh")),
      if (nrow(last) && nzchar(last$program)) sprintf(" PROGRAM=%s", last$program)
    )
  }
  list(
    command = study(
      sprintf(" CELLS='^%s\\..*\\.%s\\.%s'", head$test, head$transport, head$placement)
    ), session = study(""),
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
