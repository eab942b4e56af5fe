// SPDX-License-Identifier: BSD-3-Clause
// Assigns ranks to pairs that exchange messages at the same time.
#ifndef COTEJO_EXPERIMENTS_PAIRS_H
#define COTEJO_EXPERIMENTS_PAIRS_H

#include "bench.h"

// Declares --pairs and --pairing.
extern const struct option pairs_options[];

// A rank's place among `count` pairs: role 0 or 1, and the partner's rank in bench->comm.
struct pairing {
    int count, role, peer;
};

// Calls `measure` once for each number of pairs in --pairs, on the ranks that are in one, with
// bench->comm made of these alone; the other ranks wait quietly. More pairs than there are ranks
// for is a failure (STATUS_USAGE).
void pairs_each(struct bench *bench,
                void (*measure)(struct bench *bench, const struct pairing *pairing, void *state),
                void *state);

#endif
