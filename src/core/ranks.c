// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks outside every timed zone: failures, and quiet waiting.
#include "ranks.h"

#include "barrier.h"

#include <time.h>

enum { AGREE_TAG = 0x79 };

static void complete(MPI_Request *request, bool quiet) {
    if (!quiet) {
        PMPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    const struct timespec pause = {.tv_nsec = 2000000};
    int done = 0;
    for (;;) {
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&pause, NULL);
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
