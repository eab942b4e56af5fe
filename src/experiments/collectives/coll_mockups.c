// SPDX-License-Identifier: BSD-3-Clause
// The calls of each mock-up. Parts of a vector are those of coll->parts, and coll->spare has room
// for the blocks of all ranks.
#include "coll_mockups.h"

#include "coll.h"

#include <string.h>

#define MOCKUP(name, ...)                                                                         \
    void run_##name(void *state, long calls) {                                                    \
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

MOCKUP(barrier_as_allreduce, {
    int mine = 0;
    int all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, c->comm);
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

MOCKUP(scatter_as_bcast, {
    char *all = c->rank == c->root ? c->out.at : c->spare;
    size_t bytes = (size_t)c->count * c->part_unit;
    MPI_Bcast(all, (int)c->count * c->size, c->type, c->root, c->comm);
    memcpy(c->in.at, all + (size_t)c->rank * bytes, bytes);
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

MOCKUP(allreduce_as_reduce_bcast, {
    MPI_Reduce(c->out.at, c->in.at, (int)c->count, c->type, c->op, c->root, c->comm);
    MPI_Bcast(c->in.at, (int)c->count, c->type, c->root, c->comm);
})

MOCKUP(allreduce_as_reduce_scatter_allgather, {
    MPI_Reduce_scatter(c->out.at, part_of(c, c->in.at), c->parts, c->type, c->op, c->comm);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c->in.at, c->parts, c->part_starts, c->type,
                   c->comm);
})

MOCKUP(reduce_scatter_block_as_reduce_scatter,
       { MPI_Reduce_scatter(c->out.at, c->in.at, c->out.counts, c->type, c->op, c->comm); })

MOCKUP(reduce_scatter_block_as_reduce_and_scatter, {
    MPI_Reduce(c->out.at, c->spare, (int)c->count * c->size, c->type, c->op, c->root, c->comm);
    MPI_Scatter(c->spare, (int)c->count, c->type, c->in.at, (int)c->count, c->type, c->root,
                c->comm);
})

MOCKUP(reduce_scatter_block_as_allreduce, {
    size_t bytes = (size_t)c->count * c->part_unit;
    MPI_Allreduce(c->out.at, c->spare, (int)c->count * c->size, c->type, c->op, c->comm);
    memcpy(c->in.at, c->spare + (size_t)c->rank * bytes, bytes);
})

MOCKUP(scan_as_exscan_reduce_local, {
    size_t bytes = (size_t)c->count * c->part_unit;
    MPI_Exscan(c->out.at, c->spare, (int)c->count, c->type, c->op, c->comm);
    memcpy(c->in.at, c->out.at, bytes);
    if (c->rank > 0)
        MPI_Reduce_local(c->spare, c->in.at, (int)c->count, c->type, c->op);
})
