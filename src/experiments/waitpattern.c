// SPDX-License-Identifier: BSD-3-Clause
// Checks of the measuring itself: operations whose true time is known.
#include "moments.h"
#include "schedule.h"

static const struct option wait_options[] = {
    {"wait", OPTION_REAL, "1e-6", "s", NULL, 1e-7, 1, "up: rank i is busy for (i + 1) times this"},
    {0},
};

struct wait {
    const struct clock *clock;
    double until_s; // after the first reading
};

static void be_busy(void *state) {
    const struct wait *wait = state;
    clock_wait(wait->clock, clock_now(wait->clock) + wait->until_s);
}

// A call takes longer than from its first reading to the moment sought, for reading takes time.
// What it takes more is found by timing short ones in a row, which are seldom interrupted, and
// taken off, so that the time that is held against the measured one is known. Measured are
// medians, so it is the median here: the least would be that of a machine that nothing slows.
static struct wait calibrate(const struct clock *clock, double wanted_s) {
    enum { BATCHES = 100, CALLS = 20 };
    static const double short_s = 1e-6;
    struct wait wait = {clock, short_s};
    double means[BATCHES];
    for (int b = 0; b < BATCHES; b++) {
        double begin = clock_now(clock);
        for (int i = 0; i < CALLS; i++)
            be_busy(&wait);
        means[b] = (clock_now(clock) - begin) / CALLS;
    }
    wait.until_s = wanted_s - (values_at(means, BATCHES, 0.5) - short_s);
    return wait;
}

static void nothing(void *state) {
    (void)state;
}

static void run(struct bench *bench, const char *operation, void (*call)(void *)) {
    struct schedule schedule;
    schedule_open(bench, &schedule);
    if (!failed(&bench->failure)) {
        double unit = options_real(&bench->options, "wait");
        struct wait wait = calibrate(&bench->clock, (bench->rank + 1) * unit);
        schedule_work(bench, &schedule,
                      &(struct act){.operation = operation, .call = call, .state = &wait});
        bench_print(bench);
    }
    schedule_close(bench, &schedule);
    bench->payload_checked = true; // there is none
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
