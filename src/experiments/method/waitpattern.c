// SPDX-License-Identifier: BSD-3-Clause
// Checks of the measuring itself: operations whose true time is known.
#include "experiment.h"
#include "moments.h"
#include "overhead.h"

static const struct option wait_options[] = {
    {"wait", OPTION_REAL, "1e-6", "s", NULL, 1e-7, 1, "up: rank i is busy for (i + 1) times this"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

struct wait {
    const struct clock *clock;
    double until_s; // after the first reading
};

static void be_busy(void *state, long calls) {
    const struct wait *wait = state;
    for (; calls > 0; calls--)
        clock_wait(wait->clock, clock_now(wait->clock) + wait->until_s);
}

// A call takes longer than the time between its first reading and the moment sought, because a
// reading takes time. The excess is measured with a row of short calls, which are seldom
// interrupted, and subtracted; the true time of a call is thus known. The results compared with it
// are medians, so the excess is a median too: the minimum would be that of an undisturbed
// machine.
static struct wait calibrate(const struct clock *clock, double wanted_s) {
    enum { BATCHES = 100, CALLS = 20 };
    static const double short_s = 1e-6;
    struct wait wait = {clock, short_s};
    double means[BATCHES];
    for (int b = 0; b < BATCHES; b++) {
        double begin = clock_now(clock);
        be_busy(&wait, CALLS);
        means[b] = (clock_now(clock) - begin) / CALLS;
    }
    wait.until_s = wanted_s - (values_at(means, BATCHES, 0.5) - short_s);
    return wait;
}

static void run(struct bench *bench, const char *operation, void (*busy)(void *, long)) {
    struct sampler sampler;
    sampler_open(&sampler, bench, false);
    if (!failed(&bench->failure)) {
        double unit = options_real(&bench->options, "wait");
        struct wait wait = calibrate(&bench->clock, (bench->rank + 1) * unit);
        sampler_measure(&sampler,
                        &(struct operation){.name = operation, .run = busy, .state = &wait});
    }
    sampler_close(&sampler);
}

static void run_up(struct bench *bench) {
    run(bench, "waitpattern-up", be_busy);
}

static void run_null(struct bench *bench) {
    run(bench, "waitpattern-null", overhead_nothing);
}

const struct experiment waitpattern_up = {
    .name = "waitpattern-up",
    .summary = "check: rank i is busy for (i + 1) waits, so n ranks take n waits",
    .what = "Time of an operation that is known: the last of n ranks is busy for n times --wait."
            "\nMethod: WaitPatternUp of MPIPerf (Kurnosov 2012); a start, a schedule or a timer "
            "that\ngives another time is wrong here.",
    .options = {wait_options, sampler_options, arrival_options, stop_options, sync_options},
    .columns = sampler_columns,
    .run = run_up,
};

const struct experiment waitpattern_null = {
    .name = "waitpattern-null",
    .summary = "check: nothing is done, so the time is the measuring's own",
    .what = "Time of no operation: what starting and reading the timer add to every sample.\n"
            "Method: WaitPatternNull of MPIPerf (Kurnosov 2012).",
    .options = {wait_options, sampler_options, arrival_options, stop_options, sync_options},
    .columns = sampler_columns,
    .run = run_null,
};
