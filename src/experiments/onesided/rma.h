// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations between two ranks: what is called, how it is synchronised, and the window.
#pragma once

#include "pair.h"

// How an access is opened and completed: each is a column of the table of operations.
enum rma_sync { FENCE, PSCW, LOCK, LOCK_ALL, FLUSH, FLUSH_LOCAL, WAIT, RMA_SYNCS };

struct rma_operation;

// State of a pattern's operations (pair.h: `variant`), on one of the two ranks.
struct rma {
    struct pair *pair;
    const struct rma_operation *row;
    enum rma_sync sync;
    const char *kind; // of window
    bool both;        // each rank is origin and target
    bool unequal;     // comparisons that are timed do not find what they expect
    bool of_peer;     // flushes are within a lock of the target alone
    bool meets;       // at a stage's end the target waits in the library's barrier
    size_t queue;     // operations of an access
    MPI_Datatype type;
    size_t element; // B of it
    MPI_Op op;      // of accumulates
    // Fixed while a stage runs.
    bool origin, target; // what this rank is
    int count, peer;     // elements of an operation; the other rank
    size_t step;         // B from one operation's place to the next, in all buffers
    char *out, *in;      // what is sent, what is fetched
    MPI_Aint place;      // of the first operation, in the peer's window
    MPI_Win window;
    MPI_Group partner;     // the peer alone
    MPI_Comm comm;         // of the two
    char *memory;          // this rank's part of the window, where operations are
    void *attached;        // what a dynamic window holds
    MPI_Request *requests; // owned: one for each operation of an access, where they have requests
    struct buffer own, expected;
};

struct rma_operation {
    const char *name;
    bool writes, fetches;                            // the window; from it
    bool adds, compares;                             // to what is there; with it
    bool single;                                     // takes one element
    bool requested;                                  // each has a request
    void (*run[RMA_SYNCS])(void *state, long calls); // NULL: MPI does not allow it
};

// The pattern of an operation, whose window is opened and closed with the pair's buffers. If the
// library does not create the window, this is a failure in one line (STATUS_FAILED), agreed. Sizes
// that are not multiples of the element size are refused. The result of an access is compared on
// both ranks.
struct pattern rma_pattern(struct rma *rma, const char *name);

// Declares --operation, --synchronisation, --epoch, --window, --element, --compare,
// --target-waits.
extern const struct option rma_options[];

// Calls `measure` for each operation, synchronisation and window that the options name, with a
// name for it. `passive`: only for synchronisations in which the target makes no call and all is
// complete there. Unknown words are failures.
void rma_each(struct bench *bench, bool passive,
              void (*measure)(struct bench *bench, struct rma *rma, const char *name));
