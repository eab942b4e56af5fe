// SPDX-License-Identifier: BSD-3-Clause
// The ways in which ranks start an operation together, and what each makes of the times.
#include "start.h"

#include "barrier.h"
#include "moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Nobody is told of a start before everybody listens, so that what was prepared before, however
// long it took, does not eat the lead.
static double announce(struct bench *bench, const struct schedule *schedule) {
    barrier_enter(bench->comm);
    double moment = sync_now(&schedule->sync) + schedule->lead_s;
    MPI_Bcast(&moment, 1, MPI_DOUBLE, 0, bench->comm);
    return moment;
}

static double meet_window(struct bench *bench, struct schedule *schedule, long i) {
    if (i == 0)
        schedule->first_s = announce(bench, schedule);
    return schedule->first_s + (double)i * schedule->slot_s;
}

static double meet_round(struct bench *bench, struct schedule *schedule, long i) {
    (void)i;
    return announce(bench, schedule);
}

static double meet_barrier(struct bench *bench, struct schedule *schedule, long i) {
    (void)schedule;
    (void)i;
    barrier_enter(bench->comm);
    return 0;
}

static double meet_mpi(struct bench *bench, struct schedule *schedule, long i) {
    (void)schedule;
    (void)i;
    MPI_Barrier(bench->comm);
    return 0;
}

struct span start_act(struct bench *bench, struct schedule *schedule, long i, double *target,
                      void (*call)(void *), void *state) {
    const struct start *start = schedule->start;
    *target = start->meet ? start->meet(bench, schedule, i) : 0;
    return clock_time(schedule->sync.clock,
                      start->clocked ? sync_own(&schedule->sync, *target) : -INFINITY, call,
                      state);
}

static double last(const double *at, const struct times *times) {
    double most = -INFINITY;
    for (int r = 0; r < times->ranks; r++)
        most = fmax(most, at[r * times->stride]);
    return most;
}

static double spread(const double *at, const struct times *times) {
    double least = INFINITY;
    for (int r = 0; r < times->ranks; r++)
        least = fmin(least, at[r * times->stride]);
    return last(at, times) - least;
}

// The time is the last rank's end after the common start; what began late does not count.
static struct verdict judge_clocked(const struct schedule *schedule, const struct times *times) {
    double end = last(times->end, times);
    double late = last(times->begin, times) - times->target;
    bool inside = !schedule->start->windows || end <= times->target + schedule->slot_s;
    return (struct verdict){end - times->target, late, inside && late <= schedule->late_s};
}

// Each rank's own time, of which the longest counts; how much they overlap stays unknown.
static struct verdict judge_own(const struct schedule *schedule, const struct times *times) {
    double longest = 0;
    for (int r = 0; r < times->ranks; r++)
        longest = fmax(longest, times->end[r * times->stride] - times->begin[r * times->stride]);
    return (struct verdict){longest, schedule->sync.method ? spread(times->begin, times) : 0,
                            true};
}

static const struct start starts[] = {
    {"windows", true, true, false, meet_window, judge_clocked},
    {"round-time", true, false, false, meet_round, judge_clocked},
    {"barrier", false, false, false, meet_barrier, judge_own},
    {"mpi-barrier", false, false, false, meet_mpi, judge_own},
    {"none", false, false, true, NULL, judge_own},
};

const struct start *start_find(const char *name) {
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(starts[i].name, name) == 0)
            return &starts[i];
    abort(); // the option's choices are these names
}

// The largest of many but the tenth: an interrupted one says nothing of the others.
double start_announcing(struct bench *bench, const struct schedule *schedule) {
    enum { TRIALS = 30 };
    double taken[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        barrier_enter(bench->comm);
        double moment = sync_now(&schedule->sync);
        MPI_Bcast(&moment, 1, MPI_DOUBLE, 0, bench->comm);
        double mine = sync_now(&schedule->sync) - moment;
        MPI_Allreduce(&mine, &taken[i], 1, MPI_DOUBLE, MPI_MAX, bench->comm);
    }
    return values_at(taken, TRIALS, 0.9);
}
