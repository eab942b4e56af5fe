// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: a wait for nothing ends the launch, also one beside waits for something.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void refuse(int count, const MPI_Request *requests) {
    for (int i = 0; i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL) {
            fprintf(stderr, "a wait for nothing\n");
            sleep(1); // A launcher that ends a program may lose what it has not read yet.
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    refuse(1, request);
    return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    refuse(count, requests);
    return PMPI_Waitall(count, requests, statuses);
}
