// SPDX-License-Identifier: BSD-3-Clause
// Arguments and buffers of an operation, and the call in each of its variants.
#include "coll.h"

static size_t unit(const struct coll *coll) {
    return coll->row->flow->fold ? coll->reduction->bytes : coll->form->unit;
}

static size_t extent(const struct coll *coll) {
    return coll->row->flow->fold ? coll->reduction->bytes : coll->form->extent;
}

MPI_Count coll_block(const struct coll *coll, int from, int to) {
    const struct flow *flow = coll->row->flow;
    MPI_Count count = coll->count, size = coll->size;
    if (flow->split) // the first ranks get what is left over
        return count / size + (to < count % size);
    if (!flow->own_counts || !coll->ragged)
        return coll->count;
    int key = flow->sends == BLOCKS_ONE ? from : flow->receives == BLOCKS_ONE ? to : from + to;
    return 2 * count * (key % size + 1) / (size + 1);
}

bool coll_can_be_in_place(const struct flow *flow) {
    return flow->sends != BLOCKS_NONE && !flow->one_buffer && !flow->neighbours;
}

bool coll_sends_in_place(const struct coll *coll) {
    const struct flow *flow = coll->row->flow;
    return coll->in_place && !flow->root_sends &&
           (!flow->root_receives || coll->rank == coll->root);
}

// The root of a scatter leaves its own block where it is.
static bool receives_in_place(const struct coll *coll) {
    return coll->in_place && coll->row->flow->root_sends && coll->rank == coll->root;
}

size_t coll_place(const struct coll *coll, int block) {
    const struct flow *flow = coll->row->flow;
    bool own = flow->sends == BLOCKS_ONE && flow->receives == BLOCKS_EACH;
    return (size_t)(own ? coll->in.far_starts[coll->rank] : coll->out.far_starts[block]);
}

// The numbers of blocks of a rank: the root alone may have some; a broadcast has one buffer.
static int blocks_out(const struct coll *coll) {
    const struct flow *flow = coll->row->flow;
    if (flow->one_buffer || (flow->root_sends && coll->rank != coll->root))
        return 0;
    return flow->sends == BLOCKS_EACH ? coll->peers->targets : flow->sends == BLOCKS_ONE;
}

static int blocks_in(const struct coll *coll) {
    const struct flow *flow = coll->row->flow;
    if ((flow->root_receives && coll->rank != coll->root) || receives_in_place(coll))
        return 0;
    return flow->receives == BLOCKS_EACH ? coll->peers->sources : flow->receives == BLOCKS_ONE;
}

// MPI_PROC_NULL as a peer has a block all the same; its data stay where they are.
static MPI_Count count_out(const struct coll *coll, int block) {
    bool each = coll->row->flow->sends == BLOCKS_EACH;
    int to = each && coll->peers->targets ? coll->peers->target[block] : coll->rank;
    return coll_block(coll, coll->rank, to < 0 ? coll->rank : to);
}

static MPI_Count count_in(const struct coll *coll, int block) {
    bool each = coll->row->flow->receives == BLOCKS_EACH;
    int from = each && coll->peers->sources ? coll->peers->source[block] : coll->root;
    return coll_block(coll, from < 0 ? coll->rank : from, coll->rank);
}

// Returns the most bytes that `blocks` blocks take, with the gaps between ragged blocks.
static double side_room(const struct coll *coll, int blocks, double count) {
    return blocks * (coll->ragged ? 2 * count + 1 : count) * (double)extent(coll);
}

// Whether an int of MPI can express the call's arguments. For most operations this is the count of
// one block. For reductions, and where blocks have their own places, it is the end of the last
// block, too.
static bool sayable(const struct coll *coll, size_t bytes, double out, double in) {
    const struct flow *flow = coll->row->flow;
    double count = (double)bytes / (coll->packed ? 1 : (double)unit(coll));
    if (coll->ragged ? 2 * count > INT_MAX : count > INT_MAX)
        return false;
    if (coll->row->mockup && count * coll->size > INT_MAX)
        return false;
    bool placed = flow->own_counts || flow->fold != FOLD_NONE || coll->packed;
    return !placed || (out <= INT_MAX && in <= INT_MAX);
}

