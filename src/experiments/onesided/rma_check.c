// SPDX-License-Identifier: BSD-3-Clause
// The steps before and after a stage of one-sided operations, and the check of their results.
#include "rma.h"

#include "barrier.h"
#include "device.h"

// A rank looks at its own part of a window under a lock, as MPI asks for.
static void hold(const struct rma *rma) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rma->peer, 0, rma->window);
}

static void release(const struct rma *rma) {
    MPI_Win_unlock(1 - rma->peer, rma->window);
}

static void shape(const struct operation *operation) {
    struct pair *pair = operation->state;
    struct rma *rma = pair->pattern->variant;
    pair_enter(operation);
    rma->count = (int)(operation->message.bytes / rma->element);
    rma->out = buffer_slot(&pair->out);
    rma->in = buffer_slot(&pair->in);
    rma->step = pair->out.step;
}

// Whether accesses of this rank are within an epoch that lasts as long as a stage.
static bool flushes(const struct rma *rma) {
    return rma->origin && rma->sync >= FLUSH;
}

static void open_access(const struct rma *rma) {
    if (rma->sync == FENCE)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, rma->window);
    else if (flushes(rma) && rma->of_peer)
        MPI_Win_lock(MPI_LOCK_SHARED, rma->peer, 0, rma->window);
    else if (flushes(rma))
        MPI_Win_lock_all(0, rma->window);
}

// All of the operations are complete at the target, too.
static void close_access(const struct rma *rma) {
    if (rma->sync == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, rma->window);
    else if (flushes(rma) && rma->of_peer)
        MPI_Win_unlock(rma->peer, rma->window);
    else if (flushes(rma))
        MPI_Win_unlock_all(rma->window);
}

// Number of a payload: of what the origin has, of what is in the window.
static unsigned sent(const struct rma *rma, unsigned round, size_t i) {
    return (unsigned)(2 * (round * rma->queue + i));
}

static unsigned kept(const struct rma *rma, unsigned round, size_t i) {
    return sent(rma, round, i) + 1;
}

// Every second comparison finds what it does not expect, and must change nothing.
static bool swaps(unsigned round, size_t i) {
    return (round + i) % 2 == 0;
}

// Fills an origin's buffers: values to send, expected values, and complements of the values that
// must arrive.
static void fill_origin(struct rma *rma, unsigned round) {
    const struct pair *pair = rma->pair;
    size_t bytes = (size_t)rma->count * rma->element;
    for (size_t i = 0, at = 0; i < rma->queue; i++, at += rma->step) {
        payload_fill(rma->out + at, bytes, pair->self, sent(rma, round, i));
        payload_poison(rma->in + at, bytes, pair->peer, kept(rma, round, i));
        if (rma->row->compares && swaps(round, i))
            payload_fill(rma->expected.pool + at, bytes, pair->peer, kept(rma, round, i));
        else if (rma->row->compares)
            payload_poison(rma->expected.pool + at, bytes, pair->peer, kept(rma, round, i));
    }
}

static void fill_window(const struct rma *rma, unsigned round) {
    const struct pair *pair = rma->pair;
    size_t bytes = (size_t)rma->count * rma->element;
    bool replaced = rma->row->writes && !rma->row->adds && !rma->row->compares;
    hold(rma);
    for (size_t i = 0, at = 0; i < rma->queue; i++, at += rma->step)
        if (replaced)
            payload_poison(rma->memory + at, bytes, pair->peer, sent(rma, round, i));
        else
            payload_fill(rma->memory + at, bytes, pair->self, kept(rma, round, i));
    release(rma);
}

// Takes from each element what must have been added to it, wherever both are.
static void take_away(const struct rma *rma, char *from, const char *what) {
    for (int i = 0; i < rma->count; i++, from += rma->element, what += rma->element) {
        uint64_t sum = 0, part = 0;
        device_copy(&sum, from, rma->element);
        device_copy(&part, what, rma->element);
        sum = rma->op == MPI_BXOR ? sum ^ part : sum - part;
        device_copy(from, &sum, rma->element);
    }
}

// An element of a number.
static void put_number(const struct rma *rma, char *place, uint64_t number) {
    device_copy(place, &number, rma->element);
}

// A window's own bytes, and no others, must be what the operations leave there.
static void verify_window(struct rma *rma, unsigned round, struct failure *failure) {
    const struct pair *pair = rma->pair;
    const struct rma_operation *row = rma->row;
    size_t bytes = (size_t)rma->count * rma->element;
    char *scratch = rma->in; // what was fetched is verified before
    hold(rma);
    for (size_t i = 0, at = 0; i < rma->queue; i++, at += rma->step) {
        bool replaced = row->writes && !row->adds && (!row->compares || swaps(round, i));
        if (row->adds) {
            payload_fill(scratch, bytes, pair->peer, sent(rma, round, i));
            take_away(rma, rma->memory + at, scratch);
        }
        pair_verify(pair, rma->memory + at, bytes, replaced ? pair->peer : pair->self,
                    replaced ? sent(rma, round, i) : kept(rma, round, i), failure);
    }
    release(rma);
}

static void verify_fetched(const struct rma *rma, unsigned round, struct failure *failure) {
    const struct pair *pair = rma->pair;
    size_t bytes = (size_t)rma->count * rma->element;
    for (size_t i = 0, at = 0; i < rma->queue; i++, at += rma->step)
        pair_verify(pair, rma->in + at, bytes, pair->peer, kept(rma, round, i), failure);
}

void rma_check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct pair *pair = operation->state;
    struct rma *rma = pair->pattern->variant;
    shape(operation);
    if (rma->origin)
        fill_origin(rma, round);
    if (rma->target)
        fill_window(rma, round);
    barrier_enter(rma->comm);
    open_access(rma);
    operation->run(operation->state, 1);
    close_access(rma);
    barrier_enter(rma->comm);
    if (rma->origin && rma->row->fetches)
        verify_fetched(rma, round, failure);
    if (rma->target)
        verify_window(rma, round, failure);
}

void rma_enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    struct rma *rma = pair->pattern->variant;
    shape(operation);
    if (rma->row->compares) // what finds what it expects writes it again
        for (size_t at = 0; at < rma->queue * rma->step; at += rma->step) {
            put_number(rma, rma->out + at, 0);
            put_number(rma, rma->expected.pool + at, rma->unequal);
        }
    if (rma->row->compares && rma->target) {
        hold(rma);
        for (size_t at = 0; at < rma->queue * rma->step; at += rma->step)
            put_number(rma, rma->memory + at, 0);
        release(rma);
    }
    barrier_enter(rma->comm);
    open_access(rma);
}

void rma_leave(const struct operation *operation) {
    const struct rma *rma = ((struct pair *)operation->state)->pattern->variant;
    close_access(rma);
    if (rma->meets)
        PMPI_Barrier(rma->comm);
}
