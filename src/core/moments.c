// SPDX-License-Identifier: BSD-3-Clause
// Mean and variance of values as they come.
#include "moments.h"

#include <math.h>

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
