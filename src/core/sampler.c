// SPDX-License-Identifier: BSD-3-Clause
// The one place where times are taken: an operation x a start x a stop.
#include "sampler.h"

#include "barrier.h"
#include "errors.h"
#include "moments.h"
#include "ranks.h"
#include "stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Some libraries set a collective up anew during its first hundreds of calls. Those not measured
// come in batches that double; after --set-up no more are begun. Simulated, the first call alone
// is another than the rest.
#ifdef COTEJO_SIMULATED
enum { SETUP_BATCH_MOST = 2 };
#else
enum { SETUP_BATCH_MOST = 256 };
#endif
enum { GROWTH_MOST = 40, TRIES = STAGE_TRIES };
// Samples reach the temporary file at least so often, and when their operation is over: not after
// each stage, since writing disturbs what is measured next.
static const double FLUSH_S = 1;
// How long calls before the samples take, s: the default of --set-up, and of a plain sampler.
#define SET_UP_S "5e-3"

const struct option sampler_options[] = {
    {"sample-time", OPTION_REAL, "50e-6", "s", NULL, 0, 100,
     "loop: least duration of one sample; quick operations are timed several at once"},
    {"calls", OPTION_INTEGER, "0", "", NULL, 0, 1e9,
     "operations timed together in a sample; 0: one, and in a loop as many as --sample-time "
     "needs"},
    {"per-rank", OPTION_CHOICE, "no", "", "yes|no", 0, 0,
     "yes: what every rank alone would have told goes to the file, too, as operations NAME.rankR"},
    {"set-up", OPTION_REAL, SET_UP_S, "s", NULL, 0, 100,
     "time that calls take which come before the samples, up to some hundreds of them"},
    {"stage", OPTION_INTEGER, "8", "", NULL, 1, 10000, "samples between two looks at them"},
    {"warm-up", OPTION_INTEGER, "4", "", NULL, 1, 10000,
     "windows: repetitions that find the first window, not counted"},
    {"wrong", OPTION_REAL, "0.25", "", NULL, 0, 1,
     "share of a stage that may be invalid before windows or lead are stretched"},
    {"stretch", OPTION_REAL, "1.1", "", NULL, 1.01, 2, "factor by which they are stretched"},
    {"lead", OPTION_REAL, "5e-6", "s", NULL, 0, 1,
     "least time from announcing a start to the start, and least window"},
    {"late", OPTION_REAL, "100e-9", "s", NULL, 0, 1,
     "a rank that begins later than this after the start makes a repetition invalid"},
    {"sync-share", OPTION_REAL, "0.05", "", NULL, 0, 1,
     "share of the least window that the clocks' error at the end may reach"},
    {0},
};

const struct column sampler_columns[] = {SAMPLER_COLUMN_ROWS, {0}};

void sampler_read(struct sampler *sampler, struct bench *bench) {
    const struct options *options = &bench->options;
    *sampler = (struct sampler){.bench = bench};
    sampler->start = start_find(options_text(options, "start"));
    if (options_have(options, "budget")) // else the experiment says when it is enough
        sampler->stop = stop_read(options, &bench->failure);
    sampler->per_rank = options_is(options, "per-rank", "yes");
    sampler->stage = options_integer(options, "stage");
    sampler->warm_up = options_integer(options, "warm-up");
    sampler->calls = options_integer(options, "calls");
    sampler->sample_s = options_real(options, "sample-time");
    sampler->setup_s = options_real(options, "set-up");
    sampler->wrong_share = options_real(options, "wrong");
    sampler->stretch = options_real(options, "stretch");
    sampler->lead_s = options_real(options, "lead");
    sampler->error_share = options_real(options, "sync-share");
    sampler->tightest_s = INFINITY;
    // A start is seen by reading the clock: one reading late is what it takes.
    sampler->late_s = fmax(options_real(options, "late"),
                           2 * (bench->clock.overhead_s + bench->clock.resolution_s));
    if (sampler->start->clocked && options_is(options, "sync", "none"))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--start %s needs one clock for all ranks; give --sync hierarchical, or "
                    "--start barrier",
                    sampler->start->name);
    if (!sampler->start->clocked && arrival_asked(options))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--arrival %s: offsets are from a common start, which --start %s has not; use "
                    "--start round-time or windows",
                    options_text(options, "arrival"), sampler->start->name);
}

struct sampler sampler_plain(struct bench *bench, struct stop stop) {
    return (struct sampler){.bench = bench,
                            .start = start_find("barrier"),
                            .stop = stop,
                            .stage = 1,
                            .calls = 1,
                            .setup_s = strtod(SET_UP_S, NULL),
                            .tightest_s = INFINITY};
}

