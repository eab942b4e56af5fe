// SPDX-License-Identifier: BSD-3-Clause
// Takes the samples of one operation that follow each other, and judges them on rank 0.
#define _GNU_SOURCE // RUSAGE_THREAD
#include "stage.h"

#include "ranks.h"

#include <sys/resource.h>

enum {
    LEAD_IN = 4, // minimum number of calls before a row, until it has reached a steady state
    MOMENTS = 3  // of each sample: begin, end, context switches; notes follow
};

struct start_line *stage_line(struct sampler *sampler) {
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

void stage_room(struct sampler *sampler, const struct operation *operation, long most) {
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

void stage_run(const struct stage *stage) {
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

double stage_pace(const struct stage *stage) {
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

double stage_least(const struct stage *stage) {
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

long stage_judge(const struct stage *stage) {
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
