# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of stival.

DIFFERS_IN_NETWORK <- paste(
  "The study compares LLC with TCP over 1 Gbit/s Ethernet. Guests with LLC do so here: at that",
  "rate where the network runs ten times slower, else at 100 Mbit/s, as is said of each."
)

exhibit("stival-fig-4.1", "Bandwidth of a message by send mode and transport",
  data = launches_of(
    "netpipe_uni", "pingpong_modes", option_mode = c("standard", "synchronous"),
    option_blocking = "yes", sizes = "1..1Mi"
  ),
  draw = by_size(series = option_mode, panel = c(mpi, transport), unit = "Mbit/s"),
  differs = DIFFERS_IN_NETWORK
)

exhibit("stival-tab-4.2", "Bandwidth at 16 KiB, 32 KiB and 1 MiB",
  data = launches_of(
    "netpipe_uni", "pingpong_modes", option_mode = "standard", option_blocking = "yes",
    sizes = "16Ki 32Ki 1Mi"
  ),
  draw = medians_table(unit = "Mbit/s", columns = mpi, rows = transport),
  differs = DIFFERS_IN_NETWORK
)

exhibit("stival-fig-4.2", "Bandwidth by transport and the gain, up to 128 B",
  data = launches_of(
    "netpipe_brief", "netpipe_uni", "pingpong_modes", option_mode = "standard",
    option_blocking = "yes", transport = c("tcp", "llc", if_there("shm")), sizes = "1..128"
  ),
  draw = gain(by = transport, panel = mpi, unit = "Mbit/s", scale = "linear"),
  differs = paste(DIFFERS_IN_NETWORK, "Shared memory is of one host.")
)

exhibit("stival-fig-4.3", "Bandwidth by transport and the gain, 128 B to 16 KiB",
  data = launches_of(
    "netpipe_brief", "netpipe_uni", "pingpong_modes", option_mode = "standard",
    option_blocking = "yes", transport = c("tcp", "llc", if_there("shm")), sizes = "128..16Ki"
  ),
  draw = gain(by = transport, panel = mpi, unit = "Mbit/s"),
  differs = paste(DIFFERS_IN_NETWORK, "Shared memory is of one host.")
)

exhibit("stival-fig-4.4", "Bandwidth by MPI and the gain, up to 512 B",
  data = launches_of(
    "netpipe_uni", "pingpong_modes", option_mode = "standard", option_blocking = "yes",
    sizes = "1 2 4 8 16 32 64 128 256 512"
  ),
  draw = gain(by = mpi, panel = transport, unit = "Mbit/s")
)

exhibit("stival-fig-4.5", "Bandwidth by MPI and the gain, 512 B to 256 KiB",
  data = launches_of(
    "netpipe_uni", "pingpong_modes", option_mode = "standard", option_blocking = "yes",
    sizes = "512 1Ki 2Ki 4Ki 8Ki 16Ki 32Ki 64Ki 128Ki 256Ki"
  ),
  draw = gain(by = mpi, panel = transport, unit = "Mbit/s")
)

exhibit("stival-fig-4.6", "Messages back to back compared with messages that wait for an answer",
  data = launches_of(
    c("netpipe_stream", "netpipe_uni"), c("stream_quick", "pingpong_quick"), sizes = "1..1Mi"
  ),
  draw = by_size(series = c(operation, option_mode), panel = c(mpi, transport), unit = "Mbit/s"),
  differs = "The study shows one MPI."
)

exhibit("stival-fig-4.7", "Standard compared with synchronous sends, Open MPI",
  data = launches_of(
    "netpipe_uni", "pingpong_modes", mpi = "openmpi", option_mode = c("standard", "synchronous"),
    option_blocking = "yes", sizes = "1..1Mi"
  ),
  draw = by_size(series = option_mode, panel = transport, unit = "Mbit/s")
)

exhibit("stival-fig-4.8", "Standard compared with synchronous sends, MPICH",
  data = launches_of(
    "netpipe_uni", "pingpong_modes", mpi = "mpich", option_mode = c("standard", "synchronous"),
    option_blocking = "yes", sizes = "1..1Mi"
  ),
  draw = by_size(series = option_mode, panel = transport, unit = "Mbit/s")
)

exhibit("stival-fig-4.9", "Asynchronous progress on and off, synchronous sends",
  data = launches_of("netpipe_progress", option_mode = "synchronous", sizes = "1..1Mi"),
  draw = by_size(series = setting_async_progress, panel = c(mpi, transport), unit = "Mbit/s")
)

exhibit("stival-fig-4.10", "Asynchronous progress on and off, standard sends",
  data = launches_of("netpipe_progress", option_mode = "standard", sizes = "1..1Mi"),
  draw = by_size(series = setting_async_progress, panel = c(mpi, transport), unit = "Mbit/s")
)

exhibit("stival-fig-4.12", "Parameters of LogP by the time of calls, non-blocking, standard sends",
  data = launches_of(
    "logp_full", "logp_quick",
    operation = c("logp-eel", "logp-g", "logp-os-call", "logp-or-call"), option_mode = "standard",
    option_blocking = "no"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport))
)

