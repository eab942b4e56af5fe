// SPDX-License-Identifier: BSD-3-Clause
// Start skew: how far apart ranks begin, for each way to start.
#include "overhead.h"
#include "systematic.h"

const struct option skew_options[] = {
    {"starts", OPTION_INTEGER, "1000", "", NULL, 1, 1e6,
     "starts of each way whose skew is taken, but for those that began too late"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    (void)operation;
    sample->time_s = timing->apart_s;
}

static void measure(struct sampler *sampler, const char *start, const char *operation) {
    long starts = options_integer(&sampler->bench->options, "starts");
    const struct start *asked = sampler->start;
    const struct stop stop = sampler->stop;
    sampler->start = start_find(start);
    sampler->stop = (struct stop){.min = starts, .max = starts};
    sampler_measure(sampler,
                    &(struct operation){.name = operation,
                                        .special = {.own = true},
                                        .run = overhead_nothing,
                                        .around = &(const struct around){.describe = describe}});
    sampler->start = asked;
    sampler->stop = stop;
}

void skew_measure(struct sampler *sampler) {
    static const char *const ways[][2] = {{"mpi-barrier", "skew-mpi-barrier"},
                                          {"barrier", "skew-barrier"},
                                          {"round-time", "skew-deadline"}};
    for (int i = 0; i < 3 && !failed(&sampler->bench->failure); i++)
        measure(sampler, ways[i][0], ways[i][1]);
}

static void run(struct bench *bench) {
    struct sampler sampler;
    sampler_open(&sampler, bench, true);
    if (!failed(&bench->failure) && !sampler.sync.method)
        failure_set(&bench->failure, STATUS_USAGE,
                    "skew is measured by one clock for all ranks; give --sync hierarchical");
    if (!failed(&bench->failure))
        skew_measure(&sampler);
    sampler_close(&sampler);
}

const struct experiment start_skew = {
    .name = "start-skew",
    .summary = "how far apart ranks begin after a barrier and at a moment of a shared clock",
    .what = "Time on the shared clock from the start of the first rank to the start of the last "
            "rank:\nafter MPI_Barrier, after cotejo's dissemination barrier, and at an announced "
            "moment of the clock.\nAll three include the error of the clocks; see observed.sync "
            "in the description.",
    .options = {skew_options, sampler_options, stop_options, sync_options},
    .columns = sampler_columns,
    .run = run,
};
