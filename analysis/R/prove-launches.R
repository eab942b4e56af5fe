# SPDX-License-Identifier: BSD-3-Clause
# Proof of the method on real launches: one configuration under several names, some with an
# injected slowdown. The verdicts use only the names, by the same function as in every report. The
# slowdowns are read afterwards, to count correct verdicts.

# The criteria of the proof, as they were frozen.
proof_criteria <- function() {
  yaml::read_yaml(system.file("proof-criteria.yaml", package = "cotejo", mustWork = TRUE))
}

# Whether a session is newer than the criteria (the name of a session is its start time).
after_criteria <- function(session, frozen = proof_criteria()$frozen) {
  utc <- function(text, format) as.POSIXct(text, format = format, tz = "UTC")
  utc(session, "%Y%m%dT%H%M%SZ") >= utc(frozen, "%Y-%m-%dT%H:%M:%SZ")
}

# COTEJO_SLOW without a slowdown.
NO_PLANT <- "0"

# The injected slowdown under each name of each test: `site`, `session`, `test`,
# `parameter_alias`, `plant` (text of COTEJO_SLOW), `share` (of the time; `NA`: a slowdown of
# another kind).
planted_names <- function(launches) {
  found <- regmatches(launches$environment, regexpr("COTEJO_SLOW=[^ ,;]+", launches$environment))
  if (length(found) != nrow(launches)) {
    refuse("a launch of the proof does not record its injected slowdown in COTEJO_SLOW")
  }
  out <- unique(data.table(
    site = launches$site, session = launches$session, test = launches$test,
    parameter_alias = launches$parameter_alias, plant = sub(".*=", "", found)
  ))
  share <- suppressWarnings(as.numeric(out$plant))
  out[, share := share]
  out[, plant := fifelse(is.na(share), plant, format(share, trim = TRUE, drop0trailing = TRUE))]
  out[share %in% 0, plant := NO_PLANT]
  setorderv(out, c("site", "session", "test", "parameter_alias"))
  out[]
}

#' Disjoint sets of consecutive blocks, like studies with so many launches.
#'
#' @return list of block numbers; remaining blocks are in no set.
#' @noRd
sets_of_blocks <- function(blocks, n) {
  blocks <- sort(unique(blocks))
  sets <- length(blocks) %/% n
  split(blocks[seq_len(sets * n)], rep(seq_len(sets), each = n))
}

#' Comparisons of pairs of names on disjoint sets of blocks.
#'
#' @param names what [planted_names()] returned.
#' @param n blocks of a set.
#' @param pairs function of the names of a test: list of pairs of names.
#' @param prepare function that is applied to the launches of a set before they are compared.
#' @return data.table of comparisons with `plant_a`, `plant_b`, `design`, `set` and `cluster`:
#'   comparisons of the same launches have the same `cluster`.
#' @noRd
compare_sets <- function(summary, names, n, pairs, prepare = identity) {
  tests <- unique(names[, c("site", "session", "test")])
  of_name <- number_of(names, base::names(tests))
  jobs <- unlist(lapply(seq_len(nrow(tests)), function(i) {
    here <- which(summary$site == tests$site[[i]] & summary$session == tests$session[[i]] &
      summary$test == tests$test[[i]])
    sets <- sets_of_blocks(summary$launch[here], n)
    set <- rep.int(seq_along(sets), lengths(sets))[match(summary$launch[here], unlist(sets))]
    rows <- split(here, paste(set, summary$parameter_alias[here]))
    wanted <- pairs(names[of_name == i])
    unlist(lapply(seq_along(sets), function(set) {
      lapply(wanted, function(pair) {
        list(
          test = i, set = set,
          rows = as.integer(sort(unlist(rows[paste(set, pair)], use.names = FALSE)))
        )
      })
    }), recursive = FALSE)
  }), recursive = FALSE)
  if (!length(jobs)) {
    return(data.table())
  }
  # All jobs at once, distinguished by the number of the job.
  rows <- lapply(jobs, `[[`, "rows")
  if (identical(prepare, identity)) {
    # One copy of the launches, not two.
    together <- keep_rows(summary, unlist(rows))
    set(together, j = "job", value = rep.int(seq_along(rows), lengths(rows)))
  } else {
    together <- rbindlist(lapply(rows, \(at) prepare(keep_rows(summary, at))), idcol = "job")
  }
  out <- compare_configurations(
    together, by = "parameter_alias", ignoring = "parameters", also = "job",
    forecast = FALSE
  )
  if (!nrow(out)) {
    return(out)
  }
  of_job <- vapply(jobs, `[[`, 0L, "test")[out$job]
  plant <- function(alias) {
    names$plant[match(paste(of_job, alias), paste(of_name, names$parameter_alias))]
  }
  out[, `:=`(
    session = tests$session[of_job], design = n, set = vapply(jobs, `[[`, 0L, "set")[job],
    plant_a = plant(a), plant_b = plant(b)
  )]
  out[, cluster := paste(session, test, mpi, a, b, set)]
  out[, job := NULL]
  out[verdict != "not tested"]
}

# Disjoint pairs of names without a slowdown.
equal_pairs <- function(names) {
  equal <- names$parameter_alias[names$plant == NO_PLANT]
  lapply(seq_len(length(equal) %/% 2L), function(i) equal[2L * i - 1:0])
}

# Pairs of each name with one of the given slowdowns and each name without a slowdown.
pairs_with <- function(wanted) {
  function(names) {
    equal <- names$parameter_alias[names$plant == NO_PLANT]
    other <- names$parameter_alias[names$plant %in% wanted]
    unlist(lapply(other, function(x) lapply(equal, function(y) c(x, y))), recursive = FALSE)
  }
}

