# SPDX-License-Identifier: BSD-3-Clause
# Lints the R code, from the top of the checkout; status 1 if there are findings. A clean file is
# not checked again while the file, the linters and lintr are unchanged: STACK/lint.clean has their
# checksums.

linters <- eval(str2lang(read.dcf(".lintr", "linters")), asNamespace("lintr"))

# The complexity takes longest to compute. It is never more than the number of branches.
BRANCHES <- c("if", "for", "while", "repeat", "switch", "&&", "||", "break", "next", "return",
              "function")
complexity <- linters$cyclocomp_linter
linters$cyclocomp_linter <- lintr::Linter(function(source_expression) {
  branches <- tryCatch(
    sum(all.names(parse(text = source_expression$content, keep.source = FALSE)) %in% BRANCHES),
    error = function(e) Inf
  )
  if (branches < formals(lintr::cyclocomp_linter)$complexity_limit) list()
  else complexity(source_expression)
}, name = "cyclocomp_linter")

look <- function(file) lintr::lint(file, linters = linters)

kept <- file.path(Sys.getenv("COTEJO_STACK"), "lint.clean")
files <- list.files("analysis", "[.][Rr](md|nw)?$", recursive = TRUE, full.names = TRUE)
sums <- paste(
  files, tools::md5sum(files), tools::md5sum(".lintr"), utils::packageVersion("lintr")
)
known <- if (file.exists(kept)) readLines(kept) else character()
todo <- which(!sums %in% known)
found <- parallel::mclapply(files[todo], look, mc.cores = 2L)
clean <- vapply(found, inherits, NA, "lints") & lengths(found) == 0L
for (lints in found[!clean]) print(lints)
writeLines(sums[!seq_along(sums) %in% todo[!clean]], kept)
quit(status = as.integer(!all(clean)))
