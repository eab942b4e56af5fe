// SPDX-License-Identifier: BSD-3-Clause
// Takes every time in cotejo: an operation x a start method x a stop rule.
#define _GNU_SOURCE // RUSAGE_THREAD
#include "sampler.h"

#include "errors.h"
#include "ranks.h"

#include <sys/resource.h>

// Some libraries set up a collective anew during its first hundreds of calls. Warm-up calls come
// in batches that double; after --set-up no batch is begun. In a simulation only the first call
// differs from the others.
#ifdef COTEJO_SIMULATED
enum { SETUP_BATCH_MOST = 2 };
#else
enum { SETUP_BATCH_MOST = 256 };
#endif
enum {
    GROWTH_MOST = 40, // trials to find the number of calls of a sample
    TRIES = 3,        // samples of each trial
    CLOCK_CHECKS =
        3,       // a check that finds clocks too far apart is repeated, as it may be disturbed
    LEAD_IN = 4, // minimum number of calls before a row, until it has reached a steady state
    MOMENTS = 3  // of each sample: begin, end, context switches; notes follow
};
// Default of --set-up, and of a plain sampler, s.
#define SET_UP_S "5e-3"

const struct option sampler_options[] = {
    {"sample-time", OPTION_REAL, "50e-6", "s", NULL, 0, 100,
     "loop: minimum duration of one sample; quick operations are timed several at once"},
    {"calls", OPTION_INTEGER, "0", "", NULL, 0, 1e9,
     "operations timed together in a sample; 0: one, and in a loop as many as --sample-time "
     "needs"},
    {"per-rank", OPTION_CHOICE, "no", "", "yes|no", 0, 0,
     "yes: also writes one series per rank, as operation NAME.rankR"},
    {"set-up", OPTION_REAL, SET_UP_S, "s", NULL, 0, 100,
     "warm-up time before the samples (at most 510 calls)"},
    {"stage", OPTION_INTEGER, "8", "", NULL, 1, 10000,
     "samples that are taken before rank 0 judges them"},
    {"warm-up", OPTION_INTEGER, "4", "", NULL, 1, 10000,
     "windows: repetitions that find the first window, not counted"},
    {"wrong", OPTION_REAL, "0.25", "", NULL, 0, 1,
     "windows: share of a stage that may be invalid before windows are made longer"},
    {"stretch", OPTION_REAL, "1.1", "", NULL, 1.01, 2, "factor by which they are made longer"},
    {"lead", OPTION_REAL, "5e-6", "s", NULL, 0, 1,
     "minimum time from the announcement of a start to the start, and minimum window; the time "
     "that is used is fixed at the begin of a launch: at least twice that of an announcement"},
    {"late", OPTION_REAL, "100e-9", "s", NULL, 0, 1,
     "a rank may always begin this late after the start"},
    {"late-share", OPTION_REAL, "0.05", "", NULL, 0, 1,
     "a rank may begin late by this share of the sample's time; a sample in which more than 1 % "
     "of the ranks began later is invalid"},
    {"sync-share", OPTION_REAL, "0.05", "", NULL, 0, 1,
     "share of the smallest sample of an operation that the clocks' error may reach; else the "
     "samples of the operation since the last check are invalid"},
    {0},
};

const struct option program_options[] = {
    {"start", OPTION_CHOICE, "barrier", "", "windows|round-time|barrier|mpi-barrier", 0, 0,
     "how ranks start a run: in windows of the shared clock; at a moment of it that is announced "
     "each time; after a barrier of cotejo or of the library"},
    {0},
};

const struct column sampler_columns[] = {SAMPLER_COLUMN_ROWS, {0}};

// Samples of one operation that follow each other.
struct stage {
    struct sampler *sampler;
    const struct operation *operation;
    struct progress *progress;
    long from; // number of the first sample; -1: none is measured
    long count;
};

