// SPDX-License-Identifier: BSD-3-Clause
// Operations whose ranks must start together: when they start, and what then counts as their
// time.
#include "schedule.h"

#include "moments.h"
#include "ranks.h"
#include "start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Some libraries set a collective up anew during its first hundreds of calls. Those not measured
// come in batches that double; after setup_s no more are begun.
enum { SETUP_BATCH_MOST = 512 };
static const double setup_s = 5e-3, LEAD_MOST_S = 0.01;

const struct option schedule_options[] = {
    {"start", OPTION_CHOICE, "round-time", "", "windows|round-time|barrier|mpi-barrier|none", 0, 0,
     "how ranks start: in windows of the shared clock, at a moment of it that is announced each "
     "time, after a barrier (ours, the library's), or in a loop without any"},
    {"per-rank", OPTION_CHOICE, "no", "", "yes|no", 0, 0,
     "yes: every rank's times too, as operations NAME.rankR"},
    {"stage", OPTION_INTEGER, "8", "", NULL, 1, 10000, "repetitions between two looks at them"},
    {"warm-up", OPTION_INTEGER, "4", "", NULL, 1, 10000,
     "windows: repetitions that find the first window, not counted"},
    {"wrong", OPTION_REAL, "0.25", "", NULL, 0, 1,
     "share of a stage that may be invalid before windows or lead are stretched"},
    {"stretch", OPTION_REAL, "1.1", "", NULL, 1.01, 2, "factor by which they are stretched"},
    {"stop", OPTION_CHOICE, "count", "", "count|precision", 0, 0,
     "count: by --max-repetitions or --valid; precision: by --rse"},
    {"max-repetitions", OPTION_INTEGER, "100", "", NULL, 1, 1e7,
     "count: repetitions of one operation and size, at most but for the stage's end"},
    {"valid", OPTION_INTEGER, "30", "", NULL, 1, 1e7, "count: valid repetitions that are enough"},
    {"rse", OPTION_REAL, "0.05", "", NULL, 0, 1,
     "precision: standard error of the mean, as a share of the mean, that is enough"},
    {"rse-valid", OPTION_INTEGER, "10", "", NULL, 2, 1e7,
     "precision: least number of valid repetitions"},
    {"budget", OPTION_REAL, "0.1", "s", NULL, 0, 86400,
     "time for one operation and size, after which no stage is begun"},
    {"lead", OPTION_REAL, "5e-6", "s", NULL, 0, 1,
     "least time from announcing a start to the start, and least window"},
    {"late", OPTION_REAL, "100e-9", "s", NULL, 0, 1,
     "a rank that begins later than this after the start makes a repetition invalid"},
    {"sync-share", OPTION_REAL, "0.05", "", NULL, 0, 1,
     "share of the least window that the clocks' error at the end may reach"},
    {0},
};

const struct column schedule_columns[] = {
    {"late_s", "s",
     "how long after the common start the last rank began; after a barrier: after the first "
     "rank; 0 when clocks are not synchronised"},
    {0},
};

static void read_rules(struct bench *bench, struct schedule *schedule) {
    const struct options *options = &bench->options;
    *schedule = (struct schedule){
        .start = start_find(options_text(options, "start")),
        .per_rank = options_is(options, "per-rank", "yes"),
        .stage = options_integer(options, "stage"),
        .warm_up = options_integer(options, "warm-up"),
        .most = options_integer(options, "max-repetitions"),
        .enough = options_integer(options, "valid"),
        .precise = options_integer(options, "rse-valid"),
        .by_precision = options_is(options, "stop", "precision"),
        .wrong_share = options_real(options, "wrong"),
        .stretch = options_real(options, "stretch"),
        .rse = options_real(options, "rse"),
        .budget_s = options_real(options, "budget"),
        .least_lead_s = options_real(options, "lead"),
        .error_share = options_real(options, "sync-share"),
        .tightest_s = INFINITY,
    };
    // A start is seen by reading the clock: one reading late is what it takes.
    schedule->late_s = fmax(options_real(options, "late"),
                            2 * (bench->clock.overhead_s + bench->clock.resolution_s));
    if (schedule->start->clocked && options_is(options, "sync", "none"))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--start %s needs one clock for all ranks; give --sync hierarchical, or "
                    "--start barrier",
                    schedule->start->name);
}

static void find_room(struct bench *bench, struct schedule *schedule) {
    size_t stage =
        (size_t)(schedule->stage > schedule->warm_up ? schedule->stage : schedule->warm_up);
    schedule->own = malloc(2 * stage * sizeof *schedule->own);
    schedule->target = malloc(stage * sizeof *schedule->target);
    if (bench->rank == 0)
        schedule->all = malloc(2 * stage * (size_t)bench->size * sizeof *schedule->all);
    if (!schedule->own || !schedule->target || (bench->rank == 0 && !schedule->all))
        failure_set(&bench->failure, STATUS_USAGE,
                    "no memory for the times of %zu repetitions of %d ranks; lower --stage", stage,
                    bench->size);
}

