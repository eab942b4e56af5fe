# SPDX-License-Identifier: BSD-3-Clause
# Sessions are chosen by comparison group: a session hides no data that it lacks, and no library is
# taken from another state.

MPIS <- c(openmpi = 3e-7, mpich = 6e-7)
FIRST <- "20261121T070000Z"
SECOND <- "20261122T070000Z"

# The same study with another version of the measuring programs.
at_commit <- function(folder, session, commit) {
  for (file in list.files(file.path(folder, "local", session), "json$", full.names = TRUE)) {
    edit_json(file, function(d) {
      d$provenance$commit <- commit
      d
    })
  }
  folder
}

# The same study on a machine with another CPU.
on_cpu <- function(folder, session, cpu) {
  for (file in list.files(file.path(folder, "local", session), "json$", full.names = TRUE)) {
    edit_json(file, function(d) {
      d$observed$node$cpu_model <- cpu
      d
    })
  }
  folder
}

study_of <- function(folder, ...) suppressMessages(analyse(folder, ...))
status_of <- function(study, session) study$account$status[study$account$session == session]

test_that("a newer session of one test hides no other test of the same experiment", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = c(1, 1024))
  write_study(folder, MPIS, blocks = 6L, bytes = 1024, session = SECOND, test = "pingpong_pairs")
  at_commit(folder, SECOND, "later")
  study <- study_of(folder)
  expect_setequal(study$used$test, c("pingpong_quick", "pingpong_pairs"))
  expect_setequal(study$comparison$test, c("pingpong_quick", "pingpong_pairs"))
  expect_identical(study$account$status, c("used", "used"))
})

test_that("a newer session of some operations hides none of the others", {
  folder <- fresh_folder()
  for (operation in c("bcast", "ibcast")) {
    write_study(
      folder, MPIS,
      blocks = 6L, bytes = c(8, 1024), experiment = "collective", operation = operation,
      test = "collective_full", parameters = list(operations = operation)
    )
  }
  write_study(
    folder, MPIS,
    blocks = 6L, bytes = c(8, 1024), experiment = "collective", operation = "ibcast",
    test = "collective_full", parameters = list(operations = "ibcast"), session = SECOND
  )
  at_commit(folder, SECOND, "later")
  study <- study_of(folder)
  of <- function(operation) unique(study$summary$session[study$summary$operation == operation])
  expect_identical(of("bcast"), FIRST)
  expect_identical(of("ibcast"), SECOND)
  expect_setequal(study$comparison$operation, c("bcast", "ibcast"))
  # The older session supplies the data that the newer one lacks, and reports its unused data.
  old <- study$account[session == FIRST]
  expect_identical(old$status, "used")
  expect_identical(c(old$launches, old$used), c(24L, 12L))
  expect_match(
    old$why, "measured again in session 20261122T070000Z (another version",
    fixed = TRUE
  )
})

test_that("a newer session that lacks a side is refused, and a side alone is never borrowed", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1)
  write_study(folder, c(openmpi = 3e-7), blocks = 6L, bytes = 1, session = SECOND)
  at_commit(folder, SECOND, "later")
  study <- study_of(folder)
  expect_identical(unique(study$used$session), FIRST)
  expect_identical(study$comparison$verdict, "slower")
  expect_identical(status_of(study, SECOND), "refused")
  expect_match(
    study$account$why[[2L]], "newer than session 20261121T070000Z, but without MPICH",
    fixed = TRUE
  )
  # A third library, only in another state.
  third <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1)
  write_study(third, c(`intel-mpi` = 3e-7), blocks = 6L, bytes = 1, session = SECOND)
  at_commit(third, SECOND, "later")
  study <- study_of(third)
  expect_setequal(study$used$mpi, c("mpich", "openmpi"))
  expect_match(
    study$account$why[[2L]], "Intel MPI only here: not compared with session",
    fixed = TRUE
  )
})

