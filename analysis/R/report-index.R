# SPDX-License-Identifier: BSD-3-Clause
# The index page of figures: the user's own figures, the answers, and then the exhibits. Each
# exhibit that is not drawn has the command that measures it.

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
  # Times and differences come before all other figures.
  kind <- match(sub("-.*", "", figures), c("difference", "latency", "bandwidth"), nomatch = 4L)
  body <- htmltools::tagList(
    search_box("words, such as: bcast 16 ranks"),
    if (length(figures)) {
      list(
        tags$h2("Figures of these results"),
        tags$div(class = "grid", lapply(figures[order(kind)], function(name) {
          tile(
            paste0(name, ".svg"), tags$img(
              src = paste0(name, ".svg"), alt = name, loading = "lazy"
            ), sentence_case(gsub("-", " ", name))
          )
        }))
      )
    },
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
    lapply(studies[own], gallery_of_study, out_dir),
    if (any(!own)) {
      theirs <- best[best$study != "cotejo"]
      fold(
        sprintf(
          "The five studies: %d of %d drawn. To measure more: make study TAG=full (%s)",
          sum(is_drawn(theirs$state)), nrow(theirs), say_full()
        ),
        tags$p(paste(
          say_classes(best), sprintf(
            "Exhibits of cotejo: %d of %d.", sum(is_drawn(best$state[best$study == "cotejo"])),
            sum(best$study == "cotejo")
          ),
          "n: launches of the configuration that has fewest. Exhibits that are not drawn name the",
          "command that measures their data."
        )), lapply(studies[!own], gallery_of_study, out_dir)
      )
    }
  )
  write_page(
    "Exhibits", html_text(body), file.path(out_dir, "index.html"), c("report.css", "gallery.css")
  )
}

title_of_study <- function(study) {
  if (study == "cotejo") "Exhibits of cotejo" else name_of_study(study)
}

# The cards of a study. Cards of a published study are folded, below a line with their number.
# Figures come before tables.
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
        sprintf("%d not drawn, with their missing launches", nrow(waiting)),
        html_table(data.table(
          Exhibit = waiting$file, Shows = waiting$title, `Waits for` = waiting$lacks
        ), "The command measures the missing launches.")
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

# The first rows and columns of a table, as a small table.
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
    tags$a(href = link, class = "thumb", image),
    tags$a(href = link, class = "name", title),
    if (length(facts)) tags$div(class = "facts", lapply(facts, tags$span)),
    if (nzchar(remark)) tags$div(class = "partly", remark)
  )
}

#' Draw the figures of a study and all exhibits, with an index page.
#'
#' @inheritParams draw_exhibits
#' @param endings endings of the files to write for each figure. With `"csv"` alone no figure is
#'   drawn: only the tables behind the figures are written.
#' @return the coverage, as [draw_exhibits()] returns it, invisibly.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' coverage <- draw_all(folder, tempfile(), endings = "csv")
#' table(coverage$state)
#' @export
draw_all <- function(results_dir, out_dir, session = NULL, published = NULL, pdf = FALSE,
                     endings = endings_of(pdf)) {
  from <- list("figures", dataset = sum_of_dataset(results_dir), session, endings,
    sum_of_files(published), list_exhibits())
  coverage <- rlang::with_options(kept_files(from, out_dir, gallery_files, function() {
    draw_all_anew(results_dir, out_dir, session, published)
  }), cotejo.endings = endings)$coverage
  say_coverage(coverage)
  cat(file.path(out_dir, "index.html"), "\n", sep = "")
  refuse_failed(coverage)
  invisible(coverage)
}

# Draw everything again. Returns the `coverage` and the names of the `figures`.
draw_all_anew <- function(results_dir, out_dir, session, published) {
  study <- compare_results(results_dir, session, brief = TRUE)
  with_families(families_of(study$results$sessions), {
    names <- save_study(study, out_dir)
    coverage <- draw_all_exhibits(
      study$results, out_dir, session, published = published, summary = study$whole
    )
    cards <- newest_first(answer(study$comparison), study$summary)
    write_gallery(coverage, out_dir, names, cards)
    list(coverage = coverage, figures = names)
  })
}

