# SPDX-License-Identifier: BSD-3-Clause
# Layers with known overheads.

# Launch summaries of one layer: start-up in us and bandwidth in MB/s, at most 5 % apart.
layer <- function(mpi, transport, startup_us, rate, site = "local", parameters = "",
                  operation = "pingpong", ranks = 2L, simulated = "", ...) {
  rbindlist(lapply(1:6, function(launch) {
    bytes <- c(1, 1024, 65536)
    data.table(
      site = site, simulated = simulated, launch = launch,
      placement = "near", mpi = mpi, transport = transport, settings = "",
      parameters = parameters, operation = operation, ranks = ranks, bytes = bytes,
      median_s = (startup_us * 1e-6 + bytes / (rate * 1e6)) * (1 + launch / 200), ...
    )
  }))
}

stack <- rbind(
  layer("sockets", "icmp", 2, 2000), layer("sockets", "raw", 3, 2000),
  layer("sockets", "tcp", 6, 1000), layer("pvm", "direct", 24, 500, parameters = "packing=raw"),
  layer("openmpi", "tcp", 9, 800), layer("openmpi", "shm", 0.3, 5000)
)

test_that("each layer is held against the one below, the lowest first", {
  found <- compare_layers(stack)
  expect_identical(found$transport[1:3], c("icmp", "raw", "tcp"))
  pick <- function(m, t) found[mpi == m & transport == t]
  expect_identical(pick("sockets", "tcp")$below, "raw")
  expect_equal(pick("sockets", "tcp")$startup_ratio, 2, tolerance = 1e-3)
  expect_equal(pick("pvm", "direct")$startup_ratio, 4, tolerance = 1e-3)
  expect_identical(pick("pvm", "direct")$below, "tcp")
  expect_equal(pick("openmpi", "tcp")$added_s, 3e-6 * (1 + 3.5 / 200), tolerance = 1e-3)
  expect_lt(pick("pvm", "direct")$bandwidth_ratio, 0.55)
  expect_true(pick("pvm", "direct")$bandwidth_ratio_high < 1)
  # No layer below shared memory was measured here, and no layer is below the echo.
  expect_true(is.na(pick("openmpi", "shm")$below))
  expect_true(is.na(pick("sockets", "icmp")$startup_ratio))
})

test_that("shared memory is held against itself without a library, else against AF_UNIX", {
  below <- function(...) {
    compare_layers(rbind(stack, ...))[mpi == "openmpi" & transport == "shm"]
  }
  expect_identical(below(layer("sockets", "unix", 3, 2000))$below, "unix")
  both <- below(layer("sockets", "unix", 3, 2000), layer("sockets", "shm", 0.2, 8000))
  expect_identical(both$below, "shm")
  expect_equal(both$startup_ratio, 1.5, tolerance = 1e-2)
})

test_that("another site's layers, or those of another network, are not below", {
  apart <- rbind(
    layer("sockets", "tcp", 6, 1000, simulated = "emulated: 2 hosts on 2 cores, a"),
    layer("openmpi", "tcp", 9, 800, simulated = "emulated: 2 hosts on 2 cores, b")
  )
  expect_true(all(is.na(compare_layers(apart)$below)))
})

test_that("what another CPU measured is not below", {
  apart <- rbind(
    layer("sockets", "tcp", 6, 1000, kernel = "6.1", cpu_model = "A CPU"),
    layer("openmpi", "tcp", 9, 800, kernel = "6.1", cpu_model = "Another CPU")
  )
  expect_true(all(is.na(compare_layers(apart)$below)))
  apart[, cpu_model := "A CPU"]
  expect_identical(compare_layers(apart)[mpi == "openmpi"]$below, "tcp")
})

test_that("configurations of a library stay apart", {
  packed <- rbind(
    stack, layer("pvm", "direct", 30, 300, parameters = "packing=xdr", option_packing = "xdr"),
    fill = TRUE
  )
  expect_identical(nrow(compare_layers(packed)[mpi == "pvm"]), 2L)
})

test_that("the table says units, names and what is below", {
  shown <- show_layers(compare_layers(stack))
  expect_true("no library, ICMP echo" %in% shown$Layer)
  expect_identical(shown[Layer == "PVM, direct routing, packing raw"]$Over, "TCP")
  expect_match(names(shown), "\u00b5s", all = FALSE)
})

test_that("hosts of one network are one network, whatever their number", {
  expect_identical(
    network_of(c("emulated: 2 hosts on 2 cores, x", "emulated: 16 hosts on 2 cores, x")),
    rep("emulated: hosts on 2 cores, x", 2L)
  )
})

test_that("a broadcast by repeated sends over a network is found, each way apart", {
  sends <- function(p, way, steps) {
    layer("pvm", "daemon", 50 * steps, 10 / steps,
      operation = "bcast", ranks = p, option_broadcast = way,
      simulated = sprintf("emulated: %d hosts on 2 cores, x", p)
    )
  }
  table <- layer_broadcasts(rbind(
    sends(2L, "sends", 1), sends(4L, "sends", 3), sends(2L, "library", 1),
    sends(4L, "library", 1)
  ))
  expect_identical(nrow(table), 4L) # two ways, two classes of sizes
  of <- function(way) table[grepl(way, Library) & Sizes == "small"]$`It is`
  expect_match(of("sends"), "repeated sends")
  expect_match(of("library"), "physical broadcast")
})

test_that("broadcasts from another start line are models of their own", {
  # Repeated sends after cotejo's own barrier, a constant time after the library's barrier.
  sends <- function(p, start, steps) {
    layer("pvm", "daemon", 50 * steps, 10 / steps,
      operation = "bcast", ranks = p, option_broadcast = "sends", option_start = start,
      simulated = sprintf("emulated: %d hosts on 2 cores, x", p)
    )
  }
  table <- layer_broadcasts(rbind(
    sends(2L, "barrier", 1), sends(4L, "barrier", 3), sends(2L, "mpi-barrier", 1),
    sends(4L, "mpi-barrier", 1)
  ))
  small <- table[Sizes == "small"]
  expect_identical(nrow(small), 2L)
  expect_match(small$`It is`, "repeated sends", all = FALSE)
  expect_match(small$`It is`, "physical broadcast", all = FALSE)
})

test_that("the layers of a site are printed from its launches, and of no other site", {
  folder <- write_study(fresh_folder(), c(sockets = 1e-6, pvm = 5e-6), 6L, transports = "tcp",
    test = "planted"
  )
  out <- capture.output(tables <- print_layers(folder, "local"))
  expect_identical(nrow(tables$layers), 2L)
  expect_null(tables$broadcasts)
  expect_match(out, "no library, TCP", all = FALSE, fixed = TRUE)
  expect_match(out, "No broadcasts", all = FALSE)
  expect_error(print_layers(folder, "elsewhere"), "no launch of site elsewhere")
})
