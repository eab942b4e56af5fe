# SPDX-License-Identifier: BSD-3-Clause
# Tests the conclusions of the studies with our own launches, each by one comparison.

CLAIM_COLUMNS <- c(
  "study", "claim", "where", "says", "exhibit", "tests", "filter", "factor", "a", "b", "sizes",
  "direction", "low", "high", "circular", "note"
)
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

#' Read the register of claims.
#'
#' @param file `claims.csv`. Columns: `study`; `claim` (its name); `where` it is stated; `says`
#'   (its text); `exhibit` that it is based on; `tests` in order of preference; `filter` and
#'   `sizes` as in the rows of an exhibit; `factor` (a column, or several joined by a colon); `a`
#'   and `b`, the compared levels of `factor` (joined likewise; empty: unset); `direction` of the
#'   time of `a` (`less`, `more`, `same`); `low` and `high`, the ratio of times that the study
#'   printed (for `same`: the margin); `circular`, sites whose model was fitted to this conclusion;
#'   and `note`.
#' @return data.table, a row a claim; `filter` and `factor` are lists.
#' @examples
#' claims <- read_claims(system.file("extdata/claims.csv", package = "cotejo"))
#' claims$says
#' @export
read_claims <- function(file) {
  table <- plain_table(file, "restore the register")
  check_has(table, CLAIM_COLUMNS, file, "add it")
  odd <- which(!table$direction %in% c("less", "more", "same"))
  if (length(odd)) {
    bad_data(file, odd[[1L]] + 1L, "the direction is none", "use less, more or same")
  }
  twice <- anyDuplicated(table, by = c("study", "claim"))
  if (twice) {
    bad_data(file, twice + 1L, paste(table$claim[[twice]], "is there twice"), "name it otherwise")
  }
  as_numbers(table, c("low", "high"), file, "write a number, or nothing")
  table[, filter := list(lapply(filter, parse_members))]
  table[, factor := list(strsplit(factor, ":", fixed = TRUE))]
  table[]
}

#' Judge claims by launches.
#'
#' A claim is about one or several cells: the sizes, MPIs and transports that its filter selects.
#' In each block the ratio of the times of `a` and `b` is averaged (geometrically) over the cells.
#' These block means are compared like a single size ([compare_configurations()]). So a claim has
#' one effect, one interval and one verdict. If a claim was measured in several places (test,
#' site), the first suitable place decides. Places with enough blocks for a verdict come first.
#' Then the order is: the order of `tests`; real before emulated before simulated; the number of
#' cells and of blocks. Two states of programs and machine are two places ([choose_sessions()]).
#'
#' @param summary what [summarise_launches()] returned.
#' @param claims what [read_claims()] returned.
#' @param delta margin of equivalence for claims without a margin.
#' @param alpha level of the test.
#' @return data.table, a row a claim: `study`, `claim`, `where`, `says`, `exhibit`, `direction`,
#'   `printed_low`, `printed_high`; `ratio` with `low`, `high`, `level` (time of `a` over time of
#'   `b`); `n` (blocks, or the smaller number of launches); `cells`, `least`, `most` (ratios of the
#'   single cells); `place`, `grade` (`measured`, `emulated`, `simulated`), `verdict`,
#'   `more_launches`, `more_sessions`; `why` (other differences, missing launches and the claim's
#'   note, in words); and the list column `launched` (keys of the launches of the place).
#' @examples
#' claims <- read_claims(system.file("extdata/claims.csv", package = "cotejo"))
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' judged <- judge_claims(summary, claims)
#' judged[, c("study", "claim", "verdict", "ratio", "low", "high")]
#' @export
judge_claims <- function(summary, claims, delta = 0.03, alpha = 0.05) {
  one <- function(i) {
    claim <- as.list(claims[i])
    claim$filter <- claims$filter[[i]]
    claim$factor <- claims$factor[[i]]
    found <- judge_claim(summary, claim, delta, alpha)
    cbind(
      claims[i, c("study", "claim", "where", "says", "exhibit"), with = FALSE],
      printed_low = claim$low, printed_high = claim$high, direction = claim$direction, found
    )
  }
  judged <- over_cores(seq_len(nrow(claims)), \(part) lapply(part, one), uniqueN(summary$key))
  rbindlist(unlist(judged, recursive = FALSE), fill = TRUE)
}

