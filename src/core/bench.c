// SPDX-License-Identifier: BSD-3-Clause
// The table that a person reads while the samples are taken.
#include "bench.h"

#include <stdio.h>

void bench_print(struct bench *bench) {
    size_t from = bench->printed, to = bench->samples.count;
    if (bench->rank != 0 || from == to)
        return;
    if (from == 0)
        printf("%-18s %12s %8s %8s %14s %14s %14s %12s\n", "# operation", "size [B]", "samples",
               "calls", "median [us]", "least [us]", "p95 [us]", "rate [MB/s]");
    struct summary s = samples_summary(&bench->samples, from);
    printf("%-18s %12zu %8zu %8ld %14.4f %14.4f %14.4f %12.2f\n", s.operation, s.bytes, s.n,
           bench->samples.at[from].calls, s.median_s * 1e6, s.min_s * 1e6, s.p95_s * 1e6,
           (double)s.bytes / s.median_s * 1e-6);
    fflush(stdout);
    bench->printed = to;
}
