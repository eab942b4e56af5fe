# SPDX-License-Identifier: BSD-3-Clause
# Exhibits of cotejo itself.

exhibit(
  "cotejo-start-line",
  "Does the faster MPI change with the start line? Ratio of the times of a broadcast",
  data = launches_of("collective_quick", operation = "bcast", sizes = "8"),
  draw = ratio(by = mpi, x = option_start)
)

exhibit("cotejo-lead", "Time by the lead before a synchronised start",
  data = launches_of("lead_full", "lead_quick"),
  draw = by_parameter(x = parameter_lead, series = c(mpi, bytes), panel = c(operation, transport))
)

exhibit("cotejo-error-1", "Error 1: the first call is counted",
  data = launches_of(
    "systematic_errors_full", "systematic_errors_quick", operation = c("*-first", "*-second")
  ),
  draw = error(
    wrong = c(
      "bcast-first", "allreduce-first", "gather-first", "allgather-first", "alltoall-first",
      "reduce-first"
    ),
    right = c(
      "bcast-second", "allreduce-second", "gather-second", "allgather-second", "alltoall-second",
      "reduce-second"
    ),
    repetition = "0"
  ),
  differs = "The first call is the first of its size in the launch."
)

exhibit("cotejo-error-2", "Error 2: one rank's time stands for all",
  data = launches_of(
    "systematic_errors_full", "systematic_errors_quick", operation = c("bcast.rank0", "bcast")
  ),
  draw = error(wrong = "bcast.rank0", right = "bcast")
)

exhibit("cotejo-error-3", "Error 3: the root goes round",
  data = launches_of(
    "systematic_errors_full", "systematic_errors_quick",
    operation = c("bcast-rotating-root", "bcast")
  ),
  draw = error(wrong = "bcast-rotating-root", right = "bcast")
)

exhibit("cotejo-error-4", "Error 4: buffers stay in the caches",
  data = launches_of(
    "systematic_errors_full", "systematic_errors_quick", operation = c("bcast", "bcast-cold")
  ),
  draw = error(wrong = "bcast", right = "bcast-cold")
)

exhibit("cotejo-error-5", "Error 5: a barrier is the start line: how far apart ranks begin",
  data = launches_of(
    "systematic_errors_full", "systematic_errors_quick",
    operation = c("skew-mpi-barrier", "skew-barrier", "skew-deadline")
  ),
  draw = values(x = operation, series = mpi, panel = c(timer, transport), unit = "ns"),
  differs = "skew-deadline: after an announced moment of the shared clock."
)

exhibit("cotejo-error-6", "Error 6: a loop without starts",
  data = launches_of(
    c("systematic_errors_full", if_there("hosts_errors")), "systematic_errors_quick",
    operation = c("linear-loop.rank1", "linear.rank1")
  ),
  draw = error(wrong = "linear-loop.rank1", right = "linear.rank1", series = ranks),
  differs = paste(
    "For n ranks and k calls, rank i should be wrong by (n - 1)(k - 1) / (ik) + 1 / k: on 2",
    "ranks by 1, which is not at all. It does not know that messages of a loop are under way",
    "together, by which a loop looks quicker still."
  )
)

exhibit("cotejo-error-written", "One more error: buffers that were never written",
  data = launches_of(
    "systematic_errors_full", "systematic_errors_quick",
    operation = c("bcast", "bcast-unwritten")
  ),
  draw = error(wrong = "bcast-unwritten", right = "bcast"),
  differs = paste(
    "Until it is written to, memory is one page of zeros, which stays in the nearest cache."
  )
)

exhibit(
  "cotejo-audit",
  "Printed numbers of the studies compared with values derived from their other numbers",
  draw = audit_table()
)

exhibit(
  "cotejo-overlap-single",
  "Opportunity of overlap of one message, with and without asynchronous progress",
  data = launches_of("overlap_local", "overlap_quick", operation = "overlap-local-*"),
  draw = opportunity(series = setting_async_progress, panel = c(mpi, operation, transport))
)

exhibit("cotejo-overlap-row", "Opportunity of overlap in a row of messages",
  data = launches_of(
    c("overlap_gap_send", "overlap_gap_receive"), "overlap_quick", operation = "overlap-gap-*"
  ),
  draw = opportunity(series = c(mpi, option_blocking), panel = c(operation, transport))
)

