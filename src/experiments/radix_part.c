// SPDX-License-Identifier: BSD-3-Clause
// Radix sort of keys that fit the cache, from the low bits to the high ones.
#include "radix.h"

#include <string.h>

enum { DIGIT_MOST = 11 };

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS uint64_t key_at(const void *keys, size_t i, bool wide) {
    return wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

// One pass from runs to `to`. False: all keys are alike in these bits, and nothing was moved.
ALWAYS bool pass(const struct run *runs, int count, void *to, bool wide, int shift, uint32_t mask,
                 bool must) {
    uint32_t places[1 << DIGIT_MOST] = {0}, sum = 0;
    for (int r = 0; r < count; r++)
        for (size_t i = 0; i < runs[r].count; i++)
            places[key_at(runs[r].keys, i, wide) >> shift & mask]++;
    size_t all = 0;
    for (int r = 0; r < count; r++)
        all += runs[r].count;
    for (size_t d = 0; d <= mask; d++) {
        uint32_t here = places[d];
        if (here == all && !must)
            return false;
        places[d] = sum;
        sum += here;
    }
    for (int r = 0; r < count; r++) {
        for (size_t i = 0; i < runs[r].count; i++) {
            uint64_t key = key_at(runs[r].keys, i, wide);
            size_t place = places[key >> shift & mask]++;
            if (wide)
                ((uint64_t *)to)[place] = key;
            else
                ((uint32_t *)to)[place] = (uint32_t)key;
        }
    }
    return true;
}

ALWAYS void sort(const struct run *runs, int count, void *to, void *other, bool wide, int low,
                 int bits) {
    int passes = 1;
    while (passes * DIGIT_MOST < bits)
        passes++;
    int digit = (bits + passes - 1) / passes;
    uint32_t mask = ((uint32_t)1 << digit) - 1;
    struct run whole = {to, 0}; // the first pass joins the runs
    for (int r = 0; r < count; r++)
        whole.count += runs[r].count;
    pass(runs, count, to, wide, low, mask, true);
    for (int p = 1; p * digit < bits; p++) {
        int left = bits - p * digit;
        uint32_t some = left < digit ? ((uint32_t)1 << left) - 1 : mask;
        void *target = whole.keys == to ? other : to;
        if (pass(&whole, 1, target, wide, low + p * digit, some, false))
            whole.keys = target;
    }
    if (whole.keys != to)
        memcpy(to, whole.keys, whole.count * (wide ? sizeof(uint64_t) : sizeof(uint32_t)));
}

void radix_part(const struct run *runs, int count, void *to, void *other, bool wide, int low,
                int bits) {
    if (wide)
        sort(runs, count, to, other, true, low, bits);
    else
        sort(runs, count, to, other, false, low, bits);
}

// Several keys at once without looking how many there are: most values have few. What is too much
// is written over by the next value's; `room` says what is left for that.
ALWAYS void repeat(void *to, uint64_t key, size_t count, size_t room, bool wide) {
    enum { AT_ONCE = 8 };
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

ALWAYS void write_counted(const uint32_t (*counts)[1 << RADIX_COUNT_MOST], void *to, size_t room,
                          bool wide, uint64_t high, int bits) {
    size_t width = wide ? sizeof(uint64_t) : sizeof(uint32_t);
    for (uint64_t value = 0; value < (uint64_t)1 << bits; value++) {
        size_t count = (size_t)counts[0][value] + counts[1][value];
        repeat(to, high | value, count, room, wide);
        to = (char *)to + count * width;
        room -= count;
    }
}

void radix_count(const struct run *runs, int count, void *to, bool wide, uint64_t high, int bits) {
    uint32_t counts[2][1 << RADIX_COUNT_MOST];
    size_t all = 0;
    for (int t = 0; t < 2; t++)
        memset(counts[t], 0, sizeof counts[t][0] << bits);
    for (int r = 0; r < count; r++) {
        const uint16_t *keys = runs[r].keys;
        size_t i = 0, end = runs[r].count;
        for (; i + 1 < end; i += 2) {
            counts[0][keys[i]]++;
            counts[1][keys[i + 1]]++;
        }
        if (i < end)
            counts[0][keys[i]]++;
        all += end;
    }
    if (wide)
        write_counted(counts, to, all, true, high, bits);
    else
        write_counted(counts, to, all, false, high, bits);
}
