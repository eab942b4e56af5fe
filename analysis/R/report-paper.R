# SPDX-License-Identifier: BSD-3-Clause
# The paper: computes the values that its text uses.

#' Write the paper.
#'
#' @param source `analysis/paper.Rmd`.
#' @param results_dir,session,published as for [draw_all()].
#' @param out_file the HTML file; its folder is made when needed.
#' @return `out_file`, invisibly. Prints progress, and the path last.
#' @keywords internal
write_paper <- function(source, results_dir, out_file, session = NULL, published = NULL) {
  if (!file.exists(source)) bad_data(source, NA, "not there", "name the folder's paper.Rmd")
  if (is.null(published)) refuse("the paper needs the printed numbers: published = data/published")
  from <- list(
    "paper", dataset = sum_of_dataset(results_dir), session, sum_of_files(c(source, published)),
    basename(out_file)
  )
  written <- kept_files(from, dirname(out_file), page_files, function() {
    # Without the forecasts and other times of a report, which the paper does not show.
    study <- with_used(compare_results(results_dir, session, brief = TRUE))
    with_families(families_of(study$results$sessions), {
      write_paper_of(study, source, out_file, session, published)
    })
  })
  cat(out_file, "\n", sep = "")
  refuse_failed(written$coverage)
  invisible(out_file)
}

write_paper_of <- function(study, source, out_file, session, published) {
  folder <- tempfile("cotejo-paper")
  on.exit(unlink(folder, recursive = TRUE))
  coverage <- draw_all_exhibits(
    study$results, folder, session,
    published = published, summary = study$whole, shown = figures_of_paper
  )
  study$flags <- flag_launches(study$summary)
  printed <- read_claims(file.path(published, "claims.csv"))
  about <- study$whole$test %in% unlist(strsplit(printed$tests, " +"))
  about <- with_columns(keep_rows(study$whole, which(about)), study$launches)
  claims <- judge_claims(about, printed, study$delta)
  claims[, tests := printed$tests[match(paste(study, claim), paste(printed$study, printed$claim))]]
  given <- list(
    study = study, coverage = coverage, audit = audit_published(published), folder = folder,
    claims = claims, authors = authors_of(file.path(dirname(source), "..", "CITATION.cff"))
  )
  plots <- list(claims = plot_claims(claims))
  with_facts(render_page(
    source, given, out_file, plots, finish = link_facts, convert = pandoc_html
  ))
  data <- c(
    write_fact_data(given, dirname(out_file)), copy_exhibit_data(given, dirname(out_file)),
    write_references(dirname(out_file))
  )
  list(
    coverage = coverage, page = c(basename(out_file), data, basename(print_page(out_file))),
    figures = names(plots), exhibits = FALSE
  )
}

# The CSV files of the exhibits that the paper shows, in the folder of its other data.
copy_exhibit_data <- function(given, out_dir) {
  shown <- figures_of_paper(given$coverage)
  if (!NROW(shown)) {
    return(NULL)
  }
  from <- file.path(given$folder, shown$study, paste0(shown$file, ".csv"))
  files <- file.path("paper-data", sprintf("%s-%s.csv", shown$study, shown$file))
  for (i in seq_along(files)) {
    write_whole(file.path(out_dir, files[[i]]), function(file) put_copy(from[[i]], file))
  }
  files
}

STUDIES <- c(
  stival = "Stival (2006) on Ethernet clusters", watter = "Watter (2006) on LLC in place of TCP",
  mpiperf = "Kurnosov (2012) on measuring collectives",
  finisterrae = paste(
    "\u00c1lvarez Mall\u00f3n, G\u00f3mez Tato and L\u00f3pez Taboada (2009)", "on Finis Terrae"
  ),
  tinetti = "Tinetti and Barbieri on PVM and MPI"
)

name_of_study <- function(study) {
  if (study %in% names(STUDIES)) STUDIES[[study]] else "This project"
}

# The machines of the launches: one row per site, however many networks were emulated there.
paper_sites <- function(used) {
  list_of <- function(values) toString(distinct_sorted(values))
  used[, list(
    CPU = list_of(cpu_model), Launches = .N, Blocks = uniqueN(paste(session, launch)),
    Ranks = range_in_words(ranks), Hosts = range_in_words(hosts),
    Transports = list_of(title_of(transport)),
    `Simulated or emulated` = grounds_in_words(simulated)
  ), by = list(Site = site)]
}

# The authors that CITATION.cff names.
authors_of <- function(file) {
  if (!file.exists(file)) {
    return("The cotejo authors")
  }
  vapply(yaml::read_yaml(file)$authors, function(author) {
    paste(c(author$`given-names`, author$`family-names`, author$name), collapse = " ")
  }, "")
}

