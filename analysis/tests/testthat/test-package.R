# SPDX-License-Identifier: BSD-3-Clause
# The package: its help matches its sources, and the index of the site lists all help pages.

source_of_package <- function() {
  root <- test_path("..", "..")
  skip_if_not(file.exists(file.path(root, "_pkgdown.yml")), "the sources are not here")
  normalizePath(root)
}

test_that("NAMESPACE and the help pages are what roxygen2 makes of the sources", {
  root <- source_of_package()
  skip_if_not_installed("roxygen2")
  copy <- file.path(fresh_folder(), "cotejo")
  dir.create(copy)
  parts <- c("DESCRIPTION", "LICENSE", "NAMESPACE", "R", "man", "inst")
  file.copy(file.path(root, parts), copy, recursive = TRUE)
  said <- utils::capture.output(
    suppressWarnings(roxygen2::roxygenise(copy, load_code = roxygen2::load_installed)),
    type = "message"
  )
  made <- c("NAMESPACE", file.path("man", list.files(file.path(copy, "man"))))
  expect_gt(length(made), 50L)
  expect_setequal(made[-1L], file.path("man", list.files(file.path(root, "man"))))
  differ <- made[!unname(
    tools::md5sum(file.path(copy, made)) == tools::md5sum(file.path(root, made))
  )]
  expect_identical(
    differ, character(),
    info = paste(c("run roxygen2::roxygenise(\"analysis\")", said), collapse = "\n")
  )
})

test_that("R CMD check would find no unknown name and no link to a missing help page", {
  said <- character()
  codetools::checkUsagePackage(
    "cotejo", report = function(line) said <<- c(said, line), skipWith = TRUE,
    suppressUndefined = utils::globalVariables(package = "cotejo")
  )
  expect_identical(grep("no visible", said, value = TRUE), character())
  pages <- file.path(source_of_package(), "man")
  text <- unlist(lapply(list.files(pages, "[.]Rd$", full.names = TRUE), readLines))
  named <- function(pattern) {
    unlist(regmatches(text, gregexpr(pattern, text, perl = TRUE)))
  }
  expect_gt(length(named("link\\[=\\K\\w+")), 10L)
  expect_identical(setdiff(named("link\\[=\\K\\w+"), named("alias[{]\\K\\w+")), character())
})

test_that("every help page has a place in the index of the package's site", {
  root <- source_of_package()
  pages <- list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE)
  text <- lapply(pages, readLines)
  is_internal <- function(lines) any(grepl("\\keyword{internal}", lines, fixed = TRUE))
  text <- text[!vapply(text, is_internal, NA)]
  aliases <- lapply(text, function(lines) {
    sub("^\\\\alias[{](.*)[}]$", "\\1", grep("^\\\\alias[{]", lines, value = TRUE))
  })
  topics <- unlist(aliases)
  index <- yaml::read_yaml(file.path(root, "_pkgdown.yml"))$reference
  named <- unlist(lapply(index, `[[`, "contents"))
  chosen <- lapply(named, function(entry) {
    call <- regmatches(entry, regexec("^(starts|ends)_with\\(\"(.*)\"\\)$", entry))[[1L]]
    if (!length(call)) {
      return(intersect(gsub("`", "", entry, fixed = TRUE), topics))
    }
    has <- if (call[[2L]] == "starts") startsWith else endsWith
    topics[has(topics, call[[3L]])]
  })
  expect_true(all(lengths(chosen) > 0L))
  left <- Filter(function(page) !any(page %in% unlist(chosen)), aliases)
  expect_identical(left, list())
})

test_that("no code knows an MPI by its name: the families say theirs", {
  root <- source_of_package()
  families <- file.path(
    root, "..", c("reframe_tests", "archaeology/reframe_tests"), "mpi_families"
  )
  skip_if_not(all(dir.exists(families)), "the families are not beside the package")
  names <- sub("[.]yaml$", "", list.files(families, "[.]yaml$"))
  expect_true(all(c("openmpi", "mpich") %in% names))
  files <- list.files(file.path(root, "R"), "[.]R$", full.names = TRUE)
  found <- unlist(lapply(files, function(file) {
    code <- parse(file, keep.source = TRUE)
    tokens <- utils::getParseData(code)
    texts <- gsub("^[\"']|[\"']$", "", tokens$text[tokens$token == "STR_CONST"])
    names <- setdiff(names, c("sockets", "simgrid"))
    if (any(texts %in% names)) paste(basename(file), intersect(texts, names))
  }))
  expect_identical(found, NULL)
})

