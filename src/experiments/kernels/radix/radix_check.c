// SPDX-License-Identifier: BSD-3-Clause
// Makes the keys, and checks the result: order over all ranks, the same keys, stability.
#include "radix.h"

enum { FEW = 16 };

static uint64_t mixed(uint64_t x) {
    return random_mixed(x * RANDOM_STEP);
}

// A key of 64 bits, of which the high ones are taken.
static uint64_t key_of(const struct radix *radix, uint64_t index) {
    uint64_t total = (uint64_t)radix->size * radix->keys;
    switch (radix->distribution[0]) {
    case 'g': // gaussian, about: the mean of four uniform ones, as NAS IS has it
        return (mixed(4 * index + 1) >> 2) + (mixed(4 * index + 2) >> 2) +
               (mixed(4 * index + 3) >> 2) + (mixed(4 * index + 4) >> 2);
    case 's': // sorted
        return UINT64_MAX / total * index;
    case 'e': // equal
        return 0x123456789abcdef0u;
    case 'f': // few
        return mixed(1 + mixed(index + 1) % FEW);
    default:
        return mixed(index + 1);
    }
}

static uint64_t input(const struct radix *radix, uint64_t index) {
    uint64_t key = key_of(radix, index);
    if (radix->tagged)
        return key >> 32 << 32 | index;
    return key >> (64 - radix->digits.bits);
}

void radix_fill(void *state) {
    struct radix *radix = state;
    uint64_t first = (uint64_t)radix->rank * radix->keys;
    for (size_t i = 0; i < radix->keys; i++) {
        radix_put(radix->in, i, input(radix, first + i), radix->wide);
    }
}

static uint64_t key_at(const struct radix *radix, size_t i) {
    return radix_key(radix->in, i, radix->wide);
}

// Sums over keys that do not depend on their order. Two, so that no one bit escapes.
static void check_multiset(const struct radix *radix, struct failure *failure) {
    uint64_t first = (uint64_t)radix->rank * radix->keys, sums[4] = {0}, all[4];
    for (size_t i = 0; i < radix->keys; i++) {
        uint64_t before = mixed(input(radix, first + i) + 1), after = mixed(key_at(radix, i) + 1);
        sums[0] += before;
        sums[1] += before * before;
        sums[2] += after;
        sums[3] += after * after;
    }
    memcpy(all, sums, sizeof all);
    if (!radix->variant->alone)
        MPI_Allreduce(sums, all, 4, MPI_UINT64_T, MPI_SUM, radix->comm);
    if (all[0] != all[2] || all[1] != all[3])
        failure_set(failure, STATUS_FAILED,
                    "wrong result: variant %s lost or changed keys; do not trust this MPI's "
                    "transport",
                    radix->variant->name);
}

// Whether keys rise, within a rank and from each to the next.
static void check_order(const struct radix *radix, struct failure *failure) {
    uint64_t before = 0, last = key_at(radix, radix->keys - 1);
    int next = radix->rank + 1 < radix->size ? radix->rank + 1 : MPI_PROC_NULL;
    int previous = radix->rank > 0 ? radix->rank - 1 : MPI_PROC_NULL;
    if (!radix->variant->alone)
        MPI_Sendrecv(&last, 1, MPI_UINT64_T, next, RADIX_TAG - 1, &before, 1, MPI_UINT64_T,
                     previous, RADIX_TAG - 1, radix->comm, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < radix->keys; i++) {
        uint64_t key = key_at(radix, i);
        if (key < before)
            failure_set(failure, STATUS_FAILED,
                        "wrong result: variant %s leaves key %zu of rank %d %s; do not trust "
                        "this MPI's transport",
                        radix->variant->name, i, radix->rank,
                        radix->tagged ? "before an equal one that it came after" : "out of order");
        before = key;
    }
}

void radix_check(void *state, struct failure *failure) {
    check_multiset(state, failure);
    check_order(state, failure);
}

struct radix radix_tagged(const struct radix *radix) {
    struct radix tagged = *radix;
    tagged.wide = tagged.tagged = true;
    tagged.digits.low = tagged.digits.bits = 32;
    return tagged;
}

void radix_check_stable(const struct operation *operation, unsigned round,
                        struct failure *failure) {
    struct radix *tagged = operation->state;
    (void)round;
    radix_fill(tagged);
    tagged->variant->run(tagged);
    radix_check(tagged, failure);
}
