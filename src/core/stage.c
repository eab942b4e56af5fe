// SPDX-License-Identifier: BSD-3-Clause
// A stage of samples: run on all ranks, gathered, judged, and made into samples on rank 0.
#define _GNU_SOURCE // RUSAGE_THREAD
#include "stage.h"

#include "moments.h"
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

// LEAD_IN: calls that go before a row, until the ranks' swinging about each other and the pipes'
// filling are over.
enum { LEAD_IN = 4 };

// Of each sample: begin, end, switches, notes.
enum { MOMENTS = 3 };

static size_t per_sample(const struct operation *operation) {
    return MOMENTS + (size_t)operation->special.notes_count;
}

// How often this thread lost its core so far.
static double switches(void) {
#ifdef COTEJO_SIMULATED
    return 0; // ranks are threads of one simulation, which switches them as it likes
#else
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (double)usage.ru_nivcsw : 0;
#endif
}

// Room for the times of a stage. Collective; failure agreed.
void stage_room(struct sampler *sampler, const struct operation *operation) {
    struct bench *bench = sampler->bench;
    long most = sampler->stage > sampler->warm_up ? sampler->stage : sampler->warm_up;
    size_t samples = (size_t)(most > STAGE_TRIES ? most : STAGE_TRIES);
    size_t room = samples * per_sample(operation);
    if (room <= sampler->room)
        return;
    free(sampler->target);
    free(sampler->own);
    free(sampler->all);
    sampler->room = room;
    sampler->target = malloc(samples * sizeof *sampler->target);
    sampler->own = malloc(room * sizeof *sampler->own);
    sampler->all =
        bench->rank == 0 ? malloc(room * (size_t)bench->size * sizeof *sampler->all) : NULL;
    if (!sampler->target || !sampler->own || (bench->rank == 0 && !sampler->all))
        failure_set(&bench->failure, STATUS_USAGE,
                    "no memory for the times of %zu samples of %d ranks; lower --stage", samples,
                    bench->size);
    ranks_agree(bench->comm, &bench->failure, false);
}

static long lead_in(const struct progress *progress) {
    return progress->calls < LEAD_IN ? LEAD_IN : progress->calls;
}

void stage_enter(const struct operation *operation) {
    if (operation->around && operation->around->enter)
        operation->around->enter(operation);
}

void stage_leave(const struct operation *operation) {
    if (operation->around && operation->around->leave)
        operation->around->leave(operation);
}

void stage_prepare(const struct operation *operation, long repetition) {
    if (operation->around && operation->around->prepare)
        operation->around->prepare(operation, repetition);
}

