// SPDX-License-Identifier: BSD-3-Clause
// The ranking of NAS IS.
#ifndef COTEJO_NAS_IS_H
#define COTEJO_NAS_IS_H

#include "nas.h"

#include <math.h>

enum { IS_ITERATIONS = 10, IS_TESTS = 5, IS_BUCKETS = 1 << 10 };

struct is {
    long total, first, count; // keys of all ranks; of this one, from `first` on
    int range, shift;         // keys are below `range`; a key's bucket is key >> shift
    int *keys, *sorted;       // by bucket
    int *got;                 // the keys of this rank's buckets, from all ranks
    long received, room;
    int *at;        // for each value: the number of keys up to it; right within [low, high)
    int *mine;      // of each thread, the keys in each bucket, then where they go
    int *of_source; // keys in each of this rank's buckets, from each rank: `width` places each
    int width;      // at least this rank's buckets
    int *counts;    // room for counts and offsets of exchanges
    int *cuts;      // the buckets at which the ranks' parts begin, and where the last one ends
    int low, high;  // this rank's buckets
    long below[IS_BUCKETS + 1]; // keys in lower buckets
    long tested[IS_TESTS];
    int made[2 * IS_ITERATIONS]; // the keys that iterations change, as they were made
    int passed;                  // tests
    bool lost;                   // more keys than there is room for
};

// Ranks the keys. `index` says which keys are tested.
void is_rank(struct nas *nas, const long *index);

// The buckets at which the parts of `size` ranks begin, and IS_BUCKETS behind the last, so that
// all get about as many keys; `below` are the keys in lower buckets.
void is_cuts(const long *below, long total, int size, int *cuts);

// How many keys are less than one of this rank's buckets.
long is_less(const struct is *is, int key);

#endif
