# SPDX-License-Identifier: BSD-3-Clause
# The index page of figures: thumbnails of what is drawn, and for the rest the command that would
# measure it.

#' Write `index.html` beside the exhibits: contents, search, a card each with its class (what it
#' was measured on) and number of launches, and what the others wait for.
#'
#' @param coverage what [draw_all_exhibits()] returned.
#' @param figures names of the study's own figures in `out_dir`.
#' @noRd
write_gallery <- function(coverage, out_dir, figures = character()) {
  tags <- htmltools::tags
  best <- best_of(coverage)
  studies <- split(coverage, by = "study", sorted = FALSE)
  contents <- lapply(studies, function(rows) {
    all <- best_of(rows)
    tags$li(
      tags$a(href = paste0("#", rows$study[[1L]]), title_of_study(rows$study[[1L]])),
      sprintf(" %d of %d", sum(is_drawn(all$state)), nrow(all))
    )
  })
  body <- htmltools::tagList(
    tags$p(say_gallery(best)),
    search_box("words, such as: bcast 16 ranks"),
    tags$nav(tags$ul(unname(contents), if (length(figures)) {
      tags$li(tags$a(href = "#results", "All times of these results"), length(figures))
    })),
    lapply(studies, gallery_of_study),
    if (length(figures)) {
      list(
        tags$h2(id = "results", "All times of these results"),
        tags$div(class = "grid", lapply(figures, function(name) {
          tile(paste0(name, ".svg"), paste0(name, ".svg"), sentence_case(gsub("-", " ", name)))
        }))
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
    say_classes(best), sprintf("Of our own %d of %d.", sum(own & is_drawn(best$state)), sum(own)),
    "n: launches of the configuration that has fewest. What is not drawn names the command that",
    "measures its data."
  )
}

title_of_study <- function(study) {
  if (study == "cotejo") "Of this project" else paste("Counterparts of", study)
}

gallery_of_study <- function(part) {
  tags <- htmltools::tags
  drawn <- part[is_drawn(part$state)]
  waiting <- part[!is_drawn(part$state)]
  study <- part$study[[1L]]
  list(
    tags$h2(id = study, title_of_study(study)),
    if (nrow(drawn)) {
      tags$div(class = "grid", lapply(seq_len(nrow(drawn)), function(i) {
        row <- drawn[i]
        file <- sprintf("%s/%s", row$study, row$file)
        table <- row$kind == "table"
        tile(
          paste0(file, if (table) ".html" else ".svg"), if (!table) paste0(file, ".svg"),
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
}

#' A card of the index page.
#'
#' @param facts short texts: name, class, launches.
#' @param remark what it lacks.
#' @param words further ones by which it is found.
#' @noRd
tile <- function(link, image, title, facts = character(), remark = "", words = "") {
  tags <- htmltools::tags
  tags$div(
    class = "tile found", `data-words` = paste(c(title, facts, remark, words), collapse = " "),
    tags$a(
      href = link, class = "thumb",
      if (is.null(image)) "table" else tags$img(src = image, alt = title, loading = "lazy")
    ),
    tags$a(href = link, class = "name", title),
    if (length(facts)) tags$div(class = "facts", lapply(facts, tags$span)),
    if (nzchar(remark)) tags$div(class = "partly", remark)
  )
}
