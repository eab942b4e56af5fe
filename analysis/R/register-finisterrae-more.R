# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of finisterrae.

exhibit("finisterrae-fig-5.25", "All-to-all by ranks, 64 KiB",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "simulated_alltoall",
    operation = "alltoall", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")),
    sizes = "64Ki"
  ),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = paste(
    "The study had 2 to 1024 ranks on 64 nodes. Simulations stop where their memory would."
  )
)

exhibit("finisterrae-fig-5.26", "All-to-all by ranks, 8 MiB",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "simulated_alltoall",
    operation = "alltoall", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")),
    sizes = "8Mi"
  ),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = paste(
    "The study had 2 to 1024 ranks on 64 nodes. Simulations stop where their memory would."
  )
)

exhibit("finisterrae-fig-5.27", "Broadcast by size and ranks, Open MPI, placement near",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_bcast", operation = "bcast", algorithms = "openmpi",
    placement = "near", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = by_size(series = ranks, panel = transport),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.28", "Broadcast by size and ranks, Open MPI, placement far",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_bcast", operation = "bcast", algorithms = "openmpi",
    placement = "far", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = by_size(series = ranks, panel = transport),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.29", "Broadcast by size and ranks, Intel MPI, placement near",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_bcast", operation = "bcast", algorithms = "intel-mpi",
    placement = "near", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = by_size(series = ranks, panel = transport),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.30", "Broadcast by size and ranks, Intel MPI, placement far",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_bcast", operation = "bcast", algorithms = "intel-mpi",
    placement = "far", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = by_size(series = ranks, panel = transport),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.31", "Broadcast: performance of the far placement, Open MPI",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_bcast", operation = "bcast", algorithms = "openmpi",
    placement = c("near", "far"),
    parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = relative(by = placement, reference = "near", series = ranks),
  differs = "The study had 2 to 1024 ranks on 64 nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.32", "Broadcast: performance of the far placement, Intel MPI",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_bcast", operation = "bcast", algorithms = "intel-mpi",
    placement = c("near", "far"),
    parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = relative(by = placement, reference = "near", series = ranks),
  differs = "The study had 2 to 1024 ranks on 64 nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.33", "Broadcast by ranks, 1 B",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "simulated_bcast",
    operation = "bcast", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")),
    sizes = "1"
  ),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.34", "Broadcast by ranks, 4 KiB",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "simulated_bcast",
    operation = "bcast", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")),
    sizes = "4Ki"
  ),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.35", "Broadcast by ranks, 64 KiB",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "simulated_bcast",
    operation = "bcast", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")),
    sizes = "64Ki"
  ),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.36", "Broadcast by ranks, 8 MiB",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "simulated_bcast",
    operation = "bcast", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")),
    sizes = "8Mi"
  ),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = paste(
    "The study had 2 to 1024 ranks on 64 nodes. Simulations stop where their memory would."
  )
)

exhibit("finisterrae-fig-5.37", "Ranks against threads: NAS BT-MZ",
  data = launches_of(
    "npb_zones_class_b", "nas_class_b", "npb_zones_class_a", "nas_class_a", "npb_zones_quick",
    "nas_quick", operation = "nas-bt-mz-*", ranks = c("*", "16")
  ),
  draw = splits(panel = mpi),
  differs = "The study ran class C on 16 to 128 cores.",
  needs = "a site with 16 to 128 cores"
)

exhibit("finisterrae-fig-5.40", "Ranks against threads: NAS BT-MZ, large",
  data = launches_of(
    "npb_zones_class_c", "nas_class_c", operation = "nas-bt-mz-*", ranks = c("*", "16")
  ),
  draw = splits(panel = mpi),
  differs = "The study ran class D on 16 to 128 cores.",
  needs = "a site with 16 to 128 cores"
)

exhibit("finisterrae-fig-5.38", "Ranks against threads: NAS CG",
  data = launches_of(
    "nas_class_b", "nas_class_a", "nas_quick", operation = "nas-cg-*", ranks = c("*", "16")
  ),
  draw = splits(panel = mpi),
  differs = paste(
    "The study ran the multi-zone LU, class C, on 16 to 128 cores; here NAS CG of a smaller",
    "class, by the same split of cores."
  ),
  needs = "a site with 16 to 128 cores, and LU-MZ"
)

