// SPDX-License-Identifier: BSD-3-Clause
// The systematic errors of measuring collectives, MPIPerf's six and three more, each as two
// operations: with and without.
#include "systematic.h"

static const struct option systematic_options[] = {
    {"sizes", OPTION_SIZES, "8,8Ki", "B", NULL, 1, INT_MAX, "message sizes"},
    {"communicators", OPTION_INTEGER, "10", "", NULL, 1, 10000,
     "new communicators on which the first call is compared with the second"},
    {0},
};

// Error 1: first calls of collective operations, in which a library sets things up.

// Arguments of a call: a block of `count` bytes for each rank, to send and to receive.
struct blocks {
    MPI_Comm all, comm;
    int rank, size, kind, count;
    char *out, *in;
};

#define CALL(name, ...)                                                                           \
    static void call_##name(const struct blocks *b) {                                             \
        __VA_ARGS__;                                                                              \
    }
CALL(bcast, MPI_Bcast(b->in, b->count, MPI_BYTE, 0, b->comm))
CALL(allreduce, MPI_Allreduce(b->out, b->in, b->count, MPI_BYTE, MPI_BOR, b->comm))
CALL(gather, MPI_Gather(b->out, b->count, MPI_BYTE, b->in, b->count, MPI_BYTE, 0, b->comm))
CALL(allgather, MPI_Allgather(b->out, b->count, MPI_BYTE, b->in, b->count, MPI_BYTE, b->comm))
CALL(alltoall, MPI_Alltoall(b->out, b->count, MPI_BYTE, b->in, b->count, MPI_BYTE, b->comm))
CALL(reduce, MPI_Reduce(b->out, b->in, b->count, MPI_BYTE, MPI_BOR, 0, b->comm))
CALL(barrier, MPI_Barrier(b->comm))

// The content of `in` after an operation. Block m of rank r's `out` is message m of sender r.
enum left {
    NOTHING,
    FROM_ROOT,   // block 0: message 0 of rank 0
    ORED,        // block 0: message 0 of rank 0, each of whose bits one rank gives
    FROM_EACH,   // block r: message 0 of rank r
    FOR_EACH_ONE // block r: the message of rank r that has this rank's number
};

