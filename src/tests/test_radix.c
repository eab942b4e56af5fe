// SPDX-License-Identifier: BSD-3-Clause
// Sorting within a rank against the C library's sort, in the cases where digits go wrong.
#include "check.h"
#include "radix.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 100000, MANY = 1200000 };

static int order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t drawn(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

// Keys of `bits` bits above `low`; below them their place, so that the full word shows stability.
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
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += (wide ? words[i] : ((uint32_t *)words)[i]) != right[i];
    CHECK(wrong == 0);
}

// So many keys that they go to memory a line at a time; the first place is in the midst of one.
static void scatters(bool wide) {
    static _Alignas(RADIX_LINE) uint64_t keys[MANY], got[MANY + 8];
    static uint64_t starts[2048], next[2048];
    struct digits digits = {3, 11, 11};
    uint64_t state = 1, sum = 5;
    for (size_t i = 0; i < MANY; i++) {
        uint64_t key = drawn(&state) >> 20;
        if (wide)
            keys[i] = key;
        else
            ((uint32_t *)keys)[i] = (uint32_t)key;
    }
    radix_histogram(keys, MANY, wide, &digits, 0, next);
    for (size_t d = 0; d < 2048; d++) {
        starts[d] = sum;
        sum += next[d];
        next[d] = starts[d];
    }
    radix_scatter(keys, got, MANY, wide, &digits, 0, starts);
    size_t wrong = 0;
    for (size_t i = 0; i < MANY; i++) {
        uint64_t key = wide ? keys[i] : ((uint32_t *)keys)[i];
        uint64_t place = next[key >> 3 & 2047]++;
        wrong += (wide ? got[place] : ((uint32_t *)got)[place]) != key;
    }
    CHECK(wrong == 0);
    CHECK(memcmp(starts, next, sizeof next) == 0);
}

// By the counts of few ranks: each window holds the digits of the rank's own keys, no others.
static void windows_are_exact(uint64_t seed) {
    enum { RANKS = 7, KEYS = 50, VALUES = 32 };
    uint64_t totals[VALUES] = {0}, state = seed, end = 0;
    struct window windows[RANKS];
    int digits[RANKS * KEYS], at = 0, wrong = 0;
    for (int i = 0; i < RANKS * KEYS; i++)
        totals[drawn(&state) >> 20 & (seed % 2 ? 31 : 3) & drawn(&state) >> 30]++;
    for (int d = 0; d < VALUES; d++)
        for (end += totals[d]; at < (int)end; at++)
            digits[at] = d;
    radix_windows(totals, VALUES, KEYS, RANKS, windows);
    for (int r = 0; r < RANKS; r++)
        wrong += (int)windows[r].first != digits[r * KEYS] ||
                 (int)(windows[r].first + windows[r].count) - 1 != digits[r * KEYS + KEYS - 1];
    CHECK(wrong == 0);
}

// Counts the digits that a pass sends and loops over, for more ranks than a machine here has.
// There are as many digits as ranks and digits together, not as many as their product.
static void windows_stay_few(int ranks, size_t values) {
    struct window *windows = malloc((size_t)ranks * sizeof *windows);
    uint64_t *totals = malloc(values * sizeof *totals), keys = 1000, most = 0, all = 0;
    for (size_t d = 0; d < values; d++)
        totals[d] =
            (uint64_t)ranks * keys * (d + 1) / values - (uint64_t)ranks * keys * d / values;
    radix_windows(totals, values, keys, ranks, windows);
    for (int r = 0; r < ranks; r++) {
        all += windows[r].count;
        most = windows[r].count > most ? windows[r].count : most;
    }
    CHECK(all <= (uint64_t)ranks + values);
    CHECK(most <= values / (size_t)ranks + 2);
    free(windows);
    free(totals);
}

// Places of what comes from three sources to the middle rank, whose share begins within a digit.
static void arrivals_have_places(void) {
    struct window window = {2, 2};
    uint64_t comes[] = {4, 3, 2, 0, 5, 6}, next[6]; // of digits 2 and 3, by source
    radix_arrivals(&window, 3, 8, 10, 10, comes, next);
    static const uint64_t right[] = {2, 1, 2, 0, 5, 0}, places[] = {0, 9, 2, 0, 4, 0};
    for (int i = 0; i < 6; i++) {
        CHECK(comes[i] == right[i]);
        CHECK(!comes[i] || next[i] == places[i]);
    }
}

int main(void) {
    for (uint64_t seed = 1; seed < 40; seed++)
        windows_are_exact(seed);
    windows_stay_few(2, 256);
    windows_stay_few(100000, 256);
    windows_stay_few(100000, 65536);
    arrivals_have_places();
    scatters(false);
    scatters(true);
    static const size_t counts[] = {1, 2, 1000, 8191, 8192, MOST};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        sorts(counts[i], false, 0, 32, 0);
        sorts(counts[i], false, 0, 1, 0);
        sorts(counts[i], false, 0, 11, 0);
        sorts(counts[i], true, 0, 64, 0);
        sorts(counts[i], true, 32, 32, 0);
        sorts(counts[i], true, 32, 32, ~(uint64_t)3);   // few different keys
        sorts(counts[i], true, 20, 44, 0xffffffff000u); // the low and the high bits differ
        sorts(counts[i], false, 0, 32, 0xfffffff0u);
        sorts(counts[i], true, 21, 19, 0);
    }
    return check_status();
}
