// SPDX-License-Identifier: BSD-3-Clause
// Takes the samples of one operation that follow each other, and judges them on rank 0.
#pragma once

#include "sampler.h"

struct stage {
    struct sampler *sampler;
    const struct operation *operation;
    struct progress *progress;
    long from; // number of the first sample; -1: none is measured
    long count;
};

// Returns the current data of the start methods. The sampler may have been copied since the last
// call.
struct start_line *stage_line(struct sampler *sampler);

// Allocates memory for the times of a stage of at most `most` samples. Collective; failure agreed.
void stage_room(struct sampler *sampler, const struct operation *operation, long most);

// Takes an untimed step of an operation (struct around), where it has that step.
#define STEP(operation, step, ...)                                                                \
    do {                                                                                          \
        if ((operation)->around && (operation)->around->step)                                     \
            (operation)->around->step(__VA_ARGS__);                                               \
    } while (0)

// Takes the samples and gathers their times on rank 0. Collective.
void stage_run(const struct stage *stage);

// On rank 0, after stage_run: makes the samples, and returns how many of them are not valid.
long stage_judge(const struct stage *stage);
// The time of the quickest sample.
double stage_least(const struct stage *stage);
// Time from the end of one sample to the end of the next one. The median (MPIPerf: the mean),
// because a single interruption would make all later windows milliseconds long.
double stage_pace(const struct stage *stage);