exhibit("stival-fig-4.13", "Parameters of LogP by the time of calls, blocking, standard sends",
  data = launches_of(
    "logp_full", operation = c("logp-eel", "logp-g", "logp-os-call", "logp-or-call"),
    option_mode = "standard", option_blocking = "yes"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport))
)

exhibit("stival-fig-4.14", "Parameters of LogP by the time of calls, synchronous sends",
  data = launches_of(
    "logp_receives", "logp_full",
    operation = c("logp-eel", "logp-g", "logp-os-call", "logp-or-call"),
    option_mode = "synchronous", option_blocking = "yes",
    option_receive = c("blocking", "nonblocking")
  ),
  draw = by_size(series = operation, panel = c(option_receive, mpi, transport))
)

exhibit("stival-fig-4.16", "Ping-pong by send mode and completion, MPICH",
  data = launches_of("pingpong_modes", mpi = "mpich"),
  draw = by_size(series = c(option_mode, option_blocking), panel = transport),
  differs = "Buffered and ready sends are added."
)

DIFFERS_IN_LLC <- paste(
  DIFFERS_IN_NETWORK, "A progress thread shares its rank's core; each MPI that has one is shown",
  "with it."
)

exhibit("stival-fig-4.17", "Non-blocking ping-pong of small messages",
  data = launches_of(
    c("pingpong_modes", if_there("pingpong_progress")), option_blocking = "no",
    option_mode = "standard", sizes = "1..4Ki"
  ),
  draw = by_size(
    series = c(mpi, setting_async_progress), panel = transport, scale = c("log", "linear")
  ),
  differs = DIFFERS_IN_LLC
)

exhibit("stival-fig-4.18", "Non-blocking ping-pong of medium messages",
  data = launches_of(
    c("pingpong_modes", if_there("pingpong_progress")), option_blocking = "no",
    option_mode = "standard", sizes = "8Ki..80Ki"
  ),
  draw = by_size(
    series = c(mpi, setting_async_progress), panel = transport, scale = c("log", "linear")
  ),
  differs = DIFFERS_IN_LLC
)

exhibit("stival-fig-4.19", "Ping-pong by the number of pairs at once",
  data = launches_of(
    "pingpong_pairs", "simulated_pairs", pairs = c("1", "2", "4"), sizes = "96Ki..1Mi"
  ),
  draw = by_size(series = pairs, panel = c(mpi, transport), scale = c("linear", "linear"))
)

exhibit("stival-fig-4.20", "Sustained bandwidth by the number of messages sent, 16 KiB and 24 KiB",
  data = launches_of(
    "bandwidth_bursts", operation = "bandwidth-parts", burst = not("0"), sizes = "16Ki 24Ki"
  ),
  draw = by_parameter(
    x = burst, series = queue, panel = c(bytes, mpi, transport), unit = "Mbit/s"
  )
)

exhibit("stival-fig-4.21", "Sustained bandwidth by the number of messages sent, 32 KiB and 56 KiB",
  data = launches_of(
    "bandwidth_bursts", operation = "bandwidth-parts", burst = not("0"), sizes = "32Ki 56Ki"
  ),
  draw = by_parameter(
    x = burst, series = queue, panel = c(bytes, mpi, transport), unit = "Mbit/s"
  )
)

exhibit("stival-fig-4.22", "Sustained bandwidth by the number of messages sent, 72 KiB",
  data = launches_of(
    "bandwidth_bursts", operation = "bandwidth-parts", burst = not("0"), sizes = "72Ki"
  ),
  draw = by_parameter(
    x = burst, series = queue, panel = c(bytes, mpi, transport), unit = "Mbit/s"
  )
)

exhibit("stival-fig-4.23", "Sustained bandwidth by message size and length of the queue",
  data = launches_of(
    "bandwidth_sizes", "bandwidth_quick", operation = "bandwidth-parts", burst = "0",
    sizes = "8..1Mi"
  ),
  draw = by_size(series = queue, panel = c(mpi, transport), unit = "Mbit/s")
)

exhibit("stival-fig-4.24", "Exchange of messages by primitive",
  data = launches_of(
    "exchange_full", "exchange_quick", operation = "exchange-*", sizes = "1..1Mi"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport)),
  differs = "The blocking exchange ends where it would deadlock."
)

exhibit("stival-fig-4.25", "All-to-all by five ways, 2 ranks, small messages",
  data = launches_of(
    "alltoall_variants_full", "alltoall_variants_quick", "simulated_alltoall_variants",
    operation = "alltoall-*", ranks = "2", sizes = "1..4Ki"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport))
)

exhibit("stival-fig-4.26", "All-to-all by five ways, 8 ranks, small messages",
  data = launches_of(
    "alltoall_variants_full", "simulated_alltoall_variants", operation = "alltoall-*",
    ranks = "8", sizes = "1..4Ki"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport)),
  needs = "a site where 8 ranks have a core each"
)

