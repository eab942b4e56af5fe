// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks with computation of a chosen amount among them: how they are run,
// checked and sampled. The moves themselves are in moves.c.
#include "train.h"

#include "node.h"
#include "ranks.h"
#include "series.h"

#include <limits.h>
#include <math.h>

enum { TAG = 1, TOKEN = 2, TRIALS = 7, CHAIN_BYTES = 8192 };

const struct option train_options[] = {
    {"sizes", OPTION_SIZES, "1:1Mi:x4", "B", NULL, 0, INT_MAX - (1 << 20),
     "message sizes: a list (1,8,4Ki) or ranges (1:1Mi:x2, 0:64:+8)"},
    {"mode", OPTION_CHOICE, "standard", "", "standard|synchronous", 0, 0, "send mode"},
    {"blocking", OPTION_CHOICE, "no", "", "yes|no", 0, 0,
     "no: computation is between the call that starts a message and the one that waits for it"},
    {"cache", OPTION_CHOICE, "warm", "", "warm|cold", 0, 0,
     "cold: every message has a buffer that has left the caches"},
    {0},
};

static void check_one(struct train *train, int sender, unsigned message, struct failure *failure) {
    struct bench *bench = train->bench;
    size_t count = (size_t)train->count;
    MPI_Request request;
    if (bench->rank == sender) {
        payload_fill(buffer_slot(&train->out), count, sender, message);
        MPI_Recv(NULL, 0, MPI_BYTE, 1 - sender, TOKEN, bench->comm, MPI_STATUS_IGNORE);
        train->send(buffer_next(&train->out), train->count, MPI_BYTE, 1 - sender, TAG,
                    bench->comm);
        return;
    }
    char *place = buffer_next(&train->in);
    payload_poison(place, count, sender, message);
    MPI_Irecv(place, train->count, MPI_BYTE, sender, TAG, bench->comm, &request);
    MPI_Send(NULL, 0, MPI_BYTE, sender, TOKEN, bench->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    size_t wrong = payload_check(place, count, sender, message);
    if (wrong < count)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a message of %zu B from rank %d; do not trust "
                    "this MPI's transport",
                    wrong, count, sender);
}

static void check(struct train *train, unsigned turn) {
    struct failure *failure = &train->bench->failure;
    for (int sender = 0; sender < 2; sender++)
        check_one(train, sender, 2 * turn + (unsigned)sender, failure);
    ranks_agree(train->bench->comm, failure, false);
}

static double alone(const struct train *train, long calls) {
    const struct clock *clock = &train->bench->clock;
    double begin = clock_now(clock);
    for (long i = 0; i < calls; i++)
        compute_do(train->compute, train->work);
    return clock_now(clock) - begin;
}

static void fill(const void *state, double fastest_s, struct sample *sample) {
    const struct train *train = state;
    const struct parts *parts = &train->parts;
    double one = train->move->share / (double)sample->calls;
    (void)fastest_s;
    if (train->move->sum_of_parts)
        sample->time_s = (parts->start_s + parts->compute_s + parts->wait_s) * one;
    double extra[] = {(double)train->work,
                      parts->start_s * one,
                      parts->compute_s * one,
                      parts->wait_s * one,
                      train->work ? alone(train, sample->calls) * one : 0,
                      train->step};
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        sample->extra[i] = extra[i];
}

// The parts of operations that are timed whole: clocks inside them would be in their time.
static void take_parts(struct train *train, long calls) {
    if (train->move->sum_of_parts)
        return;
    train->stamped = true;
    MPI_Barrier(train->bench->comm);
    train->move->go(train, calls);
    train->stamped = false;
}

static struct work work_of(struct train *train, const struct turn *turn) {
    train->move = turn->move;
    train->work = turn->work;
    train->step = turn->step;
    train->stamped = turn->move->sum_of_parts;
    return (struct work){.operation = turn->move->operation,
                         .bytes = (size_t)train->count,
                         .share = turn->move->share,
                         .least_calls = turn->move->least_calls,
                         .go = turn->move->go,
                         .fill = fill,
                         .state = train};
}

void train_measure(struct train *train, const struct repeat *rule, struct turn *turns, int count) {
    struct bench *bench = train->bench;
    for (int t = 0; t < count; t++)
        if (turns[t].progress.calls == 0) {
            struct work work = work_of(train, &turns[t]);
            repeat_begin(bench, rule, &work, &turns[t].progress);
        }
    for (int left = count; left > 0;) {
        left = 0;
        for (int t = 0; t < count; t++) {
            int more = repeat_unfinished(rule, &turns[t].progress) && !failed(&bench->failure);
            MPI_Bcast(&more, 1, MPI_INT, 0, bench->comm);
            if (!more)
                continue;
            struct work work = work_of(train, &turns[t]);
            take_parts(train, turns[t].progress.calls);
            repeat_sample(bench, &work, &turns[t].progress);
            left++;
        }
    }
    bench_print(bench);
}

double train_least_time(struct train *train, const struct move *move) {
    const struct clock *clock = &train->bench->clock;
    long calls = move->least_calls ? move->least_calls : 8;
    double least = INFINITY;
    train->work = 0;
    train->stamped = move->sum_of_parts;
    for (int i = 0; i < TRIALS; i++) {
        MPI_Barrier(train->bench->comm);
        double begin = clock_now(clock);
        move->go(train, calls);
        const struct parts *p = &train->parts;
        double took = move->sum_of_parts ? p->start_s + p->wait_s : clock_now(clock) - begin;
        least = fmin(least, took / (double)calls * move->share);
    }
    return least;
}

static bool open_train(struct train *train, struct compute *compute, const struct sizes *sizes) {
    struct bench *bench = train->bench;
    bool cold = options_is(&bench->options, "cache", "cold");
    size_t most = sizes_largest(sizes), cache = node_cache();
    memory_ask(bench->comm, 2 * buffer_room(most, cold, cache, 1), &bench->failure);
    if (failed(&bench->failure))
        return false;
    buffer_open(&train->out, &bench->layout, "send", most, cold, cache, 1, &bench->failure);
    buffer_open(&train->in, &bench->layout, "receive", most, cold, cache, 1, &bench->failure);
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

void train_run(struct bench *bench,
               void (*size)(struct train *train, const struct repeat *rule, size_t bytes)) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    bool synchronous = options_is(&bench->options, "mode", "synchronous");
    struct compute compute = {0};
    struct train train = {.bench = bench,
                          .blocking = options_is(&bench->options, "blocking", "yes"),
                          .send = synchronous ? MPI_Ssend : MPI_Send,
                          .isend = synchronous ? MPI_Issend : MPI_Isend,
                          .compute = &compute};
    struct repeat rule = repeat_read(&bench->options, &bench->failure);
    if (!failed(&bench->failure) && open_train(&train, &compute, sizes)) {
        if (bench->rank == 0)
            bench_found(bench, "multiply_add_s", train.multiply_add_s);
        for (size_t i = 0; i < sizes->count && !failed(&bench->failure); i++) {
            train.count = (int)sizes->bytes[i];
            buffer_shape(&train.out, sizes->bytes[i]);
            buffer_shape(&train.in, sizes->bytes[i]);
            check(&train, 0);
            if (!failed(&bench->failure))
                size(&train, &rule, sizes->bytes[i]);
            if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
                check(&train, 1);
        }
    }
    compute_close(&compute);
    buffer_close(&train.out);
    buffer_close(&train.in);
    bench->payload_checked = !failed(&bench->failure);
}