# The days on which the data were measured, and the version of cotejo.
paper_made <- function(study) {
  days <- unique(substr(range(study$used$started), 1L, 10L))
  commits <- distinct(substr(study$used$commit, 1L, 10L))
  sprintf(
    "cotejo %s; launches of %s; %s.", getNamespaceVersion("cotejo"),
    paste(days, collapse = " to "),
    if (length(commits) > 3L) {
      sprintf("%s, the last %s", counted_fact(length(commits), "commit", "commits", "commit"),
        substr(study$used$commit[which.max(rank(study$used$started, ties.method = "first"))],
          1L, 10L))
    } else {
      paste("commit", toString(commits))
    }
  )
}

# The abstract: question, method, numbers, conclusion.
paper_abstract <- function(study, coverage, claims, counts) {
  used <- study$used
  best <- best_of(coverage[coverage$study != "cotejo"])
  full <- best[is_drawn(best$state) & best$class != "stand-in"]
  paste(
    "Five studies of 2006 to 2012 examined which MPI library, transport, protocol and placement",
    "is faster on a cluster. Their machines are gone. We measure their questions again with",
    sprintf(
      "%s libraries in %s launches on %s %s, replicate and interleave launches, and compare them",
      fact_of_libraries(used),
      fact(nrow(used), "launches", "rows where used is TRUE"),
      fact(uniqueN(used$site), "launches", "values of site where used is TRUE"),
      if (uniqueN(used$site) == 1L) "site" else "sites"
    ),
    "with intervals that are corrected within each question.",
    sprintf(
      "The data repeat %s of %s published figures and tables.",
      fact(
        nrow(full), "exhibits", paste(
          "exhibits of the five studies whose best state is drawn or partly, and whose class is",
          "not stand-in"
        ), COVERAGE_COMMAND
      ),
      fact(nrow(best), "exhibits", "exhibits of the five studies", COVERAGE_COMMAND)
    ),
    sprintf(
      paste(
        "%s of %s comparisons of libraries show a difference (%s if the correction covers all",
        "questions), %s show none beyond %s."
      ),
      fact_of_verdicts(counts, DIRECTIONS), fact_of_verdicts(counts, names(counts)),
      fact(
        sum(over_questions(study$comparison) & study$comparison$verdict %in% DIRECTIONS),
        "comparisons", paste(
          "rows that show a difference, with q at most 5 % times the share of questions whose",
          "smallest q survives Benjamini and Hochberg's procedure over the questions"
        ), "make report DATA=reference"
      ),
      fact_of_verdicts(counts, "within"), say_percent(most_within(study$delta))
    ),
    sprintf(
      paste(
        "%s of %s printed conclusions hold, %s more hold in direction, %s %s contradicted; the",
        "others are not settled or cannot be judged with these data."
      ),
      fact_of_claims(claims, "holds"), fact_of_claims(claims),
      fact_of_claims(claims, HOLD_IN_DIRECTION), fact_of_claims(claims, "contradicted"),
      is_or_are(sum(claims$verdict == "contradicted"))
    )
  )
}

# The MPI libraries of launches, without layers below MPI.
libraries_of <- function(used) unique(used$mpi[used_library(used$library)])

fact_of_libraries <- function(used) {
  fact(
    length(libraries_of(used)), "launches",
    "values of mpi where used is TRUE and library does not begin with \"no library\""
  )
}

COVERAGE_COMMAND <- "make figures DATA=reference"

# The number of comparisons with one of some verdicts.
fact_of_verdicts <- function(counts, verdicts) {
  fact(
    sum(counts[verdicts]), "comparisons",
    paste("rows whose verdict is", in_series(verdicts, "or")), "make report DATA=reference"
  )
}

# The version of each library, as the library names itself.
paper_versions <- function(used) {
  rows <- used[, list(Launches = .N), by = c("mpi", "library", "provider")]
  rows <- rows[order(match(mpi, in_order(unique(mpi))), library)]
  data.table(
    Library = title_of(rows$mpi), Version = short_library(rows$library),
    Provider = rows$provider, Launches = rows$Launches
  )
}

