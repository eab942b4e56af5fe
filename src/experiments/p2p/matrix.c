// SPDX-License-Identifier: BSD-3-Clause
// Matrix: a ping-pong between every two ranks, one pair after the other, to find a slow link.
#include "experiment.h"

enum { MATRIX_TAG = 1, RANKS_MOST = 1024 };

static const struct option matrix_options[] = {
    {"sizes", OPTION_SIZES, "8,1Mi", "B", NULL, 0, INT_MAX - (1 << 20),
     "message sizes: a list (1,8,4Ki) or ranges (1:1Mi:x2, 0:64:+8)"},
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

static void run_calls(void *state, long calls) {
    struct link *link = state;
    MPI_Comm comm = link->comm;
    if (link->self == link->first)
        for (; calls > 0; calls--) {
            MPI_Send(link->out.pool, link->count, MPI_BYTE, link->second, MATRIX_TAG, comm);
            MPI_Recv(link->in.pool, link->count, MPI_BYTE, link->second, MATRIX_TAG, comm,
                     MPI_STATUS_IGNORE);
        }
    else if (link->self == link->second)
        for (; calls > 0; calls--) {
            MPI_Recv(link->in.pool, link->count, MPI_BYTE, link->first, MATRIX_TAG, comm,
                     MPI_STATUS_IGNORE);
            MPI_Send(link->out.pool, link->count, MPI_BYTE, link->first, MATRIX_TAG, comm);
        }
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
    if (link->self != link->first && link->self != link->second)
        return;
    payload_fill(link->out.pool, count, link->self, round);
    payload_poison(link->in.pool, count, peer, round);
    run_calls(link, 1);
    payload_verify(link->in.pool, count, peer, round, link->self, failure);
}

static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct link *link = operation->state;
    (void)timing;
    sample->time_s *= 0.5;
    sample->extra[SAMPLER_COLUMNS] = link->first;
    sample->extra[SAMPLER_COLUMNS + 1] = link->second;
}

static void fit(struct operation *operation) {
    operation->message.payload = 2 * (double)operation->message.bytes;
}

static void measure_pair(struct sampler *sampler, struct link *link, const struct sizes *sizes) {
    struct curve curve = {
        {.name = "matrix",
         .special = {.bystander = link->self != link->first},
         .around = &(const struct around){.enter = enter, .check = check, .describe = describe},
         .run = run_calls,
         .state = link},
        fit};
    curve_run(sampler, &curve, sizes);
}

// Every pair, in an order of its own: a slow moment is not a row of the matrix.
static void measure_all(struct sampler *sampler, struct link *link, const struct sizes *sizes) {
    struct bench *bench = sampler->bench;
    int size = bench->size, pairs = size * (size - 1) / 2;
    int *order = bench_order(bench, pairs);
    for (int i = 0; i < pairs && !failed(&bench->failure); i++) {
        int left = order[i];
        link->first = 0;
        while (left >= size - 1 - link->first)
            left -= size - 1 - link->first++;
        link->second = link->first + 1 + left;
        measure_pair(sampler, link, sizes);
    }
    free(order);
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
    buffer_close(&link.out);
    buffer_close(&link.in);
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
