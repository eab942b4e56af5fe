// SPDX-License-Identifier: BSD-3-Clause
// Takes every time in cotejo: an operation x a start method x a stop rule.
#define _GNU_SOURCE // RUSAGE_THREAD
#include "sampler.h"

#include "barrier.h"
#include "errors.h"
#include "moments.h"
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
    LEAD_IN = 4,      // least number of calls before a row, until it has reached a steady state
    MOMENTS = 3,      // of each sample: begin, end, context switches; notes follow
    CLOCK_CHECKS = 3 // a check that finds clocks too far apart is repeated, as it may be disturbed
};
// Default of --set-up, and of a plain sampler, s.
#define SET_UP_S "5e-3"

const struct option sampler_options[] = {
    {"sample-time", OPTION_REAL, "50e-6", "s", NULL, 0, 100,
     "loop: least duration of one sample; quick operations are timed several at once"},
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
     "least time from the announcement of a start to the start, and least window; the time that "
     "is "
     "used is fixed at the begin of a launch: at least twice that of an announcement"},
    {"late", OPTION_REAL, "100e-9", "s", NULL, 0, 1,
     "a rank may always begin this late after the start"},
    {"late-share", OPTION_REAL, "0.05", "", NULL, 0, 1,
     "a rank may begin late by this share of the sample's time; a sample in which more than 1 % "
     "of "
     "the ranks began later is invalid"},
    {"sync-share", OPTION_REAL, "0.05", "", NULL, 0, 1,
     "share of the least sample of an operation that the clocks' error may reach; else the "
     "samples "
     "of the operation since the last check are invalid"},
    {0},
};

const struct option program_options[] = {
    {"start", OPTION_CHOICE, "barrier", "", "windows|round-time|barrier|mpi-barrier", 0, 0,
     "how ranks start a run: in windows of the shared clock; at a moment of it that is announced "
     "each time; after a barrier of cotejo or of the library"},
    {0},
};

const struct column sampler_columns[] = {SAMPLER_COLUMN_ROWS, {0}};

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

