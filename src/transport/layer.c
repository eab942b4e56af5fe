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

static void enter(const struct operation *operation) {
    struct layer *layer = operation->state;
    layer->bytes = operation->message.bytes;
    buffer_shape(&layer->out, layer->bytes);
    buffer_shape(&layer->in, layer->bytes);
}

static void run_calls(void *state, long calls) {
    struct layer *layer = state;
    for (long i = 0; i < calls; i++) { // to the end: the others wait for all between them
        layer->act->once(layer);
        if (layer->act->between && i + 1 < calls)
            layer->act->between(layer);
    }
}

static void fit(struct operation *operation) {
    const struct layer *layer = operation->state;
    operation->message.payload = layer->act->moved * (double)operation->message.bytes;
}

static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct layer *layer = operation->state;
    (void)timing;
    sample->time_s *= layer->act->share;
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
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct layer *layer = operation->state;
    enter(operation);
    int rank = layer->ways->rank;
    bool echo = layer->ways->carrier->echo;
    int sender = rank == 0 && layer->act->both && !echo ? 1 : 0;
    payload_fill(buffer_slot(&layer->out), layer->bytes, rank, round);
    payload_poison(buffer_slot(&layer->in), layer->bytes, sender, round);
    if (!echo || rank == 0)
        layer->act->once(layer);
    if (!failed(failure) && (rank == 0 ? layer->act->both : !echo))
        verify(layer, sender, round);
    ranks_agree(layer->ways->comm, failure, false);
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

static struct operation operation_of(struct layer *layer) {
    static const struct around around = {.enter = enter, .check = check, .describe = describe};
    const struct act *act = layer->act;
    return (struct operation){
        .name = act->name,
        .run = run_calls,
        .state = layer,
        .around = &around,
        .special = {.step = act->step,
                    .bystander = act->timed != TIMED_ALL && act->timed != layer->ways->rank}};
}

void layer_run(struct bench *bench, const struct act *act) {
    struct layer layer = {.act = act, .ways = &ways};
    struct sampler sampler;
    struct sizes sizes = curve_sizes(&bench->options, &bench->failure);
    sampler_open(&sampler, bench, false);
    if (!failed(&bench->failure))
        atexit(close_all);
    if (!failed(&bench->failure))
        ways_open(layer.ways, bench->comm, &bench->options, act->grouped, &bench->failure);
    if (!failed(&bench->failure) && layer.ways->carrier->echo && act->needs_answer)
        failure_set(&bench->failure, STATUS_USAGE, "%s: --transport %s only echoes; use pingpong",
                    act->name, layer.ways->carrier->name);
    if (!failed(&bench->failure))
        open_buffers(bench, &layer, sizes_largest(&sizes));
    if (!failed(&bench->failure))
        curve_run(&sampler, &(struct curve){operation_of(&layer), fit}, &sizes);
    sampler_close(&sampler);
    buffer_close(&layer.out);
    buffer_close(&layer.in);
    sizes_free(&sizes);
    bench->payload_checked = !failed(&bench->failure);
}
