// SPDX-License-Identifier: BSD-3-Clause
// The one table of one-sided operations, and the options that choose from it: operation,
// synchronisation, kind of window.
#include "rma.h"

// Each operation is there with every synchronisation, without an indirect call in what is timed.

static const char *const rma_sync_names[] = {"fence", "pscw",        "lock", "lock_all",
                                             "flush", "flush_local", "wait"};

// Before and after the operations of an access. The fence that ends one begins the next; flushes
// are within an access that lasts as long as a stage. WAIT: the requests of the operations are
// complete, and with them the operations at the origin.
#define BEGIN_fence
#define END_fence MPI_Win_fence(0, r->window)
#define BEGIN_pscw                                                                                \
    {                                                                                             \
        if (r->target)                                                                            \
            MPI_Win_post(r->partner, 0, r->window);                                               \
        if (r->origin)                                                                            \
            MPI_Win_start(r->partner, 0, r->window);                                              \
    }
#define END_pscw                                                                                  \
    {                                                                                             \
        if (r->origin)                                                                            \
            MPI_Win_complete(r->window);                                                          \
        if (r->target)                                                                            \
            MPI_Win_wait(r->window);                                                              \
    }
#define BEGIN_lock MPI_Win_lock(MPI_LOCK_SHARED, r->peer, 0, r->window)
#define END_lock MPI_Win_unlock(r->peer, r->window)
#define BEGIN_lock_all MPI_Win_lock_all(0, r->window)
#define END_lock_all MPI_Win_unlock_all(r->window)
#define BEGIN_flush
#define END_flush MPI_Win_flush(r->peer, r->window)
#define BEGIN_flush_local
#define END_flush_local MPI_Win_flush_local(r->peer, r->window)
#define BEGIN_wait
#define END_wait

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

// Operations with a request each, which are waited for before the access ends.
#define CALL_rput MPI_Rput(OUT, THERE, r->window, request++)
#define CALL_rget MPI_Rget(IN, THERE, r->window, request++)

#define DEFINE_WITH(operation, sync, skip, requests, wait)                                        \
    static void operation##_##sync(void *state, long calls) {                                     \
        const struct rma *r = ((struct pair *)state)->pattern->variant;                           \
        if (skip)                                                                                 \
            return;                                                                               \
        size_t end = r->origin ? r->queue * r->step : 0;                                          \
        for (; calls > 0; calls--) {                                                              \
            requests;                                                                             \
            BEGIN_##sync;                                                                         \
            for (size_t at = 0; at < end; at += r->step)                                          \
                CALL_##operation;                                                                 \
            wait;                                                                                 \
            END_##sync;                                                                           \
        }                                                                                         \
    }
#define DEFINE(operation, sync, skip) DEFINE_WITH(operation, sync, skip, , )
#define DEFINE_REQUESTED(operation, sync)                                                         \
    DEFINE_WITH(operation, sync, !r->origin, MPI_Request *request = r->requests,                  \
                MPI_Waitall((int)r->queue, r->requests, MPI_STATUSES_IGNORE))

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

