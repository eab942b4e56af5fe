// SPDX-License-Identifier: BSD-3-Clause
// Computes the data that each rank sends and the result that it must have, from ranks and
// positions alone, without a call to MPI. The comparison covers every byte. So a check takes as
// long as filling and reading the bytes that a rank gives and gets; reductions fold no ranks.
#include "coll.h"
#include "device.h"

// Returns the user's elements: the buffer that MPI sends, or the buffer that is packed for it.
static struct side *given(struct coll *coll) {
    return coll->packed ? &coll->loose_out : &coll->out;
}

static struct side *gotten(struct coll *coll) {
    return coll->packed ? &coll->loose_in : &coll->in;
}

// Block number `block` of what `sender` sends.
static void put_block(struct coll *coll, char *place, MPI_Count count, int sender, int block) {
    const struct form *form = coll->form;
    size_t bytes = (size_t)count * form->unit;
    sender += coll->first;
    if (form->unit == form->extent) {
        payload_fill(place, bytes, sender, (unsigned)block);
        return;
    }
    char *packed = malloc(bytes ? bytes : 1);
    if (!packed) {
        failure_set(coll->failure, STATUS_USAGE, "no memory to fill a block of %zu B", bytes);
        return;
    }
    payload_fill(packed, bytes, sender, (unsigned)block);
    form_spread(form, place, packed, (size_t)count);
    free(packed);
}

// Returns memory in which the processor can work on `bytes` B of a `struct side`: the place itself
// or a copy on the host. NULL, with a failure: no memory. To be handed to leave_side().
static char *reach_side(struct coll *coll, char *place, size_t bytes) {
    char *reached = device_far() ? malloc(bytes ? bytes : 1) : place;
    if (!reached)
        failure_set(coll->failure, STATUS_USAGE,
                    "no memory on the host to check %zu B; ask for smaller --sizes", bytes);
    return reached;
}

static void leave_side(char *reached, const char *place) {
    if (reached != place)
        free(reached);
}

// Zeros wherever the buffers receive: a sum of these in place, however often, stays what it is.
static void clear(struct coll *coll) {
    const struct buffer *buffer = &coll->in.buffer;
    char *zeros = calloc(1, buffer->step ? buffer->step : 1);
    if (!zeros)
        failure_set(coll->failure, STATUS_USAGE, "no memory on the host to clear %zu B",
                    buffer->step);
    for (size_t slot = 0; zeros && slot < buffer->slots; slot++)
        device_copy(buffer->pool + slot * buffer->step, zeros, buffer->step);
    free(zeros);
}

// Fills in this rank's values to send; `first` is the begin of the send buffer.
static void put_blocks(struct coll *coll, char *first) {
    const struct flow *flow = coll->row->flow;
    const struct side *side = given(coll);
    bool in_place = coll_sends_in_place(coll);
    for (int i = 0; i < side->blocks; i++) {
        char *place = first + (in_place ? coll_place(coll, i) : (size_t)side->far_starts[i]);
        size_t count = (size_t)side->wide_counts[i];
        if (flow->fold)
            reduction_fill(coll->reduction, place, (size_t)side->wide_starts[i], count, coll->rank,
                           coll->size);
        else
            put_block(coll, place, side->wide_counts[i], coll->rank, i);
    }
}

void coll_fill(struct coll *coll) {
    struct side *side = given(coll);
    if (coll_sends_in_place(coll)) {
        clear(coll);
        return;
    }
    char *pool = side->buffer.pool, *first = reach_side(coll, pool, side->bytes);
    if (!first)
        return;
    if (first != pool) // what is between blocks, too
        payload_poison(first, side->bytes, coll->rank, 0);
    put_blocks(coll, first);
    for (size_t slot = first == pool; slot < side->buffer.slots; slot++)
        device_copy(pool + slot * side->buffer.step, first, side->bytes);
    leave_side(first, pool);
}

// A reduced block: all ranks' elements from `first` on, or those of the ranks up to this one.
static void expect_folded(struct coll *coll, char *place, size_t count) {
    const struct flow *flow = coll->row->flow;
    size_t first = 0;
    if (flow->sends == BLOCKS_EACH) // this rank's share of the vector
        first = (size_t)coll->out.wide_starts[coll->rank];
    int ranks = flow->fold == FOLD_ALL ? coll->size : coll->rank + (flow->fold == FOLD_UP_TO);
    if (ranks > 0)
        reduction_expect(coll->reduction, place, first, count, ranks, coll->size);
}

static void expect_moved(struct coll *coll, char *place, MPI_Count count, int i) {
    const struct flow *flow = coll->row->flow;
    bool each = flow->receives == BLOCKS_EACH;
    int sender = each ? coll->peers->source[i] : coll->root;
    // The block of the sender; from many to one its number is that of this rank.
    int block = flow->sends == BLOCKS_ONE ? 0 : each ? coll->peers->slot[i] : coll->rank;
    if (sender >= 0)
        put_block(coll, place, count, sender, block);
}

// Computes the expected receive buffer: poison wherever nothing may arrive.
static void expect(struct coll *coll, char *image) {
    struct side *side = gotten(coll);
    for (int i = 0; i < side->blocks; i++) {
        char *place = image + side->far_starts[i];
        if (coll->row->flow->fold)
            expect_folded(coll, place, (size_t)side->wide_counts[i]);
        else
            expect_moved(coll, place, side->wide_counts[i], i);
    }
}

static void compare(struct coll *coll, const char *image) {
    const struct side *side = gotten(coll);
    size_t at = 0;
    // An exclusive scan leaves the first rank's result undefined: no rank is before it.
    if (coll->row->flow->fold == FOLD_BEFORE && coll->rank == 0)
        return;
    char *found = reach_side(coll, side->at, side->bytes);
    if (!found)
        return;
    if (found != side->at)
        device_copy(found, side->at, side->bytes);
    while (at < side->bytes && found[at] == image[at])
        at++;
    leave_side(found, side->at);
    if (at < side->bytes)
        failure_set(
            coll->failure, STATUS_FAILED,
            "wrong result: byte %zu of the %zu B that rank %d received in %s of %zu B; do not "
            "trust this MPI's collectives",
            at, side->bytes, coll->rank, coll->row->name[coll->variant], coll->bytes);
}

// Fills in what is sent in place, and computes in `image` what must arrive.
static void prepare_check(struct coll *coll, char *image, size_t room, bool in_place) {
    const struct side *side = gotten(coll);
    payload_poison(image, room, coll->rank, 0);
    if (in_place)
        put_blocks(coll, image);
    if (side->blocks)
        device_copy(side->at, image, room);
    if (in_place)
        payload_poison(image, room, coll->rank, 0);
    expect(coll, image);
    if (coll->row->flow->one_buffer && coll->rank == coll->root)
        device_copy(side->at, image, side->bytes);
}

void coll_check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct coll *coll = operation->state;
    struct side *side = gotten(coll);
    if (round > 0 && coll->unwritten)
        coll_fill(coll);
    bool in_place = coll_sends_in_place(coll);
    size_t room = side->bytes; // which what is sent in place may exceed
    if (in_place && coll->out.bytes > room)
        room = coll->out.bytes;
    char *image = malloc(room ? room : 1);
    if (!image)
        failure_set(failure, STATUS_USAGE, "no memory to check %zu B; ask for smaller --sizes",
                    room);
    else
        prepare_check(coll, image, room, in_place);
    coll_run(coll)(coll, 1); // also without memory to check: the others call it
    if (image)
        compare(coll, image);
    free(image);
    if (in_place)
        clear(coll);
    if (round == 0 && coll->unwritten)
        coll_forget(coll);
}
