# SPDX-License-Identifier: BSD-3-Clause
# Lints the R code, from the top of the checkout; status 1 where something is found. A file that
# was clean is not looked at again while it, the linters and lintr are the same: STACK/lint.clean
# has their checksums. (lintr's own cache takes longer to write than the linters take to look.)

kept <- file.path(Sys.getenv("COTEJO_STACK"), "lint.clean")
files <- list.files("analysis", "[.][Rr](md|nw)?$", recursive = TRUE, full.names = TRUE)
sums <- paste(
  files, tools::md5sum(files), tools::md5sum(".lintr"), utils::packageVersion("lintr")
)
known <- if (file.exists(kept)) readLines(kept) else character()
todo <- which(!sums %in% known)
found <- parallel::mclapply(files[todo], lintr::lint, mc.cores = 2L, mc.preschedule = FALSE)
wrong <- !vapply(found, inherits, NA, "lints")
clean <- !wrong & lengths(found) == 0L
for (lints in found[!clean]) print(lints)
writeLines(sums[!seq_along(sums) %in% todo[!clean]], kept)
quit(status = as.integer(!all(clean)))
