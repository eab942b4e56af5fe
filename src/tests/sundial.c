// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: CLOCK_MONOTONIC_RAW is wrong in the way COTEJO_SUNDIAL names, as on a
// broken machine. The benchmark must find it, and not report from it.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

// Rank of this process, from the variables of the launchers.
static int rank(void) {
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    if (!text)
        text = getenv("PMI_RANK");
    return text ? atoi(text) : 0;
}

static long long wrong(const char *way, long long ns) {
    static long long begun, calls;
    if (!begun)
        begun = ns;
    calls++;
    if (strcmp(way, "stopped") == 0)
        return begun;
    if (strcmp(way, "backwards") == 0 && calls % 1000 == 999)
        return ns - SECOND;
    // Alternates between fast and slow, each for 20 ms.
    if (strcmp(way, "uneven") == 0)
        return ns + (ns - begun) % 40000000 / 20000000 * ((ns - begun) % 20000000 / 2) +
               (ns - begun) / 40000000 * 10000000;
    if (strcmp(way, "coarse") == 0)
        return ns - ns % 40;
    // Gives the other ranks the clock of another host.
    if (strcmp(way, "apart") == 0)
        return ns + rank() * (long long)SECOND;
    return ns;
}

int clock_gettime(clockid_t id, struct timespec *t) {
    const char *way = getenv("COTEJO_SUNDIAL");
    int status = (int)syscall(SYS_clock_gettime, id, t);
    if (status == 0 && id == CLOCK_MONOTONIC_RAW && way) {
        long long ns = wrong(way, t->tv_sec * (long long)SECOND + t->tv_nsec);
        t->tv_sec = ns / SECOND;
        t->tv_nsec = ns % SECOND;
    }
    return status;
}
