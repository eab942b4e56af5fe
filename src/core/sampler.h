// SPDX-License-Identifier: BSD-3-Clause
// The one place where times are taken: an operation x a start x a stop.
//
// A sample is one start and `calls` calls in a row. Samples come in stages: between two of them
// rank 0 gathers the ranks' times, judges them and decides whether there is more.
// docs/measuring.md tells the whole way of a sample.
#ifndef COTEJO_CORE_SAMPLER_H
#define COTEJO_CORE_SAMPLER_H

#include "arrival.h"
#include "bench.h"
#include "stop.h"
#include "sync.h"

// What a sample is known by on rank 0, beside what the operation tells of itself.
struct timing {
    double time_s;       // of one call on the rank that took longest
    double fastest_s;    // on the rank that took least
    double apart_s;      // from the first rank's begin to the last one's
    double late_s;       // of the last rank's begin after the common start
    int slowest;         // rank that took longest
    const double *notes; // of rank r: from notes + r * stride on
    int ranks, stride;
};

struct operation;

// What an operation moves.
struct message {
    size_t bytes;   // a sample's `bytes`
    double payload; // B that one call moves between ranks, all together
};

// What is done around the calls and never timed. What is NULL is left out.
struct around {
    // Around a stage: shape buffers that several operations share, post what stays posted between
    // calls, and drain it.
    void (*enter)(const struct operation *operation);
    void (*leave)(const struct operation *operation);
    // Before each start (of a loop: before its row). A repetition of -1 is not measured.
    void (*prepare)(const struct operation *operation, long repetition);
    // Makes one call and checks its result, before the first sample (round 0) and after the last
    // sample (round 1). A failure may be set on any rank alone: sampler_check() makes it known to
    // all of them.
    void (*check)(const struct operation *operation, unsigned round, struct failure *failure);
    // Fills a sample's further columns behind the sampler's, on rank 0; may change its time.
    void (*describe)(const struct operation *operation, const struct timing *timing,
                     struct sample *sample);
};

// What few operations have.
struct special {
    // Calls in a sample where the operation says it; 0: the sampler does. Of a loop the sampler
    // takes multiples of `step` (0: 1): 2 where ranks swing about each other, more where the ends
    // of a row are not to weigh.
    long calls, step;
    bool bystander; // this rank's own time does not count
    bool program;   // a whole program, which its check warms up: no further call goes before
    bool own;       // its time is a quantity of its own, neither `single` nor `steady`
    // What each rank notes of a sample while it runs, for `describe`. Of a loop only the last
    // sample of a stage has notes: such operations are to be run in stages of one.
    const double *notes;
    int notes_count;
};

// What is measured, the same on every rank. `name` and `run` are always needed, and
// every operation has use for half of the members (tests/test_operations.py counts them).
struct operation {
    const char *name;                     // a sample's `operation`: a constant, or of samples_name
    void (*run)(void *state, long calls); // what is timed, and nothing else
    void *state;
    struct message message;
    const struct around *around; // NULL: nothing
    struct special special;
};

struct start; // a way to start (start.h)

struct sampler {
    struct bench *bench;
    struct sync sync; // of the clocks; its method is NULL where none were synchronised
    const struct start *start;
    struct arrival arrival;
    struct stop stop;
    bool per_rank; // every rank's times are samples too
    // The rules, as the options say them.
    long stage, warm_up, calls;
    double sample_s, setup_s, wrong_share, stretch, late_s, error_share, lead_s;
    // What was found.
    double first_s;    // start of the stage that runs, on the shared clock; windows only
    double tightest_s; // least window that any sample relied on; infinite: none did
    double flushed_s;  // when samples were last written to the temporary file; rank 0
    // Of each sample of a stage: the common start; begin, end and notes of this rank; on rank 0
    // those of all ranks, one rank after the other.
    double *target, *own, *all;
    size_t room; // doubles in `own`
};

// Declares the options of stages, samples and starts, and how ranks' times are told; beside it
// belong stop_options, sync_options, where ranks may arrive apart arrival_options and, in a table
// of the experiment's own, SAMPLER_START_ROW with the way to start that suits it.
extern const struct option sampler_options[];
#define SAMPLER_START_ROW(suited)                                                                 \
    {                                                                                             \
        "start", OPTION_CHOICE, suited, "", "windows|round-time|barrier|mpi-barrier|loop", 0, 0,  \
            "how ranks start: in windows of the shared clock, at a moment of it that is "         \
            "announced each time, after a barrier (ours, the library's), or in a loop: one row "  \
            "of calls, cut into samples; windows leave out what does not end within its own: "    \
            "mean and p95 are of the rest"                                                        \
    }

// The sampler's columns, first among those of every experiment that uses it. Where an operation's
// `describe` begins to fill.
enum { SAMPLER_COLUMNS = 2 };
#define SAMPLER_COLUMN_ROWS                                                                       \
    {"late_s", "s",                                                                               \
     "how long after the common start the last rank began (with --arrival: after its own); "      \
     "after a barrier: after the first rank; 0 when clocks are not synchronised"},                \
    {                                                                                             \
        "switched", column_flag,                                                                  \
            "1: a rank whose time counts lost its core meanwhile; of a loop: during its stage"    \
    }
extern const struct column sampler_columns[];

// Reads the options and, unless --sync is none, synchronises the clocks; for a loop, which has no
// start that clocks could tell of, only when `clocks` are wanted. Collective over bench->comm,
// which is the sampler's from here on; failure agreed.
void sampler_open(struct sampler *sampler, struct bench *bench, bool clocks);

// Reads the options only: no clock is synchronised, no message is sent.
void sampler_read(struct sampler *sampler, struct bench *bench);

// A sampler of one call a sample after our own barrier, for an experiment with rules of its own:
// reads no option, synchronises no clock, sends no message.
struct sampler sampler_plain(struct bench *bench, struct stop stop);

// Ends with the clocks' error: a synchronisation that outgrew the windows is a failure
// (STATUS_FAILED), agreed. To be called after sampler_open, whatever failed since. Collective.
void sampler_close(struct sampler *sampler);

// Checks an operation, takes all of its samples, checks it again and prints what they come to.
// The first calls are set-up and never sampled. Collective; failure agreed.
void sampler_measure(struct sampler *sampler, const struct operation *operation);

// Calls that are not measured, of --set-up; a whole program has none. Collective.
void sampler_set_up(struct sampler *sampler, const struct operation *operation);

// The same in steps, for those who measure several operations by turns; collective, too.
// Makes the calls that are not measured, and finds how many a sample takes; failure agreed.
void sampler_begin(struct sampler *sampler, const struct operation *operation,
                   struct progress *progress);
// A stage of `count` samples, at most sampler->stage.
void sampler_stage(struct sampler *sampler, const struct operation *operation,
                   struct progress *progress, long count);
// Runs the check of the operation, if it has one and no rank has failed. All checks are run by
// this function alone, because it makes a failure of one rank the failure of all ranks.
// Collective.
void sampler_check(struct sampler *sampler, const struct operation *operation, unsigned round);
// One sample of this rank alone, which makes no row: for what each rank tells of itself. What one
// of `calls` calls took, s.
double sampler_once(struct sampler *sampler, const struct operation *operation, long calls);
// Samples of the next stage, as rank 0 decides and tells all; 0: enough, or something failed.
long sampler_next(struct sampler *sampler, struct progress *progress);

#endif
