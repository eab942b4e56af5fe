// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks with computation of a chosen amount among them: how they are run,
// checked and sampled. The moves themselves are in moves.c.
#include "train.h"

enum { TRIALS = 7, CHAIN_BYTES = 8192, ROW_LEAST = 2, ROW_MOST = 1000 };
enum { NOTES = sizeof(struct train_notes) / sizeof(double) };

const struct option train_options[] = {
    SIZES_ROW("1:1Mi:x4", 0, INT_MAX - (1 << 20), "message sizes"),
    {"mode", OPTION_CHOICE, "standard", "", "standard|synchronous", 0, 0, "send mode"},
    {"blocking", OPTION_CHOICE, "no", "", "yes|no", 0, 0,
     "no: computation is between the call that starts a message and the one that waits for it"},
    {"receive", OPTION_CHOICE, "as-sends", "", "as-sends|blocking|nonblocking", 0, 0,
     "of receives, where that is to be otherwise than --blocking"},
    CACHE_ROW,
    {0},
};

// A sample: of messages whose parts are summed up one row, else two of different lengths; and, on
// rank 0, the computation of a row alone, after them.
static void run_row(struct train *train, long calls) {
    struct train_notes *notes = &train->notes;
    const struct clock *clock = &train->bench->clock;
    if (train->move->sum_of_parts) {
        train->stamped = true;
        train->move->go(train, calls);
        notes->parts = train->parts;
    } else {
        train->stamped = false;
        double begin = program_mark(clock);
        train->move->go(train, calls);
        double middle = program_mark(clock);
        train->move->go(train, TRAIN_LONGER * calls);
        notes->rows_s[1] = program_mark(clock) - middle;
        notes->rows_s[0] = middle - begin;
    }
    notes->alone_s = 0;
    if (train->bench->rank != 0 || train->work == 0)
        return;
    double begin = program_mark(clock);
    for (long i = 0; i < calls; i++)
        compute_do(train->compute, train->work);
    notes->alone_s = program_mark(clock) - begin;
}

static void run(void *state, long calls) {
    run_row(((const struct amount *)state)->train, calls);
}

static struct train *train_of(const struct operation *operation) {
    return ((const struct amount *)operation->state)->train;
}

static void enter(const struct operation *operation) {
    const struct amount *amount = operation->state;
    struct train *train = amount->train;
    train->move = amount->move;
    train->work = amount->work;
    train->step = amount->step;
    train->calls = operation->special.calls;
}

// Measures the parts of operations in a separate row, because clocks inside an operation that is
// timed as one would add to its time.
static void take_parts(const struct operation *operation, long repetition) {
    struct train *train = train_of(operation);
    if (train->move->sum_of_parts || repetition < 0)
        return;
    train->stamped = true;
    barrier_enter(train->bench->comm);
    train->move->go(train, train->calls);
    train->notes.parts = train->parts;
}

// Time of one operation.
static double time_of(const struct train *train, const struct train_notes *notes, long calls) {
    const struct parts *parts = &notes->parts;
    double all = train->move->sum_of_parts
                     ? parts->start_s + parts->compute_s + parts->wait_s
                     : (notes->rows_s[1] - notes->rows_s[0]) / (TRAIN_LONGER - 1);
    return all / (double)calls * train->move->share;
}

// A row that was interrupted may make the shorter one the longer.
static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct train *train = train_of(operation);
    const struct train_notes *notes = (const struct train_notes *)timing->notes; // rank 0's
    double one = train->move->share / (double)sample->calls;
    double time_s = time_of(train, notes, sample->calls);
    double extra[] = {(double)train->work,          notes->parts.start_s * one,
                      notes->parts.compute_s * one, notes->parts.wait_s * one,
                      notes->alone_s * one,         train->step};
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        sample->extra[SAMPLER_COLUMNS + i] = extra[i];
    sample->valid = sample->valid && time_s > 0;
    sample->time_s = fmax(time_s, 0);
}

static const struct around around = {.enter = enter, .prepare = take_parts, .describe = describe};

