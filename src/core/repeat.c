// SPDX-License-Identifier: BSD-3-Clause
// Repetitions of an operation that its ranks start together, until they are enough.
#include "repeat.h"

#include <math.h>
#include <time.h>

// Some libraries set a collective up anew during its first hundred calls.
enum { SETUP_CALLS = 256, GROWTH_MOST = 40, TRIES = 3 };
static const double setup_s = 5e-3; // after which no more set-up calls are begun

const struct option repeat_options[] = {
    {"rse", OPTION_REAL, "0.01", "", NULL, 0, 1,
     "stop when the standard error of the mean is at most this share of the mean"},
    {"budget", OPTION_REAL, "0.1", "s", NULL, 0, 86400,
     "time for one size, after which no sample is begun"},
    {"sample-time", OPTION_REAL, "50e-6", "s", NULL, 0, 100,
     "least duration of one sample; quick operations are timed several at once"},
    {"min-repetitions", OPTION_INTEGER, "10", "", NULL, 1, 1e9,
     "samples of one size that are taken in any case"},
    {"max-repetitions", OPTION_INTEGER, "200", "", NULL, 1, 1e9, "samples of one size, at most"},
    {"calls", OPTION_INTEGER, "0", "", NULL, 0, 1e9,
     "operations timed together in a sample; 0: as many as --sample-time needs"},
    {0},
};

struct repeat repeat_read(const struct options *options, struct failure *failure) {
    struct repeat rule = {
        .least = options_integer(options, "min-repetitions"),
        .most = options_integer(options, "max-repetitions"),
        .rse = options_real(options, "rse"),
        .budget_s = options_real(options, "budget"),
        .sample_s = options_real(options, "sample-time"),
        .calls = options_integer(options, "calls"),
    };
    if (rule.least > rule.most)
        failure_set(failure, STATUS_USAGE,
                    "--min-repetitions %ld is more than --max-repetitions %ld; lower the first or "
                    "raise the second",
                    rule.least, rule.most);
    return rule;
}

// The budget is bookkeeping, so it has a clock of its own, whatever the timer is.
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds that a sample lasted: longest and shortest of the ranks whose time counts. On rank 0.
struct duration {
    double slowest, fastest;
};

static struct duration timed(const struct bench *bench, const struct work *work, long calls) {
    MPI_Barrier(bench->comm);
    if (calls > 1)
        work->go(work->state, 1);
    double begin = clock_now(&bench->clock);
    work->go(work->state, calls);
    double mine = clock_now(&bench->clock) - begin;
    if (!work->slowest)
        return (struct duration){mine, mine};
    double most[2] = {work->clocked ? mine : -INFINITY, work->clocked ? -mine : -INFINITY};
    double all[2] = {0};
    MPI_Reduce(most, all, 2, MPI_DOUBLE, MPI_MAX, 0, bench->comm);
    return (struct duration){all[0], -all[1]};
}

// Calls that last sample_s, found by growing. The clocks of the ranks differ: rank 0 decides.
static long enough_calls(const struct bench *bench, const struct repeat *rule,
                         const struct work *work) {
    long calls = work->least_calls > 1 ? work->least_calls : 1;
    for (int i = 0; i < GROWTH_MOST; i++) {
        // The least of several: one disturbed try would let calls that are too few pass.
        double duration = INFINITY;
        for (int t = 0; t < TRIES; t++)
            duration = fmin(duration, timed(bench, work, calls).slowest);
        double factor = rule->sample_s / fmax(duration, 1e-9);
        long next = calls;
        if (factor > 1 && calls < 1L << 30)
            next = (long)ceil((double)calls * fmin(fmax(1.1 * factor, 1.2), 16));
        MPI_Bcast(&next, 1, MPI_LONG, 0, bench->comm);
        if (next == calls)
            break;
        calls = next;
    }
    return calls;
}

// Calls that are not timed, in batches that double; two are made in any case.
static void set_up(const struct bench *bench, const struct work *work) {
    double begin = seconds();
    int more = 1;
    for (int batch = 2; more && batch <= SETUP_CALLS / 2; batch *= 2) {
        work->go(work->state, batch);
        more = seconds() - begin < setup_s;
        MPI_Bcast(&more, 1, MPI_INT, 0, bench->comm);
    }
}

void repeat_begin(struct bench *bench, const struct repeat *rule, const struct work *work,
                  struct progress *progress) {
    *progress = (struct progress){.least_s = {INFINITY, INFINITY}};
    set_up(bench, work);
    progress->calls = rule->calls   ? rule->calls
                      : work->calls ? work->calls(work->state)
                                    : enough_calls(bench, rule, work);
}

static void update(struct progress *p, double x) {
    double *least = &p->least_s[p->times.n % 2];
    *least = fmin(*least, x);
    moments_add(&p->times, x);
}

void repeat_sample(struct bench *bench, const struct work *work, struct progress *progress) {
    double begin = seconds(), one = work->share / (double)progress->calls;
    struct duration duration = timed(bench, work, progress->calls);
    if (bench->rank == 0) {
        struct sample sample = {.operation = work->operation,
                                .bytes = work->bytes,
                                .repetition = progress->times.n,
                                .calls = progress->calls,
                                .time_s = duration.slowest * one,
                                .valid = true};
        if (work->fill)
            work->fill(work->state, duration.fastest * one, &sample);
        samples_add(&bench->samples, sample, &bench->failure);
        update(progress, sample.time_s);
        progress->spent_s += seconds() - begin;
    }
}

bool repeat_unfinished(const struct repeat *rule, const struct progress *progress) {
    bool enough =
        moments_precise(&progress->times, rule->rse) || progress->spent_s > rule->budget_s;
    return progress->times.n < rule->most && (progress->times.n < rule->least || !enough);
}

void repeat_work(struct bench *bench, const struct repeat *rule, const struct work *work) {
    struct progress progress;
    repeat_begin(bench, rule, work, &progress);
    for (int more = 1; more;) {
        repeat_sample(bench, work, &progress);
        more = repeat_unfinished(rule, &progress) && !failed(&bench->failure);
        MPI_Bcast(&more, 1, MPI_INT, 0, bench->comm);
    }
}