exhibit("cotejo-overlap-pingpong", "Opportunity of overlap in a ping-pong",
  data = launches_of("overlap_pingpong", "overlap_quick", operation = "overlap-pingpong"),
  draw = opportunity(series = c(mpi, option_blocking), panel = transport)
)

exhibit(
  "cotejo-loggp",
  "Protocol regimes of the end-to-end latency: LogGP's parameters and where they change",
  data = launches_of("logp_full", "logp_quick", operation = "logp-eel"),
  draw = loggp_table()
)

exhibit(
  "cotejo-hockney",
  "Protocol regimes of the ping-pong: Hockney's parameters and where they change",
  data = launches_of("netpipe_uni", "pingpong_quick", option_mode = "standard"),
  draw = regime_table()
)

exhibit("cotejo-logp", "Parameters of LogP by message size, by the time of calls and by overlap",
  data = launches_of("logp_full", "logp_quick", option_mode = "standard"),
  draw = logp_table()
)

exhibit("cotejo-eager-limit", "Eager limits: set, and seen",
  data = launches_of("eager_limit_full", "eager_limit_quick"),
  draw = limit_table()
)

exhibit(
  "cotejo-crossover-pingpong",
  "Ping-pong: from which size on rendezvous is faster, and the limit to set",
  data = launches_of("protocol_pingpong", "protocol_quick"),
  draw = crossover_table()
)

exhibit(
  "cotejo-crossover-pingping",
  "Ping-ping: from which size on rendezvous is faster, and the limit to set",
  data = launches_of("protocol_pingping"),
  draw = crossover_table()
)

exhibit("cotejo-affinity-stream", "Stream: performance of other placements than the near one",
  data = launches_of("stream_affinity"),
  draw = relative(by = placement, reference = "near", series = mpi),
  needs = "a site with cores that are near and cores that are far"
)

exhibit(
  "cotejo-affinity-bandwidth",
  "Queue of messages: performance of other placements than the near one",
  data = launches_of("bandwidth_affinity"),
  draw = relative(by = placement, reference = "near", series = c(mpi, queue)),
  needs = "a site with cores that are near and cores that are far"
)

exhibit(
  "cotejo-affinity-parts",
  "Parts of one message under way: performance of other placements than the near one",
  data = launches_of("parts_affinity"),
  draw = relative(by = placement, reference = "near", series = c(mpi, queue)),
  needs = "a site with cores that are near and cores that are far"
)

exhibit(
  "cotejo-affinity-pairs",
  "Pairs at once: performance of other placements than the near one",
  data = launches_of("pairs_affinity"),
  draw = relative(by = placement, reference = "near", series = c(mpi, pairs)),
  needs = "a site with cores that are near and cores that are far"
)

exhibit(
  "cotejo-affinity-logp",
  "Latency, gap and overheads: performance of other placements than the near one",
  data = launches_of(
    "logp_affinity", operation = c("logp-eel", "logp-g", "logp-os-call", "logp-or-call")
  ),
  draw = relative(by = placement, reference = "near", series = c(mpi, operation)),
  needs = "a site with cores that are near and cores that are far"
)

exhibit("cotejo-affinity-overlap", "Opportunity of overlap of one message, by placement",
  data = launches_of("overlap_affinity"),
  draw = opportunity(series = c(mpi, placement), panel = c(operation, transport)),
  needs = "a site with cores that are near and cores that are far"
)

exhibit("cotejo-affinity-exchange", "Exchange: performance of other placements than the near one",
  data = launches_of("exchange_affinity", operation = c("exchange-posted", "exchange-sendrecv")),
  draw = relative(by = placement, reference = "near", series = c(mpi, operation)),
  needs = "a site with cores that are near and cores that are far"
)

exhibit(
  "cotejo-affinity-alltoall",
  "All-to-all by five ways: performance of other placements than the near one",
  data = launches_of("alltoall_variants_affinity"),
  draw = relative(by = placement, reference = "near", series = c(mpi, operation)),
  needs = "a site with cores that are near and cores that are far"
)

exhibit(
  "cotejo-windows",
  "Sustained bandwidth of separate messages by message size and length of the queue",
  data = launches_of(
    "bandwidth_sizes", "bandwidth_quick", operation = "bandwidth-windows", burst = "0",
    sizes = "8..1Mi"
  ),
  draw = by_size(series = queue, panel = c(mpi, transport), unit = "Mbit/s")
)