test_that("the name of a file says its verb", {
  files <- list.files(file.path(source_of_package(), "R"), "[.]R$")
  verbs <- c(
    "read", "check", "summarise", "compare", "fit", "draw", "exhibit", "register", "report",
    "prove", "run", "keep"
  )
  expect_identical(setdiff(sub("-.*$", "", files), verbs), "package.R")
  # The table at the top of package.R lists each verb.
  told <- readLines(file.path(source_of_package(), "R", "package.R"))
  said <- vapply(verbs, function(verb) any(grepl(paste0("^#.* ", verb, "-"), told)), NA)
  expect_true(all(said))
})

test_that("no name of the package stands in two files, where the later one would hide the other", {
  files <- list.files(file.path(source_of_package(), "R"), "[.]R$", full.names = TRUE)
  named <- lapply(files, function(file) {
    unique(unlist(lapply(parse(file), function(one) {
      if (is.call(one) && identical(one[[1L]], as.name("<-")) && is.name(one[[2L]])) {
        as.character(one[[2L]])
      }
    })))
  })
  all <- unlist(named)
  expect_true(length(all) > 500L)
  expect_identical(all[duplicated(all)], character())
})

# The package's own functions and constants that each file uses, without the file's own.
used_between_files <- function(files) {
  package <- asNamespace("cotejo")
  named <- lapply(files, function(file) {
    unlist(lapply(parse(file, keep.source = FALSE), function(one) {
      if (is.call(one) && identical(one[[1L]], as.name("<-")) && is.name(one[[2L]])) {
        as.character(one[[2L]])
      }
    }))
  })
  owner <- stats::setNames(rep(basename(files), lengths(named)), unlist(named))
  used <- lapply(named, function(names) {
    functions <- Filter(is.function, mget(as.character(names), package))
    found <- unlist(lapply(functions, codetools::findGlobals))
    unique(unname(owner[setdiff(intersect(found, names(owner)), names)]))
  })
  stats::setNames(used, basename(files))
}

# Removes the files that use no remaining file, until none can be removed.
files_in_circles <- function(used) {
  repeat {
    done <- lengths(lapply(used, intersect, names(used))) == 0L
    if (!any(done)) {
      return(names(used))
    }
    used <- used[!done]
  }
}

test_that("files use each other in one direction", {
  files <- list.files(file.path(source_of_package(), "R"), "[.]R$", full.names = TRUE)
  used <- used_between_files(files)
  expect_gt(sum(lengths(used)), 300L)
  expect_identical(files_in_circles(used), character())
  # The two lower files form a circle, and a third file uses it.
  circle <- list(a = "b", b = "c", c = "b", d = character())
  expect_setequal(files_in_circles(circle), c("a", "b", "c"))
})

test_that("every export has an example, and there are at most 50 exports", {
  root <- source_of_package()
  exports <- getNamespaceExports("cotejo")
  expect_lte(length(exports), 50L)
  pages <- list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE)
  has <- unlist(lapply(pages, function(page) {
    text <- readLines(page)
    if (any(text == "\\examples{") && !any(grepl("dontrun|donttest", text))) {
      sub("^\\\\alias[{](.*)[}]$", "\\1", grep("^\\\\alias[{]", text, value = TRUE))
    }
  }))
  expect_identical(setdiff(exports, has), character())
})

test_that("the study that the package ships is part of the reference", {
  root <- source_of_package()
  reference <- file.path(root, "../data/reference/questions/history/SHA256SUMS")
  skip_if_not(file.exists(reference), "the reference is not beside the package")
  folder <- system.file("extdata/study", package = "cotejo")
  expect_length(setdiff(readLines(file.path(folder, "SHA256SUMS")), readLines(reference)), 0L)
  expect_identical(nrow(read_study(folder)$launches), 16L)
})

test_that("every global variable is the name of a column in some expression", {
  files <- list.files(file.path(source_of_package(), "R"), "[.]R$", full.names = TRUE)
  symbols <- unlist(lapply(files, function(file) {
    tokens <- utils::getParseData(parse(file, keep.source = TRUE))
    tokens$text[tokens$token == "SYMBOL"]
  }))
  known <- utils::globalVariables(package = "cotejo")
  expect_gt(length(known), 200L)
  expect_identical(setdiff(known, symbols), character())
  expect_identical(intersect(known, ls(asNamespace("cotejo"))), character())
})

test_that("a command may assign values, as that of `make tune` does", {
  expect_identical(run_command({
    doubled <- 2 * 21
    doubled
  }), 42)
})
