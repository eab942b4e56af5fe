# SPDX-License-Identifier: BSD-3-Clause
# Converts one sample file to one checked table.
#
# The fast way parses all lines of the file at once and checks types and ranges by column. Only if
# this check fails are the lines checked one by one, to name the first bad line.

# Maximum time (s): no operation takes eleven days; a longer time is an error of the file.
LONGEST_S <- 1e6

REMEASURE <- "delete the launch's two files and measure it again"

#' Read the samples of launches.
#'
#' `asked` is a list with the arguments of [read_samples()] for each launch.
#' @return list, ordered by the first launch of each element: numbers of launches (`of`), their
#'   `rows`, and their `samples`, in order; or a condition in place of the samples of one launch.
#' @noRd
read_sample_files <- function(asked) {
  shape <- vapply(asked, function(one) toString(c(one$columns$name, one$columns$role)), "")
  size <- file.size(vapply(asked, `[[`, "", "file"))
  size[is.na(size)] <- 0
  shape <- paste(shape, cumsum(size) %/% MOST_TOGETHER)
  found <- lapply(split(seq_along(asked), factor(shape, unique(shape))), function(of) {
    together <- read_alike(asked[of])
    if (!is.null(together)) {
      rows <- vapply(asked[of], function(one) as.integer(one$rows), 0L)
      return(list(list(of = of, rows = rows, samples = together)))
    }
    lapply(of, function(i) {
      samples <- tryCatch(do.call(read_samples, asked[[i]]), error = identity)
      list(of = i, rows = NROW(samples), samples = samples)
    })
  })
  found <- unlist(unname(found), recursive = FALSE)
  found[order(vapply(found, function(one) one$of[[1L]], 0L))]
}

# The samples of launches with the same columns, parsed at once, which takes a fraction of the
# time. `NULL` if any file is unusual: each file is then read alone, which reports the fault.
read_alike <- function(asked) {
  columns <- asked[[1L]]$columns
  rows <- vapply(asked, function(one) as.numeric(one$rows), 0)
  if (length(asked) < 2L || !identical(utils::head(columns$name, 6L), SAMPLE_COLUMNS) ||
    !all(rows >= 1 & rows <= MOST_GROUPS & rows == trunc(rows))) {
    return(NULL)
  }
  samples <- parse_alike(vapply(asked, `[[`, "", "file"), columns$name, rows)
  if (!is.null(samples) && plausible(samples, columns, column_patterns(columns)) &&
    typed_as_alone(samples)) {
    set(samples, j = "valid", value = samples$valid == 1L)[]
  }
}

# The joined rows of files; `NULL` if a file is not plain or has another number of rows.
parse_alike <- function(files, columns, rows) {
  bodies <- mapply(body_of_samples, files, rows, MoreArgs = list(columns), USE.NAMES = FALSE)
  empty <- function(text) any(grepl(text, bodies, fixed = TRUE))
  # An empty value could change the type of a column if files are joined.
  if (anyNA(bodies) || empty(",,") || empty(",\n")) {
    return(NULL)
  }
  # An empty line ends each file: its position shows whether a file has more or fewer rows.
  ends <- cumsum(rows + 1)
  text <- paste0(bodies, strrep(",", length(columns) - 1L), "\n", collapse = "")
  samples <- without_warning(parse_samples(text, columns, 0L))
  as_many <- !is.null(samples) && nrow(samples) == sum(rows + 1)
  if (as_many && !any(nzchar(samples$operation[ends]))) samples[-ends]
}

# The content of a plain sample file after its two header lines; `NA` if anything is unusual.
body_of_samples <- function(file, rows, columns) {
  size <- if (is_link(file)) 0 else file.size(file)
  head <- paste0(SAMPLES_SCHEMAS, "\n", paste(columns, collapse = ","), "\n")
  if (endsWith(file, ".gz") || size < nchar(head[[1L]]) || size > MOST_TOGETHER) {
    return(NA_character_)
  }
  source <- file(file, "rb")
  on.exit(close(source))
  # The header is read apart, because leaving it out later would copy the file.
  from <- nchar(head[[1L]], "bytes")
  first <- readBin(source, "raw", from)
  bytes <- readBin(source, "raw", size - from)
  if (length(bytes) == size - from && text_of_bytes(first) %in% head &&
    has_lines(bytes, rows, length(columns), 0L)) {
    rawToChar(bytes)
  } else {
    NA_character_
  }
}

