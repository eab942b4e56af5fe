// SPDX-License-Identifier: BSD-3-Clause
// Repetitions of an operation that its ranks start together, until they are enough.
#include "repeat.h"

#include "moments.h"

#include <math.h>
#include <time.h>

enum { SETUP_CALLS = 2, GROWTH_MOST = 40 };

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

static double timed(const struct bench *bench, const struct work *work, long calls) {
    MPI_Barrier(bench->comm);
    if (calls > 1)
        work->go(work->state, 1);
    double begin = clock_now(&bench->clock);
    work->go(work->state, calls);
    return clock_now(&bench->clock) - begin;
}

// Calls that last sample_s, found by growing. The clocks of the ranks differ: rank 0 decides.
static long enough_calls(const struct bench *bench, const struct repeat *rule,
                         const struct work *work) {
    long calls = rule->calls ? rule->calls : 1;
    for (int i = 0; i < GROWTH_MOST && !rule->calls; i++) {
        double duration = timed(bench, work, calls);
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

void repeat_work(struct bench *bench, const struct repeat *rule, const struct work *work) {
    struct moments moments = {0};
    for (int i = 0; i < SETUP_CALLS; i++)
        work->go(work->state, 1);
    long calls = enough_calls(bench, rule, work);
    double begin = seconds();
    for (int more = 1; more;) {
        double duration = timed(bench, work, calls);
        if (bench->rank == 0) {
            double time = duration / (double)calls * work->share;
            samples_add(&bench->samples,
                        (struct sample){.operation = work->operation,
                                        .bytes = work->bytes,
                                        .repetition = moments.n,
                                        .calls = calls,
                                        .time_s = time,
                                        .valid = true},
                        &bench->failure);
            moments_add(&moments, time);
            bool enough =
                moments_precise(&moments, rule->rse) || seconds() - begin > rule->budget_s;
            more = moments.n < rule->most && (moments.n < rule->least || !enough) &&
                   !failed(&bench->failure);
        }
        MPI_Bcast(&more, 1, MPI_INT, 0, bench->comm);
    }
}
