// SPDX-License-Identifier: BSD-3-Clause
// A barrier and an announcement of our own, the same under every MPI.
#include "barrier.h"

#include "tree.h"

#include <stddef.h>

enum { BARRIER_TAG = 0x7b, ANNOUNCE_TAG = 0x7d };

void barrier_enter(MPI_Comm comm) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int step = 1; step < size; step *= 2) {
        int above = (rank + step) % size, below = (rank - step + size) % size;
        PMPI_Sendrecv(NULL, 0, MPI_BYTE, above, BARRIER_TAG, NULL, 0, MPI_BYTE, below, BARRIER_TAG,
                      comm, MPI_STATUS_IGNORE);
    }
}

void announce(MPI_Comm comm, double *values, int count) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < tree_rounds(size); round++) {
        struct tree_turn turn = tree_turn(rank, size, round);
        if (turn.peer < 0)
            continue;
        if (turn.asks)
            PMPI_Recv(values, count, MPI_DOUBLE, turn.peer, ANNOUNCE_TAG, comm, MPI_STATUS_IGNORE);
        else
            PMPI_Send(values, count, MPI_DOUBLE, turn.peer, ANNOUNCE_TAG, comm);
    }
}