# The question of each study, and its machine.
ASKED <- c(
  stival = paste(
    "Stival compared Open MPI over TCP, over LLC and with a progress thread, and MPICH2, on 12",
    "nodes with Gigabit Ethernet: bandwidth, LogP parameters, overlap, an FFT and a radix sort."
  ),
  watter = paste(
    "Watter examined whether LLC in place of TCP/IP makes Open MPI faster, on 16 nodes with",
    "switched Ethernet of 100 Mbit/s."
  ),
  mpiperf = paste(
    "Kurnosov examined how collective operations can be measured without systematic errors, on 10",
    "nodes with Gigabit Ethernet and 96 nodes with InfiniBand QDR."
  ),
  finisterrae = paste(
    "The study measured the cost of the distance to the network card, of eager limits, of",
    "collective algorithms up to 1024 processes, and of hybrid programs. Its machine had 142",
    "nodes of 16 cores with InfiniBand DDR."
  ),
  tinetti = paste(
    "Tinetti and Barbieri measured start-up and bandwidth of PVM and LAM/MPI, and the algorithm",
    "of a broadcast. They had 4 PCs at 10 Mbit/s and 8 PCs at 100 Mbit/s."
  )
)

asked_by_study <- function(study) if (study %in% names(ASKED)) ASKED[[study]]

# The verdicts on conclusions taken together, in words.
paper_discussion <- function(claims) {
  share <- vapply(split(claims, by = "study", sorted = FALSE), function(part) {
    sprintf(
      "%s: %s of %s conclusions hold in direction, %s %s contradicted.",
      name_of_study(part$study[[1L]]), fact_of_claims(part, c("holds", HOLD_IN_DIRECTION)),
      fact_of_claims(part), fact_of_claims(part, "contradicted"),
      is_or_are(sum(part$verdict == "contradicted"))
    )
  }, "")
  against <- claims[claims$verdict == "contradicted"]
  open <- claims$verdict %in% c("not settled", "not comparable")
  paste(c(
    share,
    if (nrow(against)) {
      sprintf(
        "These launches contradict: %s.", paste(sprintf(
          "\"%s\" (%s)", sub("[.]$", "", against$says),
          SHORT_STUDIES[against$study]
        ), collapse = "; ")
      )
    },
    if (any(open)) {
      sprintf(
        "%s of %s conclusions stay open: more launches, or other hardware, would decide them.",
        fact_of_claims(claims, c("not settled", "not comparable")), fact_of_claims(claims)
      )
    },
    "The studies used other machines and older versions, so a contradicted conclusion shows a",
    "change since the study and no error of the study."
  ), collapse = " ")
}

range_in_words <- function(values) paste(unique(range(values)), collapse = " to ")

# The kinds of hardware that are not real, with their numbers of networks; from the launches.
grounds_in_words <- function(labels) {
  labels <- unique(labels[nzchar(labels)])
  count <- table(factor(ground_of(labels), GROUNDS))[-1L]
  count <- count[count > 0L]
  toString(sprintf("%d %s", as.integer(count), names(count)))
}

#' The fastest libraries over each transport of a site, over all operations. The report has the
#' results of each operation.
#'
#' @param winners what [winners_by_class()] returned.
#' @noRd
over_operations <- function(winners) {
  question <- c("site", "simulated", "operation", "transport", "sizes")
  rows <- copy(winners)[, `:=`(operation = "all operations", candidates = "")]
  rows[, simulated := fifelse(nzchar(simulated), ground_of(simulated), "")]
  rows <- rows[, list(
    cells = sum(cells), least = min(least), most = max(most), close = sum(close),
    bound = max(bound), n = min(n)
  ), keyby = c(question, "winner", "candidates")]
  rows[, of := sum(cells), by = question]
  rows[]
}

#' The drift of sessions, in a sentence or two; the report lists each session.
#'
#' @param drift what [drift_of_blocks()] returned.
#' @noRd
say_drift <- function(drift) {
  told <- drift[blocks >= MIN_LAUNCHES]
  if (!nrow(told)) {
    return("No session has enough blocks to show whether the machine drifted.")
  }
  change <- abs(told$change)
  sprintf(
    paste(
      "All times together changed from the first to the last block of a session by %s %%",
      "(median) and %s %% (maximum; Theil's slope; %s sessions and transports of %d or more",
      "blocks).",
      "Kendall's p is at most 0.05 in %s of them; in %s the first block was slower than the",
      "others by more than three of their robust standard deviations. Comparisons within blocks",
      "cancel both."
    ),
    fact(format_digits(100 * stats::median(change)), "drift", "median of change (absolute)"),
    fact(format_digits(100 * max(change)), "drift", "maximum of change (absolute)"),
    fact(nrow(told), "drift", sprintf("rows with blocks of %d or more", MIN_LAUNCHES)),
    MIN_LAUNCHES, fact(sum(told$p <= 0.05, na.rm = TRUE), "drift", "rows with p of 0.05 or less"),
    fact(sum(told$warm_up), "drift", "rows with warm_up")
  )
}

