// SPDX-License-Identifier: BSD-3-Clause
// Checks of the measuring itself: operations whose true time is known.
#include "schedule.h"

static const struct option wait_options[] = {
    {"wait", OPTION_REAL, "1e-6", "s", NULL, 1e-7, 1, "up: rank i is busy for (i + 1) times this"},
    {0},
};

struct wait {
    const struct clock *clock;
    double until_s; // after the first reading
};

// From its call to its return this takes a reading and a half longer than from the first reading
// to the moment sought: a reading at either end, half of each outside, and on average half a
// reading more until the moment is seen. The wait is shortened by that, so that what is measured
// is what was asked for.
static void be_busy(void *state) {
    const struct wait *wait = state;
    double until = clock_now(wait->clock) + wait->until_s;
    while (clock_now(wait->clock) < until)
        ;
}

static void nothing(void *state) {
    (void)state;
}

static void run(struct bench *bench, const char *operation, void (*call)(void *)) {
    struct schedule schedule;
    schedule_open(bench, &schedule);
    if (!failed(&bench->failure)) {
        struct wait wait = {&bench->clock,
                            (bench->rank + 1) * options_real(&bench->options, "wait") -
                                1.5 * bench->clock.overhead_s};
        schedule_work(bench, &schedule,
                      &(struct act){.operation = operation, .call = call, .state = &wait});
        bench_print(bench);
    }
    schedule_close(bench, &schedule);
}

static void run_up(struct bench *bench) {
    run(bench, "waitpattern-up", be_busy);
}

static void run_null(struct bench *bench) {
    run(bench, "waitpattern-null", nothing);
}

const struct experiment waitpattern_up = {
    .name = "waitpattern-up",
    .summary = "check: rank i is busy for (i + 1) waits, so n ranks take n waits",
    .what = "Time of an operation that is known: the last of n ranks is busy for n times --wait."
            "\nMethod: WaitPatternUp of MPIPerf (Kurnosov 2012); a start, a schedule or a timer "
            "that\ngives another time is wrong here.",
    .options = {wait_options, schedule_options, sync_options},
    .columns = schedule_columns,
    .run = run_up,
};

const struct experiment waitpattern_null = {
    .name = "waitpattern-null",
    .summary = "check: nothing is done, so the time is the measuring's own",
    .what = "Time of no operation: what starting and reading the timer add to every sample.\n"
            "Method: WaitPatternNull of MPIPerf (Kurnosov 2012).",
    .options = {wait_options, schedule_options, sync_options},
    .columns = schedule_columns,
    .run = run_null,
};