// Whether this rank's call needs large counts, or has to have them.
static bool large(const struct coll *coll, size_t bytes) {
    double count = (double)bytes / (double)unit(coll);
    return coll->counting == COUNTING_LARGE ||
           (coll->counting == COUNTING_AUTO &&
            !sayable(coll, bytes, side_room(coll, blocks_out(coll), count),
                     side_room(coll, blocks_in(coll), count)));
}

// B of room for the blocks of all ranks.
static double spare_room(const struct coll *coll, size_t bytes) {
    return (double)bytes / (double)unit(coll) * (double)extent(coll) * coll->size;
}

double coll_room(const struct coll *coll, size_t bytes) {
    double count = (double)bytes / (double)unit(coll);
    double out = side_room(coll, blocks_out(coll), count);
    double in = side_room(coll, blocks_in(coll), count);
    bool larger = coll->counting != COUNTING_INT && coll->row->calls[COUNTING_LARGE].run;
    if (!sayable(coll, bytes, out, in) && (!larger || coll->packed))
        return -1;
    if (coll_sends_in_place(coll)) {
        in = in > out ? in : out;
        out = 0;
    }
    size_t room =
        buffer_room((size_t)out, coll->cache, 1) + buffer_room((size_t)in, coll->cache, 1);
    double spare = coll->row->mockup ? spare_room(coll, bytes) : 0;
    return (double)room * (coll->packed ? 2 : 1) + in + spare; // and the image of what must arrive
}

// -1: an int cannot hold the value. `coll_room` makes sure that no such call is made.
static int as_int(MPI_Count value) {
    return value <= INT_MAX ? (int)value : -1;
}

// Returns the size of the buffer of a `struct side`, B. Data sent in place lie in the receive
// buffer.
static size_t buffer_bytes(const struct coll *coll, const struct side *side) {
    if (!coll_sends_in_place(coll))
        return side->bytes;
    if (side == &coll->out)
        return 0;
    return coll->out.bytes > side->bytes ? coll->out.bytes : side->bytes;
}

// Sets the buffer addresses of the next calls.
static void point(struct coll *coll, char *out, char *in) {
    coll->out.at = coll_sends_in_place(coll) ? MPI_IN_PLACE : out;
    coll->in.at = receives_in_place(coll) ? MPI_IN_PLACE : in;
}

// Lays out the blocks: in order and contiguous; ragged blocks in reverse order with gaps.
// `carrier`: the blocks consist of packed bytes, not of elements.
static void side_open(struct coll *coll, struct side *side, const char *name, int blocks,
                      MPI_Count (*count)(const struct coll *, int), bool carrier) {
    const struct flow *flow = coll->row->flow;
    size_t room = (size_t)(blocks > 0 ? blocks : 1), step = carrier ? 1 : extent(coll);
    bool scattered = coll->ragged && flow->own_counts && !flow->split && !carrier;
    *side = (struct side){.blocks = blocks};
    side->counts = calloc(3 * room, sizeof(int));
    side->wide_counts = calloc(room, sizeof *side->wide_counts);
    side->far_starts = calloc(2 * room, sizeof *side->far_starts);
    side->types = calloc(room, sizeof *side->types);
    if (!side->counts || !side->wide_counts || !side->far_starts || !side->types) {
        failure_set(coll->failure, STATUS_USAGE, "no memory for a list of %zu blocks", room);
        return;
    }
    side->starts = side->counts + room;
    side->byte_starts = side->starts + room;
    side->wide_starts = side->far_starts + room;
    size_t start = 0;
    for (size_t i = 0; i < room; i++) {
        size_t block = scattered ? room - 1 - i : i;
        MPI_Count elements = count(coll, (int)block) * (carrier ? (MPI_Count)unit(coll) : 1);
        side->wide_counts[block] = elements;
        side->wide_starts[block] = (MPI_Aint)start;
        side->far_starts[block] = (MPI_Aint)(start * step);
        side->counts[block] = as_int(elements);
        side->starts[block] = as_int((MPI_Count)start);
        side->byte_starts[block] = as_int((MPI_Count)(start * step));
        side->types[block] = coll->type;
        start += (size_t)elements + scattered;
    }
    side->bytes = blocks ? start * step : 0;
    buffer_open(&side->buffer, coll->layout, name, buffer_bytes(coll, side), coll->cache, 1,
                coll->failure);
    side->at = side->buffer.pool;
}