// One row: after a barrier and some calls that are in no sample, the samples follow each other,
// so that what is timed is what one call more takes of an exchange that goes on.
static void run_row(struct sampler *sampler, const struct operation *operation,
                    const struct progress *progress, long from, long count) {
    double *begin = sampler->own, *end = begin + count, *row = end - 1;
    double *switched = end + count, *notes = switched + count, before = switches();
    stage_prepare(operation, from);
    sampler->target[0] = sampler->start->meet(sampler, progress, 0);
    operation->run(operation->state, lead_in(progress));
    clock_row(&sampler->bench->clock, operation->run, operation->state, progress->calls, row,
              count);
    double first = row[0]; // the moments after it are the ends already
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

// Each sample after a start of its own.
static void run_starts(struct sampler *sampler, const struct operation *operation,
                       const struct progress *progress, long from, long count) {
    double *begin = sampler->own, *end = begin + count, *switched = end + count;
    double *notes = switched + count;
    const struct start *start = sampler->start;
    const struct clock *clock = &sampler->bench->clock;
    for (long i = 0; i < count; i++) {
        stage_prepare(operation, from < 0 ? -1 : from + i);
        double before = switches();
        double target = sampler->target[i] = start->meet(sampler, progress, i);
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

// Runs `count` samples, the first of which has number `from` (-1: none is measured); their times
// arrive on rank 0.
void stage_run(struct sampler *sampler, const struct operation *operation,
               const struct progress *progress, long from, long count) {
    struct bench *bench = sampler->bench;
    const struct model *model = &sampler->sync.model;
    double *own = sampler->own;
    int each = (int)((size_t)count * per_sample(operation));
    stage_enter(operation);
    (sampler->start->loop ? run_row : run_starts)(sampler, operation, progress, from, count);
    stage_leave(operation);
    for (long i = 0; i < count; i++) {
        own[i] = model_shared(model, own[i]);
        own[count + i] = operation->special.bystander ? NAN : model_shared(model, own[count + i]);
    }
    MPI_Gather(own, each, MPI_DOUBLE, sampler->all, each, MPI_DOUBLE, 0, bench->comm);
    double calls = (double)(count * progress->calls);
    if (sampler->start->loop)
        calls += (double)lead_in(progress);
    bench->payload_bytes += operation->message.payload * calls;
}

// The moments of sample `i`, on rank 0.
struct times stage_times(const struct sampler *sampler, const struct operation *operation, long i,
                         long count) {
    int stride = (int)((size_t)count * per_sample(operation));
    return (struct times){sampler->target[i],       sampler->all + i,     sampler->all + count + i,
                          sampler->arrival.offsets, sampler->bench->size, stride};
}

// Whether a rank whose time counts lost its core during a sample, which lie `count` apart.
static bool any_switched(const struct times *times, long count) {
    for (int r = 0; r < times->ranks; r++)
        if (!isnan(times->end[r * times->stride]) && times->end[r * times->stride + count] > 0)
            return true;
    return false;
}

// Time from one sample's end to the next one's in a stage, on rank 0. The median, where MPIPerf
// has the mean: one interruption would make windows of milliseconds, for good.
double stage_pace(struct sampler *sampler, const struct operation *operation, long count) {
    double *steps = sampler->own, before = sampler->first_s; // gathered already: room to use
    for (long i = 0; i < count; i++) {
        struct times times = stage_times(sampler, operation, i, count);
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

// What the ranks of these times tell of sample `i` of a stage.
static struct sample sample_of(const struct operation *operation, const struct progress *progress,
                               const struct times *times, const struct verdict *verdict, long i,
                               long count) {
    const double *stage = times->begin - i;
    double one = 1 / (double)progress->calls;
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
                            .valid = verdict->valid,
                            .extra = {verdict->late_s, any_switched(times, count)}};
    if (operation->around && operation->around->describe)
        operation->around->describe(operation, &timing, &sample);
    return sample;
}

// What each rank alone would have told of the sample, which is valid where that of all is.
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
                              times->stride};
        if (isnan(*alone.end))
            continue;
        struct verdict verdict = sampler->start->judge(sampler, progress, &alone);
        verdict.valid = valid;
        samples_stream(&bench->samples, sample_of(operation, progress, &alone, &verdict, i, count),
                       r, &bench->failure);
    }
}

static void count_valid(struct progress *progress, double time_s, double sample_s) {
    double *least = &progress->least_s[progress->valid.n % 2];
    *least = fmin(*least, time_s);
    moments_add(&progress->valid, time_s);
    progress->shortest_s = fmin(progress->shortest_s, sample_s);
}

// Makes samples of a stage, on rank 0; returns how many of them are not valid.
long stage_judge(struct sampler *sampler, const struct operation *operation,
                 struct progress *progress, long count) {
    struct bench *bench = sampler->bench;
    long wrong = 0;
    for (long i = 0; i < count; i++, progress->repetitions++) {
        struct times times = stage_times(sampler, operation, i, count);
        struct verdict verdict = sampler->start->judge(sampler, progress, &times);
        struct sample sample = sample_of(operation, progress, &times, &verdict, i, count);
        samples_quantity(&bench->samples, sample.operation,
                         quantity_of(sampler, operation, progress), &bench->failure);
        samples_add(&bench->samples, sample, &bench->failure);
        if (sampler->per_rank)
            stream_ranks(sampler, operation, progress, &times, sample.valid, i, count);
        if (sample.valid)
            count_valid(progress, sample.time_s, verdict.time_s);
        else
            wrong++;
    }
    return wrong;
}
