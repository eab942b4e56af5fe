# SPDX-License-Identifier: BSD-3-Clause
# How wide texts are: the advance widths of DejaVu Sans, so that a figure has the same bytes
# wherever it is drawn, whichever fonts are there, and no library that sets text is needed.

# One family in all files; Verdana has its widths.
FONT <- "DejaVu Sans"

# Beyond ASCII: what words and units of figures have.
WIDE_CHARACTERS <- strsplit(paste0(
  "\u00a0\u00b5\u00b1\u00b2\u00b3\u00b7\u00d7\u2013\u2014\u2264\u2265\u2019\u201c\u201d",
  "\u03b1\u03b2\u03bc\u00e4\u00f6\u00fc\u00e1\u00c1\u00f3\u2026\u2192\u2076\u00f1\u00e9"
), "")[[1L]]

# Thousandths of the size, of the characters 32 to 126 and the wide ones.
PLAIN_WIDTHS <- c(
  318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
  636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 709, 686, 698, 770, 632,
  575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 595, 732, 684, 989, 685,
  611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
  278, 974, 634, 612, 635, 635, 395, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
  318, 636, 838, 401, 401, 318, 838, 500, 1000, 838, 838, 318, 518, 518, 659, 638, 636, 613, 612,
  634, 613, 709, 612, 1000, 838, 401, 634, 615
)
BOLD_WIDTHS <- c(
  348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696,
  696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683,
  683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 680, 703, 812, 774, 1103, 771,
  724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665,
  343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
  348, 736, 838, 438, 438, 380, 838, 500, 1000, 838, 838, 380, 657, 657, 687, 716, 736, 675, 687,
  712, 675, 774, 687, 1000, 838, 438, 712, 678
)
WIDTH_CODES <- c(32:126, utf8ToInt(paste(WIDE_CHARACTERS, collapse = "")))
UNKNOWN_WIDTH <- 700

#' Widths of single lines of text, in the unit of `size`.
#' @noRd
text_width <- function(lines, size, bold = FALSE) {
  if (!length(lines)) {
    return(numeric())
  }
  widths <- if (bold) BOLD_WIDTHS else PLAIN_WIDTHS
  # All characters at once: ends of lines have no width.
  codes <- utf8ToInt(paste0(enc2utf8(as.character(lines)), "\n", collapse = ""))
  end <- codes == 10L
  sums <- cumsum(fifelse(end, 0, fcoalesce(widths[match(codes, WIDTH_CODES)], UNKNOWN_WIDTH)))
  diff(c(0, sums[end])) * size / 1000
}

split_lines <- function(text) {
  if (!length(text) || is.na(text) || !nzchar(text)) {
    return(character())
  }
  strsplit(text, "\n", fixed = TRUE)[[1L]]
}

#' A text in lines of at most so wide; its own ends of lines stay. A word wider than that has a
#' line of its own.
#' @noRd
wrap_text <- function(text, width, size, bold = FALSE) {
  as.character(unlist(lapply(split_lines(text), function(line) {
    if (text_width(line, size, bold) <= width) {
      return(line)
    }
    words <- strsplit(line, " ", fixed = TRUE)[[1L]]
    wide <- text_width(words, size, bold)
    blank <- text_width(" ", size, bold)
    number <- integer(length(words))
    at <- 0
    current <- 1L
    for (i in seq_along(words)) {
      if (at > 0 && at + blank + wide[[i]] > width) {
        current <- current + 1L
        at <- 0
      }
      at <- at + wide[[i]] + if (at > 0) blank else 0
      number[[i]] <- current
    }
    vapply(split(words, number), paste, "", collapse = " ")
  })))
}