// Takes an untimed step of an operation (struct around), where it has that step.
#define STEP(operation, step, ...)                                                                \
    do {                                                                                          \
        if ((operation)->around && (operation)->around->step)                                     \
            (operation)->around->step(__VA_ARGS__);                                               \
    } while (0)

// Returns the current data of the start methods. The sampler may have been copied since the last
// call.
static struct start_line *stage_line(struct sampler *sampler) {
    sampler->line.comm = sampler->bench->comm;
    sampler->line.sync = &sampler->sync;
    return &sampler->line;
}

static size_t per_sample(const struct operation *operation) {
    return MOMENTS + (size_t)operation->special.notes_count;
}

// How often this thread has lost its core so far.
static double switches(void) {
#ifdef COTEJO_SIMULATED
    return 0; // ranks are threads of the simulator, which switches between them at will
#else
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (double)usage.ru_nivcsw : 0;
#endif
}

// Allocates memory for the times of a stage of at most `most` samples. Collective; failure agreed.
static void stage_room(struct sampler *sampler, const struct operation *operation, long most) {
    struct bench *bench = sampler->bench;
    size_t samples = (size_t)most, room = samples * per_sample(operation);
    size_t ranks = bench->rank == 0 ? (size_t)bench->size : 0;
    if (room <= sampler->room)
        return;
    free(sampler->target);
    sampler->room = room;
    sampler->target = malloc((samples + room + (room + 1) * ranks) * sizeof *sampler->target);
    if (sampler->target) {
        sampler->own = sampler->target + samples;
        sampler->all = sampler->own + room;
        sampler->sorted = sampler->all + room * ranks;
    } else {
        failure_set(&bench->failure, STATUS_USAGE,
                    "no memory for the times of %ld samples of %d ranks; lower --stage", most,
                    bench->size);
    }
    ranks_agree(bench->comm, &bench->failure, false);
}

static long lead_in(const struct progress *progress) {
    return progress->calls < LEAD_IN ? LEAD_IN : progress->calls;
}

// Takes the samples of a loop. A barrier and some calls that belong to no sample come first. The
// samples then follow back to back, so that each is the cost of more calls in the steady state.
static void run_row(const struct stage *stage) {
    struct sampler *sampler = stage->sampler;
    const struct operation *operation = stage->operation;
    long count = stage->count, notes_count = operation->special.notes_count;
    double *begin = sampler->own, *end = begin + count, *row = end - 1;
    double *switched = end + count, *notes = switched + count, before = switches();
    STEP(operation, prepare, operation, stage->from);
    sampler->start->meet(stage_line(sampler));
    operation->run(operation->state, lead_in(stage->progress));
    clock_row(&sampler->bench->clock, operation->run, operation->state, stage->progress->calls,
              row, count);
    // The moments after the first one are the ends already, and each is the next sample's begin.
    memmove(begin, row, (size_t)count * sizeof *begin);
    for (long n = 0; n < count * notes_count; n++)
        notes[n] = operation->special.notes[n % notes_count];
    for (long i = 0; i < count; i++) {
        sampler->target[i] = 0;
        switched[i] = switches() - before;
    }
}

// Takes samples that each have a start of their own.
static void run_starts(const struct stage *stage) {
    struct sampler *sampler = stage->sampler;
    const struct operation *operation = stage->operation;
    long count = stage->count, notes_count = operation->special.notes_count;
    double *begin = sampler->own, *end = begin + count, *switched = end + count;
    double *notes = switched + count;
    const struct start *start = sampler->start;
    struct start_line *line = stage_line(sampler);
    line->slot_s = stage->progress->slot_s;
    for (long i = 0; i < count; i++) {
        STEP(operation, prepare, operation, stage->from < 0 ? -1 : stage->from + i);
        double before = switches();
        if (i == 0 || !start->windows)
            line->first_s = start->meet(line);
        double target = sampler->target[i] = line->first_s + (double)i * line->slot_s;
        double own =
            start->clocked ? sync_own(&sampler->sync, target + sampler->arrival.own_s) : -INFINITY;
        struct span span = clock_time(&sampler->bench->clock, own, operation->run,
                                      operation->state, stage->progress->calls);
        begin[i] = span.begin_s;
        end[i] = span.end_s;
        switched[i] = switches() - before;
        for (long n = 0; n < notes_count; n++)
            notes[i * notes_count + n] = operation->special.notes[n];
    }
}

