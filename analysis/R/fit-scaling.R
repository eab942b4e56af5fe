# SPDX-License-Identifier: BSD-3-Clause
# Finds the algorithm of a collective: models of how its time scales with processes and size, and
# the model that fits best.

# Functions of the number of processes: steps, or parts of the message that pass a rank.
rounds <- function(p) ceiling(log2(p))
one_less <- function(p) p - 1
twice_all <- function(p) 2 * (p - 1) / p
once <- function(p) rep(1, length(p))

# Time = latency * steps(p) + bytes / bandwidth * volume(p), p processes, bytes of the complete
# message (Tinetti and Barbieri; Thakur, Rabenseifner and Gropp 2005; van de Geijn 1994).
# `ran`: the names of algorithms with such messages (message_forms.py), as a regular expression.
SCALING_MODELS <- list(
  # The root sends to each other rank in turn, or each rank passes the message on to the next: both
  # take the same time.
  `repeated sends or chain` = list(
    steps = one_less, volume = one_less, ran = "linear|chain|pipeline"
  ),
  # Each rank that has the message passes it on.
  `binomial tree` = list(steps = rounds, volume = rounds, ran = "binomial"),
  # In each round a rank that has the message sends it to three others in turn.
  `4-nomial tree` = list(
    steps = \(p) sends_of_tree(p, 4), volume = \(p) sends_of_tree(p, 4), ran = "knomial"
  ),
  # The message is scattered along a tree and collected around a ring.
  `scatter-allgather` = list(
    steps = \(p) rounds(p) + p - 1, volume = twice_all, ran = "scatter"
  ),
  # Segments travel along a chain or down a tree of ranks, each one step behind the segment before.
  # Their size is fitted. A message of one segment is a chain, or a tree.
  `pipelined chain` = list(segments = 2^(10:20), depth = one_less, ran = "chain|pipeline"),
  `pipelined tree` = list(segments = 2^(10:20), depth = rounds, ran = "binomial|binary"),
  # The network, or memory that all share, reaches every rank at once, without such messages.
  `physical broadcast` = list(steps = once, volume = once, ran = "^$")
)

# Sends on the critical path of a k-nomial tree over `p` ranks.
sends_of_tree <- function(p, k) {
  vapply(p, function(ranks) {
    sends <- 0
    while (ranks > 1) {
      # The lowest level has subtrees of k ranks; what remains is a tree over their roots.
      sends <- sends + min(k, ranks) - 1
      ranks <- ceiling(ranks / k)
    }
    sends
  }, 0)
}

SCATTER_MODELS <- list(
  `repeated sends` = list(steps = one_less, volume = one_less, ran = "linear"),
  # Half of the data goes to the first rank that distributes further, a quarter to the next.
  `binomial tree` = list(steps = rounds, volume = one_less, ran = "binomial")
)

# Models of other collectives. Bytes are those from one rank to another, in reductions all bytes.
MODELS_OF <- list(
  scatter = SCATTER_MODELS, gather = SCATTER_MODELS,
  allgather = list(
    ring = list(steps = one_less, volume = one_less, ran = "ring"),
    `recursive doubling` = list(
      steps = rounds, volume = one_less, ran = "doubling|halving|brucks?$|sparbit"
    ),
    `gather and broadcast` = list(
      steps = function(p) 2 * rounds(p), volume = function(p) p - 1 + p * rounds(p),
      ran = "linear"
    )
  ),
  alltoall = list(
    pairwise = list(steps = one_less, volume = one_less, ran = "linear|pairwise|scattered|direct"),
    # Blocks travel together, half of all blocks in each round.
    Bruck = list(steps = rounds, volume = function(p) p / 2 * rounds(p), ran = "bruck")
  ),
  allreduce = list(
    `recursive doubling` = list(
      steps = rounds, volume = rounds, ran = "recursive_(doubling|multiplying)|recexch"
    ),
    `reduce-scatter and allgather` = list(
      steps = function(p) 2 * rounds(p), volume = twice_all,
      ran = "rabenseifner|reduce_scatter|ring"
    )
  )
)

# The models of an operation; the models of a broadcast if the operation has none of its own.
models_of <- function(operation) {
  if (operation %in% names(MODELS_OF)) MODELS_OF[[operation]] else SCALING_MODELS
}

# A model is rejected if the root mean square of its relative errors exceeds this value. The errors
# are those at the fitted sizes and ranks, or at a number of ranks that was left out of the fit.
MOST_MISFIT <- 0.25

