// SPDX-License-Identifier: BSD-3-Clause
// Operations whose ranks must start together: when they start, and what then counts as their
// time.
#ifndef COTEJO_CORE_SCHEDULE_H
#define COTEJO_CORE_SCHEDULE_H

#include "bench.h"
#include "sync.h"

// What is measured: `call` is one operation, the same in every repetition, on every rank.
struct act {
    const char *operation; // a constant
    size_t bytes;
    void (*prepare)(void *state, long repetition); // before each start, untimed; may be NULL.
                                                   // repetition -1: set-up, not measured
    void (*call)(void *state);
    void *state;
};

struct start; // a way to start

struct schedule {
    struct sync sync;
    const struct start *start;
    bool per_rank;
    // The rules, as the options say them.
    long stage, warm_up;         // repetitions
    long most, enough, precise;  // repetitions: all, valid, valid for precision
    bool by_precision;           // which rule stops
    double wrong_share, stretch; // of a stage; of window and lead
    double rse, budget_s, late_s, error_share, least_lead_s;
    // What was found.
    double lead_s;     // from announcing a start to the start
    double slot_s;     // of the stage that runs; windows only
    double first_s;    // start of the stage that runs, on the shared clock
    double tightest_s; // least window that any sample relied on; infinite: none did
    // Of each repetition of a stage: on each rank begin and end; on rank 0 the common start, and
    // begin and end of all ranks, one rank after the other.
    double *own, *target, *all;
};

// Declares --start, --per-rank, the rules of each way to start, and the options of sync.h.
extern const struct option schedule_options[];

// The columns that samples of a schedule have; an experiment that uses one names them as its own.
extern const struct column schedule_columns[];

// Reads the options and synchronises the clocks. Collective over bench->comm; failure agreed.
void schedule_open(struct bench *bench, struct schedule *schedule);

// Measures an operation: samples on rank 0, each the maximum over ranks. The first calls are
// set-up and never sampled. Collective; failure agreed.
void schedule_work(struct bench *bench, struct schedule *schedule, const struct act *act);

// For those who start without operations. On rank 0: when `wrong` of the last stage's repetitions
// are too many, windows grow by what the stage took, and the lead with them.
void schedule_adapt(const struct bench *bench, struct schedule *schedule, long wrong);
// Rank 0 decides whether there is more; the others learn it, the window and the lead. Collective.
bool schedule_go_on(struct bench *bench, struct schedule *schedule, bool more);

// Ends with the clocks' error: a synchronisation that outgrew the windows is a failure
// (STATUS_FAILED), agreed. To be called after schedule_open, whatever failed since. Collective.
void schedule_close(struct bench *bench, struct schedule *schedule);

#endif
