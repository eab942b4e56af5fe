# SPDX-License-Identifier: BSD-3-Clause
# The index page of figures: thumbnails of what is drawn, and for the rest the command that would
# measure it.

#' Write `index.html` beside the exhibits.
#'
#' @param coverage what [draw_all_exhibits()] returned.
#' @param figures names of the study's own figures in `out_dir`.
#' @noRd
write_gallery <- function(coverage, out_dir, figures = character()) {
  tags <- htmltools::tags
  best <- best_of(coverage)
  published <- best[best$study != "cotejo"]
  css <- readLines(system.file("report", "report.css", package = "cotejo"))
  page <- tags$html(
    lang = "en",
    tags$head(
      tags$meta(charset = "utf-8"), tags$title("Exhibits"),
      tags$style(htmltools::HTML(paste(c(css, GALLERY_CSS), collapse = "\n")))
    ),
    tags$body(
      tags$h1("Exhibits"),
      tags$p(sprintf(
        paste(
          "Of %d published figures and tables %d are drawn, %d of them in part; of our own %d of",
          "%d. What is not drawn says which command measures its data."
        ),
        nrow(published), sum(published$state != "waiting"), sum(published$state == "partly"),
        sum(best$state != "waiting" & best$study == "cotejo"), sum(best$study == "cotejo")
      )),
      if (length(figures)) {
        list(tags$h2("These results"), tags$div(class = "grid", lapply(figures, function(name) {
          tile(paste0(name, ".svg"), paste0(name, ".svg"), gsub("-", " ", name), "")
        })))
      },
      lapply(split(coverage, by = "study", sorted = FALSE), gallery_of_study)
    )
  )
  write_whole(file.path(out_dir, "index.html"), function(file) {
    put_lines(c("<!DOCTYPE html>", as.character(page)), file)
  })
}

GALLERY_CSS <- c(
  "body { max-width: 80rem; }",
  ".grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr));",
  "  gap: 1rem; }",
  ".tile { border: 1px solid #ddd; padding: .5rem; font: .72rem/1.35 \"DejaVu Sans\", sans-serif;",
  "  overflow-wrap: anywhere; }",
  ".tile img, .tile iframe { width: 100%; height: 10rem; object-fit: contain; border: 0; }",
  ".table { display: block; height: 10rem; overflow: hidden; background: #f6f6f6; }",
  ".partly { color: #8a3b00; }"
)

gallery_of_study <- function(part) {
  tags <- htmltools::tags
  drawn <- part[part$state != "waiting"]
  waiting <- part[part$state == "waiting"]
  list(
    tags$h2(sprintf(
      "%s: %d of %d", part$study[[1L]], sum(best_of(part)$state != "waiting"),
      nrow(best_of(part))
    )),
    if (nrow(drawn)) {
      tags$div(class = "grid", lapply(seq_len(nrow(drawn)), function(i) {
        row <- drawn[i]
        file <- sprintf("%s/%s", row$study, row$file)
        table <- row$kind == "table"
        tile(
          paste0(file, if (table) ".html" else ".svg"), if (!table) paste0(file, ".svg"),
          paste0(row$file, ": ", row$title),
          if (row$state == "partly") paste("in part: lacks", row$lacks) else ""
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

tile <- function(link, image, title, remark) {
  tags <- htmltools::tags
  tags$div(
    class = "tile",
    tags$a(
      href = link,
      if (is.null(image)) {
        tags$iframe(src = link, loading = "lazy", tabindex = "-1", scrolling = "no", title = title)
      } else {
        tags$img(src = image, alt = title, loading = "lazy")
      }
    ),
    tags$div(tags$a(href = link, title)),
    if (nzchar(remark)) tags$div(class = "partly", remark)
  )
}
