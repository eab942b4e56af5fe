// SPDX-License-Identifier: BSD-3-Clause
// Timers: read alike, each examined before it is trusted.
#include "clock.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

const char clock_choices[] = "wtime|monotonic|monotonic-raw|tsc";
static const char *const names[] = {"wtime", "monotonic", "monotonic-raw", "tsc"};

const char *clock_name(enum clock_kind kind) {
    return names[kind];
}

static uint64_t nanoseconds(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
// The fence waits for all earlier instructions, for two thirds of the cost of rdtscp and a fence.
// A serialising cpuid would leave a virtual machine at every call: microseconds.
static uint64_t tsc(void) {
    _mm_lfence();
    return __rdtsc();
}

static uint64_t tsc_loose(void) {
    return __rdtsc();
}

static const char *tsc_refused(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return "this CPU's time stamp counter is not invariant";
    return NULL;
}
#else
static uint64_t tsc(void) {
    return 0;
}

static uint64_t tsc_loose(void) {
    return 0;
}

static const char *tsc_refused(void) {
    return "only x86-64 has it";
}
#endif

// A reading of the counter and of the system's clock that belong together: the one of many
// whose two readings of the counter are closest.
static double paired(uint64_t *ticks) {
    uint64_t closest = UINT64_MAX;
    double seconds = 0;
    for (int i = 0; i < 200; i++) {
        uint64_t before = tsc(), ns = nanoseconds(CLOCK_MONOTONIC_RAW), after = tsc();
        if (after - before < closest) {
            closest = after - before;
            *ticks = before + (after - before) / 2;
            seconds = (double)ns * 1e-9;
        }
    }
    return seconds;
}

// Seconds a tick, against CLOCK_MONOTONIC_RAW over 50 ms (error about 1e-6 of a duration).
static double tsc_scale(void) {
    uint64_t first, last;
    double begin = paired(&first), end;
    while (nanoseconds(CLOCK_MONOTONIC_RAW) * 1e-9 < begin + 0.05)
        ;
    end = paired(&last);
    return last > first ? (end - begin) / (double)(last - first) : 0;
}

static clockid_t system_clock(enum clock_kind kind) {
    return kind == CLOCK_MONO ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW;
}

static uint64_t ticks(enum clock_kind kind) {
    return kind == CLOCK_TSC ? tsc() : nanoseconds(system_clock(kind));
}

double clock_now(const struct clock *clock) {
    double since = clock->kind == CLOCK_WTIME
                       ? MPI_Wtime() - clock->zero
                       : (double)(int64_t)(ticks(clock->kind) - clock->origin);
    return since * clock->scale + clock->shift;
}

// Without a fence: a loop that compares each reading needs none, and the finer grain is sought.
static uint64_t tsc_wait(uint64_t until) {
    uint64_t now;
    do
        now = tsc_loose();
    while ((int64_t)(now - until) < 0);
    return now;
}

static uint64_t nanoseconds_wait(clockid_t id, uint64_t until) {
    uint64_t now;
    do
        now = nanoseconds(id);
    while ((int64_t)(now - until) < 0);
    return now;
}

double clock_wait(const struct clock *clock, double until_s) {
    double since = (until_s - clock->shift) / clock->scale, now;
    if (clock->kind == CLOCK_WTIME) {
        do
            now = clock_now(clock);
        while (now < until_s);
        return now;
    }
    uint64_t until = clock->origin + (uint64_t)(int64_t)ceil(since);
    uint64_t at = clock->kind == CLOCK_TSC ? tsc_wait(until)
                                           : nanoseconds_wait(system_clock(clock->kind), until);
    return (double)(int64_t)(at - clock->origin) * clock->scale + clock->shift;
}

void clock_disturb(struct clock *clock, double offset_s, double drift) {
    clock->scale *= 1 + drift;
    clock->shift += offset_s;
    clock->disturbed = offset_s != 0 || drift != 0;
}

// Steps, cost and direction, from batches of calls. Bounded: 50 batches of 200 calls.
static void examine(struct clock *clock) {
    enum { BATCHES = 50, CALLS = 200 };
    double last = clock_now(clock);
    clock->resolution_s = INFINITY;
    clock->overhead_s = INFINITY;
    clock->monotonic = true;
    for (int b = 0; b < BATCHES; b++) {
        double begin = last, now = last;
        for (int i = 0; i < CALLS; i++) {
            now = clock_now(clock);
            if (now < last)
                clock->monotonic = false;
            else if (now > last && now - last < clock->resolution_s)
                clock->resolution_s = now - last;
            last = now;
        }
        if (now > begin && (now - begin) / CALLS < clock->overhead_s)
            clock->overhead_s = (now - begin) / CALLS;
    }
    if (clock->kind == CLOCK_MONO || clock->kind == CLOCK_MONO_RAW) {
        // Two calls are further apart than the clock's own step, which the kernel knows.
        struct timespec step;
        clock_getres(system_clock(clock->kind), &step);
        double told = (double)step.tv_sec + 1e-9 * (double)step.tv_nsec;
        if (told > 0 && told < clock->resolution_s)
            clock->resolution_s = told;
    }
}

void clock_open(struct clock *clock, const char *name, struct failure *failure) {
    *clock = (struct clock){.scale = 1e-9};
    while (clock->kind < CLOCK_KINDS && strcmp(name, names[clock->kind]) != 0)
        clock->kind++;
    const char *why = clock->kind == CLOCK_TSC ? tsc_refused() : NULL;
    if (!why && clock->kind == CLOCK_TSC && (clock->scale = tsc_scale()) <= 0)
        why = "its counter does not advance";
    if (why) {
        failure_set(failure, STATUS_USAGE, "timer '%s': %s; choose another with --timer", name,
                    why);
        return;
    }
    if (clock->kind == CLOCK_WTIME)
        *clock = (struct clock){.kind = CLOCK_WTIME, .scale = 1, .zero = MPI_Wtime()};
    else
        clock->origin = ticks(clock->kind);
    examine(clock);
    if (!clock->monotonic || !isfinite(clock->resolution_s))
        failure_set(failure, STATUS_USAGE, "timer '%s' %s here; choose another with --timer", name,
                    clock->monotonic ? "stands still" : "goes backwards");
}

void clock_describe(const struct clock *clock, struct json *json) {
    json_open(json, '{');
    json_name(json, "name");
    json_string(json, clock_name(clock->kind));
    json_name(json, "resolution_s");
    json_real(json, clock->resolution_s);
    json_name(json, "overhead_s");
    json_real(json, clock->overhead_s);
    json_name(json, "monotonic");
    json_boolean(json, clock->monotonic);
    json_close(json, '}');
}
