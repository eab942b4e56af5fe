// SPDX-License-Identifier: BSD-3-Clause
// The one table of collective operations: name, where data go, arguments. The blocking, the
// non-blocking and the persistent call of a row have the same arguments.
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

// A side as MPI wants it: one count for all blocks, a count and a place for each, and a type too.
#define ONE(side) c->side.at, c->side.counts[0], c->type
#define EACH(side) c->side.at, c->side.counts, c->side.starts, c->type
#define TYPED(side) c->side.at, c->side.counts, c->side.byte_starts, c->side.types
#define FAR(side) c->side.at, c->side.counts, c->side.far_starts, c->side.types
#define FOLDED(count) c->out.at, c->in.at, count, c->type, c->op

// X(name, Name in MPI, flow, arguments)
#define OPERATIONS(X)                                                                             \
    X(barrier, Barrier, synchronise, c->comm)                                                     \
    X(bcast, Bcast, spread, ONE(in), c->root, c->comm)                                            \
    X(gather, Gather, collect, ONE(out), ONE(in), c->root, c->comm)                               \
    X(gatherv, Gatherv, collect_v, ONE(out), EACH(in), c->root, c->comm)                          \
    X(scatter, Scatter, deal, ONE(out), ONE(in), c->root, c->comm)                                \
    X(scatterv, Scatterv, deal_v, EACH(out), ONE(in), c->root, c->comm)                           \
    X(allgather, Allgather, share, ONE(out), ONE(in), c->comm)                                    \
    X(allgatherv, Allgatherv, share_v, ONE(out), EACH(in), c->comm)                               \
    X(alltoall, Alltoall, exchange, ONE(out), ONE(in), c->comm)                                   \
    X(alltoallv, Alltoallv, exchange_v, EACH(out), EACH(in), c->comm)                             \
    X(alltoallw, Alltoallw, exchange_v, TYPED(out), TYPED(in), c->comm)                           \
    X(reduce, Reduce, fold_to_root, FOLDED(c->count), c->root, c->comm)                           \
    X(allreduce, Allreduce, fold_to_all, FOLDED(c->count), c->comm)                               \
    X(reduce_scatter, Reduce_scatter, fold_and_deal_v, FOLDED(c->out.counts), c->comm)            \
    X(reduce_scatter_block, Reduce_scatter_block, fold_and_deal, FOLDED(c->count), c->comm)       \
    X(scan, Scan, fold_up_to, FOLDED(c->count), c->comm)                                          \
    X(exscan, Exscan, fold_before, FOLDED(c->count), c->comm)                                     \
    X(neighbor_allgather, Neighbor_allgather, near_share, ONE(out), ONE(in), c->comm)             \
    X(neighbor_allgatherv, Neighbor_allgatherv, near_share_v, ONE(out), EACH(in), c->comm)        \
    X(neighbor_alltoall, Neighbor_alltoall, near_exchange, ONE(out), ONE(in), c->comm)            \
    X(neighbor_alltoallv, Neighbor_alltoallv, near_exchange_v, EACH(out), EACH(in), c->comm)      \
    X(neighbor_alltoallw, Neighbor_alltoallw, near_exchange_v, FAR(out), FAR(in), c->comm)

#ifdef COTEJO_PERSISTENT
#define INIT(name, Name, ...)                                                                     \
    static void init_##name(struct coll *c, MPI_Request *request) {                               \
        MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request);                                   \
    }
#define INIT_OF(name) init_##name
#else
#define INIT(name, Name, ...)
#define INIT_OF(name) NULL
#endif

#define DEFINE(name, Name, flow, ...)                                                             \
    static void run_##name(void *state, long calls) {                                             \
        const struct coll *c = state;                                                             \
        for (; calls > 0; calls--)                                                                \
            MPI_##Name(__VA_ARGS__);                                                              \
    }                                                                                             \
    static void run_i##name(void *state, long calls) {                                            \
        const struct coll *c = state;                                                             \
        for (; calls > 0; calls--) {                                                              \
            MPI_Request request;                                                                  \
            MPI_I##name(__VA_ARGS__, &request);                                                   \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                \
        }                                                                                         \
    }                                                                                             \
    static void start_##name(struct coll *c, MPI_Request *request) {                              \
        MPI_I##name(__VA_ARGS__, request);                                                        \
    }                                                                                             \
    INIT(name, Name, __VA_ARGS__)

#define ROW(name, Name, flow, ...)                                                                \
    {{#name, "i" #name, #name "_init"},                                                           \
     "i" #name,                                                                                   \
     "i" #name ".compute",                                                                        \
     "i" #name ".both",                                                                           \
     &flow,                                                                                       \
     run_##name,                                                                                  \
     run_i##name,                                                                                 \
     start_##name,                                                                                \
     INIT_OF(name)},

OPERATIONS(DEFINE)

const struct collective collectives[] = {OPERATIONS(ROW)};
const int collectives_count = sizeof collectives / sizeof *collectives;
