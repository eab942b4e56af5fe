// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks with computation of a chosen amount among them.
#pragma once

#include "compute.h"
#include "pair.h"

// Seconds that went into the parts of operations: inside the call that starts one (all of it when
// it blocks), computing, and inside the call that waits for its end.
struct parts {
    double start_s, compute_s, wait_s;
};

// Measurements of one sample on rank 0.
struct train_notes {
    double rows_s[2]; // times of a row of messages and of one that is TRAIN_LONGER times as long
    struct parts parts;
    double alone_s; // of a row's computation without messages
};

// The end of a row (the last message's way, the receiver's confirmation) is in both rows of a
// sample once. The time of a message is thus the difference between the rows, over the additional
// messages.
enum { TRAIN_LONGER = 4 };

struct train {
    struct bench *bench;
    struct sampler sampler;
    struct pair pair;    // the two ranks, and their messages
    bool receives_block; // as `pair.blocking`, which is of the sends
    bool stamped;
    struct compute *compute;
    double multiply_add_s; // time of one
    double delay_s;        // of train_delayed_receive
    const struct move *move;
    long work;          // multiply-adds in each operation
    int step;           // among the amounts of computation
    long calls;         // in a row
    struct parts parts; // sums over the operations of the last call of `go` with stamps
    struct train_notes notes;
};

// The operations of rank 0 with rank 1's help, `work` multiply-adds in each operation.
struct move {
    const char *operation;
    double share; // of a call that is one operation
    // The time is the sum of the parts, without the gaps between operations. Other operations are
    // timed without a clock inside; their parts come from a separate row.
    bool sum_of_parts;
    void (*go)(void *train, long calls);
};

// Declares --sizes, --mode (standard, synchronous), --blocking, --receive, --cache. An experiment
// that does not declare --compute-bytes computes a chain (compute.h), which takes nothing of the
// caches.
extern const struct option train_options[];

// The columns that train_measure fills. Without the last one `step` is not written.
#define TRAIN_COLUMN_ROWS                                                                         \
    SAMPLER_COLUMN_ROWS,                                                                          \
        {"multiply_adds", "multiply-adds", "computation put into each operation"},                \
        {"start_s", "s", "time inside the call that starts a message, or does all of it"},        \
        {"compute_s", "s", "time computing, among messages"},                                     \
        {"wait_s", "s", "time inside the call that waits for a message"}, {                       \
        "alone_s", "s", "time of the same computation without any message"                        \
    }
#define TRAIN_STEP_ROW                                                                            \
    { "step", "", "number of the amount of computation, rising; 0: none" }

void train_go_pingpong(void *train, long calls); // one call is a complete round trip
void train_go_gap_send(void *train, long calls);
void train_go_gap_receive(void *train, long calls);
void train_go_local_send(void *train, long calls);
void train_go_local_receive(void *train, long calls);
// As local, but the receive begins when its message must have come (after delay_s).
void train_go_delayed_receive(void *train, long calls);
// Rank 0 sends a request for each message, which arrives while rank 0 computes; the next message
// is not sent before its request. train_go_words: the requests without the messages.
void train_go_asked_receive(void *train, long calls);
void train_go_words(void *train, long calls);

// One move with an amount of computation.
struct amount {
    const struct move *move;
    long work;
    int step;
    struct train *train; // set by train_measure
};

// Calls `size` for each of --sizes, between two checks of the payload.
void train_run(struct bench *bench, void (*size)(struct train *train));

// Minimum time of one operation of a move without computation, s, as rank 0 sees it. Collective.
double train_least_time(struct train *train, const struct move *move);

// Takes samples of all amounts alternately until each has enough. Collective.
void train_measure(struct train *train, struct amount *amounts, int count);
