// SPDX-License-Identifier: BSD-3-Clause
// All-to-all by hand and by the collective: seven ways to send a block from every rank to every
// other rank.
#include "experiment.h"

static const struct option alltoall_options[] = {
    SIZES_ROW("1:256Ki:x4", 0, INT_MAX - (1 << 20), "bytes from each rank to each other"),
    {"way", OPTION_CHOICE, "all", "",
     "all|collective|sendrecv|replace|blocking|nonblocking|one-sided|put|get", 0, 0,
     "collective: MPI_Alltoall; sendrecv, replace: in rounds of partners; blocking, nonblocking: "
     "all receives posted, then such sends; put, get: MPI_Put or MPI_Get between two fences; "
     "one-sided: both of them; all: all but these two"},
    BENCH_MEMORY_ROW,
    CACHE_ROW,
    SAMPLER_START_ROW("round-time"),
    {0},
};

enum { TAG = 1 };

// The blocks of one call.
struct call {
    char *out, *in;
};

struct everyone {
    MPI_Comm comm;
    int rank, size, count;
    struct buffer out, in;   // a block for each rank; what is exchanged in place is in `in`
    MPI_Win far_in, far_out; // the same buffers of all ranks; MPI_WIN_NULL: not needed
    MPI_Request *requests;   // 2 for each rank
    void (*way)(struct everyone *all, struct call call);
    struct call next;
};

static char *block(char *blocks, const struct everyone *all, int rank) {
    return blocks + (size_t)rank * (size_t)all->count;
}

static void keep_own(const struct everyone *all, struct call call) {
    memcpy(block(call.in, all, all->rank), block(call.out, all, all->rank), (size_t)all->count);
}

// Partner in a round: i and j meet when i + j is the round modulo the number of ranks, so the
// partner's partner is oneself, for any number of ranks. A rank that meets itself has a rest.
static int partner_of(const struct everyone *all, int round) {
    return (round + all->size - all->rank) % all->size;
}

static void collective(struct everyone *all, struct call call) {
    MPI_Alltoall(call.out, all->count, MPI_BYTE, call.in, all->count, MPI_BYTE, all->comm);
}

static void sendrecv(struct everyone *all, struct call call) {
    for (int round = 0; round < all->size; round++) {
        int peer = partner_of(all, round);
        if (peer == all->rank)
            keep_own(all, call);
        else
            MPI_Sendrecv(block(call.out, all, peer), all->count, MPI_BYTE, peer, TAG,
                         block(call.in, all, peer), all->count, MPI_BYTE, peer, TAG, all->comm,
                         MPI_STATUS_IGNORE);
    }
}

static void replace(struct everyone *all, struct call call) {
    for (int round = 0; round < all->size; round++) {
        int peer = partner_of(all, round);
        if (peer != all->rank)
            MPI_Sendrecv_replace(block(call.in, all, peer), all->count, MPI_BYTE, peer, TAG, peer,
                                 TAG, all->comm, MPI_STATUS_IGNORE);
    }
}

static int after(const struct everyone *all, int step) {
    return (all->rank + step) % all->size;
}

// All receives, the nearest sender first; each rank begins to send to its next neighbour, so
// that no rank is everyone's first.
static void posted(struct everyone *all, struct call call, bool blocks) {
    int count = 0;
    for (int step = 1; step < all->size; step++) {
        int peer = after(all, all->size - step);
        MPI_Irecv(block(call.in, all, peer), all->count, MPI_BYTE, peer, TAG, all->comm,
                  &all->requests[count++]);
    }
    for (int step = 1; step < all->size; step++) {
        char *bytes = block(call.out, all, after(all, step));
        if (blocks)
            MPI_Send(bytes, all->count, MPI_BYTE, after(all, step), TAG, all->comm);
        else
            MPI_Isend(bytes, all->count, MPI_BYTE, after(all, step), TAG, all->comm,
                      &all->requests[count++]);
    }
    keep_own(all, call);
    MPI_Waitall(count, all->requests, MPI_STATUSES_IGNORE);
}

static void blocking(struct everyone *all, struct call call) {
    posted(all, call, true);
}

static void nonblocking(struct everyone *all, struct call call) {
    posted(all, call, false);
}