// Takes the samples and gathers their times on rank 0. Collective.
static void stage_run(const struct stage *stage) {
    struct sampler *sampler = stage->sampler;
    struct bench *bench = sampler->bench;
    const struct operation *operation = stage->operation;
    double *begin = sampler->own, *end = begin + stage->count;
    int each = (int)((size_t)stage->count * per_sample(operation));
    STEP(operation, enter, operation);
    if (sampler->start->loop)
        run_row(stage);
    else
        run_starts(stage);
    STEP(operation, leave, operation);
    for (long i = 0; i < stage->count; i++) {
        begin[i] = model_shared(&sampler->sync.model, begin[i]);
        end[i] = operation->special.bystander ? NAN : model_shared(&sampler->sync.model, end[i]);
    }
    PMPI_Gather(sampler->own, each, MPI_DOUBLE, sampler->all, each, MPI_DOUBLE, 0, bench->comm);
    long calls = stage->count * stage->progress->calls +
                 (sampler->start->loop ? lead_in(stage->progress) : 0);
    bench->payload_bytes += operation->message.payload * (double)calls;
}

// The begin and end of sample `i` of a stage, on rank 0.
static struct times times_of(const struct stage *stage, long i) {
    const struct sampler *sampler = stage->sampler;
    return (struct times){.target = sampler->target[i],
                          .begin = sampler->all + i,
                          .end = sampler->all + stage->count + i,
                          .offsets = sampler->arrival.offsets,
                          .ranks = sampler->bench->size,
                          .stride = (int)((size_t)stage->count * per_sample(stage->operation)),
                          .sorted = sampler->sorted};
}

// Whether a rank whose time counts lost its core during a sample.
static bool any_switched(const struct times *times, long count) {
    for (int r = 0; r < times->ranks; r++)
        if (!isnan(times->end[r * times->stride]) && times->end[r * times->stride + count] > 0)
            return true;
    return false;
}

// Time from the end of one sample to the end of the next one. The median (MPIPerf: the mean),
// because a single interruption would make all later windows milliseconds long.
static double stage_pace(const struct stage *stage) {
    double *steps = stage->sampler->own; // it was gathered: free to use
    double before = stage->sampler->line.first_s;
    for (long i = 0; i < stage->count; i++) {
        struct times times = times_of(stage, i);
        double end = -INFINITY;
        for (int r = 0; r < times.ranks; r++)
            end = fmax(end, times.end[r * times.stride]);
        steps[i] = end - before;
        before = end;
    }
    return values_at(steps, (size_t)stage->count, 0.5);
}

// The time of the quickest sample.
static double stage_least(const struct stage *stage) {
    struct sampler *sampler = stage->sampler;
    double least = INFINITY;
    for (long i = 0; i < stage->count; i++) {
        struct times times = times_of(stage, i);
        least = fmin(least, sampler->start->judge(stage_line(sampler), &times).time_s);
    }
    return least;
}

static enum quantity quantity_of(const struct stage *stage) {
    bool loop = stage->sampler->start->loop;
    if (stage->operation->special.own || (!loop && stage->progress->calls > 1))
        return QUANTITY_OWN;
    return loop ? QUANTITY_STEADY : QUANTITY_SINGLE;
}

