// SPDX-License-Identifier: BSD-3-Clause
// The table that a person reads while the samples are taken.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static void print_group(const struct samples *samples, size_t i) {
    struct samples group = samples_group(samples, i);
    if (group.count) {
        struct summary s = samples_summary(&group, 0);
        printf("%-20s %10zu %8zu %8ld %14.4f %14.4f %14.4f %12.2f\n", s.operation, s.bytes, s.n,
               group.at[0].calls, s.median_s * 1e6, s.min_s * 1e6, s.p95_s * 1e6,
               (double)s.bytes / s.median_s * 1e-6);
    }
    free(group.at);
}

void bench_print(struct bench *bench) {
    size_t from = bench->printed, to = bench->samples.count;
    if (bench->rank != 0 || from == to)
        return;
    if (from == 0)
        printf("%-20s %10s %8s %8s %14s %14s %14s %12s\n", "# operation", "size [B]", "samples",
               "calls", "median [us]", "least [us]", "p95 [us]", "rate [MB/s]");
    for (size_t i = from; i < to; i++)
        if (!samples_listed(&bench->samples, from, i))
            print_group(&bench->samples, i);
    fflush(stdout);
    bench->printed = to;
}
