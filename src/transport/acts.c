// SPDX-License-Identifier: BSD-3-Clause
// The experiments below MPI, and their table: messages to and fro, one way, to all.
#include "experiments/table.h"
#include "layer.h"

#include <string.h>

static void to_and_fro(struct layer *layer) {
    struct ways *ways = layer->ways;
    const char *out = buffer_slot(&layer->out);
    char *in = buffer_slot(&layer->in);
    if (ways->rank == 0) {
        ways_send(ways, 1, out, layer->bytes);
        ways_receive(ways, 1, in, layer->bytes);
    } else if (!ways->carrier->echo) {
        ways_receive(ways, 0, in, layer->bytes);
        ways_send(ways, 0, out, layer->bytes);
    }
}

static void one_way(struct layer *layer) {
    if (layer->ways->rank == 0)
        ways_send(layer->ways, 1, buffer_slot(&layer->out), layer->bytes);
    else
        ways_receive(layer->ways, 0, buffer_slot(&layer->in), layer->bytes);
}

static void to_all(struct layer *layer) {
    struct ways *ways = layer->ways;
    // The library's broadcast function, if it is requested; else NULL.
    void (*send_all)(struct ways *, const char *, size_t) =
        ways->grouped                                       ? ways->carrier->send_group
        : options_is(ways->options, "broadcast", "library") ? ways->carrier->send_all
                                                            : NULL;
    if (failed(ways->failure))
        return;
    if (ways->rank == 0 && send_all) {
        send_all(ways, buffer_slot(&layer->out), layer->bytes);
    } else if (ways->rank == 0) {
        for (int i = 1; i < ways->size; i++)
            ways_send(ways, i, buffer_slot(&layer->out), layer->bytes);
    } else if (send_all) {
        ways->carrier->receive_all(ways, buffer_slot(&layer->in), layer->bytes);
    } else {
        ways_receive(ways, 0, buffer_slot(&layer->in), layer->bytes);
    }
}

// Rank 0 receives no answer, so it would send the messages of all calls before the samples before
// one is received.
static void meet(struct layer *layer) {
    if (layer->ways->carrier->lossy)
        MPI_Barrier(layer->ways->comm);
}

static const struct option pair_options[] = {LAYER_START_ROW("loop"), {0}};

static const struct option broadcast_options[] = {
    LAYER_START_ROW("barrier"),
    {"broadcast", OPTION_CHOICE, "sends", "", "sends|library|group", 0, 0,
     "sends: one to each rank in turn; library: what it has for that, where it has it: PVM's "
     "multicast, LAM's MPI_Bcast; over UDP and frames a physical broadcast; group: PVM's "
     "broadcast "
     "to a group, whose members it asks its group server for"},
    {0},
};

static void run_pingpong(struct bench *bench) {
    layer_run(bench,
              &(struct act){
                  .name = "pingpong", .share = 0.5, .once = to_and_fro, .moved = 2, .both = true});
}

static void run_stream(struct bench *bench) {
    layer_run(bench, &(struct act){.name = "stream",
                                   .step = 16,
                                   .share = 1,
                                   .timed = 1,
                                   .needs_answer = true,
                                   .once = one_way,
                                   .moved = 1});
}

static void run_broadcast(struct bench *bench) {
    layer_run(bench, &(struct act){.name = "bcast",
                                   .share = 1,
                                   .timed = TIMED_ALL,
                                   .needs_answer = true,
                                   .once = to_all,
                                   .between = meet,
                                   .moved = bench->size - 1,
                                   .grouped = options_is(&bench->options, "broadcast", "group")});
}

static const struct experiment pingpong = {
    .name = "pingpong",
    .summary = "a message to the other rank and one back",
    .what = "Time of one message, one way: half of a round trip between ranks 0 and 1, taken at "
            "rank 0.\nOf ICMP the other host's kernel sends it back.",
    .ranks = 2,
    .options = {pair_options, LAYER_OPTION_TABLES},
    .columns = sampler_columns,
    .run = run_pingpong,
};

static const struct experiment stream = {
    .name = "stream",
    .summary = "messages one way, back to back, timed at the receiver",
    .what = "Time between the arrivals of two messages: rank 0 sends without a pause, rank 1 "
            "takes the time.",
    .ranks = 2,
    .options = {pair_options, LAYER_OPTION_TABLES},
    .columns = sampler_columns,
    .run = run_stream,
};

static const struct experiment broadcast = {
    .name = "bcast",
    .summary = "a message from rank 0 to all others",
    .what =
        "Time from a barrier until the last rank has the message, each by its own clock. "
        "The barrier lets\nranks go one after the other, by TCP; over UDP and frames of our own "
        "one stands between\n--calls, too. Method: Tinetti and Barbieri, broadcast.",
    .options = {broadcast_options, LAYER_OPTION_TABLES},
    .columns = sampler_columns,
    .run = run_broadcast,
};

const struct experiment *const experiments[] = {&pingpong, &stream, &broadcast, NULL};

const struct experiment *experiment_find(const char *name) {
    for (const struct experiment *const *e = experiments; *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}
