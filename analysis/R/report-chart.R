# SPDX-License-Identifier: BSD-3-Clause
# The interactive chart of a question: the data that `charts.js` draws with uPlot.

# Columns of a comparison and of a median that a chart shows.
CHART_TIMES <- c(y = "median_s", low = "low_s", high = "high_s")
CHART_RATIOS <- c(y = "ratio", low = "low", high = "high")

#' A chart of medians, and of ratios to a library that the reader chooses, by message size.
#'
#' @param study the rows of one question, see [part_of_study()].
#' @return HTML; `NULL` where no case has two sizes and two MPI libraries.
#' @noRd
chart_of_question <- function(study) {
  cases <- cases_of_chart(study$medians, study$comparison)
  if (length(cases)) {
    data <- jsonlite::toJSON(cases, auto_unbox = TRUE, na = "null", digits = NA)
    # A text of the data must not end the script.
    data <- gsub("<", "\\u003c", data, fixed = TRUE)
    htmltools::HTML(paste0(
      "<div class=\"chart\"><script type=\"application/json\">", data, "</script></div>"
    ))
  }
}

cases_of_chart <- function(medians, comparison) {
  if (!nrow(medians) || !nrow(comparison)) {
    return(list())
  }
  # A case is one chart: it has one value in every column except the library and the size.
  by <- setdiff(names(medians)[seq_len(match("bytes", names(medians)) - 1L)], c("mpi", "factors"))
  by <- intersect(by, names(comparison))
  medians <- medians[is.finite(bytes) & median_s > 0]
  group <- number_of(medians, by)
  first <- medians[!duplicated(group), c(by, "bytes"), with = FALSE]
  colours <- colours_of(medians$mpi)
  titles <- make.unique(titles_of_cases(first), sep = ", part ")
  cases <- lapply(seq_len(nrow(first)), function(i) {
    times <- medians[group == i]
    sizes <- sort(unique(times$bytes))
    mpis <- in_order(unique(times$mpi))
    pairs <- comparison[first[i, by, with = FALSE], on = by, nomatch = NULL]
    if (length(sizes) < 2L || length(mpis) < 2L || !nrow(pairs)) {
      return(NULL)
    }
    list(
      title = titles[[i]], sizes = I(sizes), labels = I(format_bytes(sizes)),
      libraries = lapply(mpis, function(name) {
        c(
          list(name = title_of(name), colour = colours[[name]]),
          points_of_chart(times[mpi == name], CHART_TIMES, sizes, "n", 1e6)
        )
      }),
      pairs = lapply(unname(split(pairs, by = c("a", "b"))), function(pair) {
        c(
          list(a = match(pair$a[[1L]], mpis) - 1L, b = match(pair$b[[1L]], mpis) - 1L),
          points_of_chart(pair, CHART_RATIOS, sizes, "n_a", 1)
        )
      })
    )
  })
  Filter(Negate(is.null), cases[plain_first(first)])
}

# The order of the cases: cases without settings and parameters before others, and measured cases
# before emulated or simulated ones.
plain_first <- function(rows) {
  has <- function(column) nzchar(value_or(rows, column))
  order(
    has("simulated") + has("settings") + has("parameters"), value_or(rows, "scale") != "quick"
  )
}

# The differences between cases, in words.
titles_of_cases <- function(rows) {
  titles <- Filter(function(values) length(unique(values)) > 1L, titled_strata(rows))
  if (!length(titles)) {
    return(rep("all", nrow(rows)))
  }
  words <- Map(function(values, title) {
    plain <- title %in% c("Operation", "Transport", "Settings", "Parameters", "Simulated")
    fifelse(nzchar(values), if (plain) values else paste(tolower(title), values), "")
  }, titles, names(titles))
  vapply(seq_len(nrow(rows)), function(i) {
    toString(Filter(nzchar, vapply(words, `[[`, "", i)))
  }, "")
}

# Values of columns in the order of sizes, missing at missing sizes.
points_of_chart <- function(rows, columns, sizes, n, scale) {
  rows <- rows[match(sizes, rows$bytes)]
  c(
    lapply(columns, function(column) I(signif(rows[[column]] * scale, 4L))),
    list(n = I(rows[[n]]))
  )
}
