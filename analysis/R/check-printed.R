# SPDX-License-Identifier: BSD-3-Clause
# Checks the studies' printed numbers against values recomputed from their other numbers.

#' Recompute the studies' printed numbers from one another.
#'
#' Checks gains, differences, overheads (g - C'), message sizes and the p of Welch's test that its
#' printed interval implies. Also checks bandwidths that follow from times, and the algorithm that
#' a broadcast's bandwidth implies. A printed number may lie anywhere within its rounding, so that
#' a recomputed value is a range. Verdicts:
#'
#' * `agrees`: the ranges meet (or, where the study's own averaging must leave a trace, within the
#'   tolerance that `remark` names);
#' * `last digit`: the range is less than two units of the last digit from the printed number;
#' * `disagrees`: the range is further away;
#' * `unreadable`: the number cannot be read in print.
#'
#' @param dir folder of the printed numbers, `data/published`.
#' @return data.table: `study`, `where`, `page`, `what`, `printed` (text), `recomputed`, `low`,
#'   `high`, `unit`, `verdict`, `remark`.
#' @keywords internal
audit_published <- function(dir) {
  checks <- list(
    audit_overheads(dir), audit_netpipe(dir), audit_fft(dir), audit_phase(dir),
    audit_fft_gains(dir), audit_welch(dir), audit_mpiperf(dir), audit_finisterrae(dir),
    audit_tinetti(dir), audit_watter_text(dir), audit_stival_text(dir)
  )
  found <- rbindlist(checks, fill = TRUE)
  sources <- read_published(dir, "sources")
  found <- sources[, c("file", "study", "where", "page")][found, on = "file"]
  found[is.na(remark), remark := ""]
  # Each number in the text has its own place.
  found[!is.na(at), c("where", "page") := list(at, at_page)]
  found[, c("at", "at_page") := NULL]
  found[, file := NULL]
  found[]
}

# Overheads as defined in the study: the gap minus the computation that it hides.
audit_overheads <- function(dir) {
  rows <- function(file, total, result, what) {
    table <- read_published(dir, file)
    table <- table[nzchar(hidden_computation_ms)]
    audit_rows(
      file, sprintf("%s, %s", what, table$configuration), table[[result]],
      recompute(`-`, table[[total]], table$hidden_computation_ms), "ms"
    )
  }
  send <- rows("stival-tab-4.9", "gap_ms", "os_ms_printed", "overhead of sending, g - C'")
  send[verdict == "disagrees", remark := "a digit was lost: 0.2662, not 0.662"]
  rbind(send, rows(
    "stival-tab-4.10", "total_ms", "or_ms_printed", "overhead of receiving, T - C'"
  ))
}

audit_netpipe <- function(dir) {
  table <- read_published(dir, "stival-tab-4.2")
  text <- read_published(dir, "stival-text-figures")
  at <- function(size, column) table[[column]][table$message == size]
  said <- function(name) text$value[text$measure == name]
  gain <- function(a, b) 100 * (a / b - 1)
  rbind(
    audit_rows(
      "stival-text-figures", "gain of LLC over TCP, 16 kB, from table 4.2",
      said("LLC over TCP, 16 kB"),
      recompute(gain, at("16 kB", "openmpi_llc_mbit_s"), at("16 kB", "openmpi_tcp_mbit_s")), "%"
    ),
    audit_rows(
      "stival-tab-4.2", "bandwidth at 1 MB, MPICH2, from the round trip of the ping-pong",
      table$mpich2_mbit_s[table$message == "1 MB"],
      recompute(function(ms) 16 / ms * 1e3, said("ping-pong 1 MB, MPICH2, round trip")),
      "Mbit/s", 0.01,
      "two experiments: held to within 1 %; MB and Mbit are 2^20 of NetPIPE"
    )
  )
}

# Message sizes: sqrt(N) = 2^(m/2) rows of complex doubles, 16 B each, divided among processes.
audit_fft <- function(dir) {
  table <- read_published(dir, "stival-tab-4.13")
  side <- 2^(as.numeric(table$m) / 2) / as.numeric(table$processes)
  exact <- function(value) list(value = value, low = value, high = value)
  name <- sprintf("2^%s points, %s processes", table$m, table$processes)
  file <- "stival-tab-4.13"
  times <- read_published(dir, "stival-tab-4.14")
  wide <- dcast(times, m + gain_2_to_8_percent_printed ~ processes, value.var = "time_ms")
  rbind(
    audit_rows(
      file, paste("message, row by row,", name), table$row_by_row_printed, exact(16 * side), "B"
    ),
    audit_rows(
      file, paste("message, complete matrix,", name), table$whole_matrix_printed,
      exact(16 * side^2), "B"
    ),
    audit_rows(
      "stival-tab-4.14", sprintf("gain from 2 to 8 processes, 2^%s points", wide$m),
      wide$gain_2_to_8_percent_printed, recompute(gain_over, wide[["8"]], wide[["2"]]), "%"
    )
  )
}

audit_phase <- function(dir) {
  table <- read_published(dir, "stival-tab-4.15")
  table <- table[nzchar(transposition_ms) & nzchar(computation_ms)]
  audit_rows(
    "stival-tab-4.15", paste("transposition and computation,", table$variant), table$phase1_ms,
    recompute(`+`, table$transposition_ms, table$computation_ms), "ms"
  )
}

