# SPDX-License-Identifier: BSD-3-Clause
# Sessions and node sets as levels of a comparison. If an effect differs among sessions, its
# uncertainty cannot be smaller than their disagreement, however many launches each session has.

#' The ratio of two configurations over sessions, as a random-effects model.
#'
#' Each session gives a mean log ratio over its common blocks and its standard error. Without
#' common blocks, the two groups of launches are used. The effects of sessions are normally
#' distributed around a common effect. The spread between sessions is the moment estimate of
#' DerSimonian and Laird (1986). The interval of the common effect is that of Hartung and Knapp
#' (2001): Student's t with one degree of freedom less than there are sessions. With two sessions
#' it is wide.
#'
#' @param a,b columns of the two configurations: `unit`, `block` and `median_s` (s).
#' @param unit `session`, or `node_set`: the nodes that an allocation gave (`node_set_of()`).
#' @return list: `sessions` (sessions with at least two launches of each configuration); `ratio`,
#'   `low`, `high` (95 %); `error` (standard error of the log ratio); `df`; `spread` (standard
#'   deviation between sessions, relative); `between` (its variance, of log ratios). `NA` for one
#'   session.
#' @keywords internal
ratio_over_sessions <- function(a, b, unit = "session") {
  # Lists of columns: tables would take most of the time of all comparisons.
  found <- lapply(intersect(a[[unit]], b[[unit]]), function(one) {
    log_ratio_within(pick(a, a[[unit]] %in% one), pick(b, b[[unit]] %in% one))
  })
  found <- Filter(\(one) length(one) && is.finite(one$error) && one$error > 0, found)
  k <- length(found)
  if (k < 2L) {
    return(c(list(sessions = k), RATIO_OF_ONE))
  }
  effect <- vapply(found, `[[`, 0, "effect")
  error <- vapply(found, `[[`, 0, "error")
  weight <- 1 / error^2
  q <- sum(weight * (effect - stats::weighted.mean(effect, weight))^2)
  between <- max(0, (q - (k - 1)) / (sum(weight) - sum(weight^2) / sum(weight)))
  weight <- 1 / (error^2 + between)
  common <- stats::weighted.mean(effect, weight)
  # Sessions that agree by chance do not make the interval narrower.
  scale <- max(1, sum(weight * (effect - common)^2) / (k - 1))
  error <- sqrt(scale / sum(weight))
  reach <- stats::qt(0.975, k - 1) * error
  list(
    sessions = k, ratio = exp(common), low = exp(common - reach), high = exp(common + reach),
    error = error, df = k - 1, spread = expm1(sqrt(between)), between = between
  )
}

# The result for one session, which shows nothing about other sessions.
RATIO_OF_ONE <- list(
  ratio = NA_real_, low = NA_real_, high = NA_real_, error = NA_real_, df = NA_real_,
  spread = NA_real_, between = NA_real_
)

# The numbers of sessions and node sets of a comparison, and the ratios over them.
sessions_of <- function(a, b, sizes, blocks) {
  of_launches <- function(a, b) {
    all <- unique(c(a$session, b$session))
    sets <- known_sets(a, b)
    over <- if (length(all) > 1L) ratio_over_sessions(a, b) else RATIO_OF_ONE
    on <- if (length(sets) > 1L) ratio_over_sessions(a, b, unit = "node_set") else RATIO_OF_ONE
    list(
      sessions = length(all), nodes = length(sets), session_ratio = over$ratio,
      session_error = over$error, session_df = over$df, session_spread = over$spread,
      nodes_ratio = on$ratio, nodes_error = on$error, nodes_df = on$df,
      spread_over = max(a$hosts, 1L),
      sessions_differ = !length(intersect(a$session, b$session))
    )
  }
  if (uniqueN(c(a$session, b$session)) == 1L && length(known_sets(a, b)) < 2L) {
    return(lapply(of_launches(a, b), rep, length(sizes)))
  }
  columns <- c("bytes", "block", "session", "node_set", "hosts", "median_s")
  kept <- lapply(list(a, b), function(side) {
    pick(side[columns], !length(blocks) | side$block %in% blocks)
  })
  as.list(rbindlist(lapply(sizes, function(size) {
    sides <- lapply(kept, \(side) pick(side, side$bytes == size))
    of_launches(sides[[1L]], sides[[2L]])
  })))
}

# Rows of a list of columns.
pick <- function(columns, which) lapply(columns, `[`, which)

known_sets <- function(a, b) Filter(nzchar, unique(c(a$node_set, b$node_set)))

# The set of nodes of launches, without the order of their ranks: `a|b|a` is "a b".
node_set_of <- function(observed_hosts) {
  known <- unique(observed_hosts)
  sets <- vapply(strsplit(known, "|", fixed = TRUE), function(hosts) {
    paste(sort(unique(hosts[nzchar(hosts)]), method = "radix"), collapse = " ")
  }, "")
  sets[is.na(known)] <- ""
  sets[match(observed_hosts, known)]
}

# The mean log ratio within one session or node set, and its standard error; `NULL` if there are
# too few launches.
log_ratio_within <- function(a, b) {
  common <- intersect(a$block, b$block)
  if (length(common)) {
    d <- block_means(a, common) - block_means(b, common)
    return(if (length(d) > 1L) list(effect = mean(d), error = stats::sd(d) / sqrt(length(d))))
  }
  x <- log(a$median_s)
  y <- log(b$median_s)
  if (length(x) < 2L || length(y) < 2L) {
    return(NULL)
  }
  list(
    effect = mean(x) - mean(y),
    error = sqrt(stats::var(x) / length(x) + stats::var(y) / length(y))
  )
}

# Mean log times of blocks. Usually a block has one launch of a configuration.
block_means <- function(side, blocks) {
  logs <- log(side$median_s)
  if (!anyDuplicated(side$block)) {
    return(logs[match(blocks, side$block)])
  }
  as.vector(tapply(logs, side$block, mean)[as.character(blocks)])
}
