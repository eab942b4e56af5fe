// SPDX-License-Identifier: BSD-3-Clause
// Repetitions of an operation that its ranks start together, until they are enough.
#ifndef COTEJO_CORE_REPEAT_H
#define COTEJO_CORE_REPEAT_H

#include "bench.h"
#include "moments.h"

// The rule, as the options say it.
struct repeat {
    long least, most; // samples
    double rse;       // enough when the standard error of the mean is at most this share of it
    double budget_s;  // no sample is begun after this time, once there are `least`
    double sample_s;  // least duration of a sample
    long calls;       // in a sample; 0: as many as last `sample_s`
};

// Declares --rse, --budget, --sample-time, --min-repetitions, --max-repetitions, --calls.
extern const struct option repeat_options[];

struct repeat repeat_read(const struct options *options, struct failure *failure);

// What is repeated. `go` does `calls` of it on each rank that takes part.
struct work {
    const char *operation;
    size_t bytes;
    double share;     // of the time of a call that is one operation: 0.5 for a round trip
    long least_calls; // in a sample, whatever the rule finds; 0: 1
    // Calls in a sample where the operation says it, not the rule; NULL: the rule does.
    long (*calls)(const void *state);
    // Whose time a sample is. Both false: rank 0's. With `slowest` the longest of the ranks that
    // have set `clocked` is taken.
    bool slowest, clocked;
    void (*go)(void *state, long calls);
    // Fills the sample's further columns, on rank 0; NULL: none. `fastest_s` is the shortest
    // time of one operation that a clocked rank had (the sample's own unless `slowest`).
    void (*fill)(const void *state, double fastest_s, struct sample *sample);
    void *state;
};

// Takes samples of `work` on rank 0 of bench->comm. Collective. The first calls are set-up and
// never sampled. Before a sample of several calls one more is made, so that all ranks are in the
// midst of the work when the clock starts: the skew of a barrier is not in the sample.
void repeat_work(struct bench *bench, const struct repeat *rule, const struct work *work);

// The same in steps, for those who repeat several works by turns; collective, too.
// What is known of the samples so far; rank 0's counts.
struct progress {
    long calls; // in a sample
    struct moments times;
    double spent_s;
    double least_s[2]; // the least times of one operation, of even and of odd samples
};

// Makes the set-up calls and finds how many calls a sample takes.
void repeat_begin(struct bench *bench, const struct repeat *rule, const struct work *work,
                  struct progress *progress);
void repeat_sample(struct bench *bench, const struct work *work, struct progress *progress);

// Whether the rule asks for more samples; right on rank 0 only.
bool repeat_unfinished(const struct repeat *rule, const struct progress *progress);

#endif
