// SPDX-License-Identifier: BSD-3-Clause
// Ping-pong: a message goes to the other rank, which answers with one of the same size.
#include "pair.h"

static const struct option pingpong_options[] = {
    {"buffer", OPTION_CHOICE, "two", "", "two|one", 0, 0,
     "one: a rank sends from where it received, so that each message was written by the other "
     "core (NetPIPE); two: a buffer for each way, sent unchanged again and again (IMB, OSU)"},
    {0},
};

// The answering rank keeps a receive posted where messages may come at any time.
static bool ahead(const struct pair *pair) {
    return pair->rank == 1 && (pair->ready || !pair->blocking);
}

static void begin(struct pair *pair) {
    if (ahead(pair))
        pair_post(pair, &pair->posted);
}

// The last receive that was posted still waits for its message.
static void end(struct pair *pair) {
    MPI_Request sent = MPI_REQUEST_NULL;
    if (ahead(pair))
        MPI_Wait(&pair->posted, MPI_STATUS_IGNORE);
    else if (pair->rank == 0 && (pair->ready || !pair->blocking))
        pair_send(pair, &sent);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void serve(struct pair *pair) {
    if (pair->ready || !pair->blocking) {
        MPI_Request requests[2];
        pair_post(pair, &requests[0]);
        pair_send(pair, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Request none;
        pair_send(pair, &none);
        pair_receive(pair);
    }
}

static void answer(struct pair *pair) {
    MPI_Request sent;
    if (ahead(pair)) {
        MPI_Wait(&pair->posted, MPI_STATUS_IGNORE);
        pair_post(pair, &pair->posted);
    } else {
        pair_receive(pair);
    }
    pair_send(pair, &sent);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void go(void *state, long calls) {
    struct pair *pair = state;
    void (*turn)(struct pair *) = pair->rank == 0 ? serve : answer;
    for (long i = 0; i < calls; i++)
        turn(pair);
    pair_moved(pair, 2.0 * (double)calls);
}

static void run(struct bench *bench) {
    pair_run(bench,
             &(struct pattern){
                 .operation = "pingpong", .share = 0.5, .begin = begin, .go = go, .end = end});
}

const struct experiment pingpong = {
    .name = "pingpong",
    .summary = "a message to the other rank and one back",
    .what = "Time of one message, one way: half of a round trip between ranks 0 and 1, taken at "
            "rank 0.\nMethod: Intel MPI Benchmarks PingPong; modes after Stival (2006), ch. 3.",
    .options = {pair_options, pingpong_options, pairs_options, series_options, repeat_options},
    .columns = pair_columns,
    .run = run,
};
