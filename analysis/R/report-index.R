# SPDX-License-Identifier: BSD-3-Clause
# The index page of figures: the user's own figures first, then the exhibits. Each exhibit that is
# not drawn has the command that measures it.

#' Write `index.html` into the folder of the exhibits: contents, search, and one card per exhibit
#' with its class (the kind of network or machine) and number of launches, or with its missing
#' data.
#'
#' @param coverage what [draw_all_exhibits()] returned.
#' @param figures names of the study's own figures in `out_dir`.
#' @param cards answers of the study, the most important first.
#' @noRd
write_gallery <- function(coverage, out_dir, figures = character(), cards = list()) {
  tags <- htmltools::tags
  best <- best_of(coverage)
  studies <- split(coverage, by = "study", sorted = FALSE)
  own <- names(studies) == "cotejo"
  body <- htmltools::tagList(
    search_box("words, such as: bcast 16 ranks"),
    if (length(cards)) {
      left <- length(cards) - MOST_CARDS
      list(
        tags$h2("Answers"), tags$p(CARD_WORDS), html_cards(utils::head(cards, MOST_CARDS)),
        if (left > 0L) {
          tags$p(sprintf("%s in the report (`make report`).", count_of(
            left, "more answer is", "more answers are"
          )))
        }
      )
    },
    if (length(figures)) {
      list(
        tags$h2("Figures of these results"),
        tags$div(class = "grid", lapply(first_figures(figures), function(name) {
          tile(
            paste0(name, ".svg"), tags$img(
              src = paste0(name, ".svg"), alt = name, loading = "lazy"
            ), sentence_case(gsub("-", " ", name))
          )
        }))
      )
    },
    lapply(studies[own], gallery_of_study, out_dir),
    if (any(!own)) {
      theirs <- best[best$study != "cotejo"]
      fold(
        sprintf(
          "The five studies: %d of %d drawn. To measure more: make study TAG=full (hours)",
          sum(is_drawn(theirs$state)), nrow(theirs)
        ),
        tags$p(say_gallery(best)), lapply(studies[!own], gallery_of_study, out_dir)
      )
    }
  )
  write_page(
    "Exhibits", html_text(body), file.path(out_dir, "index.html"), c("report.css", "gallery.css")
  )
}

say_gallery <- function(best) {
  own <- best$study == "cotejo"
  paste(
    say_classes(best),
    sprintf("Exhibits of cotejo: %d of %d.", sum(own & is_drawn(best$state)), sum(own)),
    "n: launches of the configuration that has fewest. Exhibits that are not drawn name the",
    "command that measures their data."
  )
}

title_of_study <- function(study) {
  if (study == "cotejo") "Exhibits of cotejo" else name_of_study(study)
}

#' The cards of a study. Cards of a published study are folded, below a line with their number.
#' Figures come before tables.
#' @noRd
gallery_of_study <- function(part, out_dir) {
  tags <- htmltools::tags
  part <- part[order(kind == "table")]
  drawn <- part[is_drawn(part$state)]
  waiting <- part[!is_drawn(part$state)]
  study <- part$study[[1L]]
  best <- best_of(part)
  inside <- list(
    if (nrow(drawn)) {
      tags$div(class = "grid", lapply(seq_len(nrow(drawn)), function(i) {
        row <- drawn[i]
        file <- sprintf("%s/%s", row$study, row$file)
        table <- row$kind == "table"
        tile(
          paste0(file, if (table) ".html" else ".svg"),
          if (table) {
            preview_of_table(file.path(out_dir, paste0(file, ".csv")))
          } else {
            tags$img(src = paste0(file, ".svg"), alt = row$title, loading = "lazy")
          },
          row$title, c(
            row$exhibit, if (row$launches > 0L) {
              c(row$class, paste("n =", row$n), row$date)
            } else {
              "printed numbers"
            }
          ),
          if (row$state == "partly") paste("in part: lacks", row$lacks) else "",
          paste(
            row$study, row$tests, row$sites, count_of(row$launches, "launch", "launches")
          )
        )
      }))
    },
    if (nrow(waiting)) {
      fold(
        sprintf("%d not drawn, and what they wait for", nrow(waiting)),
        html_table(data.table(
          Exhibit = waiting$file, Shows = waiting$title, `Waits for` = waiting$lacks
        ), "The command measures what is missing.")
      )
    }
  )
  if (study == "cotejo") {
    return(list(tags$h2(title_of_study(study)), inside))
  }
  fold(sprintf(
    "%s: %d of %d drawn", title_of_study(study), sum(is_drawn(best$state)), nrow(best)
  ), inside)
}

#' The figures of results in the order for readers: times and differences before all others.
#' @noRd
first_figures <- function(figures) {
  kind <- match(sub("-.*", "", figures), c("difference", "latency", "bandwidth"), nomatch = 4L)
  figures[order(kind)]
}

#' The first rows and columns of a table, as a small table.
#' @noRd
preview_of_table <- function(csv) {
  if (!file.exists(csv)) {
    return("table")
  }
  table <- fread(csv, nrows = 6L, colClasses = "character")
  table <- table[, utils::head(names(table), 4L), with = FALSE]
  cells <- vapply(seq_len(nrow(table)), function(i) {
    paste0("<td>", htmlEscape(substr(unlist(table[i]), 1L, 18L)), "</td>", collapse = "")
  }, "")
  htmltools::HTML(paste0(
    "<table><tr>", paste0("<th>", htmlEscape(substr(names(table), 1L, 18L)), "</th>",
      collapse = ""), "</tr>", paste0("<tr>", cells, "</tr>", collapse = ""), "</table>"
  ))
}

#' A card of the index page.
#'
#' @param image the shown image, HTML.
#' @param facts short texts: name, class, launches.
#' @param remark missing data of the exhibit.
#' @param words additional words for the search.
#' @noRd
tile <- function(link, image, title, facts = character(), remark = "", words = "") {
  tags <- htmltools::tags
  tags$div(
    class = "tile found", `data-words` = paste(c(title, facts, remark, words), collapse = " "),
    tags$a(
      href = link, class = "thumb",
      image
    ),
    tags$a(href = link, class = "name", title),
    if (length(facts)) tags$div(class = "facts", lapply(facts, tags$span)),
    if (nzchar(remark)) tags$div(class = "partly", remark)
  )
}
