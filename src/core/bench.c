// SPDX-License-Identifier: BSD-3-Clause
// The table that a person reads while the samples are taken.
#include "bench.h"

#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>

static void print_group(const struct samples *samples, size_t from) {
    struct summary s = samples_summary(samples, from);
    char name[80];
    int length = snprintf(name, sizeof name, "%s", s.first->operation);
    const struct column *column = samples->columns;
    for (int e = 0; column && column[e].name; e++)
        if (column_is_factor(&column[e]) && length < (int)sizeof name)
            length += snprintf(name + length, sizeof name - (size_t)length, " %s=%g",
                               column[e].name, s.first->extra[e]);
    printf("%-24s %12zu %8zu %8ld %14.4f %14.4f %14.4f %12.2f\n", name, s.first->bytes, s.n,
           s.first->calls, s.median_s * 1e6, s.min_s * 1e6, s.p95_s * 1e6,
           (double)s.first->bytes / s.median_s * 1e-6);
}

void bench_print(struct bench *bench) {
    size_t from = bench->printed;
    samples_flush(&bench->samples);
    if (bench->rank != 0 || from == bench->samples.count)
        return;
    if (from == 0)
        printf("%-24s %12s %8s %8s %14s %14s %14s %12s\n", "# operation", "size [B]", "samples",
               "calls", "median [us]", "least [us]", "p95 [us]", "rate [MB/s]");
    // In rising order of sizes, whatever order they were measured in.
    const struct samples *samples = &bench->samples;
    size_t *firsts = malloc((samples->count - from) * sizeof *firsts), count = 0;
    for (size_t i = from; firsts && i < samples->count; i++) {
        if (!samples_first(samples, from, i))
            continue;
        size_t at = count++;
        for (; at > 0 && samples->at[firsts[at - 1]].bytes > samples->at[i].bytes; at--)
            firsts[at] = firsts[at - 1];
        firsts[at] = i;
    }
    for (size_t i = 0; i < count; i++)
        print_group(samples, firsts[i]);
    free(firsts);
    fflush(stdout);
    bench->printed = bench->samples.count;
}

int *bench_order(struct bench *bench, int count) {
    int *list = malloc(((size_t)count + 1) * sizeof *list);
    if (!list)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for an order of %d", count);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK) {
        order_list(&bench->order, list, count);
        return list;
    }
    free(list);
    return NULL;
}

void bench_found(struct bench *bench, const char *name, double value) {
    if (!bench->found.text)
        json_open(&bench->found, '{');
    json_name(&bench->found, name);
    json_real(&bench->found, value);
}
