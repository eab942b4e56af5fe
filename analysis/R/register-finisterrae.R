# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of finisterrae.

DIFFERS_BY_CARD <- paste(
  "The study used InfiniBand between nodes, and far was the cell away from the card; on emulated",
  "hosts it is behind the other one of two switches."
)

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
    "In simulated launches, the bandwidth loss comes from the study, and the microsecond between",
    "the cells is assumed."
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
    "In simulated launches, the bandwidth loss comes from the study, and the microsecond between",
    "the cells is assumed."
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
    "In simulated launches, the bandwidth loss comes from the study, and the microsecond between",
    "the cells is assumed."
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
    "In simulated launches, the bandwidth loss comes from the study, and the microsecond between",
    "the cells is assumed."
  ),
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.7", "Ping-pong: bandwidth between hosts by placement",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far"),
    sizes = "4Ki..32Mi"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "MB/s"),
  differs = DIFFERS_BY_CARD,
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.8", "Ping-pong: latency between hosts by placement",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far"),
    sizes = "1..4Ki"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "us"),
  differs = DIFFERS_BY_CARD,
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.9", "Ping-ping: bandwidth between hosts by placement",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far"),
    sizes = "4Ki..32Mi"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "MB/s"),
  differs = DIFFERS_BY_CARD,
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.10", "Ping-ping: latency between hosts by placement",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far"),
    sizes = "1..4Ki"
  ),
  draw = by_size(series = placement, panel = mpi, unit = "us"),
  differs = DIFFERS_BY_CARD,
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.11", "Ping-pong: performance of the far placement, the interconnect",
  data = launches_of(
    "pingpong_affinity", "simulated_pingpong_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far")
  ),
  draw = relative(by = placement, reference = "near", series = mpi),
  differs = DIFFERS_BY_CARD,
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

exhibit("finisterrae-fig-5.12", "Ping-ping: performance of the far placement, the interconnect",
  data = launches_of(
    "pingping_affinity", "simulated_pingping_affinity",
    transport = c(if_there("tcp"), if_there("simulated")), placement = c("near", "far")
  ),
  draw = relative(by = placement, reference = "near", series = mpi),
  differs = DIFFERS_BY_CARD,
  needs = "a site with cores that are near and cores that are far",
  circular = TRUE
)

DIFFERS_IN_PROTOCOL <- paste(
  "The study used InfiniBand between nodes; here it is shared memory, and TCP within a host or",
  "between emulated ones. Over InfiniBand no limit is declared that could be set: nothing here",
  "has it to prove that a library took one."
)

exhibit("finisterrae-fig-5.13", "Ping-pong: bandwidth with the protocol forced",
  data = launches_of("protocol_pingpong", "protocol_quick", sizes = "4Ki..32Mi"),
  draw = by_size(series = protocol, panel = c(mpi, transport, placement), unit = "MB/s"),
  differs = paste(
    DIFFERS_IN_PROTOCOL, "Caches are invalidated; where the quick test stands in, they are warm."
  )
)

exhibit("finisterrae-fig-5.14", "Ping-pong: latency with the protocol forced",
  data = launches_of("protocol_pingpong", "protocol_quick", sizes = "1..64Ki"),
  draw = by_size(series = protocol, panel = c(mpi, transport, placement), unit = "us"),
  differs = paste(
    DIFFERS_IN_PROTOCOL, "Caches are invalidated; where the quick test stands in, they are warm."
  )
)

exhibit("finisterrae-fig-5.15", "Ping-ping: bandwidth with the protocol forced",
  data = launches_of("protocol_pingping", sizes = "4Ki..32Mi"),
  draw = by_size(series = protocol, panel = c(mpi, transport, placement), unit = "MB/s"),
  differs = DIFFERS_IN_PROTOCOL
)

exhibit("finisterrae-fig-5.16", "Ping-ping: latency with the protocol forced",
  data = launches_of("protocol_pingping", sizes = "1..64Ki"),
  draw = by_size(series = protocol, panel = c(mpi, transport, placement), unit = "us"),
  differs = DIFFERS_IN_PROTOCOL
)

exhibit("finisterrae-fig-5.17", "All-to-all by size and ranks, Open MPI, placement near",
  data = collective_launches("alltoall", algorithms = "openmpi", placement = "near"),
  draw = by_size(series = ranks, panel = transport),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.18", "All-to-all by size and ranks, Open MPI, placement far",
  data = collective_launches("alltoall", algorithms = "openmpi", placement = "far"),
  draw = by_size(series = ranks, panel = transport),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.19", "All-to-all by size and ranks, Intel MPI, placement near",
  data = collective_launches("alltoall", algorithms = "intel-mpi", placement = "near"),
  draw = by_size(series = ranks, panel = transport),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.20", "All-to-all by size and ranks, Intel MPI, placement far",
  data = collective_launches("alltoall", algorithms = "intel-mpi", placement = "far"),
  draw = by_size(series = ranks, panel = transport),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.21", "All-to-all: time of the far placement, Open MPI",
  data = collective_launches("alltoall", algorithms = "openmpi", placement = c("near", "far")),
  draw = relative(by = placement, reference = "near", series = ranks, of = "time"),
  differs = DIFFERS_IN_RANKS,
  circular = TRUE
)

exhibit("finisterrae-fig-5.22", "All-to-all: time of the far placement, Intel MPI",
  data = collective_launches("alltoall", algorithms = "intel-mpi", placement = c("near", "far")),
  draw = relative(by = placement, reference = "near", series = ranks, of = "time"),
  differs = DIFFERS_IN_RANKS,
  circular = TRUE
)

exhibit("finisterrae-fig-5.23", "All-to-all by ranks, 1 B",
  data = collective_launches("alltoall", sizes = "1"),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = DIFFERS_IN_RANKS
)

exhibit("finisterrae-fig-5.24", "All-to-all by ranks, 4 KiB",
  data = collective_launches("alltoall", sizes = "4Ki"),
  draw = by_parameter(x = ranks, series = c(algorithms, placement), panel = c(bytes, transport)),
  differs = paste(DIFFERS_IN_RANKS, "Simulations stop where their memory would.")
)
