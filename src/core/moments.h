// SPDX-License-Identifier: BSD-3-Clause
// Mean and variance of values as they come.
#ifndef COTEJO_CORE_MOMENTS_H
#define COTEJO_CORE_MOMENTS_H

#include <stdbool.h>

// Mean and sum of squared deviations from it, updated (Welford 1962).
struct moments {
    long n;
    double mean, squares;
};

void moments_add(struct moments *m, double x);

// Whether the standard error of the mean is at most the share `rse` of the mean.
bool moments_precise(const struct moments *m, double rse);

#endif