#' Fit one model of scaling by least squares of relative errors, parameters at least 0.
#'
#' @param ranks,bytes,time_s vectors: processes, size (B), time (s).
#' @param model element of `SCALING_MODELS`.
#' @return list: `latency_s` (s, per step), `bytes_per_s` (B/s; `Inf` if the size has no effect),
#'   both `NA` if the sizes cannot separate the two; `misfit` (root mean square of relative
#'   errors), `error` (the same with degrees of freedom, by which models are compared), `predict`
#'   (function of ranks and bytes that returns times, s).
#' @noRd
fit_scaling <- function(ranks, bytes, time_s, model) {
  if (is.null(model$segments)) {
    return(fit_terms(ranks, bytes, time_s, function(p, m) {
      list(steps = model$steps(p), bytes = model$volume(p) * m)
    }))
  }
  fits <- lapply(model$segments[model$segments < max(bytes)], function(segment) {
    fit_terms(ranks, bytes, time_s, parameters = 3L, function(p, m) {
      steps <- model$depth(p) - 1 + ceiling(m / segment)
      list(steps = steps, bytes = steps * pmin(m, segment))
    })
  })
  fits[[which.min(vapply(fits, `[[`, 0, "misfit"))]]
}

# Fit latency and rate to the steps and bytes that `terms` gives for ranks and message sizes.
fit_terms <- function(ranks, bytes, time_s, terms, parameters = 2L) {
  found <- terms(ranks, bytes)
  a <- found$steps / time_s
  b <- found$bytes / time_s
  aa <- sum(a * a)
  ab <- sum(a * b)
  bb <- sum(b * b)
  determinant <- aa * bb - ab^2
  apart <- determinant > 1e-9 * aa * bb
  best <- if (apart) {
    c(bb * sum(a) - ab * sum(b), aa * sum(b) - ab * sum(a)) / determinant
  } else {
    c(sum(a) / aa, 0)
  }
  # At the border of the allowed range, one of the two is 0.
  if (best[[1L]] < 0) best <- c(0, sum(b) / bb)
  if (best[[2L]] < 0) best <- c(sum(a) / aa, 0)
  misfit <- sqrt(mean((best[[1L]] * a + best[[2L]] * b - 1)^2))
  list(
    # One size cannot separate the two parameters: both stay unknown.
    latency_s = if (apart) best[[1L]] else NA_real_,
    bytes_per_s = if (apart) 1 / best[[2L]] else NA_real_,
    misfit = misfit,
    error = misfit * sqrt(length(a) / max(length(a) - parameters, 0.5)),
    predict = function(ranks, bytes) {
      needed <- terms(ranks, bytes)
      best[[1L]] * needed$steps + best[[2L]] * needed$bytes
    }
  )
}

#' The scaling model that a collective follows, and the certainty of that choice.
#'
#' All models of the operation are fitted to the medians over launches, and again to medians of
#' launches drawn with replacement. `sure` is the share of draws in which the same model fits best.
#' With three or more numbers of ranks, the best model is also fitted without the largest number
#' and predicts its times. `held_out` is the error of this prediction. A model that fails to
#' predict is rejected, whatever its share of draws. Libraries change their algorithm with the
#' size, so sizes are judged in classes: small to 4 KiB, medium to 80 KiB, large above (the classes
#' of the study `stival`).
#'
#' @param summary what [summarise_launches()] returned, of collective operations, with at least two
#'   numbers of ranks.
#' @param replicates,seed of the bootstrap.
#' @return data.table, one row per operation, site, MPI, transport, placement and class of sizes:
#'   `sizes` (class), `ranks` (text), `n` (smallest number of launches), `best`, `sure` (0 to 1),
#'   `latency_s`, `bytes_per_s`, `misfit` of the best model, `next_best`, `next_misfit`, `verdict`
#'   (text). `equal` has other models whose times at these ranks are the same as those of `best`: a
#'   4-nomial tree and repeated sends need as many steps on 4 ranks. `held_out` is the root mean
#'   square of relative errors at the largest number of ranks (`NA` with fewer than three numbers
#'   of ranks). If the summary has the column `algorithm` of counted messages, `ran` has its words,
#'   and the verdict states a contradiction to them.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' # The launches of this study timed no broadcast. Copies of them stand for 2 and 4 ranks.
#' two <- data.table::copy(summary)
#' two[, operation := "bcast"]
#' four <- data.table::copy(two)
#' four[, c("ranks", "median_s") := list(4L, 2 * median_s)]
#' which_broadcast(rbind(two, four), replicates = 20L)[, c("mpi", "sizes", "best", "sure")]
#' @export
which_broadcast <- function(summary, replicates = 400L, seed = 1L) {
  by <- c("site", "simulated", "operation", "mpi", "transport", "placement", "settings")
  need_columns(summary, c(by, "ranks", "bytes", "launch", "median_s"), "the summary")
  used <- summary[!is.na(median_s) & median_s > 0 & bytes > 0]
  used[, simulated := network_of(simulated)]
  used[, sizes := size_class(bytes)]
  # All sizes of a launch are drawn together.
  used[, block := do.call(paste, .SD), .SDcols = intersect(c("session", "launch"), names(used))]
  found <- used[, judge_scaling(
    models_of(operation), ranks, bytes, median_s, block, replicates, seed
  ), keyby = c(by, "sizes")]
  if (is.null(used[["algorithm"]])) {
    return(found)
  }
  words <- used[!is.na(algorithm), list(ran = list(unique(algorithm))), keyby = c(by, "sizes")]
  words <- words[found, on = c(by, "sizes")]$ran
  set(found, j = "ran", value = vapply(words, paste, "", collapse = "; "))
  for (i in seq_len(nrow(found))) {
    named <- c(found$best[[i]], strsplit(found$equal[[i]], "; ", fixed = TRUE)[[1L]])
    said <- contradiction(found$verdict[[i]], named, found$operation[[i]], words[[i]])
    set(found, i, "verdict", paste0(found$verdict[[i]], said))
  }
  found[]
}

