// SPDX-License-Identifier: BSD-3-Clause
// Computation of a known amount: multiply-adds over more data than the first cache holds.
#pragma once

#include "clock.h"
#include "failure.h"

// y = a y + x over two vectors, as DAXPY does. Each call continues where the last one ended, so
// that no call finds its data in the first-level cache because of the call before.
struct compute {
    double *x, *y; // owned
    size_t length, at;
    // Instead computes y = a y + x on one number, each step waiting for the last. This is the
    // slowest rate of the processor, but the time depends neither on caches nor on the other
    // thread of the core.
    bool chain;
    double sum;
};

// Allocates and fills both vectors. Each takes half of `bytes` B, rounded up to pages. Failure:
// STATUS_USAGE, without enough memory.
void compute_open(struct compute *compute, size_t bytes, struct failure *failure);
void compute_close(struct compute *compute);

void compute_do(struct compute *compute, long multiply_adds);

// Returns the seconds of one multiply-add on this core, the minimum of several batches.
double compute_calibrate(struct compute *compute, const struct clock *clock);
