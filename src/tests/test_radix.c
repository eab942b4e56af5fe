// SPDX-License-Identifier: BSD-3-Clause
// Sorting within a rank against the C library's sort, in the cases where digits go wrong.
#include "check.h"
#include "radix.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 100000 };

static int order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t drawn(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

// Keys of `bits` bits above `low`; below them their place, so that the whole word shows stability.
static void sorts(size_t count, bool wide, int low, int bits, uint64_t alike) {
    static uint64_t words[MOST], other[MOST], right[MOST];
    uint64_t state = count + (uint64_t)bits, mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : ~0ull;
    struct digits digits = {low, bits, 8};
    for (size_t i = 0; i < count; i++) {
        right[i] = (drawn(&state) | alike) & mask;
        right[i] = low ? right[i] << low | i : right[i];
        if (wide)
            words[i] = right[i];
        else
            ((uint32_t *)words)[i] = (uint32_t)right[i];
    }
    qsort(right, count, sizeof *right, order);
    radix_sort_local(words, other, count, wide, &digits);
    for (size_t i = 0; i < count; i++)
        CHECK((wide ? words[i] : ((uint32_t *)words)[i]) == right[i]);
}

int main(void) {
    static const size_t counts[] = {1, 2, 1000, 8191, 8192, MOST};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        sorts(counts[i], false, 0, 32, 0);
        sorts(counts[i], false, 0, 1, 0);
        sorts(counts[i], false, 0, 11, 0);
        sorts(counts[i], true, 0, 64, 0);
        sorts(counts[i], true, 32, 32, 0);
        sorts(counts[i], true, 32, 32, ~(uint64_t)3);     // few different ones
        sorts(counts[i], true, 20, 44, 0xffffffff00000u); // the low and the high bits differ
        sorts(counts[i], false, 0, 32, 0xfffffff0u);
        sorts(counts[i], true, 17, 19, 0);
    }
    return check_status();
}
