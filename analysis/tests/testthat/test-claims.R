# SPDX-License-Identifier: BSD-3-Clause
# A conclusion is judged by one comparison, and every verdict is possible.

# A register of one claim, by default about two MPIs.
claim_of <- function(...) {
  row <- utils::modifyList(list(
    study = "stival", claim = "c", where = "text", says = "s", exhibit = "fig-1",
    tests = "planted", filter = "", factor = "mpi", a = "mpich", b = "openmpi", sizes = "",
    direction = "less", low = NA, high = NA, circular = "", note = ""
  ), list(...))
  file <- tempfile(fileext = ".csv")
  data.table::fwrite(row, file)
  read_claims(file)
}

summary_of <- function(ratio, blocks = 8L, ...) {
  design <- design_of(bytes = c(1, 1024), mpi = c("mpich", "openmpi"), ...)
  design[, time := 1e-6 * data.table::fifelse(mpi == "mpich", ratio, 1)]
  summarise_launches(read_results(plant(fresh_folder(), design, blocks)))
}

verdict_of <- function(summary, ...) judge_claims(summary, claim_of(...))$verdict

test_that("a direction holds, by the printed amount or another, or is contradicted", {
  faster <- summary_of(0.8)
  expect_identical(verdict_of(faster), "holds")
  expect_identical(verdict_of(faster, low = 0.79, high = 0.81), "holds")
  expect_identical(verdict_of(faster, low = 0.5, high = 0.6), "holds by another amount")
  expect_identical(verdict_of(faster, direction = "more"), "contradicted")
  noted <- judge_claims(faster, claim_of(note = "by another library"))
  expect_match(claims_table(noted)$Remark, "by another library", fixed = TRUE)
  found <- judge_claims(faster, claim_of())
  expect_equal(found$ratio, 0.8, tolerance = 0.01)
  expect_identical(c(found$n, found$cells), c(8L, 2L))
})

test_that("a claim is judged by its direction first, then by its number with its own margin", {
  judge <- function(low, high, direction, printed = c(NA, NA), relevance = "open", ...) {
    claim <- claim_of(direction = direction, low = printed[[1L]], high = printed[[2L]])
    claim_verdict(low, high, as.list(claim), relevance, ..., apart = FALSE)
  }
  on_metal <- function(...) judge(..., model = FALSE)
  # Differences below the margin of 3 % are shown to be real, and match the printed number.
  expect_identical(on_metal(0.980, 0.990, "less", c(0.98, 0.99), "negligible"), "holds")
  expect_identical(on_metal(0.980, 0.990, "less", relevance = "negligible"), "holds")
  expect_identical(on_metal(1.01, 1.03, "more", c(1.01, 1.05), "negligible"), "holds")
  # "At most 15 %" is not contradicted by no difference.
  expect_identical(on_metal(1, 1, "more", c(1, 1.15), "negligible"), "holds")
  # The claim's own margin defines "the same".
  expect_identical(on_metal(1.015, 1.025, "same", c(0.995, 1.005)), "contradicted")
  # A wide interval shows a direction but no number.
  expect_identical(on_metal(0.60, 0.999, "less", c(0.79, 0.79)), "holds in direction")
  expect_identical(on_metal(0.75, 0.83, "less", c(0.79, 0.79)), "holds")
  expect_identical(on_metal(0.995, 1.005, "less", c(0.79, 0.79), "negligible"), "contradicted")
  expect_identical(on_metal(1.1, 1.2, "less"), "contradicted")
  expect_identical(judge(1.1, 1.2, "less", model = TRUE), "not comparable")
})

