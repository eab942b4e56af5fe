# SPDX-License-Identifier: BSD-3-Clause
# Exhibits of cotejo itself: kernels.

exhibit("cotejo-fft-phases", "Time of the FFT by variant and phase",
  data = launches_of("fft_strong", "fft_quick", operation = "fft-*", ranks = not("1")),
  draw = phases(
    measures = c("rows_s", "twiddle_s", "transposition_s"), x = operation, series = operation,
    panel = c(mpi, transport, ranks, log2_points)
  )
)

exhibit("cotejo-fft-scaling", "Speed-up and efficiency of the FFT, one problem",
  data = launches_of(
    "fft_strong", "fft_quick", operation = c("fft-original-sendrecv", "fft-fused"),
    transport = "shm"
  ),
  draw = scaling(series = operation, panel = c(mpi, log2_points))
)

exhibit("cotejo-fft-hybrid", "The cores of a site as ranks and as threads",
  data = launches_of("fft_hybrid"),
  draw = values(
    x = parameter_split, series = mpi, panel = c(transport, log2_points), unit = "ms"
  )
)

exhibit("cotejo-radix-phases", "Time of the radix sort by variant and phase",
  data = launches_of("radix_weak", "radix_quick", ranks = not("1")),
  draw = phases(
    measures = c("histogram_s", "scan_s", "permutation_s"), x = operation,
    series = c(operation, bytes), panel = c(mpi, transport, ranks)
  )
)

exhibit("cotejo-radix-scaling", "Efficiency of the radix sort, as many keys on every rank",
  data = launches_of(
    "radix_weak", "radix_quick", operation = c("radix-alltoallv", "radix-split"),
    transport = "shm"
  ),
  draw = scaling(series = operation, panel = mpi, work = "per-rank")
)

exhibit("cotejo-radix-strong", "Speed-up and efficiency of the radix sort, one problem",
  data = launches_of(
    "radix_strong", operation = c("radix-alltoallv", "radix-split"), transport = "shm"
  ),
  draw = scaling(series = operation, panel = mpi)
)

exhibit("cotejo-nas-rates", "Rates of the NAS kernels by cores",
  data = launches_of("nas_class_a", "nas_quick", operation = "nas-*"),
  draw = rate(panel = mpi)
)

exhibit("cotejo-nas-balance", "Zones over ranks: load balance and exchange",
  data = launches_of("nas_class_b", "nas_class_a", "nas_quick", operation = "nas-*-mz-*"),
  draw = balance_table()
)

exhibit("cotejo-fft-variants", "Variants of the FFT compared with the original",
  data = launches_of("fft_strong", "fft_quick", operation = "fft-*", ranks = not("1")),
  draw = variants_table(reference = "fft-original-sendrecv", x = log2_points)
)

exhibit("cotejo-radix-variants", "Variants of the radix sort compared with the original",
  data = launches_of("radix_weak", "radix_quick", operation = "radix-*", ranks = not("1")),
  draw = variants_table(reference = "radix-serving", x = keys)
)

exhibit("cotejo-nas-original", "Our kernels in C beside NAS's own programs",
  data = launches_of(
    c("nas_class_a", "npb_class_a"), c("nas_quick", "npb_quick"),
    operation = c("nas-ep-*", "nas-is-*", "nas-cg-*", "nas-mg-*", "nas-ft-*"), threads = "1"
  ),
  draw = rate(series = program, panel = mpi)
)

exhibit("cotejo-layers", "Time that each layer adds to the layer below",
  data = launches_of(
    c("transport_quick", "pvm_quick", "pingpong_quick"), c("transport_quick", "pingpong_quick"),
    "transport_quick", operation = "pingpong"
  ),
  draw = layers_table(),
  differs = "The study printed this in words."
)

exhibit(
  "cotejo-threads-latency",
  "Latency of a message while other threads of the rank exchange messages",
  data = launches_of("threads_full", "threads_quick", operation = "threads-pingpong"),
  draw = by_size(series = threads, panel = c(mpi, transport, parameter_communicators))
)

exhibit("cotejo-threads-rate", "Rate of messages by threads of each rank",
  data = launches_of("threads_full", "threads_quick", operation = "threads-window"),
  draw = by_parameter(
    x = threads, series = parameter_communicators, panel = c(mpi, transport, bytes),
    unit = "messages/s", scale = c("linear", "linear")
  )
)

exhibit("cotejo-partitioned", "Persistent and partitioned messages, from start to completion",
  data = launches_of(
    "partitioned_full", "partitioned_quick", operation = "partitioned*", parameter_compute = "0"
  ),
  draw = by_size(series = c(operation, partitions), panel = c(mpi, transport))
)

exhibit(
  "cotejo-early-bird",
  "Gain of parts that are sent early over one message sent at the end",
  data = launches_of(
    "partitioned_full", "partitioned_quick", operation = c("partitioned", "partitioned-message"),
    parameter_compute = not("0")
  ),
  draw = relative(
    by = operation, reference = "partitioned-message", series = partitions,
    panel = c(mpi, transport, parameter_compute)
  )
)

exhibit(
  "cotejo-pair-datatypes",
  "Data with gaps between two ranks: as a datatype, packed by MPI, packed by hand",
  data = launches_of("datatypes_full", "datatypes_quick", operation = "datatype-*"),
  draw = by_size(series = packing, panel = c(mpi, transport, datatype), unit = "MB/s")
)

exhibit("cotejo-startup", "Start-up by ranks: MPI_Init, the first communication, sessions",
  data = launches_of("startup_full", "startup_quick", operation = "startup-*"),
  draw = by_parameter(x = ranks, series = operation, panel = c(mpi, transport), unit = "ms"),
  differs = "One sample a launch but of sessions."
)

exhibit("cotejo-large-messages", "Messages that are larger than an int counts",
  data = launches_of("datatypes_large", operation = "datatype-contiguous-*"),
  draw = by_size(series = operation, panel = c(mpi, transport), unit = "MB/s")
)

exhibit("cotejo-device-memory", "A message by whose memory its buffers are in",
  data = launches_of("devices_full", "devices_quick", operation = "pingpong"),
  draw = by_size(series = parameter_memory, panel = c(mpi, transport)),
  needs = "a machine with CUDA or HIP devices"
)

exhibit("cotejo-nas-schedules", "How OpenMP shares out iterations: NAS kernels on all cores",
  data = launches_of("nas_schedules", operation = "nas-*"),
  draw = values(x = parameter_schedule, series = mpi, panel = operation, unit = "ms")
)
