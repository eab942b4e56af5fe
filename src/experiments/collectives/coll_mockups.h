// SPDX-License-Identifier: BSD-3-Clause
// Mock-ups of collective operations: the same result by other collective operations of the
// library. A library should not be slower than its own mock-up (performance guidelines, Traeff et
// al. 2010).
#ifndef COTEJO_EXPERIMENTS_COLL_MOCKUPS_H
#define COTEJO_EXPERIMENTS_COLL_MOCKUPS_H

// X(name, flow of the operation that it replaces)
#define MOCKUPS(X)                                                                                \
    X(barrier_as_allreduce, synchronise)                                                          \
    X(bcast_as_scatter_allgather, spread)                                                         \
    X(gather_as_allgather, collect)                                                               \
    X(scatter_as_bcast, deal)                                                                     \
    X(allgather_as_gather_bcast, share)                                                           \
    X(reduce_as_allreduce, fold_to_root)                                                          \
    X(reduce_as_reduce_scatter_gather, fold_to_root)                                              \
    X(allreduce_as_reduce_bcast, fold_to_all)                                                     \
    X(allreduce_as_reduce_scatter_allgather, fold_to_all)                                         \
    X(reduce_scatter_block_as_reduce_scatter, fold_and_deal)                                      \
    X(reduce_scatter_block_as_reduce_and_scatter, fold_and_deal)                                  \
    X(reduce_scatter_block_as_allreduce, fold_and_deal)                                           \
    X(scan_as_exscan_reduce_local, fold_up_to)

#define DECLARE_MOCKUP(name, flow) void run_##name(void *coll, long calls);
MOCKUPS(DECLARE_MOCKUP)

#endif