static void side_close(struct side *side) {
    free(side->counts);
    free(side->wide_counts);
    free(side->far_starts);
    free(side->types);
    buffer_close(&side->buffer);
}

static void free_sides(struct coll *coll) {
    struct side *sides[] = {&coll->out, &coll->in, &coll->loose_out, &coll->loose_in};
    for (int i = 0; i < 4; i++)
        side_close(sides[i]);
    free(coll->parts);
    buffer_close(&coll->spare_buffer);
}

// Sets the datatype and opens the send and receive parts.
static void open_sides(struct coll *coll, struct side *out, struct side *in, bool carrier) {
    const struct flow *flow = coll->row->flow;
    coll->type = carrier ? MPI_PACKED : flow->fold ? coll->reduction->type : coll->form->type;
    bool loose = coll->packed && !carrier;
    side_open(coll, out, loose ? "send loose" : "send", blocks_out(coll), count_out, carrier);
    side_open(coll, in, loose ? "receive loose" : "receive", blocks_in(coll), count_in, carrier);
}

// Returns the minimum of bytes that this rank receives from others in one call. In a reduction the
// result contains the rank's own elements, so that they do not all count.
static double received(const struct coll *coll) {
    const struct flow *flow = coll->row->flow;
    double elements = 0;
    for (int i = 0; i < blocks_in(coll); i++) {
        bool each = flow->receives == BLOCKS_EACH;
        int from = each ? coll->peers->source[i] : coll->root;
        bool alone = flow->fold ? (flow->fold != FOLD_ALL && coll->rank == 0)
                     : each     ? from == coll->rank || from < 0
                                : from == coll->rank;
        elements += alone ? 0 : (double)count_in(coll, i);
    }
    return elements * (double)unit(coll);
}

// Prepares the values that only a mock-up needs, not the operation that it replaces.
static void mockup_open(struct coll *coll) {
    coll->part_unit = extent(coll);
    coll->parts = calloc(4 * (size_t)coll->size, sizeof *coll->parts);
    if (!coll->parts) {
        failure_set(coll->failure, STATUS_USAGE, "no memory for %d parts", coll->size);
        return;
    }
    coll->part_starts = coll->parts + coll->size;
    coll->lone = coll->part_starts + coll->size;
    coll->lone[coll->root] = (int)coll->count;
    for (int r = 0; r < coll->size; r++) {
        coll->parts[r] = (int)(coll->count / coll->size + (r < coll->count % coll->size));
        if (r > 0)
            coll->part_starts[r] = coll->part_starts[r - 1] + coll->parts[r - 1];
    }
    buffer_open(&coll->spare_buffer, coll->layout, "spare",
                (size_t)coll->count * (size_t)coll->size * extent(coll), 0, 1, coll->failure);
    coll->spare = coll->spare_buffer.pool;
}

void coll_open(struct coll *coll, size_t bytes, struct failure *failure) {
    double mine;
    int wide = large(coll, bytes), any;
    coll->failure = failure;
    coll->bytes = bytes;
    coll->count = (MPI_Count)(bytes / unit(coll));
    coll->comm = coll->peers->comm;
    MPI_Allreduce(&wide, &any, 1, MPI_INT, MPI_MAX, coll->comm); // all ranks call alike
    coll->calls = &coll->row->calls[any ? COUNTING_LARGE : COUNTING_INT];
    coll->request = MPI_REQUEST_NULL;
    coll->out = coll->in = coll->loose_out = coll->loose_in = (struct side){0};
    if (coll->packed)
        open_sides(coll, &coll->loose_out, &coll->loose_in, false);
    open_sides(coll, &coll->out, &coll->in, coll->packed);
    coll->parts = NULL;
    coll->spare_buffer = (struct buffer){0};
    if (coll->row->mockup)
        mockup_open(coll);
    if (ranks_agree(coll->comm, failure, false) != STATUS_OK) {
        free_sides(coll);
        return;
    }
    point(coll, coll->out.at, coll->in.at);
    coll_fill(coll);
    mine = received(coll);
    MPI_Allreduce(&mine, &coll->payload, 1, MPI_DOUBLE, MPI_SUM, coll->comm);
    if (coll->variant == PERSISTENT)
        coll->calls->init(coll, &coll->request);
}

