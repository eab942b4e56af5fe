// SPDX-License-Identifier: BSD-3-Clause
// Ping-ping: both ranks send at the same time, so that each message meets another.
#include "pair.h"

static void begin(struct pair *pair) {
    if (pair->ready)
        pair_post(pair, &pair->posted);
}

static void turn(struct pair *pair) {
    MPI_Request received, sent;
    if (pair->ready) {
        // The receive of the next message is posted before this one is sent: whoever has this
        // one may send the next.
        received = pair->posted;
        pair_post(pair, &pair->posted);
    } else {
        pair_post(pair, &received);
    }
    pair_send(pair, &sent);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

// One more message each way, for the receives that are still posted.
static void end(struct pair *pair) {
    MPI_Request sent;
    if (!pair->ready)
        return;
    pair_send(pair, &sent);
    MPI_Wait(&pair->posted, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void go(void *state, long calls) {
    struct pair *pair = state;
    for (long i = 0; i < calls; i++)
        turn(pair);
    pair_moved(pair, 2.0 * (double)calls);
}

static void run(struct bench *bench) {
    pair_run(bench,
             &(struct pattern){
                 .operation = "pingping", .share = 1, .begin = begin, .go = go, .end = end});
}

const struct experiment pingping = {
    .name = "pingping",
    .summary = "two messages that meet",
    .what =
        "Time until a rank has sent its message and received the other's; both ranks send at "
        "once.\nTaken at rank 0. Method: Intel MPI Benchmarks PingPing, receives posted first.",
    .options = {pair_options, pairs_options, series_options, repeat_options},
    .columns = pair_columns,
    .run = run,
};
