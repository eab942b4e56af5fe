// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a bench: each rank pauses before a barrier, COTEJO_PAUSE_S seconds, as ours does
// between two samples.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int MPI_Barrier(MPI_Comm comm) {
    const char *given = getenv("COTEJO_PAUSE_S");
    double until = now() + (given ? strtod(given, NULL) : 0);
    while (now() < until)
        ;
    return PMPI_Barrier(comm);
}
