// SPDX-License-Identifier: BSD-3-Clause
// How much of a non-blocking operation a library does while the program computes.
#include "coll_overlap.h"

enum { TRIES = 7 };

static const double LEAST_S = 200e-6;

// Each step waits for the one before: its time does not depend on what else the core could do.
static void compute(struct overlap *overlap, long steps) {
    double x = overlap->result;
    for (long i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-6;
    overlap->result = x;
}

static double duration(struct overlap *overlap, const struct clock *clock, long steps) {
    double begin = clock_now(clock);
    compute(overlap, steps);
    return clock_now(clock) - begin;
}

void overlap_open(struct overlap *overlap, const struct bench *bench) {
    long steps = 1024;
    overlap->result = 1;
    while (duration(overlap, &bench->clock, steps) < LEAST_S && steps < 1L << 30)
        steps *= 2;
    double least = INFINITY;
    for (int i = 0; i < TRIES; i++)
        least = fmin(least, duration(overlap, &bench->clock, steps));
    overlap->rate = (double)steps / least;
}

static void run_compute(void *state, long calls) {
    struct overlap *overlap = state;
    for (; calls > 0; calls--)
        for (long i = 0; i <= overlap->tests; i++)
            compute(overlap, overlap->steps);
}

static void once(struct overlap *overlap) {
    MPI_Request request;
    int done;
    coll_start(overlap->coll, &request);
    for (long i = 0; i <= overlap->tests; i++) {
        if (i > 0)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        compute(overlap, overlap->steps);
    }
    coll_finish(overlap->coll, &request);
}

static void run_both(void *state, long calls) {
    for (; calls > 0; calls--)
        once(state);
}

static void prepare(const struct operation *operation, long repetition) {
    struct overlap *overlap = operation->state;
    (void)repetition;
    coll_next(overlap->coll);
}

// Returns the median time of the operation alone, whose samples begin at `from`. If no sample is
// valid, returns the least time: the computation beside it need only be about as long. 0: no
// samples on this rank.
static double own_time(const struct samples *samples, size_t from) {
    if (samples->count == from)
        return 0;
    struct samples alone = samples_group(samples, from);
    double time = alone.count ? samples_summary(&alone, 0).median_s : 0;
    if (isnan(time))
        for (size_t i = 0; i < alone.count; i++)
            time = fmin(time, alone.at[i].time_s); // of NaN and a number the number
    free(alone.at);
    return time;
}

void overlap_measure(struct sampler *sampler, struct overlap *overlap) {
    struct bench *bench = sampler->bench;
    struct coll *coll = overlap->coll;
    size_t from = bench->samples.count;
    sampler_measure(
        sampler, &(struct operation){.name = coll->row->alone,
                                     .message = {.bytes = coll->bytes, .payload = coll->payload},
                                     .around = &(const struct around){.prepare = coll_prepare},
                                     .run = coll_run(coll),
                                     .state = coll});
    double median = own_time(&bench->samples, from);
    announce(bench->comm, &median, 1);
    if (overlap->share == 0 || median == 0 || failed(&bench->failure))
        return;
    double steps = overlap->share * median * overlap->rate / (double)(overlap->tests + 1);
    overlap->steps = steps < 1 ? 1 : (long)steps;
    sampler_measure(sampler, &(struct operation){.name = coll->row->compute,
                                                 .message = {.bytes = coll->bytes},
                                                 .run = run_compute,
                                                 .state = overlap});
    if (!failed(&bench->failure))
        sampler_measure(sampler, &(struct operation){
                                     .name = coll->row->both,
                                     .message = {.bytes = coll->bytes, .payload = coll->payload},
                                     .around = &(const struct around){.prepare = prepare},
                                     .run = run_both,
                                     .state = overlap});
}
