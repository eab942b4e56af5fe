// SPDX-License-Identifier: BSD-3-Clause
// A burst of messages, or of their parts: a queue of them is under way at a time.
#ifndef COTEJO_EXPERIMENTS_BURST_H
#define COTEJO_EXPERIMENTS_BURST_H

#include "clock.h"
#include "pair.h"

// How a burst is timed, or cut: rightly, or with an error.
enum { RIGHT, LATE, UNDELIVERED, SHIFTED, ERRORS };

// The sends or the receives of a rank.
struct lane {
    struct buffer *buffer;
    bool sends;
    MPI_Request *requests; // one for each place in the queue
    MPI_Request *now;      // the half whose turn it is
    size_t part;           // of a message, the next
};

struct burst {
    size_t queue, half, messages;
    bool parts;      // messages are cut
    bool both;       // ways at once
    bool persistent; // requests are made in `enter`, and freed in `leave`
    int error;
    const struct clock *clock;
    double begin_s, timed_s; // of a burst that is timed with an error
    size_t *begins, *ends;   // of the parts of a message
    struct lane lanes[2];
    int lanes_count;
    MPI_Request *requests; // of all lanes
};

// Before and after a stage: of persistent requests, where they are made and freed. A message's
// parts are as equal as can be; where they begin is worked out here, before anything is timed.
void burst_enter(const struct operation *operation);
void burst_leave(const struct operation *operation);

// Moves all messages: posts one half of the queue and waits for the other, alternately.
void burst_move(struct pair *pair, struct burst *burst, long messages);

#endif
