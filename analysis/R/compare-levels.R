# SPDX-License-Identifier: BSD-3-Clause
# Launches within sessions, and within node sets: an effect that differs from one to the next is
# known no better than they agree, however many launches each of them has.

#' The ratio of two sides over sessions: launches within sessions, sessions from a population.
#'
#' Each session gives the mean log ratio of the blocks that both sides have (of its sides, where
#' there are none) and its standard error. The effect of a session is normal about the common one;
#' the spread between sessions is the moment estimate of DerSimonian and Laird (1986), the interval
#' of the common effect that of Hartung and Knapp (2001), with Student's t of one degree less than
#' there are sessions: two sessions say little, and the interval says so.
#'
#' @param a,b data.tables with `unit`, `block` and `median_s` (s) of the two sides.
#' @param level of the interval.
#' @param unit `session`, or `node_set`: the nodes that an allocation gave (`node_set_of()`).
#' @return list: `sessions` (those with two launches a side or more), `ratio`, `low`, `high`,
#'   `error` (standard error of the log ratio), `df`, `spread` (standard deviation between
#'   sessions, relative), `between` (its variance, of log ratios); `NA` for one session.
#' @keywords internal
ratio_over_sessions <- function(a, b, level = 0.95, unit = "session") {
  out <- ratio_of_one_session()
  effects <- rbindlist(lapply(intersect(a[[unit]], b[[unit]]), function(one) {
    log_ratio_within(a[a[[unit]] %in% one], b[b[[unit]] %in% one])
  }))
  if (nrow(effects)) effects <- effects[is.finite(error) & error > 0]
  k <- nrow(effects)
  out$sessions <- k
  if (k < 2L) {
    return(out)
  }
  weight <- 1 / effects$error^2
  q <- sum(weight * (effects$effect - stats::weighted.mean(effects$effect, weight))^2)
  between <- max(0, (q - (k - 1)) / (sum(weight) - sum(weight^2) / sum(weight)))
  weight <- 1 / (effects$error^2 + between)
  common <- stats::weighted.mean(effects$effect, weight)
  # Never narrower than if the sessions agreed by luck.
  scale <- max(1, sum(weight * (effects$effect - common)^2) / (k - 1))
  out$error <- sqrt(scale / sum(weight))
  out$df <- k - 1
  reach <- stats::qt((1 + level) / 2, out$df) * out$error
  out$ratio <- exp(common)
  out$low <- exp(common - reach)
  out$high <- exp(common + reach)
  out$spread <- expm1(sqrt(between))
  out$between <- between
  out
}

#' The set of nodes of launches, whatever the order of their ranks on them: `a|b|a` is "a b".
#' @noRd
node_set_of <- function(observed_hosts) {
  known <- unique(observed_hosts)
  sets <- vapply(strsplit(known, "|", fixed = TRUE), function(hosts) {
    paste(sort(unique(hosts[nzchar(hosts)]), method = "radix"), collapse = " ")
  }, "")
  sets[is.na(known)] <- ""
  sets[match(observed_hosts, known)]
}

# One session says nothing of another.
ratio_of_one_session <- function() {
  list(
    sessions = 0L, ratio = NA_real_, low = NA_real_, high = NA_real_, error = NA_real_,
    df = NA_real_, spread = NA_real_, between = NA_real_
  )
}

log_ratio_within <- function(a, b) {
  common <- intersect(a$block, b$block)
  if (length(common)) {
    # A column of the caller's table may have any name.
    of <- function(table) {
      as.vector(tapply(log(table$median_s), table$block, mean)[as.character(common)])
    }
    d <- of(a) - of(b)
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
