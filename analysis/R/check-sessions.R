# SPDX-License-Identifier: BSD-3-Clause
# Chooses the sessions that each comparison group uses. All launches of a group come from one state
# of programs and machine. A session never hides configurations that it lacks.

# Properties in which two sessions must agree so that their launches are replicates, with their
# names in words. Emulation and simulation are part of the configuration: results of one network
# do not replace another's. The version covers all code that measures, whatever the commit, where
# launches record it.
STATE <- c(
  scale = "scale", measuring = "version of the measuring code", provider = "provider of the stack",
  lock_sha256 = "stack", kernel = "kernel", cpu_model = "CPU", governor = "frequency governor",
  machine = "machine", observed_state = "state that was observed"
)

# Scales for functional checks or comparisons of tools. They are shown when no other scale exists.
LESSER_SCALES <- c("bench", "smoke")

# Columns that are compared by default.
SIDES <- c("mpi", "settings")

#' Choose the sessions of each comparison group.
#'
#' A group has everything in common except the compared columns (`sides`): site, simulation, test,
#' operation, transport, placement, ranks, parameters and so on. All launches of a group come from
#' one state (scale, version, stack, machine). It is the state of any session that covers most of
#' the levels and sizes (by octave) that were ever measured for the group. Among several such
#' states the newest is chosen. So a later session with all levels replaces earlier sessions, and a
#' later session that lacks some levels does not. A level that the chosen state lacks is not taken
#' from another state. All sessions of the chosen state are used together. Smoke and bench sessions
#' count only where no other session exists.
#'
#' @param rows launches ([read_results()]) or their summaries ([summarise_launches()]).
#' @param sides columns that are compared.
#' @param session names of sessions to choose from; all by default.
#' @return list: `rows`, logical, which of `rows` are used; `account`, data.table, one row a site,
#'   test and session: `status` (`used`; `pooled`: used, an earlier session of the same state;
#'   `superseded`; `refused`; `not requested`; `unusable`), `launches` (all), `used` (launches),
#'   `why` (reason for launches that are not used).
#' @examples
#' study <- read_study(system.file("extdata/study", package = "cotejo"))
#' summary <- summarise_launches(study)
#' choose_sessions(summary)$account
#' @export
choose_sessions <- function(rows, sides = SIDES, session = NULL) {
  if (!nrow(rows)) {
    return(list(rows = logical(), account = data.table()))
  }
  chosen <- choose_states(rows, sides, session)
  list(rows = chosen$used, account = account_of(chosen, rows, sides))
}

# The choice without its account: which of `rows` are `used`, and the tables behind the choice.
choose_states <- function(rows, sides, session = NULL) {
  # Not `data.table()`, whose argument `key` would not become a column.
  where <- as.data.table(list(
    row = seq_len(nrow(rows)), site = rows$site, test = rows$test, session = rows$session,
    key = rows$key, state = state_of(rows), lesser = match(rows$scale, LESSER_SCALES, 0L),
    group = number_of(rows, setdiff(intersect(names(rows), GROUPED), c(sides, "scale"))),
    side = number_of(rows, intersect(names(rows), sides)),
    # By octave, because launches that choose sizes themselves do not choose the same sizes.
    size = if ("bytes" %in% names(rows)) floor(log2(pmax(rows$bytes, 0.5))) else 0,
    usable = rows$status == "ok",
    wanted = if (is.null(session)) TRUE else rows$session %in% session
  ))
  # The test is ignored here: a smoke test adds no information to a study.
  rough <- number_of(rows, intersect(names(rows), c(
    "site", "simulated", "experiment", "operation", "transport"
  )))
  where[, needless := lesser > 0L & rough %in% rough[usable & wanted & lesser == 0L]]
  cells <- unique(where[usable & wanted & !needless, c(
    "group", "state", "side", "size", "session", "lesser"
  ), with = FALSE])
  # Only plain functions, which data.table computes for all groups at once.
  of <- c("group", "state")
  states <- unique(cells, by = c(of, "side", "size"))[, list(sides = .N), by = of]
  latest <- cells[, list(newest = max(session), lesser = min(lesser)), by = of]
  states[, c("newest", "lesser") := latest[, c("newest", "lesser")]]
  setorderv(states, c("group", "lesser", "sides", "newest"), c(1L, 1L, -1L, -1L))
  best <- unique(states, by = "group")
  used <- where$usable & where$wanted & !where$needless &
    where$state == best$state[match(where$group, best$group)]
  used[is.na(used)] <- FALSE
  list(used = used, where = where, states = states, best = best, cells = cells)
}

# Columns that distinguish groups: everything that makes a configuration.
GROUPED <- c(
  "site", "simulated", "experiment", "test", "operation", "mpi", "transport", "placement",
  "hosts", "ranks", "settings", "parameters", "factors"
)

number_of <- function(rows, columns) {
  if (!length(columns)) {
    return(rep(1L, nrow(rows)))
  }
  keys <- as.data.table(unclass(rows)[columns])
  keys[, number := .GRP, by = columns]$number
}

