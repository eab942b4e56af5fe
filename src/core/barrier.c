// SPDX-License-Identifier: BSD-3-Clause
// A barrier of our own, the same under every MPI.
#include "barrier.h"

#include <stddef.h>

enum { TAG = 0x7b };

void barrier_enter(MPI_Comm comm) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int step = 1; step < size; step *= 2) {
        int above = (rank + step) % size, below = (rank - step + size) % size;
        MPI_Sendrecv(NULL, 0, MPI_BYTE, above, TAG, NULL, 0, MPI_BYTE, below, TAG, comm,
                     MPI_STATUS_IGNORE);
    }
}