audit_fft_gains <- function(dir) {
  means <- read_published(dir, "watter-tab-A.3")
  gains <- read_published(dir, "watter-tab-5.1")
  both <- gains[means, on = "processes", nomatch = NULL]
  audit_rows(
    "watter-tab-5.1", sprintf("gain of LLC over TCP in the FFT, %s processes", both$processes),
    both$gain_percent_printed, recompute(gain_over, both$mean_llc, both$mean_tcp), "%"
  )
}

audit_mpiperf <- function(dir) {
  table <- read_published(dir, "mpiperf-tab-1")
  long <- melt(table, "collective", c("openmpi_1_4_4_ratio", "intel_mpi_4_0_0_028_ratio"))
  lost <- long[!grepl(".", value, fixed = TRUE)]
  data.table(
    file = "mpiperf-tab-1.csv",
    what = sprintf(
      "first call over second call, %s, %s", lost$collective, sub("_.*", "", lost$variable)
    ),
    printed = lost$value, recomputed = NA_real_, low = NA_real_, high = NA_real_, unit = "",
    verdict = "unreadable", remark = "no decimal comma in the scan, where all others have one"
  )
}

# The time and the bandwidth of one message size contain the same information.
audit_finisterrae <- function(dir) {
  table <- read_published(dir, "finisterrae-text-figures")
  said <- function(name) table$value[startsWith(table$measure, name)]
  where <- c("below", "above")
  audit_rows(
    "finisterrae-text-figures", paste("bandwidth just", where, "16 KB, from the latency"),
    vapply(paste("bandwidth just", where), said, ""),
    recompute(
      function(us) 16384 / us,
      printed(vapply(paste("latency just", where), said, ""), round = TRUE)
    ), "MB/s", 0, "the latency is given in round numbers: 35 to 45 us, 350 to 450 us"
  )
}

# Repeated sends give a broadcast 1 / (p - 1) of a message's bandwidth; each wire has a maximum.
audit_tinetti <- function(dir) {
  table <- read_published(dir, "tinetti-results")
  best <- table[measure == "max bandwidth"]
  one <- best[operation == "point to point"]
  all <- best[startsWith(operation, "broadcast")]
  both <- one[, list(network, library, message = value)][all, on = c("network", "library")]
  hosts <- as.numeric(gsub("[^0-9]", "", both$operation))
  share <- recompute(`/`, both$value, both$message)
  # The study states a third for 4 hosts. For MPI on 8 hosts: about twice that of repeated sends.
  claim <- fcase(
    hosts == 4, 1 / 3, both$library == "LAM/MPI", 2 / 7, rep(TRUE, nrow(both)), NA_real_
  )
  said <- which(!is.na(claim))
  wire <- c("heterogeneous 10 Mb/s" = 1.25, "homogeneous 100 Mb/s" = 12.5)
  rbind(
    data.table(
      file = "tinetti-results.csv",
      what = sprintf(
        "broadcast's bandwidth over a message's, %s, %s", both$library, both$operation
      )[said],
      printed = format_digits(claim[said]), recomputed = share$value[said],
      low = share$low[said], high = share$high[said], unit = "",
      verdict = fifelse(abs(share$value / claim - 1)[said] <= 0.15, "agrees", "disagrees"),
      remark = sprintf(
        "repeated sends would give 1/%d; the study's words are held to within 15 %%",
        as.integer(hosts[said]) - 1L
      )
    ),
    data.table(
      file = "tinetti-results.csv",
      what = sprintf("within the rate of the wire, %s, %s", one$library, one$network),
      printed = one$value, recomputed = wire[one$network], low = 0, high = wire[one$network],
      unit = "MB/s",
      verdict = fifelse(as.numeric(one$value) <= wire[one$network], "agrees", "disagrees"),
      remark = "at most the wire's"
    )
  )
}

# Recomputed values with their units; "" where there is none.
recomputed_in_words <- function(values, unit) {
  fifelse(is.na(values), "", trimws(paste(formatC(values, digits = 6L, format = "g"), unit)))
}

#' @describeIn exhibit_by_size Printed numbers compared with values computed from other printed
#'   numbers, disagreements first. It needs no launches.
exhibit_audit_table <- function(exhibit) {
  if (is.null(exhibit$published)) await("the folder of the printed numbers (PUBLISHED)")
  audit <- audit_published(exhibit$published)
  rank <- match(audit$verdict, c("disagrees", "unreadable", "last digit", "agrees"))
  audit <- audit[order(rank)]
  digits <- function(x) formatC(x, digits = 6L, format = "g")
  shown <- audit[, list(
    Study = study, Where = where, Page = page, What = what, Printed = printed,
    Recomputed = recomputed_in_words(recomputed, unit),
    Range = ifelse(is.na(low), "", paste(digits(low), "..", digits(high))), Verdict = verdict,
    Remark = remark
  )]
  counts <- table(audit$verdict)
  with_table(shown, audit, sprintf(
    paste(
      "Printed numbers of five studies against values derived from their other numbers, each",
      "anywhere within its rounding: %s of %d."
    ), paste(counts, names(counts), collapse = ", "), nrow(audit)
  ))
}
