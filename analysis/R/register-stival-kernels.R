# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of stival.

DIFFERS_IN_NODES <- paste(
  "The study had 2, 4 and 8 nodes on 1 Gbit/s Ethernet, and LLC and a progress thread among its",
  "configurations. LLC is between guests, beside TCP between them, at 100 Mbit/s or in a network",
  "of 1 Gbit/s that runs ten times slower."
)
DIFFERS_IN_PROGRESS <- paste(
  DIFFERS_IN_NODES, "The progress thread polls the core of its rank: with it 2^16 points only."
)

exhibit("stival-fig-4.42", "FFT by MPI, ranks and problem size",
  data = launches_of(
    c("fft_strong", "fft_large", "fft_largest", "fft_progress"),
    c("fft_strong", if_there(c("fft_large", "fft_progress"))), "fft_quick",
    operation = "fft-original-sendrecv",
    log2_points = c("16", "18", "20", "22", if_there("24")), ranks = c("2", "4", "8")
  ),
  draw = by_parameter(
    x = ranks, series = c(mpi, setting_async_progress), panel = c(transport, log2_points),
    unit = "ms"
  ),
  differs = DIFFERS_IN_PROGRESS
)

exhibit("stival-fig-4.43", "FFT row by row without blocking, 2^20 points, by MPI",
  data = launches_of(
    "fft_strong", "fft_quick", operation = "fft-nonblocking-isend", log2_points = "20",
    ranks = c("2", "4", "8")
  ),
  draw = by_parameter(x = ranks, series = mpi, panel = transport, unit = "ms"),
  differs = paste(DIFFERS_IN_NODES, "The progress thread is in figures 4.42, 4.47 and 4.49.")
)

exhibit("stival-tab-4.13", "Size of the transposition's messages by problem size and ranks",
  data = launches_of(
    "fft_strong", "fft_quick", operation = c("fft-original-sendrecv", "fft-rows-sendrecv"),
    ranks = c("2", "4", "8")
  ),
  draw = message_table(rows = c(operation, log2_points)),
  differs = "Counted at the calls, beside the size."
)

exhibit("stival-tab-4.14", "Time of the FFT row by row, share of computation, gain by ranks",
  data = launches_of(
    c("fft_strong", "fft_large", if_there("fft_largest")), "fft_strong", "fft_quick",
    operation = "fft-rows-sendrecv", ranks = c("2", "4", "8"),
    log2_points = c("16", "20", if_there("22"), if_there("24"))
  ),
  draw = phase_table(
    measures = c("transposition_s", "rows_s", "twiddle_s"), share = c("rows_s", "twiddle_s"),
    panel = c(transport, log2_points)
  )
)

exhibit("stival-fig-4.44", "FFT with and without combined send and receive, by ranks",
  data = launches_of(
    c("fft_strong", "fft_large", "fft_posted"),
    operation = c("fft-*-sendrecv", "fft-*-posted", "fft-nonblocking-isend"),
    log2_points = c("16", "22"), ranks = c("2", "4", "8")
  ),
  draw = by_parameter(
    x = ranks, series = operation, panel = c(mpi, transport, log2_points), unit = "ms"
  )
)

exhibit("stival-fig-4.45", "Variants of the FFT by ranks, 2^16 and 2^20 points",
  data = launches_of(
    "fft_strong", "fft_quick",
    operation = c(
      "fft-original-sendrecv", "fft-rows-sendrecv", "fft-threaded-sendrecv",
      "fft-nonblocking-isend", "fft-fused"
    ),
    log2_points = c("16", "20"), ranks = c("2", "4", "8")
  ),
  draw = by_parameter(
    x = ranks, series = operation, panel = c(mpi, transport, log2_points), unit = "ms"
  ),
  differs = "cotejo adds the fused variant."
)

