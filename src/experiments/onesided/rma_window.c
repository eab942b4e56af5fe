// SPDX-License-Identifier: BSD-3-Clause
// Windows of two ranks: how MPI makes them, the steps before and after a stage, and the check of
// their content.
#include "device.h"
#include "rma.h"

#include <unistd.h>

static size_t page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

// Returns the first page boundary in memory that the library gave, shifted as --layout requires.
// Libraries differ in where they begin it, and this must not be part of a comparison.
static char *placed(const struct layout *layout, void *base) {
    uintptr_t begin = ((uintptr_t)base + page() - 1) / page() * page();
    return (char *)begin + layout_shift(layout, "window");
}

// Each of these makes the window, of `room` B a rank, and sets the begin of its memory. Returns
// MPI's code.
static int make_allocate(struct rma *rma, size_t room, void **base) {
    return MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, rma->comm, base, &rma->window);
}

static int make_shared(struct rma *rma, size_t room, void **base) {
    return MPI_Win_allocate_shared((MPI_Aint)room, 1, MPI_INFO_NULL, rma->comm, base,
                                   &rma->window);
}

static int make_create(struct rma *rma, size_t room, void **base) {
    *base = rma->own.memory;
    return MPI_Win_create(*base, (MPI_Aint)room, 1, MPI_INFO_NULL, rma->comm, &rma->window);
}

static int make_dynamic(struct rma *rma, size_t room, void **base) {
    int code = MPI_Win_create_dynamic(MPI_INFO_NULL, rma->comm, &rma->window);
    if (code == MPI_SUCCESS)
        code = MPI_Win_attach(rma->window, rma->own.memory, (MPI_Aint)room);
    rma->attached = code == MPI_SUCCESS ? rma->own.memory : NULL;
    *base = NULL; // places are addresses
    return code;
}

static const struct {
    const char *name;
    bool ours; // memory
    int (*make)(struct rma *rma, size_t room, void **base);
} kinds[] = {{"allocate", false, make_allocate},
             {"create", true, make_create},
             {"shared", false, make_shared},
             {"dynamic", true, make_dynamic}};

// Two ranks of different hosts have no memory in common: the library would abort.
static void refuse_apart(struct rma *rma, struct failure *failure) {
    MPI_Comm host;
    int size;
    MPI_Comm_split_type(rma->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
    if (size < 2)
        failure_set(failure, STATUS_USAGE,
                    "--window shared: ranks %d and %d are on different hosts; use --window "
                    "allocate",
                    rma->pair->self, rma->pair->peer);
}

static void make(struct rma *rma, size_t room, struct layout *layout, struct failure *failure) {
    void *base = NULL;
    size_t k = 0;
    while (strcmp(kinds[k].name, rma->kind) != 0)
        k++;
    if (device_number() >= 0 && !kinds[k].ours)
        failure_set(failure, STATUS_USAGE,
                    "--window %s: the library allocates it, in the host's memory; use --window "
                    "create or dynamic with --memory %s",
                    rma->kind, layout->memory);
    if (kinds[k].ours)
        buffer_open(&rma->own, layout, "window", room - 2 * page(), 0, 1, failure);
    if (ranks_agree(rma->pair->comm, failure, false) != STATUS_OK)
        return;
    MPI_Errhandler handler; // of all other errors on the communicator
    MPI_Comm_get_errhandler(rma->comm, &handler);
    MPI_Comm_set_errhandler(rma->comm, MPI_ERRORS_RETURN);
    int code = kinds[k].make(rma, kinds[k].ours ? rma->own.room : room, &base);
    MPI_Comm_set_errhandler(rma->comm, handler);
    MPI_Errhandler_free(&handler);
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        errors_text(code, text);
        failure_set(failure, STATUS_FAILED, "--window %s: this MPI made none: %s", rma->kind,
                    text);
    }
    if (ranks_agree(rma->pair->comm, failure, false) != STATUS_OK)
        return;
    errors_of_window(rma->window);
    rma->memory = kinds[k].ours ? rma->own.pool : placed(layout, base);
    layout_note(layout, "window", rma->memory);
    MPI_Aint mine;
    if (base)
        mine = (MPI_Aint)(rma->memory - (char *)base);
    else
        MPI_Get_address(rma->memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, rma->peer, 0, &rma->place, 1, MPI_AINT, rma->peer, 0,
                 rma->comm, MPI_STATUS_IGNORE);
}

