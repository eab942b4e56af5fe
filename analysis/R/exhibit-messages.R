# SPDX-License-Identifier: BSD-3-Clause
# Heat maps of the messages that the ranks of a collective operation send.

# Largest number of ranks that is shown: three panels of so many labelled cells fit beside each
# other.
MOST_LABELLED_RANKS <- 12L

#' @describeIn exhibit_by_size Heat map: the bytes that each rank sends to each other rank in one
#'   call. The counts are those of the untimed repetition of a launch (docs/algorithms.md).
#'   Launches without counts, or with more pairs than a record keeps, are left out. Shown is the
#'   largest number of ranks for which labels fit. The verdict on the algorithm is part of each
#'   panel's title.
exhibit_message_matrix <- function(exhibit, panel = NULL) {
  cells <- sent_messages(exhibit)
  if (!nrow(cells)) await("launches whose messages were counted")
  ranks <- seq(0L, max(cells$from, cells$to))
  cells[, `:=`(from = factor(from, rev(ranks)), to = factor(to, ranks))]
  cells[, label := fitting(as.character(messages), 3L * length(ranks))]
  plot <- ggplot2::ggplot(cells, ggplot2::aes(to, from, fill = sent)) +
    ggplot2::geom_tile(colour = "white", linewidth = 0.3) +
    ggplot2::geom_text(ggplot2::aes(label = label), size = 8 / ggplot2::.pt) +
    ggplot2::facet_wrap("panel", ncol = 3L, labeller = ggplot2::label_wrap_gen(32)) +
    ggplot2::scale_x_discrete(drop = FALSE) +
    ggplot2::scale_y_discrete(drop = FALSE) +
    ggplot2::coord_equal() +
    ggplot2::labs(
      x = "to rank", y = "from rank",
      caption = caption_of_exhibit(
        exhibit, paste(
          "Colour: what one rank sends to another in one call, counted in an untimed launch.",
          "Labels: number of messages."
        ), cells$n
      )
    ) + theme_cotejo() + fill_by_value("sent in one call, B", trans = "log10")
  ran <- unique(cells[, c("panel", "algorithm")])
  with_finding(with_data(plot, cells[, !"label"]), sprintf(
    "%s ran in %s of a collective operation",
    count_of(uniqueN(ran$algorithm), "algorithm", "different algorithms"),
    count_of(nrow(ran), "call", "calls")
  ))
}

#' The messages between ranks in one call of each operation and size.
#' @return data.table: `panel`, `algorithm` (its verdict), `n` (launches), `from`, `to` (ranks),
#'   `messages` (their number), `sent` (B).
#' @noRd
sent_messages <- function(exhibit) {
  points <- setDT(as.list(exhibit$summary))
  launches <- results_of(exhibit)$launches
  texts <- unique(launches$ran[launches$key %in% points$key & !is.na(launches$ran)])
  counted <- split_entries(as.character(texts), RAN_MEMBERS)
  if (!nrow(counted)) {
    return(counted)
  }
  points[, text := match(launches$ran[match(key, launches$key)], texts)]
  points[, at := match(
    paste(text, operation, bytes), paste(counted$text, counted$operation, counted$bytes)
  )]
  points <- points[counted$sends[at] %in% setdiff(counted$sends, c("null", "", NA))]
  if (!nrow(points)) {
    return(points)
  }
  points <- points[ranks == max(c(ranks[ranks <= MOST_LABELLED_RANKS], min(ranks)))]
  points[, algorithm := counted$words[at]]
  panel <- unique(c(argument(exhibit, "panel", c("mpi", "operation", "bytes")), "algorithm"))
  points[, panel := level_of(points, c(panel, unexplained(points, panel, "bytes")))]
  points[, n := uniqueN(key), by = "panel"]
  points <- unique(points, by = "panel")
  points[, {
    links <- matrix(as.numeric(strsplit(counted$sends[at], ",", fixed = TRUE)[[1L]]), 4L)
    list(from = links[1L, ], to = links[2L, ], messages = links[3L, ], sent = links[4L, ])
  }, by = c("panel", "algorithm", "n")]
}
