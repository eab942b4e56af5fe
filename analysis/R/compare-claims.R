# SPDX-License-Identifier: BSD-3-Clause
# Tests the conclusions of the studies with our own launches, each by one comparison.

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
#' @return `judge_claims()`: data.table, a row a claim: `study`, `claim`, `where`, `says`,
#'   `exhibit`, `direction`, `printed_low`, `printed_high`; `ratio` with `low`, `high`, `level`
#'   (time of `a` over time of `b`); `n` (blocks, or the smaller number of launches); `cells`,
#'   `least`, `most` (ratios of the single cells); `place`, `grade` (`measured`, `emulated`,
#'   `simulated`), `verdict`, `more_launches`, `more_sessions`; `why` (other differences, missing
#'   launches and the claim's note, in words); and the list column `launched` (keys of the launches
#'   of the place).
#' @examples
#' claims <- read_claims(system.file("extdata/claims.csv", package = "cotejo"))
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' judged <- judge_claims(summary, claims)
#' judged[, c("study", "claim", "verdict", "ratio", "low", "high")]
#' plot_claims(judged)
#' reproduce_claims(judged, judged)
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
    levels <- unlist(claim[lacking])
    return(no_verdict(paste(
      "no launches with", paste(word_of_column(claim$factor), collapse = ":"),
      toString(fifelse(nzchar(levels), levels, "unset"))
    )))
  }
  places <- places_of(rows, claim)
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
    return(with_verdict(found, claim, here))
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
    values <- fcoalesce(as.character(value_or_na(part, column)), "")
    if (column != "bytes") {
      return(values)
    }
    # Sizes as the claim writes them: 16384 becomes "16Ki" where the claim has "16Ki".
    sizes <- vapply(asked, `[[`, "", i)
    fcoalesce(sizes[match(as.numeric(values), parse_size(sizes))], values)
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
  Filter(function(column) {
    found <- unique(data.table(side = rows$side, value = as.character(rows[[column]])))
    nrow(found) == 2L && uniqueN(found$side) == 2L && uniqueN(found$value) == 2L
  }, intersect(columns, names(rows)))
}

# The rows of each place and state where both `a` and `b` were measured, in order of preference.
# Compared rows come from one state of programs and machine (`choose_sessions()`).
places_of <- function(rows, claim) {
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
  means <- mean_over_cells(rows[cell %in% kept])
  if (uniqueN(means$launches$side) < 2L) {
    return("no launch has all of the cells")
  }
  found <- compare_configurations(means$launches, by = "side", delta = delta, alpha = alpha)
  # A simulator is exact, and all of its launches are equal: the interval is the ratio itself.
  if (all(startsWith(rows$simulated, "simulated"))) {
    found[, c("low", "high", "confidence", "note") := list(ratio, ratio, NA_real_, "exact")]
    found[, verdict := judge(ratio, ratio, delta)]
  }
  also <- if (length(implied)) paste("also differ:", toString(word_of_column(implied))) else ""
  found[, c("cells", "least", "most", "why") := c(means$range, also)][]
}

# Numbers the cells of `rows` in its column `cell`. Returns the cells with both `a` and `b`.
cells_with_both <- function(rows, free) {
  rows[, cell := .GRP, by = setdiff(cell_columns(rows), free)]
  rows[, list(both = uniqueN(side) == 2L), by = "cell"][both == TRUE]$cell
}

#' Combine the cells of each launch into one size. Its time is the geometric mean over the cells
#' that nearly all launches have; launches that lack such a cell are left out. If too few launches
#' for a verdict remain, only the cells that all launches have are used.
#' @noRd
mean_over_cells <- function(rows) {
  rows[, block := paste(session, launch)]
  counts <- rows[, list(blocks = uniqueN(block)), by = c("side", "cell")]
  counts <- counts[, list(blocks = if (.N == 2L) min(blocks) else 0L), by = "cell"]
  cells <- counts[blocks >= 0.8 * max(blocks)]$cell
  held <- rows[cell %in% cells, list(held = uniqueN(cell)), by = c("side", "block")]
  if (min(held[, list(blocks = sum(held == length(cells))), by = "side"]$blocks) < LEAST_BLOCKS) {
    cells <- counts[blocks == max(blocks)]$cell
  }
  rows <- rows[cell %in% cells]
  each <- rows[, list(log_s = mean(log(median_s))), by = c("side", "block", "session", "cell")]
  medians <- dcast(each, cell ~ side, value.var = "log_s", fun.aggregate = median)
  ratios <- exp(medians$a - medians$b)
  means <- each[, list(
    median_s = exp(mean(log_s)), found = uniqueN(cell)
  ), by = c("side", "block", "session")]
  means <- means[found == length(cells)]
  # The cells were shown to be comparable. Their distinguishing columns are made equal here.
  launches <- rows[!duplicated(paste(side, block))]
  told <- intersect(c(configuration_columns(rows), names(HELD_FIXED), "library"), names(launches))
  hosts <- toString(unique(launches$observed_hosts))
  set(launches, j = told, value = lapply(unclass(launches)[told], `[[`, 1L))
  set(launches, j = c("observed_hosts", "bytes"), value = list(hosts, 0))
  launches[, median_s := NULL]
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

# A comparison with the verdict on its claim, from the launches of a place.
with_verdict <- function(found, claim, here) {
  row <- found[1L]
  grade <- GROUNDS[[max(match(ground_of(unique(here$simulated)), GROUNDS))]]
  judged <- claim_verdict(
    row$low, row$high, claim, row$relevance, by_sessions(row) || row$verdict == UNTESTED,
    grade != GROUNDS[[1L]]
  )
  against <- judged == "not comparable"
  row[, list(
    ratio, low, high, level = confidence, n = min(n_a, n_b), cells, least, most,
    place = toString(Filter(nzchar, c(
      unique(here$test), paste("on", toString(unique(here$site))), unique(here$simulated)
    ))), grade = grade, verdict = judged, more_launches, more_sessions,
    why = toString(Filter(nzchar, c(
      why, note,
      if (against) "the other way on an emulated or simulated machine, which contradicts nothing",
      claim$note
    ))), launched = list(unique(here$key))
  )]
}
