// SPDX-License-Identifier: BSD-3-Clause
// Takes every time in cotejo: an operation x a start method x a stop rule.
//
// A sample is one start and `calls` calls in a row. Samples come in stages. After each stage rank
// 0 gathers the times of all ranks, judges them and decides whether another stage follows.
// docs/measuring.md explains how a sample is taken.
#pragma once

#include "arrival.h"
#include "bench.h"
#include "start.h"
#include "stop.h"
#include "sync.h"

// The times of a sample on rank 0, for the operation that describes it.
struct timing {
    double time_s;       // of one call: on the slowest rank; in a loop the mean of the ranks
    double fastest_s;    // of one call on the fastest rank
    double apart_s;      // from the first begin of a rank to the last one
    double late_s;       // from the common start to the last begin of a rank
    int slowest;         // rank
    const double *notes; // of rank r: from notes + r * stride on
    int ranks, stride;
};

struct operation;

struct message {
    size_t bytes;   // a sample's `bytes`
    double payload; // B that one call moves between ranks, all together
};

// Untimed steps around the calls. A step that is NULL is left out.
struct around {
    // Before and after a stage: shape buffers that several operations share, post receives that
    // stay posted between calls, and complete them.
    void (*enter)(const struct operation *operation);
    void (*leave)(const struct operation *operation);
    // Before each start (of a loop: before its row). Repetition -1 is not measured.
    void (*prepare)(const struct operation *operation, long repetition);
    // Makes one call and checks its result, before the first sample (round 0) and after the last
    // sample (round 1). A failure may be set on any rank alone: sampler_check() makes it known to
    // all of them.
    void (*check)(const struct operation *operation, unsigned round, struct failure *failure);
    // On rank 0: fills the columns of a sample that follow those of the sampler; may change its
    // time.
    void (*describe)(const struct operation *operation, const struct timing *timing,
                     struct sample *sample);
};

// Properties that few operations have.
struct special {
    // Calls in a sample; 0: the sampler decides. In a loop the number is a multiple of `step`
    // (0: 1): 2 if the ranks alternate early and late, more to amortise start-up and drain.
    long calls, step;
    bool bystander; // the time of this rank does not count
    bool program;   // a complete program: the check is its warm-up, no other call comes before
    bool own;       // its time is a quantity of its own, neither `single` nor `steady`
    double share;   // of the time of a call that is one operation; 0: all of it
    // Values of the columns behind those of the sampler, when a sample is kept.
    const double *factors;
    int factors_count;
    // Numbers that each rank notes during a sample, for `describe`. In a loop only the last sample
    // of a stage has notes, so such operations are run in stages of one sample.
    const double *notes;
    int notes_count;
};

// A measured operation, the same on every rank. `name` and `run` are always needed, and every
// operation uses half of the members (tests/test_operations.py counts them).
struct operation {
    const char *name;                     // column `operation`: a constant, or from samples_name
    void (*run)(void *state, long calls); // the timed calls, and nothing else
    void *state;
    struct message message;
    const struct around *around; // NULL: nothing
    struct special special;
};

struct sampler {
    struct bench *bench;
    struct sync sync; // of the clocks; its method is NULL if none were synchronised
    const struct start *start;
    struct start_line line; // of the starts
    struct arrival arrival;
    struct stop stop;
    bool per_rank; // also writes one series per rank
    // The options.
    long stage, warm_up, calls;
    double sample_s, setup_s, wrong_share, stretch, error_share;
    // On rank 0: the first sample of this sampler, and the first one since the clocks were
    // checked.
    size_t first, unchecked;
    bool uncertain; // it was reported that the clocks are not known well enough
    // Values of each sample of a stage: the common start; begin, end and notes of this rank. Rank
    // 0 also has them of all ranks, one rank after the other, and memory for one value of each
    // rank. All of them are one piece of memory, which begins at `target`.
    double *target, *own, *all, *sorted;
    size_t room; // doubles in `own`
};

// The options of stages, samples and starts. They are used together with stop_options,
// sync_options, arrival_options (if ranks may arrive apart) and, in a table of the experiment,
// SAMPLER_START_ROW with the default start method of the experiment.
extern const struct option sampler_options[];
#define SAMPLER_START_ROW(suited)                                                                 \
    {                                                                                             \
        "start", OPTION_CHOICE, suited, "", "windows|round-time|barrier|mpi-barrier|loop", 0, 0,  \
            "how ranks start: in windows of the shared clock; at a moment of it that is "         \
            "announced each time; after a barrier of cotejo or of the library; or in a loop: "    \
            "one row of calls, cut into samples. Windows leave out operations that do not end "   \
            "within their window, which lowers mean and p95"                                      \
    }

