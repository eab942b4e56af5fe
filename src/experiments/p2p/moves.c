// SPDX-License-Identifier: BSD-3-Clause
// The moves of a train: who sends, who computes, and where among the calls.
#include "train.h"

enum { TAG = 1, TOKEN = 2 };

// The requests of one operation: a send and a receive. Null where there is nothing to wait for.
enum { SENT, RECEIVED, REQUESTS };

static double now(const struct train *train) {
    return train->stamped ? program_mark(&train->bench->clock) : 0;
}

static void begin(struct train *train) {
    train->parts = (struct parts){0};
}

static void moved(struct train *train, double messages) {
    train->bench->payload_bytes += messages * train->count;
}

static void add(struct train *train, double start, double compute, double wait, double end) {
    train->parts.start_s += compute - start;
    train->parts.compute_s += wait - compute;
    train->parts.wait_s += end - wait;
}

static void post(struct train *train, int from, MPI_Request *requests) {
    MPI_Irecv(buffer_next(&train->in), train->count, MPI_BYTE, from, TAG, train->bench->comm,
              &requests[RECEIVED]);
}

static void receive(struct train *train, int from) {
    MPI_Recv(buffer_next(&train->in), train->count, MPI_BYTE, from, TAG, train->bench->comm,
             MPI_STATUS_IGNORE);
}

static void tell(const struct train *train, int to) {
    MPI_Send(NULL, 0, MPI_BYTE, to, TOKEN, train->bench->comm);
}

static void hear(const struct train *train, int from) {
    MPI_Recv(NULL, 0, MPI_BYTE, from, TOKEN, train->bench->comm, MPI_STATUS_IGNORE);
}

static void start_send(struct train *train, int to, MPI_Request *requests) {
    if (train->blocking)
        train->send(buffer_next(&train->out), train->count, MPI_BYTE, to, TAG, train->bench->comm);
    else
        train->isend(buffer_next(&train->out), train->count, MPI_BYTE, to, TAG, train->bench->comm,
                     &requests[SENT]);
}

// A send that blocks is over: there is nothing to be waited for.
static void await_send(struct train *train, MPI_Request *requests) {
    if (!train->blocking)
        MPI_Wait(&requests[SENT], MPI_STATUS_IGNORE);
}

static void send_one(struct train *train) {
    MPI_Request requests[REQUESTS] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    start_send(train, 0, requests);
    await_send(train, requests);
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
    start_send(train, 1, requests);
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
        post(train, 1, requests);
}

static void receive_or_await(struct train *train, MPI_Request *requests) {
    if (train->receives_block)
        receive(train, 1);
    else
        MPI_Wait(&requests[RECEIVED], MPI_STATUS_IGNORE);
}

static void receive_or_post(struct train *train, MPI_Request *requests) {
    if (train->receives_block)
        receive(train, 1);
    else
        post(train, 1, requests);
}

static void to_and_fro(struct train *train, MPI_Request *requests) {
    post_unless_blocking(train, requests);
    start_send(train, 1, requests);
}

static void await_both(struct train *train, MPI_Request *requests) {
    if (train->receives_block) {
        receive(train, 1);
        await_send(train, requests);
    } else {
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    }
}

void train_go_pingpong(void *state, long calls) {
    struct train *train = state;
    begin(train);
    moved(train, 2.0 * (double)calls);
    for (long i = 0; i < calls && train->bench->rank == 1; i++) {
        receive(train, 0);
        send_one(train);
    }
    if (train->bench->rank == 0)
        row(train, calls, NULL, to_and_fro, AMONG, await_both);
}

// Sends messages one after the other as quickly as possible; the receiver's answer ends the row.
void train_go_gap_send(void *state, long calls) {
    struct train *train = state;
    begin(train);
    moved(train, (double)calls);
    if (train->bench->rank == 1) {
        for (long i = 0; i < calls; i++)
            receive(train, 0);
        tell(train, 0);
        return;
    }
    row(train, calls, NULL, to_send, AMONG, await_send);
    hear(train, 1);
}

// The receiver's message begins the row; the last message it receives ends it.
void train_go_gap_receive(void *state, long calls) {
    struct train *train = state;
    begin(train);
    moved(train, (double)calls);
    if (train->bench->rank == 1) {
        hear(train, 0);
        for (long i = 0; i < calls; i++)
            send_one(train);
        return;
    }
    tell(train, 1);
    row(train, calls, NULL, receive_or_post, AMONG, await_posted);
}

static void hear_that_it_is_posted(struct train *train, MPI_Request *requests) {
    (void)requests;
    hear(train, 1);
}

// The receive is posted before rank 0 requests the message.
void train_go_local_send(void *state, long calls) {
    struct train *train = state;
    begin(train);
    moved(train, (double)calls);
    for (long i = 0; i < calls && train->bench->rank == 1; i++) {
        MPI_Request requests[REQUESTS] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        post(train, 0, requests);
        tell(train, 0);
        MPI_Wait(&requests[RECEIVED], MPI_STATUS_IGNORE);
    }
    if (train->bench->rank == 0)
        row(train, calls, hear_that_it_is_posted, to_send, AMONG, await_send);
}

// Rank 0 requests messages; rank 1 sends them.
WHOLE void asked(struct train *train, long calls, half *ready, half *start, enum computation how,
                 half *end) {
    begin(train);
    moved(train, (double)calls);
    for (long i = 0; i < calls && train->bench->rank == 1; i++) {
        hear(train, 0);
        send_one(train);
    }
    if (train->bench->rank == 0)
        row(train, calls, ready, start, how, end);
}

static void post_and_ask(struct train *train, MPI_Request *requests) {
    post(train, 1, requests);
    tell(train, 1);
}

void train_go_local_receive(void *state, long calls) {
    asked(state, calls, NULL, post_and_ask, AMONG, await_receive);
}

static void post_unless_blocking_and_ask(struct train *train, MPI_Request *requests) {
    post_unless_blocking(train, requests);
    tell(train, 1);
}

void train_go_asked_receive(void *state, long calls) {
    asked(state, calls, NULL, post_unless_blocking_and_ask, AMONG, receive_or_await);
}

static void ask(struct train *train, MPI_Request *requests) {
    (void)requests;
    tell(train, 1);
}

void train_go_words(void *state, long calls) {
    struct train *train = state;
    begin(train);
    for (long i = 0; i < calls && train->bench->rank == 1; i++)
        hear(train, 0);
    if (train->bench->rank == 0)
        row(train, calls, NULL, ask, AMONG, NULL);
}

// Until the message must have come.
static void ask_and_wait(struct train *train, MPI_Request *requests) {
    const struct clock *clock = &train->bench->clock;
    (void)requests;
    tell(train, 1);
    clock_wait(clock, program_mark(clock) + train->delay_s);
}

void train_go_delayed_receive(void *state, long calls) {
    asked(state, calls, ask_and_wait, receive_or_post, ALONE, await_posted);
}
