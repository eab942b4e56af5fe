// SPDX-License-Identifier: BSD-3-Clause
// The moves of a train: who sends, who computes, and where among the calls.
#include "train.h"

enum { TAG = 1, TOKEN = 2 };

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

static void start_send(struct train *train, int to, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    if (train->blocking)
        train->send(buffer_next(&train->out), train->count, MPI_BYTE, to, TAG, train->bench->comm);
    else
        train->isend(buffer_next(&train->out), train->count, MPI_BYTE, to, TAG, train->bench->comm,
                     request);
}

static void post(struct train *train, int from, MPI_Request *request) {
    MPI_Irecv(buffer_next(&train->in), train->count, MPI_BYTE, from, TAG, train->bench->comm,
              request);
}

static void receive(struct train *train, int from) {
    MPI_Recv(buffer_next(&train->in), train->count, MPI_BYTE, from, TAG, train->bench->comm,
             MPI_STATUS_IGNORE);
}

static void start_receive(struct train *train, int from, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    if (train->blocking)
        receive(train, from);
    else
        post(train, from, request);
}

static void tell(const struct train *train, int to) {
    MPI_Send(NULL, 0, MPI_BYTE, to, TOKEN, train->bench->comm);
}

static void hear(const struct train *train, int from) {
    MPI_Recv(NULL, 0, MPI_BYTE, from, TOKEN, train->bench->comm, MPI_STATUS_IGNORE);
}

static void send_one(struct train *train) {
    MPI_Request request;
    start_send(train, 0, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void train_go_pingpong(void *state, long calls) {
    struct train *train = state;
    begin(train);
    moved(train, 2.0 * (double)calls);
    for (long i = 0; i < calls && train->bench->rank == 1; i++) {
        receive(train, 0);
        send_one(train);
    }
    for (long i = 0; i < calls && train->bench->rank == 0; i++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        double a = now(train);
        if (!train->blocking)
            post(train, 1, &requests[1]);
        start_send(train, 1, &requests[0]);
        double b = now(train);
        compute_do(train->compute, train->work);
        double c = now(train);
        if (train->blocking)
            receive(train, 1);
        else
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        add(train, a, b, c, now(train));
    }
}

// Messages one after the other as quickly as they go; the receiver's word ends the row.
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
    for (long i = 0; i < calls; i++) {
        MPI_Request request;
        double a = now(train);
        start_send(train, 1, &request);
        double b = now(train);
        compute_do(train->compute, train->work);
        double c = now(train);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        add(train, a, b, c, now(train));
    }
    hear(train, 1);
}

// The receiver's word begins the row, its last message ends it.
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
    for (long i = 0; i < calls; i++) {
        MPI_Request request;
        double a = now(train);
        start_receive(train, 1, &request);
        double b = now(train);
        compute_do(train->compute, train->work);
        double c = now(train);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        add(train, a, b, c, now(train));
    }
}

// The receive is posted before its sender is asked for the message.
void train_go_local_send(void *state, long calls) {
    struct train *train = state;
    begin(train);
    moved(train, (double)calls);
    for (long i = 0; i < calls && train->bench->rank == 1; i++) {
        MPI_Request request;
        post(train, 0, &request);
        tell(train, 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (long i = 0; i < calls && train->bench->rank == 0; i++) {
        MPI_Request request;
        hear(train, 1);
        double a = now(train);
        start_send(train, 1, &request);
        double b = now(train);
        compute_do(train->compute, train->work);
        double c = now(train);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        add(train, a, b, c, now(train));
    }
}

static void answer(struct train *train, long calls) {
    for (long i = 0; i < calls; i++) {
        hear(train, 0);
        send_one(train);
    }
}

void train_go_local_receive(void *state, long calls) {
    struct train *train = state;
    begin(train);
    moved(train, (double)calls);
    if (train->bench->rank == 1) {
        answer(train, calls);
        return;
    }
    for (long i = 0; i < calls; i++) {
        MPI_Request request;
        double a = now(train);
        post(train, 1, &request);
        tell(train, 1);
        double b = now(train);
        compute_do(train->compute, train->work);
        double c = now(train);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        add(train, a, b, c, now(train));
    }
}

void train_go_asked_receive(void *state, long calls) {
    struct train *train = state;
    begin(train);
    moved(train, (double)calls);
    if (train->bench->rank == 1) {
        answer(train, calls);
        return;
    }
    for (long i = 0; i < calls; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        double a = now(train);
        if (!train->blocking)
            post(train, 1, &request);
        tell(train, 1);
        double b = now(train);
        compute_do(train->compute, train->work);
        double c = now(train);
        if (train->blocking)
            receive(train, 1);
        else
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        add(train, a, b, c, now(train));
    }
}

void train_go_words(void *state, long calls) {
    struct train *train = state;
    begin(train);
    for (long i = 0; i < calls; i++) {
        if (train->bench->rank == 1) {
            hear(train, 0);
            continue;
        }
        double a = now(train);
        tell(train, 1);
        double b = now(train);
        compute_do(train->compute, train->work);
        double c = now(train);
        add(train, a, b, c, c);
    }
}

void train_go_delayed_receive(void *state, long calls) {
    struct train *train = state;
    const struct clock *clock = &train->bench->clock;
    begin(train);
    moved(train, (double)calls);
    if (train->bench->rank == 1) {
        answer(train, calls);
        return;
    }
    for (long i = 0; i < calls; i++) {
        MPI_Request request;
        tell(train, 1);
        clock_wait(clock, program_mark(clock) + train->delay_s);
        double a = now(train);
        start_receive(train, 1, &request);
        double b = now(train);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        add(train, a, b, b, now(train));
    }
}