# Whether a file has a header of `head` lines and the given number of rows, each no longer than
# allowed. fread() and other functions need many times the memory of the file to detect that it has
# not.
has_lines <- function(bytes, rows, columns, head = 2L) {
  is_end <- bytes == LINE_END
  # The shortest row has six fields of one byte each.
  if (length(bytes) < 12 * rows || sum(is_end) != rows + head) {
    return(FALSE)
  }
  ends <- which(is_end)
  ends[[length(ends)]] == length(bytes) && all(diff(ends) <= MOST_FIELD * columns)
}
LINE_END <- as.raw(10)
# Maximum bytes of a field with its comma: a factor has up to 100 characters.
MOST_FIELD <- 401L

# Bytes as text; zero bytes become question marks.
text_of_bytes <- function(bytes) {
  bytes[bytes == 0] <- charToRaw("?")
  rawToChar(bytes)
}
# Maximum bytes of files that are held as text at once.
MOST_TOGETHER <- 2^25

# Whether every column has the type that it would have in each file alone.
typed_as_alone <- function(samples) {
  whole <- c("bytes", "repetition", "calls", "valid")
  further <- setdiff(names(samples), SAMPLE_COLUMNS)
  all(
    vapply(whole, function(name) is.integer(samples[[name]]), NA),
    vapply(further, function(name) {
      values <- samples[[name]]
      # Words with which no number, no truth value and no date begins.
      is.numeric(values) || is.character(values) && all(grepl("^[A-Za-z_]", unique(values))) &&
        !any(toupper(unique(values)) %in% c("TRUE", "FALSE", "NA", "NAN", "INF", "INFINITY"))
    }, NA)
  )
}

#' Read the samples of one launch.
#'
#' @param file path of `LAUNCH.csv` or `LAUNCH.csv.gz`.
#' @param columns list `name`, `role` of its columns, as the launch description lists them.
#' @param rows number of its rows, as recorded in the launch description.
#' @return data.table with the columns of the file; `valid` is logical.
#' @noRd
read_samples <- function(file, columns, rows) {
  if (!identical(utils::head(columns$name, 6L), SAMPLE_COLUMNS)) {
    bad_data(
      file, 2L, "the launch description does not list the six columns of every file first",
      REMEASURE
    )
  }
  size <- check_plain(file, MOST_SAMPLES)
  bytes <- if (endsWith(file, ".gz")) inflate(file) else readBin(file, "raw", size)
  check_head(file, bytes, columns$name)
  check_end(file, bytes)
  patterns <- column_patterns(columns)
  samples <- if (has_lines(bytes, rows, length(columns$name)) && !any(bytes == 0)) {
    without_warning(parse_samples(rawToChar(bytes), columns$name))
  }
  if (is.null(samples) || nrow(samples) != rows || !plausible(samples, columns, patterns)) {
    blame_line(file, bytes, columns, patterns, rows)
  }
  # The first six columns have no role in a launch description.
  factors <- setdiff(names(patterns)[bare_role(columns$role) %in% "factor"], SAMPLE_COLUMNS)
  groups <- c("operation", "bytes", factors)
  if (rows > MOST_GROUPS && uniqueN(samples, by = groups) > MOST_GROUPS) {
    bad_data(
      file, NA,
      sprintf("more than %.0f operations, sizes and values of factors", MOST_GROUPS),
      "measure them in several launches"
    )
  }
  set(samples, j = "valid", value = samples$valid == 1L)
  samples[]
}

