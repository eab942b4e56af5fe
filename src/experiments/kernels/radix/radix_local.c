// SPDX-License-Identifier: BSD-3-Clause
// Radix sort within one rank.
#include "radix.h"

// Two tables in turn, since an addition to the same place waits for the one before.
enum { TWICE_MOST = 1 << 12 };

RADIX_ALWAYS void count_digits(bool wide, const void *keys, size_t count, int shift, uint64_t mask,
                               uint64_t *counts) {
    uint32_t twice[2][TWICE_MOST];
    size_t i = 0;
    if (mask < TWICE_MOST && count > mask && count <= UINT32_MAX) {
        for (int t = 0; t < 2; t++)
            memset(twice[t], 0, (mask + 1) * sizeof twice[t][0]);
        for (; i + 1 < count; i += 2) {
            twice[0][radix_key(keys, i, wide) >> shift & mask]++;
            twice[1][radix_key(keys, i + 1, wide) >> shift & mask]++;
        }
        for (uint64_t d = 0; d <= mask; d++)
            counts[d] += (uint64_t)twice[0][d] + twice[1][d];
    }
    for (; i < count; i++)
        counts[radix_key(keys, i, wide) >> shift & mask]++;
}

void radix_histogram(const void *keys, size_t count, bool wide, const struct digits *digits,
                     int pass, uint64_t *counts) {
    int shift = digits->low + pass * digits->digit;
    uint64_t mask = radix_mask(digits, pass);
    memset(counts, 0, radix_values(digits) * sizeof *counts);
    RADIX_BY_WIDTH(wide, count_digits, keys, count, shift, mask, counts);
}

RADIX_ALWAYS void scatter(bool wide, const void *keys, void *to, size_t count, int shift,
                          uint64_t mask, uint64_t *starts) {
    for (size_t i = 0; i < count; i++) {
        uint64_t key = radix_key(keys, i, wide);
        uint64_t place = starts[key >> shift & mask]++;
        radix_put(to, place, key, wide);
    }
}

// The same through a line of the cache for each digit, which goes to memory when it is full:
// places that are a power of two apart would throw each other out of the cache. It pays for many
// digits and more keys than the cache holds.
enum { COMBINE_MOST = 11, COMBINE_LEAST = 9, COMBINE_BYTES = 4 << 20 };

RADIX_ALWAYS void combine(bool wide, const void *keys, void *to, size_t count, int shift,
                          uint64_t mask, uint64_t *starts) {
    static _Thread_local _Alignas(RADIX_LINE) char lines[RADIX_LINE << COMBINE_MOST];
    uint64_t begins[1 << COMBINE_MOST];
    size_t width = wide ? sizeof(uint64_t) : sizeof(uint32_t), last = RADIX_LINE / width - 1;
    memcpy(begins, starts, (mask + 1) * sizeof *begins);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = radix_key(keys, i, wide), digit = key >> shift & mask;
        uint64_t place = starts[digit]++;
        char *line = lines + digit * RADIX_LINE;
        radix_put(line, place & last, key, wide);
        if ((place & last) != last)
            continue;
        if (place - last >= begins[digit]) // a constant length, so no call
            memcpy((char *)to + (place - last) * width, line, RADIX_LINE);
        else
            memcpy((char *)to + begins[digit] * width, line + (begins[digit] & last) * width,
                   (place + 1 - begins[digit]) * width);
    }
    for (uint64_t digit = 0; digit <= mask; digit++) {
        uint64_t end = starts[digit], begin = end & ~(uint64_t)last;
        begin = begin > begins[digit] ? begin : begins[digit];
        if (end > begin)
            memcpy((char *)to + begin * width, lines + digit * RADIX_LINE + (begin & last) * width,
                   (end - begin) * width);
    }
}

void radix_scatter(const void *keys, void *to, size_t count, bool wide,
                   const struct digits *digits, int pass, uint64_t *starts) {
    int shift = digits->low + pass * digits->digit;
    uint64_t mask = radix_mask(digits, pass);
    bool combined = mask < 1 << COMBINE_MOST && mask >= 1 << (COMBINE_LEAST - 1) &&
                    count * (wide ? sizeof(uint64_t) : sizeof(uint32_t)) >= COMBINE_BYTES;
    if (combined)
        RADIX_BY_WIDTH(wide, combine, keys, to, count, shift, mask, starts);
    else
        RADIX_BY_WIDTH(wide, scatter, keys, to, count, shift, mask, starts);
}

RADIX_ALWAYS void place(bool wide, const void *keys, size_t count, int shift, uint64_t mask,
                        const struct window *window, uint64_t *next, void *to, uint64_t limit) {
    for (size_t i = 0; i < count; i++) {
        uint64_t key = radix_key(keys, i, wide);
        uint64_t digit = (key >> shift & mask) - window->first; // below the window it is huge
        uint64_t place = digit < window->count ? next[digit]++ : limit;
        if (place >= limit)
            continue;
        radix_put(to, place, key, wide);
    }
}

void radix_place(struct radix *radix, int source, const void *keys, size_t count) {
    const struct digits *digits = &radix->digits;
    const struct window *window = &radix->plan.windows[radix->rank];
    uint64_t *next = radix->plan.next + (size_t)source * window->count;
    int shift = digits->low + radix->pass * digits->digit;
    uint64_t mask = radix_mask(digits, radix->pass);
    RADIX_BY_WIDTH(radix->wide, place, keys, count, shift, mask, window, next, radix->out,
                   radix->keys);
}

// Keys that fit the cache are sorted from the low bits to the high ones.

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
            radix_put(to, place, key, wide);
        }
    }
    return true;
}

RADIX_ALWAYS void sort(bool wide, const struct run *runs, int count, void *to, void *other,
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
    RADIX_BY_WIDTH(wide, sort, runs, count, to, other, low, bits);
}

// About this many keys (2 to this) shall be in one part: two copies are in the first caches.
enum { PART = 12, TOP_MOST = 10 };

int radix_top(size_t keys, int bits) {
    int top = 0;
    while (keys >> (top + 1) >> PART)
        top++;
    top = top < TOP_MOST ? top : TOP_MOST;
    return top < bits ? top : bits;
}

void radix_sort_local(void *keys, void *other, size_t count, bool wide,
                      const struct digits *digits) {
    int top = radix_top(count, digits->bits), rest = digits->bits - top;
    struct digits high = {digits->low + rest, top, top};
    size_t width = wide ? sizeof(uint64_t) : sizeof(uint32_t), at = 0;
    uint64_t ends[1 << TOP_MOST] = {0};
    if (top == 0) {
        memcpy(other, keys, count * width);
        ends[0] = count;
    } else {
        radix_histogram(keys, count, wide, &high, 0, ends);
        radix_begins(ends, radix_values(&high), ends);
        radix_scatter(keys, other, count, wide, &high, 0, ends);
    }
    for (size_t d = 0; d < radix_values(&high); d++) {
        struct run run = {(char *)other + at * width, (size_t)ends[d] - at};
        radix_part(&run, 1, (char *)keys + at * width, (char *)other + at * width, wide,
                   digits->low, rest);
        at = (size_t)ends[d];
    }
}

void radix_alone(struct radix *radix) {
    double begin = program_mark(radix->clock);
    radix_sort_local(radix->in, radix->out, radix->keys, radix->wide, &radix->digits);
    radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - begin;
}