exhibit("stival-fig-4.46", "Variants of the FFT by ranks, 2^22 and 2^24 points",
  data = launches_of(
    c("fft_large", if_there("fft_largest")),
    operation = c(
      "fft-original-sendrecv", "fft-rows-sendrecv", "fft-threaded-sendrecv",
      "fft-nonblocking-isend", "fft-fused"
    ),
    log2_points = c("22", if_there("24")), ranks = c("2", "4", "8")
  ),
  draw = by_parameter(
    x = ranks, series = operation, panel = c(mpi, transport, log2_points), unit = "ms"
  ),
  differs = "cotejo adds the fused variant."
)

exhibit("stival-fig-4.47", "Multi-threaded and non-blocking FFT by MPI",
  data = launches_of(
    c("fft_strong", if_there(c("fft_large", "fft_progress"))), "fft_quick",
    operation = c("fft-threaded-sendrecv", "fft-nonblocking-isend"),
    log2_points = c("16", if_there("22")), ranks = c("2", "4", "8")
  ),
  draw = by_parameter(
    x = ranks, series = c(operation, mpi, setting_async_progress),
    panel = c(transport, log2_points), unit = "ms"
  ),
  differs = DIFFERS_IN_PROGRESS
)

exhibit("stival-fig-4.48", "Variants of the FFT under MPICH",
  data = launches_of(
    c("fft_strong", "fft_largest"), c("fft_strong", if_there("fft_large")), "fft_quick",
    mpi = "mpich",
    operation = c(
      "fft-original-sendrecv", "fft-rows-sendrecv", "fft-threaded-sendrecv",
      "fft-nonblocking-isend", "fft-fused"
    ),
    log2_points = c("16", if_there("22"), if_there("24")), ranks = c("2", "4", "8")
  ),
  draw = by_parameter(
    x = ranks, series = operation, panel = c(transport, log2_points), unit = "ms"
  ),
  differs = "cotejo adds the fused variant."
)

exhibit(
  "stival-fig-4.49",
  "Variants of the FFT with asynchronous progress on nodes of two processors",
  data = launches_of(
    "fft_progress",
    operation = c("fft-original-sendrecv", "fft-threaded-sendrecv", "fft-nonblocking-isend")
  ),
  draw = values(
    x = operation, series = setting_async_progress, panel = c(mpi, transport, ranks, log2_points),
    unit = "ms"
  ),
  differs = paste(
    "The study had nodes of two processors; here a rank has one core, which a thread that",
    "makes progress shares."
  )
)

exhibit("stival-tab-4.15", "First phase of the FFT: transposition, computation, total",
  data = launches_of(
    "fft_strong", "fft_quick",
    operation = c(
      "fft-original-sendrecv", "fft-rows-sendrecv", "fft-threaded-sendrecv",
      "fft-nonblocking-isend"
    ),
    ranks = not("1")
  ),
  draw = phase_table(
    measures = c("transposition_s", "rows_s", "twiddle_s"), share = c("rows_s", "twiddle_s"),
    panel = c(operation, transport, log2_points)
  ),
  differs = paste(
    "The study timed the first phase; here all three transpositions and both computations."
  )
)

DIFFERS_IN_KEYS <- paste(
  "The study had 2^19 keys on a rank, here 2^17. If a library's sends wait for their receive,",
  "buffers of that size deadlock, and only a thread that receives sorts."
)

exhibit("stival-fig-4.52", "Variants of the radix sort by buffer size",
  data = launches_of(
    "radix_study", operation = c("radix-polled", "radix-polled-posted", "radix-threaded"),
    ranks = c("2", "4", "8")
  ),
  draw = by_size(series = operation, panel = c(mpi, transport, ranks), unit = "ms"),
  differs = DIFFERS_IN_KEYS
)

exhibit("stival-fig-4.53", "Variants of the radix sort by ranks, 512 B and 16 KiB",
  data = launches_of(
    "radix_study", operation = c("radix-polled", "radix-polled-posted", "radix-threaded"),
    ranks = c("2", "4", "8"), sizes = "512 16Ki"
  ),
  draw = by_parameter(x = ranks, series = operation, panel = c(mpi, transport), unit = "ms"),
  differs = DIFFERS_IN_KEYS
)
