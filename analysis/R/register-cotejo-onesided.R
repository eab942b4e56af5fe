# SPDX-License-Identifier: BSD-3-Clause
# Exhibits of cotejo itself: one-sided operations, matching queues, transfers in both directions.

exhibit("cotejo-onesided-operations", "One-sided operations, each completed by a flush",
  data = launches_of(
    "onesided_latency", "onesided_quick", operation = "*.flush.create", queue = "1"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport, ranks))
)

exhibit("cotejo-onesided-synchronisation", "A put by the call that completes it",
  data = launches_of(
    "onesided_latency", "onesided_quick", operation = "put.*.create", queue = "1"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport, ranks))
)

exhibit("cotejo-onesided-requests", "Puts and gets with requests, compared with those without",
  data = launches_of(
    "onesided_latency", "onesided_quick",
    operation = c(
      "put.flush.create", "rput.flush.create", "rput.wait.create", "get.flush.create",
      "rget.wait.create"
    ),
    queue = "1"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport, ranks))
)

exhibit("cotejo-onesided-windows", "A put and a flush by kind of window",
  data = launches_of(
    "onesided_latency", "onesided_windows_quick", operation = "put.flush.*", queue = "1"
  ),
  draw = by_size(series = operation, panel = c(mpi, transport, ranks))
)

exhibit("cotejo-onesided-rate", "Rate of one-sided operations by how many one flush completes",
  data = launches_of(
    "onesided_bandwidth", "onesided_rate_quick",
    operation = c("put.flush.*", "get.flush.*", "accumulate.flush.*"), sizes = "8"
  ),
  draw = by_parameter(
    x = queue, series = operation, panel = c(mpi, transport, ways), unit = "messages/s"
  )
)

exhibit("cotejo-onesided-bandwidth", "Bandwidth of queues of puts, one way and both ways at once",
  data = launches_of(
    "onesided_bandwidth", "onesided_rate_quick", operation = "put.flush.create"
  ),
  draw = by_size(series = queue, panel = c(mpi, transport, ways), unit = "MB/s")
)

exhibit(
  "cotejo-onesided-progress",
  "One-sided operations that need a call of the target while it computes",
  data = launches_of(
    "onesided_progress_full", "onesided_progress_quick", operation = "*.flush.create", sizes = "8"
  ),
  draw = values(x = operation, series = compute_us, panel = c(mpi, transport, placement)),
  differs = paste(
    "Colours: for how many microseconds the target computes; an operation that takes as long",
    "needs the target."
  )
)

exhibit("cotejo-matching-posted", "A message and its answer by receives posted before it",
  data = launches_of(
    "matching_full", "matching_quick", operation = "matching-posted", any_source = "0",
    any_tag = "0"
  ),
  draw = by_parameter(x = before, series = mpi, panel = c(transport, ranks))
)

exhibit("cotejo-matching-unexpected", "A receive by unexpected messages that came before its own",
  data = launches_of(
    "matching_full", "matching_quick", operation = "matching-unexpected", any_source = "0",
    any_tag = "0"
  ),
  draw = by_parameter(x = before, series = mpi, panel = c(transport, ranks))
)

exhibit("cotejo-matching-wildcards", "Cost in a queue of receives that leave source or tag open",
  data = launches_of("matching_full", "matching_quick", operation = "matching-*"),
  draw = by_parameter(
    x = before, series = c(any_source, any_tag), panel = c(operation, mpi, transport)
  )
)

exhibit("cotejo-matching-memory", "By how much a long queue makes the receiver's memory grow",
  data = launches_of(
    "matching_full", "matching_quick", operation = "matching-*", any_source = "0", any_tag = "0"
  ),
  draw = by_parameter(
    x = depth, series = mpi, panel = c(operation, transport), unit = "KiB",
    scale = c("linear", "linear"), measure = "resident_bytes"
  ),
  differs = "The first queue of each depth, after all shorter ones."
)

exhibit("cotejo-both-ways", "Bandwidth of queues of messages both ways at once",
  data = launches_of("both_ways_pairs", "both_ways_quick", operation = "bandwidth-both-windows"),
  draw = by_size(series = queue, panel = c(mpi, transport, pairs), unit = "MB/s")
)

exhibit("cotejo-requests", "Bandwidth of 64 messages under way: new requests, and persistent ones",
  data = launches_of("requests_full", "requests_quick", operation = "bandwidth-*", queue = "64"),
  draw = by_size(series = operation, panel = c(mpi, transport), unit = "MB/s")
)

exhibit("cotejo-fans", "Messages that meet at one rank, and that leave it",
  data = launches_of("fans_ranks", "fans_quick"),
  draw = by_size(series = operation, panel = c(mpi, transport, ranks, queue))
)
