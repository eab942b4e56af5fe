// SPDX-License-Identifier: BSD-3-Clause
// The table that a person reads while the samples are taken.
#include "bench.h"

#include "host.h"
#include "payload.h"
#include "ranks.h"

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
    if (s.n >= SUMMARY_TAIL)
        printf("# %s, tail [us]: p99 %.4f, p99.9 %.4f, longest %.4f\n", name, s.p99_s * 1e6,
               s.p999_s * 1e6, s.max_s * 1e6);
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

struct walk bench_walk(struct bench *bench, int count) {
    struct walk walk = {bench, 0, malloc(((size_t)count + 1) * sizeof(int)), 0, count};
    if (!walk.list)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for an order of %d", count);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        order_list(&bench->order, walk.list, count);
    return walk;
}

bool walk_on(struct walk *walk) {
    bool more = walk->next < walk->count && !failed(&walk->bench->failure);
    if (more)
        walk->at = walk->list[walk->next++];
    else
        free(walk->list);
    return more;
}

void bench_buffer(struct bench *bench, struct buffer *buffer, const char *name, size_t most,
                  size_t cache, size_t slots) {
    buffer_open(buffer, &bench->layout, name, most, cache, slots, &bench->failure);
}

size_t bench_cache(const struct bench *bench) {
    bool cold =
        options_have(&bench->options, "cache") && options_is(&bench->options, "cache", "cold");
    return cold ? node_cache() : 0;
}

bool bench_buffers(struct bench *bench, struct buffer *out, struct buffer *in, size_t most,
                   size_t cache, size_t slots) {
    memory_ask(bench->comm, 2 * buffer_room(most, cache, slots), &bench->failure);
    if (!failed(&bench->failure)) {
        bench_buffer(bench, out, "send", most, cache, slots);
        bench_buffer(bench, in, "receive", most, cache, slots);
    }
    return ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK;
}

void bench_found(struct bench *bench, const char *name, double value) {
    if (!bench->found.text)
        json_open(&bench->found, '{');
    json_member(&bench->found, name, real, value);
}

// Names the needs that do not fit. `host[i]`: of all ranks of rank 0's host together.
static void note_left_out(struct bench *bench, const struct need *needs, int count,
                          const double *host) {
    struct json *found = &bench->found;
    bool any = false;
    for (const struct need *need = needs; need < needs + count; need++) {
        char text[128];
        if (need->fits)
            continue;
        if (!any) {
            if (!found->text)
                json_open(found, '{');
            json_member(found, "beyond_memory", open, '[');
        }
        any = true;
        snprintf(text, sizeof text, "%s %zu", need->name, need->bytes);
        json_string(found, text);
        printf("# %s of %zu B left out: its buffers need %.6g MB on rank 0 and %.6g MB on its "
               "host, more than --memory-limit or a host's available memory\n",
               need->name, need->bytes, need->room * 1e-6, host[need - needs] * 1e-6);
    }
    if (any)
        json_close(found, ']');
}

void bench_fit(struct bench *bench, struct need *needs, int count) {
    struct failure *failure = &bench->failure;
    const struct sizes *limit = options_sizes(&bench->options, "memory-limit");
    double *rooms = malloc(((size_t)count + 1) * sizeof *rooms);
    int *fits = malloc(((size_t)count + 1) * sizeof *fits), kept = 0;
    if (!rooms || !fits)
        failure_set(failure, STATUS_USAGE, "no memory for %d operations", count);
    if (limit->count != 1)
        failure_set(failure, STATUS_USAGE, "--memory-limit: give one number of bytes");
    if (ranks_agree(bench->comm, failure, false) == STATUS_OK) {
        for (int i = 0; i < count; i++)
            rooms[i] = needs[i].room;
        memory_fit(bench->comm, rooms, count, (double)limit->bytes[0], fits);
        for (int i = 0; i < count; i++)
            kept += needs[i].fits = fits[i];
        if (bench->rank == 0)
            note_left_out(bench, needs, count, rooms);
        if (kept == 0)
            failure_set(failure, STATUS_USAGE,
                        "no operation and size fits into memory; ask for smaller --sizes, or for "
                        "a larger --memory-limit");
    }
    free(rooms);
    free(fits);
}
