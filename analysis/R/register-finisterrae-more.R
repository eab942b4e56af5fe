# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of finisterrae.

# Launches of a collective operation: over hosts of a network (the study's case), otherwise on one
# host, otherwise simulated. The study used IMB's loop, which calls nothing but the operation.
collective_launches <- function(operation, ..., sizes = "") {
  launches_of(
    "hosts_affinity", "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", paste0("simulated_", operation), operation = operation,
    parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")), ..., sizes = sizes
  )
}

DIFFERS_IN_RANKS <- paste(
  "The study had 2 to 1024 ranks on 64 nodes, and HP-MPI in place of Open MPI or its choice of",
  "algorithms. Far was the cell away from the network card; on emulated hosts it is behind the",
  "other one of two switches."
)

exhibit("finisterrae-fig-5.25", "All-to-all by ranks, 64 KiB",
  data = collective_launches("alltoall", sizes = "64Ki"),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = paste(DIFFERS_IN_RANKS, "Simulations stop where their memory would.")
)

exhibit("finisterrae-fig-5.26", "All-to-all of large messages by ranks",
  data = collective_launches("alltoall", sizes = "1Mi 8Mi"),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = paste(
    DIFFERS_IN_RANKS, "Simulations stop where their memory would; emulated hosts have 1 MiB."
  )
)

exhibit("finisterrae-fig-5.27", "Broadcast by size and ranks, Open MPI, placement near",
  data = collective_launches("bcast", algorithms = "openmpi", placement = "near"),
  draw = by_size(series = ranks, panel = transport),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.28", "Broadcast by size and ranks, Open MPI, placement far",
  data = collective_launches("bcast", algorithms = "openmpi", placement = "far"),
  draw = by_size(series = ranks, panel = transport),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.29", "Broadcast by size and ranks, Intel MPI, placement near",
  data = collective_launches("bcast", algorithms = "intel-mpi", placement = "near"),
  draw = by_size(series = ranks, panel = transport),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.30", "Broadcast by size and ranks, Intel MPI, placement far",
  data = collective_launches("bcast", algorithms = "intel-mpi", placement = "far"),
  draw = by_size(series = ranks, panel = transport),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.31", "Broadcast: time of the far placement, Open MPI",
  data = collective_launches("bcast", algorithms = "openmpi", placement = c("near", "far")),
  draw = relative(by = placement, reference = "near", series = ranks, of = "time"),
  differs = DIFFERS_IN_RANKS,
  circular = TRUE
)

exhibit("finisterrae-fig-5.32", "Broadcast: time of the far placement, Intel MPI",
  data = collective_launches("bcast", algorithms = "intel-mpi", placement = c("near", "far")),
  draw = relative(by = placement, reference = "near", series = ranks, of = "time"),
  differs = DIFFERS_IN_RANKS,
  circular = TRUE
)

exhibit("finisterrae-fig-5.33", "Broadcast by ranks, 1 B",
  data = collective_launches("bcast", sizes = "1"),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.34", "Broadcast by ranks, 4 KiB",
  data = collective_launches("bcast", sizes = "4Ki"),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.35", "Broadcast by ranks, 64 KiB",
  data = collective_launches("bcast", sizes = "64Ki"),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.36", "Broadcast of large messages by ranks",
  data = collective_launches("bcast", sizes = "1Mi 8Mi"),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = paste(
    DIFFERS_IN_RANKS, "Simulations stop where their memory would; emulated hosts have 1 MiB."
  )
)

NEEDS_OF_CLASS_D <- "12 GB of memory and 16 to 128 cores for class D"

DIFFERS_IN_CLASS <- paste(
  "The study ran class C on 16 to 128 cores; here the site's, and the largest class measured."
)

exhibit("finisterrae-fig-5.37", "Ranks compared with threads: NAS BT-MZ",
  data = launches_of(
    "npb_zones_class_c", "nas_class_c", "npb_zones_class_b", "nas_class_b", "npb_zones_class_a",
    "nas_class_a", "npb_zones_quick", "nas_quick", operation = "nas-bt-mz-*"
  ),
  draw = splits(panel = mpi),
  differs = DIFFERS_IN_CLASS
)

exhibit("finisterrae-fig-5.40", "Ranks compared with threads: NAS BT-MZ, large",
  data = launches_of(
    "npb_zones_class_d", "nas_class_d", "npb_zones_class_c", "nas_class_c",
    operation = "nas-bt-mz-*"
  ),
  draw = splits(panel = mpi),
  differs = "The study ran class D on 16 to 128 cores; here the site's, and the class that fits.",
  needs = NEEDS_OF_CLASS_D
)