test_that("a difference that may come from the sessions neither confirms nor refutes a claim", {
  judge <- function(low, high, ...) {
    claim <- as.list(claim_of(...))
    claim_verdict(low, high, claim, "open", apart = TRUE, model = FALSE)
  }
  expect_identical(judge(1.2, 1.3, direction = "same", low = 0.97, high = 1.03), "not settled")
  expect_identical(judge(1.01, 1.02, direction = "same", low = 0.97, high = 1.03), "not settled")
  expect_identical(judge(1.02, 1.04, direction = "more", low = 1.01, high = 1.05), "not settled")
  expect_identical(judge(0.7, 0.8), "not settled")
})

test_that("claims have the grade of their launches, and a model contradicts none", {
  labels <- c(
    measured = "", emulated = "emulated: 2 hosts", simulated = "simulated by SimGrid: x, 2 nodes"
  )
  for (grade in names(labels)) {
    design <- design_of(bytes = c(1, 1024), mpi = c("mpich", "openmpi"))
    design[, `:=`(time = 1e-6 * ifelse(mpi == "mpich", 1.3, 1), simulated = labels[[grade]])]
    found <- judge_claims(
      summarise_launches(read_results(plant(fresh_folder(), design, 8L))), claim_of()
    )
    expect_identical(found$grade, grade)
    real <- grade == "measured"
    expect_identical(found$verdict, if (real) "contradicted" else "not comparable")
    expect_match(found$why, if (real) "" else "which contradicts nothing")
    expect_identical(claims_table(found)$Grade, grade)
    counts <- table_of_grades(found)
    expect_identical(counts[Verdict == found$verdict][[grade]], 1L)
    expect_identical(sum(counts[, !"Verdict"]), 1L)
    expect_identical(say_meanings(found), sprintf(
      "%s: %s.", found$verdict, CLAIM_MEANINGS[[found$verdict]]
    ))
  }
  none <- judge_claims(summary_of(1.3), claim_of(tests = "other"))
  expect_identical(table_of_grades(none)[Verdict == "not comparable"][["no launches"]], 1L)
})

test_that("what is the same contradicts a difference, and a difference what should be the same", {
  same <- summary_of(1)
  expect_identical(verdict_of(same), "contradicted")
  expect_identical(verdict_of(same, direction = "same", low = 0.97, high = 1.03), "holds")
  other <- summary_of(1.3)
  expect_identical(verdict_of(other, direction = "same", low = 0.97, high = 1.03), "contradicted")
})

test_that("three blocks cannot decide, and it is said what would", {
  found <- judge_claims(summary_of(0.8, blocks = 3L), claim_of())
  expect_identical(found$verdict, "not settled")
  expect_match(found$why, "at least 4", fixed = TRUE)
})

test_that("a size that one launch lacks costs the size where the launch is needed for a verdict", {
  rows <- summary_of(0.8, blocks = 4L)
  one <- rows$launch == rows$launch[[1L]]
  lacking <- judge_claims(rows[!(one & bytes == 1024)], claim_of())
  expect_identical(c(lacking$verdict, lacking$n, lacking$cells), c("holds", "4", "1"))
  # With enough launches, the incomplete launch is left out.
  many <- summary_of(0.8)
  one <- many$launch == many$launch[[1L]]
  spared <- judge_claims(many[!(one & bytes == 1024)], claim_of())
  expect_identical(c(spared$n, spared$cells), c(7L, 2L))
})

test_that("a place with too few blocks for a verdict is asked last, whatever is preferred", {
  few <- summary_of(0.8, blocks = 3L)
  many <- summary_of(0.8)
  many[, test := "other"]
  found <- judge_claims(rbind(few, many), claim_of(tests = "planted other"))
  expect_identical(found$verdict, "holds")
  expect_match(found$place, "^other, on ")
  preferred <- judge_claims(rbind(summary_of(0.9), many), claim_of(tests = "planted other"))
  expect_match(preferred$place, "^planted, on ")
})

test_that("what was not measured, or not alike, is not comparable", {
  rows <- summary_of(0.8)
  none <- judge_claims(rows, claim_of(a = "intel-mpi"))
  expect_identical(none$verdict, "not comparable")
  expect_match(none$why, "intel-mpi", fixed = TRUE)
  rows[mpi == "mpich", observed_cores := "elsewhere"]
  apart <- judge_claims(rows, claim_of())
  expect_identical(apart$verdict, "not comparable")
  expect_match(apart$why, "cores", fixed = TRUE)
})

