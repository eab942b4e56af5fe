# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of mpiperf.

exhibit("mpiperf-tab-1", "First call of a collective compared with its second",
  data = launches_of("systematic_errors_full", "systematic_errors_quick", "hosts_errors"),
  draw = error_table(
    wrong = c(
      "bcast-first", "allreduce-first", "gather-first", "allgather-first", "alltoall-first",
      "reduce-first", "barrier-first"
    ),
    right = c(
      "bcast-second", "allreduce-second", "gather-second", "allgather-second", "alltoall-second",
      "reduce-second", "barrier-second"
    ),
    repetition = "0"
  ),
  differs = paste(
    "The study had 64 processes; here there are as many as cores, or emulated hosts up to 16. The",
    "first call is the first of its size in the launch."
  )
)

DIFFERS_IN_WAITING <- paste(
  "The study had 2 to 64 ranks with a core each. Ranks that share one cannot wait at once: on",
  "emulated hosts nothing is checked. Simulated clocks are perfect: those of 4 to 64 ranks check",
  "the arithmetic alone; the tests use clocks with an injected error."
)

exhibit("mpiperf-fig-8", "Check: the last of n ranks is busy for n waits",
  data = launches_of("waitpattern_up_full", "waitpattern_up_quick", "simulated_waitpattern_up"),
  draw = wait_pattern(x = ranks, series = option_start, panel = c(mpi, timer), truth = "up"),
  differs = DIFFERS_IN_WAITING
)

exhibit("mpiperf-fig-9", "Check: n waits, by timer",
  data = launches_of(
    c("waitpattern_up_full", if_there("mpiperf_collectives")),
    c("waitpattern_up_quick", if_there("mpiperf_collectives")),
    "simulated_waitpattern_up",
    operation = c("waitpattern-up", if_there("mpiperf-waitpatternup"))
  ),
  draw = wait_pattern(
    x = ranks, series = c(timer, operation), panel = c(option_start, mpi), truth = "up"
  ),
  differs = paste(
    "The study's peer is SKaMPI; here the study's own program, where it was given.",
    DIFFERS_IN_WAITING
  )
)

exhibit("mpiperf-fig-10", "Check: an operation that does nothing, by timer",
  data = launches_of(
    "waitpattern_null_full", "waitpattern_null_quick", "simulated_waitpattern_null"
  ),
  draw = wait_pattern(
    x = ranks, series = timer, panel = c(option_start, mpi), unit = "ns", truth = "null"
  ),
  differs = DIFFERS_IN_WAITING
)

DIFFERS_IN_PEER <- paste(
  "The study's peer is SKaMPI; here Intel's benchmarks, and the study's own program where it was",
  "given. A peer's launch is one mean."
)

exhibit("mpiperf-fig-11", "Broadcast by message size",
  data = launches_of(
    c("collective_full", "imb_collectives", if_there("mpiperf_collectives")),
    c("collective_quick", "imb_collectives", if_there("mpiperf_collectives")),
    "collective_full", "collective_quick", "hosts_full", "hosts_quick",
    operation = c("bcast", if_there("imb-bcast"), if_there("mpiperf-bcast")),
    parameter_start = c(not("barrier"), not("mpi-barrier"), not("none")), sizes = "0..32Ki"
  ),
  draw = by_size(series = c(mpi, operation), panel = c(transport, ranks)),
  differs = DIFFERS_IN_PEER
)

exhibit("mpiperf-fig-12", "Spread of a barrier's time over launches, by ranks",
  data = launches_of(
    c("collective_full", "imb_collectives", if_there("mpiperf_collectives")),
    c("collective_quick", "imb_collectives", if_there("mpiperf_collectives")),
    "collective_full", "collective_quick", "hosts_full", "hosts_quick",
    operation = c("barrier", if_there("imb-barrier"), if_there("mpiperf-barrier")),
    parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = spread(x = ranks, series = c(mpi, operation), panel = transport),
  differs = DIFFERS_IN_PEER
)
