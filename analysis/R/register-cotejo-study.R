# SPDX-License-Identifier: BSD-3-Clause
# Exhibits of cotejo itself: errors of a study's measuring programs, next to the correct way.

exhibit(
  "cotejo-study-clock", "The study's way: a clock that starts late, or stops before delivery",
  data = launches_of(
    "bandwidth_errors",
    operation = c("bandwidth-parts", "bandwidth-parts-late", "bandwidth-parts-undelivered")
  ),
  draw = error(
    wrong = c("bandwidth-parts-late", "bandwidth-parts-undelivered"),
    right = c("bandwidth-parts", "bandwidth-parts"), series = mpi
  ),
  differs = paste(
    "The source in stival's appendix reads the clock when half of the first queue is posted;",
    "others of its sources stop it when the sends are over, whatever has arrived."
  )
)

exhibit("cotejo-study-parts", "The study's way: parts of a message that begin one byte apart",
  data = launches_of(
    "bandwidth_errors", operation = c("bandwidth-parts", "bandwidth-parts-shifted")
  ),
  draw = error(wrong = "bandwidth-parts-shifted", right = "bandwidth-parts", series = mpi),
  differs = paste(
    "The source in stival's appendix adds one byte a part in place of a part's length.",
    "All parts of a queue then share the memory of one, which stays in a nearer cache."
  )
)

exhibit("cotejo-study-buffer", "The study's way: received into the buffer that is sent from",
  data = launches_of("netpipe_buffers", parameter_buffer = c("two", "one")),
  draw = relative(
    by = parameter_buffer, reference = "two", series = mpi, panel = transport, of = "time"
  ),
  differs = "Each message was then written by the other core, as a program's are that uses them."
)