void schedule_open(struct bench *bench, struct schedule *schedule) {
    read_rules(bench, schedule);
    find_room(bench, schedule);
    if (ranks_agree(bench->comm, &bench->failure, false) != STATUS_OK)
        return;
    sync_open(&schedule->sync, bench->comm, &bench->clock, &bench->options, &bench->failure);
    if (!failed(&bench->failure) && schedule->start->clocked)
        schedule->least_lead_s =
            fmax(schedule->least_lead_s, 2 * start_announcing(bench, schedule));
    schedule->lead_s = schedule->least_lead_s;
}

// Runs `count` repetitions from number `from` on; their times arrive on rank 0. In a loop only
// the first begin and the last end are read: nothing comes between the calls.
static void run_stage(struct bench *bench, struct schedule *schedule, const struct act *act,
                      long from, long count) {
    double *begin = schedule->own, *end = begin + count;
    bool loop = schedule->start->loop;
    for (long i = 0; i < 2 * count; i++)
        schedule->own[i] = 0; // of a loop most stay so
    for (long i = 0; i < count; i++) {
        if (act->prepare && (!loop || i == 0))
            act->prepare(act->state, from < 0 ? -1 : from + i);
        if (loop) {
            begin[0] = i == 0 ? clock_now(&bench->clock) : begin[0];
            act->call(act->state);
            continue;
        }
        struct span span =
            start_act(bench, schedule, i, &schedule->target[i], act->call, act->state);
        begin[i] = span.begin_s;
        end[i] = span.end_s;
    }
    if (loop)
        end[count - 1] = clock_now(&bench->clock);
    for (long i = 0; i < 2 * count; i++)
        schedule->own[i] = model_shared(&schedule->sync.model, schedule->own[i]);
    MPI_Gather(schedule->own, (int)(2 * count), MPI_DOUBLE, schedule->all, (int)(2 * count),
               MPI_DOUBLE, 0, bench->comm);
}

// The moments of repetitions `i` to `last` as one, on rank 0.
static struct times times_of(const struct bench *bench, const struct schedule *schedule, long i,
                             long last, long count) {
    return (struct times){schedule->target[i], schedule->all + i, schedule->all + count + last,
                          bench->size, (int)(2 * count)};
}

// Time from one repetition's end to the next one's in a stage, on rank 0. The median, where
// MPIPerf has the mean: one interruption would make windows of milliseconds, for good.
static double pace(const struct bench *bench, const struct schedule *schedule, long count) {
    double *steps = schedule->own, before = schedule->first_s; // gathered already: room to use
    for (long i = 0; i < count; i++) {
        double end = -INFINITY;
        for (int r = 0; r < bench->size; r++)
            end = fmax(end, schedule->all[2 * count * r + count + i]);
        steps[i] = end - before;
        before = end;
    }
    return values_at(steps, (size_t)count, 0.5);
}

// How far the measuring of one operation and size has come; on rank 0.
struct progress {
    double begun_s;
    long repetitions, wrong; // of the stage: not valid
    struct moments valid;
    double shortest_s;
};

static void add(struct bench *bench, const struct act *act, const char *operation,
                const struct progress *progress, struct verdict verdict, long calls) {
    samples_add(&bench->samples,
                (struct sample){.operation = operation,
                                .bytes = act->bytes,
                                .repetition = progress->repetitions,
                                .calls = calls,
                                .time_s = verdict.time_s / (double)calls,
                                .valid = verdict.valid,
                                .extra = {verdict.late_s}},
                &bench->failure);
}

// What each rank alone would have told of the repetition.
static void add_ranks(struct bench *bench, const struct schedule *schedule, const struct act *act,
                      const struct progress *progress, struct times times, bool valid,
                      long calls) {
    for (int r = 0; r < bench->size && !failed(&bench->failure); r++) {
        char name[80];
        snprintf(name, sizeof name, "%s.rank%d", act->operation, r);
        const char *kept = samples_name(&bench->samples, name, &bench->failure);
        struct times alone = {times.target, times.begin + r * times.stride,
                              times.end + r * times.stride, 1, times.stride};
        struct verdict verdict = schedule->start->judge(schedule, &alone);
        verdict.valid = valid;
        if (kept)
            add(bench, act, kept, progress, verdict, calls);
    }
}

// Makes samples of a stage, on rank 0.
static void judge_stage(struct bench *bench, const struct schedule *schedule,
                        const struct act *act, struct progress *progress, long count) {
    long calls = schedule->start->loop ? count : 1;
    progress->wrong = 0;
    for (long i = 0; i < count; i += calls) {
        struct times times = times_of(bench, schedule, i, i + calls - 1, count);
        struct verdict verdict = schedule->start->judge(schedule, &times);
        add(bench, act, act->operation, progress, verdict, calls);
        if (schedule->per_rank)
            add_ranks(bench, schedule, act, progress, times, verdict.valid, calls);
        progress->repetitions++;
        if (!verdict.valid) {
            progress->wrong++;
        } else {
            moments_add(&progress->valid, verdict.time_s / (double)calls);
            progress->shortest_s = fmin(progress->shortest_s, verdict.time_s);
        }
    }
}

