# SPDX-License-Identifier: BSD-3-Clause
# Proof of the method on real launches: one configuration under five names, two of them the same,
# three with a planted slowdown. The verdicts are made from the names alone; what was planted is
# read afterwards, to keep the account.

#' Compare the names of a proof with one another, as any configurations are compared.
#'
#' @param summary what [summarise_launches()] returned of launches of the proof.
#' @param blocks numbers of the blocks to use; all by default.
#' @return as [compare_configurations()], `a` and `b` are names.
#' @noRd
compare_names <- function(summary, blocks = NULL) {
  part <- if (is.null(blocks)) summary else summary[summary$launch %in% blocks]
  setattr(part, "factors", attr(summary, "factors"))
  compare_configurations(part,
    by = "parameter_alias", ignoring = "parameters"
  )
}

#' What was planted under each name of each session: `site`, `session`, `parameter_alias`, `share`.
#' @noRd
planted_shares <- function(launches) {
  found <- regmatches(launches$environment, regexpr("COTEJO_SLOW=[0-9.]+", launches$environment))
  if (length(found) != nrow(launches)) {
    refuse("a launch of the proof does not say in its environment what was planted (COTEJO_SLOW)")
  }
  unique(data.table(
    site = launches$site, session = launches$session, parameter_alias = launches$parameter_alias,
    share = as.numeric(sub(".*=", "", found))
  ))
}

#' Verdicts with what was planted on either side.
#'
#' @return the comparisons with `share_a`, `share_b`, and `found`: of a pair with one slower side,
#'   whether that side was called slower; `wrong`: whether a side was called slower that has no
#'   more planted than the other.
#' @noRd
keep_account <- function(comparison, shares) {
  of <- function(names) shares$share[match(names, shares$parameter_alias)]
  out <- copy(comparison)[!is.na(verdict)]
  out[, `:=`(share_a = of(a), share_b = of(b))]
  out[, found := fifelse(
    share_a == share_b, NA,
    verdict == fifelse(share_a > share_b, "slower", "faster")
  )]
  out[, wrong := (verdict == "slower" & share_a <= share_b) |
    (verdict == "faster" & share_b <= share_a)]
  out[]
}

#' Both accounts of the launches of a summary: what is called different where nothing is, and what
#' is found of what was planted, which depends on how far a site's launches agree.
#' @noRd
account_for <- function(summary, shares, draws) {
  trials <- power_trials(
    summary, shares, c(5L, 7L, 10L, 15L, 20L, FULL_LAUNCHES), draws, 1L
  )
  list(
    equal = rbindlist(lapply(proof_criteria()$designs, function(n) {
      prove_equal(summary, shares, n)
    })), trials = trials, power = power_of(trials, "site"),
    power_by_mpi = power_of(trials, c("site", "mpi")), spread = spread_of(summary, shares)
  )
}

#' A against A: comparisons of the two names under which nothing was planted.
#'
#' Each session's blocks are cut into disjoint sets of a shipped design's number of launches, so
#' that no launch is in two of them; blocks that are left over go into the sets.
#'
#' @param design blocks of a set, at least; sessions with fewer have none.
#' @return data.table of comparisons with `design`, `session`, `set`, `p` (of a size alone) and
#'   `verdict`.
#' @noRd
prove_equal <- function(summary, shares, design) {
  accounts <- lapply(unique(summary$session), function(one) {
    part <- summary[summary$session == one]
    setattr(part, "factors", attr(summary, "factors"))
    names <- shares$parameter_alias[shares$session == one & shares$share == 0]
    part <- keep_rows_of(part, part$parameter_alias %in% names)
    blocks <- sort(unique(part$launch))
    if (length(blocks) < design) {
      return(NULL)
    }
    set <- (seq_along(blocks) - 1L) %% (length(blocks) %/% design)
    rbindlist(lapply(unique(set), function(i) {
      cbind(design = design, session = one, set = i, compare_names(part, blocks[set == i]))
    }))
  })
  accounts <- rbindlist(accounts)
  if (nrow(accounts)) accounts[!is.na(verdict)] else accounts
}