// Makes sample `i` of a stage out of the times of some ranks.
static struct sample sample_of(const struct stage *stage, const struct times *times,
                               const struct verdict *verdict, long i) {
    const struct sampler *sampler = stage->sampler;
    const struct operation *operation = stage->operation;
    const double *notes = times->begin - i + MOMENTS * stage->count;
    double one = 1 / (double)stage->progress->calls;
    bool clocked = sampler->start->clocked;
    struct timing timing = {.time_s = verdict->time_s * one,
                            .fastest_s = verdict->fastest_s * one,
                            .apart_s = start_apart(times),
                            .late_s = verdict->late_s,
                            .slowest = verdict->slowest,
                            .notes = notes + i * operation->special.notes_count,
                            .ranks = times->ranks,
                            .stride = times->stride};
    struct sample sample = {.operation = operation->name,
                            .bytes = operation->message.bytes,
                            .repetition = stage->progress->repetitions,
                            .calls = stage->progress->calls,
                            .time_s = timing.time_s,
                            .span_s = clocked ? verdict->time_s : 0,
                            .valid = !verdict->fault,
                            .fault = verdict->fault,
                            .extra = {verdict->late_s, any_switched(times, stage->count),
                                      verdict->late_median_s, verdict->late_p99_s,
                                      clocked ? sampler->line.lead_s : 0,
                                      sampler->start->windows ? sampler->line.slot_s : 0}};
    if (operation->special.share > 0)
        sample.time_s *= operation->special.share;
    for (int i = 0; i < operation->special.factors_count; i++)
        sample.extra[SAMPLER_COLUMNS + i] = operation->special.factors[i];
    STEP(operation, describe, operation, &timing, &sample);
    return sample;
}

// Writes the time of each rank for the last sample, which is valid if the sample is.
static void stream_ranks(const struct stage *stage, const struct times *times, bool valid,
                         long i) {
    struct sampler *sampler = stage->sampler;
    struct bench *bench = sampler->bench;
    for (int r = 0; r < times->ranks && !failed(&bench->failure); r++) {
        struct times alone = *times;
        alone.begin += r * times->stride;
        alone.end += r * times->stride;
        alone.offsets = times->offsets ? times->offsets + r : NULL;
        alone.ranks = 1;
        if (isnan(*alone.end))
            continue;
        struct verdict verdict = sampler->start->judge(&sampler->line, &alone);
        struct sample sample = sample_of(stage, &alone, &verdict, i);
        sample.valid = valid;
        samples_stream(&bench->samples, sample, r, &bench->failure);
    }
}

// On rank 0, after stage_run: makes the samples, and returns how many of them are not valid.
static long stage_judge(const struct stage *stage) {
    struct sampler *sampler = stage->sampler;
    struct bench *bench = sampler->bench;
    struct progress *progress = stage->progress;
    long wrong = 0;
    for (long i = 0; i < stage->count; i++, progress->repetitions++) {
        struct times times = times_of(stage, i);
        struct verdict verdict = sampler->start->judge(stage_line(sampler), &times);
        struct sample sample = sample_of(stage, &times, &verdict, i);
        samples_quantity(&bench->samples, sample.operation, quantity_of(stage), &bench->failure);
        samples_add(&bench->samples, sample, &bench->failure);
        if (sampler->per_rank)
            stream_ranks(stage, &times, sample.valid, i);
        wrong += !sample.valid;
        if (sample.valid) {
            double *least = &progress->least_s[progress->valid.n % 2];
            *least = fmin(*least, sample.time_s);
            moments_add(&progress->valid, sample.time_s);
        }
    }
    return wrong;
}