#' Number the observed states of sessions that agree in all other properties of a state. The result
#' is "" without a difference, else a number and the parts that differ.
#'
#' Two sessions have the same state when the launches agree in each cell that both sessions have.
#'
#' @param launches launches from [read_results()], with their `fingerprint`.
#' @noRd
observed_states <- function(launches) {
  out <- rep("", nrow(launches))
  told <- which(!is.na(launches$fingerprint) & launches$status == "ok")
  base <- state_of(launches)
  place <- paste(launches$site, launches$session, sep = "/")
  for (rows in split(told, base[told])) {
    kinds <- list()
    for (session in sort(unique(place[rows]), method = "radix")) {
      here <- rows[place[rows] == session]
      prints <- launches$fingerprint[here]
      names(prints) <- cell_of(launches$id[here])
      fits <- which(lengths(lapply(kinds, differing_parts, prints)) == 0L)
      number <- if (length(fits)) fits[[1L]] else length(kinds) + 1L
      if (!length(fits)) kinds[[number]] <- character()
      new <- prints[!names(prints) %in% names(kinds[[number]])]
      kinds[[number]] <- c(kinds[[number]], new[!duplicated(names(new))])
      if (number > 1L) {
        parts <- toString(differing_parts(kinds[[1L]], prints))
        out[place == session & base == base[[here[[1L]]]]] <- sprintf("%d: %s", number, parts)
      }
    }
  }
  out
}

# The parts in which fingerprints of the same cells differ; none without a common cell.
differing_parts <- function(known, prints) {
  known <- known[names(prints)]
  which <- !is.na(known) & known != prints
  members <- function(texts) strsplit(texts, ";", fixed = TRUE)
  parts <- Map(
    function(a, b) c(setdiff(a, b), setdiff(b, a)), members(known[which]), members(prints[which])
  )
  sort(unique(as.character(sub("=.*", "", unlist(parts)))), method = "radix")
}

# The state of each launch as one text.
state_of <- function(launches) {
  known <- intersect(names(STATE), names(launches))
  do.call(paste, c(unname(unclass(launches)[known]), sep = "|"))
}

# The status of each session, with the reason.
account_of <- function(chosen, rows, sides) {
  where <- chosen$where
  used <- chosen$used
  best <- chosen$best
  why <- reasons_of(where, chosen$states, best, chosen$cells, rows, sides)
  keyed <- where[, list(
    usable = usable[[1L]], wanted = wanted[[1L]], needless = all(needless), used = any(used[row])
  ), by = c("site", "test", "session", "key")]
  account <- keyed[, list(
    launches = .N, usable = sum(usable), used = sum(used), wanted = wanted[[1L]],
    needless = all(needless)
  ), keyby = c("site", "test", "session")]
  account <- why[account, on = c("site", "test", "session")]
  # Among the used sessions of one state, the newest is the session that was chosen.
  newest <- best[where[used, list(site, test, session, group)], on = "group"]
  newest <- newest[, list(is_newest = any(newest == session)), by = c("site", "test", "session")]
  account <- newest[account, on = c("site", "test", "session")]
  account[, status := fcase(
    usable == 0L, "unusable", !wanted, "not requested", used > 0L & is_newest %in% TRUE, "used",
    used > 0L, "pooled", refused %in% TRUE, "refused", rep(TRUE, .N), "superseded"
  )]
  account[status == "unusable", why := "no usable launch"]
  account[status == "superseded" & needless, why := NEEDLESS]
  account[status == "pooled" & is.na(why), why := "the same state as a later session"]
  account[used == usable & status %in% "used", why := ""]
  account[is.na(why), why := ""]
  account[, c("site", "test", "session", "status", "launches", "used", "why"), with = FALSE]
}

# The reasons why states were not chosen, by site, test and session: `why` in words, and `refused`
# (the state is newer than the used one, or has levels that the used state lacks).
reasons_of <- function(where, states, best, cells, rows, sides) {
  lost <- states[!best, on = c("group", "state")]
  lost <- best[, list(group, best_state = state, best_newest = newest, best_lesser = lesser)][
    lost, on = "group"
  ]
  sides_of <- function(states) {
    held <- unique(cells[states, on = c("group", "state"), nomatch = NULL][
      , c("group", "state", "side"), with = FALSE
    ])
    split(held$side, paste(held$group, held$state))
  }
  theirs <- sides_of(best[, c("group", "state"), with = FALSE])
  own <- sides_of(lost[, c("group", "state"), with = FALSE])
  label <- side_labels(where, rows, sides)
  first_row <- where[!duplicated(state), list(state, row)]
  lost[, why := vapply(seq_len(.N), function(i) {
    mine <- own[[paste(group[[i]], state[[i]])]]
    best_sides <- theirs[[paste(group[[i]], best_state[[i]])]]
    lacking <- setdiff(best_sides, mine)
    alone <- setdiff(mine, best_sides)
    differs <- differing_state(rows, first_row, state[[i]], best_state[[i]])
    if (lesser[[i]] > best_lesser[[i]]) {
      NEEDLESS
    } else if (length(alone)) {
      sprintf(
        "%s only here: not compared with session %s (another %s)", some_of(label[alone]),
        best_newest[[i]], differs
      )
    } else if (newest[[i]] > best_newest[[i]]) {
      sprintf(
        "newer than session %s, but without %s", best_newest[[i]],
        if (length(lacking)) some_of(label[lacking]) else "all of its sizes"
      )
    } else {
      sprintf("measured again in session %s (another %s)", best_newest[[i]], differs)
    }
  }, "")]
  lost[, refused := newest > best_newest | grepl("only here", why, fixed = TRUE)]
  sessions <- unique(where[usable & wanted, list(site, test, session, group, state)])
  sessions <- lost[, c("group", "state", "why", "refused"), with = FALSE][
    sessions, on = c("group", "state"), nomatch = NULL
  ]
  sessions[, list(
    why = paste(utils::head(unique(why), 3L), collapse = "; "), refused = any(refused)
  ), by = c("site", "test", "session")]
}

