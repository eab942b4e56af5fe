// SPDX-License-Identifier: BSD-3-Clause
// When the samples of an operation are enough: one rule for everything that is measured.
#pragma once

#include "failure.h"
#include "moments.h"
#include "options.h"

// Samples are enough when there are `min` whose mean is known to `rse`, or `max`, or as many as
// the budget has time for, but `min` in any case. Only valid samples count. Invalid samples are
// limited to `wrong` for each of `max`, or for each of `min` once the budget is spent.
struct stop {
    long min, max, wrong;
    double rse;      // standard error of the mean, as a share of it
    double budget_s; // no sample is begun after this time, once there are `min`
};

// Declares --rse, --budget, --min-repetitions, --max-repetitions.
extern const struct option stop_options[];

struct stop stop_read(const struct options *options, struct failure *failure);

// The state of measuring one operation. Members about samples are valid on rank 0 only.
struct progress {
    long calls;           // in a sample; 0: not begun
    long repetitions;     // taken, whether valid or not
    struct moments valid; // of the times of valid ones
    double spent_s;       // on samples
    double least_s[2];    // the minimum times of one operation, of samples 0, 2, ... and 1, 3, ...
    double slot_s;        // length of a window
    int again, tried;     // of a curve: how often the operation was measured again
};

// Samples to take next, at most `most` of them; 0: enough.
typedef long stop_rule(const struct stop *stop, const struct progress *progress, long most);
stop_rule stop_next;
