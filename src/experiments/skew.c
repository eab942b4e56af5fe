// SPDX-License-Identifier: BSD-3-Clause
// Start skew: how far apart ranks begin, for each way to start.
#include "skew.h"

#include "ranks.h"
#include "start.h"

#include <math.h>

enum { SETUP_STARTS = 10 };

const struct option skew_options[] = {
    {"starts", OPTION_INTEGER, "1000", "", NULL, 1, 1e6,
     "starts of each way whose skew is taken, at least; a stage is finished"},
    {0},
};

// One start: valid or not, for the schedule to adapt.
static bool add(struct bench *bench, const struct schedule *schedule, const char *operation,
                long repetition, const struct times *times) {
    struct verdict verdict = schedule->start->judge(schedule, times);
    double first = INFINITY, last = -INFINITY;
    for (int r = 0; r < times->ranks; r++) {
        first = fmin(first, times->begin[r * times->stride]);
        last = fmax(last, times->begin[r * times->stride]);
    }
    samples_add(&bench->samples,
                (struct sample){.operation = operation,
                                .repetition = repetition,
                                .calls = 1,
                                .time_s = last - first,
                                .valid = verdict.valid,
                                .extra = {verdict.late_s}},
                &bench->failure);
    return verdict.valid;
}

static void nothing(void *state) {
    (void)state;
}

// A stage of starts from number `from` on; returns how many were not valid, on rank 0. The room
// is that of the schedule's own stages.
static long stage(struct bench *bench, struct schedule *schedule, const char *operation,
                  long from) {
    long count = schedule->stage, wrong = 0;
    double *begin = schedule->own, *all = schedule->all;
    for (long i = 0; i < count; i++) {
        struct span span = start_act(bench, schedule, i, &schedule->target[i], nothing, NULL);
        begin[i] = model_shared(&schedule->sync.model, span.begin_s);
    }
    MPI_Gather(begin, (int)count, MPI_DOUBLE, all, (int)count, MPI_DOUBLE, 0, bench->comm);
    for (long i = 0; bench->rank == 0 && i < count; i++)
        wrong +=
            !add(bench, schedule, operation, from + i,
                 &(struct times){schedule->target[i], all + i, all + i, bench->size, (int)count});
    return wrong;
}

void skew_measure(struct bench *bench, struct schedule *schedule, const char *start,
                  const char *operation) {
    long starts = options_integer(&bench->options, "starts"), done = 0;
    const struct start *asked = schedule->start;
    double ignored;
    schedule->start = start_find(start);
    schedule->lead_s = schedule->least_lead_s;
    for (int i = 0; i < SETUP_STARTS; i++)
        start_act(bench, schedule, i, &ignored, nothing, NULL);
    while (schedule_go_on(bench, schedule, done < starts && !failed(&bench->failure))) {
        double lead_s = schedule->lead_s;
        long wrong = stage(bench, schedule, operation, done);
        done += schedule->stage;
        if (bench->rank != 0)
            continue;
        if (schedule->start->clocked) {
            schedule->tightest_s = fmin(schedule->tightest_s, lead_s);
            schedule_adapt(bench, schedule, wrong);
        }
    }
    schedule->start = asked;
    bench_print(bench);
    ranks_agree(bench->comm, &bench->failure, false);
}

static void run(struct bench *bench) {
    struct schedule schedule;
    schedule_open(bench, &schedule);
    if (!failed(&bench->failure) && !schedule.sync.method)
        failure_set(&bench->failure, STATUS_USAGE,
                    "skew is measured by one clock for all ranks; give --sync hierarchical");
    const char *const ways[][2] = {{"mpi-barrier", "skew-mpi-barrier"},
                                   {"barrier", "skew-barrier"},
                                   {"round-time", "skew-deadline"}};
    for (int i = 0; i < 3 && !failed(&bench->failure); i++)
        skew_measure(bench, &schedule, ways[i][0], ways[i][1]);
    schedule_close(bench, &schedule);
    bench->payload_checked = true; // there is none
}

const struct experiment start_skew = {
    .name = "start-skew",
    .summary = "how far apart ranks begin after a barrier and at a moment of a shared clock",
    .what = "From the first rank's begin to the last one's, on the shared clock, after "
            "MPI_Barrier,\nafter our own dissemination barrier, and at an announced moment of the "
            "shared clock.\nNone of them is right to within the clocks' own error: see the "
            "description's observed.sync.",
    .options = {skew_options, schedule_options, sync_options},
    .columns = schedule_columns,
    .run = run,
};
