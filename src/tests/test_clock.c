// SPDX-License-Identifier: BSD-3-Clause
// Timers against each other; never against an absolute duration.
#include "check.h"
#include "clock.h"

#include <mpi.h>
#include <string.h>
#include <time.h>

static void agrees_with_the_system(enum clock_kind kind) {
    struct failure failure = {0};
    struct clock clock, system;
    clock_open(&clock, clock_name(kind), &failure);
    if (kind == CLOCK_TSC && failed(&failure)) {
        printf("tsc left out: %s\n", failure.text);
        return;
    }
    clock_open(&system, "monotonic-raw", &failure);
    CHECK(!failed(&failure));
    CHECK(clock.monotonic && clock.resolution_s > 0 && clock.overhead_s > 0);
    // The system's clock is read on both sides, so a preemption widens the bounds with it.
    double outer = clock_now(&system), begin = clock_now(&clock), inner = clock_now(&system);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    double inner_end = clock_now(&system), end = clock_now(&clock);
    double outer_end = clock_now(&system);
    CHECK(end - begin >= (inner_end - inner) * 0.999);
    CHECK(end - begin <= (outer_end - outer) * 1.001);
}

int main(void) {
    MPI_Init(NULL, NULL);
    for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++)
        agrees_with_the_system(kind);
    struct failure failure = {0};
    char names[64];
    snprintf(names, sizeof names, "%s|%s|%s|%s", clock_name(0), clock_name(1), clock_name(2),
             clock_name(3));
    CHECK(strcmp(names, clock_choices) == 0);
    CHECK(!failed(&failure));
    MPI_Finalize();
    return check_status();
}
