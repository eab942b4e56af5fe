// SPDX-License-Identifier: BSD-3-Clause
// Operations whose ranks must start together: when they start, and what then counts as their
// time.
#include "schedule.h"

#include "barrier.h"
#include "ranks.h"

enum { SETUP_CALLS = 2 };

const struct option schedule_options[] = {
    {"start", OPTION_CHOICE, "barrier", "", "barrier", 0, 0,
     "how the ranks start together; barrier: our own, then each rank's own time"},
    {"per-rank", OPTION_CHOICE, "no", "", "yes|no", 0, 0, "yes: every rank's times too"},
    {"stage", OPTION_INTEGER, "8", "", NULL, 1, 10000, "repetitions between two looks at them"},
    {"max-repetitions", OPTION_INTEGER, "100", "", NULL, 1, 1e7,
     "repetitions of one operation and size, at most"},
    {"budget", OPTION_REAL, "0.1", "s", NULL, 0, 86400,
     "time for one operation and size, after which no stage is begun"},
    {0},
};

const struct column schedule_columns[] = {
    {"late_s", "s", "how long after the common start the last rank began"},
    {0},
};

void schedule_open(struct bench *bench, struct schedule *schedule) {
    *schedule = (struct schedule){
        .start = START_BARRIER,
        .per_rank = options_is(&bench->options, "per-rank", "yes"),
        .stage = options_integer(&bench->options, "stage"),
        .most = options_integer(&bench->options, "max-repetitions"),
        .budget_s = options_real(&bench->options, "budget"),
    };
}

static void ready(const struct act *act, long repetition) {
    if (act->prepare)
        act->prepare(act->state, repetition);
}

void schedule_work(struct bench *bench, struct schedule *schedule, const struct act *act) {
    double begun = clock_now(&bench->clock);
    for (int i = 0; i < SETUP_CALLS; i++) {
        ready(act, -1);
        act->call(act->state);
    }
    int more = 1;
    for (long repetition = 0; more; repetition++) {
        double longest;
        ready(act, repetition);
        barrier_enter(bench->comm);
        double begin = clock_now(&bench->clock);
        act->call(act->state);
        double mine = clock_now(&bench->clock) - begin;
        MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, bench->comm);
        if (bench->rank == 0) {
            samples_add(&bench->samples,
                        (struct sample){.operation = act->operation,
                                        .bytes = act->bytes,
                                        .repetition = repetition,
                                        .calls = 1,
                                        .time_s = longest,
                                        .valid = true},
                        &bench->failure);
            more = repetition + 1 < schedule->most &&
                   clock_now(&bench->clock) - begun < schedule->budget_s &&
                   !failed(&bench->failure);
        }
        MPI_Bcast(&more, 1, MPI_INT, 0, bench->comm);
    }
    ranks_agree(bench->comm, &bench->failure, false);
}

void schedule_close(struct bench *bench, struct schedule *schedule) {
    *schedule = (struct schedule){0};
    ranks_agree(bench->comm, &bench->failure, false);
}
