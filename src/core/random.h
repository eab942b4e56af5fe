// SPDX-License-Identifier: BSD-3-Clause
// A generator of 64 bits whose state may be any number (splitmix64; Steele, Lea and Flood 2014).
#pragma once

#include "standard.h"

#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

// Mixes the bits of a number; no two numbers have one result.
static inline uint64_t random_mixed(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t random_next(uint64_t *state) {
    return random_mixed(*state += RANDOM_STEP);
}

// Returns a random number in [0, 1).
static inline double random_share(uint64_t *state) {
    return (double)(random_next(state) >> 11) * 0x1p-53;
}
