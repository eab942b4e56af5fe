# SPDX-License-Identifier: BSD-3-Clause
# Exhibits of cotejo itself: addresses of buffers, and sources of the variance between launches.

exhibit("cotejo-addresses", "Time by the relative address of buffers",
  data = launches_of("addresses_full", "addresses_quick"),
  draw = by_parameter(
    x = offset, series = c(mpi), panel = c(operation, bytes, transport),
    scale = c("linear", "log")
  ),
  differs = paste(
    "The buffer received into begins so many bytes further in its page than the one sent from.",
    "Every panel whose curve follows that of memcpy copies by it at that size."
  )
)

exhibit("cotejo-error-address", "One more error: buffers where memcpy takes longest",
  data = launches_of(
    "systematic_errors_full", "systematic_errors_quick",
    operation = c("alltoall-pit", "alltoall-page", "memcpy-pit", "memcpy-page")
  ),
  draw = error(wrong = c("alltoall-pit", "memcpy-pit"), right = c("alltoall-page", "memcpy-page")),
  differs = "The address is the worst that is found at that size; on many machines it is no worse."
)

exhibit("cotejo-error-malloc", "One more error: buffers where malloc happens to put them",
  data = launches_of(
    "systematic_errors_full", "systematic_errors_quick",
    operation = c("alltoall-malloc", "alltoall-page")
  ),
  draw = error(wrong = "alltoall-malloc", right = "alltoall-page"),
  differs = "The place depends on what the library allocated before, and thus on the MPI."
)

exhibit(
  "cotejo-layout", "Performance with buffers where malloc puts them, and at the start of a page",
  data = launches_of("layout_full", "layout_quick"),
  draw = relative(
    by = option_layout, reference = "page", series = mpi, panel = c(operation, transport)
  )
)

exhibit("cotejo-launch-variance", "Sources of the variance between launches",
  data = launches_of("spells_full", "spells_quick"),
  draw = variance_table()
)