# The exhibits of a study that the paper shows, at most three figures. Exhibits with published
# numbers come first, except machines that were fitted to these numbers. Complete exhibits follow,
# then measured before emulated before simulated ones, then those with more launches. If none of
# the figures has published numbers, a table that has them follows; without figures, any table.
paper_figures <- function(part) {
  shown <- part[is_drawn(part$state) & part$study != "cotejo"]
  first <- shown$published & shown$class != "circular"
  shown <- shown[order(!first, shown$state == "partly", match(shown$ground, GROUNDS), -shown$n)]
  shown <- unique(shown, by = "exhibit")
  figures <- utils::head(shown[shown$kind == "figure"], 3L)
  tables <- shown[shown$kind == "table" & (shown$published | !nrow(figures))]
  rows <- rbind(figures, if (!any(figures$published)) utils::head(tables, 1L))
  lapply(seq_len(nrow(rows)), function(i) rows[i])
}

# The exhibits of all studies that the paper shows.
figures_of_paper <- function(coverage) {
  rbindlist(unlist(lapply(split(coverage, by = "study"), paper_figures), recursive = FALSE))
}

# An exhibit inside the page: its SVG, or its tables.
embed_exhibit <- function(row, folder) {
  caption <- paste0(htmlEscape(sprintf(
    "%s. Same comparison as %s; class %s, at least %s of each configuration. ",
    row$title, printed_exhibit(row$study, row$exhibit), row$class,
    count_of(row$n, "launch", "launches")
  )), data_link(paste0(row$study, "-", row$file), sprintf(
    "make study CELLS='^(%s)'", gsub(", ", "|", row$tests)
  ), "Measured"))
  file <- file.path(folder, row$study, row$file)
  if (row$kind == "figure") {
    return(embed_svg(paste0(file, ".svg"), row$title, caption))
  }
  lines <- readLines(paste0(file, ".html"), encoding = "UTF-8")
  inside <- seq(grep("^<table", lines)[[1L]], max(which(lines == "</table>")))
  htmltools::HTML(paste(
    c("<figure>", lines[inside], "<figcaption>", caption, "</figcaption></figure>"),
    collapse = "\n"
  ))
}

# A number of values of a column of the used launches, with its noun.
counted_fact <- function(n, one, many, column) {
  rows <- sprintf("values of %s where used is TRUE", column)
  paste(fact(n, "launches", rows), if (n == 1L) one else many)
}

# Threats to validity that apply to these data, one sentence per threat.
paper_threats <- function(study) {
  used <- study$used
  out <- unique(study$flags$outlying$key)
  shared <- shared_cores(used)
  labels <- unique(used$simulated[nzchar(used$simulated)])
  cv <- study$medians$cv[is.finite(study$medians$cv)]
  sentences <- c(
    sprintf(
      "The launches ran on %s of %s; other machines may give other results.",
      counted_fact(uniqueN(used$cpu_model), "model of CPU", "models of CPU", "cpu_model"),
      counted_fact(uniqueN(used$site), "site", "sites", "site")
    ),
    if (any(used$governor %in% "unknown")) {
      paste(
        "The kernel does not report the frequency governor: the machine may be virtual, and",
        "may share its cores with others."
      )
    },
    if (any(used$transport == "tcp" & used$hosts == 1L)) {
      "TCP within one host uses no network."
    },
    if (length(labels)) {
      sprintf(
        "%s of networks and machines name no real hardware (%s).",
        counted_fact(length(labels), "description", "descriptions", "simulated, not empty,"),
        toString(intersect(GROUNDS, ground_of(labels)))
      )
    },
    if (!is.null(shared)) sprintf("In some launches, %s.", shared),
    if (length(cv)) {
      sprintf(
        paste(
          "The coefficient of variation of the launch medians of a configuration has a median of",
          "%s %% and a maximum of %s %% over %s configurations and sizes."
        ),
        fact(format_digits(100 * stats::median(cv)), "medians", "median of cv"),
        fact(format_digits(100 * max(cv)), "medians", "maximum of cv"),
        fact(length(cv), "medians", "rows with cv")
      )
    },
    sprintf(
      paste(
        "%s of %s launches are over 1.5 times their configuration's median, or under 1/1.5 of it;",
        "the results include them."
      ),
      fact(length(out), "launches", "rows where outlying is TRUE"),
      fact(nrow(used), "launches", "rows where used is TRUE")
    ),
    sprintf(
      "The launches of %s configurations fall into several groups, which a median hides.",
      fact(nrow(study$flags$modes), "modes", "all rows")
    ),
    sprintf(
      paste(
        "The launches are of %s; a comparison within one session does not include differences",
        "from day to day."
      ),
      counted_fact(
        uniqueN(used[, c("site", "session")]), "session", "sessions", "site and session"
      )
    ),
    "Corrections cover the comparisons of one question, and not all comparisons of this paper."
  )
  paste(sentences, collapse = " ")
}