void sampler_open(struct sampler *sampler, struct bench *bench, bool clocks) {
    sampler_read(sampler, bench);
    if (ranks_agree(bench->comm, &bench->failure, false) != STATUS_OK)
        return;
    // A loop has no start that clocks could tell of; where there is no --sync, they have no way
    // to each other.
    if (options_have(&bench->options, "sync") && (clocks || !sampler->start->loop))
        sync_open(&sampler->sync, bench->comm, &bench->clock, &bench->options, &bench->failure);
    if (!failed(&bench->failure) && options_have(&bench->options, "arrival"))
        arrival_open(&sampler->arrival, bench->comm, &bench->options, &bench->failure);
    if (!failed(&bench->failure) && sampler->sync.method)
        sampler->lead_s = fmax(sampler->lead_s, 2 * start_announcing(sampler));
}

// When too many of the last stage's samples are not valid, windows grow by what the stage took,
// and the lead with them, which is never lowered; on rank 0.
static void adapt(struct sampler *sampler, const struct operation *operation,
                  struct progress *progress, long count, long wrong) {
    if ((double)wrong <= sampler->wrong_share * (double)count)
        return;
    if (sampler->start->windows)
        progress->slot_s = fmax(progress->slot_s, stage_pace(sampler, operation, count));
    progress->slot_s *= sampler->stretch;
    progress->lead_s = start_longer_lead(sampler, progress->lead_s);
}

void sampler_stage(struct sampler *sampler, const struct operation *operation,
                   struct progress *progress, long count) {
    double begin_s = clock_now(&sampler->bench->clock), window = progress->slot_s;
    errors_during(operation->name, operation->message.bytes);
    stage_run(sampler, operation, progress, progress->repetitions, count);
    if (sampler->bench->rank != 0) {
        progress->repetitions += count;
        return;
    }
    long wrong = stage_judge(sampler, operation, progress, count);
    double end_s = clock_now(&sampler->bench->clock);
    progress->spent_s += end_s - begin_s;
    if (end_s - sampler->flushed_s > FLUSH_S) {
        samples_flush(&sampler->bench->samples);
        sampler->flushed_s = end_s;
    }
    if (!sampler->start->windows)
        window = progress->lead_s + progress->shortest_s;
    if (sampler->start->clocked) {
        sampler->tightest_s = fmin(sampler->tightest_s, window);
        adapt(sampler, operation, progress, count, wrong);
    }
}

long sampler_next(struct sampler *sampler, struct progress *progress) {
    const struct bench *bench = sampler->bench;
    long count = 0;
    if (bench->rank == 0 && !failed(&bench->failure))
        count = stop_next(&sampler->stop, progress, sampler->stage);
    double plan[] = {(double)count, progress->slot_s, progress->lead_s};
    announce(bench->comm, plan, 3);
    progress->slot_s = plan[1];
    progress->lead_s = plan[2];
    return (long)plan[0];
}

void sampler_set_up(struct sampler *sampler, const struct operation *operation) {
    const struct clock *clock = &sampler->bench->clock;
    double begin_s = clock_now(clock), more = 1;
    errors_during(operation->name, operation->message.bytes);
    if (operation->special.program)
        return;
    stage_enter(operation);
    for (long batch = 2; more != 0 && batch <= SETUP_BATCH_MOST; batch *= 2) {
        stage_prepare(operation, -1);
        operation->run(operation->state, batch);
        sampler->bench->payload_bytes += (double)batch * operation->message.payload;
        more = clock_now(clock) - begin_s < sampler->setup_s;
        announce(sampler->bench->comm, &more, 1);
    }
    stage_leave(operation);
}

static long rounded_up(double calls, long step) {
    return (long)ceil(calls / (double)step) * step;
}

// Calls of a loop that last sample_s, found by growing. The clocks of the ranks differ: rank 0
// decides.
static long enough_calls(struct sampler *sampler, const struct operation *operation) {
    long step = operation->special.step ? operation->special.step : 1;
    struct progress trial = {.calls = step};
    for (int i = 0; i < GROWTH_MOST; i++) {
        double next = (double)trial.calls;
        stage_run(sampler, operation, &trial, -1, TRIES);
        if (sampler->bench->rank == 0) {
            // The least of several: one disturbed try would let calls that are too few pass.
            double least = INFINITY;
            for (long t = 0; t < TRIES; t++) {
                struct times times = stage_times(sampler, operation, t, TRIES);
                least = fmin(least, sampler->start->judge(sampler, &trial, &times).time_s);
            }
            double factor = sampler->sample_s / fmax(least, 1e-9);
            if (factor > 1 && trial.calls < 1L << 30)
                next = (double)rounded_up(next * fmin(fmax(1.1 * factor, 1.2), 16), step);
        }
        announce(sampler->bench->comm, &next, 1);
        if ((long)next == trial.calls)
            break;
        trial.calls = (long)next;
    }
    return trial.calls;
}

