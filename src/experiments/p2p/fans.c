// SPDX-License-Identifier: BSD-3-Clause
// Many to one and one to many: messages of all ranks that meet at one, or leave it.
#include "experiment.h"

enum { FAN_TAG = 1, QUEUE_MOST = 4096 };

static const struct option fans_options[] = {
    SIZES_ROW("1:1Mi:x8", 0, INT_MAX - (1 << 20), "message sizes"),
    {"direction", OPTION_CHOICE, "all", "", "all|in|out", 0, 0,
     "in: every other rank sends to rank 0; out: rank 0 sends to every other"},
    {"queue", OPTION_SIZES, "1", "", NULL, 1, QUEUE_MOST,
     "messages that each rank has under way at a time, as a list"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

static const struct column columns[] = {
    SAMPLER_COLUMN_ROWS,
    {"queue", "", "messages of each rank that are under way at a time"},
    {"many", "", "ranks at the many end"},
    {0},
};

// Messages pass between rank 0 and all others; a rank at the many end has one peer.
struct fan {
    struct bench *bench;
    bool sends; // this rank
    int first, peers, count;
    size_t queue;
    struct buffer buffer; // a slot for each message
    MPI_Request *requests;
};

// All messages of a rank are started at once, and all waited for.
static void run_calls(void *state, long calls) {
    struct fan *fan = state;
    MPI_Comm comm = fan->bench->comm;
    for (; calls > 0; calls--) {
        MPI_Request *request = fan->requests;
        char *bytes = fan->buffer.pool;
        for (size_t m = 0; m < fan->queue; m++)
            for (int p = fan->first; p < fan->first + fan->peers;
                 p++, bytes += fan->buffer.step, request++)
                if (fan->sends)
                    MPI_Isend(bytes, fan->count, MPI_BYTE, p, FAN_TAG, comm, request);
                else
                    MPI_Irecv(bytes, fan->count, MPI_BYTE, p, FAN_TAG, comm, request);
        MPI_Waitall((int)(request - fan->requests), fan->requests, MPI_STATUSES_IGNORE);
    }
}

static void enter(const struct operation *operation) {
    struct fan *fan = operation->state;
    fan->count = (int)operation->message.bytes;
    buffer_shape(&fan->buffer, operation->message.bytes);
}

// Fills what is sent and poisons where something must arrive, or verifies that.
static void each_payload(struct fan *fan, size_t count, unsigned round, struct failure *verify) {
    int self = fan->bench->rank;
    char *bytes = fan->buffer.pool;
    for (size_t m = 0; m < fan->queue; m++)
        for (int p = fan->first; p < fan->first + fan->peers; p++, bytes += fan->buffer.step) {
            // One number for both ends: that of the rank at the many end, and of the message.
            size_t many = (size_t)(self ? self : p);
            unsigned message = (unsigned)((many * 2 + round) * fan->queue + m);
            if (!verify && fan->sends)
                payload_fill(bytes, count, self, message);
            else if (!verify)
                payload_poison(bytes, count, p, message);
            else if (!fan->sends)
                payload_verify(bytes, count, p, message, self, verify);
        }
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct fan *fan = operation->state;
    enter(operation);
    each_payload(fan, operation->message.bytes, round, NULL);
    run_calls(fan, 1);
    each_payload(fan, operation->message.bytes, round, failure);
}

static void measure(struct bench *bench, struct sampler *sampler, const struct sizes *sizes,
                    bool in, size_t queue) {
    bool root = bench->rank == 0;
    struct fan fan = {.bench = bench,
                      .sends = root != in,
                      .first = root ? 1 : 0,
                      .peers = root ? bench->size - 1 : 1,
                      .queue = queue};
    size_t messages = queue * (size_t)fan.peers, most = sizes_largest(sizes);
    memory_ask(bench->comm, buffer_room(most, 0, messages), &bench->failure);
    fan.requests = malloc(messages * sizeof *fan.requests);
    if (!fan.requests)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for a queue of %zu", messages);
    else if (!failed(&bench->failure))
        bench_buffer(bench, &fan.buffer, fan.sends ? "send" : "receive", most, 0, messages);
    struct curve curve = {{.name = in ? "fan-in" : "fan-out",
                           .special = {.own = queue > 1,
                                       .share = 1 / (double)queue,
                                       .factors = (double[]){(double)queue, bench->size - 1},
                                       .factors_count = 2},
                           .around = &(const struct around){.enter = enter, .check = check},
                           .run = run_calls,
                           .state = &fan},
                          .messages = (double)queue * (bench->size - 1)};
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        curve_run(sampler, &curve, sizes);
    buffer_close(&fan.buffer);
    free(fan.requests);
}

static void run(struct bench *bench) {
    const struct options *options = &bench->options;
    const struct sizes *queues = options_sizes(options, "queue");
    struct sizes sizes = curve_sizes(options, &bench->failure);
    struct sampler sampler;
    sampler_open(&sampler, bench, false);
    for (size_t i = 0; i < 2 * queues->count && !failed(&bench->failure); i++) {
        bool in = i < queues->count;
        if (!options_is(options, "direction", in ? "out" : "in"))
            measure(bench, &sampler, &sizes, in, queues->bytes[i % queues->count]);
    }
    sampler_close(&sampler);
    sizes_free(&sizes);
}

const struct experiment fans = {
    .name = "fans",
    .summary = "messages of many ranks to one, and of one to many",
    .what = "Time from the common start until the last rank is done, over --queue: of one message "
            "of each pair.\nfan-in: every other rank sends to rank 0, which has posted none "
            "before; with a queue of several it is\nincast. fan-out: rank 0 sends to every other "
            "rank.",
    .options = {fans_options, curve_options, sampler_options, stop_options, sync_options},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
