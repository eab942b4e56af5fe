// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks outside every timed zone: a tree of ranks, and a barrier, an announcement
// and an agreement of our own.
#include "ranks.h"

enum { AGREE_TAG = 0x79, BARRIER_TAG = 0x7b, ANNOUNCE_TAG = 0x7d };

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

static void complete(MPI_Request *request, bool quiet) {
    int done = !quiet;
    if (!quiet)
        PMPI_Wait(request, MPI_STATUS_IGNORE);
    while (!done) {
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

// Passes a number one step up or down the tree of ranks, so that no rank exchanges messages with
// more than log2 of the ranks. In a library's non-blocking collectives, rank 0 may send to all
// other ranks itself.
static void pass(MPI_Comm comm, int *first, struct tree_turn turn, bool gives, bool quiet) {
    MPI_Request request;
    if (gives)
        PMPI_Isend(first, 1, MPI_INT, turn.peer, AGREE_TAG, comm, &request);
    else
        PMPI_Irecv(first, 1, MPI_INT, turn.peer, AGREE_TAG, comm, &request);
    complete(&request, quiet);
}

int ranks_agree(MPI_Comm comm, struct failure *failure, bool quiet) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int first = failed(failure) ? rank : INT_MAX, rounds = tree_rounds(size);
    for (int round = rounds - 1; round >= 0; round--) {
        struct tree_turn turn = tree_turn(rank, size, round);
        int other = first;
        if (turn.peer >= 0)
            pass(comm, &other, turn, turn.asks, quiet);
        first = other < first ? other : first;
    }
    for (int round = 0; round < rounds; round++) {
        struct tree_turn turn = tree_turn(rank, size, round);
        if (turn.peer >= 0)
            pass(comm, &first, turn, !turn.asks, quiet);
    }
    if (first == INT_MAX)
        return STATUS_OK;
    MPI_Request request;
    PMPI_Ibcast(failure, sizeof *failure, MPI_BYTE, first, comm, &request);
    complete(&request, quiet);
    return failure->status;
}
