// SPDX-License-Identifier: BSD-3-Clause
// Tests which one-sided operations complete at a target that makes no call.
#include "compute.h"
#include "rma.h"

enum { CHAIN_BYTES = 65536 };

static const struct option progress_options[] = {
    SIZES_ROW("8,4Ki,256Ki", 1, INT_MAX - (1 << 20), "what an operation moves"),
    {"compute", OPTION_SIZES, "0,1000", "us", NULL, 0, 1000000,
     "times that the target computes from the common start on, as a list; 0: it waits in the "
     "library at once"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

static const struct column columns[] = {
    PAIR_COLUMN_ROWS,
    {"compute_us", "", "us that the target computes meanwhile, without a call of MPI"},
    {0},
};

// The window, and what its target does.
struct busy {
    struct rma rma; // first: a pattern's variant is both
    struct compute *compute;
    long multiply_adds;
};

static void run_both(void *state, long calls) {
    struct pair *pair = state;
    const struct busy *busy = pair->pattern->variant;
    if (busy->rma.origin)
        busy->rma.row->run[busy->rma.sync](state, calls);
    else
        compute_do(busy->compute, busy->multiply_adds);
}

static void measure(struct bench *bench, struct rma *rma, const char *name) {
    const struct sizes *times = options_sizes(&bench->options, "compute");
    struct compute compute = {0};
    compute_open(&compute, CHAIN_BYTES, &bench->failure);
    compute.chain = true;
    double one_s = failed(&bench->failure) ? 1 : compute_calibrate(&compute, &bench->clock);
    for (size_t i = 0; i < times->count && !failed(&bench->failure); i++) {
        struct busy busy = {.rma = *rma,
                            .compute = &compute,
                            .multiply_adds = lround(1e-6 * (double)times->bytes[i] / one_s)};
        struct pattern pattern = rma_pattern(rma, name);
        pattern.operation.special = (struct special){.own = true, .calls = 1};
        pattern.operation.run = run_both;
        pattern.variant = &busy;
        pattern.factors = &(double){(double)times->bytes[i]};
        pattern.factors_count = 1;
        pair_run(bench, &pattern);
    }
    compute_close(&compute);
}

static void run(struct bench *bench) {
    if (options_is(&bench->options, "start", "loop"))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--start loop: the target computes once from a common start on; use "
                    "--start round-time or barrier");
    if (!failed(&bench->failure))
        rma_each(bench, true, measure);
}

const struct experiment onesided_progress = {
    .name = "onesided-progress",
    .summary = "one-sided operations on a target that computes and makes no call",
    .what = "Time from the common start until an operation is complete at its target, which "
            "computes for --compute\nfrom the same moment on and makes no call of MPI. If the "
            "time equals that of a target that waits\nin the library, the operation does not "
            "need the target. If it equals the computation, the operation\nneeds the target's "
            "next call (asynchronous progress: compare with the setting async_progress).",
    .options = {rma_options, progress_options, PAIR_OPTION_TABLES},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
