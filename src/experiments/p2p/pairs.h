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

// One number of pairs after the other. Between two calls of pairs_next, bench->comm is made of the
// ranks that are in a pair.
struct pairs {
    struct pairing pairing; // of this rank
    bool active;            // this rank is in a pair; the others wait quietly
    // The next number in --pairs, and the state of all ranks.
    size_t next;
    MPI_Comm all;
    int size;
    uint64_t drawn;
};

// Enters the next number of pairs in --pairs, from `(struct pairs){0}` on. False: there is none
// left, and bench->comm is what it was; or something failed. More pairs than there are ranks for
// is a failure (STATUS_USAGE). Collective over all ranks; failure agreed.
bool pairs_next(struct bench *bench, struct pairs *pairs);

#endif
