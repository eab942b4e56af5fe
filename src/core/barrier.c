// SPDX-License-Identifier: BSD-3-Clause
// A tree of ranks, and a barrier and an announcement of our own, the same under every MPI.
#include "barrier.h"

enum { BARRIER_TAG = 0x7b, ANNOUNCE_TAG = 0x7d };

int tree_rounds(int size) {
    int rounds = 0;
    for (long reached = 1; reached < size; reached *= 2)
        rounds++;
    return rounds;
}

struct tree_turn tree_turn(int rank, int size, int round) {
    long step = 1L << (tree_rounds(size) - 1 - round);
    if (rank % (2 * step) == step)
        return (struct tree_turn){(int)(rank - step), true};
    if (rank % (2 * step) == 0 && rank + step < size)
        return (struct tree_turn){(int)(rank + step), false};
    return (struct tree_turn){-1, false};
}

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