exhibit("finisterrae-fig-5.41", "Ranks against threads: NAS CG, large",
  data = launches_of("nas_class_c", operation = "nas-cg-*", ranks = c("*", "16")),
  draw = splits(panel = mpi),
  differs = paste(
    "The study ran the multi-zone LU, class D, on 16 to 128 cores; here NAS CG of a smaller",
    "class, by the same split of cores."
  ),
  needs = "a site with 16 to 128 cores, and LU-MZ"
)

exhibit("finisterrae-fig-5.39", "Ranks against threads: NAS SP-MZ",
  data = launches_of(
    "npb_zones_class_b", "nas_class_b", "npb_zones_class_a", "nas_class_a", "npb_zones_quick",
    "nas_quick", operation = "nas-sp-mz-*", ranks = c("*", "16")
  ),
  draw = splits(panel = mpi),
  differs = "The study ran class C on 16 to 128 cores.",
  needs = "a site with 16 to 128 cores"
)

exhibit("finisterrae-fig-5.42", "Ranks against threads: NAS SP-MZ, large",
  data = launches_of(
    "npb_zones_class_c", "nas_class_c", operation = "nas-sp-mz-*", ranks = c("*", "16")
  ),
  draw = splits(panel = mpi),
  differs = "The study ran class D on 16 to 128 cores.",
  needs = "a site with 16 to 128 cores"
)

exhibit("finisterrae-fig-5.43", "Ranks and threads in shared memory, NAS kernels of class B",
  data = launches_of(
    c("nas_class_b", "npb_class_b"), "nas_class_b", c("nas_class_a", "npb_class_a"),
    "nas_class_a", c("nas_quick", "npb_quick"), "nas_quick", operation = "nas-*",
    ranks = c("*", "16")
  ),
  draw = rate(series = program, panel = mpi),
  differs = paste(
    "The study held UPC, MPI and OpenMP against each other; no UPC compiler is packaged. A",
    "smaller class where that is what was measured."
  ),
  needs = "a site with 16 to 128 cores and a UPC compiler"
)

exhibit("finisterrae-fig-5.44", "Ranks and threads in shared memory, NAS kernels of class C",
  data = launches_of(
    c("nas_class_c", "npb_class_c"), "nas_class_c", operation = "nas-*", ranks = c("*", "16")
  ),
  draw = rate(series = program, panel = mpi),
  differs = "The study held UPC, MPI and OpenMP against each other; no UPC compiler is packaged.",
  needs = "a site with 16 to 128 cores and a UPC compiler"
)

exhibit("finisterrae-fig-5.45", "Languages over nodes, class B",
  needs = paste(
    "a site of several nodes with 16 cores each, a placement of more than one host for the",
    "NAS kernels, and a UPC compiler"
  )
)

exhibit("finisterrae-fig-5.46", "Languages over nodes, class C",
  needs = paste(
    "a site of several nodes with 16 cores each, a placement of more than one host for the",
    "NAS kernels, and a UPC compiler"
  )
)

exhibit("finisterrae-fig-5.47", "UPC within a node against over nodes",
  needs = "NAS kernels in UPC, a UPC compiler, and a site of several nodes"
)

exhibit("finisterrae-fig-5.48", "Java against C, ranks and threads, class A",
  data = launches_of(
    "nas_languages_a", "nas_languages_quick", parameter_language = c("c", "java"),
    ranks = c("*", "16")
  ),
  draw = rate(series = parameter_language, panel = mpi),
  differs = paste(
    "Java's ranks use Intel MPI's bindings; EP, IS and CG. A smaller class where that is what",
    "was measured."
  ),
  needs = "a site with 16 cores"
)

exhibit("finisterrae-fig-5.49", "Java against C, ranks and threads, class B",
  data = launches_of(
    "nas_languages_b", parameter_language = c("c", "java"), ranks = c("*", "16")
  ),
  draw = rate(series = parameter_language, panel = mpi),
  differs = "Java's ranks use Intel MPI's bindings; EP, IS and CG.",
  needs = "a site with 16 cores"
)
