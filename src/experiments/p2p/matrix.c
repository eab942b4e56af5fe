// SPDX-License-Identifier: BSD-3-Clause
// Matrix: a ping-pong between every two ranks, one pair after the other, to find a slow link.
#include "experiment.h"

enum { RANKS_MOST = 1024 };

static const struct option matrix_options[] = {
    SIZES_ROW("8,1Mi", 0, INT_MAX - (1 << 20), "message sizes"),
    SAMPLER_START_ROW("loop"),
    {0},
};

static const struct column columns[] = {
    SAMPLER_COLUMN_ROWS,
    {"first", "", "the lower rank of the pair, which takes the time"},
    {"second", "", "the higher rank of the pair"},
    {0},
};

// The pair that works now, on one rank. All other ranks wait.
struct link {
    MPI_Comm comm;
    int self, first, second, count;
    struct buffer out, in;
};

static bool takes_part(const struct link *link) {
    return link->self == link->first || link->self == link->second;
}

static void run_calls(void *state, long calls) {
    const struct link *link = state;
    bool first = link->self == link->first;
    if (takes_part(link))
        pingpong_calls(link->comm, first ? link->second : link->first, first, link->out.pool,
                       link->in.pool, link->count, calls);
}

static void enter(const struct operation *operation) {
    struct link *link = operation->state;
    link->count = (int)operation->message.bytes;
    buffer_shape(&link->out, operation->message.bytes);
    buffer_shape(&link->in, operation->message.bytes);
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct link *link = operation->state;
    int peer = link->self == link->first ? link->second : link->first;
    enter(operation);
    size_t count = (size_t)link->count;
    if (!takes_part(link))
        return;
    payload_fill(link->out.pool, count, link->self, round);
    payload_poison(link->in.pool, count, peer, round);
    run_calls(link, 1);
    payload_verify(link->in.pool, count, peer, round, link->self, failure);
}

// Every pair, in an order of its own: a slow moment is not a row of the matrix.
static void measure_all(struct sampler *sampler, struct link *link, const struct sizes *sizes) {
    struct bench *bench = sampler->bench;
    int size = bench->size;
    for (struct walk walk = bench_walk(bench, size * (size - 1) / 2); walk_on(&walk);) {
        int left = walk.at;
        link->first = 0;
        while (left >= size - 1 - link->first)
            left -= size - 1 - link->first++;
        link->second = link->first + 1 + left;
        struct curve curve = {{.name = "matrix",
                               .special = {.bystander = link->self != link->first,
                                           .share = 0.5,
                                           .factors = (double[]){link->first, link->second},
                                           .factors_count = 2},
                               .around = &(const struct around){.enter = enter, .check = check},
                               .run = run_calls,
                               .state = link},
                              .messages = 2};
        curve_run(sampler, &curve, sizes);
    }
}

static void run(struct bench *bench) {
    struct sizes sizes = curve_sizes(&bench->options, &bench->failure);
    struct link link = {.comm = bench->comm, .self = bench->rank};
    struct sampler sampler;
    size_t most = sizes_largest(&sizes);
    if (bench->size > RANKS_MOST)
        failure_set(&bench->failure, STATUS_USAGE,
                    "%d ranks have too many pairs; start at most %d, one on each node",
                    bench->size, RANKS_MOST);
    sampler_open(&sampler, bench, false);
    if (bench_buffers(bench, &link.out, &link.in, most, 0, 1))
        measure_all(&sampler, &link, &sizes);
    sampler_close(&sampler);
    buffers_close(&link.out, &link.in);
    sizes_free(&sizes);
}

const struct experiment matrix = {
    .name = "matrix",
    .summary = "a ping-pong between every two ranks, one pair after the other",
    .what = "Time of one message, one way: half of a round trip between ranks `first` and "
            "`second`, while all other ranks\nwait. With one rank on each node the matrix shows "
            "which node or link is slow.",
    .options = {matrix_options, curve_options, sampler_options, stop_options, sync_options},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
