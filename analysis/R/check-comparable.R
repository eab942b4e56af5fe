# SPDX-License-Identifier: BSD-3-Clause
# Proof from the launch descriptions that two configurations may be compared.

# Properties that must be equal in both configurations: column -> its name in words. A column is
# exempt when the comparison is about it, or when it follows from the compared property.
HELD_FIXED <- c(
  site = "site", simulated = "simulation", hosts = "number of hosts", ranks = "number of ranks",
  transport = "transport", reported_transport = "transport reported by the library",
  observed_hosts = "hosts", observed_cpus = "processors of the ranks",
  observed_cores = "cores of the ranks", library = "MPI library", cpu_model = "CPU model",
  kernel = "kernel", governor = "frequency governor", measuring = "version of the measuring code",
  lock_sha256 = "stack", machine = "machine", layout = "memory and addresses of the buffers",
  quantity = "quantity timed"
)

# Columns that may be missing: only version 2 observes them, or only summaries have them.
MAY_BE_UNKNOWN <- c("machine", "layout", "quantity")

EXEMPT <- list(
  mpi = "library",
  transport = c("transport", "reported_transport"),
  placement = c("observed_hosts", "observed_cpus", "observed_cores", "hosts", "machine"),
  hosts = c("hosts", "observed_hosts", "machine"),
  ranks = c("ranks", "hosts", "observed_hosts", "observed_cpus", "observed_cores", "machine"),
  simulated = c("simulated", "cpu_model", "kernel", "observed_hosts", "machine"),
  site = c(
    "site", "observed_hosts", "observed_cpus", "observed_cores", "cpu_model", "kernel",
    "governor", "lock_sha256", "machine"
  ),
  # The compared option may need another layout, such as one buffer in place of two.
  option_buffer = "layout", option_layout = "layout",
  option_memory = "layout"
)

# The column with the layout's name: `own` if a program other than cotejo's chose the addresses.
LAYOUT_NAME <- "layout_name"

# Without these two columns nothing is proved. An external program may leave the others unknown.
MUST_BE_OBSERVED <- c("observed_hosts", "observed_cpus")

#' May two configurations be compared?
#'
#' They may when the observed hosts, processors, cores and transport and the state of the machine
#' are the same in both (as sets over the launches), or are being compared. Each configuration must
#' be one MPI library. A property that one configuration could not observe is no reason to refuse.
#' The exceptions are hosts and processors: without them nothing is proved. The addresses of the
#' buffers of an external program follow from the program and its MPI. They are part of the result,
#' so that [differing_pairs()] reports them and the comparison is not refused.
#'
#' @param a,b data.tables of the launches of each configuration, from `read_results()$launches`.
#' @param by the compared property, a column name such as `mpi`.
#' @param names names of the two configurations for the messages.
#' @param allowing columns that are known to differ between the configurations.
#' @return `TRUE`, or the differences, one text each.
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' parts <- split(summary, by = "mpi")
#' comparable(parts$openmpi, parts$mpich)
#' @export
comparable <- function(a, b, by = "mpi", names = c("a", "b"), allowing = character()) {
  differences <- differences_of(facts_of(a, by, allowing), facts_of(b, by, allowing), names)
  if (length(differences)) differences else TRUE
}

#' The distinct values of each column that must be equal in both configurations.
#'
#' @param side launches of one configuration: a table or a list of columns.
#' @noRd
facts_of <- function(side, by, allowing = character()) {
  facts_of_sides(side, rep(1L, length(side$library)), by, allowing)[[1L]]
}

#' Compute [facts_of()] for several configurations at once.
#'
#' @param launches launches of all configurations.
#' @param side number of the configuration of each launch, from 1 on.
#' @return list with the result of [facts_of()] for each configuration.
#' @noRd
facts_of_sides <- function(launches, side, by, allowing = character()) {
  fixed <- setdiff(names(HELD_FIXED), c(by, unlist(EXEMPT[by]), allowing))
  need_columns(launches, setdiff(c(fixed, "library"), MAY_BE_UNKNOWN), "the table of launches")
  count <- max(1L, side)
  by_side <- function(column) distinct_by(launches[[column]], side, count)
  found <- lapply(stats::setNames(fixed, fixed), by_side)
  libraries <- by_side("library")
  layouts <- by_side(LAYOUT_NAME)
  lapply(seq_len(count), function(i) {
    list(
      fixed = lapply(found, `[[`, i), libraries = libraries[[i]],
      own = identical(layouts[[i]], "own")
    )
  })
}

# Differences that prevent the comparison of two configurations, in words; nothing without any.
differences_of <- function(a, b, names) {
  c(
    unlist(lapply(setdiff(names(a$fixed), told_columns(a, b)), function(column) {
      difference_in(column, a$fixed[[column]], b$fixed[[column]], names)
    })),
    several_libraries(a$libraries, names[[1L]]), several_libraries(b$libraries, names[[2L]])
  )
}

# Differences that are only reported beside a comparison. With a randomised address space each
# launch has its own addresses. Then only the number of different addresses is given.
told_of <- function(a, b, names) {
  unlist(lapply(told_columns(a, b), function(column) {
    left <- a$fixed[[column]]
    right <- b$fixed[[column]]
    several <- function(values) {
      if (length(values) > 1L) paste(length(values), "different values") else values
    }
    if (length(left) && length(right) && !identical(left, right)) {
      words_of_difference(column, several(left), several(right), names)
    }
  }))
}

told_columns <- function(a, b) if (a$own && b$own) intersect("layout", names(a$fixed))

difference_in <- function(column, left, right, names) {
  if (!length(left) || !length(right)) {
    if (column %in% MUST_BE_OBSERVED) paste0(HELD_FIXED[[column]], ": not observed")
  } else if (!identical(left, right)) {
    words_of_difference(column, left, right, names)
  }
}

words_of_difference <- function(column, left, right, names) {
  sprintf(
    "%s: %s (%s), %s (%s)", HELD_FIXED[[column]],
    toString(left), names[[1L]], toString(right), names[[2L]]
  )
}

several_libraries <- function(libraries, name) {
  if (length(libraries) > 1L) {
    sprintf("%s is %d MPI libraries: %s", name, length(libraries), toString(libraries))
  }
}

# The observed values. An unknown value of every rank is recorded as `||`.
distinct <- function(values) distinct_by(values, rep(1L, length(values)), 1L)[[1L]]

# The distinct values of each configuration, numbered from 1 to `count`.
distinct_by <- function(values, side, count) {
  if (is.null(values)) {
    return(rep(list(character()), count))
  }
  all <- unique(values)
  all <- all[!is.na(all) & grepl("[^|]", all)]
  # Values with the same text are equal.
  texts <- sort(unique(as.character(all)), method = "radix")
  at <- match(as.character(all), texts)[match(values, all)]
  there <- unique((as.numeric(side[!is.na(at)]) - 1) * length(texts) + at[!is.na(at)] - 1)
  there <- sort(there)
  unname(split(
    texts[there %% max(1L, length(texts)) + 1L],
    factor(there %/% max(1L, length(texts)) + 1, seq_len(count))
  ))
}
