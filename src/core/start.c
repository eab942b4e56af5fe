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
static double announce_start(struct sampler *sampler, const struct progress *progress) {
    MPI_Comm comm = sampler->bench->comm;
    barrier_enter(comm);
    double moment = sync_now(&sampler->sync) + progress->lead_s;
    announce(comm, &moment, 1);
    return moment;
}

static double meet_window(struct sampler *sampler, const struct progress *progress, long i) {
    if (i == 0)
        sampler->first_s = announce_start(sampler, progress);
    return sampler->first_s + (double)i * progress->slot_s;
}

static double meet_round(struct sampler *sampler, const struct progress *progress, long i) {
    (void)i;
    return announce_start(sampler, progress);
}

static double meet_barrier(struct sampler *sampler, const struct progress *progress, long i) {
    (void)progress;
    (void)i;
    barrier_enter(sampler->bench->comm);
    return 0;
}

static double meet_mpi(struct sampler *sampler, const struct progress *progress, long i) {
    (void)progress;
    (void)i;
    PMPI_Barrier(sampler->bench->comm);
    return 0;
}

double start_apart(const struct times *times) {
    double first = INFINITY, last = -INFINITY;
    for (int r = 0; r < times->ranks; r++) {
        first = fmin(first, times->begin[r * times->stride]);
        last = fmax(last, times->begin[r * times->stride]);
    }
    return last - first;
}

// The longest and the shortest time of the ranks that count, each from `target`, or from its own
// begin where that is NaN.
static struct verdict longest(const struct times *times, double target) {
    struct verdict verdict = {-INFINITY, INFINITY, 0, 0, true};
    for (int r = 0; r < times->ranks; r++) {
        double begin = isnan(target) ? times->begin[r * times->stride] : target;
        double time = times->end[r * times->stride] - begin;
        if (time > verdict.time_s) {
            verdict.time_s = time;
            verdict.slowest = r;
        }
        if (time < verdict.fastest_s)
            verdict.fastest_s = time;
    }
    return verdict;
}

// The time is the last rank's end after the common start; what began late does not count.
static struct verdict judge_clocked(const struct sampler *sampler, const struct progress *progress,
                                    const struct times *times) {
    struct verdict verdict = longest(times, times->target);
    double last = -INFINITY;
    for (int r = 0; r < times->ranks; r++)
        last =
            fmax(last, times->begin[r * times->stride] - (times->offsets ? times->offsets[r] : 0));
    verdict.late_s = last - times->target;
    bool inside = !sampler->start->windows || verdict.time_s <= progress->slot_s;
    verdict.valid = inside && verdict.late_s <= sampler->late_s;
    return verdict;
}

// Each rank's own time, of which the longest counts; how much they overlap stays unknown.
static struct verdict judge_own(const struct sampler *sampler, const struct progress *progress,
                                const struct times *times) {
    (void)progress;
    struct verdict verdict = longest(times, NAN);
    verdict.late_s = sampler->sync.method ? start_apart(times) : 0;
    return verdict;
}

static const struct start starts[] = {
    {"windows", true, true, false, meet_window, judge_clocked},
    {"round-time", true, false, false, meet_round, judge_clocked},
    {"barrier", false, false, false, meet_barrier, judge_own},
    {"mpi-barrier", false, false, false, meet_mpi, judge_own},
    {"loop", false, false, true, meet_barrier, judge_own},
};

const struct start *start_find(const char *name) {
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(starts[i].name, name) == 0)
            return &starts[i];
    abort(); // the option's choices are these names
}

double start_longer_lead(const struct sampler *sampler, double lead_s) {
    static const double most_s = 0.01;
    return fmax(lead_s, fmin(lead_s * sampler->stretch, most_s));
}

// The largest of many but the tenth: an interrupted one says nothing of the others.
double start_announcing(struct sampler *sampler) {
    enum { TRIALS = 30 };
    MPI_Comm comm = sampler->bench->comm;
    double taken[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        barrier_enter(comm);
        double moment = sync_now(&sampler->sync);
        announce(comm, &moment, 1);
        double mine = sync_now(&sampler->sync) - moment;
        PMPI_Allreduce(&mine, &taken[i], 1, MPI_DOUBLE, MPI_MAX, comm);
    }
    return values_at(taken, TRIALS, 0.9);
}
