# SPDX-License-Identifier: BSD-3-Clause
# Compares each MPI with itself under different settings.

# The first words of a note on a variable without a visible effect.
NO_EFFECT <- "no effect of"

#' Compare the settings of each configuration.
#'
#' A library may read a variable and ignore it. If neither the launches nor the times show an
#' effect of a variable, the two levels may be one configuration. Then `note` names the variable.
#'
#' @param summary what [summarise_launches()] returned. Configurations that differ only in
#'   `settings` are compared; no setting at all is the level `"defaults"`.
#' @inheritParams compare_configurations
#' @return as [compare_configurations()], `by = "settings"`.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' # The libraries of this study had no settings. Copies of its launches stand for a setting.
#' tuned <- data.table::copy(summary)
#' tuned[, settings := "eager=64Ki"]
#' compare_settings(rbind(summary, tuned))
#' @export
compare_settings <- function(summary, delta = 0.03) {
  part <- copy(summary)
  part[!nzchar(settings), settings := "defaults"]
  found <- compare_configurations(part, by = "settings", delta = delta, refused = "list")
  found <- note_replaced(algorithms_beside(found, part, "settings"))
  if (!nrow(found) || is.null(part$no_effect)) {
    return(found)
  }
  same <- intersect(c("site", "test", "mpi", "transport", "placement", "ranks"), names(found))
  without <- unique(part[nzchar(no_effect), c(same, "settings", "no_effect"), with = FALSE])
  silent <- fcoalesce(lapply(c("a", "b"), function(side) {
    without[found, on = c(same, stats::setNames(side, "settings")), mult = "first"]$no_effect
  }))
  open <- which(!is.na(silent) & !found$verdict %in% DIRECTIONS & !by_sessions(found))
  found[open, note := sprintf(
    "%s %s was shown, neither by the library nor by the times", NO_EFFECT, silent[open]
  )]
  found[]
}

# Note the sizes at which a library replaced the requested algorithm by that of the other level.
note_replaced <- function(found) {
  words <- list(found[["algorithm_a"]], found[["algorithm_b"]])
  if (!all(lengths(words))) {
    return(found)
  }
  ran <- lapply(words, \(text) sub("^ran as (requested [(])?([^,;)]+).*$", "\\2", text))
  alike <- which(ran[[1L]] == ran[[2L]] & (is_replaced(words[[1L]]) | is_replaced(words[[2L]])) &
    !found$verdict %in% DIRECTIONS)
  found[alike, note := sprintf("%s the setting at this size: both ran as %s", NO_EFFECT,
    ran[[1L]][alike])][]
}
