# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of finisterrae.

exhibit("finisterrae-fig-5.1", "Ping-pong: bandwidth by placement, shared memory",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_memory",
    transport = c(if_there("shm"), if_there("simulated-shm")), placement = c("near", "far"),
    sizes = "4Ki..32Mi"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "MB/s"),
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.2", "Ping-pong: latency by placement, shared memory",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_memory",
    transport = c(if_there("shm"), if_there("simulated-shm")), placement = c("near", "far"),
    sizes = "1..4Ki"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "us"),
  differs = paste(
    "Where simulated: the lost bandwidth is the study's, the microsecond between the cells is",
    "supposed."
  ),
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.3", "Ping-ping: bandwidth by placement, shared memory",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_memory",
    transport = c(if_there("shm"), if_there("simulated-shm")), placement = c("near", "far"),
    sizes = "4Ki..32Mi"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "MB/s"),
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.4", "Ping-ping: latency by placement, shared memory",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_memory",
    transport = c(if_there("shm"), if_there("simulated-shm")), placement = c("near", "far"),
    sizes = "1..4Ki"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "us"),
  differs = paste(
    "Where simulated: the lost bandwidth is the study's, the microsecond between the cells is",
    "supposed."
  ),
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.5", "Ping-pong: performance of the far placement, shared memory",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_memory",
    transport = c(if_there("shm"), if_there("simulated-shm")), placement = c("near", "far")
  ),
  draw = relative(by = placement, reference = "near", series = mpi),
  differs = paste(
    "Where simulated: the lost bandwidth is the study's, the microsecond between the cells is",
    "supposed."
  ),
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.6", "Ping-ping: performance of the far placement, shared memory",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_memory",
    transport = c(if_there("shm"), if_there("simulated-shm")), placement = c("near", "far")
  ),
  draw = relative(by = placement, reference = "near", series = mpi),
  differs = paste(
    "Where simulated: the lost bandwidth is the study's, the microsecond between the cells is",
    "supposed."
  ),
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.7", "Ping-pong: bandwidth by placement, the interconnect",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far"),
    sizes = "4Ki..32Mi"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "MB/s"),
  differs = "The study used InfiniBand between nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.8", "Ping-pong: latency by placement, the interconnect",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far"),
    sizes = "1..4Ki"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "us"),
  differs = "The study used InfiniBand between nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.9", "Ping-ping: bandwidth by placement, the interconnect",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far"),
    sizes = "4Ki..32Mi"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "MB/s"),
  differs = "The study used InfiniBand between nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.10", "Ping-ping: latency by placement, the interconnect",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far"),
    sizes = "1..4Ki"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "us"),
  differs = "The study used InfiniBand between nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.11", "Ping-pong: performance of the far placement, the interconnect",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far")
  ),
  draw = relative(by = placement, reference = "near", series = mpi),
  differs = "The study used InfiniBand between nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.12", "Ping-ping: performance of the far placement, the interconnect",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far")
  ),
  draw = relative(by = placement, reference = "near", series = mpi),
  differs = "The study used InfiniBand between nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.13", "Ping-pong: bandwidth with the protocol forced",
  data = launches_of("protocol_pingpong", "protocol_quick", sizes = "4Ki..32Mi"),
  draw = by_size(series = protocol, panel = c(mpi, transport, placement), unit = "MB/s"),
  differs = paste(
    "The study used InfiniBand between nodes. Caches are invalidated; where the quick test",
    "stands in, they are warm."
  )
)

exhibit("finisterrae-fig-5.14", "Ping-pong: latency with the protocol forced",
  data = launches_of("protocol_pingpong", "protocol_quick", sizes = "1..64Ki"),
  draw = by_size(series = protocol, panel = c(mpi, transport, placement), unit = "us"),
  differs = paste(
    "The study used InfiniBand between nodes. Caches are invalidated; where the quick test",
    "stands in, they are warm."
  )
)

exhibit("finisterrae-fig-5.15", "Ping-ping: bandwidth with the protocol forced",
  data = launches_of("protocol_pingping", sizes = "4Ki..32Mi"),
  draw = by_size(series = protocol, panel = c(mpi, transport, placement), unit = "MB/s"),
  differs = "The study used InfiniBand between nodes."
)

exhibit("finisterrae-fig-5.16", "Ping-ping: latency with the protocol forced",
  data = launches_of("protocol_pingping", sizes = "1..64Ki"),
  draw = by_size(series = protocol, panel = c(mpi, transport, placement), unit = "us"),
  differs = "The study used InfiniBand between nodes."
)

exhibit("finisterrae-fig-5.17", "All-to-all by size and ranks, Open MPI, placement near",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_alltoall", operation = "alltoall", algorithms = "openmpi",
    placement = "near", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = by_size(series = ranks, panel = transport),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.18", "All-to-all by size and ranks, Open MPI, placement far",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_alltoall", operation = "alltoall", algorithms = "openmpi",
    placement = "far", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = by_size(series = ranks, panel = transport),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.19", "All-to-all by size and ranks, Intel MPI, placement near",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_alltoall", operation = "alltoall", algorithms = "intel-mpi",
    placement = "near", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = by_size(series = ranks, panel = transport),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.20", "All-to-all by size and ranks, Intel MPI, placement far",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_alltoall", operation = "alltoall", algorithms = "intel-mpi",
    placement = "far", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = by_size(series = ranks, panel = transport),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.21", "All-to-all: performance of the far placement, Open MPI",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_alltoall", operation = "alltoall", algorithms = "openmpi",
    placement = c("near", "far"),
    parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = relative(by = placement, reference = "near", series = ranks),
  differs = "The study had 2 to 1024 ranks on 64 nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.22", "All-to-all: performance of the far placement, Intel MPI",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "collective_full",
    "collective_quick", "simulated_alltoall", operation = "alltoall", algorithms = "intel-mpi",
    placement = c("near", "far"),
    parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = relative(by = placement, reference = "near", series = ranks),
  differs = "The study had 2 to 1024 ranks on 64 nodes.",
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.23", "All-to-all by ranks, 1 B",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "simulated_alltoall",
    operation = "alltoall", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")),
    sizes = "1"
  ),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = "The study had 2 to 1024 ranks on 64 nodes."
)

exhibit("finisterrae-fig-5.24", "All-to-all by ranks, 4 KiB",
  data = launches_of(
    "collective_affinity_full", "collective_affinity_quick", "simulated_alltoall",
    operation = "alltoall", parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")),
    sizes = "4Ki"
  ),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = paste(
    "The study had 2 to 1024 ranks on 64 nodes. Simulations stop where their memory would."
  )
)
