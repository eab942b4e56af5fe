# SPDX-License-Identifier: BSD-3-Clause
# Exhibits: counterparts of watter.

exhibit("watter-fig-5.1", "Time of a message by transport and the gain",
  data = launches_of(
    "netpipe_frames", transport = c("tcp", "llc", if_there("shm")), sizes = "1..8Ki"
  ),
  draw = gain(by = transport, panel = mpi, unit = "us"),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host."
  )
)

exhibit("watter-fig-5.2", "Bandwidth of a message by transport and the gain",
  data = launches_of(
    "netpipe_frames", transport = c("tcp", "llc", if_there("shm")), sizes = "1..8Ki"
  ),
  draw = gain(by = transport, panel = mpi, unit = "Mbit/s"),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host."
  )
)

# The study's own contrast, on guests that have LLC. A simulated network is one of the two
# transports: its latency and rate were fitted to table A.1, and therefore to the gain.
BISECTED <- c("tcp", "llc", if_there("shm"), if_there("simulated"))

exhibit("watter-fig-5.4", "Bisection with 2 ranks: time by transport and the gain",
  data = launches_of(
    "mpptest_bisect", "simulated_bisect", pairs = "1", transport = BISECTED, sizes = "0..4200"
  ),
  draw = gain(
    by = c(transport, mpi, simulated), panel = c(mpi, measure), unit = "us", scale = "linear"
  ),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host; where there is one transport, the MPIs. The study took the",
    "least of 50 repetitions, which stands beside the median."
  ),
  circular = TRUE
)

exhibit("watter-fig-5.5", "Bisection with 4 ranks: time by transport and the gain",
  data = launches_of(
    "mpptest_bisect", "simulated_bisect", pairs = "2", transport = BISECTED, sizes = "0..4200"
  ),
  draw = gain(
    by = c(transport, mpi, simulated), panel = c(mpi, measure), unit = "us", scale = "linear"
  ),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host; where there is one transport, the MPIs. The study took the",
    "least of 50 repetitions, which stands beside the median."
  ),
  needs = "a site where 4 ranks have a core each",
  circular = TRUE
)

exhibit("watter-fig-5.6", "Bisection with 8 ranks: time by transport and the gain",
  data = launches_of(
    "mpptest_bisect", "simulated_bisect", pairs = "4", transport = BISECTED, sizes = "0..4200"
  ),
  draw = gain(
    by = c(transport, mpi, simulated), panel = c(mpi, measure), unit = "us", scale = "linear"
  ),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host; where there is one transport, the MPIs. The study took the",
    "least of 50 repetitions, which stands beside the median."
  ),
  needs = "a site where 8 ranks have a core each",
  circular = TRUE
)

exhibit("watter-fig-5.7", "Bisection with 16 ranks: time by transport and the gain",
  data = launches_of(
    "mpptest_bisect", "simulated_bisect", pairs = "8", transport = BISECTED, sizes = "0..4200"
  ),
  draw = gain(
    by = c(transport, mpi, simulated), panel = c(mpi, measure), unit = "us", scale = "linear"
  ),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host; where there is one transport, the MPIs. The study took the",
    "least of 50 repetitions, which stands beside the median."
  ),
  needs = "a site where 16 ranks have a core each",
  circular = TRUE
)

exhibit("watter-fig-5.8", "Gain of one transport over the other, by the number of pairs",
  data = launches_of(
    "mpptest_bisect", "simulated_bisect", pairs = c("1", "2", "4", "8"),
    transport = BISECTED, sizes = "1..4200"
  ),
  draw = relative(
    by = c(transport, mpi, simulated), reference = c("tcp", "openmpi", "*TCP*"), series = pairs,
    panel = c(mpi, measure)
  ),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host; where there is one transport, the MPIs. The study took the",
    "least of 50 repetitions, which stands beside the median."
  ),
  circular = TRUE
)

exhibit("watter-fig-5.9", "Bisection with 2 ranks, buffers out of the caches",
  data = launches_of("mpptest_nocache", transport = BISECTED, sizes = "0..4200"),
  draw = by_size(series = transport, panel = c(mpi, measure), scale = c("linear", "log")),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here. It",
    "took the least of 50 repetitions, which stands beside the median."
  )
)

exhibit("watter-tab-5.1", "Gain of a transport in the FFT, by ranks",
  data = launches_of(
    "fft_transports", "fft_quick", operation = "fft-original-sendrecv", log2_points = "20",
    transport = c("tcp", "llc", if_there("shm"))
  ),
  draw = gain_table(by = transport),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host."
  )
)

exhibit("watter-fig-5.10", "Time of the FFT and the gain of a transport",
  data = launches_of(
    "fft_transports", "fft_quick", operation = "fft-original-sendrecv", log2_points = "20",
    transport = c("tcp", "llc", if_there("shm")), ranks = not("1")
  ),
  draw = by_parameter(x = ranks, series = transport, panel = mpi, unit = "ms"),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host. The gains are table 5.1."
  )
)

exhibit("watter-fig-5.11", "Time of the radix sort by transport",
  data = launches_of(
    "radix_transports", operation = c(if_there("radix-polled"), if_there("radix-serving")),
    transport = c("tcp", "llc", if_there("shm")), ranks = not("1")
  ),
  draw = by_parameter(x = ranks, series = transport, panel = mpi, unit = "ms"),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host."
  )
)

exhibit("watter-tab-A.1", "Welch's test of the time of a message over two transports",
  data = launches_of(
    "netpipe_frames", transport = c("tcp", "llc", if_there("shm")), sizes = "1..8Ki"
  ),
  draw = welch_table(by = transport),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host."
  )
)

exhibit("watter-tab-A.2", "Welch's test of the bandwidth over two transports",
  data = launches_of(
    "netpipe_frames", transport = c("tcp", "llc", if_there("shm")), sizes = "1..8Ki"
  ),
  draw = welch_table(by = transport, unit = "Mbit/s"),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host."
  )
)

exhibit("watter-tab-A.3", "Welch's test of the FFT over two transports",
  data = launches_of(
    "fft_transports", "fft_quick", operation = "fft-original-sendrecv", log2_points = "20",
    transport = c("tcp", "llc", if_there("shm"))
  ),
  draw = welch_table(by = transport),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host."
  )
)

exhibit("watter-tab-A.4", "Welch's test of the radix sort over two transports",
  data = launches_of(
    "radix_transports", operation = c(if_there("radix-polled"), if_there("radix-serving")),
    transport = c("tcp", "llc", if_there("shm"))
  ),
  draw = welch_table(by = transport),
  differs = paste(
    "The study compares LLC with TCP over 100 Mbit/s Ethernet; guests with LLC do so here;",
    "shared memory is of one host."
  )
)
