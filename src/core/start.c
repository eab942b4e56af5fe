// SPDX-License-Identifier: BSD-3-Clause
// The methods by which ranks start an operation together, and the time that each method reports.
#include "start.h"

#include "moments.h"
#include "ranks.h"

// With many ranks, the operating system always delays some. A sample is valid although this share
// of the ranks begins later than allowed (with fewer than 100 ranks: none), as long as no rank is
// later than LATE_MOST of the sample's time.
static const double LATE_RANKS = 0.01, LATE_MOST = 0.5;

// The ranks meet first, so that the lead is not spent on waiting for a rank that still prepares.
static double announce_start(const struct start_line *line) {
    barrier_enter(line->comm);
    double moment = sync_now(line->sync) + line->lead_s;
    announce(line->comm, &moment, 1);
    return moment;
}

static double meet_barrier(const struct start_line *line) {
    barrier_enter(line->comm);
    return 0;
}

static double meet_mpi(const struct start_line *line) {
    PMPI_Barrier(line->comm);
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

// The longest and the shortest time of the ranks that count, each from `target`, or from the begin
// of the rank itself if `target` is NaN.
static struct verdict longest(const struct times *times, double target) {
    struct verdict verdict = {.time_s = -INFINITY, .fastest_s = INFINITY};
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

// Notes how late the ranks began. Returns how many of them began later than `allowed_s`.
static int note_lateness(const struct times *times, double allowed_s, struct verdict *verdict) {
    int late = 0;
    verdict->late_s = -INFINITY;
    for (int r = 0; r < times->ranks; r++) {
        double late_s = times->begin[r * times->stride] - times->target -
                        (times->offsets ? times->offsets[r] : 0);
        verdict->late_s = fmax(verdict->late_s, late_s);
        late += late_s > allowed_s;
        if (times->sorted)
            times->sorted[r] = late_s;
    }
    if (times->sorted) {
        size_t count = (size_t)times->ranks;
        verdict->late_median_s = values_at(times->sorted, count, 0.5);
        verdict->late_p99_s = values_at(times->sorted, count, 0.99);
    }
    return late;
}

// The time is the end of the last rank after the common start.
static struct verdict judge_clocked(const struct start_line *line, const struct times *times) {
    struct verdict verdict = longest(times, times->target);
    double allowed_s = fmax(line->late_s, line->late_share * verdict.time_s);
    int late = note_lateness(times, allowed_s, &verdict);
    if (late > LATE_RANKS * times->ranks ||
        verdict.late_s > fmax(line->late_s, LATE_MOST * verdict.time_s))
        verdict.fault = FAULT_LATE;
    return verdict;
}

static struct verdict judge_window(const struct start_line *line, const struct times *times) {
    struct verdict verdict = judge_clocked(line, times);
    if (!verdict.fault && verdict.time_s > line->slot_s)
        verdict.fault = FAULT_WINDOW;
    return verdict;
}

// The time is the longest time of a rank; how much the ranks overlapped is unknown.
static struct verdict judge_own(const struct start_line *line, const struct times *times) {
    struct verdict verdict = longest(times, NAN);
    verdict.late_s = line->sync->method ? start_apart(times) : 0;
    return verdict;
}

// The mean over the ranks whose time counts. They pass through the row together, and the longest
// of their times would grow with the number of ranks.
static struct verdict judge_row(const struct start_line *line, const struct times *times) {
    struct verdict verdict = judge_own(line, times);
    double sum_s = 0;
    int count = 0;
    for (int r = 0; r < times->ranks; r++) {
        double time_s = times->end[r * times->stride] - times->begin[r * times->stride];
        sum_s += isnan(time_s) ? 0 : time_s;
        count += !isnan(time_s);
    }
    verdict.time_s = sum_s / count;
    return verdict;
}

static const struct start starts[] = {
    {"windows", true, true, false, announce_start, judge_window},
    {"round-time", true, false, false, announce_start, judge_clocked},
    {"barrier", false, false, false, meet_barrier, judge_own},
    {"mpi-barrier", false, false, false, meet_mpi, judge_own},
    {"loop", false, false, true, meet_barrier, judge_row},
};

const struct start *start_find(const char *name) {
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(starts[i].name, name) == 0)
            return &starts[i];
    abort(); // the choices of the option are these names
}

// The 90th percentile of several trials, because an interrupted trial is no estimate of the
// others.
double start_announcing(const struct start_line *line) {
    enum { TRIALS = 30 };
    double taken[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        barrier_enter(line->comm);
        double moment = sync_now(line->sync);
        announce(line->comm, &moment, 1);
        double mine = sync_now(line->sync) - moment;
        PMPI_Allreduce(&mine, &taken[i], 1, MPI_DOUBLE, MPI_MAX, line->comm);
    }
    return values_at(taken, TRIALS, 0.9);
}
