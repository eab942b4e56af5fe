# SPDX-License-Identifier: BSD-3-Clause
# Checks statements in the texts of the studies against the numbers of their own tables.

# Check `watter`'s text: gains against table A.1, resolution of the clock, level of a test.
audit_watter_text <- function(dir) {
  text <- read_published(dir, "watter-text-figures")
  said <- function(start) text[startsWith(text$measure, start)]
  table <- read_published(dir, "watter-tab-A.1")
  bytes <- as.numeric(table$message_bytes)
  # Relative to TCP's time. Relative to LLC's time it is more, and still below the text's value.
  gain <- recompute(gain_over, table$mean_llc_s, table$mean_tcp_s)
  of_llc <- 100 * (as.numeric(table$mean_tcp_s) / as.numeric(table$mean_llc_s) - 1)
  extreme <- function(rows, which) {
    at <- rows[which(gain$value[rows])]
    list(value = gain$value[at], low = gain$low[at], high = gain$high[at])
  }
  small <- which(bytes <= 13)
  large <- which(bytes >= 1500)
  ends <- c("least", "greatest")
  bounds <- c(which.min, which.max)
  row_of <- function(name, rows, remark) {
    given <- said(name)
    rbindlist(lapply(1:2, function(i) {
      audit_rows(
        "watter-text-figures", sprintf("%s, from table A.1", given$measure[[i]]),
        given$value[[i]], extreme(rows, bounds[[i]]), "%", 0, remark
      )[, c("at", "at_page") := list(given$where[[i]], given$page[[i]])]
    }))
  }
  rises <- gain$value[bytes == 16] - gain$value[bytes == 1]
  level <- said("level to which")
  rbind(
    row_of("gain of LLC over TCP, NetPIPE, up to 13 B", small, sprintf(
      "of TCP's time; of LLC's it is %s to %s %%", format_digits(min(of_llc[small])),
      format_digits(max(of_llc[small]))
    )),
    row_of("gain of LLC over TCP, NetPIPE, large", large, "sizes from 1536 B on"),
    data.table(
      file = "watter-text-figures.csv", what = "gain of LLC from 1 to 16 B, from table A.1",
      printed = "falls with the size", recomputed = rises, low = rises, high = rises,
      unit = "points", verdict = if (rises > 0) "disagrees" else "agrees",
      remark = "it rises up to 16 B, and falls then", at = "conclusion", at_page = ""
    ),
    audit_rows(
      "watter-text-figures", "level of the test, from its 99 % interval", level$value,
      list(value = 1, low = 1, high = 1), "%"
    )[, c("at", "at_page") := list(level$where, level$page)],
    audit_whole_units(dir), audit_fft_unit(dir)
  )
}

# Check the unit of a figure against the wire time of one of the FFT's three transpositions.
audit_fft_unit <- function(dir) {
  table <- read_published(dir, "watter-tab-A.3")
  of_two <- table[table$processes == 2]
  # A quarter of 2^20 points of 16 B goes each way, over 100 Mbit/s.
  least <- 1e6 * 2^20 * 16 / 4 / (100e6 / 8)
  data.table(
    file = "watter-tab-A.3.csv", what = "unit of the FFT's time, 2 processes: one transposition",
    printed = paste(of_two$mean_tcp, "us"), recomputed = least, low = least, high = Inf,
    unit = "us", verdict = if (as.numeric(of_two$mean_tcp) < least) "disagrees" else "agrees",
    remark = "at least so long on the wire of 100 Mbit/s: milliseconds are meant",
    at = "figure 5.10", at_page = ""
  )
}

# Check that means of 50 launches are multiples of 1/50: then the clock had no finer unit.
audit_whole_units <- function(dir) {
  table <- read_published(dir, "watter-tab-A.4")
  means <- c(table$mean_llc_s, table$mean_tcp_s)
  sums <- WATTER_N * as.numeric(means)
  whole <- abs(sums - round(sums)) < 1e-6
  # Every second mean with two decimals would be a multiple of 1/50 by chance.
  chance <- 0.5^length(means)
  data.table(
    file = "watter-tab-A.4.csv", what = sprintf(
      "resolution of the radix sort's clock: %d of %d means times %d are full seconds",
      sum(whole), length(whole), WATTER_N
    ),
    printed = paste(range(as.numeric(means)), collapse = " .. "), recomputed = 1, low = 1,
    high = 1, unit = "s", verdict = if (all(whole)) "disagrees" else "agrees",
    remark = sprintf(
      "timed in full seconds (by chance %s): \"no difference\" is the reading of such a clock",
      format_digits(chance)
    ), at = "table A.4", at_page = "74"
  )
}

# Check `stival`'s text: the size of a bandwidth, and the time of an operation of DAXPY.
audit_stival_text <- function(dir) {
  text <- read_published(dir, "stival-text-figures")
  said <- function(name) printed(text$value[text$measure == name])
  operation <- recompute(`/`, said("local overlap 72 kB, no progress thread, hidden"), said(
    "local overlap 72 kB, no progress thread, hidden operations"
  ))
  hidden <- said("local overlap 72 kB, progress thread, hidden operations")
  size <- text$value[text$measure == "size of the largest bandwidth, C3SL pair"]
  rows <- rbind(
    audit_rows(
      "stival-text-figures", "time of 420,000 operations, from that of 90,000",
      text$value[text$measure == "local overlap 72 kB, progress thread, hidden"],
      list(
        value = operation$value * hidden$value, low = operation$low * hidden$low,
        high = operation$high * hidden$high
      ), "ms", 0.05, "both are of one computation, on the same machine"
    ),
    audit_rows(
      "stival-text-figures", "size at which the largest bandwidth was reached: sizes end at 1 MB",
      size, list(value = 1, low = 0, high = 1), "MB", 0, "a unit or two digits too many"
    )
  )
  rows[, c("at", "at_page") := list(c("section 4.2.3.5", "section 4.2.3.2"), "")]
  rows
}