judge_claim <- function(summary, claim, delta, alpha) {
  rows <- rows_of_claim(summary, claim)
  lacking <- setdiff(c("a", "b"), rows$side)
  if (length(lacking)) {
    return(no_verdict(paste("no launches with", side_in_words(claim, unlist(claim[lacking])))))
  }
  places <- places_of(rows, claim, alpha)
  if (!length(places)) {
    return(no_verdict("the two configurations were never measured in one place"))
  }
  whys <- character()
  for (here in places) {
    if (here$site[[1L]] %in% strsplit(claim$circular, " +")[[1L]]) {
      whys <- c(whys, "circular: the simulated machine was fitted to this conclusion")
      next
    }
    found <- compare_claim(here, claim, delta, alpha)
    if (is.character(found)) {
      whys <- c(whys, found)
      next
    }
    found[, place := name_of_place(here)]
    grade <- GROUNDS[[max(match(ground_of(unique(here$simulated)), GROUNDS))]]
    out <- with_verdict(found, claim, grade)
    return(out[, launched := list(list(unique(here$key)))][])
  }
  no_verdict(whys[[1L]])
}

no_verdict <- function(why) {
  data.table(
    ratio = NA_real_, low = NA_real_, high = NA_real_, level = NA_real_, n = NA_integer_,
    cells = NA_integer_, least = NA_real_, most = NA_real_, place = NA_character_,
    grade = NA_character_, verdict = "not comparable", more_launches = NA_real_,
    more_sessions = NA_real_, why = why, launched = list(character())
  )
}

side_in_words <- function(claim, levels) {
  levels[!nzchar(levels)] <- "unset"
  paste(paste(word_of_column(claim$factor), collapse = ":"), toString(levels))
}

# The usable rows for a claim, with the added columns `side` (`a` or `b`) and `state`.
rows_of_claim <- function(summary, claim) {
  tests <- strsplit(claim$tests, " +")[[1L]]
  kept <- which(
    summary$test %in% tests & summary$status == "ok" & !is.na(summary$median_s) &
      summary$median_s > 0
  )
  kept <- kept[in_sizes(summary$bytes[kept], claim$sizes)]
  kept <- kept[matches(summary[kept], claim$filter)]
  part <- keep_rows(summary, kept)
  asked <- strsplit(c(claim$a, claim$b), ":", fixed = TRUE)
  levels <- lapply(seq_along(claim$factor), function(i) {
    column <- claim$factor[[i]]
    values <- part[[column]]
    if (is.null(values)) values <- rep(NA, nrow(part))
    if (column == "bytes") {
      values <- as_size(values, vapply(asked, `[[`, "", i))
    }
    fcoalesce(as.character(values), "")
  })
  part[, side := do.call(paste, c(levels, sep = ":"))]
  part <- keep_rows(part, which(part$side %in% c(claim$a, claim$b)))
  if (!nrow(part)) {
    return(part)
  }
  part[, state := state_of(.SD)]
  # An unset level has an empty name, so that the names are replaced by `a` and `b`.
  part[, side := fifelse(side == claim$a, "a", "b")]
}

# Sizes written as in the claim: 16384 becomes "16Ki" when the claim writes "16Ki".
as_size <- function(values, asked) {
  found <- match(as.numeric(values), parse_size(asked))
  fifelse(is.na(found), as.character(values), asked[found])
}

# Columns in which cells may differ.
cell_columns <- function(rows) {
  out <- c(
    "site", "simulated", "test", "operation", "mpi", "transport", "placement", "hosts", "ranks",
    "bytes", factor_names(rows),
    grep("^(parameter|setting)_|^option_(mode|blocking)$", names(rows), value = TRUE)
  )
  intersect(unique(out), names(rows))
}

# Columns that follow from `side`: one value in all rows of `a`, another in all rows of `b`.
follows_from <- function(rows, columns = cell_columns(rows)) {
  sides <- split(rows, by = "side")
  if (length(sides) != 2L) {
    return(character())
  }
  values <- function(side, column) unique(as.character(side[[column]]))
  Filter(function(column) {
    a <- values(sides[[1L]], column)
    b <- values(sides[[2L]], column)
    length(a) == 1L && length(b) == 1L && !identical(a, b)
  }, columns)
}

