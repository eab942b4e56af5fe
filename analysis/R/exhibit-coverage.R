# SPDX-License-Identifier: BSD-3-Clause
# Lists the exhibits with the number of launches behind each, and what waiting exhibits need.

# Write coverage.csv and coverage.md.
write_coverage <- function(coverage, out_dir) {
  write_csv(coverage, file.path(out_dir, "coverage.csv"))
  write_whole(file.path(out_dir, "coverage.md"), function(file) {
    put_lines(coverage_lines(coverage), file)
  })
}

# With this many launches the range is an interval of their median with a level of 95 %.
ENOUGH_LAUNCHES <- as.integer(ceiling(1 - log2(ALPHA)))
ENOUGH_REAL <- sprintf("real >= %d", ENOUGH_LAUNCHES)

# Classes of exhibits by the kind of their data, best first, with the words for `%d` exhibits.
EXHIBIT_CLASSES <- c(
  stats::setNames(
    sprintf("%%d from at least %d real launches of each configuration", ENOUGH_LAUNCHES),
    ENOUGH_REAL
  ),
  real = "%d from fewer real launches", emulated = "%d from emulated hosts or networks",
  simulated = "%d from simulations only",
  `stand-in` = "%d stand-ins",
  circular = "%d from simulations of machines that were fitted to the numbers of the study",
  printed = "%d from printed numbers", failed = "%d failed", waiting = "%d waiting for launches"
)

class_of_exhibit <- function(state, ground, n, circular, stand_in = FALSE) {
  if (!is_drawn(state)) {
    state
  } else if (is.na(n)) {
    "printed"
  } else if (stand_in) {
    "stand-in"
  } else if (ground == "measured") {
    if (n >= ENOUGH_LAUNCHES) ENOUGH_REAL else "real"
  } else if (ground == "simulated" && circular) {
    "circular"
  } else {
    ground
  }
}

# The number of launches of the configuration and size with the fewest.
#
# If launches choose sizes themselves, by the shape of their curve, a launch counts for all sizes.
fewest_launches <- function(summary) {
  by <- intersect(configuration_columns(summary), names(summary))
  chosen <- if (length(summary$option_adaptive)) as.numeric(summary$option_adaptive) > 0 else FALSE
  sizes <- fifelse(rep_len(chosen %in% TRUE, nrow(summary)), NA_real_, summary$bytes)
  launches <- unique(cbind(summary[, c(by, "key"), with = FALSE], sizes))
  min(launches[, .N, by = c(by, "sizes")]$N)
}

# The coverage in a sentence: the published exhibits by class.
say_classes <- function(coverage) {
  all <- best_of(coverage)[study != "cotejo"]
  best <- all[class != "stand-in"]
  count <- table(factor(best$class, names(EXHIBIT_CLASSES)))
  parts <- sprintf(EXHIBIT_CLASSES, as.integer(count))[count > 0L]
  enough <- sprintf(
    "\\1 (%d from at least %d launches)",
    sum(best$class == "emulated" & best$n >= ENOUGH_LAUNCHES), ENOUGH_LAUNCHES
  )
  parts <- sub("(.*emulated.*)", enough, parts)
  said <- sprintf(
    paste(
      "The data draw %d of the %d published figures and tables of %d studies,",
      "%d of them in part: %s."
    ),
    sum(is_drawn(best$state)), nrow(all), uniqueN(all$study), sum(best$state == "partly"),
    paste(parts, collapse = "; ")
  )
  others <- nrow(all) - nrow(best)
  if (others) {
    said <- sprintf(
      "%s %s: only one level of the factor or parameter that the study varies was measured.",
      said, count_of(others, "other exhibit is a stand-in", "other exhibits are stand-ins")
    )
  }
  said
}

# The time of the reference at scale full.
FULL_STUDY <- "reference-time.csv"

#' The time that the launches of a dataset at scale `full` took, and the dataset's checksum.
#' @return data.table with one row: `launches`, `hours`, `dataset`.
#' @noRd
time_of_full <- function(results, dir) {
  full <- results$launches[status == "ok" & scale == "full"]
  data.table(
    launches = nrow(full), hours = round(sum(full$wall_s + OVERHEAD_S) / 3600, 1L),
    dataset = dataset_sum(dir)
  )
}

# The duration of `make study TAG=full`, in words.
say_full <- function() {
  took <- fread(system.file(FULL_STUDY, package = "cotejo", mustWork = TRUE))
  sprintf("%.3g hours for the %d launches of the reference", took$hours, took$launches)
}

COVERAGE_BEGIN <- "<!-- coverage: made by `make coverage DATA=reference` -->"
COVERAGE_END <- "<!-- end -->"

# The checksum that identifies a packed dataset; "" for other folders.
dataset_sum <- function(dir) {
  sums <- file.path(dir, "SHA256SUMS")
  if (!file.exists(sums)) {
    return("")
  }
  check_plain(sums, MOST_JSON, "restore the dataset")
  unname(tools::md5sum(sums))
}

# The coverage as Markdown: the sentence, counts by study and class, then a line an exhibit.
coverage_lines <- function(coverage) {
  best <- best_of(coverage)
  counts <- dcast(best, study ~ factor(class, names(EXHIBIT_CLASSES)),
    fun.aggregate = length, value.var = "exhibit", drop = c(TRUE, FALSE)
  )
  counts <- counts[match(unique(best$study), study)]
  total <- counts[, c(list(study = "all"), lapply(.SD, sum)), .SDcols = -1L]
  c(
    "# Exhibits", "", say_classes(coverage), "",
    markdown_table(rbind(counts, total)), "",
    unlist(lapply(split(coverage, by = "study", sorted = FALSE), function(part) {
      c(paste("##", part$study[[1L]]), "", markdown_table(part[, list(
        exhibit = linked(file, study, kind, state), shows = title, state, class,
        n = fifelse(is.na(n), "", as.character(n)), date,
        `launches, or what is missing` = said_of(part)
      )]), "")
    }), use.names = FALSE)
  )
}

linked <- function(file, study, kind, state) {
  ending <- fifelse(kind == "table", "html", "svg")
  fifelse(
    !is_drawn(state), file, sprintf("[%s](%s/%s.%s)", file, study, file, ending)
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

# One row an exhibit: its best state on any ground. Among equal states, rows with enough launches
# come first, then the order of grounds. A simulation comes last, however often it ran.
best_of <- function(coverage) {
  rank <- match(coverage$state, c("drawn", "partly", "failed", "waiting"))
  enough <- coverage$class == ENOUGH_REAL |
    coverage$class == "emulated" & coverage$n >= ENOUGH_LAUNCHES
  stand_in <- coverage$class %in% "stand-in"
  unique(coverage[order(rank, stand_in, !enough %in% TRUE)], by = c("study", "exhibit"))[
    unique(coverage[, c("study", "exhibit")]),
    on = c("study", "exhibit")
  ]
}

# States of exhibits that are drawn, in full or in part.
is_drawn <- function(state) state %in% c("drawn", "partly")
