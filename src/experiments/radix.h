// SPDX-License-Identifier: BSD-3-Clause
// Parallel radix sort: keys of 4 or 8 B, as many on every rank, in order over all ranks.
#ifndef COTEJO_EXPERIMENTS_RADIX_H
#define COTEJO_EXPERIMENTS_RADIX_H

#include "kernel.h"

#include <stdint.h>

enum { RADIX_HISTOGRAM, RADIX_SCAN, RADIX_PERMUTATION }; // the phases
enum { RADIX_TAG = 4, RADIX_LINE = 64, RADIX_BITS_MOST = 16 };

// What is sorted by: `bits` of a key from `low` on, `digit` of them a pass.
struct digits {
    int low, bits, digit;
};

struct radix;

struct radix_variant {
    const char *name;
    bool buffered; // sends buffers of --buffer B
    bool alone;    // ranks have nothing to do with each other
    void (*run)(struct radix *radix);
};

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
    void *in, *out;   // the keys; the result is in `in`. Owned
    void *spare;      // room for as many, of the variants that send all at once. Owned
    void *work;       // the same; for parts, from its begin, or for counts. Owned
    char *buffers;    // 2 * size messages: to send, to receive. Owned
    uint64_t *counts; // of every rank, digit by digit. Owned
    uint64_t *next;   // the same room: where the next key from a rank with a digit goes. Owned
    uint64_t *comes;  // the same: how many of them come. Owned
    int pass;
    const char *distribution; // of the input
    bool tagged;              // keys of 8 B with the number of their place below the digits
    bool stable;              // was found to be
};

static inline size_t radix_width(const struct radix *radix) {
    return radix->wide ? sizeof(uint64_t) : sizeof(uint32_t);
}

static inline size_t radix_values(const struct digits *digits) {
    return (size_t)1 << digits->digit;
}

static inline int radix_passes(const struct digits *digits) {
    return (digits->bits + digits->digit - 1) / digits->digit;
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

// radix_part.c. Sorts the keys of `runs`, one after the other, by `bits` from `low` on, to `to`;
// `other` has room for as many, and may be where a single run is.
struct run {
    const void *keys;
    size_t count;
};
void radix_part(const struct run *runs, int count, void *to, void *other, bool wide, int low,
                int bits);

// radix_counted.c. Whether keys are nothing but bits that are few: then how many there are of each
// value says all. Sorts such keys; what is told to the others is counts, not keys.
bool radix_countable(const struct radix *radix);
void radix_counted(struct radix *radix);

// radix_plan.c: who gets what in a pass.
// Counts of all ranks to `counts`, from those of this rank at its place in it.
void radix_share(struct radix *radix);
// next[source][digit]: where in this rank's block the first key goes that `source` sends with
// that digit; comes[source][digit]: how many do. Returns their sum. `source` may be this rank.
uint64_t radix_arrivals(struct radix *radix, int source);
// Keys with `digit` on this rank, as positions among all: where they begin.
void radix_starts(const struct radix *radix, uint64_t *starts);

// The variants.
void radix_original(struct radix *radix);
void radix_posted(struct radix *radix);
void radix_threaded(struct radix *radix);
void radix_alltoallv(struct radix *radix);
void radix_split(struct radix *radix);
void radix_alone(struct radix *radix);
// Keys of one message from `source` go to their places, in radix_local.c. Keys that were damaged
// on the way have none in this block and are dropped: the check will miss them.
void radix_place(struct radix *radix, int source, const void *keys, size_t count);
void radix_sent(struct radix *radix, double messages, double keys);

// radix_check.c
void radix_fill(void *radix);
void radix_check(void *radix, struct failure *failure);

// radix.c: buffers for `radix->keys` keys of its width.
void radix_open(struct radix *radix, struct failure *failure);
void radix_close(struct radix *radix);

#endif
