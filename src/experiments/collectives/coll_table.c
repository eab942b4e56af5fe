// SPDX-License-Identifier: BSD-3-Clause
// The one table of collective operations: name, where data go, arguments. The blocking, the
// non-blocking and the persistent call of a row have the same arguments, with large counts too.
#include "coll.h"

static const struct flow
    synchronise = {0},
    spread = {.sends = BLOCKS_ONE, .receives = BLOCKS_ONE, .root_sends = true, .one_buffer = true},
    collect = {.sends = BLOCKS_ONE, .receives = BLOCKS_EACH, .root_receives = true},
    collect_v = {.sends = BLOCKS_ONE,
                 .receives = BLOCKS_EACH,
                 .root_receives = true,
                 .own_counts = true},
    deal = {.sends = BLOCKS_EACH, .receives = BLOCKS_ONE, .root_sends = true},
    deal_v = {.sends = BLOCKS_EACH,
              .receives = BLOCKS_ONE,
              .root_sends = true,
              .own_counts = true},
    share = {.sends = BLOCKS_ONE, .receives = BLOCKS_EACH},
    share_v = {.sends = BLOCKS_ONE, .receives = BLOCKS_EACH, .own_counts = true},
    exchange = {.sends = BLOCKS_EACH, .receives = BLOCKS_EACH},
    exchange_v = {.sends = BLOCKS_EACH, .receives = BLOCKS_EACH, .own_counts = true},
    fold_to_root = {.sends = BLOCKS_ONE,
                    .receives = BLOCKS_ONE,
                    .root_receives = true,
                    .fold = FOLD_ALL},
    fold_to_all = {.sends = BLOCKS_ONE, .receives = BLOCKS_ONE, .fold = FOLD_ALL},
    fold_and_deal = {.sends = BLOCKS_EACH, .receives = BLOCKS_ONE, .fold = FOLD_ALL},
    fold_and_deal_v = {.sends = BLOCKS_EACH,
                       .receives = BLOCKS_ONE,
                       .fold = FOLD_ALL,
                       .own_counts = true,
                       .split = true},
    fold_up_to = {.sends = BLOCKS_ONE, .receives = BLOCKS_ONE, .fold = FOLD_UP_TO},
    fold_before = {.sends = BLOCKS_ONE, .receives = BLOCKS_ONE, .fold = FOLD_BEFORE},
    near_share = {.sends = BLOCKS_ONE, .receives = BLOCKS_EACH, .neighbours = true},
    near_share_v = {.sends = BLOCKS_ONE,
                    .receives = BLOCKS_EACH,
                    .neighbours = true,
                    .own_counts = true},
    near_exchange = {.sends = BLOCKS_EACH, .receives = BLOCKS_EACH, .neighbours = true},
    near_exchange_v = {
        .sends = BLOCKS_EACH, .receives = BLOCKS_EACH, .neighbours = true, .own_counts = true};

// The arguments of a `struct side`: one count for all blocks, a count and a place for each, and a
// type too. Counts are ints, or as large as memory is (MPI_Count).
#define INT_ONE(side) c->side.at, c->side.counts[0], c->type
#define INT_EACH(side) c->side.at, c->side.counts, c->side.starts, c->type
#define INT_TYPED(side) c->side.at, c->side.counts, c->side.byte_starts, c->side.types
#define INT_FAR(side) c->side.at, c->side.counts, c->side.far_starts, c->side.types
#define INT_COUNT (int)c->count
#define INT_COUNTS c->out.counts
#define WIDE_ONE(side) c->side.at, c->side.wide_counts[0], c->type
#define WIDE_EACH(side) c->side.at, c->side.wide_counts, c->side.wide_starts, c->type
#define WIDE_TYPED(side) c->side.at, c->side.wide_counts, c->side.far_starts, c->side.types
#define WIDE_FAR WIDE_TYPED
#define WIDE_COUNT c->count
#define WIDE_COUNTS c->out.wide_counts
#define FOLDED(count) c->out.at, c->in.at, count, c->type, c->op

