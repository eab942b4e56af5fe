// SPDX-License-Identifier: BSD-3-Clause
// Numbers that all NAS kernels need.
#include "nas.h"

uint64_t nas_power(uint64_t multiplier, uint64_t n) {
    uint64_t power = 1;
    for (; n; n >>= 1, multiplier = nas_step(multiplier, multiplier))
        if (n & 1)
            power = nas_step(power, multiplier);
    return power;
}

double nas_sum(const struct nas *nas, double mine) {
    double all = mine;
    if (nas->size > 1)
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, nas->comm);
    return all;
}

void nas_share(long n, int i, int parts, long *first, long *end) {
    *first = n * i / parts;
    *end = n * (i + 1) / parts;
}
