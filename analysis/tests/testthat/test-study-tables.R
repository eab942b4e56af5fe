# SPDX-License-Identifier: BSD-3-Clause
# The study object: three tables that keep their meaning when a part of them is selected.

queues_and_pingpong <- function() {
  folder <- write_study(
    fresh_folder(), c(openmpi = 3e-7, mpich = 6e-7),
    bytes = c(1, 1024), blocks = 3L
  )
  file.copy(test_path("fixtures", "v1", "local"), folder, recursive = TRUE)
  read_study(folder)
}

test_that("a study is launches, configurations with all factors, and measurements with units", {
  study <- queues_and_pingpong()
  expect_s3_class(study, "cotejo_study")
  for (name in names(STUDY_TABLES)) {
    expect_true(all(STUDY_TABLES[[name]] %in% names(study[[name]])))
  }
  expect_true("pairs" %in% names(study$configurations))
  measured <- study$measurements
  expect_setequal(as.character(unique(measured$unit[measured$measure == "median_s"])), "s")
  expect_setequal(as.character(unique(measured$unit[measured$measure == "n"])), "")
  expect_false(anyDuplicated(measured, by = setdiff(names(measured), c("value", "unit"))) > 0L)
  # The values of the tables match the samples.
  whole <- samples_of(study, study$launches$key)
  one <- measured[measure == "median_s"][1L]
  pairs <- study$configurations[configuration == one$configuration]$pairs
  same <- whole[as.character(key) == as.character(one$launch) & operation == one$operation &
    bytes == one$bytes & valid]
  if (!is.na(pairs)) same <- same[same$pairs == pairs]
  expect_equal(one$value, stats::median(same$time_s))
  expect_output(print(study), "configurations by pairs")
})

test_that("a part of a study is a study, whose factors, units and replicates are the whole's", {
  study <- queues_and_pingpong()
  mpich <- study[study$launches$mpi == "mpich"]
  expect_s3_class(check_study(mpich), "cotejo_study")
  expect_identical(unique(mpich$configurations$mpi), "mpich")
  whole <- summarise_launches(study)
  expect_equal(
    summarise_configurations(summarise_launches(mpich)),
    summarise_configurations(whole[whole$mpi == "mpich"])
  )
  queues <- study[, !is.na(study$configurations$pairs)]
  expect_true(all(!is.na(queues$configurations$pairs)))
  part <- summarise_configurations(summarise_launches(queues))
  of_whole <- summarise_configurations(whole)[!is.na(pairs)]
  expect_identical(nrow(part), nrow(of_whole))
  expect_setequal(part$n, of_whole$n)
  key <- study$launches$key[[1L]]
  expect_identical(study[key]$launches$key, key)
  none <- study[character()]
  expect_identical(nrow(none$measurements), 0L)
  expect_identical(nrow(summarise_launches(none)), 0L)
})

test_that("cells of a study that was just read are those that its measurements make", {
  study <- queues_and_pingpong()
  expect_false(is.null(study$cells))
  expect_identical(study$cells, cells_of_study(study))
  whole <- summarise_launches(study)
  # Derived tables leave the cells unchanged.
  expect_identical(study$cells, cells_of_study(study))
  expect_null(study[study$launches$mpi == "mpich"]$cells)
  study$cells <- NULL
  expect_identical(summarise_launches(study), whole)
})

test_that("tables that do not belong together are refused", {
  study <- queues_and_pingpong()
  broken <- function(change, said) {
    odd <- unclass(study)
    odd <- change(odd)
    expect_error(do.call(new_study, odd), said)
  }
  broken(function(s) within(s, launches <- launches[-1L]), "of a launch that it does not have")
  broken(
    function(s) within(s, configurations <- configurations[-1L]),
    "of a configuration that it does not have"
  )
  broken(function(s) within(s, launches <- rbind(launches, launches[1L])), "a launch twice")
  broken(
    function(s) within(s, measurements <- cbind(measurements)[, !"unit"]), "unit"
  )
  broken(function(s) {
    within(s, measurements <- data.table::copy(measurements)[1L, value := NA])
  }, "no value or no unit")
})

test_that("the launching table names the file from which a library chose algorithms", {
  used <- data.table::data.table(
    test = "t", mpi = c("intel-mpi", "mpich"), transport = "shm", placement = "far",
    started = c("1", "2"), reported_evidence = c("I_MPI_FABRICS=shm", "UCX"), command = "mpirun",
    reported_decisions = c("/opt/etc/tuning_generic_shm.dat", NA)
  )
  expect_identical(
    launching_table(used)[["The library said"]],
    c("I_MPI_FABRICS=shm; algorithms by tuning_generic_shm.dat", "UCX")
  )
})
