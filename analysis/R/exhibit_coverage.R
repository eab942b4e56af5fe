# SPDX-License-Identifier: BSD-3-Clause
# The list of exhibits: what is drawn from how many launches, and what the others wait for.

#' Write coverage.csv and coverage.md.
#' @noRd
write_coverage <- function(coverage, out_dir) {
  write_csv(coverage, file.path(out_dir, "coverage.csv"))
  write_whole(file.path(out_dir, "coverage.md"), function(file) {
    put_lines(coverage_lines(coverage), file)
  })
}

#' The coverage as Markdown: counts by study, then a line an exhibit.
#' @noRd
coverage_lines <- function(coverage) {
  counts <- best_of(coverage)[, list(
    exhibits = .N, drawn = sum(state == "drawn"), partly = sum(state == "partly"),
    waiting = sum(state == "waiting")
  ), by = "study"]
  total <- counts[, c(list(study = "all"), lapply(.SD, sum)), .SDcols = -1L]
  c(
    "# Exhibits", "",
    markdown_table(rbind(counts, total)), "",
    unlist(lapply(split(coverage, by = "study", sorted = FALSE), function(part) {
      c(paste("##", part$study[[1L]]), "", markdown_table(part[, list(
        exhibit = linked(file, study, kind, state), shows = title, state,
        `launches, or what is missing` = said_of(part)
      )]), "")
    }), use.names = FALSE)
  )
}

linked <- function(file, study, kind, state) {
  ending <- fifelse(kind == "table", "html", "svg")
  fifelse(
    state == "waiting", file, sprintf("[%s](%s/%s.%s)", file, study, file, ending)
  )
}

said_of <- function(part) {
  drawn <- fifelse(
    part$launches > 0L, sprintf("%d launches of %s on %s", part$launches, part$tests, part$sites),
    "the studies' printed numbers"
  )
  fcase(
    part$state == "drawn", drawn,
    part$state == "partly", paste0(drawn, "; lacks ", part$lacks),
    rep(TRUE, nrow(part)), part$lacks
  )
}

markdown_table <- function(table) {
  row <- function(cells) {
    paste0("| ", paste(gsub("|", "\\|", cells, fixed = TRUE), collapse = " | "), " |")
  }
  cells <- vapply(seq_len(nrow(table)), function(i) row(vapply(table[i], as.character, "")), "")
  c(row(names(table)), row(rep("---", ncol(table))), cells)
}