exhibit("cotejo-message-rate", "Rate of small messages, 64 under way",
  data = launches_of("message_rate", operation = "bandwidth-windows"),
  draw = by_size(
    series = pairs, panel = c(mpi, transport), unit = "messages/s", scale = c("log", "linear")
  )
)

exhibit("cotejo-bidirectional", "Bandwidth in both directions at once and in one direction",
  data = launches_of(
    c("netpipe_bi", "netpipe_uni"), option_mode = "standard", option_blocking = "yes",
    operation = c("pingpong", "pingping")
  ),
  draw = by_size(series = operation, panel = c(mpi, transport), unit = "Mbit/s"),
  differs = "The bandwidth is that of one direction; two directions at once move twice as much."
)

exhibit(
  "cotejo-nonblocking",
  "How much of a non-blocking collective a computation beside it hides",
  data = launches_of(
    "collective_full", parameter_variant = "nonblocking",
    operation = c(
      "ibcast", "ibcast.*", "iallreduce", "iallreduce.*", "ialltoall", "ialltoall.*",
      "iallgather", "iallgather.*"
    )
  ),
  draw = hidden_share(series = operation, panel = c(mpi, transport, ranks))
)

exhibit(
  "cotejo-datatypes",
  "Derived datatypes: performance compared with the same elements packed by the program",
  data = launches_of("collective_datatypes", operation = c("bcast", "alltoall")),
  draw = relative(
    by = parameter_transfer, reference = "packed", series = c(mpi, operation),
    panel = c(parameter_datatype, transport)
  )
)

exhibit("cotejo-in-place", "MPI_IN_PLACE compared with separate buffers",
  data = launches_of(
    "in_place_full", "in_place_quick", operation = c("allgather", "allreduce", "alltoall")
  ),
  draw = relative(
    by = parameter_buffers, reference = "separate", series = c(mpi, operation),
    panel = c(transport, ranks)
  )
)

exhibit("cotejo-communicators", "Creation of communicators",
  data = launches_of("communicators_full", "communicators_quick"),
  draw = values(x = operation, series = mpi, panel = c(transport, ranks))
)

exhibit("cotejo-stencil", "Faces of a grid of ranks, exchanged with all neighbours",
  data = launches_of("stencil_full", "stencil_quick"),
  draw = by_size(series = c(mpi, operation), panel = c(transport, ranks, dimensions))
)

exhibit("cotejo-interference", "Messages and collectives, alone and beside an aggressor",
  data = launches_of("interference_full", "interference_quick"),
  draw = by_size(series = c(mpi, aggressors), panel = c(operation, transport, ranks))
)

exhibit("cotejo-groups", "Collectives in several communicators at once",
  data = launches_of("collective_groups_full", "collective_groups_quick"),
  draw = by_size(series = parameter_groups, panel = c(mpi, operation, transport, ranks))
)

exhibit("cotejo-alltoall-one-sided", "All-to-all by MPI_Put and MPI_Get",
  data = launches_of("alltoall_one_sided_full", "alltoall_one_sided_quick"),
  draw = by_size(series = c(mpi, operation), panel = c(transport, ranks))
)

exhibit("cotejo-pairings", "Pairs at once: halves of the ranks, neighbours, and random pairs",
  data = launches_of("pingpong_pairings", sizes = "1 4Ki 1Mi"),
  draw = by_parameter(x = pairs, series = parameter_pairing, panel = c(mpi, transport, bytes))
)

exhibit("cotejo-tails", "Median, upper quantiles and maximum of 100,000 messages of a launch",
  data = launches_of("pingpong_tails"),
  draw = tails(series = mpi, panel = transport)
)

exhibit("cotejo-files", "Blocks of one file, written and read by MPI-IO",
  data = launches_of("files_full", "files_quick"),
  draw = by_size(series = c(mpi, operation), panel = c(ranks, parameter_flush), unit = "MB/s")
)

exhibit("cotejo-matrix", "Every pair of ranks, one after the other: which is slow?",
  data = launches_of("matrix_full", "matrix_quick", sizes = "8 1Mi"),
  draw = pair_map(panel = c(mpi, transport, bytes))
)

exhibit("cotejo-operators", "Allreduce by operator",
  data = launches_of("collective_operators", operation = "allreduce"),
  draw = by_size(series = parameter_op, panel = c(mpi, transport, ranks))
)

