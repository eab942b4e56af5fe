# SPDX-License-Identifier: BSD-3-Clause
# Decides which comparison groups of a session are known precisely enough. By this rule a study
# stops by itself.

#' Comparison groups of a session, and how wide the intervals of their effects are.
#'
#' A group consists of the cells of one test, transport and placement. It contains everything that
#' is compared and is continued as one unit, so that every block holds all configurations. The
#' width of a group is half the interval of a ratio: that of [compare_configurations()] for a
#' question of this pair and operation alone. The ratio is the widest among the operations, sizes
#' and pairs of cells that differ in one of MPI, settings and parameters. For a group with one
#' cell, the width is half the interval of the median, relative to the median. It is computed from
#' the launches' own summaries, which is quick enough to do after every block.
#'
#' Stopping by width, and never by a p, favours no configuration. Groups that stop early look
#' narrower than they are on average. So a group counts as narrow only if it is narrow both with
#' and without its last block. With this rule, intervals under stopping hold their level within 2
#' points (shown by the tests).
#'
#' Without `until`, a group continues while one of its questions (one operation each) has an open
#' comparison. The study looks after every block. So a comparison counts as settled here only at a
#' level of 0.5 %, and is judged at 5 % at the end of the study (Peto et al. 1976). With all looks,
#' at most 6 % of the questions have a false discovery (`make bench PART=answers`).
#'
#' @param session_dir `results/SITE/SESSION`.
#' @param until requested width, relative (0.03 is 3 %); `NA`: until questions are settled.
#' @return data.table, one row a group, widest first: `group`; `cells` (names of the cells that
#'   work, or may yet, separated by commas); `blocks` (with a usable launch); `width` (`NA`: too
#'   few blocks for an interval); `at` (pair, operation and size, in words); `wide` (flag); `more`
#'   (blocks that would likely suffice, by continuations of the study as in `units_to_settle()`).
#' @keywords internal
wide_groups <- function(session_dir, until) {
  times <- read_medians(session_dir)
  none <- data.table(
    group = character(), cells = character(), blocks = integer(), width = numeric(),
    at = character(), wide = logical(), more = numeric(), before = numeric()
  )
  groups <- lapply(if (nrow(times)) split(times, by = "group"), function(part) {
    cells <- unique(part[, c("cell", "mpi", "settings", "parameters")])
    usable <- part[!is.na(median_s)]
    tried <- table(part$cell)
    # A cell that never works is given up, so that it does not keep the group open.
    works <- cells$cell %in% usable$cell
    working <- cells[works]
    cells <- cells$cell[works | tried[cells$cell] < MIN_LAUNCHES]
    if (length(cells)) {
      c(list(
        group = part$group[[1L]], cells = paste(sort(cells, method = "radix"), collapse = ","),
        blocks = uniqueN(usable$block)
      ), if (is.na(until)) open_of(usable, working) else widths_of(usable, working, until))
    }
  })
  groups <- rbindlist(c(list(none), groups), use.names = TRUE, fill = TRUE)
  if (is.na(until)) {
    return(groups[order(-more), !"before"])
  }
  groups[, wide := is.na(width) | is.na(before) | pmax(width, before) > until]
  groups[, more := fifelse(
    is.na(width) | is.na(before), pmax(1, STOP_FROM + 1 - blocks),
    fifelse(wide, pmin(MOST_LAUNCHES, more), 0)
  )]
  groups[order(-width, group, na.last = FALSE), !"before"]
}

# With fewer blocks a width is too uncertain to stop the study.
STOP_FROM <- 6L

# Level at which a comparison counts as settled while a study continues.
LOOK_ALPHA <- 0.005

# The open comparisons of a group: `wide` if there are any, `more` blocks until one would settle.
open_of <- function(times, cells) {
  open <- times[, questions_open(.SD, cells), by = "operation"]
  list(
    width = NA_real_,
    at = if (nrow(open)) open[which.min(more), paste(at, operation)] else "",
    wide = nrow(open) > 0L, more = min(open$more, as.numeric(MOST_LAUNCHES), na.rm = TRUE)
  )
}

# The open comparisons of one operation: a row each pair, with the blocks that would settle it.
questions_open <- function(times, cells) {
  pairs <- pairs_of_cells(cells)
  curves <- lapply(pairs, \(pair) differences_of_pair(times, "cell", cells$cell[pair]))
  curves <- Filter(length, lapply(Filter(length, curves), function(d) {
    d[, colSums(!is.na(d)) >= LEAST_BLOCKS, drop = FALSE]
  }))
  if (!length(curves)) {
    return(NULL)
  }
  all <- open_at_look(curves)
  rbindlist(lapply(which(tapply(all$open, all$curve, any)), function(i) {
    rows <- all[curve == i]
    d <- curves[[i]]
    more <- with_seed(1L, units_to_settle(
      nrow(d), continue_blocks(d), which(rows$open), 1 - rows$confidence[rows$open], WITHIN_MOST
    ))
    list(at = names(curves)[[i]], more = most_of_them(more))
  }))
}