void sampler_read(struct sampler *sampler, struct bench *bench) {
    const struct options *options = &bench->options;
    *sampler = (struct sampler){
        .bench = bench, .first = bench->samples.count, .unchecked = bench->samples.count};
    sampler->start = start_find(options_text(options, "start"));
    if (options_have(options, "budget")) // else the experiment has a stop rule of its own
        sampler->stop = stop_read(options, &bench->failure);
    sampler->per_rank = options_is(options, "per-rank", "yes");
    sampler->stage = options_integer(options, "stage");
    sampler->warm_up = options_integer(options, "warm-up");
    sampler->calls = options_integer(options, "calls");
    sampler->sample_s = options_real(options, "sample-time");
    sampler->setup_s = options_real(options, "set-up");
    sampler->wrong_share = options_real(options, "wrong");
    sampler->stretch = options_real(options, "stretch");
    sampler->error_share = options_real(options, "sync-share");
    sampler->line.lead_s = options_real(options, "lead");
    sampler->line.late_share = options_real(options, "late-share");
    // Lateness cannot be resolved below one reading of the clock.
    sampler->line.late_s = fmax(options_real(options, "late"),
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
                            .first = bench->samples.count,
                            .unchecked = bench->samples.count};
}

void sampler_open(struct sampler *sampler, struct bench *bench, bool clocks) {
    sampler_read(sampler, bench);
    if (ranks_agree(bench->comm, &bench->failure, false) != STATUS_OK)
        return;
    if (options_have(&bench->options, "sync") && (clocks || !sampler->start->loop))
        sync_open(&sampler->sync, bench->comm, &bench->clock, &bench->options, &bench->failure);
    if (!failed(&bench->failure) && options_have(&bench->options, "arrival"))
        arrival_open(&sampler->arrival, bench->comm, &bench->options, &bench->failure);
    // The lead is fixed by the first sampler of a launch. It must not depend on the noise during a
    // measurement, because ranks that wait longer for a start find colder caches.
    if (bench->lead_s > 0) {
        sampler->line.lead_s = bench->lead_s;
    } else if (!failed(&bench->failure) && sampler->sync.method) {
        sampler->line.lead_s =
            fmax(sampler->line.lead_s, 2 * start_announcing(stage_line(sampler)));
        announce(bench->comm, &sampler->line.lead_s, 1);
        bench->lead_s = sampler->line.lead_s;
    }
}

void program_open(struct sampler *sampler, struct bench *bench) {
    sampler_open(sampler, bench, false);
    if (options_integer(&bench->options, "calls") > 1)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--calls %ld: a sample of a complete program is one run; leave it out",
                    options_integer(&bench->options, "calls"));
    ranks_agree(bench->comm, &bench->failure, false);
}

// Takes a stage of `count` samples. Windows become longer when too many of them are not valid. The
// lead stays: repeating a late sample helps, waiting longer for the start does not.
static void take_stage(struct sampler *sampler, struct turn *turn, long count) {
    struct progress *progress = &turn->progress;
    struct stage stage = {sampler, &turn->operation, progress, progress->repetitions, count};
    double begin_s = clock_now(&sampler->bench->clock);
    errors_during(turn->operation.name, turn->operation.message.bytes);
    stage_run(&stage);
    if (sampler->bench->rank != 0) {
        progress->repetitions += count;
        return;
    }
    long wrong = stage_judge(&stage);
    double end_s = clock_now(&sampler->bench->clock);
    progress->spent_s += end_s - begin_s;
    samples_stage_end(&sampler->bench->samples, end_s);
    if (sampler->start->windows && (double)wrong > sampler->wrong_share * (double)count)
        progress->slot_s = sampler->stretch * fmax(progress->slot_s, stage_pace(&stage));
}

void sampler_set_up(struct sampler *sampler, const struct operation *operation) {
    const struct clock *clock = &sampler->bench->clock;
    double begin_s = clock_now(clock), more = 1;
    errors_during(operation->name, operation->message.bytes);
    if (operation->special.program)
        return;
    STEP(operation, enter, operation);
    for (long batch = 2; more != 0 && batch <= SETUP_BATCH_MOST; batch *= 2) {
        STEP(operation, prepare, operation, -1);
        operation->run(operation->state, batch);
        sampler->bench->payload_bytes += (double)batch * operation->message.payload;
        more = clock_now(clock) - begin_s < sampler->setup_s;
        announce(sampler->bench->comm, &more, 1);
    }
    STEP(operation, leave, operation);
}