# The bytes in a gzip file; a damaged file is refused.
#
# memDecompress() is not used: it takes more and more memory if the end is missing.
inflate <- function(file) {
  damaged <- function(...) {
    bad_data(file, NA, "not a complete gzip file, or too large", REMEASURE)
  }
  packed <- readBin(file, "raw", file.size(file))
  # The last four bytes of a gzip file are the size of its content.
  promised <- sum(as.integer(utils::tail(packed, 4L)) * 256^(0:3))
  if (promised > MOST_SAMPLES || !identical(packed[1:2], as.raw(c(0x1f, 0x8b)))) damaged()
  bytes <- tryCatch(read_parts(file, promised), error = damaged, warning = damaged)
  if (length(bytes) != promised || any(bytes == 0)) damaged()
  bytes
}

# At most the promised size, plus one byte that shows that there is more.
read_parts <- function(file, promised) {
  source <- gzfile(file, "rb")
  on.exit(close(source))
  readBin(source, "raw", promised + 1)
}

check_head <- function(file, bytes, columns) {
  # No header is longer, and a file may be one line.
  source <- rawConnection(utils::head(bytes, MOST_FIELD * (length(columns) + 2L)))
  on.exit(close(source))
  head <- c(readLines(source, n = 2L, warn = FALSE), "", "")
  if (!head[[1L]] %in% SAMPLES_SCHEMAS) {
    bad_data(
      file, 1L, sprintf("schema \"%s\", not \"%s\"", head[[1L]], SAMPLES_SCHEMAS[[1L]]),
      "read it with the version of cotejo that wrote it"
    )
  }
  found <- strsplit(head[[2L]], ",", fixed = TRUE, useBytes = TRUE)[[1L]]
  lacking <- setdiff(columns, found)
  unknown <- setdiff(found, columns)
  fault <- if (length(lacking)) {
    paste("missing column", toString(lacking))
  } else if (length(unknown)) {
    paste("unknown column", toString(unknown))
  } else if (!identical(found, columns)) {
    "the columns are in another order than in the launch description"
  }
  if (!is.null(fault)) {
    bad_data(file, 2L, fault, "header and launch description must list the same columns")
  }
}

check_end <- function(file, bytes) {
  if (bytes[[length(bytes)]] != LINE_END) {
    bad_data(
      file, sum(bytes == LINE_END) + 1, "the last line has no end: the file is cut off", REMEASURE
    )
  }
}

# The columns with the numbers `texts` are read as text.
parse_samples <- function(text, columns, head = 2L, texts = 1L) {
  fread(
    input = text, skip = head, header = FALSE, sep = ",", quote = "", na.strings = NULL,
    fill = FALSE, strip.white = FALSE, col.names = columns, integer64 = "double",
    showProgress = FALSE, blank.lines.skip = FALSE, nThread = 1L,
    colClasses = list(character = texts)
  )
}

# The pattern that the values of each column must match, named by column.
column_patterns <- function(columns) {
  pattern <- function(properties) vapply(properties, `[[`, "", "pattern")
  patterns <- pattern(schema_of("further")[["properties"]])[bare_role(columns$role)]
  patterns[1:6] <- pattern(schema_of("sample")[["properties"]])[SAMPLE_COLUMNS]
  stats::setNames(patterns, columns$name)
}

# Check types and ranges by column.
plausible <- function(samples, columns, patterns) {
  further <- stats::setNames(bare_role(columns$role), columns$name)[-(1:6)]
  of_role <- function(role) names(further)[further == role]
  nrow(samples) > 0L && all(vapply(samples, is_text, NA)) && all(
    grepl(patterns[["operation"]], unique(samples$operation), perl = TRUE),
    is_whole(samples$bytes), is_whole(samples$repetition), is_whole(samples$calls, least = 1),
    is_real(samples$time_s, 0, LONGEST_S), is_whole(samples$valid, most = 1),
    vapply(of_role("measure"), function(name) is_real(samples[[name]]), NA),
    vapply(of_role("flag"), function(name) is_whole(samples[[name]], most = 1), NA),
    vapply(of_role("factor"), function(name) {
      is.numeric(samples[[name]]) ||
        all(grepl(patterns[[name]], unique(samples[[name]]), perl = TRUE))
    }, NA)
  )
}

