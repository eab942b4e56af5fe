// SPDX-License-Identifier: BSD-3-Clause
// Timers: read alike, each examined before it is trusted.
#pragma once

#include "failure.h"
#include "json.h"

#include <mpi.h>

// The counter of the CPU that programs can read.
#if defined(__aarch64__)
#define CLOCK_COUNTER_NAME "cntvct"
#else
#define CLOCK_COUNTER_NAME "tsc"
#endif

enum clock_kind { CLOCK_WTIME, CLOCK_MONO, CLOCK_MONO_RAW, CLOCK_DAY, CLOCK_COUNTER, CLOCK_KINDS };

struct clock {
    enum clock_kind kind;
    uint64_t origin;   // ticks at opening (unused by MPI_Wtime)
    double zero;       // MPI_Wtime at opening, s
    double scale;      // seconds a tick (of MPI_Wtime: a second)
    double shift;      // added to every reading, s; 0 but in tests
    double dilation;   // so many times slower than time itself
    bool shared;       // its scale is that of its host's first rank, and disturbed if it must be
    bool disturbed;    // by a test
    char instead[120]; // of `auto`: why the finer timer was rejected; empty: it was not
    // Results of the examination:
    double resolution_s; // smallest step that was seen
    double overhead_s;   // one call, mean of the quickest batch
    bool monotonic;      // never went back
};

// Names for the option --timer, "a|b|c", and of one kind.
extern const char clock_choices[];
const char *clock_name(enum clock_kind kind);

// Opens and examines a timer. MPI_Wtime needs a running MPI. It is a failure (STATUS_USAGE), with
// the reason, if this machine lacks the timer, if the timer goes backwards or stands still, or if
// it cannot be calibrated. `auto` is the counter of the CPU where it passes its checks, else
// CLOCK_MONOTONIC_RAW. The time stamp counter of x86-64 must be invariant, trusted by the kernel
// to be the same on all CPUs, and of a steady rate. cntvct_el0 of aarch64 must have the rate that
// cntfrq_el0 states.
void clock_open(struct clock *clock, const char *name, struct failure *failure);

// The same on all ranks of `comm`, which get timers of one kind: where one rank's `auto` falls
// back, all do. Collective; a failure is each rank's own.
void clock_open_alike(struct clock *clock, const char *name, MPI_Comm comm,
                      struct failure *failure);

// Makes an opened clock so many times slower, and what was found of it with that: the clock of a
// host whose network is so many times slower than it stands for (time-warped emulation).
void clock_dilate(struct clock *clock, double dilation);

// Seconds since the opening.
double clock_now(const struct clock *clock);

// Spins until a moment, s since the opening; returns the first reading that is not before it.
// It reads oftener than clock_now could, so that the moment is missed by less.
double clock_wait(const struct clock *clock, double until_s);

// Spins until a moment (-INFINITY: not at all), does `run` for `calls` calls, and returns when
// that began and ended. Nothing but the readings is between these steps, so that short operations
// are timed with little overhead.
struct span {
    double begin_s, end_s;
};
struct span clock_time(const struct clock *clock, double from_s, void (*run)(void *, long),
                       void *state, long calls);

// Does `run` `count` times in a row; at[0] is the moment before the first, at[i + 1] that after
// number i. Nothing but the readings is between them.
void clock_row(const struct clock *clock, void (*run)(void *, long), void *state, long calls,
               double *at, long count);

// Puts a clock wrong for tests: ahead by `offset_s`, gaining `drift` of the time that passes.
void clock_disturb(struct clock *clock, double offset_s, double drift);

// The members name, resolution_s, overhead_s, monotonic, instead as a JSON object.
void clock_describe(const struct clock *clock, struct json *json);
