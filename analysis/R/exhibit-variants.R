# SPDX-License-Identifier: BSD-3-Clause
# Compares variants of one program with the study's original, and reports every slower variant.

#' @describeIn exhibit_by_size Time of each variant divided by that of the reference, both from the
#'   same launches. A variant measured with several message sizes counts with one size: the size
#'   that is fastest in the other launches. `x` is the column of the problem size.
exhibit_variants_table <- function(exhibit, x = NULL, reference = NULL) {
  reference <- argument(exhibit, "reference")
  size <- argument(exhibit, "x")
  table <- variant_ratios(exhibit$summary, reference, size)
  panel <- c("mpi", "transport", "ranks")
  panel <- c(panel, size, unexplained(table, c(panel, "operation"), size))
  set(table, j = "panel", value = level_of(table, panel))
  set(table, j = "variant", value = level_of(table, "operation"))
  setorderv(table, c("panel", "variant"))
  shown <- table[, list(
    Configuration = as.character(panel), Variant = as.character(variant), n,
    "Time over the original's" = format_interval(ratio, low, high), Verdict = verdict
  )]
  slower <- table[verdict == "slower"]
  said <- if (nrow(slower)) {
    named <- toString(unique(as.character(slower$variant)))
    sprintf("Slower than the original by more than noise: %s.", named)
  } else {
    "None is slower than the original by more than noise."
  }
  with_table(shown, tidy_data(table), caption_of_exhibit(exhibit, c(
    "Median over launches, with its 95 % interval; both times are of one launch.", said
  ), table$n))
}

#' @param summary launch summaries with the columns `operation` and `size`.
#' @return data.table, one row per configuration, operation (except the reference) and size: `n`,
#'   `ratio`, `low`, `high`, and `verdict`: `slower`, `faster`, `no difference shown`, or empty for
#'   fewer than five launches.
#' @noRd
variant_ratios <- function(summary, reference, size) {
  need_columns(summary, size, "the launches of this program")
  columns <- c(configuration_columns(summary), intersect("factors", names(summary)))
  times <- summary[!is.na(median_s), chosen_by_others(.SD), by = columns]
  base <- times[operation == reference]
  if (!nrow(base)) await("launches of ", as.character(in_words("operation", reference)))
  same <- setdiff(c("key", columns), "operation")
  paired <- base[, c(same, "time_s"), with = FALSE][
    times[operation != reference], on = same, nomatch = NULL
  ]
  if (!nrow(paired)) await("another variant in the same launches")
  ratios <- paired[, {
    c(list(n = .N), ratio_interval(i.time_s, time_s, TRUE)[c("ratio", "low", "high")])
  }, by = columns]
  ratios[, verdict := fcase(
    is.na(low), "", low > 1, "slower", high < 1, "faster",
    rep(TRUE, .N), "no difference shown"
  )]
  ratios[]
}

# The time of each launch with the message size that is fastest in the other launches. The smallest
# of a launch's own times would be biased: more sizes give more chances of a small time.
chosen_by_others <- function(part) {
  part <- part[, list(median_s = stats::median(median_s)), keyby = c("key", "bytes")]
  launch <- rleidv(part, "key")
  times <- matrix(NA_real_, max(launch), uniqueN(part$bytes))
  times[cbind(launch, match(part$bytes, sort(unique(part$bytes))))] <- part$median_s
  time_s <- vapply(seq_len(nrow(times)), function(i) {
    others <- if (nrow(times) > 1L) times[-i, , drop = FALSE] else times
    times[i, order(column_medians(others))[[1L]]]
  }, 0)
  list(key = unique(part$key), time_s = time_s)
}
