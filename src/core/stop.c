// SPDX-License-Identifier: BSD-3-Clause
// When the samples of an operation are enough.
#include "stop.h"

const struct option stop_options[] = {
    {"rse", OPTION_REAL, "0.01", "", NULL, 0, 1,
     "stop when the standard error of the mean is at most this share of the mean; 0: never"},
    {"budget", OPTION_REAL, "0.1", "s", NULL, 0, 86400,
     "time for one operation and size, after which no sample is begun"},
    {"min-repetitions", OPTION_INTEGER, "10", "", NULL, 1, 1e9,
     "valid samples of one operation and size that are taken in any case"},
    {"max-repetitions", OPTION_INTEGER, "200", "", NULL, 1, 1e9,
     "valid samples of one operation and size, at most"},
    {0},
};

struct stop stop_read(const struct options *options, struct failure *failure) {
    struct stop stop = {
        .min = options_integer(options, "min-repetitions"),
        .max = options_integer(options, "max-repetitions"),
        .wrong = 3,
        .rse = options_real(options, "rse"),
        .budget_s = options_real(options, "budget"),
    };
    if (stop.min > stop.max)
        failure_set(failure, STATUS_USAGE,
                    "--min-repetitions %ld is more than --max-repetitions %ld; lower the first or "
                    "raise the second",
                    stop.min, stop.max);
    return stop;
}

static long lesser(long a, long b) {
    return a < b ? a : b;
}

// Samples for which there is time, at least one.
static long affordable(const struct stop *stop, const struct progress *progress, long wanted) {
    double each = progress->spent_s / (double)progress->repetitions;
    double left = stop->budget_s - progress->spent_s;
    return left < each * (double)wanted ? (long)(left / each) + 1 : wanted;
}

long stop_next(const struct stop *stop, const struct progress *progress, long most) {
    long valid = progress->valid.n, wrong = progress->repetitions - valid;
    bool spent = progress->spent_s > stop->budget_s;
    bool hopeless = wrong > stop->wrong * (spent ? stop->min : stop->max);
    if (valid < stop->min)
        return hopeless ? 0 : lesser(stop->min - valid, most);
    bool precise = stop->rse > 0 && moments_precise(&progress->valid, stop->rse);
    if (precise || valid >= stop->max || spent || hopeless)
        return 0;
    return lesser(affordable(stop, progress, lesser(stop->max - valid, most)), most);
}
