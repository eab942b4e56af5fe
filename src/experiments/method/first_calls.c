// SPDX-License-Identifier: BSD-3-Clause
// First calls of collective operations, in which a library sets things up.
#include "first_calls.h"

#include "host.h"
#include "payload.h"
#include "ranks.h"
#include "sampler.h"

#include <string.h>

const struct option first_calls_options[] = {
    {"communicators", OPTION_INTEGER, "10", "", NULL, 1, 10000,
     "new communicators on which the first call is compared with the second"},
    {0},
};

// Arguments of a call: a block of `count` bytes for each rank, to send and to receive.
struct blocks {
    MPI_Comm all, comm;
    void (*call)(const struct blocks *blocks);
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

static void reduce(const struct blocks *b) {
    MPI_Reduce(b->out, b->in, b->count, MPI_BYTE, MPI_BOR, 0, b->comm);
}

static void barrier(const struct blocks *b) {
    MPI_Barrier(b->comm);
}

// The content of `in` after an operation. Block m of rank r's `out` is message m of sender r.
enum left {
    NOTHING,
    FROM_ROOT,   // block 0: message 0 of rank 0
    ORED,        // block 0: message 0 of all ranks, ored
    FROM_EACH,   // block r: message 0 of rank r
    FOR_EACH_ONE // block r: the message of rank r that has this rank's number
};

// The barrier has no size.
static const struct {
    const char *first, *second;
    void (*call)(const struct blocks *blocks);
    enum left left;
    bool at_root; // and nothing elsewhere
} kinds[] = {{"bcast-first", "bcast-second", bcast, FROM_ROOT, false},
             {"allreduce-first", "allreduce-second", allreduce, ORED, false},
             {"gather-first", "gather-second", gather, FROM_EACH, true},
             {"allgather-first", "allgather-second", allgather, FROM_EACH, false},
             {"alltoall-first", "alltoall-second", alltoall, FOR_EACH_ONE, false},
             {"reduce-first", "reduce-second", reduce, ORED, true},
             {"barrier-first", "barrier-second", barrier, NOTHING, false}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void run_call(void *state, long calls) {
    const struct blocks *blocks = state;
    for (; calls > 0; calls--)
        blocks->call(blocks);
}

// Before the first of the two calls; the second has the same communicator.
static void renew(const struct operation *operation, long repetition) {
    struct blocks *blocks = operation->state;
    (void)repetition;
    if (blocks->comm != MPI_COMM_NULL)
        MPI_Comm_free(&blocks->comm);
    MPI_Comm_dup(blocks->all, &blocks->comm);
}

// The barrier is our own, by messages: the library's would set up more of what is looked for. A
// network's connections to the ranks 1, 2, 4, ... ahead are there already: the barrier and the
// agreeing of ranks opened them.
static void measure(struct sampler *sampler, struct blocks *blocks, int kind) {
    struct bench *bench = sampler->bench;
    size_t bytes = kinds[kind].left == NOTHING ? 0 : (size_t)blocks->count;
    struct operation first = {
        .name = kinds[kind].first,
        .message = {.bytes = bytes,
                    .payload = (double)bytes * (bench->size - 1)}, // by any, at least
        .special = {.calls = 1, .program = true},
        .around = &(const struct around){.prepare = renew},
        .run = run_call,
        .state = blocks};
    struct operation second = first;
    struct progress progress[2];
    second.name = kinds[kind].second;
    second.around = NULL;
    blocks->call = kinds[kind].call;
    sampler_begin(sampler, &first, &progress[0]);
    sampler_begin(sampler, &second, &progress[1]);
    for (long i = 0; i < sampler->stop.max && !failed(&bench->failure); i++) {
        sampler_stage(sampler, &first, &progress[0], 1);
        sampler_stage(sampler, &second, &progress[1], 1);
        ranks_agree(bench->comm, &bench->failure, false);
    }
}

// Poison: nothing that any operation leaves. The root's own message is where bcast takes it.
static void fill(const struct bench *bench, const struct buffer *out, const struct buffer *in,
                 size_t bytes) {
    for (int r = 0; r < bench->size; r++) {
        payload_fill(out->pool + (size_t)r * bytes, bytes, bench->rank, (unsigned)r);
        payload_poison(in->pool + (size_t)r * bytes, bytes, r, (unsigned)bench->rank);
    }
    if (bench->rank == 0)
        payload_fill(in->pool, bytes, 0, 0);
}

// First byte of block 0 that is not the messages 0 of all ranks, ored; `bytes`: none. `room` is
// for two messages.
static size_t check_ored(const struct bench *bench, const char *in, char *room, size_t bytes) {
    memset(room + bytes, 0, bytes);
    for (int r = 0; r < bench->size; r++) {
        payload_fill(room, bytes, r, 0);
        for (size_t i = 0; i < bytes; i++)
            room[bytes + i] |= room[i];
    }
    for (size_t i = 0; i < bytes; i++)
        if (in[i] != room[bytes + i])
            return i;
    return bytes;
}

static void check(struct bench *bench, int kind, const struct buffer *out, const struct buffer *in,
                  size_t bytes) {
    enum left left = kinds[kind].left;
    bool each = left == FROM_EACH || left == FOR_EACH_ONE;
    size_t right = 0, wanted = 0;
    if (left == NOTHING || (kinds[kind].at_root && bench->rank != 0))
        return;
    for (int r = 0; r < (each ? bench->size : 1) && right == wanted; r++) {
        const char *place = in->pool + (size_t)r * bytes;
        unsigned message = left == FOR_EACH_ONE ? (unsigned)bench->rank : 0;
        wanted += bytes;
        // `out` has room for two messages, for there are two ranks at least; it is filled anew.
        right += left == ORED ? check_ored(bench, place, out->pool, bytes)
                              : payload_check(place, bytes, each ? r : 0, message);
    }
    if (right < wanted)
        failure_set(&bench->failure, STATUS_FAILED,
                    "wrong result: byte %zu of %s of %zu B at rank %d; do not trust this MPI's "
                    "transport",
                    right, kinds[kind].second, bytes, bench->rank);
}

void first_calls_measure(struct bench *bench, size_t bytes) {
    struct sampler sampler;
    struct buffer out, in;
    size_t room = bytes * (size_t)bench->size;
    sampler_read(&sampler, bench);
    sampler.start = start_find("barrier");
    sampler.calls = 1;
    sampler.stop.max = options_integer(&bench->options, "communicators");
    memory_ask(bench->comm, 2 * room, &bench->failure);
    buffer_open(&out, &bench->layout, "send", room, false, node_cache(), 1, &bench->failure);
    buffer_open(&in, &bench->layout, "receive", room, false, node_cache(), 1, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK) {
        struct blocks blocks = {.all = bench->comm,
                                .comm = MPI_COMM_NULL,
                                .count = (int)bytes,
                                .out = out.pool,
                                .in = in.pool};
        for (int kind = 0; kind < KINDS && !failed(&bench->failure); kind++) {
            fill(bench, &out, &in, bytes);
            measure(&sampler, &blocks, kind);
            check(bench, kind, &out, &in, bytes);
            ranks_agree(bench->comm, &bench->failure, false);
        }
        if (blocks.comm != MPI_COMM_NULL)
            MPI_Comm_free(&blocks.comm);
    }
    buffer_close(&out);
    buffer_close(&in);
    sampler_close(&sampler);
}
