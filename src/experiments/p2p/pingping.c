// SPDX-License-Identifier: BSD-3-Clause
// Ping-ping: both ranks send at the same time, so that each message meets another.
#include "pair.h"

static const struct option pingping_options[] = {
    {"receive", OPTION_CHOICE, "first", "", "first|last", 0, 0,
     "last: the message is received while the send is under way (IMB's PingPing); needs "
     "--blocking no"},
    SAMPLER_START_ROW("loop"),
    {0},
};

static void enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    pair_enter(operation);
    if (pair->ready)
        pair_post(pair, &pair->posted);
}

static void once(struct pair *pair) {
    MPI_Request received;
    if (pair->ready) {
        // The receive of the next message is posted before this message is sent: a rank that has
        // received this message may send the next.
        received = pair->posted;
        pair_post(pair, &pair->posted);
    } else {
        pair_post(pair, &received);
    }
    if (pair->blocking) {
        pair_send(pair, NULL);
        MPI_Wait(&received, MPI_STATUS_IGNORE);
    } else {
        MPI_Request sent;
        pair_send(pair, &sent);
        MPI_Wait(&received, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
}

static void send_first(struct pair *pair) {
    MPI_Request sent;
    pair_send(pair, &sent);
    pair_receive(pair);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

// One more message each way, for the receives that are still posted.
static void leave(const struct operation *operation) {
    struct pair *pair = operation->state;
    if (!pair->ready)
        return;
    pair_send_whole(pair);
    MPI_Wait(&pair->posted, MPI_STATUS_IGNORE);
}

static void run_calls(void *state, long calls) {
    struct pair *pair = state;
    void (*call)(struct pair *) = pair->last ? send_first : once;
    for (long i = 0; i < calls; i++)
        call(pair);
}

static void run(struct bench *bench) {
    pair_run(bench,
             &(struct pattern){
                 .operation = {.name = "pingping",
                               .special = {.step = 2},
                               .around = &(const struct around){.enter = enter, .leave = leave},
                               .run = run_calls},
                 .share = 1,
                 .moved = 2});
}

const struct experiment pingping = {
    .name = "pingping",
    .summary = "two messages that meet",
    .what =
        "Time until a rank has sent its message and received the other's; both ranks send at "
        "once.\nTaken at rank 0. Method: Intel MPI Benchmarks PingPing, which is --receive last.",
    .options = {pair_options, pingping_options, PAIR_OPTION_TABLES},
    .columns = pair_columns,
    .reach = REACH_ANY,
    .run = run,
};