# The rows of each place and state where both `a` and `b` were measured, in order of preference.
# Compared rows come from one state of programs and machine (`choose_sessions()`).
places_of <- function(rows, claim, alpha) {
  tests <- strsplit(claim$tests, " +")[[1L]]
  places <- unlist(lapply(split(rows, by = c("site", "state")), function(part) {
    # Places are split within a site. Columns that follow from `side` do not split a place.
    columns <- setdiff(c("simulated", "test"), c(claim$factor, follows_from(part)))
    if (length(columns)) split(part, by = columns) else list(part)
  }), recursive = FALSE)
  places <- Filter(function(part) uniqueN(part$side) == 2L, places)
  rank <- rbindlist(lapply(places, function(part) {
    exact <- all(startsWith(part$simulated, "simulated"))
    each <- part[, list(blocks = uniqueN(paste(session, launch))), by = "side"]$blocks
    list(
      few = !exact && min(each) < LEAST_BLOCKS,
      lesser = max(match(part$scale, LESSER_SCALES, 0L)),
      test = min(match(part$test, tests)),
      kind = max(nzchar(part$simulated) + startsWith(part$simulated, "simulated")),
      cells = -nrow(unique(part[, cell_columns(part), with = FALSE])),
      blocks = -uniqueN(paste(part$session, part$launch)),
      newest = -as.numeric(gsub("[^0-9]", "", max(part$session)))
    )
  }))
  unname(places)[do.call(order, unname(as.list(rank)))]
}

name_of_place <- function(rows) {
  words <- c(
    toString(unique(rows$test)), paste("on", toString(unique(rows$site))),
    unique(rows$simulated[nzchar(rows$simulated)])
  )
  paste(words, collapse = ", ")
}

# The mean log ratio over the cells of one place, or the reason why it cannot be computed.
compare_claim <- function(rows, claim, delta, alpha) {
  # A claim that names two operations compares the quantities that each operation times.
  timed <- if ("operation" %in% claim$factor) "quantity"
  implied <- setdiff(follows_from(rows, c(cell_columns(rows), timed)), claim$factor)
  both <- cells_with_both(rows, c(claim$factor, implied))
  if (!length(both)) {
    # Programs choose their own message sizes. Then the programs are compared across sizes.
    implied <- union(implied, "bytes")
    both <- cells_with_both(rows, c(claim$factor, implied))
  }
  if (!length(both)) {
    return("no cell has both configurations")
  }
  refused <- character()
  kept <- both[vapply(both, function(one) {
    part <- rows[cell == one]
    proof <- comparable(
      part[side == "a"], part[side == "b"], c(claim$factor, implied),
      c(paste("side", claim$a), paste("side", claim$b))
    )
    if (!isTRUE(proof)) refused <<- c(refused, proof)
    isTRUE(proof)
  }, NA)]
  if (!length(kept)) {
    return(paste("not measured alike:", refused[[1L]]))
  }
  means <- mean_over_cells(rows[cell %in% kept], LEAST_BLOCKS)
  if (uniqueN(means$launches$side) < 2L) {
    return("no launch has all of the cells")
  }
  found <- compare_configurations(means$launches, by = "side", delta = delta, alpha = alpha)
  if (all(startsWith(rows$simulated, "simulated"))) found <- as_exact(found, delta)
  found[, c("cells", "least", "most") := means$range]
  found[, why := if (length(implied)) {
    paste("also differ:", toString(word_of_column(implied)))
  } else {
    ""
  }]
  found[]
}

# Numbers the cells of `rows` in its column `cell`. Returns the cells with both `a` and `b`.
cells_with_both <- function(rows, free) {
  rows[, cell := .GRP, by = setdiff(cell_columns(rows), free)]
  rows[, list(both = uniqueN(side) == 2L), by = "cell"][both == TRUE]$cell
}

# Exact result of a simulator, whose launches are all equal: the interval is the ratio itself.
as_exact <- function(found, delta) {
  exact <- c("low", "high", "confidence", "note")
  found[, (exact) := list(ratio, ratio, NA_real_, "exact")]
  found[, verdict := judge(ratio, ratio, delta)]
}

