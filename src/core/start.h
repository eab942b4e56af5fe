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
    // Meets the other ranks before repetition `i` of a stage; returns the common start, a moment
    // of the shared clock (any value where there is none). NULL: ranks do not meet.
    double (*meet)(struct bench *bench, struct schedule *schedule, long i);
    struct verdict (*judge)(const struct schedule *schedule, const struct times *times);
};

// The way of that name; the names are those of the option --start.
const struct start *start_find(const char *name);

// Starts repetition `i` of a stage together with the other ranks, does `call`; says by this rank's
// own clock when that began and ended, and in *target what the common start was (on rank 0).
struct span start_act(struct bench *bench, struct schedule *schedule, long i, double *target,
                      void (*call)(void *), void *state);

// Upper estimate of the time in which a start can be announced, s. Collective.
double start_announcing(struct bench *bench, const struct schedule *schedule);

#endif
