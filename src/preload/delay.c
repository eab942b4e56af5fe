// SPDX-License-Identifier: BSD-3-Clause
// Calls take longer by the share COTEJO_SLOW of their time. A call that starts a message only
// owes it, and the next call that ends one waits for both: a wait after a send would pass while
// the peer still copies the message, and slow nothing.
//
// Only rank 0 is slowed: it waits for its peers inside its own calls, so the delays of several
// ranks would be part of one another's calls and grow beyond the share. Of an operation that rank
// 0 spends in MPI calls only, such as a ping-pong, the time is then 1 + COTEJO_SLOW times as long.
// The share 0 keeps the clock reads, which are what the sides of a comparison must have in common.
#include "delay.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Of this process: the hooks have no argument to carry it in.
static struct {
    bool here;
    double share;
} slow;

static _Thread_local double owed_s;

// A delay shorter than the cost of reading the clock would come out too long: it is owed.
static const double least_s = 0.5e-6;

double delay_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool delay_here(void) {
    return slow.here;
}

void delay_owe(double begin, enum role role) {
    double end = delay_now();
    owed_s += slow.share * (end - begin);
    if (role == STARTS || owed_s < least_s)
        return;
    double until = end + owed_s, at = end;
    while (at < until)
        at = delay_now();
    owed_s = until - at;
}

void delay_read(void) {
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