#' Combine the cells of each launch into one size. Its time is the geometric mean over the cells
#' that nearly all launches have; launches that lack such a cell are left out. If too few launches
#' for a verdict remain, only the cells that all launches have are used.
#'
#' @param needed smallest number of blocks for a verdict.
#' @noRd
mean_over_cells <- function(rows, needed) {
  rows[, block := paste(session, launch)]
  counts <- rows[, list(blocks = uniqueN(block)), by = c("side", "cell")]
  counts <- counts[, list(blocks = if (.N == 2L) min(blocks) else 0L), by = "cell"]
  cells <- counts[blocks >= 0.8 * max(blocks)]$cell
  found <- rows[cell %in% cells, list(held = uniqueN(cell)), by = c("side", "block")]
  many <- length(cells)
  whole <- found[, list(blocks = sum(held == many)), by = "side"]$blocks
  if (min(whole) < needed) {
    cells <- counts[blocks == max(blocks)]$cell
  }
  rows <- rows[cell %in% cells]
  each <- rows[, list(log_s = mean(log(median_s))), by = c("side", "block", "session", "cell")]
  medians <- dcast(
    each[, list(log_s = stats::median(log_s)), by = c("side", "cell")],
    cell ~ side,
    value.var = "log_s"
  )
  ratios <- exp(medians$a - medians$b)
  means <- each[, list(
    median_s = exp(mean(log_s)), found = uniqueN(cell)
  ), by = c("side", "block", "session")]
  means <- means[found == length(cells)]
  # The cells were shown to be comparable. Their distinguishing columns are made equal here.
  launches <- rows[!duplicated(paste(side, block))]
  told <- intersect(c(configuration_columns(rows), names(HELD_FIXED), "library"), names(launches))
  for (column in setdiff(told, "observed_hosts")) {
    set(launches, j = column, value = launches[[column]][[1L]])
  }
  set(launches, j = "observed_hosts", value = toString(unique(launches$observed_hosts)))
  launches[, median_s := NULL]
  set(launches, j = "bytes", value = 0)
  launches <- launches[means[, c("side", "block", "median_s")], on = c("side", "block")]
  list(launches = launches, range = list(length(cells), min(ratios), max(ratios)))
}

# A single printed ratio counts as reproduced within 10 %.
PRINTED_MARGIN <- 1.1

# The position of an interval relative to the printed number: `"inside"` the printed range or
# within 10 % of a single number, `"outside"`, `"across"`, or `""` without a number.
place_of_number <- function(low, high, claim) {
  margin <- if (claim$low %in% claim$high) PRINTED_MARGIN else 1
  fcase(
    is.na(claim$low), "",
    low >= claim$low / margin & high <= claim$high * margin, "inside",
    low > claim$high * margin | high < claim$low / margin, "outside",
    default = "across"
  )
}

#' The verdict on a claim: direction first, then the printed number.
#'
#' The interval alone shows the direction, however small the difference.
#'
#' @param low,high ends of the interval of the ratio.
#' @param relevance as in [compare_configurations()].
#' @param apart whether `a` and `b` were measured in different sessions.
#' @param model whether the launches are of an emulated or simulated machine. Such launches alone
#'   contradict no measurement.
#' @return one of `CLAIM_VERDICTS`.
#' @noRd
claim_verdict <- function(low, high, claim, relevance, apart, model) {
  number <- place_of_number(low, high, claim)
  same <- claim$direction == "same"
  less <- claim$direction == "less"
  toward <- fifelse(less, high < 1, low > 1) & !same
  against <- fifelse(less, low > 1, high < 1) & !same
  range <- !claim$low %in% claim$high
  # A negligible difference does not refute a claim whose printed difference is as small.
  none <- relevance %in% "negligible" & !number %in% c("inside", "across")
  found <- fcase(
    is.na(low) | is.na(high), "not settled",
    # A difference that may come from the sessions shows nothing, neither for nor against.
    apart, "not settled",
    number == "inside" & (same | range | toward), "holds",
    same & number == "outside", "contradicted",
    same, "not settled",
    toward & number == "", "holds",
    toward & number == "outside", "holds by another amount",
    toward, "holds in direction",
    against | none, "contradicted",
    default = "not settled"
  )
  fifelse(model & found == "contradicted", "not comparable", found)
}

# A comparison with the verdict on its claim.
with_verdict <- function(found, claim, grade) {
  row <- found[1L]
  model <- grade != GROUNDS[[1L]]
  verdict <- claim_verdict(
    row$low, row$high, claim, row$relevance, by_sessions(row) || row$verdict == "not tested",
    model
  )
  against <- verdict == "not comparable"
  data.table(
    ratio = row$ratio, low = row$low, high = row$high, level = row$confidence,
    n = min(row$n_a, row$n_b), cells = row$cells, least = row$least, most = row$most,
    place = row$place, grade = grade, verdict = verdict,
    more_launches = row$more_launches, more_sessions = row$more_sessions,
    why = toString(Filter(nzchar, c(
      row$why, row$note,
      if (against) "the other way on an emulated or simulated machine, which contradicts nothing",
      claim$note
    )))
  )
}
