# SPDX-License-Identifier: BSD-3-Clause
# The audit of printed numbers: known errors are found, correct numbers are not called wrong, and
# rounding is no disagreement.

# The repository's data, when the tests run inside it.
published <- function() {
  folder <- test_path("..", "..", "..", "data", "published")
  testthat::skip_if_not(file.exists(folder), "data/published is not beside the package")
  folder
}

test_that("a printed number is the range of values that are printed so", {
  number <- printed(c("0.662", "3.29", "58", "9.072253e-06", "2k", "512B", "", "-1.50e2"))
  expect_equal(number$value, c(0.662, 3.29, 58, 9.072253e-06, 2048, 512, NA, -150))
  expect_equal(number$high - number$low, c(0.001, 0.01, 1, 1e-12, 0, 0, NA, 1))
  expect_equal(unlist(printed("400", round = TRUE)[c("low", "high")]), c(low = 350, high = 450))
})

test_that("what is recomputed is a range over all roundings", {
  again <- recompute(`-`, printed("0.98"), printed("0.7131"))
  expect_equal(c(again$low, again$value, again$high), c(0.26185, 0.2669, 0.27195))
  rows <- audit_rows(
    "f", "difference", c("0.2668", "0.2725", "0.2999"), lapply(again, rep, 3L), "ms"
  )
  expect_identical(rows$verdict, c("agrees", "disagrees", "disagrees"))
  near <- recompute(`+`, printed("1.00"), printed("1.00"))
  expect_identical(audit_rows("f", "sum", "2.02", near, "ms")$verdict, "last digit")
})

test_that("the known misprints are found, with page and value", {
  audit <- audit_published(published())
  wrong <- audit[audit$verdict == "disagrees"]
  send <- wrong[wrong$where == "table 4.9"]
  expect_identical(c(send$study, send$page, send$printed), c("stival", "69", "0.662"))
  expect_equal(send$recomputed, 0.2662, tolerance = 1e-9)
  sign <- wrong[wrong$where == "table A.1"]
  expect_identical(c(sign$study, sign$page), c("watter", "72"))
  expect_match(sign$what, "8192 B", fixed = TRUE)
  expect_identical(sign$remark, "a minus sign of the upper end was lost")
  # All other intervals and p of the four tables follow from means and n.
  welch <- audit[audit$study == "watter" & grepl("table A", audit$where) &
    !grepl("resolution", audit$what)]
  expect_identical(sum(welch$verdict != "agrees"), 1L)
  sizes <- audit[audit$where == "table 4.13"]
  expect_identical(unique(sizes$verdict), "agrees")
  expect_identical(nrow(sizes), 30L)
})

test_that("what the text says is held against the tables, each with its place", {
  audit <- audit_published(published())
  text <- audit[audit$study == "watter" & audit$where == "conclusion"]
  small <- text[grepl("13 B, least", text$what)]
  expect_identical(c(small$printed, small$verdict), c("16", "disagrees"))
  # (73.0252 - 64.1824) / 73.0252 us, by hand.
  expect_equal(small$recomputed, 12.109, tolerance = 1e-3)
  expect_match(small$remark, "of LLC's it is 13.8 to 16.7 %", fixed = TRUE)
  expect_identical(text[grepl("1 to 16 B", text$what)]$verdict, "disagrees")
  level <- audit[audit$where == "section 5.6.2"]
  expect_identical(c(level$page, level$printed, level$verdict), c("66", "0.01", "disagrees"))
  clock <- audit[grepl("resolution", audit$what)]
  expect_match(clock$what, "8 of 8 means")
  unit <- audit[audit$where == "figure 5.10"]
  expect_identical(c(unit$printed, unit$verdict), c("936.40 us", "disagrees"))
  expect_equal(unit$recomputed, 335544.32)
  daxpy <- audit[audit$where == "section 4.2.3.5"]
  expect_equal(daxpy$recomputed, 0.448, tolerance = 1e-9)
  expect_identical(daxpy$verdict, "disagrees")
  expect_identical(audit[audit$where == "section 4.2.3.2"]$printed, "160")
  table_1 <- audit[audit$study == "mpiperf"]
  expect_match(table_1$what, "^first call over second call")
})