// X(ending of the calls' names, name, Name in MPI, flow, arguments)
#define BARRIER(X) X(, barrier, Barrier, synchronise, c->comm)
#define OPERATIONS(X, L, E)                                                                       \
    X(E, bcast, Bcast, spread, L##ONE(in), c->root, c->comm)                                      \
    X(E, gather, Gather, collect, L##ONE(out), L##ONE(in), c->root, c->comm)                      \
    X(E, gatherv, Gatherv, collect_v, L##ONE(out), L##EACH(in), c->root, c->comm)                 \
    X(E, scatter, Scatter, deal, L##ONE(out), L##ONE(in), c->root, c->comm)                       \
    X(E, scatterv, Scatterv, deal_v, L##EACH(out), L##ONE(in), c->root, c->comm)                  \
    X(E, allgather, Allgather, share, L##ONE(out), L##ONE(in), c->comm)                           \
    X(E, allgatherv, Allgatherv, share_v, L##ONE(out), L##EACH(in), c->comm)                      \
    X(E, alltoall, Alltoall, exchange, L##ONE(out), L##ONE(in), c->comm)                          \
    X(E, alltoallv, Alltoallv, exchange_v, L##EACH(out), L##EACH(in), c->comm)                    \
    X(E, alltoallw, Alltoallw, exchange_v, L##TYPED(out), L##TYPED(in), c->comm)                  \
    X(E, reduce, Reduce, fold_to_root, FOLDED(L##COUNT), c->root, c->comm)                        \
    X(E, allreduce, Allreduce, fold_to_all, FOLDED(L##COUNT), c->comm)                            \
    X(E, reduce_scatter, Reduce_scatter, fold_and_deal_v, FOLDED(L##COUNTS), c->comm)             \
    X(E, reduce_scatter_block, Reduce_scatter_block, fold_and_deal, FOLDED(L##COUNT), c->comm)    \
    X(E, scan, Scan, fold_up_to, FOLDED(L##COUNT), c->comm)                                       \
    X(E, exscan, Exscan, fold_before, FOLDED(L##COUNT), c->comm)                                  \
    X(E, neighbor_allgather, Neighbor_allgather, near_share, L##ONE(out), L##ONE(in), c->comm)    \
    X(E, neighbor_allgatherv, Neighbor_allgatherv, near_share_v, L##ONE(out), L##EACH(in),        \
      c->comm)                                                                                    \
    X(E, neighbor_alltoall, Neighbor_alltoall, near_exchange, L##ONE(out), L##ONE(in), c->comm)   \
    X(E, neighbor_alltoallv, Neighbor_alltoallv, near_exchange_v, L##EACH(out), L##EACH(in),      \
      c->comm)                                                                                    \
    X(E, neighbor_alltoallw, Neighbor_alltoallw, near_exchange_v, L##FAR(out), L##FAR(in), c->comm)

#ifdef COTEJO_PERSISTENT
#define INIT(E, name, Name, ...)                                                                  \
    static void init_##name##E(struct coll *c, MPI_Request *request) {                            \
        MPI_##Name##_init##E(__VA_ARGS__, MPI_INFO_NULL, request);                                \
    }
#define INIT_OF(name) init_##name
#else
#define INIT(E, name, Name, ...)
#define INIT_OF(name) NULL
#endif

#define DEFINE(E, name, Name, flow, ...)                                                          \
    static void run_##name##E(void *state, long calls) {                                          \
        const struct coll *c = state;                                                             \
        for (; calls > 0; calls--)                                                                \
            MPI_##Name##E(__VA_ARGS__);                                                           \
    }                                                                                             \
    static void run_i##name##E(void *state, long calls) {                                         \
        const struct coll *c = state;                                                             \
        for (; calls > 0; calls--) {                                                              \
            MPI_Request request;                                                                  \
            MPI_I##name##E(__VA_ARGS__, &request);                                                \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                \
        }                                                                                         \
    }                                                                                             \
    static void start_##name##E(struct coll *c, MPI_Request *request) {                           \
        MPI_I##name##E(__VA_ARGS__, request);                                                     \
    }                                                                                             \
    INIT(E, name, Name, __VA_ARGS__)

#define CALLS(E, name)                                                                            \
    { run_##name##E, run_i##name##E, start_##name##E, INIT_OF(name##E) }
#ifdef COTEJO_LARGE_COLLECTIVES
#define WIDE_CALLS(name) CALLS(_c, name)
#else
#define WIDE_CALLS(name)                                                                          \
    { NULL, NULL, NULL, NULL }
#endif

#define ROW(name, flow, wide)                                                                     \
    {{#name, "i" #name, #name "_init"},                                                           \
     "i" #name,                                                                                   \
     "i" #name ".compute",                                                                        \
     "i" #name ".both",                                                                           \
     &flow,                                                                                       \
     {CALLS(, name), wide},                                                                       \
     false},
#define MOCKUP_ROW(name, flow)                                                                    \
    {{#name}, #name, #name ".compute", #name ".both", &flow, {{.run = run_##name}}, true},
#define COUNTED_ROW(E, name, Name, flow, ...) ROW(name, flow, WIDE_CALLS(name))

// Mock-ups of collective operations: the same result by other collective operations of the
// library. A library should not be slower than its own mock-up (performance guidelines, Traeff et
// al. 2010; Hunold and Carpen-Amarie 2018).
//
// X(name, flow of the operation that it replaces)
#define MOCKUPS(X)                                                                                \
    X(barrier_as_allreduce, synchronise)                                                          \
    X(bcast_as_allgatherv, spread)                                                                \
    X(bcast_as_scatter_allgather, spread)                                                         \
    X(gather_as_allgather, collect)                                                               \
    X(gather_as_reduce, collect)                                                                  \
    X(scatter_as_bcast, deal)                                                                     \
    X(allgather_as_allreduce, share)                                                              \
    X(allgather_as_alltoall, share)                                                               \
    X(allgather_as_gather_bcast, share)                                                           \
    X(reduce_as_allreduce, fold_to_root)                                                          \
    X(reduce_as_reduce_scatter_gather, fold_to_root)                                              \
    X(reduce_as_reduce_scatter_block_gather, fold_to_root)                                        \
    X(allreduce_as_reduce_bcast, fold_to_all)                                                     \
    X(allreduce_as_reduce_scatter_allgather, fold_to_all)                                         \
    X(allreduce_as_reduce_scatter_block_allgather, fold_to_all)                                   \
    X(reduce_scatter_as_allreduce, fold_and_deal_v)                                               \
    X(reduce_scatter_as_reduce_and_scatterv, fold_and_deal_v)                                     \
    X(reduce_scatter_block_as_reduce_scatter, fold_and_deal)                                      \
    X(reduce_scatter_block_as_reduce_and_scatter, fold_and_deal)                                  \
    X(reduce_scatter_block_as_allreduce, fold_and_deal)                                           \
    X(scan_as_exscan_reduce_local, fold_up_to)

// The calls of each mock-up. Parts of a vector are those of coll->parts, and coll->spare has room
// for the blocks of all ranks.

#define MOCKUP(name, ...)                                                                         \
    static void run_##name(void *state, long calls) {                                             \
        const struct coll *c = state;                                                             \
        for (; calls > 0; calls--) {                                                              \
            __VA_ARGS__                                                                           \
        }                                                                                         \
    }

// The place of this rank's part in a vector.
static char *part_of(const struct coll *c, char *vector) {
    return vector + (size_t)c->part_starts[c->rank] * c->part_unit;
}

// Returns the result on the root, and memory of the same size on the other ranks.
static char *result(const struct coll *c) {
    return c->rank == c->root ? c->in.at : c->spare;
}

// Bytes of the block of one rank.
static size_t block_bytes(const struct coll *c) {
    return (size_t)c->count * c->part_unit;
}

// Returns the blocks of all ranks, with zeros in place of those of the other ranks.
static char *alone(const struct coll *c) {
    memset(c->spare, 0, block_bytes(c) * (size_t)c->size);
    memcpy(c->spare + (size_t)c->rank * block_bytes(c), c->out.at, block_bytes(c));
    return c->spare;
}

MOCKUP(barrier_as_allreduce, {
    int mine = 0;
    int all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, c->comm);
})

MOCKUP(bcast_as_allgatherv, {
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c->in.at, c->lone, c->lone + c->size,
                   c->type, c->comm);
})

MOCKUP(bcast_as_scatter_allgather, {
    char *mine = part_of(c, c->in.at);
    MPI_Scatterv(c->in.at, c->parts, c->part_starts, c->type,
                 c->rank == c->root ? MPI_IN_PLACE : mine, c->parts[c->rank], c->type, c->root,
                 c->comm);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c->in.at, c->parts, c->part_starts, c->type,
                   c->comm);
})

MOCKUP(gather_as_allgather, {
    MPI_Allgather(c->out.at, (int)c->count, c->type, result(c), (int)c->count, c->type, c->comm);
})

MOCKUP(gather_as_reduce, {
    MPI_Reduce(alone(c), c->in.at, (int)block_bytes(c) * c->size, MPI_BYTE, MPI_BOR, c->root,
               c->comm);
})

MOCKUP(scatter_as_bcast, {
    char *all = c->rank == c->root ? c->out.at : c->spare;
    MPI_Bcast(all, (int)c->count * c->size, c->type, c->root, c->comm);
    memcpy(c->in.at, all + (size_t)c->rank * block_bytes(c), block_bytes(c));
})

MOCKUP(allgather_as_allreduce, {
    MPI_Allreduce(alone(c), c->in.at, (int)block_bytes(c) * c->size, MPI_BYTE, MPI_BOR, c->comm);
})

MOCKUP(allgather_as_alltoall, {
    for (int r = 0; r < c->size; r++)
        memcpy(c->spare + (size_t)r * block_bytes(c), c->out.at, block_bytes(c));
    MPI_Alltoall(c->spare, (int)c->count, c->type, c->in.at, (int)c->count, c->type, c->comm);
})

MOCKUP(allgather_as_gather_bcast, {
    MPI_Gather(c->out.at, (int)c->count, c->type, c->in.at, (int)c->count, c->type, c->root,
               c->comm);
    MPI_Bcast(c->in.at, (int)c->count * c->size, c->type, c->root, c->comm);
})

MOCKUP(reduce_as_allreduce,
       { MPI_Allreduce(c->out.at, result(c), (int)c->count, c->type, c->op, c->comm); })

MOCKUP(reduce_as_reduce_scatter_gather, {
    char *all = result(c), *mine = part_of(c, all);
    MPI_Reduce_scatter(c->out.at, mine, c->parts, c->type, c->op, c->comm);
    MPI_Gatherv(c->rank == c->root ? MPI_IN_PLACE : mine, c->parts[c->rank], c->type, all,
                c->parts, c->part_starts, c->type, c->root, c->comm);
})

// Elements that the ranks cannot share equally are reduced apart.
MOCKUP(reduce_as_reduce_scatter_block_gather, {
    int each = (int)c->count / c->size, rest = (int)c->count % c->size;
    size_t bytes = (size_t)each * c->part_unit, shared = (size_t)c->size * bytes;
    char *all = result(c), *mine = all + (size_t)c->rank * bytes;
    MPI_Reduce_scatter_block(c->out.at, mine, each, c->type, c->op, c->comm);
    MPI_Gather(c->rank == c->root ? MPI_IN_PLACE : mine, each, c->type, all, each, c->type,
               c->root, c->comm);
    if (rest > 0)
        MPI_Reduce(c->out.at + shared, all + shared, rest, c->type, c->op, c->root, c->comm);
})

MOCKUP(allreduce_as_reduce_scatter_block_allgather, {
    int each = (int)c->count / c->size, rest = (int)c->count % c->size;
    size_t bytes = (size_t)each * c->part_unit, shared = (size_t)c->size * bytes;
    MPI_Reduce_scatter_block(c->out.at, c->in.at + (size_t)c->rank * bytes, each, c->type, c->op,
                             c->comm);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c->in.at, each, c->type, c->comm);
    if (rest > 0)
        MPI_Allreduce(c->out.at + shared, c->in.at + shared, rest, c->type, c->op, c->comm);
})

MOCKUP(allreduce_as_reduce_bcast, {
    MPI_Reduce(c->out.at, c->in.at, (int)c->count, c->type, c->op, c->root, c->comm);
    MPI_Bcast(c->in.at, (int)c->count, c->type, c->root, c->comm);
})

MOCKUP(allreduce_as_reduce_scatter_allgather, {
    MPI_Reduce_scatter(c->out.at, part_of(c, c->in.at), c->parts, c->type, c->op, c->comm);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c->in.at, c->parts, c->part_starts, c->type,
                   c->comm);
})

MOCKUP(reduce_scatter_as_allreduce, {
    MPI_Allreduce(c->out.at, c->spare, (int)c->count, c->type, c->op, c->comm);
    memcpy(c->in.at, part_of(c, c->spare), (size_t)c->parts[c->rank] * c->part_unit);
})

MOCKUP(reduce_scatter_as_reduce_and_scatterv, {
    MPI_Reduce(c->out.at, c->spare, (int)c->count, c->type, c->op, c->root, c->comm);
    MPI_Scatterv(c->spare, c->parts, c->part_starts, c->type, c->in.at, c->parts[c->rank], c->type,
                 c->root, c->comm);
})

MOCKUP(reduce_scatter_block_as_reduce_scatter,
       { MPI_Reduce_scatter(c->out.at, c->in.at, c->out.counts, c->type, c->op, c->comm); })

MOCKUP(reduce_scatter_block_as_reduce_and_scatter, {
    MPI_Reduce(c->out.at, c->spare, (int)c->count * c->size, c->type, c->op, c->root, c->comm);
    MPI_Scatter(c->spare, (int)c->count, c->type, c->in.at, (int)c->count, c->type, c->root,
                c->comm);
})

MOCKUP(reduce_scatter_block_as_allreduce, {
    MPI_Allreduce(c->out.at, c->spare, (int)c->count * c->size, c->type, c->op, c->comm);
    memcpy(c->in.at, c->spare + (size_t)c->rank * block_bytes(c), block_bytes(c));
})

MOCKUP(scan_as_exscan_reduce_local, {
    MPI_Exscan(c->out.at, c->spare, (int)c->count, c->type, c->op, c->comm);
    memcpy(c->in.at, c->out.at, block_bytes(c));
    if (c->rank > 0)
        MPI_Reduce_local(c->spare, c->in.at, (int)c->count, c->type, c->op);
})

BARRIER(DEFINE)
OPERATIONS(DEFINE, INT_, )
#ifdef COTEJO_LARGE_COLLECTIVES
OPERATIONS(DEFINE, WIDE_, _c)
#endif

// A barrier counts nothing: its calls are the same.
const struct collective collectives[] = {ROW(barrier, synchronise, CALLS(, barrier))
                                             OPERATIONS(COUNTED_ROW, INT_, ) MOCKUPS(MOCKUP_ROW)};
const int collectives_count = sizeof collectives / sizeof *collectives;
