// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations: latency, bandwidth and rate, by synchronisation and kind of window.
#include "rma.h"

enum { QUEUE_MOST = 4096 };

static const struct option onesided_options[] = {
    {"sizes", OPTION_SIZES, "8:4Mi:x8", "B", NULL, 1, INT_MAX - (1 << 20),
     "what an operation moves: a list (8,4Ki) or ranges (8:1Mi:x2, 8:64:+8); fetch_and_op and "
     "compare_and_swap have one element"},
    {"queue", OPTION_SIZES, "1", "", NULL, 1, QUEUE_MOST,
     "operations of an access, as a list: 1 is latency, many are bandwidth and rate"},
    {"ways", OPTION_CHOICE, "one", "", "one|both", 0, 0,
     "both: each of the two is origin and target at the same time"},
    SAMPLER_START_ROW("loop"),
    {0},
};

// Behind the pair's: the factors of this experiment.
static const struct column columns[] = {
    PAIR_COLUMN_ROWS,
    {"queue", "", "operations of an access"},
    {"ways", "", "2: both ranks are origins at once"},
    {0},
};

static void measure(struct bench *bench, struct rma *rma, const char *name) {
    const struct sizes *queues = options_sizes(&bench->options, "queue");
    rma->both = options_is(&bench->options, "ways", "both");
    for (size_t i = 0; i < queues->count && !failed(&bench->failure); i++) {
        rma->queue = queues->bytes[i];
        struct pattern pattern = rma_pattern(rma, name);
        pattern.factors = (double[]){(double)rma->queue, rma->both ? 2 : 1};
        pattern.factors_count = 2;
        pair_run(bench, &pattern);
    }
}

static void run(struct bench *bench) {
    rma_each(bench, false, measure);
}

const struct experiment onesided = {
    .name = "onesided",
    .summary = "put, get, accumulates and atomics by synchronisation and kind of window",
    .what = "Time of one operation of an access: time of --queue operations and their completion, "
            "over their number.\nOperations are named OPERATION.SYNCHRONISATION.WINDOW. fence: a "
            "fence ends an access and begins the next.\npscw: post, start, operations, complete, "
            "wait. lock, lock_all: lock (shared), operations, unlock. flush,\nflush_local: "
            "operations and a flush, all within one --epoch; flush completes them at the "
            "target.\nThe target makes only fence and pscw calls until a stage ends, then waits "
            "in the library.\nTimes are those of the origin (--ways both: of the slower origin). "
            "Each window has two "
            "ranks.",
    .options = {rma_options, onesided_options, PAIR_OPTION_TABLES},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