test_that("a clock that resolves more is not blamed", {
  folder <- fresh_folder()
  file.copy(list.files(published(), full.names = TRUE), folder)
  edit_lines(file.path(folder, "watter-tab-A.4.csv"), function(lines) {
    sub("12.20,12.16", "12.21,12.16", lines, fixed = TRUE)
  })
  audit <- audit_published(folder)
  expect_identical(audit[grepl("resolution", audit$what)]$verdict, "agrees")
})

test_that("a planted misprint is found where there was none", {
  folder <- fresh_folder()
  file.copy(list.files(published(), full.names = TRUE), folder)
  edit_lines(file.path(folder, "watter-tab-A.3.csv"), function(lines) {
    sub("1.294e-06", "1.294e-03", lines, fixed = TRUE)
  })
  edit_lines(file.path(folder, "stival-tab-4.10.csv"), function(lines) {
    sub("0.3184", "0.3148", lines, fixed = TRUE)
  })
  found <- audit_published(folder)
  wrong <- found[found$verdict == "disagrees"]
  expect_true(any(wrong$where == "table A.3" & wrong$printed == "= 1.294e-03"))
  expect_true(any(wrong$where == "table 4.10" & wrong$printed == "0.3148"))
  unlink(file.path(folder, "watter-tab-A.3.csv"))
  expect_error(audit_published(folder), "watter-tab-A.3.csv: not there", class = "cotejo_bad_data")
})

test_that("the audit is drawn without launches of its own, printed numbers stand beside ours", {
  folder <- fresh_folder()
  for (transport in c("shm", "tcp", "llc")) {
    write_study(
      folder, c(openmpi = c(shm = 1e-6, tcp = 2e-5, llc = 1e-5)[[transport]]),
      bytes = c(1, 64, 1024, 8192), blocks = 6L, transports = transport, test = "netpipe_frames"
    )
  }
  register <- list_exhibits()
  register <- register[name %in% c("watter-fig-5.1", "watter-tab-A.1", "cotejo-audit")]
  out <- fresh_folder()
  coverage <- NULL
  suppressMessages(utils::capture.output(
    coverage <- draw_exhibits(folder, out, exhibits = register, published = published())
  ))
  # A single MPI gives only a part of the exhibit.
  expect_identical(
    coverage$state[match(c("audit", "fig-5.1", "tab-A.1"), coverage$exhibit)],
    c("drawn", "partly", "drawn")
  )
  # The coverage names the exhibits that show printed numbers.
  expect_setequal(coverage[coverage$published]$exhibit, c("fig-5.1", "tab-A.1"))
  page <- paste(readLines(file.path(out, "cotejo", "audit.html")), collapse = "\n")
  expect_match(page, "0.662", fixed = TRUE)
  svg <- words_of(file.path(out, "watter", "fig-5.1.svg"))
  expect_match(svg, "PUBLISHED by watter table A.1, page 72 on other machines", fixed = TRUE)
  expect_match(svg, "LLC over TCP, 100 Mbit/s, 2006", fixed = TRUE)
  table <- paste(readLines(file.path(out, "watter", "tab-A.1.html")), collapse = "\n")
  expect_match(table, "PUBLISHED by watter table A.1", fixed = TRUE)
  index <- paste(readLines(file.path(out, "index.html")), collapse = "\n")
  expect_match(index, "src=\"watter/fig-5.1.svg\"", fixed = TRUE)
  expect_match(index, "The data draw 2 of the 2 published", fixed = TRUE)
})

test_that("overlays name exhibits and printed numbers that are there", {
  overlays <- read_overlays(published())
  expect_identical(setdiff(overlays$exhibit, list_exhibits()$name), character())
  expect_true(all(vapply(overlays$data, nrow, 0L) > 0L))
  points <- data.table::rbindlist(overlays$data[overlays$what == "points"])
  expect_false(anyNA(points$y))
  expect_false(anyNA(overlays$source))
})
