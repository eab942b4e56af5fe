// SPDX-License-Identifier: BSD-3-Clause
// Computation of a known amount: multiply-adds over more data than the first cache holds.
#include "compute.h"

enum { PAGE = 4096, BATCH = 65536, BATCHES = 25 };

void compute_open(struct compute *compute, size_t bytes, struct failure *failure) {
    size_t half = (bytes / 2 + PAGE - 1) / PAGE * PAGE;
    *compute = (struct compute){.x = aligned_alloc(PAGE, half),
                                .y = aligned_alloc(PAGE, half),
                                .length = half / sizeof(double)};
    if (!compute->x || !compute->y) {
        failure_set(failure, STATUS_USAGE, "no memory for %zu B to compute with", 2 * half);
        return;
    }
    for (size_t i = 0; i < compute->length; i++) {
        compute->x[i] = 1 + (double)(i % 7);
        compute->y[i] = 0;
    }
}

void compute_close(struct compute *compute) {
    free(compute->x);
    free(compute->y);
    *compute = (struct compute){0};
}

// The factor keeps y bounded however often it is done: no overflow, no denormal numbers.
static void part(const double *restrict x, double *restrict y, size_t count) {
    for (size_t i = 0; i < count; i++)
        y[i] = 0.5 * y[i] + x[i];
}

static double chain(const double *x, double sum, size_t count) {
    for (size_t i = 0; i < count; i++)
        sum = 0.5 * sum + x[i];
    return sum;
}

void compute_do(struct compute *compute, long multiply_adds) {
    for (size_t left = (size_t)multiply_adds; left > 0;) {
        size_t room = compute->length - compute->at;
        size_t count = left < room ? left : room;
        if (compute->chain)
            compute->sum = chain(compute->x + compute->at, compute->sum, count);
        else
            part(compute->x + compute->at, compute->y + compute->at, count);
        compute->at = count == room ? 0 : compute->at + count;
        left -= count;
    }
}

double compute_calibrate(struct compute *compute, const struct clock *clock) {
    double least = INFINITY;
    for (int i = 0; i < BATCHES; i++) {
        double begin = clock_now(clock);
        compute_do(compute, BATCH);
        least = fmin(least, clock_now(clock) - begin);
    }
    return least / BATCH;
}
