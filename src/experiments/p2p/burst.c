// SPDX-License-Identifier: BSD-3-Clause
// A burst of messages, or of their parts: a queue of them is under way at a time.
#include "burst.h"

#include "program.h"

// The data of one send or receive: a message or a part of one.
struct unit {
    char *bytes;
    int count;
};

// Returns the next message, or, if messages are cut, the part `lane->part` and moves that on.
static struct unit next_unit(struct pair *pair, const struct burst *burst, struct lane *lane) {
    if (!burst->parts)
        return (struct unit){buffer_next(lane->buffer), pair->count};
    size_t from = burst->begins[lane->part], to = burst->ends[lane->part];
    char *message = buffer_slot(lane->buffer);
    if (++lane->part == burst->queue) {
        lane->part = 0;
        buffer_next(lane->buffer);
    }
    return (struct unit){message + from, (int)(to - from)};
}

// A request of each unit of these, started or to be started later.
static void make(struct pair *pair, const struct burst *burst, struct lane *lane, size_t units,
                 MPI_Request *requests) {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        burst->persistent ? pair->send_init : pair->isend;
    int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        burst->persistent ? MPI_Recv_init : MPI_Irecv;
    for (size_t k = 0; k < units; k++) {
        struct unit unit = next_unit(pair, burst, lane);
        if (lane->sends)
            send(unit.bytes, unit.count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm, &requests[k]);
        else
            receive(unit.bytes, unit.count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm,
                    &requests[k]);
    }
}

static void post(struct pair *pair, const struct burst *burst, struct lane *lane, size_t units) {
    if (burst->persistent)
        MPI_Startall((int)units, lane->now);
    else
        make(pair, burst, lane, units, lane->now);
}

// Receives are posted before sends.
void burst_enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    struct burst *burst = pair->pattern->variant;
    pair_enter(operation);
    for (size_t part = 0, shift = 0; part < burst->queue; part++) {
        size_t bytes = operation->message.bytes, from = bytes * part / burst->queue;
        size_t length = bytes * (part + 1) / burst->queue - from;
        if (burst->error == SHIFTED) {
            from = shift + length < bytes ? shift : bytes - length;
            shift += length > 0; // small messages have parts of 0 B
        }
        burst->begins[part] = from;
        burst->ends[part] = from + length;
    }
    burst->lanes_count = 0;
    for (int sends = 0; sends < 2; sends++)
        if (burst->both || (pair->rank == 0) == (sends == 1))
            burst->lanes[burst->lanes_count++] =
                (struct lane){.buffer = sends ? &pair->out : &pair->in,
                              .sends = sends == 1,
                              .requests = burst->requests + (size_t)sends * burst->queue};
    for (struct lane *lane = burst->lanes; lane < burst->lanes + burst->lanes_count; lane++)
        if (burst->persistent)
            make(pair, burst, lane, burst->queue, lane->requests);
}

void burst_leave(const struct operation *operation) {
    struct burst *burst = ((struct pair *)operation->state)->pattern->variant;
    for (size_t i = 0; burst->persistent && i < 2 * burst->queue; i++)
        if (burst->requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&burst->requests[i]);
}

void burst_move(struct pair *pair, struct burst *burst, long messages) {
    size_t units = (size_t)messages * (burst->parts ? burst->queue : 1);
    size_t half = burst->half, further = burst->queue - half;
    struct lane *last = burst->lanes + burst->lanes_count;
    for (struct lane *lane = burst->lanes; lane < last; lane++) {
        lane->now = lane->requests;
        lane->part = 0;
    }
    for (size_t i = 0; i < units; i += half)
        for (struct lane *lane = burst->lanes; lane < last; lane++) {
            if (i >= burst->queue) // posted before
                MPI_Waitall((int)half, lane->now, MPI_STATUSES_IGNORE);
            post(pair, burst, lane, units - i < half ? units - i : half);
            lane->now = lane->now == lane->requests ? lane->requests + further : lane->requests;
            if (i == 0 && burst->error == LATE)
                burst->begin_s = program_mark(burst->clock);
        }
    // In a burst that is shorter than the queue, only the first places have requests.
    size_t posted = units < burst->queue ? units : burst->queue;
    for (struct lane *lane = burst->lanes; lane < last; lane++)
        MPI_Waitall((int)posted, lane->requests, MPI_STATUSES_IGNORE);
}
