// SPDX-License-Identifier: BSD-3-Clause
// Ping-pong: a message goes to the other rank, which answers with one of the same size.
#include "pair.h"

static const struct option pingpong_options[] = {
    {"buffer", OPTION_CHOICE, "two", "", "two|one", 0, 0,
     "one: a rank sends from where it received, so that each message was written by the other "
     "core (NetPIPE); two: a buffer for each way, sent unchanged again and again (IMB, OSU)"},
    SAMPLER_START_ROW("loop"),
    {0},
};

// The answering rank keeps a receive posted where messages may come at any time.
static bool ahead(const struct pair *pair) {
    return pair->rank == 1 && (pair->ready || !pair->blocking);
}

static void enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    pair_enter(operation);
    if (ahead(pair))
        pair_post(pair, &pair->posted);
}

// The last receive that was posted still waits for its message.
static void leave(const struct operation *operation) {
    struct pair *pair = operation->state;
    if (ahead(pair))
        MPI_Wait(&pair->posted, MPI_STATUS_IGNORE);
    else if (pair->rank == 0 && (pair->ready || !pair->blocking))
        pair_send_whole(pair);
}

static void serve(struct pair *pair) {
    MPI_Request requests[2];
    if (!pair->ready && pair->blocking) {
        pair_send(pair, NULL);
        pair_receive(pair);
    } else if (pair->blocking) {
        pair_post(pair, &requests[0]);
        pair_send(pair, NULL);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
        pair_post(pair, &requests[0]);
        pair_send(pair, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void answer(struct pair *pair) {
    if (ahead(pair)) {
        MPI_Wait(&pair->posted, MPI_STATUS_IGNORE);
        pair_post(pair, &pair->posted);
    } else {
        pair_receive(pair);
    }
    pair_send_whole(pair);
}

static void run_calls(void *state, long calls) {
    struct pair *pair = state;
    if (pair->rank == 0)
        for (long i = 0; i < calls; i++)
            serve(pair);
    else
        for (long i = 0; i < calls; i++)
            answer(pair);
}

static void run(struct bench *bench) {
    static const struct around around = {.enter = enter, .leave = leave};
    static const struct pattern pattern = {
        .operation = {.name = "pingpong", .around = &around, .run = run_calls},
        .share = 0.5,
        .moved = 2};
    pair_run(bench, &pattern);
}

const struct experiment pingpong = {
    .name = "pingpong",
    .summary = "a message to the other rank and one back",
    .what = "Time of one message, one way: half of a round trip between ranks 0 and 1, taken at "
            "rank 0.\nMethod: Intel MPI Benchmarks PingPong; modes after Stival (2006), ch. 3.",
    .options = {pair_options, pingpong_options, PAIR_OPTION_TABLES},
    .columns = pair_columns,
    .reach = REACH_ANY,
    .run = run,
};
