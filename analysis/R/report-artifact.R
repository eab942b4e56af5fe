# SPDX-License-Identifier: BSD-3-Clause
# The claims and numbers of an artifact, and their agreement with another run.

# Launches of each configuration with which `make reproduce` judges a claim.
LAUNCHES_OF_CLAIM <- 6L
# The duration of a study over that of its launches: start of ReFrame, synchronisation.
OVERHEAD_OF_STUDY <- 1.5
REPRODUCED <- c("reproduced", "contradicted", "cannot be judged here")
# Largest relative difference between numbers that were computed on different systems.
NUMBERS_AGREE <- 1e-6

#' Judge the claims of one or several registers.
#'
#' @param results_dir as for [read_results()].
#' @param claim_files files as for [read_claims()].
#' @return list: `launches` of the study, and `judged` ([judge_claims()]).
#' @noRd
claims_of_results <- function(results_dir, claim_files) {
  study <- read_study(results_dir)
  claims <- rbindlist(lapply(claim_files, read_claims))
  launches <- study$launches
  summary <- summarise_launches(study)
  about <- summary$test %in% unlist(strsplit(claims$tests, " +"))
  list(launches = launches, judged = judge_claims(keep_rows(summary, which(about)), claims))
}

#' Write the table of the claims of a dataset, with the data that another run needs to judge them.
#'
#' @param results_dir as for [read_results()].
#' @param claim_files files as for [read_claims()].
#' @param file the CSV. Its columns are those of [judge_claims()], and `meaning` (of the verdict),
#'   `site`, `simulated`, `test`, `scale`, `configurations` (names, separated by blanks),
#'   `hardware`, `minutes`, and `dataset` (the checksum of a dataset).
#' @return the table, invisibly.
#' @examples
#' folder <- system.file("extdata", package = "cotejo")
#' claims <- file.path(folder, "claims.csv")
#' write_claims(file.path(folder, "study"), claims, tempfile())[, c("says", "verdict", "minutes")]
#' @export
write_claims <- function(results_dir, claim_files, file) {
  found <- claims_of_results(results_dir, claim_files)
  launches <- found$launches
  needed <- rbindlist(lapply(found$judged$launched, function(keys) {
    of <- launches[match(keys, launches$key)]
    of[, cell := cell_of(id)]
    each <- of[, list(s = mean(wall_s)), by = "cell"]
    one <- function(column) paste(unique(of[[column]]), collapse = " ")
    list(
      site = one("site"), simulated = toString(unique(of$simulated)), test = one("test"),
      scale = one("scale"),
      configurations = paste(sort(each$cell, method = "radix"), collapse = " "),
      hardware = text_if(nrow(of) > 0L, sprintf(
        "%s; %s ranks, %s hosts", toString(unique(of$cpu_model)), range_in_words(of$ranks),
        range_in_words(of$hosts)
      )),
      minutes = if (nrow(of)) {
        round(sum(each$s) * LAUNCHES_OF_CLAIM * OVERHEAD_OF_STUDY / 60, 1L)
      } else {
        NA
      }
    )
  }))
  table <- cbind(
    found$judged[, !"launched"], meaning = unname(CLAIM_MEANINGS[found$judged$verdict]), needed,
    dataset = dataset_sum(results_dir)
  )
  write_csv(table, file)
  invisible(table)
}

#' @param expected table of [write_claims()], of an artifact.
#' @param found what [judge_claims()] returned for another run.
#' @return `reproduce_claims()`: data.table, a row for each claim: `study`, `claim`, `says`,
#'   `judgement` (`reproduced`, `contradicted`, `cannot be judged here`), `expected` and `here`
#'   (ratio with interval), `why`.
#' @rdname judge_claims
#' @export
reproduce_claims <- function(expected, found) {
  here <- found[expected[, c("study", "claim")], on = c("study", "claim")]
  held <- c("holds", HOLD_IN_DIRECTION)
  finding <- \(it) fcase(it %in% held, "held", it == "contradicted", "not held")
  was <- finding(expected$verdict)
  now <- finding(here$verdict)
  apart <- !is.na(here$low) & !is.na(expected$low) &
    (here$low > expected$high | here$high < expected$low)
  words <- function(rows) {
    fifelse(is.na(rows$ratio), "", format_interval(rows$ratio, rows$low, rows$high))
  }
  data.table(
    study = expected$study, claim = expected$claim, says = expected$says,
    judgement = fcase(
      is.na(was) | is.na(now), REPRODUCED[[3L]], was == now, REPRODUCED[[1L]],
      default = REPRODUCED[[2L]]
    ),
    expected = words(expected), here = words(here),
    why = fcase(
      is.na(was), paste("the archive does not settle it:", expected$why),
      is.na(here$verdict), "was not measured",
      here$verdict == "not settled", trimws(paste("the launches do not settle it:", here$why)),
      is.na(now), here$why,
      was != now, sprintf("in the archive it %s", fifelse(
        was == "held", "holds", "is contradicted"
      )),
      apart, "by another amount",
      default = "the intervals overlap"
    )
  )
}

# Reads the table that write_claims() wrote into an archive.
read_expected <- function(file) {
  todo <- "unpack the archive again, or run make artifact"
  table <- plain_table(file, todo)
  numbers <- c("ratio", "low", "high")
  check_has(table, c("study", "claim", "says", "verdict", numbers, "why"), file, todo)
  as_numbers(table, numbers, file, todo)
  table
}