test_that("what two operations time may differ where the claim is about them, and only there", {
  rows <- summary_of(0.8)
  rows[, `:=`(
    operation = mpi, parameter_start = mpi, library = "a library", mpi = "openmpi",
    quantity = data.table::fifelse(mpi == "mpich", "steady", "single")
  )]
  found <- judge_claims(rows, claim_of(factor = "operation"))
  expect_identical(found$verdict, "holds")
  expect_match(found$why, "also differ: .*quantity")
  refused <- judge_claims(rows[, operation := "one"], claim_of(factor = "parameter_start"))
  expect_identical(refused$verdict, "not comparable")
  expect_match(refused$why, "quantity", fixed = TRUE)
})

test_that("a simulation is exact, and circular where its machine was fitted to the claim", {
  rows <- summary_of(0.8, blocks = 1L)
  rows[, simulated := "simulated by SimGrid: a machine"]
  expect_identical(verdict_of(rows), "holds")
  found <- judge_claims(rows, claim_of(circular = rows$site[[1L]]))
  expect_identical(found$verdict, "not comparable")
  expect_match(found$why, "circular", fixed = TRUE)
})

test_that("sizes and joined columns can be sides", {
  rows <- summary_of(0.8)
  rows[, median_s := median_s * data.table::fifelse(bytes == 1024, 3, 1)]
  found <- judge_claims(rows, claim_of(factor = "bytes", a = "1Ki", b = "1", direction = "more"))
  expect_identical(found$verdict, "holds")
  expect_equal(found$ratio, 3, tolerance = 0.01)
  both <- judge_claims(rows, claim_of(factor = "mpi:bytes", a = "mpich:1Ki", b = "openmpi:1"))
  expect_equal(both$ratio, 2.4, tolerance = 0.01)
})

test_that("a register with a wrong direction or twice the same claim is refused", {
  expect_error(claim_of(direction = "up"), "less, more or same")
  file <- tempfile(fileext = ".csv")
  row <- c(as.list(claim_of()[, !c("filter", "factor")]), filter = "", factor = "mpi")
  data.table::fwrite(rbind(data.table::as.data.table(row), row), file)
  expect_error(read_claims(file), "twice")
})

test_that("the studies' claims are forty or more, each with a place and an exhibit of ours", {
  claims <- read_claims(testthat::test_path("../../../data/published/claims.csv"))
  expect_gte(nrow(claims), 40L)
  expect_setequal(claims$study, names(STUDIES))
  exhibits <- list_exhibits()
  expect_identical(setdiff(claims$exhibit, exhibits$name), character())
})

test_that("docs/claims.csv has the current verdict on every claim", {
  root <- test_path("..", "..", "..")
  claims <- rbindlist(lapply(
    file.path(root, c("data/published", "data"), "claims.csv"), read_claims
  ))
  judged <- data.table::fread(file.path(root, "docs", "claims.csv"))
  again <- "is older than the dataset or the registers: make coverage DATA=reference"
  expect_identical(
    unique(judged$dataset), dataset_sum(file.path(root, "data", "reference")), info = again
  )
  same <- c("study", "claim", "where", "says", "exhibit", "direction")
  expect_identical(as.list(judged[, ..same]), as.list(claims[, ..same]), info = again)
  expect_identical(judged$meaning, unname(CLAIM_MEANINGS[judged$verdict]), info = again)
  expect_equal(judged$printed_low, claims$low, info = again)
  expect_equal(judged$printed_high, claims$high, info = again)
  # The recorded interval leads to the recorded verdict.
  for (i in seq_len(nrow(judged))) {
    row <- judged[i]
    verdicts <- if (is.na(row$ratio)) {
      "not comparable"
    } else {
      unlist(Map(claim_verdict, row$low, row$high, list(as.list(claims[i])),
        c("open", "negligible"),
        apart = row$verdict == "not settled", model = row$grade != "measured"
      ))
    }
    expect_true(row$verdict %in% verdicts, info = paste(row$study, row$claim, again))
  }
})

