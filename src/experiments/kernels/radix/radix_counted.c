// SPDX-License-Identifier: BSD-3-Clause
// Radix sort of keys that carry nothing and have few bits, in one pass over all of them: counts
// of every value are added up over the ranks, and every rank writes its share of the sorted keys.
// Fewer bytes go between ranks than in any sort that sends the keys.
#include "radix.h"

#include <string.h>

enum { KEYS_A_VALUE = 4 }; // on each rank, at least: below that keys are sent in fewer bytes
enum { BITS_MOST = 20 };   // counts of more values are too far from the processor

bool radix_countable(const struct radix *radix) {
    int bits = radix->digits.bits;
    return !radix->tagged && radix->digits.low == 0 && bits <= BITS_MOST &&
           (uint64_t)radix->keys >> bits >= KEYS_A_VALUE;
}

static void count_values(const struct radix *radix, uint32_t *counts, size_t values) {
    memset(counts, 0, values * sizeof *counts);
    if (radix->wide)
        for (size_t i = 0; i < radix->keys; i++)
            counts[((const uint64_t *)radix->in)[i]]++;
    else
        for (size_t i = 0; i < radix->keys; i++)
            counts[((const uint32_t *)radix->in)[i]]++;
}

// Writes several keys at once without a check of `count`: most values have few keys. The keys of
// the next value overwrite any surplus. `room` is the space left for the surplus.
static inline __attribute__((always_inline)) void repeat(void *to, uint64_t key, size_t count,
                                                         size_t room, bool wide) {
    enum { AT_ONCE = 16 };
    size_t i = 0;
    if (room >= AT_ONCE)
        for (; i < AT_ONCE; i++) {
            if (wide)
                ((uint64_t *)to)[i] = key;
            else
                ((uint32_t *)to)[i] = (uint32_t)key;
        }
    for (; i < count; i++) {
        if (wide)
            ((uint64_t *)to)[i] = key;
        else
            ((uint32_t *)to)[i] = (uint32_t)key;
    }
}

// The share of this rank, which begins within the keys of some value. Counts that were damaged on
// the way may end too early; then old keys are left, and the check finds them.
static void write_share(const struct radix *radix, const uint32_t *counts, size_t values) {
    uint64_t before = (uint64_t)radix->rank * radix->keys, value = 0;
    while (value < values && before >= counts[value])
        before -= counts[value++];
    char *to = radix->in;
    for (size_t room = radix->keys; room && value < values; value++) {
        size_t count = (size_t)(counts[value] - before);
        count = count < room ? count : room;
        if (radix->wide)
            repeat(to, value, count, room, true);
        else
            repeat(to, value, count, room, false);
        to += count * radix_width(radix);
        room -= count;
        before = 0;
    }
}

void radix_counted(struct radix *radix) {
    size_t values = (size_t)1 << radix->digits.bits;
    uint32_t *mine = radix->spare, *all = radix->work;
    double begin = program_mark(radix->clock);
    count_values(radix, mine, values);
    double counted = program_mark(radix->clock);
    MPI_Allreduce(mine, all, (int)values, MPI_UINT32_T, MPI_SUM, radix->comm);
    radix_sent(radix, 1, (double)(values * sizeof *mine) / (double)radix_width(radix));
    double told = program_mark(radix->clock);
    write_share(radix, all, values);
    radix->account.phase_s[RADIX_HISTOGRAM] += counted - begin;
    radix->account.phase_s[RADIX_SCAN] += told - counted;
    radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - told;
}
