// SPDX-License-Identifier: BSD-3-Clause
// The experiments below MPI: messages to and fro, one way, to all, each over the chosen carrier.
#include "carrier.h"
#include "curve.h"
#include "experiments/table.h"
#include "payload.h"
#include "ranks.h"

// Opens the chosen carrier between the ranks, and keeps a failed one from being used further.

void ways_fail(struct ways *ways, const char *what, int other) {
    const char *said = errno == EAGAIN || errno == EWOULDBLOCK ? "nothing within 5 s; it was lost"
                       : errno                                 ? strerror(errno)
                                                               : "the connection was closed";
    if (!failed(ways->failure))
        failure_set(ways->failure, STATUS_FAILED, "%s: %s rank %d: %s", ways->carrier->name, what,
                    other, said);
}

// Opens the carrier (TCP, UDP, PVM, ...) that --transport names between the ranks of `comm`, and
// prints its name on rank 0. `grouped`: the ranks also join a group of the carrier, which a
// broadcast needs. Collective. All ranks end with the same failure.
static void ways_open(struct ways *ways, MPI_Comm comm, const struct options *options,
                      bool grouped, struct failure *failure) {
    *ways =
        (struct ways){.comm = comm, .options = options, .grouped = grouped, .failure = failure};
    MPI_Comm_rank(comm, &ways->rank);
    MPI_Comm_size(comm, &ways->size);
    for (int i = 0; i < RANKS_MOST; i++)
        ways->to[i] = -1;
    for (const struct carrier *const *c = carriers; *c; c++)
        if (options_is(options, "transport", (*c)->name))
            ways->carrier = *c;
    if (grouped && !ways->carrier->send_group)
        failure_set(failure, STATUS_USAGE, "--broadcast group: --transport %s has no groups",
                    ways->carrier->name);
    else
        ways->carrier->open(ways);
    if (ranks_agree(comm, failure, false) == STATUS_OK && ways->rank == 0)
        printf("transport %s: %s\n", ways->carrier->name, ways->carrier->summary);
}

// Sends and receives, but not after a failure.
static void ways_send(struct ways *ways, int to, const char *bytes, size_t count) {
    if (!failed(ways->failure))
        ways->carrier->send(ways, to, bytes, count);
}

static void ways_receive(struct ways *ways, int from, char *bytes, size_t count) {
    if (!failed(ways->failure))
        ways->carrier->receive(ways, from, bytes, count);
}

// One operation over a carrier, by sizes: checked, repeated, checked again.

struct layer {
    struct ways *ways;
    struct buffer out, in;
    size_t bytes; // of the present message
    const struct act *act;
};

// The rank whose time counts: one rank, or the slowest of all.
enum { TIMED_ALL = -1 };

struct act {
    const char *name;  // of the operation
    long step;         // of its calls in a loop (struct special)
    double share;      // of a call's time that is one operation
    int timed;         // rank, or TIMED_ALL
    bool needs_answer; // cannot be where only the other kernel answers
    void (*once)(struct layer *layer);
    // After each call but the last of several; may be NULL. A sample of one call has none.
    void (*between)(struct layer *layer);
    double moved; // messages of one call
    bool grouped; // the ranks are a group of the library
    // In the check rank 0 sends one message to all ranks, which send one back where `both`.
    bool both;
};

// Declares --sizes; the carrier's options are beside it, and those of every layer.
static const struct option layer_options[] = {
    {"sizes", OPTION_SIZES, "1:64Ki:x4", "B", NULL, 1, INT_MAX - (1 << 20),
     "message sizes: a list (1,8,4Ki) or ranges (1:1Mi:x2, 8:64:+8)"},
    {0},
};
#define LAYER_OPTION_TABLES                                                                       \
    layer_options, carrier_options, curve_options, sampler_options, stop_options
// Ranks know each other's clocks only through rank 0, so that no start uses a shared clock.
#define LAYER_START_ROW(suited)                                                                   \
    {                                                                                             \
        "start", OPTION_CHOICE, suited, "", "barrier|loop", 0, 0,                                 \
            "how ranks start: after a barrier, or in a loop: one row of calls, cut into samples"  \
    }

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
}

static void open_buffers(struct bench *bench, struct layer *layer, size_t most) {
    size_t limit = layer->ways->carrier->most;
    if (limit && most > limit)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--transport %s carries messages of up to %zu B, --sizes has %zu",
                    layer->ways->carrier->name, limit, most);
    bench_buffers(bench, &layer->out, &layer->in, most, 0, 1);
}

// Open until the program ends: the description counts what went over its connections.
static struct ways ways;

static void close_all(void) {
    if (ways.carrier)
        ways.carrier->close(&ways);
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

static void layer_run(struct bench *bench, const struct act *act) {
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
        curve_run(&sampler, &(struct curve){operation_of(&layer), .messages = layer.act->moved},
                  &sizes);
    sampler_close(&sampler);
    buffer_close(&layer.out);
    buffer_close(&layer.in);
    sizes_free(&sizes);
}

static const struct option pair_options[] = {LAYER_START_ROW("loop"), {0}};

static const struct option broadcast_options[] = {
    LAYER_START_ROW("barrier"),
    {"broadcast", OPTION_CHOICE, "sends", "", "sends|library|group", 0, 0,
     "sends: one to each rank in turn; library: what it has for that, where it has it: PVM's "
     "multicast, LAM's MPI_Bcast; over UDP and frames a physical broadcast; group: PVM's "
     "broadcast to a group, whose members it asks its group server for"},
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
            "rank 0.\nWith ICMP the other host's kernel sends it back.",
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
