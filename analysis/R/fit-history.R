# SPDX-License-Identifier: BSD-3-Clause
# Finds the sessions at which a series changed: considers all ways to cut the series into stretches
# of one level, by exact recursions (Fearnhead 2006), with a variance for each point.
#
# A point is a session: the logarithm of the median of its launch medians, with the standard error
# computed from its launches. The additional variance between sessions is estimated from the
# differences of neighbours, which a few changes hardly affect, and added. The likelihood of a
# stretch is that of a normal level about the median of the series. All boundaries have the same
# prior probability: all series together are expected to have EXPECTED_CHANGES (see fit-changes.R).

# Standard deviation of the levels of stretches: the expected size of changes.
LEVEL_SPREAD <- 0.1

#' Log likelihoods of all stretches `i..j` of a series.
#'
#' @param x logarithms less their median.
#' @param v variances of the points.
#' @return matrix, `[i, j]`; `-Inf` where a stretch would be too short.
#' @noRd
stretch_likelihoods <- function(x, v) {
  n <- length(x)
  sums <- function(y) c(0, cumsum(y))
  w <- sums(1 / v)
  wx <- sums(x / v)
  wxx <- sums(x^2 / v)
  lv <- sums(log(v))
  out <- matrix(-Inf, n, n)
  for (i in seq_len(n)) {
    j <- i:n
    a <- w[j + 1L] - w[i]
    b <- wx[j + 1L] - wx[i]
    prior <- 1 / LEVEL_SPREAD^2
    value <- -0.5 * (lv[j + 1L] - lv[i] + wxx[j + 1L] - wxx[i] - b^2 / (a + prior) +
      log1p(a / prior))
    value[j - i + 1L < LEAST_STRETCH] <- -Inf
    out[i, j] <- value
  }
  out
}

log_sum <- function(x) {
  most <- max(x)
  if (is.finite(most)) most + log(sum(exp(x - most))) else -Inf
}

#' The posterior of the boundaries of a series.
#'
#' @param x logarithms of the points; `se` their standard errors (0 where unknown).
#' @param prior probability that a boundary is a change.
#' @return list: `change` (of each point: that a stretch begins there), `best` (points at which
#'   stretches begin in the most probable cut), `spread` (standard deviation of a point).
#' @noRd
series_posterior <- function(x, se, prior) {
  n <- length(x)
  if (n < 2L * LEAST_STRETCH) {
    return(list(change = numeric(n), best = integer(), spread = NA_real_))
  }
  spread <- spread_of_series(x)
  v <- pmax(spread^2, se^2, 1e-8)
  x <- pull_outliers(x, sqrt(v))
  like <- stretch_likelihoods(x - median(x), v)
  lp <- log(prior)
  lq <- log1p(-prior)
  # A stretch i..j has j - i boundaries without a change, and a change at its begin unless i is 1.
  step <- like + outer(seq_len(n), seq_len(n), function(i, j) pmax(j - i, 0) * lq + (i > 1L) * lp)
  forward <- c(0, rep(-Inf, n))
  best <- c(0, rep(-Inf, n))
  from <- integer(n)
  for (j in seq_len(n)) {
    all <- forward[seq_len(j)] + step[seq_len(j), j]
    forward[[j + 1L]] <- log_sum(all)
    ways <- best[seq_len(j)] + step[seq_len(j), j]
    from[[j]] <- which.max(ways)
    best[[j + 1L]] <- max(ways)
  }
  backward <- c(rep(-Inf, n), 0)
  for (i in rev(seq_len(n))) {
    backward[[i]] <- log_sum(step[i, i:n] + backward[(i:n) + 1L])
  }
  change <- exp(forward[seq_len(n)] + backward[seq_len(n)] - forward[[n + 1L]])
  change[[1L]] <- 0
  begins <- integer()
  at <- n
  while (at > 0L) {
    begins <- c(from[[at]], begins)
    at <- from[[at]] - 1L
  }
  list(change = change, best = setdiff(begins, 1L), spread = spread)
}