// Accesses the place of this rank's block in each other rank's buffer. All ranks use the same slot
// of their own buffers.
#define ONE_SIDED(name, access, mine, theirs)                                                     \
    static void name(struct everyone *all, struct call call) {                                    \
        MPI_Aint place =                                                                          \
            (MPI_Aint)(call.theirs - all->theirs.pool) + (MPI_Aint)all->rank * all->count;        \
        MPI_Win_fence(MPI_MODE_NOPRECEDE, all->far_##theirs);                                     \
        for (int step = 1; step < all->size; step++)                                              \
            access(block(call.mine, all, after(all, step)), all->count, MPI_BYTE,                 \
                   after(all, step), place, all->count, MPI_BYTE, all->far_##theirs);             \
        MPI_Win_fence(MPI_MODE_NOSUCCEED, all->far_##theirs);                                     \
        keep_own(all, call);                                                                      \
    }
ONE_SIDED(put, MPI_Put, out, in)
ONE_SIDED(get, MPI_Get, in, out)

static void prepare(const struct operation *operation, long repetition) {
    struct everyone *all = operation->state;
    (void)repetition;
    all->next = (struct call){buffer_next(&all->out), buffer_next(&all->in)};
}

static void run_way(void *state, long calls) {
    struct everyone *all = state;
    for (; calls > 0; calls--)
        all->way(all, all->next);
}

static void enter(const struct operation *operation) {
    struct everyone *all = operation->state;
    all->count = (int)operation->message.bytes;
    buffer_shape(&all->out, operation->message.bytes * (size_t)all->size);
    buffer_shape(&all->in, operation->message.bytes * (size_t)all->size);
}

// Every block is known by its sender and its receiver.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct everyone *all = operation->state;
    size_t count = operation->message.bytes;
    enter(operation);
    struct call call = {buffer_slot(&all->out), buffer_slot(&all->in)};
    bool in_place = all->way == replace;
    unsigned from = round * (unsigned)all->size, to_me = from + (unsigned)all->rank;
    for (int peer = 0; peer < all->size; peer++) {
        payload_poison(block(call.in, all, peer), count, peer, to_me);
        payload_fill(block(in_place ? call.in : call.out, all, peer), count, all->rank,
                     from + (unsigned)peer);
    }
    prepare(operation, -1);
    run_way(all, 1);
    for (int peer = 0; peer < all->size; peer++)
        payload_verify(block(call.in, all, peer), count, peer, to_me, all->rank, failure);
}

static const struct way {
    const char *name, *operation;
    void (*way)(struct everyone *, struct call);
} ways[] = {
    {"collective", "alltoall-collective", collective},
    {"sendrecv", "alltoall-sendrecv", sendrecv},
    {"replace", "alltoall-replace", replace},
    {"blocking", "alltoall-blocking", blocking},
    {"nonblocking", "alltoall-nonblocking", nonblocking},
    {"put", "alltoall-put", put},
    {"get", "alltoall-get", get},
};

static bool wanted(const struct bench *bench, const char *way) {
    bool far = strcmp(way, "put") == 0 || strcmp(way, "get") == 0;
    return options_is(&bench->options, "way", far ? "one-sided" : "all") ||
           options_is(&bench->options, "way", way);
}

static void measure(struct sampler *sampler, struct everyone *all, const struct way *way,
                    size_t bytes) {
    all->way = way->way;
    sampler_measure(
        sampler,
        &(struct operation){
            .name = way->operation,
            .message = {.bytes = bytes,
                        .payload = (double)all->size * (all->size - 1) * (double)bytes},
            .special = {.step = 2},
            .around = &(const struct around){.enter = enter, .prepare = prepare, .check = check},
            .run = run_way,
            .state = all});
}

// All ways and sizes in the order that is drawn.
static void run_ways(struct bench *bench, struct everyone *all, const struct sizes *sizes) {
    struct sampler sampler;
    int count = (int)sizes->count, planned = count * (int)(sizeof ways / sizeof *ways);
    all->far_in = all->far_out = MPI_WIN_NULL;
    if (wanted(bench, "put"))
        all->far_in = errors_window(all->comm, &all->in);
    if (wanted(bench, "get"))
        all->far_out = errors_window(all->comm, &all->out);
    sampler_open(&sampler, bench, false);
    for (struct walk walk = bench_walk(bench, planned); walk_on(&walk);) {
        const struct way *way = &ways[walk.at / count];
        if (wanted(bench, way->name))
            measure(&sampler, all, way, sizes->bytes[walk.at % count]);
    }
    sampler_close(&sampler);
    if (all->far_in != MPI_WIN_NULL)
        MPI_Win_free(&all->far_in);
    if (all->far_out != MPI_WIN_NULL)
        MPI_Win_free(&all->far_out);
}

// The sizes whose buffers fit into memory, to be freed by sizes_free.
static struct sizes fitting(struct bench *bench) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    struct sizes kept = {.bytes = malloc(sizes->count * sizeof *kept.bytes)};
    struct need *needs = malloc(sizes->count * sizeof *needs);
    if (!kept.bytes || !needs)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for %zu sizes", sizes->count);
    for (size_t i = 0; needs && i < sizes->count; i++) {
        size_t most = sizes->bytes[i] * (size_t)bench->size;
        needs[i] = (struct need){"alltoall-variants", sizes->bytes[i],
                                 2 * (double)buffer_room(most, bench_cache(bench), 1), false};
    }
    bench_fit(bench, needs, (int)sizes->count);
    for (size_t i = 0; !failed(&bench->failure) && i < sizes->count; i++)
        if (needs[i].fits)
            kept.bytes[kept.count++] = sizes->bytes[i];
    free(needs);
    return kept;
}

static void run(struct bench *bench) {
    struct everyone all = {.comm = bench->comm, .rank = bench->rank, .size = bench->size};
    struct sizes sizes = fitting(bench);
    size_t most = sizes_largest(&sizes) * (size_t)bench->size;
    all.requests = malloc(2 * (size_t)bench->size * sizeof *all.requests);
    if (!all.requests)
        failure_set(&bench->failure, STATUS_FAILED, "no memory for %d ranks", bench->size);
    if (bench_buffers(bench, &all.out, &all.in, most, bench_cache(bench), 1))
        run_ways(bench, &all, &sizes);
    buffers_close(&all.out, &all.in);
    free(all.requests);
    sizes_free(&sizes);
}

const struct experiment alltoall_variants = {
    .name = "alltoall-variants",
    .summary = "every rank to every rank, by hand, one-sided and by MPI_Alltoall",
    .what = "Time from the common start until the slowest rank has sent its blocks and received "
            "the blocks of all other ranks.\nMethod: Stival (2006), all-to-all; partners meet in "
            "rounds, for any number of ranks.",
    .options = {alltoall_options, sampler_options, arrival_options, stop_options, sync_options},
    .columns = sampler_columns,
    .reach = REACH_MANAGED,
    .run = run,
};
