// SPDX-License-Identifier: BSD-3-Clause
// Complete programs as operations of the sampler: a sample is one run with its own start.
#ifndef COTEJO_CORE_PROGRAM_H
#define COTEJO_CORE_PROGRAM_H

#include "sampler.h"

// How they start: not in a row of runs, since each needs its input again.
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

#endif
