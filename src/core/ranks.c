// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks outside every timed zone: failures, texts, and quiet waiting.
#include "ranks.h"

#include "barrier.h"

#include <time.h>

enum { AGREE_TAG = 0x79, JOIN_TAG = 0x7a };

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

// Appends to `all` the text that `peer` has joined; the ranks of `peer` follow. NULL: no memory.
static char *append(char *all, MPI_Comm comm, int peer) {
    long length, before = all ? (long)strlen(all) : 0;
    PMPI_Recv(&length, 1, MPI_LONG, peer, JOIN_TAG, comm, MPI_STATUS_IGNORE);
    char *both = all && length > 0 ? realloc(all, (size_t)(before + 1 + length)) : NULL;
    char *place = both ? both + before + 1 : malloc((size_t)(length > 0 ? length : 1));
    if (!place && length > 0)
        MPI_Abort(comm, STATUS_FAILED); // the sender waits for its message to be taken
    if (length > 0)
        PMPI_Recv(place, (int)length, MPI_CHAR, peer, JOIN_TAG, comm, MPI_STATUS_IGNORE);
    if (both) {
        both[before] = ',';
        return both;
    }
    free(place);
    free(all);
    return NULL;
}

// Sends the text with its terminating zero; a length of 0 means that there is no text.
static void hand_up(char *all, MPI_Comm comm, int peer) {
    size_t bytes = all ? strlen(all) + 1 : 0;
    long length = bytes <= INT_MAX ? (long)bytes : 0;
    PMPI_Send(&length, 1, MPI_LONG, peer, JOIN_TAG, comm);
    if (length > 0)
        PMPI_Send(all, (int)length, MPI_CHAR, peer, JOIN_TAG, comm);
    free(all);
}

char *ranks_join(MPI_Comm comm, const char *text) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    char *all = strdup(text);
    for (int round = tree_rounds(size) - 1; round >= 0; round--) {
        struct tree_turn turn = tree_turn(rank, size, round);
        if (turn.peer >= 0 && turn.asks) {
            hand_up(all, comm, turn.peer);
            return NULL;
        }
        if (turn.peer >= 0)
            all = append(all, comm, turn.peer);
    }
    return all;
}