#' The criteria of the proof, as they were frozen.
#' @noRd
proof_criteria <- function() {
  yaml::read_yaml(system.file("proof-criteria.yaml", package = "cotejo", mustWork = TRUE))
}

keep_rows_of <- function(summary, which) keep_rows(summary, base::which(which))

#' Trials of the power: every MPI, size and session, all names against one another, on `draws`
#' random choices of blocks. A family of Holm's correction is that of the sizes, as in any study.
#'
#' @param launches numbers of launches a side to try; those beyond what a session has are left out.
#' @return accounts ([keep_account()]) with `session`, `launches` and `draw`.
#' @noRd
power_trials <- function(summary, shares, launches, draws, seed) {
  with_seed(seed, rbindlist(lapply(unique(summary$session), function(one) {
    part <- keep_rows_of(summary, summary$session == one)
    of_session <- shares[shares$session == one]
    blocks <- sort(unique(part$launch))
    rbindlist(lapply(launches[launches <= length(blocks)], function(n) {
      # All blocks can be chosen in one way only.
      count <- if (n == length(blocks)) 1L else draws
      rbindlist(lapply(seq_len(count), function(i) {
        chosen <- if (n == length(blocks)) blocks else sort(sample(blocks, n))
        account <- keep_account(compare_names(part, chosen), of_session)
        cbind(session = one, launches = n, draw = i, account)
      }))
    }))
  })))
}

#' A share with its 95 % interval after Clopper and Pearson (1934).
#' @noRd
share_of <- function(hits, trials, level = 0.95) {
  tail <- (1 - level) / 2
  list(
    hits / trials,
    ifelse(hits == 0, 0, stats::qbeta(tail, hits, trials - hits + 1)),
    ifelse(hits == trials, 1, stats::qbeta(1 - tail, hits + 1, trials - hits))
  )
}

#' A share with its 95 % interval where trials of one cluster are not independent.
#'
#' The design effect, how much more the clusters' shares vary than independent trials would, takes
#' as many trials away (Kish 1965); never does it add any.
#' @noRd
share_of_clusters <- function(hit, cluster) {
  n <- length(hit)
  rate <- mean(hit)
  sums <- data.table(hit = as.numeric(hit), cluster)[, list(off = sum(hit) - .N * rate),
    by = "cluster"
  ]
  independent <- n * rate * (1 - rate)
  k <- nrow(sums)
  effect <- if (independent > 0 && k > 1L) sum(sums$off^2) * k / (k - 1) / independent else n / k
  trials <- n / max(1, effect)
  share_of(rate * trials, trials)
}

#' Do sessions give the same verdicts? Of comparisons that were decided in both of two sessions,
#' how many agree.
#'
#' @param summary launches of several sessions.
#' @param by what is compared, `mpi`: the names of a proof are others in each session.
#' @return data.table, one row a comparison decided in two sessions: strata, `bytes`, `a`, `b`,
#'   `first`, `second` (verdicts), `agree`.
#' @noRd
prove_repetition <- function(summary, by = "mpi") {
  sessions <- sort(unique(summary$session))
  verdicts <- lapply(sessions, function(one) {
    part <- keep_rows_of(summary, summary$session == one)
    compare_configurations(part, by = by, refused = "list")
  })
  verdicts <- Filter(nrow, verdicts)
  pairs <- if (length(verdicts) > 1L) utils::combn(length(verdicts), 2L, simplify = FALSE)
  rbindlist(lapply(pairs, function(pair) {
    keys <- c(setdiff(configuration_columns(summary), by), "bytes", "a", "b")
    keys <- intersect(keys, names(verdicts[[1L]]))
    both <- merge(
      verdicts[[pair[[1L]]]][, c(keys, "verdict"), with = FALSE],
      verdicts[[pair[[2L]]]][, c(keys, "verdict"), with = FALSE],
      by = keys
    )
    setnames(both, c("verdict.x", "verdict.y"), c("first", "second"))
    both <- both[!is.na(first) & !is.na(second) & first != "undecided" & second != "undecided"]
    both[, agree := first == second]
    both[]
  }))
}
