// SPDX-License-Identifier: BSD-3-Clause
// Radix sort of keys that fit the cache, from the low bits to the high ones.
#include "radix.h"

#include <string.h>

enum { DIGIT_MOST = 11 };

// One pass from runs to `to`. False: all keys are alike in these bits, and nothing was moved.
RADIX_ALWAYS bool pass(const struct run *runs, int count, void *to, bool wide, int shift,
                       uint32_t mask, bool must) {
    uint32_t places[1 << DIGIT_MOST] = {0}, sum = 0;
    for (int r = 0; r < count; r++)
        for (size_t i = 0; i < runs[r].count; i++)
            places[radix_key(runs[r].keys, i, wide) >> shift & mask]++;
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
            uint64_t key = radix_key(runs[r].keys, i, wide);
            size_t place = places[key >> shift & mask]++;
            if (wide)
                ((uint64_t *)to)[place] = key;
            else
                ((uint32_t *)to)[place] = (uint32_t)key;
        }
    }
    return true;
}

RADIX_ALWAYS void sort(const struct run *runs, int count, void *to, void *other, bool wide,
                       int low, int bits) {
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