// Returns the current data of the start methods. The sampler may have been copied since the last
// call.
static struct start_line *line_of(struct sampler *sampler) {
    sampler->line.comm = sampler->bench->comm;
    sampler->line.sync = &sampler->sync;
    return &sampler->line;
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
        sampler->line.lead_s = fmax(sampler->line.lead_s, 2 * start_announcing(line_of(sampler)));
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

// Allocates memory for the times of the largest stage. Collective; failure agreed.
static void make_room(struct sampler *sampler, const struct operation *operation) {
    struct bench *bench = sampler->bench;
    long most = sampler->stage > sampler->warm_up ? sampler->stage : sampler->warm_up;
    size_t samples = (size_t)(most > TRIES ? most : TRIES);
    size_t room = samples * per_sample(operation), ranks = (size_t)bench->size;
    bool first = bench->rank == 0;
    if (room <= sampler->room)
        return;
    free(sampler->target);
    free(sampler->own);
    free(sampler->all);
    free(sampler->sorted);
    sampler->room = room;
    sampler->target = malloc(samples * sizeof *sampler->target);
    sampler->own = malloc(room * sizeof *sampler->own);
    sampler->all = first ? malloc(room * ranks * sizeof *sampler->all) : NULL;
    sampler->sorted = first ? malloc(ranks * sizeof *sampler->sorted) : NULL;
    if (!sampler->target || !sampler->own || (first && (!sampler->all || !sampler->sorted)))
        failure_set(&bench->failure, STATUS_USAGE,
                    "no memory for the times of %zu samples of %d ranks; lower --stage", samples,
                    bench->size);
    ranks_agree(bench->comm, &bench->failure, false);
}

static long lead_in(const struct progress *progress) {
    return progress->calls < LEAD_IN ? LEAD_IN : progress->calls;
}

static void enter(const struct operation *operation) {
    if (operation->around && operation->around->enter)
        operation->around->enter(operation);
}

static void leave(const struct operation *operation) {
    if (operation->around && operation->around->leave)
        operation->around->leave(operation);
}

static void prepare(const struct operation *operation, long repetition) {
    if (operation->around && operation->around->prepare)
        operation->around->prepare(operation, repetition);
}

// Takes the samples of a loop. A barrier and some calls that belong to no sample come first. The
// samples then follow back to back, so that each is the cost of more calls in the steady state.
static void run_row(struct sampler *sampler, const struct operation *operation,
                    const struct progress *progress, long from, long count) {
    double *begin = sampler->own, *end = begin + count, *row = end - 1;
    double *switched = end + count, *notes = switched + count, before = switches();
    prepare(operation, from);
    sampler->target[0] = sampler->start->meet(line_of(sampler), 0);
    operation->run(operation->state, lead_in(progress));
    clock_row(&sampler->bench->clock, operation->run, operation->state, progress->calls, row,
              count);
    double first = row[0]; // the moments after the first one are the ends already
    for (long i = count - 1; i > 0; i--)
        begin[i] = end[i - 1];
    begin[0] = first;
    for (long n = 0; n < count * operation->special.notes_count; n++)
        notes[n] = operation->special.notes[n % operation->special.notes_count];
    for (long i = 0; i < count; i++) {
        sampler->target[i] = 0;
        switched[i] = switches() - before;
    }
}

// Takes samples that each have a start of their own.
static void run_starts(struct sampler *sampler, const struct operation *operation,
                       const struct progress *progress, long from, long count) {
    double *begin = sampler->own, *end = begin + count, *switched = end + count;
    double *notes = switched + count;
    const struct start *start = sampler->start;
    const struct clock *clock = &sampler->bench->clock;
    struct start_line *line = line_of(sampler);
    line->slot_s = progress->slot_s;
    for (long i = 0; i < count; i++) {
        prepare(operation, from < 0 ? -1 : from + i);
        double before = switches();
        double target = sampler->target[i] = start->meet(line, i);
        double own =
            start->clocked ? sync_own(&sampler->sync, target + sampler->arrival.own_s) : -INFINITY;
        struct span span =
            clock_time(clock, own, operation->run, operation->state, progress->calls);
        begin[i] = span.begin_s;
        end[i] = span.end_s;
        switched[i] = switches() - before;
        for (int n = 0; n < operation->special.notes_count; n++)
            notes[i * operation->special.notes_count + n] = operation->special.notes[n];
    }
}

// Takes `count` samples, the first of which has number `from` (-1: none is measured), and gathers
// their times on rank 0.
static void run_stage(struct sampler *sampler, const struct operation *operation,
                      const struct progress *progress, long from, long count) {
    struct bench *bench = sampler->bench;
    const struct model *model = &sampler->sync.model;
    double *own = sampler->own;
    int each = (int)((size_t)count * per_sample(operation));
    enter(operation);
    if (sampler->start->loop)
        run_row(sampler, operation, progress, from, count);
    else
        run_starts(sampler, operation, progress, from, count);
    leave(operation);
    for (long i = 0; i < count; i++) {
        own[i] = model_shared(model, own[i]);
        own[count + i] = operation->special.bystander ? NAN : model_shared(model, own[count + i]);
    }
    PMPI_Gather(own, each, MPI_DOUBLE, sampler->all, each, MPI_DOUBLE, 0, bench->comm);
    double calls = (double)(count * progress->calls);
    if (sampler->start->loop)
        calls += (double)lead_in(progress);
    bench->payload_bytes += operation->message.payload * calls;
}

// The begin and end of sample `i` of a stage, on rank 0.
static struct times times_of(const struct sampler *sampler, const struct operation *operation,
                             long i, long count) {
    int stride = (int)((size_t)count * per_sample(operation));
    return (struct times){sampler->target[i],       sampler->all + i,     sampler->all + count + i,
                          sampler->arrival.offsets, sampler->bench->size, stride,
                          sampler->sorted};
}

// Whether a rank whose time counts lost its core during a sample.
static bool any_switched(const struct times *times, long count) {
    for (int r = 0; r < times->ranks; r++)
        if (!isnan(times->end[r * times->stride]) && times->end[r * times->stride + count] > 0)
            return true;
    return false;
}

// Time from the end of one sample of a stage to the end of the next one, on rank 0. The median
// (MPIPerf: the mean), because a single interruption would make all later windows milliseconds
// long.
static double pace(struct sampler *sampler, const struct operation *operation, long count) {
    double *steps = sampler->own,
           before = sampler->line.first_s; // `own` was gathered: free to use
    for (long i = 0; i < count; i++) {
        struct times times = times_of(sampler, operation, i, count);
        double end = -INFINITY;
        for (int r = 0; r < times.ranks; r++)
            end = fmax(end, times.end[r * times.stride]);
        steps[i] = end - before;
        before = end;
    }
    return values_at(steps, (size_t)count, 0.5);
}

static enum quantity quantity_of(const struct sampler *sampler, const struct operation *operation,
                                 const struct progress *progress) {
    if (operation->special.own || (!sampler->start->loop && progress->calls > 1))
        return QUANTITY_OWN;
    return sampler->start->loop ? QUANTITY_STEADY : QUANTITY_SINGLE;
}

// Makes sample `i` of a stage out of the times of some ranks.
static struct sample sample_of(const struct sampler *sampler, const struct operation *operation,
                               const struct progress *progress, const struct times *times,
                               const struct verdict *verdict, long i, long count) {
    const double *stage = times->begin - i;
    double one = 1 / (double)progress->calls;
    bool clocked = sampler->start->clocked;
    struct timing timing = {
        verdict->time_s * one, verdict->fastest_s * one,
        start_apart(times),    verdict->late_s,
        verdict->slowest,      stage + MOMENTS * count + i * operation->special.notes_count,
        times->ranks,          times->stride};
    struct sample sample = {.operation = operation->name,
                            .bytes = operation->message.bytes,
                            .repetition = progress->repetitions,
                            .calls = progress->calls,
                            .time_s = timing.time_s,
                            .span_s = clocked ? verdict->time_s : 0,
                            .valid = !verdict->fault,
                            .fault = verdict->fault,
                            .extra = {verdict->late_s, any_switched(times, count),
                                      verdict->late_median_s, verdict->late_p99_s,
                                      clocked ? sampler->line.lead_s : 0,
                                      sampler->start->windows ? sampler->line.slot_s : 0}};
    if (operation->special.share > 0)
        sample.time_s *= operation->special.share;
    for (int i = 0; i < operation->special.factors_count; i++)
        sample.extra[SAMPLER_COLUMNS + i] = operation->special.factors[i];
    if (operation->around && operation->around->describe)
        operation->around->describe(operation, &timing, &sample);
    return sample;
}

// Writes the time of each rank for the last sample, which is valid if the sample is.
static void stream_ranks(struct sampler *sampler, const struct operation *operation,
                         const struct progress *progress, const struct times *times, bool valid,
                         long i, long count) {
    struct bench *bench = sampler->bench;
    for (int r = 0; r < times->ranks && !failed(&bench->failure); r++) {
        struct times alone = {times->target,
                              times->begin + r * times->stride,
                              times->end + r * times->stride,
                              times->offsets ? times->offsets + r : NULL,
                              1,
                              times->stride,
                              times->sorted};
        if (isnan(*alone.end))
            continue;
        struct verdict verdict = sampler->start->judge(&sampler->line, &alone);
        struct sample sample = sample_of(sampler, operation, progress, &alone, &verdict, i, count);
        sample.valid = valid;
        samples_stream(&bench->samples, sample, r, &bench->failure);
    }
}

// Makes samples of a stage, on rank 0. Returns how many of them are not valid.
static long judge_stage(struct sampler *sampler, const struct operation *operation,
                        struct progress *progress, long count) {
    struct bench *bench = sampler->bench;
    long wrong = 0;
    for (long i = 0; i < count; i++, progress->repetitions++) {
        struct times times = times_of(sampler, operation, i, count);
        struct verdict verdict = sampler->start->judge(line_of(sampler), &times);
        struct sample sample = sample_of(sampler, operation, progress, &times, &verdict, i, count);
        samples_quantity(&bench->samples, sample.operation,
                         quantity_of(sampler, operation, progress), &bench->failure);
        samples_add(&bench->samples, sample, &bench->failure);
        if (sampler->per_rank)
            stream_ranks(sampler, operation, progress, &times, sample.valid, i, count);
        if (sample.valid) {
            double *least = &progress->least_s[progress->valid.n % 2];
            *least = fmin(*least, sample.time_s);
            moments_add(&progress->valid, sample.time_s);
        } else {
            wrong++;
        }
    }
    return wrong;
}

// Makes windows longer when too many samples of the last stage are not valid, on rank 0. The lead
// stays: repeating a late sample helps, waiting longer for the start does not.
static void adapt_windows(struct sampler *sampler, const struct operation *operation,
                          struct progress *progress, long count, long wrong) {
    if (sampler->start->windows && (double)wrong > sampler->wrong_share * (double)count)
        progress->slot_s =
            sampler->stretch * fmax(progress->slot_s, pace(sampler, operation, count));
}

// Takes a stage of `count` samples.
static void take_stage(struct sampler *sampler, const struct operation *operation,
                       struct progress *progress, long count) {
    double begin_s = clock_now(&sampler->bench->clock);
    errors_during(operation->name, operation->message.bytes);
    run_stage(sampler, operation, progress, progress->repetitions, count);
    if (sampler->bench->rank != 0) {
        progress->repetitions += count;
        return;
    }
    long wrong = judge_stage(sampler, operation, progress, count);
    double end_s = clock_now(&sampler->bench->clock);
    progress->spent_s += end_s - begin_s;
    samples_stage_end(&sampler->bench->samples, end_s);
    adapt_windows(sampler, operation, progress, count, wrong);
}

void sampler_set_up(struct sampler *sampler, const struct operation *operation) {
    const struct clock *clock = &sampler->bench->clock;
    double begin_s = clock_now(clock), more = 1;
    errors_during(operation->name, operation->message.bytes);
    if (operation->special.program)
        return;
    enter(operation);
    for (long batch = 2; more != 0 && batch <= SETUP_BATCH_MOST; batch *= 2) {
        prepare(operation, -1);
        operation->run(operation->state, batch);
        sampler->bench->payload_bytes += (double)batch * operation->message.payload;
        more = clock_now(clock) - begin_s < sampler->setup_s;
        announce(sampler->bench->comm, &more, 1);
    }
    leave(operation);
}

static long rounded_up(double calls, long step) {
    return (long)ceil(calls / (double)step) * step;
}

// Finds how many calls of a loop last sample_s, by growing their number. Rank 0 decides, because
// the clocks of the ranks differ.
static long enough_calls(struct sampler *sampler, const struct operation *operation) {
    long step = operation->special.step ? operation->special.step : 1;
    struct progress trial = {.calls = step};
    for (int i = 0; i < GROWTH_MOST; i++) {
        double next = (double)trial.calls;
        run_stage(sampler, operation, &trial, -1, TRIES);
        if (sampler->bench->rank == 0) {
            // The least of several, because a disturbed one would accept too few calls.
            double least = INFINITY;
            for (long t = 0; t < TRIES; t++) {
                struct times times = times_of(sampler, operation, t, TRIES);
                least = fmin(least, sampler->start->judge(line_of(sampler), &times).time_s);
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

// Finds the first window by samples that are not counted.
static void find_window(struct sampler *sampler, const struct operation *operation,
                        struct progress *progress) {
    run_stage(sampler, operation, progress, -1, sampler->warm_up);
    if (sampler->bench->rank == 0)
        progress->slot_s = fmax(sampler->stretch * pace(sampler, operation, sampler->warm_up),
                                sampler->line.lead_s);
}

// The least sample of the group of sample `i` since the last check of the clocks. 0: none of them
// relies on the clocks.
static double least_span(const struct samples *samples, size_t i) {
    double least = INFINITY;
    for (; i != SAMPLE_NONE; i = samples->at[i].next)
        if (samples->at[i].span_s > 0 && samples->at[i].valid)
            least = fmin(least, samples->at[i].span_s);
    return isfinite(least) ? least : 0;
}

// Checks the clocks. Operations for which the clocks were too far apart lose their samples since
// the last check; a slow operation does not excuse a quick one, nor a quick one void a slow one.
static void check_clocks(struct sampler *sampler) {
    struct bench *bench = sampler->bench;
    struct samples *samples = &bench->samples;
    double bound_s = INFINITY, error_s = INFINITY;
    for (size_t i = sampler->unchecked; bench->rank == 0 && i < samples->count; i++)
        if (samples_first(samples, sampler->unchecked, i) && least_span(samples, i) > 0)
            bound_s = fmin(bound_s, sampler->error_share * least_span(samples, i));
    announce(bench->comm, &bound_s, 1);
    for (int i = 0; i < CLOCK_CHECKS && error_s > bound_s; i++)
        error_s = sync_check(&sampler->sync);
    if (bench->rank == 0 && sampler->sync.uncertain_s > bound_s && !sampler->uncertain) {
        sampler->uncertain = true;
        printf("# clocks are known to %.3g us, and --sync-share of the quickest operation is %.3g "
               "us: its times may be wrong by more\n",
               sampler->sync.uncertain_s * 1e6, bound_s * 1e6);
    }
    for (size_t i = sampler->unchecked; error_s > bound_s && i < samples->count; i++) {
        if (!samples_first(samples, sampler->unchecked, i))
            continue;
        bool wrong = error_s > sampler->error_share * least_span(samples, i);
        for (size_t j = i; wrong && j != SAMPLE_NONE; j = samples->at[j].next)
            if (samples->at[j].span_s > 0)
                samples_void(samples, j, FAULT_CLOCKS);
    }
    sampler->unchecked = samples->count;
}

// Makes the warm-up calls and finds how many calls a sample has. Collective; failure agreed.
static void begin(struct sampler *sampler, const struct operation *operation,
                  struct progress *progress) {
    *progress = (struct progress){.least_s = {INFINITY, INFINITY}};
    make_room(sampler, operation);
    if (failed(&sampler->bench->failure))
        return;
    // No other start method relies on the clocks.
    if (sampler->start->clocked && sync_due(&sampler->sync)) {
        check_clocks(sampler);
        sync_repair(&sampler->sync);
    }
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
    prepare(operation, 0);
    sampler->start->meet(line_of(sampler), 0);
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
            begin(sampler, &turn->operation, &turn->progress);
        if (failed(failure))
            return;
    }
    while (announce_plan(sampler, turns, count, rule, plan)) {
        for (int i = 0; i < count; i++) {
            struct turn *turn = &turns[list[i]];
            if (plan[list[i]] > 0)
                take_stage(sampler, &turn->operation, &turn->progress, (long)plan[list[i]]);
        }
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

// Whether any sample of the group that begins with sample `i` is valid. Counts the faults.
static bool any_valid(const struct samples *samples, size_t i, long faults[FAULT_KINDS]) {
    for (; i != SAMPLE_NONE; i = samples->at[i].next) {
        if (samples->at[i].valid)
            return true;
        faults[samples->at[i].fault]++;
    }
    return false;
}

// Reports, on rank 0, each operation that has no valid sample with the reason, which is a failure
// if the sampler has no valid sample at all.
static void report_useless(struct sampler *sampler) {
    struct bench *bench = sampler->bench;
    const struct samples *samples = &bench->samples;
    long useless = 0, useful = 0, faults[FAULT_KINDS] = {0};
    const struct sample *first = NULL;
    for (size_t i = sampler->first; i < samples->count; i++) {
        if (!samples_first(samples, sampler->first, i))
            continue;
        long own[FAULT_KINDS] = {0};
        if (any_valid(samples, i, own)) {
            useful++;
            continue;
        }
        if (own[FAULT_NONE] > 0) // the experiment itself decided that the samples do not count
            continue;
        if (useless++ == 0)
            first = &samples->at[i];
        for (int f = 0; f < FAULT_KINDS; f++)
            faults[f] += own[f];
    }
    if (useless == 0)
        return;
    char text[300];
    snprintf(text, sizeof text,
             "no valid sample of %s of %zu B%s: %ld began late, %ld left their window, %ld had "
             "clocks too far apart; give each rank a core of its own, use --start barrier, or a "
             "quieter machine",
             first->operation, first->bytes, useless > 1 ? " and other operations or sizes" : "",
             faults[FAULT_LATE], faults[FAULT_WINDOW], faults[FAULT_CLOCKS]);
    if (useful == 0)
        failure_set(&bench->failure, STATUS_FAILED, "%s", text);
    else
        fprintf(stderr, "cotejo: %s\n", text);
    bench->without_valid += useless;
}

static long voided(const struct sampler *sampler) {
    const struct samples *samples = &sampler->bench->samples;
    long count = 0;
    for (size_t i = sampler->first; i < samples->count; i++)
        count += samples->at[i].fault == FAULT_CLOCKS;
    return count;
}

void sampler_close(struct sampler *sampler) {
    struct bench *bench = sampler->bench;
    ranks_agree(bench->comm, &bench->failure, false);
    if (!failed(&bench->failure) && sampler->sync.clock)
        check_clocks(sampler);
    if (!failed(&bench->failure) && bench->rank == 0)
        report_useless(sampler);
    ranks_agree(bench->comm, &bench->failure, false);
    json_free(&bench->sync); // of an earlier sampler, on fewer ranks
    if (!failed(&bench->failure) && sampler->sync.clock)
        sync_describe(&sampler->sync, sampler->line.lead_s, sampler->error_share, voided(sampler),
                      &bench->sync, &bench->failure);
    json_free(&bench->arrival);
    if (!failed(&bench->failure) && sampler->arrival.offsets)
        arrival_describe(&sampler->arrival, &bench->arrival);
    arrival_close(&sampler->arrival);
    sync_close(&sampler->sync);
    errors_during(NULL, 0);
    if (bench->rank == 0 && !failed(&bench->failure) && sampler->start && sampler->start->windows)
        printf("# windows: operations that did not end within their window are left out, which "
               "lowers mean and p95\n");
    if (bench->rank == 0 && voided(sampler) > 0)
        printf("# %ld samples are not valid: the clocks were up to %.3g us apart\n",
               voided(sampler), sampler->sync.most_s * 1e6);
    if (bench->samples.streamed > 0)
        printf("# %zu rows of single ranks are %s\n", bench->samples.streamed,
               bench->samples.file ? "in the file of --output" : "not kept: give --output");
    free(sampler->target);
    free(sampler->own);
    free(sampler->all);
    free(sampler->sorted);
    *sampler = (struct sampler){0};
}
