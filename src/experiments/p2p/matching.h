// SPDX-License-Identifier: BSD-3-Clause
// A queue of receives or of messages, in which the match is always at the same place.
//
// It is a row of `before` entries that no call touches, and behind it a ring: each call takes the
// ring's first entry out, and it is put in again at the end of the queue.
#ifndef COTEJO_EXPERIMENTS_MATCHING_H
#define COTEJO_EXPERIMENTS_MATCHING_H

#include "pair.h"

enum { MATCHING_DEPTH_MOST = 4096 };

// State of a pattern (pair.h: `variant`), the same on both ranks; rank 0 sends, rank 1 has the
// queue.
struct matching {
    bool posted; // receives, which a message looks through; else messages that nobody expects
    bool any_source, any_tag;
    MPI_Comm comm;        // of its messages alone: an open tag takes whatever comes
    size_t depth, before; // entries beside the match; of them before it
    size_t ring, next;    // entries that take turns; whose it is
    bool owed;            // rank 0 has yet to send what the last call took
    double resident_bytes;
    MPI_Request *requests; // owned by the experiment: depth + 1
};

// Makes the queue, and takes it away again until nothing is left of it. Collective.
void matching_fill(struct pair *pair, struct matching *queue);
void matching_drain(struct pair *pair, struct matching *queue);

// For posted receives: sends messages that each match, and an answer to each.
void matching_answer(void *state, long calls);

// For messages that have arrived: receives them on rank 1. The message that the last call took is
// put back before.
void matching_take(void *state, long calls);
void matching_put_back(const struct operation *operation, long repetition);

// Returns the destination of the next match's message, on rank 1.
char *matching_place(const struct pair *pair, const struct matching *queue);

#endif