void coll_close(struct coll *coll) {
    if (coll->request != MPI_REQUEST_NULL)
        MPI_Request_free(&coll->request);
    free_sides(coll);
}

void coll_forget(const struct coll *coll) {
    const struct side *sides[] = {&coll->out, &coll->in, &coll->loose_out, &coll->loose_in};
    for (int i = 0; i < 4; i++)
        buffer_forget(&sides[i]->buffer);
}

void coll_next(struct coll *coll) {
    point(coll, buffer_next(&coll->out.buffer), buffer_next(&coll->in.buffer));
    if (coll->packed) {
        coll->loose_out.at = buffer_next(&coll->loose_out.buffer);
        coll->loose_in.at = buffer_next(&coll->loose_in.buffer);
    }
}

void coll_prepare(const struct operation *operation, long repetition) {
    (void)repetition;
    coll_next(operation->state);
}

static void pack(struct coll *coll, const struct side *loose, const struct side *wire) {
    for (int i = 0; i < loose->blocks; i++) {
        int position = wire->starts[i], end = position + wire->counts[i];
        MPI_Pack(loose->at + loose->far_starts[i], loose->counts[i], coll->form->type, wire->at,
                 end, &position, coll->comm);
    }
}

static void unpack(struct coll *coll, const struct side *wire, const struct side *loose) {
    bool each = coll->row->flow->receives == BLOCKS_EACH;
    for (int i = 0; i < loose->blocks; i++) {
        int position = wire->starts[i], end = position + wire->counts[i];
        if (each && coll->peers->source[i] < 0)
            continue; // nothing came
        MPI_Unpack(wire->at, end, &position, loose->at + loose->far_starts[i], loose->counts[i],
                   coll->form->type, coll->comm);
    }
}

static void pack_all(struct coll *coll) {
    if (!coll->row->flow->one_buffer)
        pack(coll, &coll->loose_out, &coll->out);
    else if (coll->rank == coll->root)
        pack(coll, &coll->loose_in, &coll->in);
}

static void unpack_all(struct coll *coll) {
    if (!(coll->row->flow->one_buffer && coll->rank == coll->root))
        unpack(coll, &coll->in, &coll->loose_in);
}

void coll_start(struct coll *coll, MPI_Request *request) {
    if (coll->packed)
        pack_all(coll);
    if (coll->variant == NONBLOCKING) {
        coll->calls->start(coll, request);
    } else {
        MPI_Start(&coll->request);
        *request = coll->request;
    }
}

void coll_finish(struct coll *coll, MPI_Request *request) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (coll->packed)
        unpack_all(coll);
}

static void run_packed(void *state, long calls) {
    struct coll *coll = state;
    for (; calls > 0; calls--) {
        pack_all(coll);
        coll->calls->run(coll, 1);
        unpack_all(coll);
    }
}

static void run_begun(void *state, long calls) {
    struct coll *coll = state;
    for (; calls > 0; calls--) {
        MPI_Request request;
        coll_start(coll, &request);
        coll_finish(coll, &request);
    }
}

static void run_persistent(void *state, long calls) {
    struct coll *coll = state;
    for (; calls > 0; calls--) {
        MPI_Start(&coll->request);
        MPI_Wait(&coll->request, MPI_STATUS_IGNORE);
    }
}

void (*coll_run(const struct coll *coll))(void *, long) {
    if (coll->packed)
        return coll->variant == BLOCKING ? run_packed : run_begun;
    return coll->variant == BLOCKING      ? coll->calls->run
           : coll->variant == NONBLOCKING ? coll->calls->run_nonblocking
                                          : run_persistent;
}