static const struct rma_operation rma_operations[] = {
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

enum { NAME_ROOM = 80, OPERATIONS_MOST = 16 };

static const char *const kinds[] = {"allocate", "create", "shared", "dynamic", "all"};
enum { KINDS = sizeof kinds / sizeof *kinds - 1 };

const struct option rma_options[] = {
    {"operation", OPTION_TEXT, "put,get", "", NULL, 0, 0,
     "names, joined by commas: put, get, accumulate, get_accumulate, fetch_and_op, "
     "compare_and_swap, rput, rget (with a request each); or all"},
    {"synchronisation", OPTION_TEXT, "flush", "", NULL, 0, 0,
     "how an access is completed, joined by commas: fence, pscw (post, start, complete, wait), "
     "lock, lock_all, flush, flush_local (at the origin only), wait (for the requests of rput and "
     "rget; at the origin only); or all. rput and rget have no fence, pscw and flush_local"},
    {"epoch", OPTION_CHOICE, "lock_all", "", "lock_all|lock", 0, 0,
     "within which flushes are, while a stage lasts: lock_all, or a shared lock of the target "
     "alone (as in OSU's and Intel's benchmarks)"},
    {"window", OPTION_TEXT, "allocate", "", NULL, 0, 0,
     "kinds of windows, joined by commas: allocate, create, shared, dynamic; or all"},
    {"element", OPTION_CHOICE, "word", "", "word|byte|char", 0, 0,
     "of atomic operations. word: 8 B, summed. byte: MPI_UINT8_T, combined by MPI_BXOR (sums of "
     "64 bytes and more were wrong under Open MPI 5.0.11). char: the same with MPI_CHAR, as in "
     "OSU's benchmarks (libraries accept it, though MPI does not guarantee it)"},
    {"compare", OPTION_CHOICE, "equal", "", "equal|unequal", 0, 0,
     "what compare_and_swap finds while it is timed: what it expects, and writes; or not (as in "
     "OSU's benchmark), and writes nothing"},
    {"target-waits", OPTION_CHOICE, "receive", "", "receive|barrier", 0, 0,
     "where a target waits while it makes no call of an operation: in a receive, or in the "
     "library's barrier (as in OSU's and Intel's benchmarks)"},
    {0},
};

// Returns an operation as requested; its elements are bytes if it only moves them.
static struct rma rma_of(const struct options *options, const struct rma_operation *row,
                         enum rma_sync sync, const char *kind) {
    bool atomic = row->adds || row->compares, word = options_is(options, "element", "word");
    return (struct rma){.row = row,
                        .sync = sync,
                        .kind = kind,
                        .queue = 1,
                        .unequal = options_is(options, "compare", "unequal"),
                        .of_peer = options_is(options, "epoch", "lock"),
                        .meets = options_is(options, "target-waits", "barrier"),
                        .op = word ? MPI_SUM : MPI_BXOR,
                        .type = !atomic                                  ? MPI_BYTE
                                : word                                   ? MPI_UINT64_T
                                : options_is(options, "element", "char") ? MPI_CHAR
                                                                         : MPI_UINT8_T,
                        .element = atomic && word ? 8 : 1};
}

static bool asked(const struct options *options, const char *option, const char *name) {
    const char *list = options_text(options, option);
    return words_have(list, name) || words_have(list, "all");
}

static void check_words(const struct options *options, enum rma_sync first, enum rma_sync last,
                        struct failure *failure) {
    const char *names[OPERATIONS_MOST];
    int count = 0;
    for (const struct rma_operation *row = rma_operations; row->name; row++)
        names[count++] = row->name;
    names[count++] = "all";
    words_check("operation", options_text(options, "operation"), names, count, failure);
    count = 0;
    for (int sync = (int)first; sync < (int)last; sync++)
        names[count++] = rma_sync_names[sync];
    names[count++] = "all";
    words_check("synchronisation", options_text(options, "synchronisation"), names, count,
                failure);
    words_check("window", options_text(options, "window"), kinds, KINDS + 1, failure);
}

void rma_each(struct bench *bench, bool passive,
              void (*measure)(struct bench *bench, struct rma *rma, const char *name)) {
    const struct options *options = &bench->options;
    struct failure *failure = &bench->failure;
    // Those that need the target's calls come first, the one that does not reach it last.
    int first = passive ? LOCK : 0, last = passive ? FLUSH_LOCAL : RMA_SYNCS, syncs = last - first;
    bool measured = false;
    check_words(options, (enum rma_sync)first, (enum rma_sync)last, failure);
    for (const struct rma_operation *row = rma_operations; row->name; row++)
        for (int i = 0; i < syncs * KINDS && !failed(failure); i++) {
            int sync = first + i / KINDS;
            const char *kind = kinds[i % KINDS];
            if (!row->run[sync] || !asked(options, "operation", row->name) ||
                !asked(options, "window", kind) ||
                !asked(options, "synchronisation", rma_sync_names[sync]))
                continue;
            struct rma rma = rma_of(options, row, (enum rma_sync)sync, kind);
            char text[NAME_ROOM];
            snprintf(text, sizeof text, "%s.%s.%s", row->name, rma_sync_names[sync], kind);
            const char *name = samples_name(&bench->samples, text, failure);
            measured = true;
            if (name)
                measure(bench, &rma, name);
        }
    if (!measured)
        failure_set(failure, STATUS_USAGE,
                    "--synchronisation %s: none of it exists for --operation %s; use flush, lock "
                    "or lock_all, which exist for all",
                    options_text(options, "synchronisation"), options_text(options, "operation"));
}
