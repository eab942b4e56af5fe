// SPDX-License-Identifier: BSD-3-Clause
// Stream: one rank sends message after message, the other takes the time.
#include "pair.h"

static const struct option stream_options[] = {
    PAIR_SIZES_ROW,
    {"mode", OPTION_CHOICE, "standard", "", "standard|synchronous", 0, 0, "send mode"},
    {"blocking", OPTION_CHOICE, "yes", "", "yes|no", 0, 0,
     "no: non-blocking operations, each waited for before the next"},
    CACHE_ROW,
    SAMPLER_START_ROW("loop"),
    {0},
};

static void post_and_wait(struct pair *pair) {
    MPI_Request request;
    pair_post(pair, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_calls(void *state, long calls) {
    struct pair *pair = state;
    void (*once)(struct pair *) = pair->rank == 0  ? pair_send_whole
                                  : pair->blocking ? pair_receive
                                                   : post_and_wait;
    for (long i = 0; i < calls; i++)
        once(pair);
}

static void run(struct bench *bench) {
    pair_run(bench, &(struct pattern){
                        .operation = {.name = "stream", .special = {.step = 16}, .run = run_calls},
                        .share = 1,
                        .timed = 1});
}

const struct experiment stream = {
    .name = "stream",
    .summary = "messages one way, back to back, timed at the receiver",
    .what = "Time between the arrivals of two messages: rank 0 sends without a pause, rank 1 "
            "takes the time\nfrom having received one message to having received the last. "
            "Method: NetPIPE's streaming mode.",
    .options = {stream_options, PAIR_OPTION_TABLES},
    .columns = pair_columns,
    .reach = REACH_ANY,
    .run = run,
};