// The columns of the sampler, which come first in every experiment that uses it, and the index at
// which the `describe` of an operation begins to fill.
enum { SAMPLER_COLUMNS = 6 };
#define SAMPLER_COLUMN_ROWS                                                                       \
    {"late_s", "s",                                                                               \
     "how long after the common start the last rank began (with --arrival: after its own); "      \
     "after a barrier: after the first rank; 0 when clocks are not synchronised"},                \
        {"switched", column_flag,                                                                 \
         "1: a rank whose time counts lost its core meanwhile; of a loop: during its stage"},     \
        {"late_median_s", "s",                                                                    \
         "how long after the common start the median rank began; 0: no common start"},            \
        {"late_p99_s", "s",                                                                       \
         "the same of the 99th percentile of the ranks, by which a sample is valid"},             \
        {"lead_s", "s",                                                                           \
         "time from the announcement of the common start to the start, the same for all "         \
         "samples of a launch; 0: no common start"},                                              \
    {                                                                                             \
        "slot_s", "s", "length of the sample's window; 0: no windows"                             \
    }
extern const struct column sampler_columns[];

// Reads the options and, unless --sync is none, synchronises the clocks. The first sampler of a
// launch also determines the lead, so it must have as many ranks as any later one. For a loop,
// which has no common start, clocks are synchronised only if `clocks` is true. Collective over
// bench->comm, which belongs to the sampler from here on; failure agreed.
void sampler_open(struct sampler *sampler, struct bench *bench, bool clocks);

// Reads the options only: synchronises no clock and sends no message.
void sampler_read(struct sampler *sampler, struct bench *bench);

// A sampler with one call per sample after the barrier of cotejo, for an experiment with its own
// rules: reads no option, synchronises no clock, sends no message.
struct sampler sampler_plain(struct bench *bench, struct stop stop);

// Checks the clocks for the last time and reports operations without a valid sample; if there is
// no valid sample at all, this is a failure (STATUS_FAILED), agreed. Must be called after
// sampler_open, even after a failure. Collective.
void sampler_close(struct sampler *sampler);

// Checks an operation, takes all of its samples, checks it again and prints their summary. The
// first calls are warm-up and never sampled. Collective; failure agreed.
void sampler_measure(struct sampler *sampler, const struct operation *operation);

// The warm-up calls of --set-up; a complete program has none. Collective.
void sampler_set_up(struct sampler *sampler, const struct operation *operation);

// An operation whose samples alternate with those of others.
struct turn {
    struct operation operation;
    struct progress progress; // all 0 before its first samples
};

enum { TURNS_MOST = 10000 };

// Takes stages of several operations in turn, at most TURNS_MOST, until `rule` wants no more
// samples of any of them or rank 0 failed. New operations are checked and warmed up first. Each
// round has an order of its own, if `order` draws. The second check is left to the caller.
// Collective; only failures of the first checks are agreed.
void sampler_turns(struct sampler *sampler, struct turn *turns, int count, stop_rule *rule,
                   struct order *order);

// Runs the check of the operation, if it has one and no rank has failed. All checks are run by
// this function alone, because it makes a failure of one rank the failure of all ranks.
// Collective.
void sampler_check(struct sampler *sampler, const struct operation *operation, unsigned round);
// Takes one sample of this rank alone, which is not kept. Returns the time of one of `calls`
// calls, s.
double sampler_once(struct sampler *sampler, const struct operation *operation, long calls);
// Complete programs as operations: a sample is one run with its own start, never one of a row of
// runs, since each needs its input again.
extern const struct option program_options[];

// Tables of options and columns, for those of an experiment.
#define PROGRAM_OPTIONS program_options, sampler_options, stop_options, sync_options

// Opens a sampler for programs; asks for what cannot be are failures, agreed. Collective.
void program_open(struct sampler *sampler, struct bench *bench);

// Returns the clock at the end of a phase of a program, for the times of its parts. This reading
// happens inside a sample. Apart from complete programs, only timing methods that are shown to be
// wrong may read the clock there.
static inline double program_mark(const struct clock *clock) {
    return clock_now(clock);
}