test_that("a newer session of fewer sizes hides none", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = c(1, 1024, 65536))
  write_study(folder, MPIS, blocks = 6L, bytes = c(1, 1024), session = SECOND)
  at_commit(folder, SECOND, "later")
  study <- study_of(folder)
  expect_identical(unique(study$used$session), FIRST)
  expect_match(study$account$why[[2L]], "without all of its sizes", fixed = TRUE)
})

test_that("a newer session with all sides takes the place of an older, same states are pooled", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1)
  write_study(folder, MPIS, blocks = 6L, bytes = 1, session = SECOND)
  expect_identical(study_of(folder)$account$status, c("pooled", "used"))
  at_commit(folder, SECOND, "later")
  study <- study_of(folder)
  expect_identical(study$account$status, c("superseded", "used"))
  expect_match(study$account$why[[1L]], "measured again in session 20261122T070000Z", fixed = TRUE)
  expect_identical(study_of(folder, FIRST)$account$status, c("used", "not requested"))
})

test_that("sessions whose launches all failed are accounted for", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1)
  write_launch(folder, make_description(status = "failed", reason = "x", session = SECOND))
  expect_identical(study_of(folder)$account$status, c("used", "unusable"))
})

test_that("the account says why a used session has launches that are not used", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1)
  for (launch in 7:8) {
    described <- make_description("mpich", launch = launch, status = "warm-up")
    write_launch(folder, described, make_samples(1, matrix(1e-6, 3L)))
  }
  write_launch(folder, make_description("mpich", launch = 9L, status = "failed", reason = "x"))
  account <- study_of(folder)$account
  expect_identical(account[, list(status, launches - used)], data.table(status = "used", V2 = 3L))
  expect_identical(account$why, "1 launch: failed; 2 launches: warm-up")
})

test_that("what version 2 measured is of one state whatever the commit", {
  fixture <- fresh_folder()
  file.copy(test_path("fixtures", "v2", "local"), fixture, recursive = TRUE)
  session <- file.path(fixture, "local", "20261121T200219Z")
  later <- file.path(fixture, "local", SECOND)
  dir.create(later)
  file.copy(list.files(session, "quick", full.names = TRUE), later)
  for (file in list.files(later, "json$", full.names = TRUE)) {
    edit_json(file, function(d) {
      d$asked$session <- SECOND
      d$provenance$commit <- "later"
      d
    })
  }
  results <- read_results(fixture)
  expect_identical(choose_sessions(results$launches)$account$status, c("pooled", "used"))
})

test_that("each panel of an exhibit is of one state, the newest that has all of it", {
  write <- function(folder, ...) {
    write_study(folder, blocks = 6L, bytes = c(1, 1024), ...)
  }
  folder <- write(fresh_folder(), MPIS, transports = c("shm", "tcp"))
  write(folder, MPIS, session = SECOND)
  write(folder, MPIS["mpich"], transports = "tcp", session = SECOND)
  at_commit(folder, SECOND, "later")
  summary <- summarise_launches(read_results(folder))
  spec <- one_row("by_size", tests = "pingpong_quick")
  rows <- rows_of_exhibits(summary, spec)[[1L]][[1L]]
  used <- unique(summary[rows, c("transport", "session")])
  data.table::setkeyv(used, "transport")
  expect_identical(used$session, c(SECOND, FIRST))
})

test_that("what is compared is never of two machines, and the account names them", {
  folder <- write_study(fresh_folder(), MPIS, blocks = 6L, bytes = 1, transports = c("shm", "tcp"))
  write_study(folder, MPIS["openmpi"], blocks = 6L, bytes = 1, session = SECOND)
  on_cpu(folder, SECOND, "Another CPU")
  study <- study_of(folder)
  expect_identical(unique(study$used$cpu_model), "A CPU")
  expect_identical(study$comparison$verdict, c("slower", "slower"))
  expect_match(study$account[session == SECOND]$why, "without MPICH", fixed = TRUE)
  shown <- table_account(study$account)
  expect_identical(shown$Machine, c("Another CPU", "A CPU"))
  # All libraries of one transport: its comparison uses the new machine, the other the old machine.
  write_study(folder, MPIS["mpich"], blocks = 6L, bytes = 1, session = SECOND)
  on_cpu(folder, SECOND, "Another CPU")
  used <- unique(study_of(folder)$used[, c("transport", "cpu_model")])
  data.table::setkeyv(used, "transport")
  expect_identical(used$cpu_model, c("Another CPU", "A CPU"))
})