// Finds how many calls of a loop last sample_s, by growing their number. Rank 0 decides, because
// the clocks of the ranks differ.
static long enough_calls(struct sampler *sampler, const struct operation *operation) {
    long step = operation->special.step ? operation->special.step : 1;
    struct progress trial = {.calls = step};
    struct stage stage = {sampler, operation, &trial, -1, TRIES};
    for (int i = 0; i < GROWTH_MOST; i++) {
        double next = (double)trial.calls;
        stage_run(&stage);
        if (sampler->bench->rank == 0) {
            // The minimum of several, because a disturbed one would accept too few calls.
            double factor = sampler->sample_s / fmax(stage_least(&stage), 1e-9);
            if (factor > 1 && trial.calls < 1L << 30)
                next =
                    ceil(next * fmin(fmax(1.1 * factor, 1.2), 16) / (double)step) * (double)step;
        }
        announce(sampler->bench->comm, &next, 1);
        if ((long)next == trial.calls)
            break;
        trial.calls = (long)next;
    }
    return trial.calls;
}

// Finds the first window by samples that are not counted.
static void find_window(struct sampler *sampler, struct turn *turn) {
    struct stage stage = {sampler, &turn->operation, &turn->progress, -1, sampler->warm_up};
    stage_run(&stage);
    if (sampler->bench->rank == 0)
        turn->progress.slot_s = fmax(sampler->stretch * stage_pace(&stage), sampler->line.lead_s);
}

// Checks the clocks. Operations for which the clocks were too far apart lose their samples since
// the last check.
static void check_clocks(struct sampler *sampler) {
    struct bench *bench = sampler->bench;
    double bound_s = INFINITY, error_s = INFINITY;
    if (bench->rank == 0)
        bound_s = samples_bound(&bench->samples, sampler->unchecked, sampler->error_share);
    announce(bench->comm, &bound_s, 1);
    for (int i = 0; i < CLOCK_CHECKS && error_s > bound_s; i++)
        error_s = sync_check(&sampler->sync);
    if (bench->rank == 0 && sampler->sync.uncertain_s > bound_s && !sampler->uncertain) {
        sampler->uncertain = true;
        printf("# clocks are known to %.3g us, and --sync-share of the quickest operation is %.3g "
               "us: its times may be wrong by more\n",
               sampler->sync.uncertain_s * 1e6, bound_s * 1e6);
    }
    if (error_s > bound_s)
        samples_void_since(&bench->samples, sampler->unchecked, sampler->error_share, error_s);
    sampler->unchecked = bench->samples.count;
}

// Makes the warm-up calls and finds how many calls a sample has. Collective; failure agreed.
static void begin(struct sampler *sampler, struct turn *turn) {
    const struct operation *operation = &turn->operation;
    turn->progress = (struct progress){.least_s = {INFINITY, INFINITY}};
    long most = sampler->stage > sampler->warm_up ? sampler->stage : sampler->warm_up;
    stage_room(sampler, operation, most > TRIES ? most : TRIES);
    if (failed(&sampler->bench->failure))
        return;
    // No other start method relies on the clocks.
    if (sampler->start->clocked && sync_due(&sampler->sync)) {
        check_clocks(sampler);
        sync_repair(&sampler->sync);
    }
    sampler_set_up(sampler, operation);
    turn->progress.calls = sampler->calls             ? sampler->calls
                           : operation->special.calls ? operation->special.calls
                           : sampler->start->loop     ? enough_calls(sampler, operation)
                                                      : 1;
    if (sampler->start->windows)
        find_window(sampler, turn);
    ranks_agree(sampler->bench->comm, &sampler->bench->failure, false);
}

