// SPDX-License-Identifier: BSD-3-Clause
// The moves of a train: who sends, who computes, and where among the calls.
#include "train.h"

// The requests of one operation: a send and a receive. Null where there is nothing to wait for.
enum { SENT, RECEIVED, REQUESTS };

static double now(const struct train *train) {
    return train->stamped ? program_mark(&train->bench->clock) : 0;
}

// Begins a row in which so many messages pass.
static void begin(struct train *train, double messages) {
    train->parts = (struct parts){0};
    train->bench->payload_bytes += messages * train->pair.count;
}

static void add(struct train *train, double start, double compute, double wait, double end) {
    train->parts.start_s += compute - start;
    train->parts.compute_s += wait - compute;
    train->parts.wait_s += end - wait;
}

static void tell(const struct train *train) {
    MPI_Send(NULL, 0, MPI_BYTE, train->pair.peer, PAIR_TOKEN, train->pair.comm);
}

static void hear(const struct train *train) {
    MPI_Recv(NULL, 0, MPI_BYTE, train->pair.peer, PAIR_TOKEN, train->pair.comm, MPI_STATUS_IGNORE);
}

// A send that blocks is over: there is nothing to be waited for.
static void await_send(struct train *train, MPI_Request *requests) {
    if (!train->pair.blocking)
        MPI_Wait(&requests[SENT], MPI_STATUS_IGNORE);
}

#define WHOLE static inline __attribute__((always_inline))

// One half of rank 0's part: it starts an operation, or waits for its end.
typedef void half(struct train *train, MPI_Request *requests);

enum computation { ALONE, AMONG }; // the calls alone, or computation among them

// Runs a row of operations on rank 0. `ready` prepares the partner, before the first reading of
// the clock. Then come both halves, with the computation between them. For an omitted part the
// clock is not read. The code is inlined completely, so that no time contains a call through a
// pointer.
WHOLE void row(struct train *train, long calls, half *ready, half *start, enum computation how,
               half *end) {
    for (long i = 0; i < calls; i++) {
        MPI_Request requests[REQUESTS] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (ready)
            ready(train, requests);
        double a = now(train);
        start(train, requests);
        double b = now(train);
        if (how == AMONG)
            compute_do(train->compute, train->work);
        double c = how == AMONG ? now(train) : b;
        if (end)
            end(train, requests);
        add(train, a, b, c, end ? now(train) : c);
    }
}

static void to_send(struct train *train, MPI_Request *requests) {
    pair_send(&train->pair, &requests[SENT]);
}

static void await_receive(struct train *train, MPI_Request *requests) {
    (void)train;
    MPI_Wait(&requests[RECEIVED], MPI_STATUS_IGNORE);
}

// If receives block, the first half was the complete receive.
static void await_posted(struct train *train, MPI_Request *requests) {
    if (!train->receives_block)
        await_receive(train, requests);
}

// If receives block, a blocking receive is the complete second half.
static void post_unless_blocking(struct train *train, MPI_Request *requests) {
    if (!train->receives_block)
        pair_post(&train->pair, &requests[RECEIVED]);
}

static void receive_or_await(struct train *train, MPI_Request *requests) {
    if (train->receives_block)
        pair_receive(&train->pair);
    else
        MPI_Wait(&requests[RECEIVED], MPI_STATUS_IGNORE);
}

static void receive_or_post(struct train *train, MPI_Request *requests) {
    if (train->receives_block)
        pair_receive(&train->pair);
    else
        pair_post(&train->pair, &requests[RECEIVED]);
}

static void to_and_fro(struct train *train, MPI_Request *requests) {
    post_unless_blocking(train, requests);
    pair_send(&train->pair, &requests[SENT]);
}

static void await_both(struct train *train, MPI_Request *requests) {
    if (train->receives_block) {
        pair_receive(&train->pair);
        await_send(train, requests);
    } else {
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    }
}

void train_go_pingpong(void *state, long calls) {
    struct train *train = state;
    begin(train, 2.0 * (double)calls);
    for (long i = 0; i < calls && train->bench->rank == 1; i++) {
        pair_receive(&train->pair);
        pair_send_whole(&train->pair);
    }
    if (train->bench->rank == 0)
        row(train, calls, NULL, to_and_fro, AMONG, await_both);
}

// Sends messages one after the other as quickly as possible; the receiver's answer ends the row.
void train_go_gap_send(void *state, long calls) {
    struct train *train = state;
    begin(train, (double)calls);
    if (train->bench->rank == 1) {
        for (long i = 0; i < calls; i++)
            pair_receive(&train->pair);
        tell(train);
        return;
    }
    row(train, calls, NULL, to_send, AMONG, await_send);
    hear(train);
}

// The receiver's message begins the row; the last message it receives ends it.
void train_go_gap_receive(void *state, long calls) {
    struct train *train = state;
    begin(train, (double)calls);
    if (train->bench->rank == 1) {
        hear(train);
        for (long i = 0; i < calls; i++)
            pair_send_whole(&train->pair);
        return;
    }
    tell(train);
    row(train, calls, NULL, receive_or_post, AMONG, await_posted);
}

static void hear_that_it_is_posted(struct train *train, MPI_Request *requests) {
    (void)requests;
    hear(train);
}

// The receive is posted before rank 0 requests the message.
void train_go_local_send(void *state, long calls) {
    struct train *train = state;
    begin(train, (double)calls);
    for (long i = 0; i < calls && train->bench->rank == 1; i++) {
        MPI_Request requests[REQUESTS] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        pair_post(&train->pair, &requests[RECEIVED]);
        tell(train);
        MPI_Wait(&requests[RECEIVED], MPI_STATUS_IGNORE);
    }
    if (train->bench->rank == 0)
        row(train, calls, hear_that_it_is_posted, to_send, AMONG, await_send);
}

// Rank 0 requests messages; rank 1 sends them.
WHOLE void asked(struct train *train, long calls, half *ready, half *start, enum computation how,
                 half *end) {
    begin(train, (double)calls);
    for (long i = 0; i < calls && train->bench->rank == 1; i++) {
        hear(train);
        pair_send_whole(&train->pair);
    }
    if (train->bench->rank == 0)
        row(train, calls, ready, start, how, end);
}

static void post_and_ask(struct train *train, MPI_Request *requests) {
    pair_post(&train->pair, &requests[RECEIVED]);
    tell(train);
}

void train_go_local_receive(void *state, long calls) {
    asked(state, calls, NULL, post_and_ask, AMONG, await_receive);
}

static void post_unless_blocking_and_ask(struct train *train, MPI_Request *requests) {
    post_unless_blocking(train, requests);
    tell(train);
}

void train_go_asked_receive(void *state, long calls) {
    asked(state, calls, NULL, post_unless_blocking_and_ask, AMONG, receive_or_await);
}

static void ask(struct train *train, MPI_Request *requests) {
    (void)requests;
    tell(train);
}

void train_go_words(void *state, long calls) {
    struct train *train = state;
    begin(train, 0);
    for (long i = 0; i < calls && train->bench->rank == 1; i++)
        hear(train);
    if (train->bench->rank == 0)
        row(train, calls, NULL, ask, AMONG, NULL);
}

// Until the message must have come.
static void ask_and_wait(struct train *train, MPI_Request *requests) {
    const struct clock *clock = &train->bench->clock;
    (void)requests;
    tell(train);
    clock_wait(clock, program_mark(clock) + train->delay_s);
}

void train_go_delayed_receive(void *state, long calls) {
    asked(state, calls, ask_and_wait, receive_or_post, ALONE, await_posted);
}
