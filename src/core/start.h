// SPDX-License-Identifier: BSD-3-Clause
// The ways in which ranks start an operation together, and what each makes of the times.
#ifndef COTEJO_CORE_START_H
#define COTEJO_CORE_START_H

#include "schedule.h"

struct verdict {
    double time_s; // of the operation
    double late_s; // how long after the common start the last rank began
    bool valid;
};

// Times of one repetition: begin and end of each rank, `stride` apart, on the shared clock.
struct times {
    double target; // the common start
    const double *begin, *end;
    int ranks, stride;
};

struct start {
    const char *name;
    bool clocked; // starts at moments of the shared clock
    bool windows; // has a window for each repetition, which the operation must not leave
    bool loop;    // repetitions of a stage follow each other unseen: one sample
    // Waits for the start of repetition `i` of a stage; returns the common start (on rank 0; any
    // value where there is none) and in *begin when this rank began, by its own clock.
    double (*wait)(struct bench *bench, struct schedule *schedule, long i, double *begin);
    struct verdict (*judge)(const struct schedule *schedule, const struct times *times);
};

// The way of that name; the names are those of the option --start.
const struct start *start_find(const char *name);

// Upper estimate of the time in which a start can be announced, s. Collective.
double start_announcing(struct bench *bench, const struct schedule *schedule);

#endif
