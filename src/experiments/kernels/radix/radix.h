// SPDX-License-Identifier: BSD-3-Clause
// Parallel radix sort: keys of 4 or 8 B, as many on every rank, in order over all ranks.
#pragma once

#include "kernel.h"

enum { RADIX_HISTOGRAM, RADIX_SCAN, RADIX_PERMUTATION }; // the phases
enum { RADIX_TAG = 4, RADIX_LINE = 64, RADIX_BITS_MOST = 16 };

// The bits to sort by: `bits` of a key from `low` on, `digit` of them in each pass.
struct digits {
    int low, bits, digit;
};

// The digits of the keys that a rank receives in a pass: all digits of its share of the sorted
// keys. Neighbours may share a digit, so the windows of all ranks together have at most as many
// digits as there are ranks and digits. The data sent by windows thus do not grow as the product
// of both.
struct window {
    size_t first, count;
};

// The destinations of the keys in a pass, and memory for them. Owned by struct radix.
struct plan {
    uint64_t *counts;       // of this rank's keys by digit
    uint64_t *totals;       // of all ranks'
    uint64_t *starts;       // where this rank's keys of a digit go among all
    struct window *windows; // of every rank
    int *lists;             // counts and places of an exchange: RADIX_LISTS times the ranks
    // Indexed by source and digit of the own window: the number of keys that arrive, and the next
    // place in this rank's block. They grow in a first run; later runs have the same input.
    uint64_t *comes, *next;
    size_t room;
};

enum { RADIX_LISTS = 6 };

struct radix;

struct deal;

// How a variant of full buffers goes through a pass.
struct dealing {
    // Sends one full buffer; comes back when it can be filled again.
    void (*send)(struct deal *deal, int peer, const void *keys, int count);
    bool (*serve)(struct deal *deal); // takes a message that has come; false: there is none
    void (*pass)(struct deal *deal);  // deals out all keys, and sees to it that all have come
    // `serve` is called once after each key, and never while a send waits: two that meet may
    // deadlock.
    bool polled;
};

struct radix_variant {
    const char *name;
    bool alone; // ranks have nothing to do with each other
    // Prepares the data of `run` in radix->own, before anything is timed; NULL: nothing to
    // prepare.
    void (*open)(struct radix *radix, struct failure *failure);
    void (*run)(struct radix *radix);
    struct dealing dealing; // of buffers of --buffer B; without `pass`: all keys are sent at once
};

enum { RADIX_VARIANTS = 8 };
extern const struct radix_variant radix_variants[RADIX_VARIANTS];

struct radix {
    MPI_Comm comm;
    int rank, size;
    bool wide;   // keys of 8 B, else of 4
    size_t keys; // on each rank
    size_t room; // keys in one message
    struct digits digits;
    const struct clock *clock;
    struct account account;
    const struct radix_variant *variant;
    void *in, *out; // the keys; the result is in `in`. Owned
    void *spare;    // room for as many, of the variants that send all at once. Owned
    void *work;     // the same; for parts, from its begin, or for counts. Owned
    char *buffers;  // 2 * size messages: to send, to receive. Owned
    struct plan plan;
    void *own; // of the variant. Owned
    int pass;
    const char *distribution; // of the input
    bool tagged;              // keys of 8 B with the number of their place below the digits
};

static inline size_t radix_width(const struct radix *radix) {
    return radix->wide ? sizeof(uint64_t) : sizeof(uint32_t);
}

static inline size_t radix_values(const struct digits *digits) {
    return (size_t)1 << digits->digit;
}

// The bits of a digit in a pass; the last pass may have fewer.
static inline uint64_t radix_mask(const struct digits *digits, int pass) {
    int left = digits->bits - pass * digits->digit;
    return ((uint64_t)1 << (left < digits->digit ? left : digits->digit)) - 1;
}

static inline MPI_Datatype radix_type(const struct radix *radix) {
    return radix->wide ? MPI_UINT64_T : MPI_UINT32_T;
}

// Computes at which key each value begins from the numbers of keys; both may be one array.
static inline void radix_begins(const uint64_t *counts, size_t values, uint64_t *begins) {
    for (uint64_t d = 0, sum = 0, here; d < values; d++, sum += here) {
        here = counts[d];
        begins[d] = sum;
    }
}

static inline int radix_passes(const struct digits *digits) {
    return (digits->bits + digits->digit - 1) / digits->digit;
}