double sampler_once(struct sampler *sampler, const struct operation *operation, long calls) {
    STEP(operation, prepare, operation, 0);
    sampler->start->meet(stage_line(sampler));
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

// Rank 0 announces how many samples each turn takes next; 0: it has enough, or something failed.
static bool announce_plan(struct sampler *sampler, struct turn *turns, int count, stop_rule *rule,
                          double *plan) {
    const struct bench *bench = sampler->bench;
    double all = 0;
    for (int i = 0; i < count; i++) {
        struct progress *progress = &turns[i].progress;
        bool wanted = bench->rank == 0 && !failed(&bench->failure);
        plan[i] = wanted ? (double)rule(&sampler->stop, progress, sampler->stage) : 0;
        plan[count + i] = progress->slot_s;
    }
    announce(bench->comm, plan, 2 * count);
    for (int i = 0; i < count; i++) {
        turns[i].progress.slot_s = plan[count + i];
        all += plan[i];
    }
    return all > 0;
}

void sampler_turns(struct sampler *sampler, struct turn *turns, int count, stop_rule *rule,
                   struct order *order) {
    double plan[2 * TURNS_MOST];
    int list[TURNS_MOST];
    const struct failure *failure = &sampler->bench->failure;
    order_list(order, list, count);
    for (int i = 0; i < count; i++) {
        struct turn *turn = &turns[list[i]];
        if (turn->progress.calls > 0)
            continue;
        sampler_check(sampler, &turn->operation, 0);
        if (!failed(failure))
            begin(sampler, turn);
        if (failed(failure))
            return;
    }
    while (announce_plan(sampler, turns, count, rule, plan)) {
        for (int i = 0; i < count; i++)
            if (plan[list[i]] > 0)
                take_stage(sampler, &turns[list[i]], (long)plan[list[i]]);
        order_list(order, list, count);
    }
}

void sampler_measure(struct sampler *sampler, const struct operation *operation) {
    struct turn turn = {.operation = *operation};
    sampler_turns(sampler, &turn, 1, stop_next, &sampler->bench->order);
    sampler_check(sampler, operation, 1);
    if (!failed(&sampler->bench->failure))
        bench_print(sampler->bench);
}

void sampler_close(struct sampler *sampler) {
    struct bench *bench = sampler->bench;
    struct failure *failure = &bench->failure;
    bool clocks = sampler->sync.clock;
    ranks_agree(bench->comm, failure, false);
    if (!failed(failure) && clocks)
        check_clocks(sampler);
    if (!failed(failure))
        bench->without_valid += samples_useless(&bench->samples, sampler->first, failure);
    ranks_agree(bench->comm, failure, false);
    long voided = samples_faulty(&bench->samples, sampler->first, FAULT_CLOCKS);
    json_free(&bench->sync); // of an earlier sampler, on fewer ranks
    if (!failed(failure) && clocks)
        sync_describe(&sampler->sync, sampler->line.lead_s, sampler->error_share, voided,
                      &bench->sync, failure);
    json_free(&bench->arrival);
    if (!failed(failure) && sampler->arrival.offsets)
        arrival_describe(&sampler->arrival, &bench->arrival);
    arrival_close(&sampler->arrival);
    sync_close(&sampler->sync);
    errors_during(NULL, 0);
    if (bench->rank == 0 && !failed(failure) && sampler->start && sampler->start->windows)
        printf("# windows: operations that did not end within their window are left out, which "
               "lowers mean and p95\n");
    if (voided > 0)
        printf("# %ld samples are not valid: the clocks were up to %.3g us apart\n", voided,
               sampler->sync.most_s * 1e6);
    if (bench->samples.streamed > 0)
        printf("# %zu rows of single ranks are %s\n", bench->samples.streamed,
               bench->samples.file ? "in the file of --output" : "not kept: give --output");
    free(sampler->target);
    *sampler = (struct sampler){0};
}
