// SPDX-License-Identifier: BSD-3-Clause
// The systematic errors of measuring collectives, MPIPerf's six and three more, each as two
// operations: with and without.
#include "addresses.h"
#include "first_calls.h"
#include "host.h"
#include "payload.h"
#include "ranks.h"
#include "sampler.h"
#include "skew.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static const struct option systematic_options[] = {
    {"sizes", OPTION_SIZES, "8,8Ki", "B", NULL, 1, INT_MAX, "message sizes"},
    {0},
};

struct broadcast {
    bool unwritten; // nothing, when the timing begins
    MPI_Comm comm;
    int rank, size, count, root;
    struct buffer buffer;
    char *place; // of the message
};

static void next_place(const struct operation *operation, long repetition) {
    struct broadcast *b = operation->state;
    (void)repetition;
    b->place = buffer_next(&b->buffer);
}

static void rotate(const struct operation *operation, long repetition) {
    struct broadcast *b = operation->state;
    next_place(operation, repetition);
    b->root = repetition < 0 ? 0 : (int)(repetition % b->size);
}

static void bcast(void *state, long calls) {
    const struct broadcast *b = state;
    for (; calls > 0; calls--)
        MPI_Bcast(b->place, b->count, MPI_BYTE, b->root, b->comm);
}

// Linear: the root sends to one rank after the other, so that rank i has it after i messages.
static void linear(void *state, long calls) {
    const struct broadcast *b = state;
    for (; calls > 0; calls--) {
        for (int r = 1; b->rank == 0 && r < b->size; r++)
            MPI_Send(b->place, b->count, MPI_BYTE, r, 0, b->comm);
        if (b->rank != 0)
            MPI_Recv(b->place, b->count, MPI_BYTE, 0, 0, b->comm, MPI_STATUS_IGNORE);
    }
}

// One broadcast whose bytes are known; wrong ones are a failure, agreed.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct broadcast *b = operation->state;
    size_t count = operation->message.bytes;
    if (round > 0)
        return;
    b->root = 0;
    b->place = buffer_slot(&b->buffer);
    if (b->rank == 0)
        payload_fill(b->place, count, 0, 0);
    else
        payload_poison(b->place, count, 0, 0);
    operation->run(b, 1);
    size_t wrong = payload_check(b->place, count, 0, 0);
    if (wrong < count)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a broadcast of %zu B at rank %d; do not trust "
                    "this MPI's transport",
                    wrong, count, b->rank);
    if (b->unwritten)
        buffer_forget(&b->buffer);
}

static struct broadcast broadcast_of(struct bench *bench, size_t bytes) {
    return (struct broadcast){
        .comm = bench->comm, .rank = bench->rank, .size = bench->size, .count = (int)bytes};
}

static const struct around in_turn = {.prepare = next_place, .check = check},
                           rotating = {.prepare = rotate, .check = check};

static struct operation operation_of(struct broadcast *b, const char *name,
                                     void (*run)(void *, long)) {
    return (struct operation){
        .name = name,
        .message = {.bytes = (size_t)b->count, .payload = (double)b->count * (b->size - 1)},
        .around = &in_turn,
        .run = run,
        .state = b};
}

// Errors 3 and 4: arguments that change between repetitions, buffers that stay in the cache; and
// buffers that were never written. The others are compared with the warm broadcast from a fixed
// root. With `per_rank` it also contains error 2, one rank's time for all.
static void broadcasts(struct sampler *sampler, size_t bytes) {
    static const struct {
        const char *operation;
        bool cold, per_rank, unwritten, rotating;
    } ways[] = {{"bcast", false, true, false, false},
                {"bcast-rotating-root", false, false, false, true},
                {"bcast-cold", true, false, false, false},
                {"bcast-unwritten", false, false, true, false}};
    struct bench *bench = sampler->bench;
    for (int i = 0; i < 4 && !failed(&bench->failure); i++) {
        struct broadcast b = broadcast_of(bench, bytes);
        struct operation operation = operation_of(&b, ways[i].operation, bcast);
        bool per_rank = sampler->per_rank;
        b.unwritten = ways[i].unwritten;
        if (ways[i].rotating)
            operation.around = &rotating;
        sampler->per_rank |= ways[i].per_rank;
        memory_ask(bench->comm, buffer_room(bytes, ways[i].cold, node_cache(), 1),
                   &bench->failure);
        buffer_open(&b.buffer, &bench->layout, "message", bytes, ways[i].cold, node_cache(), 1,
                    &bench->failure);
        if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
            sampler_measure(sampler, &operation);
        buffer_close(&b.buffer);
        sampler->per_rank = per_rank;
    }
}