test_that("the dataset contradicts no claim of its own, and claims on two ranks choose them", {
  root <- test_path("..", "..", "..")
  judged <- data.table::fread(file.path(root, "docs", "claims.csv"))
  expect_false("contradicted" %in% judged[study == "cotejo"]$verdict)
  claims <- read_claims(file.path(root, "data", "claims.csv"))
  two <- grep("two ranks", claims$says)
  expect_length(two, 2L)
  for (i in two) expect_identical(claims$filter[[i]]$ranks, "2")
})

test_that("the figure of all claims draws every verdict", {
  rows <- summary_of(0.8)
  judged <- rbind(
    judge_claims(rows, claim_of(low = 0.7, high = 0.75)),
    judge_claims(rows, claim_of(claim = "d", a = "intel-mpi")), fill = TRUE
  )
  built <- ggplot2::ggplot_build(plot_claims(judged))
  expect_identical(nrow(built$data[[3L]]), 1L)
  expect_match(claims_table(judged)$Verdict[[2L]], "not comparable")
})

test_that("a claim is judged by launches of one machine, whatever sides others have", {
  rows <- summary_of(0.8)
  rows[, `:=`(parameter_start = mpi, parameters = paste0("start=", mpi), library = "a library")]
  rows[, mpi := "openmpi"]
  newer <- data.table::copy(rows)
  newer[, `:=`(
    session = "20270101T000000Z", cpu_model = "Another CPU", key = paste0(key, "n"),
    median_s = median_s * 3
  )]
  judged <- function(...) judge_claims(rbind(...), claim_of(factor = "parameter_start"))
  one_side <- judged(rows, newer[parameter_start == "mpich"])
  expect_identical(one_side$verdict, "holds")
  expect_equal(one_side$ratio, 0.8, tolerance = 0.01)
  # Half of its cells on another machine: neither mixed nor lost.
  half <- judged(rows, newer[bytes == 1])
  expect_identical(c(half$verdict, half$cells), c("holds", "2"))
  expect_identical(half$n, 8L)
  # All of its cells: the newer session counts.
  newer[parameter_start == "mpich", median_s := median_s * 2]
  expect_identical(judged(rows, newer)$verdict, "contradicted")
})

test_that("a sentence on verdicts agrees in number, and a published figure is named in words", {
  judged <- data.table(
    study = "stival", tests = "pingpong_full", verdict = c("holds", "holds", "contradicted")
  )
  plain <- function(text) gsub("\001[0-9]+ |\002", "", text)
  expect_identical(plain(say_claims(judged)), paste(
    "The paper judges 3 conclusions of this study: 2 hold and 1 is contradicted."
  ))
  expect_match(plain(say_claims(judged[3L])), "1 conclusion of this study: 1 is contradicted.")
  expect_match(plain(paper_discussion(judged)), "1 is contradicted")
  expect_match(plain(paper_discussion(rbind(judged, judged))), "2 are contradicted")
  register <- list_exhibits()
  register <- register[register$study != "cotejo"]
  words <- mapply(printed_exhibit, register$study, register$exhibit)
  expect_true(all(grepl(paste0(
    "^((figure|table) [A-Z0-9.]+|the measurements) of ",
    "(Stival|Watter|Kurnosov|the Finis Terrae|Tinetti)"
  ), words)), info = toString(words))
  expect_identical(printed_exhibit("stival", "fig-4.1"), "figure 4.1 of Stival (2006)")
  expect_identical(printed_exhibit("watter", "tab-A.1"), "table A.1 of Watter (2006)")
})