# The files of `draw_all()`.
gallery_files <- function(drawn) {
  files <- exhibit_files(drawn$coverage)
  if (length(files)) {
    c(files, figure_files(drawn$figures), "medians.csv", "index.html")
  }
}

#' Draw all figures of a folder of results.
#'
#' @param results_dir as for [read_results()].
#' @param out_dir folder for `NAME.svg` and `NAME.csv` (seconds, bytes), made when needed.
#' @param session names of sessions to choose from, see [choose_sessions()].
#' @param pdf whether to write `NAME.pdf`, too.
#' @return the paths, invisibly. Prints progress, and the folder last.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' draw_figures(folder, tempfile())
#' @export
draw_figures <- function(results_dir, out_dir, session = NULL, pdf = FALSE) {
  study <- compare_results(results_dir, session, brief = TRUE)
  names <- rlang::with_options(
    with_families(families_of(study$results$sessions), save_study(study, out_dir)),
    cotejo.endings = endings_of(pdf)
  )
  cat(out_dir, "\n", sep = "")
  drawn <- outer(endings_of(pdf), names, function(end, name) paste0(name, ".", end))
  invisible(file.path(out_dir, c(drawn, "medians.csv")))
}

#' Draw the exhibits of a folder of results.
#'
#' @param results_dir as for [read_results()], or a packed dataset ([unpack_dataset()]).
#' @param out_dir folder for `STUDY/EXHIBIT.svg` and `.csv` (`.html` and `.csv` for
#'   tables), `index.html`, `coverage.csv` and `coverage.md`; made when needed. Files that are
#'   drawn from emulated or simulated launches have it in their names: `EXHIBIT-simulated.svg`.
#' @param session names of sessions to choose from, see [choose_sessions()]; each panel of an
#'   exhibit is of one state.
#' @param exhibits the register, see [list_exhibits()].
#' @param published folder of the printed numbers (`data/published`), which are shown beside the
#'   measured numbers; `NULL`: no printed numbers.
#' @param pdf whether to draw `EXHIBIT.pdf`, too.
#' @return the coverage, invisibly: one row an exhibit and ground (`measured`, `emulated`,
#'   `simulated`) with launches. Columns: `file` (without ending); `state` (`drawn`, `partly`,
#'   `waiting`, or `failed` with the error in `lacks`); `class` (`real >= 6`: at least six
#'   launches of each configuration; `real`, `emulated`, `simulated`, `circular`: simulated on a
#'   machine that was fitted to it; `printed`: made of printed numbers; `waiting`, `failed`);
#'   `launches` (number); `n` (of the configuration with the fewest); `date` of the last launch;
#'   `sites`, `tests` and `lacks` (missing data). Prints progress, and the folder last. Exhibits
#'   that failed raise an error at the end, when all other exhibits are drawn.
#' @examples
#' folder <- system.file("extdata/study", package = "cotejo")
#' fans <- list_exhibits()[name == "cotejo-fans"]
#' draw_exhibits(folder, tempfile(), exhibits = fans)
#' @export
draw_exhibits <- function(results_dir, out_dir, session = NULL, exhibits = list_exhibits(),
                          published = NULL, pdf = FALSE) {
  message("reading ", results_dir)
  results <- read_study(results_dir)
  coverage <- rlang::with_options(with_families(
    families_of(results$sessions),
    draw_all_exhibits(results, out_dir, session, exhibits, published)
  ), cotejo.endings = endings_of(pdf))
  write_gallery(coverage, out_dir)
  say_coverage(coverage)
  cat(out_dir, "\n", sep = "")
  refuse_failed(coverage)
  invisible(coverage)
}

# Draw the figures of a study and write its medians (`medians.csv`). Returns the figures' names.
save_study <- function(study, out_dir) {
  figures <- list_figures(study)
  save_plots(plots_of_study(study, figures), out_dir, figures$work)
  write_csv(table_medians(study$medians), file.path(out_dir, "medians.csv"))
  figures$name
}