NEEDLESS <- "smoke and bench launches count only where there are no others"

some_of <- function(texts) {
  texts <- unique(texts)
  more <- length(texts) - 1L
  if (more > 1L) paste(texts[[1L]], "and", more, "more") else toString(texts)
}

# Names of the compared levels in words, by their number.
side_labels <- function(where, rows, sides) {
  first <- where[!duplicated(side)][order(side)]
  texts <- lapply(intersect(names(rows), sides), function(column) {
    title_of(fcoalesce(as.character(rows[[column]][first$row]), ""))
  })
  if (!length(texts)) {
    return("it")
  }
  trimws(do.call(paste, texts))
}

# The properties in which two states differ, in words.
differing_state <- function(rows, first_row, one, other) {
  a <- first_row$row[match(one, first_row$state)]
  b <- first_row$row[match(other, first_row$state)]
  known <- intersect(names(STATE), names(rows))
  differs <- vapply(known, function(column) !identical(rows[[column]][a], rows[[column]][b]), NA)
  said <- unname(STATE[known])
  parts <- sub("^[0-9]+: ", "", rows[["observed_state"]][c(a, b)])
  parts <- unique(parts[nzchar(parts) & !is.na(parts)])
  if (length(parts)) {
    observed <- known == "observed_state"
    said[observed] <- paste0(said[observed], ": ", toString(parts))
  }
  toString(said[differs])
}

# Complete the account with the sessions whose launches left no summary.
account_with <- function(account, launches) {
  of_session <- c("site", "test", "session")
  lost <- launches[, list(launches = .N), keyby = of_session][!account, on = of_session]
  lost[, c("status", "used", "why") := list("unusable", 0L, "no usable launch")]
  out <- rbind(account, lost, use.names = TRUE)
  # Count launches of the warm-up block and failed launches, too.
  all <- launches[, list(
    launches = .N, others = others_in_words(status), machine = machine_in_words(.SD)
  ), by = of_session]
  out[all, c("launches", "others", "machine") := list(i.launches, i.others, i.machine),
    on = of_session
  ]
  out[used > 0L, why := paste0(why, fifelse(nzchar(why) & nzchar(others), "; ", ""), others)]
  out[, others := NULL]
  setorderv(out, of_session)
  out[]
}

# The launches that are in no statistic, by their status: "6 launches: warm-up".
others_in_words <- function(status) {
  others <- table(status[status != "ok"])
  paste(count_of(as.integer(others), "launch:", "launches:"), names(others), collapse = "; ")
}

# The CPU models that launches ran on, each with the identifiers of its machines.
machine_in_words <- function(launches) {
  cpu <- launches$cpu_model
  id <- substr(fcoalesce(as.character(value_or_na(launches, "machine")), ""), 1L, 6L)
  words <- fifelse(is.na(cpu), "", paste0(cpu, fifelse(nzchar(id), sprintf(" (%s)", id), "")))
  toString(distinct(words[nzchar(words)]))
}

#' Launches that a session planned but that have not run.
#'
#' @param sessions what [read_sessions()] returned as `sessions`.
#' @param launches what [read_results()] returned as `launches`.
#' @return data.table: `site`, `session`, `cell`, `planned`, `usable`, `unusable` (failed or
#'   marked), `missing`; only cells that lack usable launches.
#' @keywords internal
missing_cells <- function(sessions, launches) {
  out <- lapply(seq_len(nrow(sessions)), function(i) {
    plan <- sessions[i]
    here <- launches[launches$site == plan$site & launches$session == plan$session]
    cell <- cell_of(here$id)
    cells <- plan$cells[[1L]]
    count <- function(which) tabulate(match(cell[which], cells), length(cells))
    usable <- count(here$status == "ok")
    unusable <- count(!here$status %in% RECORDED)
    reached <- plan$reached[[1L]][cells]
    planned <- as.integer(fifelse(is.na(reached), plan$blocks, reached))
    data.table(
      site = plan$site, session = plan$session, cell = cells, planned = planned,
      usable = usable, unusable = unusable, missing = pmax(0L, planned - usable - unusable)
    )
  })
  out <- rbindlist(out)
  if (nrow(out)) out[out$usable < out$planned] else out
}

# A launch's name without its number: CELL.NNN.
cell_of <- function(id) {
  sub("[.][0-9]+$", "", id)
}