static void open_window(struct bench *bench, struct pair *pair, size_t most) {
    struct rma *rma = pair->pattern->variant;
    struct failure *failure = &bench->failure;
    rma->pair = pair;
    rma->origin = rma->both || pair->rank == 0;
    rma->target = rma->both || pair->rank == 1;
    rma->peer = 1 - pair->rank;
    rma->window = MPI_WIN_NULL;
    int first = pair->rank == 0 ? pair->self : pair->peer;
    MPI_Group both;
    MPI_Comm_split(pair->comm, first, pair->rank, &rma->comm);
    MPI_Comm_group(rma->comm, &both);
    MPI_Group_incl(both, 1, &rma->peer, &rma->partner);
    MPI_Group_free(&both);
    // Bytes that a window's slots take: as those of the pair's own buffers.
    size_t room = buffer_room(most, 0, rma->queue) + 2 * page();
    memory_ask(bench->comm, 2 * room, failure);
    if (!failed(failure) && strcmp(rma->kind, "shared") == 0)
        refuse_apart(rma, failure);
    if (!layout_aligned(&bench->layout, rma->element))
        failure_set(failure, STATUS_USAGE,
                    "--layout %s: elements of %zu B must be aligned; give multiples of that",
                    bench->layout.name, rma->element);
    if (ranks_agree(pair->comm, failure, false) != STATUS_OK)
        return;
    bench_buffer(bench, &rma->expected, "expected", rma->element, 0, rma->queue);
    rma->requests = rma->row->requested ? malloc(rma->queue * sizeof *rma->requests) : NULL;
    if (rma->row->requested && !rma->requests)
        failure_set(failure, STATUS_USAGE, "no memory for a --queue of %zu", rma->queue);
    make(rma, room, &bench->layout, failure);
}

static void close_window(struct pair *pair) {
    struct rma *rma = pair->pattern->variant;
    if (!rma->pair)
        return;
    if (rma->attached)
        MPI_Win_detach(rma->window, rma->attached);
    if (rma->window != MPI_WIN_NULL)
        MPI_Win_free(&rma->window);
    MPI_Group_free(&rma->partner);
    MPI_Comm_free(&rma->comm);
    buffer_close(&rma->own);
    buffer_close(&rma->expected);
    free(rma->requests);
    rma->requests = NULL;
    rma->pair = NULL;
    rma->attached = NULL;
}

// The steps before and after a stage of one-sided operations, and the check of their results.

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
        payload_verify(rma->memory + at, bytes, replaced ? pair->peer : pair->self,
                       replaced ? sent(rma, round, i) : kept(rma, round, i), pair->self, failure);
    }
    release(rma);
}

static void verify_fetched(const struct rma *rma, unsigned round, struct failure *failure) {
    const struct pair *pair = rma->pair;
    size_t bytes = (size_t)rma->count * rma->element;
    for (size_t i = 0, at = 0; i < rma->queue; i++, at += rma->step)
        payload_verify(rma->in + at, bytes, pair->peer, kept(rma, round, i), pair->self, failure);
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
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

static void enter(const struct operation *operation) {
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

static void leave(const struct operation *operation) {
    const struct rma *rma = ((struct pair *)operation->state)->pattern->variant;
    close_access(rma);
    if (rma->meets)
        PMPI_Barrier(rma->comm);
}

static void choose(struct bench *bench, struct pair *pair, struct sizes *sizes) {
    const struct rma *rma = pair->pattern->variant;
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->bytes[i] % rma->element)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--sizes %zu: %s moves elements of %zu B; give multiples of that, or "
                        "--element byte",
                        sizes->bytes[i], rma->row->name, rma->element);
}

struct pattern rma_pattern(struct rma *rma, const char *name) {
    static const struct around around = {.enter = enter, .leave = leave, .check = check};
    const struct rma_operation *row = rma->row;
    int ways = rma->both ? 2 : 1;
    return (struct pattern){
        .operation = {.name = name, .around = &around, .run = row->run[rma->sync]},
        .share = 1 / (double)rma->queue,
        .moved = (int)rma->queue * (row->writes + row->fetches) * ways,
        .timed = rma->both ? PAIR_BOTH : 0,
        .slots = rma->queue,
        .only = row->single ? rma->element : 0,
        .choose = choose,
        .open = open_window,
        .close = close_window,
        .variant = rma};
}