#' Steps of a series of sessions.
#'
#' A step is reported if two conditions hold: its probability is at least `NAMED` among all ways to
#' cut the series, and it explains the series better than a trend, serial dependence, a random walk
#' or outliers do.
#'
#' @param x logarithms of the points.
#' @param se their standard errors (0 if unknown).
#' @param prior probability that a boundary is a change.
#' @return data.table, one row per step: `at` (point at which the new level begins), `probability`
#'   (of a step within `ABOUT` points of `at`), `p` (probability that a series without this step
#'   looks like this series). The step is between the points `first` and `last` with 95 %. `ratio`,
#'   `low`, `high`: level after over level before, normal approximation.
#' @source Fearnhead (2006) for the cuts; Durbin and Koopman (2012) for the models without steps.
#' @examples
#' set.seed(1)
#' series_changes(c(rnorm(10, 0, 0.01), rnorm(10, 0.1, 0.01)))
#' @export
series_changes <- function(x, se = numeric(length(x)), prior = 0.5 / max(1, length(x) - 1)) {
  found <- series_posterior(x, se, min(0.5, prior))
  n <- length(x)
  rows <- lapply(seq_along(found$best), function(i) {
    at <- found$best[[i]]
    begin <- if (i > 1L) found$best[[i - 1L]] else 1L
    end <- if (i < length(found$best)) found$best[[i + 1L]] - 1L else n
    around <- max(2L, at - ABOUT, begin + 1L):min(n, at + ABOUT, end)
    mass <- found$change[around]
    v <- pmax(found$spread^2, se^2, 1e-8)
    level <- function(points) {
      w <- 1 / v[points]
      c(sum(w * x[points]) / sum(w), 1 / sum(w))
    }
    before <- level(begin:(at - 1L))
    after <- level(at:end)
    half <- stats::qnorm(0.975) * sqrt(before[[2L]] + after[[2L]])
    # The smallest set of points that contains 95 % of the probability.
    place <- order(mass, decreasing = TRUE)
    held <- around[place[seq_len(which(cumsum(mass[place]) >= 0.95 * sum(mass))[[1L]])]]
    data.table(
      at = at, probability = min(1, sum(mass)), first = min(held), last = max(held),
      ratio = exp(after[[1L]] - before[[1L]]), low = exp(after[[1L]] - before[[1L]] - half),
      high = exp(after[[1L]] - before[[1L]] + half)
    )
  })
  rows <- rbindlist(rows)
  if (!nrow(rows)) {
    return(rows)
  }
  rows <- rows[probability >= NAMED & abs(log(ratio)) >= log1p(LEAST_CHANGE)]
  rows[, p := vapply(at, \(step) p_of_step(x, step, setdiff(at, step)), 0)]
  rows[p * .N <= STEP_LEVEL]
}

# Properties that may change from session to session: column -> its name in words.
MAY_CHANGE <- c(
  library = "MPI library", lock_sha256 = "stack", kernel = "kernel", commit = "commit of cotejo",
  measuring = "what measures", governor = "frequency governor", cpu_model = "CPU",
  machine = "machine", compiler = "compiler", reframe = "ReFrame"
)

#' Points of all series: a row a configuration, size and session.
#'
#' @param summary what [summarise_launches()] returned: of all sessions.
#' @return data.table: the columns of a configuration, `bytes`, `session`, `started`, `n`
#'   (launches), `median_s`, `low_s`, `high_s` (95 %), `x` (its logarithm), `se`, what may change
#'   (`MAY_CHANGE`) and `series` (its number).
#' @keywords internal
series_of_sessions <- function(summary) {
  by <- c(configuration_columns(summary), "bytes")
  known <- intersect(names(MAY_CHANGE), names(summary))
  used <- summary[!is.na(median_s) & median_s > 0 & status == "ok"]
  out <- used[, {
    x <- log(median_s)
    centre <- median_interval(median_s)
    c(
      list(
        started = min(started), n = .N, median_s = median(median_s), low_s = centre$low,
        high_s = centre$high, x = median(x),
        # Standard error of a median of normal values, from their median absolute deviation.
        se = if (.N > 1L) 1.2533 * 1.4826 * median(abs(x - median(x))) / sqrt(.N) else 0
      ), lapply(.SD, function(value) toString(distinct(value)))
    )
  }, keyby = c(by, "session"), .SDcols = known]
  out[, series := .GRP, by = by]
  out[]
}

#' Changes of all series of a site's sessions, and the changes of the environment at the same time.
#'
#' @param points what [series_of_sessions()] returned.
#' @return data.table, one row per change: the columns that identify the series, `series`, the
#'   columns of [series_changes()], `session` (the first with the new level), `before` (the session
#'   before it). `causes` lists the recorded changes between these two sessions. The change is
#'   between the sessions `from` and `to`.
#' @keywords internal
history_changes <- function(points) {
  count <- points[, .N, by = "series"]
  boundaries <- sum(pmax(0L, count$N - 1L))
  prior <- EXPECTED_CHANGES / max(1, boundaries)
  what <- setdiff(names(points)[seq_len(match("session", names(points)) - 1L)], "series")
  rbindlist(lapply(split(points, by = "series"), function(series) {
    found <- series_changes(series$x, series$se, prior)
    if (!nrow(found)) {
      return(NULL)
    }
    cbind(
      series[1L, c(what, "series"), with = FALSE], found,
      session = series$session[found$at], before = series$session[found$at - 1L],
      from = series$session[found$first], to = series$session[found$last],
      causes = vapply(found$at, function(at) causes_at(series, at), "")
    )
  }))
}

causes_at <- function(series, at) {
  known <- intersect(names(MAY_CHANGE), names(series))
  differs <- vapply(known, function(name) series[[name]][at] != series[[name]][at - 1L], NA)
  toString(unname(MAY_CHANGE[known[differs %in% TRUE]]))
}
