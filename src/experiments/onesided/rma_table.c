// SPDX-License-Identifier: BSD-3-Clause
// The one table of one-sided operations: each with every synchronisation, without an indirect
// call in what is timed.
#include "rma.h"

const char *const rma_sync_names[] = {"fence", "pscw",        "lock", "lock_all",
                                      "flush", "flush_local", "wait"};

// Before and after the operations of an access. The fence that ends one begins the next; flushes
// are within an access that rma_enter opened.
static inline void begin_fence(const struct rma *r) {
    (void)r;
}

static inline void end_fence(const struct rma *r) {
    MPI_Win_fence(0, r->window);
}

static inline void begin_pscw(const struct rma *r) {
    if (r->target)
        MPI_Win_post(r->partner, 0, r->window);
    if (r->origin)
        MPI_Win_start(r->partner, 0, r->window);
}

static inline void end_pscw(const struct rma *r) {
    if (r->origin)
        MPI_Win_complete(r->window);
    if (r->target)
        MPI_Win_wait(r->window);
}

static inline void begin_lock(const struct rma *r) {
    MPI_Win_lock(MPI_LOCK_SHARED, r->peer, 0, r->window);
}

static inline void end_lock(const struct rma *r) {
    MPI_Win_unlock(r->peer, r->window);
}

static inline void begin_lock_all(const struct rma *r) {
    MPI_Win_lock_all(0, r->window);
}

static inline void end_lock_all(const struct rma *r) {
    MPI_Win_unlock_all(r->window);
}

static inline void begin_flush(const struct rma *r) {
    (void)r;
}

static inline void end_flush(const struct rma *r) {
    MPI_Win_flush(r->peer, r->window);
}

static inline void begin_flush_local(const struct rma *r) {
    (void)r;
}

static inline void end_flush_local(const struct rma *r) {
    MPI_Win_flush_local(r->peer, r->window);
}

// The requests of the operations are complete, and with them the operations at the origin.
static inline void begin_wait(const struct rma *r) {
    (void)r;
}

static inline void end_wait(const struct rma *r) {
    (void)r;
}

#define OUT r->out + at, r->count, r->type
#define IN r->in + at, r->count, r->type
#define THERE r->peer, r->place + (MPI_Aint)at, r->count, r->type
#define ONE_THERE r->type, r->peer, r->place + (MPI_Aint)at

#define CALL_put MPI_Put(OUT, THERE, r->window)
#define CALL_get MPI_Get(IN, THERE, r->window)
#define CALL_accumulate MPI_Accumulate(OUT, THERE, r->op, r->window)
#define CALL_get_accumulate MPI_Get_accumulate(OUT, IN, THERE, r->op, r->window)
#define CALL_fetch_and_op MPI_Fetch_and_op(r->out + at, r->in + at, ONE_THERE, r->op, r->window)
#define CALL_compare_and_swap                                                                     \
    MPI_Compare_and_swap(r->out + at, r->expected.pool + at, r->in + at, ONE_THERE, r->window)

#define CALL_rput MPI_Rput(OUT, THERE, r->window, request)
#define CALL_rget MPI_Rget(IN, THERE, r->window, request)

#define DEFINE(operation, sync, skip)                                                             \
    static void operation##_##sync(void *state, long calls) {                                     \
        const struct rma *r = ((struct pair *)state)->pattern->variant;                           \
        if (skip)                                                                                 \
            return;                                                                               \
        size_t end = r->origin ? r->queue * r->step : 0;                                          \
        for (; calls > 0; calls--) {                                                              \
            begin_##sync(r);                                                                      \
            for (size_t at = 0; at < end; at += r->step)                                          \
                CALL_##operation;                                                                 \
            end_##sync(r);                                                                        \
        }                                                                                         \
    }

// Operations with a request each, which are waited for before the access ends.
#define DEFINE_REQUESTED(operation, sync)                                                         \
    static void operation##_##sync(void *state, long calls) {                                     \
        const struct rma *r = ((struct pair *)state)->pattern->variant;                           \
        if (!r->origin)                                                                           \
            return;                                                                               \
        size_t end = r->queue * r->step;                                                          \
        for (; calls > 0; calls--) {                                                              \
            MPI_Request *request = r->requests;                                                   \
            begin_##sync(r);                                                                      \
            for (size_t at = 0; at < end; at += r->step, request++)                               \
                CALL_##operation;                                                                 \
            MPI_Waitall((int)r->queue, r->requests, MPI_STATUSES_IGNORE);                         \
            end_##sync(r);                                                                        \
        }                                                                                         \
    }

// MPI allows requests only in accesses in which the target makes no call.
#define DEFINE_ALL_REQUESTED(operation)                                                           \
    DEFINE_REQUESTED(operation, lock)                                                             \
    DEFINE_REQUESTED(operation, lock_all)                                                         \
    DEFINE_REQUESTED(operation, flush)                                                            \
    DEFINE_REQUESTED(operation, wait)

#define DEFINE_ALL(operation)                                                                     \
    DEFINE(operation, fence, false)                                                               \
    DEFINE(operation, pscw, false)                                                                \
    DEFINE(operation, lock, !r->origin)                                                           \
    DEFINE(operation, lock_all, !r->origin)                                                       \
    DEFINE(operation, flush, !r->origin)                                                          \
    DEFINE(operation, flush_local, !r->origin)

#define ROW(operation, ...)                                                                       \
    {                                                                                             \
        .name = #operation,                                                                       \
        .run = {operation##_fence,    operation##_pscw,  operation##_lock,                        \
                operation##_lock_all, operation##_flush, operation##_flush_local},                \
        __VA_ARGS__                                                                               \
    }

#define ROW_REQUESTED(operation, ...)                                                             \
    {                                                                                             \
        .name = #operation, .requested = true,                                                    \
        .run = {[LOCK] = operation##_lock,                                                        \
                [LOCK_ALL] = operation##_lock_all,                                                \
                [FLUSH] = operation##_flush,                                                      \
                [WAIT] = operation##_wait},                                                       \
        __VA_ARGS__                                                                               \
    }

DEFINE_ALL(put)
DEFINE_ALL(get)
DEFINE_ALL(accumulate)
DEFINE_ALL(get_accumulate)
DEFINE_ALL(fetch_and_op)
DEFINE_ALL(compare_and_swap)
DEFINE_ALL_REQUESTED(rput)
DEFINE_ALL_REQUESTED(rget)

const struct rma_operation rma_operations[] = {
    ROW(put, .writes = true),
    ROW(get, .fetches = true),
    ROW(accumulate, .writes = true, .adds = true),
    ROW(get_accumulate, .writes = true, .adds = true, .fetches = true),
    ROW(fetch_and_op, .writes = true, .adds = true, .fetches = true, .single = true),
    ROW(compare_and_swap, .writes = true, .compares = true, .fetches = true, .single = true),
    ROW_REQUESTED(rput, .writes = true),
    ROW_REQUESTED(rget, .fetches = true),
    {0},
};
