// SPDX-License-Identifier: BSD-3-Clause
// Tests which one-sided operations complete at a target that makes no call.
#include "compute.h"
#include "rma.h"

enum { CHAIN_BYTES = 65536 };

static const struct option progress_options[] = {
    {"sizes", OPTION_SIZES, "8,4Ki,256Ki", "B", NULL, 1, INT_MAX - (1 << 20),
     "what an operation moves: a list (8,4Ki) or ranges (8:1Mi:x2, 8:64:+8)"},
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
    size_t microseconds;
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

static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct pair *pair = operation->state;
    const struct busy *busy = pair->pattern->variant;
    pair_describe(operation, timing, sample);
    sample->extra[PAIR_COLUMNS] = (double)busy->microseconds;
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
                            .microseconds = times->bytes[i],
                            .multiply_adds = lround(1e-6 * (double)times->bytes[i] / one_s)};
        pair_run(bench, &(struct pattern){
                            .operation = {.name = name,
                                          .special = {.own = true, .calls = 1},
                                          .around = &(const struct around){.enter = rma_enter,
                                                                           .leave = rma_leave,
                                                                           .check = rma_check,
                                                                           .describe = describe},
                                          .run = run_both},
                            .share = 1,
                            .moved = rma->row->writes + rma->row->fetches,
                            .slots = 1,
                            .only = rma->row->single ? rma->element : 0,
                            .choose = rma_choose,
                            .open = rma_open,
                            .close = rma_close,
                            .variant = &busy});
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