#' Judge the claims of an artifact by the launches of this machine.
#'
#' @param results_dir as for [read_results()].
#' @param claim_files files as for [read_claims()].
#' @param expected_file what [write_claims()] wrote.
#' @param out_file CSV of [reproduce_claims()].
#' @return the table, invisibly. Prints a line for each claim that was measured, and the counts.
#' @noRd
write_reproduction <- function(results_dir, claim_files, expected_file, out_file) {
  expected <- read_expected(expected_file)
  found <- claims_of_results(results_dir, claim_files)
  table <- reproduce_claims(expected, found$judged)
  write_csv(table, out_file)
  shown <- table[nzchar(table$here) | table$judgement != REPRODUCED[[3L]]]
  put_said(sprintf(
    "%s: %s %s (archive: %s; here: %s; %s)", shown$judgement, shown$study, shown$says,
    shown$expected, shown$here, shown$why
  ))
  count <- table(factor(table$judgement, REPRODUCED))
  cat(paste(count, names(count), collapse = ", "), " (", out_file, ")\n", sep = "")
  invisible(table)
}

#' Compare the tables of two folders: those of the figures of an archive and of this machine.
#'
#' @param expected_dir,drawn_dir folders with `NAME.csv`.
#' @return data.table, a row for each table of the archive that differs: `name`, `why`.
#' @examples
#' archive <- tempfile()
#' here <- tempfile()
#' for (folder in c(archive, here)) dir.create(folder)
#' write.csv(data.frame(bytes = 1, time_s = 1e-6), file.path(archive, "a.csv"), row.names = FALSE)
#' write.csv(data.frame(bytes = 1, time_s = 2e-6), file.path(here, "a.csv"), row.names = FALSE)
#' compare_drawn(archive, here)
#' @export
compare_drawn <- function(expected_dir, drawn_dir) {
  names <- tables_of_artifact(expected_dir)
  why <- vapply(names, function(name) {
    differing_table(file.path(expected_dir, name), file.path(drawn_dir, name))
  }, "")
  data.table(name = names, why = unname(why))[nzchar(why)]
}

# The reason why two files have different tables; empty if they agree.
differing_table <- function(file, other) {
  if (!file.exists(other)) {
    return("was not drawn here")
  }
  fault <- fault_of_plain(file, MOST_SAMPLES)
  if (!is.null(fault)) {
    return(fault)
  }
  if (identical(unname(tools::md5sum(file)), unname(tools::md5sum(other)))) {
    return("")
  }
  if (!identical(readLines(file, 1L, warn = FALSE), readLines(other, 1L, warn = FALSE))) {
    return("has other columns")
  }
  tables <- lapply(c(file, other), function(one) without_warning(fread(file = one)))
  if (any(lengths(tables) == 0L)) {
    return("is no table")
  }
  found <- all.equal(
    tables[[1L]], tables[[2L]], tolerance = NUMBERS_AGREE, check.attributes = FALSE
  )
  if (isTRUE(found)) "" else toString(found)
}

# Write the tables of the figures of a dataset, and of its claims: all tables of an artifact.
draw_tables <- function(results_dir, published, claim_files, out_dir, ...) {
  draw_all(results_dir, out_dir, published = published, ...)
  write_claims(results_dir, claim_files, file.path(out_dir, "claims.csv"))
}

#' Write the tables of an artifact: the tables of all figures, and the claims.
#'
#' @param results_dir,published as for [draw_all()].
#' @param claim_files files as for [read_claims()].
#' @param tables_dir folder for the tables.
#' @return the names of the tables, invisibly.
#' @noRd
write_artifact <- function(results_dir, published, claim_files, tables_dir) {
  drawn <- tempfile("cotejo-artifact")
  on.exit(unlink(drawn, recursive = TRUE))
  draw_tables(results_dir, published, claim_files, drawn, endings = "csv")
  names <- list.files(drawn, "[.]csv$", recursive = TRUE)
  for (folder in unique(dirname(file.path(tables_dir, names)))) {
    dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  }
  file.copy(file.path(drawn, names), file.path(tables_dir, names))
  invisible(names)
}

#' Draw the figures and judge the claims of a dataset again, and compare them with an artifact.
#'
#' @inheritParams write_artifact
#' @param tables_dir what [write_artifact()] wrote.
#' @param out_dir folder for the figures.
#' @return the differences, invisibly. An error if there is one.
#' @noRd
check_artifact <- function(results_dir, published, claim_files, tables_dir, out_dir) {
  # Before minutes of drawing.
  tables <- tables_of_artifact(tables_dir)
  draw_tables(results_dir, published, claim_files, out_dir)
  wrong <- compare_drawn(tables_dir, out_dir)
  if (nrow(wrong)) {
    put_said(sprintf("differs: %s: %s", wrong$name, wrong$why))
    refuse(sprintf(
      "%s of the archive %s here; compare the versions of R and its packages",
      count_of(nrow(wrong), "table", "tables"), if (nrow(wrong) == 1L) "differs" else "differ"
    ))
  }
  cat("All", length(tables), "tables behind figures and claims are those of the archive.\n")
  invisible(wrong)
}

# Names of the tables of an artifact. An error if it has none.
tables_of_artifact <- function(dir) {
  folders <- list.dirs(dir, full.names = FALSE, recursive = FALSE)
  folders <- folders[!is_link(paste0(dir, "/", folders, recycle0 = TRUE))]
  folders <- c("", paste0(folders, "/", recycle0 = TRUE))
  names <- unlist(lapply(folders, function(folder) {
    found <- list.files(file.path(dir, folder), "[.]csv$")
    if (length(found)) paste0(folder, found)
  }))
  if (!length(names)) bad_data(dir, NA, "no table of an artifact", "run make artifact")
  names
}
