// SPDX-License-Identifier: BSD-3-Clause
// One operation over many sizes: which sizes, and in what order their samples are taken.
#ifndef COTEJO_CORE_SERIES_H
#define COTEJO_CORE_SERIES_H

#include "bench.h"
#include "repeat.h"

// Declares --perturb, --interleave, --adaptive, --resolution.
extern const struct option series_options[];

// What a series does at each size; `state` of `work` is handed to all.
struct series {
    struct work work; // its `bytes` are set here
    void (*shape)(void *state, size_t bytes);
    // One operation whose payload is checked; all ranks must agree on the failure.
    void (*check)(void *state, unsigned turn, struct failure *failure);
    // Post and drain what the operation keeps posted between calls; NULL: nothing.
    void (*begin)(void *state);
    void (*end)(void *state);
};

// The sizes of --sizes with their perturbed neighbours (R. Turner, X. Chen, "Protocol-Dependent
// Message-Passing Performance on Linux Clusters" (NetPIPE), 2002): n - p, n, n + p, where
// n - p >= 1. To be freed by sizes_free. No memory is a failure.
struct sizes series_sizes(const struct options *options, struct failure *failure);

// Measures the series over `sizes`. Collective over bench->comm. Each size is checked before its
// first and after its last sample. With --interleave every size has one sample in turn, in a new
// order each time, so that one slow moment does not spoil one size. With --adaptive the sizes
// are the first ones of an adaptive choice (adaptive.h) by the least time, of which those that
// stand out of their neighbours are measured again; then all have their turns.
void series_run(struct bench *bench, const struct repeat *rule, const struct series *series,
                const struct sizes *sizes);

#endif
