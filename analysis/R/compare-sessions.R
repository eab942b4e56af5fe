# SPDX-License-Identifier: BSD-3-Clause
# Sessions and node sets as levels of a comparison: the data that a verdict is based on.

# The numbers of sessions and node sets of a comparison, and the ratios over them.
sessions_of <- function(a, b, sizes, blocks) {
  count <- length(sizes)
  all <- unique(c(a$session, b$session))
  places <- known_sets(a, b)
  hosts <- max(a$hosts, 1L)
  one <- ratio_of_one_session()
  if (length(all) == 1L && length(places) < 2L) {
    return(lapply(list(
      sessions = 1L, nodes = length(places), session_ratio = one$ratio,
      session_error = one$error, session_df = one$df, session_spread = one$spread,
      nodes_ratio = one$ratio, nodes_error = one$error, nodes_df = one$df, spread_over = hosts,
      sessions_differ = FALSE
    ), rep, count))
  }
  columns <- c("block", "session", "node_set", "hosts", "median_s")
  of_blocks <- function(side) !length(blocks) | side$block %in% blocks
  kept <- list(of_blocks(a), of_blocks(b))
  as.list(rbindlist(lapply(sizes, function(size) {
    x <- pick(a[columns], a$bytes == size & kept[[1L]])
    y <- pick(b[columns], b$bytes == size & kept[[2L]])
    sessions <- uniqueN(c(x$session, y$session))
    over <- if (sessions > 1L) ratio_over_sessions(x, y) else one
    nodes <- length(known_sets(x, y))
    on <- if (nodes > 1L) ratio_over_sessions(x, y, unit = "node_set") else one
    list(
      sessions = sessions, nodes = nodes, session_ratio = over$ratio,
      session_error = over$error, session_df = over$df, session_spread = over$spread,
      nodes_ratio = on$ratio, nodes_error = on$error, nodes_df = on$df,
      spread_over = max(x$hosts, 1L),
      sessions_differ = !length(intersect(x$session, y$session))
    )
  })))
}

known_sets <- function(a, b) Filter(nzchar, unique(c(a$node_set, b$node_set)))
