// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other outside every timed zone: failures, texts, and how to wait quietly.
#include "ranks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Non-blocking collectives match only each other, so busy and quiet ranks both come here.
static void complete(MPI_Request *request, bool quiet) {
    if (!quiet) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    const struct timespec pause = {.tv_nsec = 2000000};
    int done = 0;
    for (;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

int ranks_agree(MPI_Comm comm, struct failure *failure, bool quiet) {
    int rank, first;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    int mine = failed(failure) ? rank : INT_MAX;
    // Not MPI_Iallreduce: simulated, it takes a message from each rank to each other one.
    MPI_Ireduce(&mine, &first, 1, MPI_INT, MPI_MIN, 0, comm, &request);
    complete(&request, quiet);
    MPI_Ibcast(&first, 1, MPI_INT, 0, comm, &request);
    complete(&request, quiet);
    if (first == INT_MAX)
        return STATUS_OK;
    MPI_Ibcast(failure, sizeof *failure, MPI_BYTE, first, comm, &request);
    complete(&request, quiet);
    return failure->status;
}

char *ranks_join(MPI_Comm comm, const char *text) {
    int rank, size, length = (int)strlen(text) + 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *lengths = NULL, *starts = NULL, total = 0;
    char *all = NULL;
    if (rank == 0) {
        lengths = malloc(2 * (size_t)size * sizeof *lengths);
        starts = lengths ? lengths + size : NULL;
    }
    // Without memory rank 0 cannot take part as the root: all must know before they send.
    int possible = rank != 0 || lengths;
    MPI_Bcast(&possible, 1, MPI_INT, 0, comm);
    if (!possible)
        return NULL;
    MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, comm);
    if (rank == 0) {
        for (int i = 0; i < size; i++) {
            starts[i] = total;
            total += lengths[i];
        }
        all = malloc((size_t)total);
        possible = all != NULL;
    }
    MPI_Bcast(&possible, 1, MPI_INT, 0, comm);
    if (possible)
        MPI_Gatherv(text, length, MPI_CHAR, all, lengths, starts, MPI_CHAR, 0, comm);
    if (rank == 0 && all) {
        for (int i = 1; i < size; i++)
            all[starts[i] - 1] = ','; // the end of the text before
    }
    free(lengths);
    return all;
}
