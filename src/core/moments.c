// SPDX-License-Identifier: BSD-3-Clause
// Mean and variance of values as they come; order statistics of values that are there.
#include "moments.h"

void moments_add(struct moments *m, double x) {
    double before = x - m->mean;
    m->n++;
    m->mean += before / (double)m->n;
    m->squares += before * (x - m->mean);
}

bool moments_precise(const struct moments *m, double rse) {
    if (m->n < 2)
        return false;
    double error = sqrt(m->squares / (double)(m->n - 1) / (double)m->n);
    return error <= rse * m->mean;
}

int values_rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void values_sort(double *values, size_t count) {
    qsort(values, count, sizeof *values, values_rising);
}

double values_at(double *values, size_t count, double p) {
    values_sort(values, count);
    size_t at = (size_t)(p * (double)count);
    return values[at < count ? at : count - 1];
}
