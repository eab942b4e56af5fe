// SPDX-License-Identifier: BSD-3-Clause
// How much of a non-blocking operation a library does while the program computes.
#pragma once

#include "coll.h"

struct overlap {
    struct coll *coll;
    double share;  // of the operation's own time that is computed beside it
    long tests;    // calls of MPI_Test in the computation
    double rate;   // steps of the computation in a second, on this rank
    long steps;    // of one piece of it; there are `tests` + 1
    double result; // kept, so that no compiler leaves the computation out
};

// Measures how quickly this rank computes.
void overlap_open(struct overlap *overlap, const struct bench *bench);

// Takes three kinds of samples: the operation alone, a computation alone that is `share` times
// as long as the operation's median, and both together. Collective, agreed.
void overlap_measure(struct sampler *sampler, struct overlap *overlap);
