# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of tinetti.

exhibit("tinetti-ping-baseline", "Lowest layer: echo of the network itself",
  data = launches_of("transport_full", "transport_quick", transport = "icmp"),
  draw = startup_table(),
  differs = "The study had 10 and 100 Mbit/s Ethernet."
)

exhibit("tinetti-p2p-pvm", "Point to point under PVM: start-up and bandwidth",
  data = launches_of("pvm_full", "pvm_quick"),
  draw = startup_table(),
  differs = "The study had 10 and 100 Mbit/s Ethernet and PVM 3.3."
)

exhibit("tinetti-p2p-mpi", "Point to point under MPI: start-up and bandwidth by configuration",
  data = launches_of(
    c("pingpong_quick", "lam_quick"), "lam_quick", "pingpong_quick", "pingpong_affinity"
  ),
  draw = startup_table(),
  differs = "The study had 10 and 100 Mbit/s Ethernet."
)

exhibit("tinetti-bcast-pvm", "Broadcast and multicast under PVM: start-up and bandwidth",
  data = launches_of("pvm_bcast_full", "pvm_bcast_quick"),
  draw = startup_table(),
  differs = "The study had 10 and 100 Mbit/s Ethernet and PVM 3.3."
)

exhibit("tinetti-bcast-mpi", "Broadcast under MPI: start-up and bandwidth",
  data = launches_of(
    c("hosts_quick", "lam_bcast_quick"), c("collective_quick", "lam_bcast_quick"), "hosts_quick",
    "hosts_full", "collective_quick", "lam_bcast_full", operation = "bcast",
    option_start = c(not("windows"), not("mpi-barrier"))
  ),
  draw = startup_table(),
  differs = "The study had 10 and 100 Mbit/s Ethernet. As there, a barrier is the start."
)

exhibit("tinetti-tab-3", "Start-up and bandwidth on equal hosts",
  data = launches_of(
    c("pingpong_quick", "pvm_quick", if_there("lam_quick")),
    "pingpong_quick"
  ),
  draw = startup_table(),
  differs = "The study had 10 and 100 Mbit/s Ethernet."
)

exhibit("tinetti-bcast-model", "Algorithm of a broadcast: its bandwidth beside that of a message",
  data = launches_of(
    c(
      "lam_bcast_quick", "pvm_bcast_quick", "transport_bcast_quick", "pvm_quick", "lam_quick",
      "transport_quick"
    ),
    c("lam_bcast_quick", "pvm_bcast_quick", "pvm_quick", "lam_quick"),
    c("pvm_bcast_quick", "pvm_quick"), c("collective_full", "pingpong_quick"),
    c("collective_quick", "pingpong_quick"), operation = c("bcast", "pingpong")
  ),
  draw = broadcast_table(),
  differs = "The study had 10 and 100 Mbit/s Ethernet."
)