// The first window, by samples that are not measured.
static void find_window(struct sampler *sampler, const struct operation *operation,
                        struct progress *progress) {
    stage_run(sampler, operation, progress, -1, sampler->warm_up);
    if (sampler->bench->rank == 0)
        progress->slot_s = fmax(
            sampler->stretch * stage_pace(sampler, operation, sampler->warm_up), progress->lead_s);
}

void sampler_begin(struct sampler *sampler, const struct operation *operation,
                   struct progress *progress) {
    *progress = (struct progress){
        .shortest_s = INFINITY, .least_s = {INFINITY, INFINITY}, .lead_s = sampler->lead_s};
    stage_room(sampler, operation);
    if (failed(&sampler->bench->failure))
        return;
    if (sampler->start->clocked) // no other start relies on the clocks
        sync_renew(&sampler->sync);
    sampler_set_up(sampler, operation);
    progress->calls = sampler->calls             ? sampler->calls
                      : operation->special.calls ? operation->special.calls
                      : sampler->start->loop     ? enough_calls(sampler, operation)
                                                 : 1;
    if (sampler->start->windows)
        find_window(sampler, operation, progress);
    ranks_agree(sampler->bench->comm, &sampler->bench->failure, false);
}

double sampler_once(struct sampler *sampler, const struct operation *operation, long calls) {
    stage_prepare(operation, 0);
    sampler->start->meet(sampler, NULL, 0);
    struct span span =
        clock_time(&sampler->bench->clock, -INFINITY, operation->run, operation->state, calls);
    sampler->bench->payload_bytes += (double)calls * operation->message.payload;
    return (span.end_s - span.begin_s) / (double)calls;
}

void sampler_check(struct sampler *sampler, const struct operation *operation, unsigned round) {
    struct failure *failure = &sampler->bench->failure;
    errors_during(operation->name, operation->message.bytes);
    // A rank that failed alone since the last agreement would not take part in the check.
    if (ranks_agree(sampler->bench->comm, failure, false) != STATUS_OK)
        return;
    if (operation->around && operation->around->check) {
        operation->around->check(operation, round, failure);
        ranks_agree(sampler->bench->comm, failure, false);
    }
}

void sampler_measure(struct sampler *sampler, const struct operation *operation) {
    struct bench *bench = sampler->bench;
    struct progress progress;
    sampler_check(sampler, operation, 0);
    if (failed(&bench->failure))
        return;
    sampler_begin(sampler, operation, &progress);
    if (failed(&bench->failure))
        return;
    // What fails on rank 0 alone meanwhile, the others hear of by the plan.
    for (long count; (count = sampler_next(sampler, &progress)) > 0;)
        sampler_stage(sampler, operation, &progress, count);
    sampler_check(sampler, operation, 1);
    bench_print(bench);
}

static void judge_clocks(struct sampler *sampler) {
    struct bench *bench = sampler->bench;
    announce(bench->comm, &sampler->tightest_s, 1);
    double bound_s =
        isfinite(sampler->tightest_s) ? sampler->error_share * sampler->tightest_s : INFINITY;
    sync_check(&sampler->sync);
    if (sampler->sync.most_s > bound_s)
        failure_set(&bench->failure, STATUS_FAILED,
                    "synchronisation '%s' failed its check: clocks drifted %.3g us apart, more "
                    "than %g of the least window of %.3g us; nothing is reported; choose another "
                    "--sync, a shorter run or --sync-again, or a quieter machine",
                    sampler->sync.method->name, sampler->sync.most_s * 1e6, sampler->error_share,
                    sampler->tightest_s * 1e6);
}

void sampler_close(struct sampler *sampler) {
    struct bench *bench = sampler->bench;
    ranks_agree(bench->comm, &bench->failure, false);
    if (!failed(&bench->failure) && sampler->sync.clock)
        judge_clocks(sampler);
    json_free(&bench->sync); // of a sampler before, on fewer ranks
    if (!failed(&bench->failure) && sampler->sync.clock)
        sync_describe(&sampler->sync, sampler->tightest_s, sampler->error_share, &bench->sync,
                      &bench->failure);
    json_free(&bench->arrival);
    if (!failed(&bench->failure) && sampler->arrival.offsets)
        arrival_describe(&sampler->arrival, &bench->arrival);
    arrival_close(&sampler->arrival);
    errors_during(NULL, 0);
    if (bench->rank == 0 && !failed(&bench->failure) && sampler->start && sampler->start->windows)
        printf(
            "# windows: what did not end within its own is left out, so mean and p95 are of the "
            "rest\n");
    if (bench->samples.streamed > 0)
        printf("# %zu rows of single ranks are %s\n", bench->samples.streamed,
               bench->samples.file ? "in the file of --output" : "not kept: give --output");
    free(sampler->target);
    free(sampler->own);
    free(sampler->all);
    *sampler = (struct sampler){0};
}
