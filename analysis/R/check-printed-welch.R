# SPDX-License-Identifier: BSD-3-Clause
# Checks printed t-tests: whether the interval contains the difference and the p follows from both.

# Launches of each configuration in the study `watter`, as stated in its text.
WATTER_N <- 50

# Check the four tables of Welch's tests of `watter`, and its two NetPIPE tables with each other.
audit_welch <- function(dir) {
  tables <- list(
    list("watter-tab-A.1", "message_bytes", "mean_llc_s", "mean_tcp_s", "s", "%s B"),
    list(
      "watter-tab-A.2", "message_bytes", "mean_llc_mbit_s", "mean_tcp_mbit_s", "Mbit/s", "%s B"
    ),
    list("watter-tab-A.3", "processes", "mean_llc", "mean_tcp", "", "%s processes"),
    list("watter-tab-A.4", "processes", "mean_llc_s", "mean_tcp_s", "s", "%s processes")
  )
  rbind(
    rbindlist(lapply(tables, function(t) do.call(audit_welch_table, c(dir, t)))),
    audit_bandwidths(dir)
  )
}

audit_welch_table <- function(dir, file, by, llc, tcp, unit, name) {
  table <- read_published(dir, file)
  names <- sprintf(name, table[[by]])
  x <- printed(table[[llc]])
  y <- printed(table[[tcp]])
  low <- printed(table$ci99_low_printed)
  high <- printed(table$ci99_high_printed)
  middle <- recompute(function(a, b) (a + b) / 2, low, high)
  difference <- recompute(`-`, x, y)
  # The middle of the interval is the difference of the means, within all four roundings.
  miss <- pmax(difference$low - middle$high, middle$low - difference$high)
  slack <- 1e-9 * abs(difference$value)
  width <- (difference$high - difference$low) + (middle$high - middle$low)
  centres <- data.table(
    file = paste0(file, ".csv"), what = paste("middle of the 99 % interval,", names),
    printed = sprintf("[%s, %s]", table$ci99_low_printed, table$ci99_high_printed),
    recomputed = difference$value, low = difference$low, high = difference$high, unit = unit,
    verdict = fcase(
      miss <= slack, "agrees", miss <= width, "last digit", rep(TRUE, length(miss)), "disagrees"
    ),
    remark = said_of_signs(difference, low, high)
  )
  rbind(centres, audit_p(file, names, table, difference$value, low$value, high$value, centres))
}

# Would the other sign of one end repair an interval?
said_of_signs <- function(difference, low, high) {
  near <- function(a, b) {
    abs((a + b) / 2 - difference$value) <= 1e-3 * abs(difference$value)
  }
  off <- abs((low$value + high$value) / 2 - difference$value) > 1e-3 * abs(difference$value)
  fcase(
    off & near(low$value, -high$value), "a minus sign of the upper end was lost",
    off & near(-low$value, high$value), "a minus sign of the lower end was lost",
    rep(TRUE, length(off)), ""
  )
}

#' Compare printed p values with the p implied by means, interval and n (Welch).
#'
#' The degrees of freedom are at least 49 and at most 98.
#'
#' @param names,centres labels of the rows; rows of the interval check, with repaired signs.
#' @return rows of verdicts.
#' @noRd
audit_p <- function(file, names, table, difference, low, high, centres) {
  mended <- grepl("minus sign", centres$remark)
  high <- fifelse(mended, -high, high)
  half <- abs(high - low) / 2
  implied <- vapply(c(WATTER_N - 1, 2 * WATTER_N - 2), function(df) {
    t <- abs(difference) * stats::qt(0.995, df) / half
    2 * stats::pt(-t, df)
  }, numeric(length(half)))
  implied <- matrix(implied, ncol = 2L)
  least <- apply(implied, 1L, min)
  most <- apply(implied, 1L, max)
  given <- table$p_value_printed
  below <- startsWith(given, "<")
  value <- as.numeric(sub("^[<=] *", "", given))
  # The ends of the interval are rounded, too: a tolerance of 10 % of p covers their rounding.
  fits <- fifelse(below, least <= value, value >= 0.9 * least & value <= 1.1 * most)
  data.table(
    file = paste0(file, ".csv"), what = paste("p from means, interval and n = 50,", names),
    printed = given, recomputed = sqrt(least * most), low = least, high = most, unit = "",
    verdict = fifelse(fits, "agrees", "disagrees"),
    remark = fifelse(mended, "with the sign put right", "49 to 98 degrees of freedom")
  )
}

# Check NetPIPE's bandwidths against its times. Both are means over launches, so that averaging
# leaves a small difference.
audit_bandwidths <- function(dir) {
  times <- read_published(dir, "watter-tab-A.1")
  rates <- read_published(dir, "watter-tab-A.2")
  both <- rates[times, on = "message_bytes", nomatch = NULL]
  size <- as.numeric(both$message_bytes)
  rbindlist(lapply(c("llc", "tcp"), function(side) {
    audit_rows(
      "watter-tab-A.2", sprintf("bandwidth from the time, %s, %s B", side, both$message_bytes),
      both[[paste0("mean_", side, "_mbit_s")]],
      recompute(function(s) 8 * size / s / 2^20, both[[paste0("mean_", side, "_s")]]),
      "Mbit/s", 0.002,
      "the mean of rates is not the rate of the mean: held to 0.2 %; 1 Mbit is 2^20"
    )
  }))
}
