// SPDX-License-Identifier: BSD-3-Clause
// One operation over many sizes: which sizes, and in what order their samples are taken.
#pragma once

#include "sampler.h"

// Declares --perturb, --interleave, --adaptive, --resolution.
extern const struct option curve_options[];

// An operation without its size.
struct curve {
    struct operation operation;
    void (*fit)(struct operation *operation); // sets what follows from `bytes`; NULL: nothing
    double messages; // of `bytes` that one call moves between ranks, all together
};

// The sizes of --sizes with their perturbed neighbours (R. Turner, X. Chen, "Protocol-Dependent
// Message-Passing Performance on Linux Clusters" (NetPIPE), 2002): n - p, n, n + p, where
// n - p >= 1. To be freed by sizes_free. No memory is a failure.
struct sizes curve_sizes(const struct options *options, struct failure *failure);

// Measures the operation at all `sizes`, one after the other in the order that bench->order draws.
// With --interleave every size has one sample in turn, in a new order each time, so that one slow
// moment does not spoil one size. With --adaptive the sizes are the first ones of an adaptive
// choice (adaptive.h) by the minimum time. Sizes that stand out of their neighbours are measured
// again; then all have their turns. Collective; failure agreed.
void curve_run(struct sampler *sampler, const struct curve *curve, const struct sizes *sizes);
