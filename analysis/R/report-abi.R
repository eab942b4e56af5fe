# SPDX-License-Identifier: BSD-3-Clause
# Runs one binary under several MPIs: shows the differences that remain with the same compiler,
# flags and program, and the cost of the standard ABI.

# Native MPI of each family of the standard ABI, by its name (`X-abi` is `X`).
abi_pairs <- function(mpis) {
  abi <- mpis[endsWith(mpis, "-abi")]
  native <- sub("-abi$", "", abi)
  data.table(abi = abi, native = native)[native %in% mpis]
}

#' Compare each MPI's native build with the one binary of the standard ABI.
#'
#' @param summary what [summarise_launches()] returned.
#' @param delta margin of equivalence.
#' @return list. `native`: rows of [compare_configurations()], each MPI with itself; `a` is the ABI
#'   build, so that a ratio above 1 is the cost of the ABI. `one`: the MPIs compared with each
#'   other under the one binary. `hashes`: `mpi`, `program_sha256`.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' # The launches of this study used no standard ABI. Copies of them stand for its builds.
#' native <- data.table::copy(summary)
#' native[, program_sha256 := "native"]
#' abi <- data.table::copy(native)
#' abi[, c("mpi", "program_sha256") := list(paste0(mpi, "-abi"), "one")]
#' compare_abi(rbind(native, abi))$hashes
#' @export
compare_abi <- function(summary, delta = 0.03) {
  pairs <- abi_pairs(unique(summary$mpi))
  hashes <- unique(keep_rows(summary, which(summary$mpi %in% pairs$abi))[
    , c("mpi", "program_sha256"),
    with = FALSE
  ])
  if (nrow(pairs) < 2L || anyNA(hashes$program_sha256) || uniqueN(hashes$program_sha256) != 1L) {
    refuse(sprintf(
      "%d binaries under %d MPIs of the standard ABI: one under two is needed (`make abi`)",
      uniqueN(hashes$program_sha256), nrow(pairs)
    ))
  }
  all <- compare_configurations(
    keep_rows(summary, which(summary$mpi %in% c(pairs$abi, pairs$native))),
    delta = delta, refused = "list"
  )
  is_pair <- paste(all$a, all$b) %in% paste(pairs$native, pairs$abi) |
    paste(all$b, all$a) %in% paste(pairs$native, pairs$abi)
  list(
    native = turned_to(keep_rows(all, which(is_pair)), pairs$abi),
    one = keep_rows(all, which(all$a %in% pairs$abi & all$b %in% pairs$abi)), hashes = hashes
  )
}

# A sentence for each MPI on the cost of the ABI, with the achieved interval.
say_abi <- function(found, delta) {
  vapply(split(found$native, by = c("b", "transport"), sorted = TRUE), function(rows) {
    widest <- rows[which.max(log(high / low))]
    sprintf(
      paste(
        "%s %s: of %d sizes and operations the one binary is within %s of the native build at",
        "%d, slower at %d, faster at %d, not settled or not tested at %d; ratios %s, the widest",
        "interval that was reached %s."
      ),
      title_of(rows$b[[1L]]), over(rows$transport[[1L]]), nrow(rows),
      say_percent(most_within(delta)), sum(rows$verdict == "within"),
      sum(rows$verdict == "slower"), sum(rows$verdict == "faster"),
      sum(!rows$verdict %in% SETTLED),
      paste(unique(format_digits(range(rows$ratio))), collapse = " to "),
      if (nrow(widest)) format_interval(widest$ratio, widest$low, widest$high) else "none"
    )
  }, "")
}

#' Write the exhibit of one binary.
#'
#' @param results_dir as for [read_results()].
#' @param out_file the HTML file; `abi.csv` goes beside it.
#' @inheritParams compare_abi
#' @return what [compare_abi()] returned, invisibly. Prints the sentences, and the path last.
#' @noRd
write_abi <- function(results_dir, out_file, delta = 0.03) {
  results <- read_study(results_dir)
  whole <- summarise_launches(results, c(COMPARED, "program_sha256"))
  # Sessions with both kinds of build; sessions of other studies have only native builds.
  held <- unique(whole[endsWith(whole$mpi, "-abi"), c("site", "session"), with = FALSE])
  if (!nrow(held)) bad_data(results_dir, NA, "no launch of the standard ABI", "run `make abi`")
  whole <- keep_rows(whole, which(
    paste(whole$site, whole$session) %in% paste(held$site, held$session)
  ))
  summary <- keep_rows(whole, which(choose_sessions(whole)$rows))
  with_families(families_of(results$sessions), {
    found <- compare_abi(narrow(summary, "program_sha256"), delta)
    said <- unname(say_abi(found, delta))
    render_page("abi", list(found = found, said = said, delta = delta), out_file)
  })
  write_csv(found$native, file.path(dirname(out_file), "abi.csv"))
  put_said(said)
  cat(out_file, "\n", sep = "")
  invisible(found)
}
