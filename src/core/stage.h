// SPDX-License-Identifier: BSD-3-Clause
// A stage of samples: run on all ranks, gathered, judged, and made into samples on rank 0.
#ifndef COTEJO_CORE_STAGE_H
#define COTEJO_CORE_STAGE_H

#include "sampler.h"
#include "start.h"

// Samples of the stages that find how many calls a sample takes.
enum { STAGE_TRIES = 3 };

// Room for the times of the largest stage. Collective; failure agreed.
void stage_room(struct sampler *sampler, const struct operation *operation);

// What the operation wants done before a start.
void stage_enter(const struct operation *operation);
void stage_leave(const struct operation *operation);
void stage_prepare(const struct operation *operation, long repetition);

// Runs `count` samples, the first of which has number `from` (-1: none is measured); their times
// arrive on rank 0. Collective.
void stage_run(struct sampler *sampler, const struct operation *operation,
               const struct progress *progress, long from, long count);

// On rank 0, of a stage of `count` samples that was run: the moments of sample `i`;
struct times stage_times(const struct sampler *sampler, const struct operation *operation, long i,
                         long count);
// the time from one sample's end to the next one's, s;
double stage_pace(struct sampler *sampler, const struct operation *operation, long count);
// the samples themselves, added to those of the launch: returns how many are not valid.
long stage_judge(struct sampler *sampler, const struct operation *operation,
                 struct progress *progress, long count);

#endif
