// SPDX-License-Identifier: BSD-3-Clause
// Operations whose ranks must start together: when they start, and what then counts as their
// time.
#ifndef COTEJO_CORE_SCHEDULE_H
#define COTEJO_CORE_SCHEDULE_H

#include "bench.h"

// What is measured: `call` is one operation, the same in every repetition, on every rank.
struct act {
    const char *operation; // a constant
    size_t bytes;
    void (*prepare)(void *state, long repetition); // before each start, untimed; may be NULL.
                                                   // repetition -1: set-up, not measured
    void (*call)(void *state);
    void *state;
};

enum start { START_WINDOWS, START_ROUND_TIME, START_BARRIER, START_NONE };

struct schedule {
    enum start start;
    bool per_rank;
    long stage, most;
    double budget_s;
};

// Declares --start, --per-rank and the rules of each way to start.
extern const struct option schedule_options[];

// The columns that samples of a schedule have; an experiment that uses one names them as its own.
extern const struct column schedule_columns[];

// Reads the options and synchronises the clocks. Collective over bench->comm; failure agreed.
void schedule_open(struct bench *bench, struct schedule *schedule);

// Measures an operation: samples on rank 0, each the maximum over ranks. The first calls are
// set-up and never sampled. Collective; failure agreed.
void schedule_work(struct bench *bench, struct schedule *schedule, const struct act *act);

// Ends with the clocks' error: a synchronisation that outgrew the slots is a failure
// (STATUS_FAILED), agreed. To be called after schedule_open, whatever failed since. Collective.
void schedule_close(struct bench *bench, struct schedule *schedule);

#endif