// The barrier has no size.
static const struct {
    const char *first, *second;
    void (*call)(const struct blocks *blocks);
    enum left left;
    bool at_root; // and nothing elsewhere
} kinds[] = {{"bcast-first", "bcast-second", call_bcast, FROM_ROOT, false},
             {"allreduce-first", "allreduce-second", call_allreduce, ORED, false},
             {"gather-first", "gather-second", call_gather, FROM_EACH, true},
             {"allgather-first", "allgather-second", call_allgather, FROM_EACH, false},
             {"alltoall-first", "alltoall-second", call_alltoall, FOR_EACH_ONE, false},
             {"reduce-first", "reduce-second", call_reduce, ORED, true},
             {"barrier-first", "barrier-second", call_barrier, NOTHING, false}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void run_call(void *state, long calls) {
    const struct blocks *blocks = state;
    for (; calls > 0; calls--)
        kinds[blocks->kind].call(blocks);
}

// Before the first of the two calls; the second has the same communicator.
static void renew(const struct operation *operation, long repetition) {
    struct blocks *blocks = operation->state;
    (void)repetition;
    if (blocks->comm != MPI_COMM_NULL)
        MPI_Comm_free(&blocks->comm);
    MPI_Comm_dup(blocks->all, &blocks->comm);
}

// Poison: nothing that any operation leaves. The root's own message is where bcast takes it.
static void fill_blocks(const struct blocks *blocks) {
    enum left left = kinds[blocks->kind].left;
    size_t bytes = (size_t)blocks->count, ranks = (size_t)blocks->size;
    for (int r = 0; r < blocks->size; r++) {
        payload_fill(blocks->out + (size_t)r * bytes, bytes, left == ORED ? 0 : blocks->rank,
                     (unsigned)r);
        payload_poison(blocks->in + (size_t)r * bytes, bytes, r, (unsigned)blocks->rank);
    }
    if (blocks->rank == 0)
        payload_fill(blocks->in, bytes, 0, 0);
    for (size_t bit = 0; left == ORED && bit < 8 * bytes; bit++)
        if (bit % ranks != (size_t)blocks->rank)
            blocks->out[bit / 8] &= (char)~(1 << bit % 8);
}

static void check_blocks(const struct operation *operation, unsigned round,
                         struct failure *failure) {
    const struct blocks *blocks = operation->state;
    enum left left = kinds[blocks->kind].left;
    size_t bytes = (size_t)blocks->count;
    bool each = left == FROM_EACH || left == FOR_EACH_ONE;
    size_t right = 0, wanted = 0;
    if (round == 0 || left == NOTHING || (kinds[blocks->kind].at_root && blocks->rank != 0))
        return;
    for (int r = 0; r < (each ? blocks->size : 1) && right == wanted; r++) {
        const char *place = blocks->in + (size_t)r * bytes;
        unsigned message = left == FOR_EACH_ONE ? (unsigned)blocks->rank : 0;
        wanted += bytes;
        right += payload_check(place, bytes, each ? r : 0, message);
    }
    if (right < wanted)
        failure_set(failure, STATUS_FAILED,
                    "wrong result: byte %zu of %s of %zu B at rank %d; do not trust this MPI's "
                    "transport",
                    right, operation->name, bytes, blocks->rank);
}

// The barrier is our own, by messages: the library's would set up more of what is looked for. A
// network's connections to the ranks 1, 2, 4, ... ahead are there already: the barrier and the
// agreeing of ranks opened them.
static void measure_two_calls(struct sampler *sampler, struct blocks *blocks) {
    const int kind = blocks->kind;
    size_t bytes = kinds[kind].left == NOTHING ? 0 : (size_t)blocks->count;
    struct turn calls[2] = {
        {{.name = kinds[kind].first,
          .message = {.bytes = bytes,
                      .payload = (double)bytes * (blocks->size - 1)}, // by any, at least
          .special = {.calls = 1, .program = true},
          .around = &(const struct around){.prepare = renew},
          .run = run_call,
          .state = blocks},
         {0}}};
    struct order order = {.how = ORDER_DECLARED};
    calls[1] = calls[0];
    calls[1].operation.name = kinds[kind].second;
    calls[1].operation.around = &(const struct around){.check = check_blocks};
    sampler_turns(sampler, calls, 2, stop_next, &order);
    sampler_check(sampler, &calls[1].operation, 1);
}

// Samples NAME-first and NAME-second of seven operations with `bytes` B a message, on a new
// communicator for each repetition; repetition 0 is the first call of its size in the launch. A
// time is the longest of the ranks' own, after a barrier. Collective; failure agreed.
static void first_calls_measure(struct bench *bench, size_t bytes) {
    struct sampler sampler;
    struct buffer out = {0}, in = {0};
    size_t room = bytes * (size_t)bench->size;
    sampler_read(&sampler, bench);
    sampler.start = start_find("barrier");
    sampler.stage = sampler.calls = 1;
    sampler.stop.min = sampler.stop.max = options_integer(&bench->options, "communicators");
    if (bench_buffers(bench, &out, &in, room, 0, 1)) {
        struct blocks blocks = {.all = bench->comm,
                                .comm = MPI_COMM_NULL,
                                .rank = bench->rank,
                                .size = bench->size,
                                .count = (int)bytes,
                                .out = out.pool,
                                .in = in.pool};
        for (; blocks.kind < KINDS && !failed(&bench->failure); blocks.kind++) {
            fill_blocks(&blocks);
            measure_two_calls(&sampler, &blocks);
        }
        if (blocks.comm != MPI_COMM_NULL)
            MPI_Comm_free(&blocks.comm);
    }
    buffers_close(&out, &in);
    sampler_close(&sampler);
}

struct broadcast {
    bool unwritten; // nothing, when the timing begins
    bool rotating;  // the root
    MPI_Comm comm;
    int rank, size, count, root;
    struct buffer buffer;
    char *place; // of the message
};

static void next_place(const struct operation *operation, long repetition) {
    struct broadcast *b = operation->state;
    b->place = buffer_next(&b->buffer);
    b->root = b->rotating && repetition > 0 ? (int)(repetition % b->size) : 0;
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
    payload_verify(b->place, count, 0, 0, b->rank, failure);
    if (b->unwritten)
        buffer_forget(&b->buffer);
}

static struct broadcast broadcast_of(struct bench *bench, size_t bytes) {
    return (struct broadcast){
        .comm = bench->comm, .rank = bench->rank, .size = bench->size, .count = (int)bytes};
}

static const struct around around = {.prepare = next_place, .check = check};

static struct operation operation_of(struct broadcast *b, const char *name,
                                     void (*run)(void *, long)) {
    return (struct operation){
        .name = name,
        .message = {.bytes = (size_t)b->count, .payload = (double)b->count * (b->size - 1)},
        .around = &around,
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
        b.rotating = ways[i].rotating;
        sampler->per_rank |= ways[i].per_rank;
        memory_ask(bench->comm, buffer_room(bytes, ways[i].cold ? node_cache() : 0, 1),
                   &bench->failure);
        bench_buffer(bench, &b.buffer, "message", bytes, ways[i].cold ? node_cache() : 0, 1);
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
    bench_buffer(bench, &b.buffer, "message", bytes, 0, 1);
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
    for (struct walk walk = bench_walk(bench, (int)sizes->count); walk_on(&walk);) {
        broadcasts(sampler, sizes->bytes[walk.at]);
        if (!failed(&bench->failure))
            loops(sampler, sizes->bytes[walk.at]);
        if (!failed(&bench->failure))
            addresses_errors(sampler, sizes->bytes[walk.at]);
    }
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
    if (!failed(&bench->failure) && sampler.sync.method)
        skew_measure(&sampler);
    sampler_close(&sampler);
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
    .options = {systematic_options, skew_options, sampler_options, stop_options, sync_options},
    .columns = sampler_columns,
    .reach = REACH_MANAGED,
    .run = run,
};