# Whether counted messages contradict the models that a verdict names, in words or "".
#
# They do if all of them are of algorithms that other models of the operation stand for.
contradiction <- function(verdict, named, operation, words) {
  words <- as.character(words)
  words <- words[startsWith(words, "ran as ")]
  if (is.na(named[[1L]]) || !startsWith(verdict, named[[1L]]) || !length(words)) {
    return("")
  }
  models <- models_of(operation)
  # The words have all algorithms with these messages, and may have one that was replaced.
  words_of <- gsub("ran as( requested)?|, (not|requested) as [^,]*", "", words)
  ran <- strsplit(words_of, "[^A-Za-z0-9_]+")
  fits <- function(model) vapply(ran, \(one) any(grepl(model$ran, one[nzchar(one)])), NA)
  fitting <- vapply(models, fits, logical(length(ran)))
  dim(fitting) <- c(length(ran), length(models))
  agrees <- names(models) %in% named
  if (any(fitting[, agrees]) || !all(rowSums(fitting[, !agrees, drop = FALSE]) > 0)) {
    return("")
  }
  sprintf("; the counted messages contradict it: %s", paste(words, collapse = "; "))
}

judge_scaling <- function(models, ranks, bytes, median_s, block, replicates, seed) {
  data <- data.table(ranks, bytes, median_s, block)
  wide <- dcast(data, ranks + bytes ~ block, value.var = "median_s", fun.aggregate = stats::median)
  cells <- wide[, c("ranks", "bytes")]
  # One row per block, one column per cell.
  times <- t(as.matrix(wide[, -(1:2)]))
  counts <- unique(cells$ranks)
  out <- list(
    ranks = toString(counts), n = min(colSums(!is.na(times))), best = NA_character_, equal = "",
    sure = NA_real_, latency_s = NA_real_, bytes_per_s = NA_real_, misfit = NA_real_,
    held_out = NA_real_, next_best = NA_character_, next_misfit = NA_real_,
    verdict = "two numbers of ranks, one of them above 2, are needed to separate the models"
  )
  if (length(counts) < 2L || max(counts) < 3L) {
    return(out)
  }
  models <- Filter(function(model) {
    is.null(model$segments) || min(model$segments) < max(cells$bytes)
  }, models)
  fits <- function(times) {
    lapply(models, function(m) fit_scaling(cells$ranks, cells$bytes, times, m))
  }
  errors <- function(found) vapply(found, `[[`, 0, "error")
  found <- fits(column_medians(times))
  order <- order(errors(found))
  # Models with the same steps and bytes at these ranks have the same errors.
  is_equal <- errors(found)[order] <= min(errors(found)) * (1 + 1e-9)
  best <- found[[order[[1L]]]]
  out$best <- names(found)[[order[[1L]]]]
  out$equal <- paste(names(found)[order[is_equal][-1L]], collapse = "; ")
  if (!all(is_equal)) {
    out$next_best <- names(found)[[order[!is_equal][[1L]]]]
    out$next_misfit <- found[[out$next_best]]$misfit
  }
  out[c("latency_s", "bytes_per_s", "misfit")] <- best[c("latency_s", "bytes_per_s", "misfit")]
  out$held_out <- held_out_error(
    cells$ranks, cells$bytes, column_medians(times), models[[out$best]]
  )
  if (out$n >= MIN_LAUNCHES) {
    won <- with_seed(seed, vapply(seq_len(replicates), function(i) {
      drawn <- times[sample.int(nrow(times), replace = TRUE), , drop = FALSE]
      # A draw in which a cell is in none of the drawn blocks gives no result.
      if (any(colSums(!is.na(drawn)) == 0L)) {
        return(NA_integer_)
      }
      which.min(errors(fits(column_medians(drawn))))
    }, 0L))
    out$sure <- mean(won == order[[1L]], na.rm = TRUE)
  }
  out$verdict <- say_scaling(out)
  out
}

