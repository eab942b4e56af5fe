// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into an MPI program to plant a known difference: the proof of the statistics must
// find it. Calls take longer by the share COTEJO_SLOW of their time. A call that starts a message
// only owes it, and the next call that ends one waits for both: a wait after a send would pass
// while the peer still copies the message, and slow nothing.
//
// Only rank 0 is slowed: it waits for its peers inside its own calls, so the delays of several
// ranks would be part of one another's calls and grow beyond the share. Of an operation that rank
// 0 spends in MPI calls only, such as a ping-pong, the time is then 1 + COTEJO_SLOW times as long.
// The share 0 keeps the clock reads, which are what the sides of a comparison must have in common.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Of this process: the hooks have no argument to carry it in.
static struct {
    bool here;
    double share, owed_s;
} slow;

// A delay shorter than the cost of reading the clock would come out too long: it is owed.
static const double least_s = 0.5e-6;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void owe(double begin, bool pay) {
    double end = now();
    slow.owed_s += slow.share * (end - begin);
    if (!pay || slow.owed_s < least_s)
        return;
    double until = end + slow.owed_s, at = end;
    while (at < until)
        at = now();
    slow.owed_s = until - at;
}

static void slow_read(void) {
    const char *given = getenv("COTEJO_SLOW");
    char *rest = NULL;
    int rank;
    double share = given ? strtod(given, &rest) : -1;
    if (!given || rest == given || *rest || !(share >= 0 && share <= 10)) {
        fprintf(stderr, "cotejo-slow: COTEJO_SLOW=%s is no share from 0 to 10; 0.05 adds 5 %%\n",
                given ? given : "");
        // All ranks read the same. An abort may be quicker than what was said.
        PMPI_Finalize();
        exit(2);
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    slow.here = rank == 0;
    slow.share = share;
}

int MPI_Init(int *count, char ***arguments) {
    int status = PMPI_Init(count, arguments);
    slow_read();
    return status;
}

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    int status = PMPI_Init_thread(count, arguments, required, provided);
    slow_read();
    return status;
}

// A hook for each call: its name, its parameters, how they are handed on, and whether it pays.
#define HOOK(name, parameters, arguments, pay)                                                    \
    int MPI_##name parameters {                                                                   \
        if (!slow.here)                                                                           \
            return PMPI_##name arguments;                                                         \
        double begin = now();                                                                     \
        int result = PMPI_##name arguments;                                                       \
        owe(begin, pay);                                                                          \
        return result;                                                                            \
    }

HOOK(Send, (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
     (data, n, type, to, tag, comm), false)
HOOK(Ssend, (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
     (data, n, type, to, tag, comm), false)
HOOK(Recv,
     (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
     (data, n, type, from, tag, comm, status), true)
HOOK(Isend,
     (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
      MPI_Request *request),
     (data, n, type, to, tag, comm, request), false)
HOOK(Irecv,
     (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
      MPI_Request *request),
     (data, n, type, from, tag, comm, request), false)
HOOK(Wait, (MPI_Request * request, MPI_Status *status), (request, status), true)
HOOK(Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]), (n, requests, statuses),
     true)
HOOK(Bcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
     (data, n, type, root, comm), true)
HOOK(Alltoall,
     (const void *out, int n_out, MPI_Datatype type_out, void *in, int n_in, MPI_Datatype type_in,
      MPI_Comm comm),
     (out, n_out, type_out, in, n_in, type_in, comm), true)
HOOK(Allreduce, (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (out, in, n, type, op, comm), true)