# Tests of curves while a study continues, and whether they are `open`: not settled at LOOK_ALPHA.
open_at_look <- function(curves, question = rep(1L, length(curves))) {
  all <- rbindlist(test_curves(curves), idcol = "curve")
  all[, confidence := within_questions(all, question[curve], LOOK_ALPHA)$confidence]
  all[, open := !settles(all, 1 - confidence, WITHIN_MOST)]
  all[]
}

# The widest interval of a group, with all blocks (`width`) and without the last block (`before`).
widths_of <- function(times, cells, until) {
  if (!nrow(cells)) {
    return(list(width = NA_real_, at = "", before = NA_real_, more = 1))
  }
  pairs <- pairs_of_cells(cells)
  all <- times[, if (length(pairs)) {
    rbindlist(lapply(pairs, function(pair) width_of_pair(.SD, cells$cell[pair], until)))
  } else {
    width_alone(.SD, until)
  }, by = "operation"]
  last <- all[order(-width, na.last = FALSE)][1L]
  list(
    width = last$width, at = if (is.na(last$width)) "" else paste(last$at, last$operation),
    before = if (anyNA(all$before)) NA_real_ else max(all$before),
    more = max(1, all$more, na.rm = TRUE)
  )
}

# Blocks to add until intervals are likely within `until`. `test` makes continuations, and `width`
# computes the widths from them; `open` are the numbers of the wide sizes.
blocks_to_narrow <- function(n, test, open, level, until, width) {
  if (!length(open)) {
    return(0)
  }
  narrow <- function(tests, level, most) width(tests, level) <= most
  max(with_seed(1L, units_to_settle(n, test, open, level, until, narrow)))
}

width_of_tests <- function(tests, level) expm1(stats::qt(1 - level / 2, tests$df) * tests$error)

# The pairs of cells that differ in one of MPI, settings and parameters.
pairs_of_cells <- function(cells) {
  pairs <- if (nrow(cells) > 1L) utils::combn(nrow(cells), 2L, simplify = FALSE)
  things <- cells[, c("mpi", "settings", "parameters")]
  pairs <- Filter(function(p) sum(things[p[[1L]]] != things[p[[2L]]]) == 1L, pairs)
  stats::setNames(pairs, vapply(pairs, \(p) paste(cells$cell[p], collapse = " / "), ""))
}

# Log ratios of a pair of values of a column, a row a block in order, a column a size; `NULL`
# without a common size.
differences_of_pair <- function(times, column, pair) {
  sides <- lapply(pair, function(one) times[times[[column]] == one])
  sizes <- sort(intersect(sides[[1L]]$bytes, sides[[2L]]$bytes))
  if (!length(sizes)) {
    return(NULL)
  }
  logs <- lapply(sides, log_times, sizes)
  blocks <- intersect(rownames(logs[[1L]]), rownames(logs[[2L]]))
  d <- logs[[1L]][blocks, , drop = FALSE] - logs[[2L]][blocks, , drop = FALSE]
  d <- d[order(as.integer(blocks)), , drop = FALSE]
  colnames(d) <- sizes
  d
}

width_of_pair <- function(times, pair, until) {
  d <- differences_of_pair(times, "cell", pair)
  if (is.null(d)) {
    return(NULL)
  }
  sizes <- as.numeric(colnames(d))
  curves <- lapply(list(d, d[-nrow(d), , drop = FALSE]), function(part) {
    if (nrow(part) >= STOP_FROM && min(colSums(!is.na(part))) >= STOP_FROM) paired_curve(part)
  })
  half <- lapply(curves, function(curve) {
    if (is.null(curve)) rep(NA_real_, length(sizes)) else expm1((curve$high - curve$low) / 2)
  })
  widest <- which.max(half[[1L]])
  open <- which(half[[1L]] > until)
  list(
    width = max(half[[1L]]), before = max(half[[2L]]), more = blocks_to_narrow(
      nrow(d), continue_blocks(d), open, 1 - curves[[1L]]$confidence[open], until, width_of_tests
    ),
    at = paste(pair[[1L]], "/", pair[[2L]], "at", format_bytes(sizes[c(widest, 1L)[[1L]]]))
  )
}

width_alone <- function(times, until) {
  half <- function(x) {
    found <- median_interval(x)
    if (isTRUE(found$level >= 0.95)) (found$high - found$low) / 2 / found$median else NA_real_
  }
  times <- times[order(as.integer(block))]
  continue <- function(x) {
    function(add) {
      list(width = replicate(CONTINUATIONS, half(x[continued(length(x), add)])))
    }
  }
  out <- times[, list(
    width = half(median_s), before = half(median_s[-.N]), at = format_bytes(bytes[[1L]]),
    more = blocks_to_narrow(
      .N, continue(median_s), if (isTRUE(half(median_s) > until)) 1L,
      0.05, until, function(tests, level) tests$width
    )
  ), by = "bytes"]
  out[, !"bytes"]
}

#' Print [wide_groups()] for the harness: one line for each group, fields separated by tabs.
#'
#' @inheritParams wide_groups
#' @return the table, invisibly.
#' @noRd
print_wide_groups <- function(session_dir, until) {
  groups <- wide_groups(session_dir, until)
  fwrite(groups, sep = "\t", col.names = FALSE, quote = FALSE, na = "NA")
  invisible(groups)
}