// Error 6: calls in a row after one start, compared with the same operation started together each
// time.
static void loops(struct sampler *sampler, size_t bytes) {
    struct bench *bench = sampler->bench;
    struct broadcast b = broadcast_of(bench, bytes);
    const struct sampler asked = *sampler;
    sampler->per_rank = true;
    if (bench->rank == 0 && bench->size == 2)
        printf(
            "# linear-loop: by the formula a loop of 2 ranks has no error; what is seen is that "
            "calls of a loop overlap; start 3 or more ranks to see the formula's error\n");
    buffer_open(&b.buffer, &bench->layout, "message", bytes, false, node_cache(), 1,
                &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK) {
        struct operation operation = operation_of(&b, "linear", linear);
        sampler_measure(sampler, &operation);
        operation.name = "linear-loop";
        sampler->start = start_find("barrier");
        sampler->calls = sampler->stage;
        if (!failed(&bench->failure))
            sampler_measure(sampler, &operation);
    }
    buffer_close(&b.buffer);
    sampler->start = asked.start;
    sampler->calls = asked.calls;
    sampler->per_rank = asked.per_rank;
}

// All ways of a size; sizes in the order that is drawn.
static void measure_all(struct sampler *sampler, const struct sizes *sizes) {
    struct bench *bench = sampler->bench;
    int *list = bench_order(bench, (int)sizes->count);
    for (size_t i = 0; i < sizes->count && !failed(&bench->failure); i++) {
        broadcasts(sampler, sizes->bytes[list[i]]);
        if (!failed(&bench->failure))
            loops(sampler, sizes->bytes[list[i]]);
        if (!failed(&bench->failure))
            addresses_errors(sampler, sizes->bytes[list[i]]);
    }
    free(list);
}

static void run(struct bench *bench) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    struct sampler sampler;
    for (size_t i = 0; i < sizes->count && !failed(&bench->failure); i++)
        first_calls_measure(bench, sizes->bytes[i]);
    bench_print(bench);
    sampler_open(&sampler, bench, false);
    if (!failed(&bench->failure))
        measure_all(&sampler, sizes);
    // Error 5: a barrier as the start line.
    if (!failed(&bench->failure) && sampler.sync.method) {
        skew_measure(&sampler, "mpi-barrier", "skew-mpi-barrier");
        skew_measure(&sampler, "barrier", "skew-barrier");
        skew_measure(&sampler, "round-time", "skew-deadline");
    }
    sampler_close(&sampler);
    bench->payload_checked = !failed(&bench->failure);
}

const struct experiment systematic_errors = {
    .name = "systematic-errors",
    .summary = "the six usual errors of measuring collectives, and how large each is here",
    .what =
        "1 the first call:           NAME-first against NAME-second, of seven collectives;\n"
        "  repetition 0 is the first of the launch\n"
        "2 one rank's time:          bcast.rank0 against bcast, the maximum over ranks\n"
        "3 arguments that change:    bcast-rotating-root against bcast\n"
        "4 buffers kept in cache:    bcast against bcast-cold\n"
        "5 a barrier as start line:  skew-mpi-barrier, skew-barrier against skew-deadline\n"
        "6 a loop without starts:    linear-loop.rankI against linear.rankI; for n ranks and k\n"
        "  calls wrong by the factor (n - 1)(k - 1) / (ik) + 1/k, at rank 0 by 1. On 2 ranks\n"
        "  that is 1 too: what is seen there is that messages of a loop are under way together\n"
        "And three more. Buffers never written, which are one page: bcast-unwritten against "
        "bcast\n"
        "where memcpy takes longest: alltoall-pit against alltoall-page, memcpy-pit against\n"
        "  memcpy-page\n"
        "where malloc puts buffers: alltoall-malloc against alltoall-page\n"
        "Method: MPIPerf (Kurnosov 2012).",
    .options = {systematic_options, first_calls_options, skew_options, sampler_options,
                stop_options, sync_options},
    .columns = sampler_columns,
    .reach = REACH_MANAGED,
    .run = run,
};