// Loops over keys are written once for both widths; the compiler makes one of each, since the
// width is a constant where they are called.
#define RADIX_ALWAYS static inline __attribute__((always_inline))
#define RADIX_BY_WIDTH(wide, f, ...) ((wide) ? f(true, __VA_ARGS__) : f(false, __VA_ARGS__))

RADIX_ALWAYS uint64_t radix_key(const void *keys, size_t i, bool wide) {
    return wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

RADIX_ALWAYS void radix_put(void *keys, size_t i, uint64_t key, bool wide) {
    if (wide)
        ((uint64_t *)keys)[i] = key;
    else
        ((uint32_t *)keys)[i] = (uint32_t)key;
}

// radix_local.c: within one rank.
// counts[d] of `count` keys whose digit of the pass is d; the counts are set to 0 first.
void radix_histogram(const void *keys, size_t count, bool wide, const struct digits *digits,
                     int pass, uint64_t *counts);
// Keys to `to` by the digit of the pass, in their order; starts[d] is where those of digit d
// begin and is moved behind the last. `to` is aligned to RADIX_LINE.
void radix_scatter(const void *keys, void *to, size_t count, bool wide,
                   const struct digits *digits, int pass, uint64_t *starts);
// Sorts `keys`; `other` has room for as many. By the high bits first, into parts that fit the
// cache.
void radix_sort_local(void *keys, void *other, size_t count, bool wide,
                      const struct digits *digits);
// High bits by which that many keys are cut into parts.
int radix_top(size_t keys, int bits);

// Sorts the keys of `runs`, one after the other, by `bits` from `low` on, to `to`; `other` has
// room for as many, and may be where a single run is.
struct run {
    const void *keys;
    size_t count;
};
void radix_part(const struct run *runs, int count, void *to, void *other, bool wide, int low,
                int bits);

// radix_plan.c: the destinations of the keys in a pass. The place of a key depends on all keys, so
// this is a part of the sort: its time is the phase of the scan. Its memory is allocated before.

// Windows of `size` ranks of `keys` keys, by the totals of `values` digits.
void radix_windows(const uint64_t *totals, size_t values, uint64_t keys, int size,
                   struct window *windows);
// Exchanges the ranks' counts by the windows, which must be known: fills `comes`. Collective.
void radix_tell(struct radix *radix);
// Places by what comes from all sources: fills `next`, and leaves in `comes` what falls into
// [low, low + keys), where the first digit of the window begins at `begin`.
void radix_arrivals(const struct window *window, int size, uint64_t begin, uint64_t low,
                    uint64_t keys, uint64_t *comes, uint64_t *next);
// Adds up the ranks' counts and does all of this for one pass, timed as a part of the scan.
// Collective.
void radix_plan_pass(struct radix *radix);
// Keys to and from each rank, and their places: the lists of an exchange.
struct lists {
    int *sends, *send_at, *receives, *receive_at;
};
struct lists radix_lists(const struct radix *radix);
// Sends the keys of `spare`, which lie there in the order of the ranks, to `in`, by the counts of
// both; own keys stay where they are. Fills the places. Collective.
void radix_exchange(struct radix *radix, const struct lists *lists);
// Returns the number of keys that arrive from `source`.
uint64_t radix_comes(const struct radix *radix, int source);

// The sorted keys of a pass are the next pass's input.
static inline void radix_swap(struct radix *radix) {
    void *sorted = radix->out;
    radix->out = radix->in;
    radix->in = sorted;
}

// Buffers for `radix->keys` keys of its width, and what the variant works with.
void radix_open(struct radix *radix, struct failure *failure);
void radix_close(struct radix *radix);

// The variants, and their memory.
void radix_alone(struct radix *radix);
void radix_split(struct radix *radix);
void radix_split_open(struct radix *radix, struct failure *failure);
// Keys of one message from `source` go to their places, in radix_local.c. Keys that were damaged
// on the way have none in this block and are dropped: the check will miss them.
void radix_place(struct radix *radix, int source, const void *keys, size_t count);
void radix_sent(struct radix *radix, double messages, double keys);

// radix_check.c
void radix_fill(void *radix);
void radix_check(void *radix, struct failure *failure);
// The same sort of keys that carry their place, to be opened; and the check that it keeps the
// order of equal keys.
struct radix radix_tagged(const struct radix *radix);
void radix_check_stable(const struct operation *operation, unsigned round,
                        struct failure *failure);