# Families of comparisons in which nothing differs, and whether any size of a family was called
# different.
alarms_of <- function(comparisons) {
  if (!nrow(comparisons)) {
    return(comparisons)
  }
  keys <- setdiff(names(comparisons)[seq_len(match("b", names(comparisons)))], "bytes")
  comparisons[, list(alarm = any(verdict %in% c("faster", "slower"))),
    by = c(keys, "session", "design", "set", "cluster")
  ]
}

# Launches without a random part of them, drawn for each library and set: simulates lost launches.
lose_launches <- function(share, seed = 1L) {
  function(summary) {
    keys <- unique(summary, by = "key")[, c("key", "id")]
    lost <- with_seed(
      seed + sum(utf8ToInt(paste(sort(keys$id, method = "radix"), collapse = ""))) %% 10000L,
      sample(keys$key, round(share * nrow(keys)))
    )
    keep_rows(summary, which(!summary$key %in% lost))
  }
}

#' Families in which nothing differs, each judged where a study would stop: at the first number of
#' blocks for which the widest interval is narrow enough, both with and without the last block.
#'
#' @param until half the width of the interval of a ratio.
#' @return as [alarms_of()], with `stopped`, blocks.
#' @noRd
stop_families <- function(summary, names, n, until) {
  curves <- unlist(lapply(split(names, by = c("site", "session", "test")), function(of_test) {
    here <- which(summary$site == of_test$site[[1L]] & summary$session == of_test$session[[1L]] &
      summary$test == of_test$test[[1L]])
    sets <- sets_of_blocks(summary$launch[here], n)
    unlist(lapply(equal_pairs(of_test), function(pair) {
      part <- summary[here][parameter_alias %in% pair & launch %in% unlist(sets)]
      part[, block := as.character(launch)]
      lapply(split(part, by = c("mpi", "operation")), function(rows) {
        d <- differences_of_pair(rows, "parameter_alias", pair)
        lapply(sets, function(set) {
          list(
            d = d[rownames(d) %in% set, , drop = FALSE],
            cluster = paste(rows$session[[1L]], rows$test[[1L]], rows$mpi[[1L]], toString(pair))
          )
        })
      })
    }), recursive = FALSE)
  }), recursive = FALSE)
  curves <- unlist(curves, recursive = FALSE)
  out <- over_cores(curves, function(part) {
    blocks <- lapply(part, `[[`, "d")
    at <- stops_at(blocks, function(found) {
      max(expm1((found$high - found$low) / 2)) <= until
    })
    stopped <- Map(function(d, n) d[seq_len(n), , drop = FALSE], blocks, at)
    found <- paired_curves(stopped)
    rbindlist(lapply(seq_along(part), function(i) {
      list(
        cluster = part[[i]]$cluster, stopped = at[[i]], design = n,
        alarm = any(found[[i]]$q <= ALPHA)
      )
    }))
  }, 10L * length(curves))
  rbindlist(out)
}

#' The number of blocks at which each study stops: its interval is narrow enough with and without
#' its last block. All blocks if this never happens.
#'
#' @param studies list of log ratios, as for [paired_curves()].
#' @param narrow function of a curve.
#' @noRd
stops_at <- function(studies, narrow) {
  at <- vapply(studies, nrow, 0L)
  before <- logical(length(studies))
  open <- which(at >= STOP_FROM)
  n <- STOP_FROM
  while (length(open)) {
    first <- lapply(studies[open], function(d) d[seq_len(n), , drop = FALSE])
    curves <- paired_curves(first)
    now <- vapply(curves, narrow, NA)
    stop <- now & before[open]
    at[open[stop]] <- n
    before[open] <- now
    n <- n + 1L
    open <- open[!stop & at[open] >= n]
  }
  at
}

# A share with its 95 % interval after Clopper and Pearson (1934).
share_of <- function(hits, trials, level = 0.95) {
  tail <- (1 - level) / 2
  list(
    hits / trials,
    ifelse(hits == 0, 0, stats::qbeta(tail, hits, trials - hits + 1)),
    ifelse(hits == trials, 1, stats::qbeta(1 - tail, hits + 1, trials - hits))
  )
}

# A share with its 95 % interval where trials of one cluster are not independent.
#
# The design effect is the variance of the clusters' shares relative to independent trials. It
# divides the number of trials (Kish 1965), and never increases it.
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

#' Repeatability of verdicts: the share of comparisons decided in both of two sessions that agree.
#'
#' @param summary launches of several sessions.
#' @param by column that is compared, `mpi`: the names of a proof differ between sessions.
#' @return data.table, one row per comparison decided in two sessions: strata, `bytes`, `a`, `b`,
#'   `first`, `second` (verdicts), `agree`.
#' @noRd
prove_repetition <- function(summary, by = "mpi") {
  sessions <- sort(unique(summary$session))
  verdicts <- lapply(sessions, function(one) {
    part <- keep_rows(summary, which(summary$session == one))
    compare_configurations(part, by = by, refused = "list", forecast = FALSE)
  })
  verdicts <- Filter(nrow, verdicts)
  pairs <- if (length(verdicts) > 1L) utils::combn(length(verdicts), 2L, simplify = FALSE)
  rbindlist(lapply(pairs, function(pair) {
    both <- compare_verdicts(verdicts[[pair[[1L]]]], verdicts[[pair[[2L]]]])
    both[first %in% SETTLED & second %in% SETTLED][, agree := first == second]
  }))
}
