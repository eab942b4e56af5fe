// SPDX-License-Identifier: BSD-3-Clause
// Mean and variance of values as they come; order statistics of values that are there.
#pragma once

#include "standard.h"

// Mean and sum of squared deviations from it, updated (Welford 1962).
struct moments {
    long n;
    double mean, squares;
};

void moments_add(struct moments *m, double x);

// Whether the standard error of the mean is at most the share `rse` of the mean.
bool moments_precise(const struct moments *m, double rse);

// For qsort: the order of values, and of structures that begin with a value, by that.
int values_rising(const void *a, const void *b);

// Puts values in rising order.
void values_sort(double *values, size_t count);

// Sorts `count` > 0 values; returns the one below which a share `p` of them is.
double values_at(double *values, size_t count, double p);