static bool enough(const struct bench *bench, const struct schedule *schedule,
                   const struct progress *progress) {
    if (failed(&bench->failure))
        return true;
    if (progress->repetitions == 0) // one stage in any case, however long the set-up took
        return false;
    if (clock_now(&bench->clock) - progress->begun_s > schedule->budget_s)
        return true;
    if (schedule->by_precision)
        return progress->valid.n >= schedule->precise &&
               moments_precise(&progress->valid, schedule->rse);
    return progress->repetitions >= schedule->most || progress->valid.n >= schedule->enough;
}

void schedule_adapt(const struct bench *bench, struct schedule *schedule, long wrong) {
    if ((double)wrong <= schedule->wrong_share * (double)schedule->stage)
        return;
    if (schedule->start->windows)
        schedule->slot_s = fmax(schedule->slot_s, pace(bench, schedule, schedule->stage));
    schedule->slot_s *= schedule->stretch;
    schedule->lead_s = fmin(schedule->lead_s * schedule->stretch, LEAD_MOST_S);
}

bool schedule_go_on(struct bench *bench, struct schedule *schedule, bool more) {
    double plan[] = {more, schedule->slot_s, schedule->lead_s};
    MPI_Bcast(plan, 3, MPI_DOUBLE, 0, bench->comm);
    schedule->slot_s = plan[1];
    schedule->lead_s = plan[2];
    return plan[0] != 0;
}

static void set_up(struct bench *bench, struct schedule *schedule, const struct act *act) {
    double begin_s = clock_now(&bench->clock);
    int more = 1;
    for (int batch = 2; more && batch <= SETUP_BATCH_MOST; batch *= 2) {
        for (int i = 0; i < batch; i++) {
            if (act->prepare)
                act->prepare(act->state, -1);
            act->call(act->state);
        }
        more = clock_now(&bench->clock) - begin_s < setup_s;
        MPI_Bcast(&more, 1, MPI_INT, 0, bench->comm);
    }
    schedule->slot_s = 0;
    schedule->lead_s = schedule->least_lead_s;
    if (schedule->start->windows) {
        run_stage(bench, schedule, act, -1, schedule->warm_up);
        if (bench->rank == 0)
            schedule->slot_s = fmax(schedule->stretch * pace(bench, schedule, schedule->warm_up),
                                    schedule->lead_s);
    }
}

void schedule_work(struct bench *bench, struct schedule *schedule, const struct act *act) {
    struct progress progress = {.shortest_s = INFINITY};
    long from = 0;
    if (schedule->start->clocked) // no other start relies on the clocks
        sync_renew(&schedule->sync);
    set_up(bench, schedule, act);
    progress.begun_s = clock_now(&bench->clock);
    while (schedule_go_on(bench, schedule, !enough(bench, schedule, &progress))) {
        double window = schedule->slot_s;
        run_stage(bench, schedule, act, from, schedule->stage);
        from += schedule->stage;
        if (bench->rank != 0)
            continue;
        judge_stage(bench, schedule, act, &progress, schedule->stage);
        if (!schedule->start->windows)
            window = schedule->lead_s + progress.shortest_s;
        if (schedule->start->clocked)
            schedule->tightest_s = fmin(schedule->tightest_s, window);
        schedule_adapt(bench, schedule, progress.wrong);
    }
    ranks_agree(bench->comm, &bench->failure, false);
}

static void judge_clocks(struct bench *bench, struct schedule *schedule) {
    MPI_Bcast(&schedule->tightest_s, 1, MPI_DOUBLE, 0, bench->comm);
    double bound_s =
        isfinite(schedule->tightest_s) ? schedule->error_share * schedule->tightest_s : INFINITY;
    sync_check(&schedule->sync);
    if (schedule->sync.most_s > bound_s)
        failure_set(&bench->failure, STATUS_FAILED,
                    "synchronisation '%s' failed its check: clocks drifted %.3g us apart, more "
                    "than %g of the least window of %.3g us; nothing is reported; choose another "
                    "--sync, a shorter run or --sync-again, or a quieter machine",
                    schedule->sync.method->name, schedule->sync.most_s * 1e6,
                    schedule->error_share, schedule->tightest_s * 1e6);
}

void schedule_close(struct bench *bench, struct schedule *schedule) {
    ranks_agree(bench->comm, &bench->failure, false);
    if (!failed(&bench->failure))
        judge_clocks(bench, schedule);
    if (!failed(&bench->failure))
        sync_describe(&schedule->sync, schedule->tightest_s, schedule->error_share, &bench->sync,
                      &bench->failure);
    free(schedule->own);
    free(schedule->target);
    free(schedule->all);
    *schedule = (struct schedule){0};
}
