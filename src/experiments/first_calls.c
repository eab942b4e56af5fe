// SPDX-License-Identifier: BSD-3-Clause
// First calls of collective operations, in which a library sets things up.
#include "first_calls.h"

#include "barrier.h"
#include "node.h"
#include "payload.h"
#include "ranks.h"

const struct option first_calls_options[] = {
    {"communicators", OPTION_INTEGER, "10", "", NULL, 1, 10000,
     "new communicators on which the first call is held against the second"},
    {0},
};

// Arguments of a call: a block of `count` bytes for each rank on either side.
struct blocks {
    MPI_Comm comm;
    int count;
    char *out, *in;
};

static void bcast(const struct blocks *b) {
    MPI_Bcast(b->in, b->count, MPI_BYTE, 0, b->comm);
}

static void allreduce(const struct blocks *b) {
    MPI_Allreduce(b->out, b->in, b->count, MPI_BYTE, MPI_BOR, b->comm);
}

static void gather(const struct blocks *b) {
    MPI_Gather(b->out, b->count, MPI_BYTE, b->in, b->count, MPI_BYTE, 0, b->comm);
}

static void allgather(const struct blocks *b) {
    MPI_Allgather(b->out, b->count, MPI_BYTE, b->in, b->count, MPI_BYTE, b->comm);
}

static void alltoall(const struct blocks *b) {
    MPI_Alltoall(b->out, b->count, MPI_BYTE, b->in, b->count, MPI_BYTE, b->comm);
}

// The all-to-all is last, so that what it leaves is checked.
static const struct {
    const char *first, *second;
    void (*call)(const struct blocks *blocks);
} operations[] = {{"bcast-first", "bcast-second", bcast},
                  {"allreduce-first", "allreduce-second", allreduce},
                  {"gather-first", "gather-second", gather},
                  {"allgather-first", "allgather-second", allgather},
                  {"alltoall-first", "alltoall-second", alltoall}};

enum { OPERATIONS = sizeof operations / sizeof *operations };

// The barrier is our own, by messages: the library's would set up part of what is looked for.
static double longest(const struct bench *bench, const struct blocks *blocks,
                      void (*call)(const struct blocks *)) {
    double most;
    barrier_enter(bench->comm);
    double begin = clock_now(&bench->clock);
    call(blocks);
    double mine = clock_now(&bench->clock) - begin;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, bench->comm);
    return most;
}

static void keep(struct bench *bench, const char *operation, size_t bytes, long repetition,
                 double time_s) {
    if (bench->rank == 0)
        samples_add(&bench->samples,
                    (struct sample){.operation = operation,
                                    .bytes = bytes,
                                    .repetition = repetition,
                                    .calls = 1,
                                    .time_s = time_s,
                                    .valid = true},
                    &bench->failure);
}

static void twice(struct bench *bench, struct blocks *blocks, int operation, long repetition) {
    double times[2];
    MPI_Comm_dup(bench->comm, &blocks->comm);
    for (int call = 0; call < 2; call++)
        times[call] = longest(bench, blocks, operations[operation].call);
    MPI_Comm_free(&blocks->comm);
    keep(bench, operations[operation].first, (size_t)blocks->count, repetition, times[0]);
    keep(bench, operations[operation].second, (size_t)blocks->count, repetition, times[1]);
}

static void fill(const struct bench *bench, struct buffer *out, struct buffer *in, size_t bytes) {
    for (int r = 0; r < bench->size; r++) {
        payload_fill(out->pool + (size_t)r * bytes, bytes, bench->rank, (unsigned)r);
        payload_poison(in->pool + (size_t)r * bytes, bytes, r, (unsigned)bench->rank);
    }
}

static void check(struct bench *bench, const struct buffer *in, size_t bytes) {
    for (int r = 0; r < bench->size; r++)
        if (payload_check(in->pool + (size_t)r * bytes, bytes, r, (unsigned)bench->rank) < bytes)
            failure_set(&bench->failure, STATUS_FAILED,
                        "wrong payload: of an all-to-all of %zu B, from rank %d to rank %d; do "
                        "not trust this MPI's transport",
                        bytes, r, bench->rank);
}

void first_calls_measure(struct bench *bench, size_t bytes) {
    long communicators = options_integer(&bench->options, "communicators");
    struct buffer out, in;
    size_t room = bytes * (size_t)bench->size;
    memory_ask(bench->comm, 2 * room, &bench->failure);
    buffer_open(&out, room, false, node_cache(), 1, &bench->failure);
    buffer_open(&in, room, false, node_cache(), 1, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK) {
        struct blocks blocks = {.count = (int)bytes, .out = out.pool, .in = in.pool};
        fill(bench, &out, &in, bytes);
        for (int operation = 0; operation < OPERATIONS; operation++)
            for (long i = 0; i < communicators; i++)
                twice(bench, &blocks, operation, i);
        check(bench, &in, bytes);
    }
    buffer_close(&out);
    buffer_close(&in);
    ranks_agree(bench->comm, &bench->failure, false);
}
