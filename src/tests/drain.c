// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: a transport whose LogP parameters are known. Every received message takes
// COTEJO_GAP_S, including the library's own part. The message that ends a row, an empty one, takes
// COTEJO_DRAIN_S more.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_since(double begin, const char *variable) {
    const char *text = getenv(variable);
    double until = begin + (text ? atof(text) : 0);
    while (now() < until)
        ;
}

int MPI_Recv(void *bytes, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status) {
    double begin = now();
    int result = PMPI_Recv(bytes, count, type, source, tag, comm, status);
    if (count > 0)
        wait_since(begin, "COTEJO_GAP_S");
    return result;
}

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
    if (count == 0)
        wait_since(now(), "COTEJO_DRAIN_S");
    return PMPI_Send(bytes, count, type, target, tag, comm);
}