# Without this check, grepl() warns about text that is not UTF-8 and names no file.
is_text <- function(x) !is.character(x) || all(validUTF8(unique(x)))

is_real <- function(x, least = -Inf, most = Inf) {
  is.numeric(x) && all(is.finite(x)) && min(x) >= least && max(x) <= most
}

# Numbers beyond R's integers are read as doubles; smaller integers only if written as 1.0 or 1e3.
is_whole <- function(x, least = 0, most = Inf) {
  is_real(x, least, most) &&
    (is.integer(x) || max(x) > .Machine$integer.max && all(x == trunc(x)))
}

# Name the first line that is wrong. Called only when the quick checks failed, so it must end
# in a refusal. It reads few lines at a time to save memory, and checks single lines only in a
# group of lines with a fault.
blame_line <- function(file, bytes, columns, patterns, rows) {
  source <- rawConnection(bytes)
  on.exit(close(source))
  readLines(source, n = 2L, warn = FALSE)
  before <- 2L
  while (length(lines <- readLines(source, n = 10000L, warn = FALSE))) {
    if (!sound_lines(lines, columns, patterns)) {
      wrong <- wrong_line(lines, patterns)
      bad_data(file, before + wrong$at, wrong$fault, REMEASURE)
    }
    before <- before + length(lines)
  }
  fault <- if (before - 2L != rows) {
    sprintf("%d rows, but samples.rows says %s", before - 2L, text_of(rows))
  } else if (rows == 0) {
    "no samples"
  } else {
    UNREADABLE
  }
  bad_data(file, before, fault, REMEASURE)
}
UNREADABLE <- "the columns cannot be read as docs/data.md says"

too_long <- function(lines, columns) nchar(lines, "bytes") >= MOST_FIELD * columns

sound_lines <- function(lines, columns, patterns) {
  if (any(too_long(lines, length(patterns)))) {
    return(FALSE)
  }
  text <- paste0(lines, "\n", collapse = "")
  samples <- without_warning(parse_samples(text, columns$name, 0L))
  !is.null(samples) && nrow(samples) == length(lines) && plausible(samples, columns, patterns)
}

# The first wrong line of some lines, and the reason.
wrong_line <- function(lines, patterns) {
  fault <- UNREADABLE
  first <- length(lines)
  # The first line with this fault; the lines before it have other faults only.
  name_first <- function(bad, text) {
    bad <- which(bad)
    if (length(bad)) {
      first <<- bad[[1L]]
      fault <<- text(first)
      lines <<- lines[seq_len(first - 1L)]
    }
  }
  name_first(too_long(lines, length(patterns)), function(at) {
    sprintf("%d B are more than a row may have", nchar(lines[[at]], "bytes"))
  })
  name_first(!validUTF8(lines), function(at) "not UTF-8")
  fields <- strsplit(sprintf("%s,", lines), ",", fixed = TRUE)
  name_first(lengths(fields) != length(patterns), function(at) {
    sprintf("%d fields, not %d", length(fields[[at]]), length(patterns))
  })
  for (column in which(nzchar(patterns))) {
    values <- vapply(fields[seq_along(lines)], `[`, "", column)
    bad <- !grepl(patterns[[column]], values, perl = TRUE)
    if (!any(bad) && names(patterns)[[column]] == "time_s") bad <- as.numeric(values) > LONGEST_S
    name_first(bad, function(at) {
      sprintf("bad value \"%s\" in column %s", values[[at]], names(patterns)[[column]])
    })
  }
  list(at = first, fault = fault)
}

bare_role <- function(roles) sub(SUPPOSED, "", roles, fixed = TRUE)

# Version 1 has no roles: a column with a unit is a measure, any other column is taken for a
# factor.
SUPPOSED <- "supposed "