exhibit("stival-fig-4.27", "All-to-all by five ways, 8 ranks, all sizes",
  data = launches_of(
    "alltoall_variants_full", "simulated_alltoall_variants", operation = "alltoall-*",
    ranks = "8", sizes = "1..1Mi"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport)),
  needs = "a site where 8 ranks have a core each"
)

exhibit("stival-fig-4.28", "Overlap in a ping-pong of 24 KiB",
  data = launches_of("overlap_pingpong", option_blocking = "no", sizes = "24Ki"),
  draw = overlap(measures = c("time_s", "alone_s"), panel = c(mpi, transport))
)

exhibit("stival-fig-4.29", "Overlap in ping-pongs of small messages",
  data = launches_of("overlap_pingpong", option_blocking = "no", sizes = "1..2Ki"),
  draw = overlap(measures = "time_s", series = bytes, panel = c(mpi, transport))
)

exhibit("stival-fig-4.30", "Overlap in ping-pongs of medium messages",
  data = launches_of("overlap_pingpong", option_blocking = "no", sizes = "2Ki..96Ki"),
  draw = overlap(measures = "time_s", series = bytes, panel = c(mpi, transport))
)

exhibit("stival-fig-4.31", "Overlap in ping-pongs of 24 KiB and 40 KiB",
  data = launches_of("overlap_pingpong", option_blocking = "no", sizes = "24Ki 40Ki"),
  draw = overlap(measures = c("time_s", "alone_s"), panel = c(bytes, mpi, transport))
)

exhibit(
  "stival-fig-4.32",
  "Overlap within one send of 72 KiB, with and without asynchronous progress",
  data = launches_of(
    "overlap_local", operation = "overlap-local-send", placement = "near", sizes = "72Ki"
  ),
  draw = overlap(measures = "time_s", series = setting_async_progress, panel = c(mpi, transport)),
  differs = "The study had one processor a node."
)

exhibit("stival-fig-4.33", "The same with a processor free for the progress thread",
  data = launches_of(
    "overlap_local", operation = "overlap-local-send", placement = "spare", sizes = "72Ki"
  ),
  draw = overlap(measures = "time_s", series = setting_async_progress, panel = c(mpi, transport)),
  differs = paste(
    "On emulated hosts the processor is that of the other host, which waits for the network."
  ),
  needs = paste(
    "a site where each of 2 ranks has two cores (placement spare; emulated hosts lend their cores)"
  )
)

exhibit("stival-fig-4.34", "Overlap within one send of 72 KiB: where the time goes",
  data = launches_of("overlap_local", operation = "overlap-local-send", sizes = "72Ki"),
  draw = overlap(
    measures = c("time_s", "wait_s", "compute_s"),
    panel = c(mpi, setting_async_progress, transport)
  )
)

exhibit("stival-fig-4.35", "Computation in a row of sends of 8 B",
  data = launches_of(
    "overlap_gap_send", operation = "overlap-gap-send", option_blocking = "yes", sizes = "8"
  ),
  draw = overlap(measures = c("time_s", "alone_s"), panel = c(mpi, transport))
)

exhibit("stival-fig-4.36", "Computation in a row of sends of 56 KiB",
  data = launches_of(
    "overlap_gap_send", operation = "overlap-gap-send", option_blocking = "yes", sizes = "56Ki"
  ),
  draw = overlap(measures = c("time_s", "alone_s"), panel = c(mpi, transport))
)

exhibit(
  "stival-tab-4.9",
  "Overhead of a send of 56 KiB: gap, hidden computation, and their difference",
  data = launches_of(
    "overlap_gap_send", operation = "overlap-gap-send", option_blocking = "yes", sizes = "56Ki"
  ),
  draw = overhead_table(),
  differs = paste(
    "The study read the hidden computation off the curve by eye; here a hinge is fitted to",
    "it."
  )
)

exhibit("stival-fig-4.37", "Computation in a row of receives of 56 KiB, synchronous sends",
  data = launches_of(
    "overlap_gap_receive", operation = "overlap-gap-receive", option_blocking = "yes",
    option_mode = c("synchronous", if_there("standard")), sizes = "56Ki"
  ),
  draw = overlap(measures = c("time_s", "alone_s"), panel = c(mpi, transport, option_mode)),
  differs = "Standard sends are added."
)

exhibit(
  "stival-tab-4.10",
  "Overhead of a receive of 56 KiB: gap, hidden computation, and their difference",
  data = launches_of(
    "overlap_gap_receive", operation = "overlap-gap-receive", option_blocking = "yes",
    option_mode = c("synchronous", if_there("standard")), sizes = "56Ki"
  ),
  draw = overhead_table(),
  differs = "As tab-4.9; standard sends are added."
)

exhibit("stival-fig-4.38", "Overheads of send and receive by message size, by two methods",
  data = launches_of(
    "logp_full", "logp_quick", operation = "logp-o?-*", option_mode = "standard",
    option_blocking = "no"
  ),
  draw = overheads(series = operation, panel = c(mpi, transport))
)
