// SPDX-License-Identifier: BSD-3-Clause
// Timers against each other; never against an absolute duration.
#include "check.h"
#include "clock.h"

#include <math.h>
#include <mpi.h>
#include <string.h>
#include <time.h>

static void agrees_with_the_system(enum clock_kind kind) {
    struct failure failure = {0};
    struct clock clock, system;
    clock_open(&clock, clock_name(kind), &failure);
    if (kind == CLOCK_COUNTER && failed(&failure)) {
        printf("counter left out: %s\n", failure.text);
        return;
    }
    clock_open(&system, "monotonic-raw", &failure);
    CHECK(!failed(&failure));
    CHECK(clock.monotonic && clock.resolution_s > 0 && clock.overhead_s > 0);
    // The system's clock is read before and after, so a preemption widens the bounds with it.
    double outer = clock_now(&system), begin = clock_now(&clock), inner = clock_now(&system);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    double inner_end = clock_now(&system), end = clock_now(&clock);
    double outer_end = clock_now(&system);
    CHECK(end - begin >= (inner_end - inner) * 0.999);
    CHECK(end - begin <= (outer_end - outer) * 1.001);
}

static void take_1_ms(void *clock, long calls) {
    for (; calls > 0; calls--)
        clock_wait(clock, clock_now(clock) + 0.001);
}

// In as much time a dilated clock finds so much less, by either way of timing.
static void runs_slower_when_dilated(enum clock_kind kind) {
    struct failure failure = {0};
    struct clock clock, system;
    clock_open(&clock, clock_name(kind), &failure);
    if (failed(&failure))
        return; // said above
    clock_open(&system, "monotonic-raw", &failure);
    double overhead_s = clock.overhead_s;
    clock_dilate(&clock, 10);
    CHECK(clock.dilation == 10 && fabs(clock.overhead_s * 10 / overhead_s - 1) < 1e-9);
    double before = clock_now(&system), from = clock_now(&clock) + 0.001;
    double inner = clock_now(&system);
    struct span span = clock_time(&clock, from, take_1_ms, &clock, 1);
    double inner_end = clock_now(&system);
    CHECK(span.begin_s >= from && span.end_s - span.begin_s >= 0.001 * 0.999);
    // 2 ms of it are 20 of the system's.
    CHECK(inner_end - before >= 0.02 * 0.999);
    CHECK(span.end_s - span.begin_s <= (inner_end - inner) / 10 * 1.001);
}

static void take_20_ms(void *clock, long calls) {
    for (; calls > 0; calls--)
        clock_wait(clock, clock_now(clock) + 0.02);
}

// A timed call begins at the requested moment, and its duration is right.
static void times_a_call(enum clock_kind kind) {
    struct failure failure = {0};
    struct clock clock;
    clock_open(&clock, clock_name(kind), &failure);
    if (failed(&failure))
        return; // said above
    double from = clock_now(&clock) + 0.01, before, after;
    struct span span = clock_time(&clock, from, take_20_ms, &clock, 1);
    CHECK(span.begin_s >= from && span.end_s - span.begin_s >= 0.02 * 0.999);
    before = clock_now(&clock);
    span = clock_time(&clock, -INFINITY, take_20_ms, &clock, 1);
    after = clock_now(&clock);
    CHECK(before <= span.begin_s && span.end_s <= after);
    CHECK(span.end_s - span.begin_s >= 0.02 * 0.999);
}

static void take_none(void *state, long calls) {
    (void)state;
    (void)calls;
}

// In a row each moment is the end of one and the begin of the next: nothing is lost between.
static void times_a_row(enum clock_kind kind) {
    enum { COUNT = 3, CALLS = 2 };
    struct failure failure = {0};
    struct clock clock;
    double at[COUNT + 1];
    clock_open(&clock, clock_name(kind), &failure);
    if (failed(&failure))
        return; // said above
    double before = clock_now(&clock);
    clock_row(&clock, take_20_ms, &clock, CALLS, at, COUNT);
    double after = clock_now(&clock);
    CHECK(before <= at[0] && at[COUNT] <= after);
    for (int i = 0; i < COUNT; i++)
        CHECK(at[i + 1] - at[i] >= CALLS * 0.02 * 0.999);
}

// Starts lie an integer number of ticks ahead. Some are met by the very tick; a product that was
// rounded down would begin too early.
static void never_begins_early(enum clock_kind kind) {
    enum { STARTS = 20000, MOST_TICKS = 2000 };
    struct failure failure = {0};
    struct clock clock;
    clock_open(&clock, clock_name(kind), &failure);
    if (failed(&failure))
        return; // said above
    double tick_s = kind == CLOCK_WTIME ? 1e-9 : clock.scale;
    int early = 0;
    for (int i = 0; i < STARTS; i++) {
        double from = clock_now(&clock) + i % MOST_TICKS * tick_s;
        struct span span = clock_time(&clock, from, take_none, NULL, 1);
        early += span.begin_s < from;
    }
    CHECK(early == 0);
}

// `auto` is one of the named timers, and states why when it is not the finest.
static void auto_is_the_finest_that_is_sound(void) {
    struct failure failure = {0}, refused = {0};
    struct clock clock, finest;
    clock_open(&clock, "auto", &failure);
    clock_open(&finest, CLOCK_COUNTER_NAME, &refused);
    CHECK(!failed(&failure));
    CHECK(clock.kind == (failed(&refused) ? CLOCK_MONO_RAW : CLOCK_COUNTER));
    CHECK((*clock.instead != 0) == (failed(&refused) != 0));
}

int main(void) {
    MPI_Init(NULL, NULL);
    for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++)
        agrees_with_the_system(kind);
    for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++)
        times_a_call(kind);
    for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++)
        runs_slower_when_dilated(kind);
    for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++)
        times_a_row(kind);
    for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++)
        never_begins_early(kind);
    auto_is_the_finest_that_is_sound();
    struct failure failure = {0};
    char names[64];
    snprintf(names, sizeof names, "auto|%s|%s|%s|%s|%s", clock_name(0), clock_name(1),
             clock_name(2), clock_name(3), clock_name(4));
    CHECK(CLOCK_KINDS == 5);
    CHECK(strcmp(names, clock_choices) == 0);
    printf("timers: %s\n", clock_choices);
    CHECK(!failed(&failure));
    MPI_Finalize();
    return check_status();
}