#' Error of a model at the largest number of ranks, which was left out of its fit.
#'
#' @param ranks,bytes,time_s vectors, as for [fit_scaling()].
#' @return root mean square of relative errors; `NA` with fewer than three numbers of ranks.
#' @noRd
held_out_error <- function(ranks, bytes, time_s, model) {
  last <- ranks == max(ranks)
  if (length(unique(ranks)) < 3L) {
    return(NA_real_)
  }
  predicted <- fit_scaling(ranks[!last], bytes[!last], time_s[!last], model)$predict(
    ranks[last], bytes[last]
  )
  sqrt(mean((predicted / time_s[last] - 1)^2))
}

say_scaling <- function(fit) {
  if (is.na(fit$sure)) {
    sprintf("too few launches: %d, at least %d", fit$n, MIN_LAUNCHES)
  } else if (isTRUE(fit$held_out > MOST_MISFIT)) {
    sprintf(
      "none of the models: the nearest, %s, misses a held-out number of ranks by %.0f %%",
      fit$best, 100 * fit$held_out
    )
  } else if (fit$misfit > MOST_MISFIT) {
    sprintf("none of the models: the nearest, %s, misses by %.0f %%", fit$best, 100 * fit$misfit)
  } else if (fit$sure >= 0.95) {
    equal <- strsplit(fit$equal, "; ", fixed = TRUE)[[1L]]
    sprintf(
      "%s (%.0f %% of draws%s)", paste(c(fit$best, equal), collapse = ", or "), 100 * fit$sure,
      if (is.na(fit$held_out)) "; not checked on a third number of ranks" else ""
    )
  } else {
    sprintf(
      "not settled between %s and %s (%.0f %% of draws)", fit$best, fit$next_best, 100 * fit$sure
    )
  }
}

#' @describeIn exhibit_by_size The algorithm of each collective that fits ranks and sizes best, and
#'   the confidence in it.
exhibit_scaling_table <- function(exhibit) {
  found <- which_broadcast(with_algorithms(exhibit$summary, results_of(exhibit)$launches))
  if (all(is.na(found$best))) await("another number of ranks, above 2")
  percent <- function(x) ifelse(is.na(x), "", sprintf("%.0f %%", 100 * x))
  shown <- data.table(
    Configuration = as.character(level_of(
      found, c(
        if (uniqueN(found$operation) > 1L) "operation", "mpi", "transport", "placement",
        "settings", if (any(nzchar(found$simulated))) "site"
      )
    )),
    Sizes = found$sizes, Ranks = found$ranks, n = found$n, `It is` = found$verdict,
    "Step (\u00b5s)" = format_us(found$latency_s, 3L),
    `Rate (MB/s)` = format_digits(found$bytes_per_s / 1e6),
    `Misses by` = percent(found$misfit), `Held-out error` = percent(found$held_out),
    `The next` = found$next_best,
    `misses by` = percent(found$next_misfit), `Counted messages` = found[["ran"]]
  )
  with_table(shown, found, caption_of_exhibit(exhibit, paste(
    "Models of latency by steps and of size by rate, fitted to ranks and sizes. Sizes: small to",
    "4 KiB, medium to 80 KiB, large above. Share of draws: bootstrap draws over launches in which",
    "the same model has the smallest error. Held-out error: error at the largest number of ranks,",
    "when the model is fitted to the other numbers."
  ), found$n))
}