// The minimum time of one operation in some samples that are not kept.
static double least_time(struct train *train, long calls) {
    double least = INFINITY;
    for (int i = 0; i < TRIALS; i++) {
        barrier_enter(train->bench->comm);
        run_row(train, calls);
        double time_s = time_of(train, &train->notes, calls);
        least = time_s > 0 ? fmin(least, time_s) : least;
    }
    announce(train->bench->comm, &least, 1);
    return isfinite(least) ? least : 1e-6;
}

double train_least_time(struct train *train, const struct move *move) {
    train->move = move;
    train->work = 0;
    return least_time(train, ROW_LEAST);
}

// Operations in a row: both rows of a sample together last --sample-time.
static long row_of(struct train *train) {
    double calls = train->sampler.sample_s / least_time(train, ROW_LEAST) / (1 + TRAIN_LONGER);
    return (long)fmin(fmax(ceil(calls), ROW_LEAST), ROW_MOST);
}

void train_measure(struct train *train, struct amount *amounts, int count) {
    struct bench *bench = train->bench;
    struct turn *turns = calloc((size_t)count, sizeof *turns);
    if (!turns)
        failure_set(&bench->failure, STATUS_FAILED, "no memory for %d amounts", count);
    if (ranks_agree(bench->comm, &bench->failure, false) != STATUS_OK) {
        free(turns);
        return;
    }
    for (int i = 0; i < count; i++) {
        amounts[i].train = train;
        turns[i].operation = (struct operation){.name = amounts[i].move->operation,
                                                .message = {.bytes = (size_t)train->pair.count},
                                                .special = {.bystander = bench->rank != 0,
                                                            .own = true,
                                                            .notes = (double *)&train->notes,
                                                            .notes_count = NOTES},
                                                .around = &around,
                                                .run = run,
                                                .state = &amounts[i]};
        enter(&turns[i].operation);
        turns[i].operation.special.calls =
            train->sampler.calls ? train->sampler.calls : row_of(train);
    }
    sampler_turns(&train->sampler, turns, count, stop_next, &bench->order);
    ranks_agree(bench->comm, &bench->failure, false);
    bench_print(bench);
    free(turns);
}

static bool open_train(struct train *train, struct compute *compute, const struct sizes *sizes) {
    struct bench *bench = train->bench;
    size_t most = sizes_largest(sizes), cache = bench_cache(bench);
    if (!bench_buffers(bench, &train->pair.out, &train->pair.in, most, cache, 1))
        return false;
    bool chain = !options_have(&bench->options, "compute-bytes");
    compute_open(compute,
                 chain ? CHAIN_BYTES : (size_t)options_integer(&bench->options, "compute-bytes"),
                 &bench->failure);
    compute->chain = chain;
    if (ranks_agree(bench->comm, &bench->failure, false) != STATUS_OK)
        return false;
    train->multiply_add_s = compute_calibrate(compute, &bench->clock);
    return true;
}

// One size, between two checks of the payload.
static void measure(struct train *train, size_t bytes, void (*size)(struct train *)) {
    const struct operation message = {.name = "message",
                                      .message = {.bytes = bytes},
                                      .around = &(const struct around){.check = pair_check},
                                      .state = &train->pair};
    pair_enter(&message);
    sampler_check(&train->sampler, &message, 0);
    if (!failed(&train->bench->failure))
        size(train);
    sampler_check(&train->sampler, &message, 1);
}

void train_run(struct bench *bench, void (*size)(struct train *train)) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    struct compute compute = {0};
    struct train train = {
        .bench = bench, .pair = pair_of(bench, bench->rank, 1 - bench->rank), .compute = &compute};
    train.receives_block = options_is(&bench->options, "receive", "as-sends")
                               ? train.pair.blocking
                               : options_is(&bench->options, "receive", "blocking");
    sampler_open(&train.sampler, bench, false);
    train.sampler.stage = 1; // alternately
    if (!failed(&bench->failure) && open_train(&train, &compute, sizes)) {
        if (bench->rank == 0)
            bench_found(bench, "multiply_add_s", train.multiply_add_s);
        for (struct walk walk = bench_walk(bench, (int)sizes->count); walk_on(&walk);)
            measure(&train, sizes->bytes[walk.at], size);
    }
    sampler_close(&train.sampler);
    compute_close(&compute);
    buffers_close(&train.pair.out, &train.pair.in);
}
