// SPDX-License-Identifier: BSD-3-Clause
// One operation over a carrier, by sizes: checked, repeated, checked again.
#include "layer.h"

#include "ranks.h"

#include <limits.h>
#include <stdlib.h>

const struct option layer_options[] = {
    {"sizes", OPTION_SIZES, "1:64Ki:x4", "B", NULL, 1, INT_MAX - (1 << 20),
     "message sizes: a list (1,8,4Ki) or ranges (1:1Mi:x2, 8:64:+8)"},
    {0},
};

static void shape(void *state, size_t bytes) {
    struct layer *layer = state;
    layer->bytes = bytes;
    buffer_shape(&layer->out, bytes);
    buffer_shape(&layer->in, bytes);
}

static void go(void *state, long calls) {
    struct layer *layer = state;
    for (long i = 0; i < calls && !failed(layer->ways->failure); i++)
        layer->act->once(layer);
    *layer->payload_bytes += layer->act->moved * (double)calls * (double)layer->bytes;
}

static void verify(struct layer *layer, int sender, unsigned message) {
    size_t wrong = payload_check(buffer_slot(&layer->in), layer->bytes, sender, message);
    if (wrong < layer->bytes)
        failure_set(layer->ways->failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a message of %zu B to rank %d over %s", wrong,
                    layer->bytes, layer->ways->rank, layer->ways->carrier->name);
}

// The operation once, into places that held the complement of what must arrive. An echo brings
// back what rank 0 sent; of a ping-pong each rank sent its own.
static void check(void *state, unsigned turn, struct failure *failure) {
    struct layer *layer = state;
    int rank = layer->ways->rank;
    bool echo = layer->ways->carrier->echo;
    int sender = rank == 0 && layer->act->both && !echo ? 1 : 0;
    payload_fill(buffer_slot(&layer->out), layer->bytes, rank, turn);
    payload_poison(buffer_slot(&layer->in), layer->bytes, sender, turn);
    if (!echo || rank == 0)
        layer->act->once(layer);
    if (!failed(failure) && (rank == 0 ? layer->act->both : !echo))
        verify(layer, sender, turn);
    ranks_agree(MPI_COMM_WORLD, failure, false);
}

static long fixed_calls(const void *state) {
    return ((const struct layer *)state)->act->calls;
}

static void open_buffers(struct bench *bench, struct layer *layer, size_t most) {
    size_t limit = layer->ways->carrier->most;
    if (limit && most > limit)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--transport %s carries messages of up to %zu B, --sizes has %zu",
                    layer->ways->carrier->name, limit, most);
    memory_ask(bench->comm, 2 * buffer_room(most, false, 0, 1), &bench->failure);
    if (failed(&bench->failure))
        return;
    buffer_open(&layer->out, &bench->layout, "send", most, false, 0, 1, &bench->failure);
    buffer_open(&layer->in, &bench->layout, "receive", most, false, 0, 1, &bench->failure);
    ranks_agree(bench->comm, &bench->failure, false);
}

// Open until the program ends: the description counts what went over its connections.
static struct ways ways;

static void close_all(void) {
    ways_close(&ways);
}

void layer_run(struct bench *bench, const struct act_of_layer *act) {
    struct layer layer = {.act = act, .ways = &ways, .payload_bytes = &bench->payload_bytes};
    struct series series = {.work = {.operation = act->operation,
                                     .share = act->share,
                                     .least_calls = act->least_calls,
                                     .calls = act->calls ? fixed_calls : NULL,
                                     .slowest = act->all || act->receiver,
                                     .clocked = act->all || bench->rank == 1,
                                     .go = go,
                                     .state = &layer},
                            .shape = shape,
                            .check = check};
    struct repeat rule = repeat_read(&bench->options, &bench->failure);
    struct sizes sizes = series_sizes(&bench->options, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        atexit(close_all);
    if (!failed(&bench->failure))
        ways_open(layer.ways, &bench->options, bench->rank, bench->size, &bench->failure);
    if (!failed(&bench->failure) && layer.ways->carrier->echo && act->needs_answer)
        failure_set(&bench->failure, STATUS_USAGE, "%s: --transport %s only echoes; use pingpong",
                    act->operation, layer.ways->carrier->name);
    if (!failed(&bench->failure))
        open_buffers(bench, &layer, sizes_largest(&sizes));
    if (!failed(&bench->failure))
        series_run(bench, &rule, &series, &sizes);
    ranks_agree(bench->comm, &bench->failure, false);
    buffer_close(&layer.out);
    buffer_close(&layer.in);
    sizes_free(&sizes);
    bench->payload_checked = !failed(&bench->failure);
}