test_that("transports that an exhibit compares are of one machine, and panels say theirs", {
  write <- function(folder, ...) {
    write_study(folder, MPIS["openmpi"], blocks = 6L, bytes = c(1, 1024), ...)
  }
  folder <- write(fresh_folder(), transports = c("shm", "tcp"))
  write(folder, transports = "tcp", session = SECOND)
  on_cpu(folder, SECOND, "Another CPU")
  summary <- summarise_launches(read_results(folder), COMPARED)
  cpus <- function(arguments) {
    spec <- one_row("by_size", tests = "pingpong_quick", arguments = arguments)
    used <- summary[rows_of_exhibits(summary, spec)[[1L]][[1L]]]
    unique(used$cpu_model[order(used$transport)])
  }
  expect_identical(cpus("series=transport"), "A CPU")
  expect_identical(cpus("series=mpi; panel=transport"), c("A CPU", "Another CPU"))
  drawn <- drawn_from(folder, one_row(
    "by_size", tests = "pingpong_quick", arguments = "series=mpi; panel=transport"
  ))
  expect_match(
    words_of(file.path(drawn$out, "stival", "fig-1.svg")),
    "several CPUs, whose times are not to be compared: A CPU, Another CPU"
  )
})

test_that("several tests of an exhibit are of one machine, or the next alternative is drawn", {
  write <- function(folder, ...) {
    write_study(folder, MPIS["openmpi"], blocks = 6L, bytes = 1, ...)
  }
  folder <- write(fresh_folder())
  write(folder, session = SECOND, test = "pingpong_pairs")
  spec <- one_row("by_size", tests = "pingpong_quick+pingpong_pairs pingpong_pairs")
  used <- function() {
    summary <- summarise_launches(read_results(folder), COMPARED)
    found <- rows_of_exhibits(summary, spec)[[1L]]
    lapply(found, function(rows) sort(unique(summary$test[rows])))
  }
  at_commit(folder, SECOND, "later")
  expect_identical(used(), list(c("pingpong_pairs", "pingpong_quick"), "pingpong_pairs"))
  on_cpu(folder, SECOND, "Another CPU")
  expect_identical(used(), list("pingpong_pairs"))
})

test_that("sessions whose launches observed another state are not pooled, and it is said", {
  pooled_with <- function(...) {
    dir <- write_study(fresh_folder(), c(openmpi = 3e-7, mpich = 4e-7), bytes = 1, blocks = 5L)
    one <- list.files(file.path(dir, "local"), full.names = TRUE)[[1L]]
    other <- file.path(dir, "local", "20990101T000000Z")
    dir.create(other)
    file.copy(list.files(one, full.names = TRUE), other)
    change <- function(folder, steering) {
      for (file in list.files(folder, "[.][0-9]+[.]json$", full.names = TRUE)) {
        edit_json(file, function(launch) {
          launch$asked$session <- basename(folder)
          launch$fingerprint <- list(
            sha256 = "x", parts = list(steering = steering, timer = "tsc")
          )
          launch
        })
      }
    }
    change(one, "{}")
    change(other, ...)
    results <- suppressMessages(read_results(dir))
    choose_sessions(results$launches)$account
  }
  same <- pooled_with("{}")
  expect_setequal(same$status, c("used", "pooled"))
  differs <- pooled_with("{\"OMPI_MCA_btl_sm_eager_limit\": \"131072\"}")
  expect_setequal(differs$status, c("used", "superseded"))
  expect_match(differs$why[differs$status == "superseded"], "state that was observed: steering")
})
