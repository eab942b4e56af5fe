// SPDX-License-Identifier: BSD-3-Clause
// Stream: one rank sends message after message, the other takes the time.
#include "pair.h"

static const struct option stream_options[] = {
    PAIR_SIZES_ROW,
    {"mode", OPTION_CHOICE, "standard", "", "standard|synchronous", 0, 0, "send mode"},
    {"blocking", OPTION_CHOICE, "yes", "", "yes|no", 0, 0,
     "no: non-blocking operations, each waited for before the next"},
    PAIR_CACHE_ROW,
    {0},
};

static void go(void *state, long calls) {
    struct pair *pair = state;
    for (long i = 0; i < calls; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (pair->rank == 0)
            pair_send(pair, &request);
        else if (pair->blocking)
            pair_receive(pair);
        else
            pair_post(pair, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    pair_moved(pair, (double)calls);
}

static void run(struct bench *bench) {
    pair_run(bench,
             &(struct pattern){
                 .operation = "stream", .share = 1, .go = go, .timed = 1, .least_calls = 16});
}

const struct experiment stream = {
    .name = "stream",
    .summary = "messages one way, back to back, timed at the receiver",
    .what = "Time between the arrivals of two messages: rank 0 sends without a pause, rank 1 "
            "takes the time\nfrom having received one message to having received the last. "
            "Method: NetPIPE's streaming mode.",
    .options = {stream_options, pairs_options, series_options, repeat_options},
    .columns = pair_columns,
    .run = run,
};
