// SPDX-License-Identifier: BSD-3-Clause
// Radix sort whose every pass sorts at home, exchanges all at once, and puts runs together.
#include "radix.h"

#include <string.h>

// Keys to and from each rank, one list after the other: counts and places of both.
struct lists {
    int *sends, *send_at, *receives, *receive_at;
};

static struct lists lists_of(const struct radix *radix) {
    size_t ranks = (size_t)radix->size;
    int *all = radix->plan.lists; // the counts are exchanged already
    return (struct lists){all, all + ranks, all + 2 * ranks, all + 3 * ranks};
}

// Keys sorted by digit on this rank are in the order of their final places, so that the keys for
// one rank are contiguous.
static void count_sends(const struct radix *radix, struct lists *lists) {
    const uint64_t *starts = radix->plan.starts, *mine = radix->plan.counts;
    size_t values = radix_values(&radix->digits);
    memset(lists->sends, 0, (size_t)radix->size * sizeof *lists->sends);
    for (size_t d = 0; d < values; d++) {
        for (uint64_t at = starts[d], left = mine[d]; left;) {
            uint64_t peer = at / radix->keys, room = (peer + 1) * radix->keys - at;
            uint64_t some = left < room ? left : room;
            lists->sends[peer] += (int)some;
            at += some;
            left -= some;
        }
    }
    for (int i = 0, sum = 0; i < radix->size; sum += lists->sends[i++])
        lists->send_at[i] = sum;
}

// The keys from one source come sorted by digit: a run for each.
static void place_runs(struct radix *radix, int source, const char *from) {
    size_t count = radix->plan.windows[radix->rank].count, width = radix_width(radix);
    const uint64_t *next = radix->plan.next + (size_t)source * count;
    const uint64_t *comes = radix->plan.comes + (size_t)source * count;
    for (size_t d = 0; d < count; d++) {
        if (!comes[d])
            continue;
        memcpy((char *)radix->out + next[d] * width, from, comes[d] * width);
        from += comes[d] * width;
    }
}

static void exchange(struct radix *radix, struct lists *lists) {
    MPI_Datatype type = radix->wide ? MPI_UINT64_T : MPI_UINT32_T;
    int own = lists->sends[radix->rank], sum = 0;
    lists->sends[radix->rank] = 0; // stays where it is
    for (int i = 0; i < radix->size; i++) {
        uint64_t comes = radix_comes(radix, i);
        lists->receives[i] = i == radix->rank ? 0 : (int)comes;
        lists->receive_at[i] = sum;
        sum += lists->receives[i];
        if (lists->sends[i])
            radix_sent(radix, 1, lists->sends[i]);
    }
    MPI_Alltoallv(radix->spare, lists->sends, lists->send_at, type, radix->in, lists->receives,
                  lists->receive_at, type, radix->comm);
    lists->sends[radix->rank] = own;
}

static void one_pass(struct radix *radix) {
    struct lists lists = lists_of(radix);
    size_t values = radix_values(&radix->digits), width = radix_width(radix);
    uint64_t *mine = radix->plan.counts, *starts = radix->plan.starts, sum = 0;
    double begin = program_mark(radix->clock);
    radix_histogram(radix->in, radix->keys, radix->wide, &radix->digits, radix->pass, mine);
    radix->account.phase_s[RADIX_HISTOGRAM] += program_mark(radix->clock) - begin;
    radix_plan_pass(radix);
    begin = program_mark(radix->clock);
    count_sends(radix, &lists);
    for (size_t d = 0; d < values; d++) {
        starts[d] = sum;
        sum += mine[d];
    }
    double counted = program_mark(radix->clock);
    radix->account.phase_s[RADIX_SCAN] += counted - begin;
    radix_scatter(radix->in, radix->spare, radix->keys, radix->wide, &radix->digits, radix->pass,
                  starts);
    exchange(radix, &lists);
    for (int i = 0; i < radix->size; i++)
        place_runs(radix, i,
                   i == radix->rank ? (char *)radix->spare + (size_t)lists.send_at[i] * width
                                    : (char *)radix->in + (size_t)lists.receive_at[i] * width);
    radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - counted;
}

void radix_alltoallv(struct radix *radix) {
    for (radix->pass = 0; radix->pass < radix_passes(&radix->digits); radix->pass++) {
        one_pass(radix);
        void *sorted = radix->out;
        radix->out = radix->in;
        radix->in = sorted;
    }
}
