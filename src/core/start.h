// SPDX-License-Identifier: BSD-3-Clause
// The ways in which ranks start an operation together, and what each makes of the times.
#ifndef COTEJO_CORE_START_H
#define COTEJO_CORE_START_H

#include "sampler.h"

struct verdict {
    double time_s; // of a sample: the longest
    double fastest_s;
    double late_s; // how long after the common start the last rank began
    int slowest;   // rank
    bool valid;
};

// Moments of one sample: begin and end of each rank, `stride` apart, on the shared clock. The end
// of a rank whose time does not count is NaN.
struct times {
    double target; // the common start
    const double *begin, *end;
    const double *offsets; // from the common start to each rank's arrival; NULL: none
    int ranks, stride;
};

struct start {
    const char *name;
    bool clocked; // starts at moments of the shared clock
    bool windows; // has a window for each sample, which the operation must not leave
    bool loop;    // samples follow each other in one row of calls that goes on
    // Meets the other ranks before sample `i` of a stage; returns the common start, a moment of
    // the shared clock (any value where there is none).
    double (*meet)(struct sampler *sampler, const struct progress *progress, long i);
    struct verdict (*judge)(const struct sampler *sampler, const struct progress *progress,
                            const struct times *times);
};

// The way of that name; the names are those of the option --start.
const struct start *start_find(const char *name);

// From the first rank's begin to the last one's.
double start_apart(const struct times *times);

// A lead that is longer by the factor of the options, up to a bound; never shorter than it is.
double start_longer_lead(const struct sampler *sampler, double lead_s);

// Upper estimate of the time in which a start can be announced, s. Collective.
double start_announcing(struct sampler *sampler);

#endif