exhibit("cotejo-topologies", "Neighbours on a grid and on a graph",
  data = launches_of(
    "collective_topologies", operation = c("neighbor_allgather", "neighbor_alltoall")
  ),
  draw = by_size(series = c(parameter_topology, operation), panel = c(mpi, transport, ranks)),
  differs = paste(
    "On a grid a rank has up to four neighbours, on the graph as many as powers of two below",
    "the number of ranks."
  )
)

exhibit("cotejo-start-skew", "How far apart ranks begin, by way to start and timer",
  data = launches_of("start_skew_full", "start_skew_quick"),
  draw = values(x = operation, series = mpi, panel = c(timer, transport, ranks), unit = "ns")
)

exhibit("cotejo-memory", "Memory of a rank",
  data = launches_of("memory_full", "memory_quick"),
  draw = memory_table()
)

exhibit("cotejo-deadlock", "Size from which an exchange of blocking sends deadlocks",
  data = launches_of("exchange_full", "exchange_quick"),
  draw = deadlock_table()
)

exhibit("cotejo-which-broadcast", "Which broadcast is it? Models of scaling with ranks and size",
  data = launches_of(
    "collective_full", "collective_quick", "hosts_full", "hosts_quick", operation = "bcast",
    parameter_start = c(not("barrier"), not("mpi-barrier"), not("none"))
  ),
  draw = scaling_table()
)

exhibit("cotejo-netpipe-limits", "Bandwidth of a message with the eager limits of older libraries",
  data = launches_of("netpipe_limits", sizes = "1..1Mi"),
  draw = by_size(series = setting_eager_limit, panel = c(mpi, transport), unit = "Mbit/s")
)

exhibit("cotejo-overlap-frame", "Overlap in a ping-pong of 1500 B, by transport",
  data = launches_of("overlap_frame", sizes = "1500"),
  draw = overlap(measures = c("time_s", "alone_s"), panel = c(mpi, transport)),
  differs = "watter used mpptest for it in section 5.4.3, without a figure."
)

exhibit("cotejo-which-algorithm", "Which algorithm is it? The other collectives",
  data = launches_of(
    "hosts_full", "collective_full",
    operation = c("scatter", "gather", "allgather", "alltoall", "allreduce")
  ),
  draw = scaling_table()
)

exhibit(
  "cotejo-simulated-bcast",
  "Broadcast by ranks on simulated machines: whose choice of algorithms",
  data = launches_of(
    "simulated_bcast", "simulated_quick", operation = "bcast", sizes = "16 1Ki 64Ki"
  ),
  draw = by_parameter(x = ranks, series = setting_coll_selector, panel = c(bytes, placement))
)

exhibit(
  "cotejo-simulated-alltoall",
  "All-to-all by ranks on simulated machines: whose choice of algorithms",
  data = launches_of(
    "simulated_alltoall", "simulated_quick", operation = "alltoall", sizes = "16 1Ki 64Ki"
  ),
  draw = by_parameter(x = ranks, series = setting_coll_selector, panel = c(bytes, placement))
)

exhibit("cotejo-message-matrix",
  "Which rank sends how much to which, in one call of a collective operation?",
  data = launches_of(
    "collective_full", "collective_quick", "hosts_full", "hosts_quick",
    operation = c("bcast", "allreduce", "alltoall"), sizes = "8 64Ki"
  ),
  draw = message_matrix(panel = c(mpi, operation, bytes))
)

exhibit("cotejo-best-algorithm",
  "Fastest algorithm by ranks and size, and the cost of the library's choice",
  data = launches_of(
    "simulated_algorithms", "collective_full", "collective_quick", "hosts_full", "hosts_quick",
    option_arrival = not("one-late")
  ),
  draw = best_algorithm(row = ranks, panel = operation)
)

exhibit("cotejo-best-algorithm-arrival",
  "Does the fastest algorithm change with when ranks arrive?",
  data = launches_of("simulated_algorithms", "arrivals_full", "arrivals_quick"),
  draw = best_algorithm(row = option_arrival, panel = c(operation, ranks)),
  differs = "Times are from the last rank's arrival to the last one's end."
)

exhibit(
  "cotejo-arrival-winner",
  paste(
    "Does the faster MPI change with when ranks arrive? Ratio of the times of collectives"
  ),
  data = launches_of(
    "arrivals_full", "arrivals_quick",
    operation = c("bcast", "reduce", "allreduce", "alltoall"), sizes = "8 64Ki"
  ),
  draw = arrivals(by = mpi, x = option_arrival),
  differs = "Times are from the last rank's arrival to the last one's end."
)