exhibit("finisterrae-fig-5.38", "Ranks compared with threads: NAS LU-MZ",
  data = launches_of(
    "npb_zones_class_c", "nas_class_c", "npb_zones_class_b", "nas_class_b", "npb_zones_class_a",
    "nas_class_a", "npb_zones_quick", "nas_quick", operation = "nas-lu-mz-*"
  ),
  draw = splits(panel = mpi),
  differs = DIFFERS_IN_CLASS
)

exhibit("finisterrae-fig-5.41", "Ranks compared with threads: NAS LU-MZ, large",
  data = launches_of(
    "npb_zones_class_d", "nas_class_d", "npb_zones_class_c", "nas_class_c",
    operation = "nas-lu-mz-*"
  ),
  draw = splits(panel = mpi),
  differs = "The study ran class D on 16 to 128 cores; here the site's, and the class that fits.",
  needs = NEEDS_OF_CLASS_D
)

exhibit("finisterrae-fig-5.39", "Ranks compared with threads: NAS SP-MZ",
  data = launches_of(
    "npb_zones_class_c", "nas_class_c", "npb_zones_class_b", "nas_class_b", "npb_zones_class_a",
    "nas_class_a", "npb_zones_quick", "nas_quick", operation = "nas-sp-mz-*"
  ),
  draw = splits(panel = mpi),
  differs = DIFFERS_IN_CLASS
)

exhibit("finisterrae-fig-5.42", "Ranks compared with threads: NAS SP-MZ, large",
  data = launches_of(
    "npb_zones_class_d", "nas_class_d", "npb_zones_class_c", "nas_class_c",
    operation = "nas-sp-mz-*"
  ),
  draw = splits(panel = mpi),
  differs = "The study ran class D on 16 to 128 cores; here the site's, and the class that fits.",
  needs = NEEDS_OF_CLASS_D
)

WITHOUT_UPC <- paste(
  "The study compares UPC, MPI and OpenMP; no UPC compiler is packaged.",
  "Fortran's coarrays, its stand-in, are in figure 5.46, over hosts."
)

exhibit("finisterrae-fig-5.43", "Ranks and threads in shared memory, NAS kernels of class B",
  data = launches_of(
    c("nas_class_b", if_there(c("npb_class_b", "npb_threads_class_b"))),
    c("nas_class_a", if_there(c("npb_class_a", "npb_threads_class_a"))),
    c("nas_quick", if_there(c("npb_quick", "npb_threads_quick"))),
    operation = "nas-*"
  ),
  draw = rate(series = program, panel = mpi),
  differs = paste(
    WITHOUT_UPC, "The class is smaller where no other was measured. If NAS's own programs for",
    "OpenMP were built (NPB-OMP), their threads are shown beside the threads of our kernels."
  ),
  without = "UPC"
)

exhibit("finisterrae-fig-5.44", "Ranks and threads in shared memory, NAS kernels of class C",
  data = launches_of(
    c("nas_class_c", if_there(c("npb_class_c", "npb_threads_class_c"))),
    operation = "nas-*"
  ),
  draw = rate(series = program, panel = mpi),
  differs = WITHOUT_UPC,
  without = "UPC"
)

exhibit("finisterrae-fig-5.45", "NAS kernels over hosts",
  data = launches_of("nas_hosts", operation = "nas-*"),
  draw = rate(series = operation, panel = c(mpi, transport)),
  differs = "The study ran class B on nodes of 16 cores; here class A, one rank on each host.",
  without = "UPC, and threads beside ranks"
)

exhibit("finisterrae-fig-5.46", "Languages over nodes, class C",
  data = launches_of("nas_languages_hosts", parameter_language = c("c", "fortran")),
  draw = rate(series = parameter_language, panel = c(mpi, transport)),
  differs = paste(
    "The study ran class C of UPC, MPI and OpenMP on nodes of 16 cores; here class W, one rank on",
    "each host, and Fortran's coarrays stand in for UPC."
  ),
  without = "UPC, its CG and MG, and threads beside ranks"
)

exhibit("finisterrae-fig-5.47", "UPC within a node and over several nodes",
  needs = "several nodes of 16 cores each, and a UPC compiler"
)

DIFFERS_IN_JAVA <-
  "Java's ranks use Intel MPI's bindings; MPJ Express, which the study had, is in no package."

exhibit("finisterrae-fig-5.48", "Java compared with C, ranks and threads, class A",
  data = launches_of(
    "nas_languages_a", "nas_languages_quick", parameter_language = c("c", "java")
  ),
  draw = rate(series = parameter_language, panel = mpi),
  differs = paste(DIFFERS_IN_JAVA, "A smaller class where that was measured.")
)

exhibit("finisterrae-fig-5.49", "Java compared with C, ranks and threads, class B",
  data = launches_of(
    "nas_languages_b", parameter_language = c("c", "java")
  ),
  draw = rate(series = parameter_language, panel = mpi),
  differs = DIFFERS_IN_JAVA
)
