// SPDX-License-Identifier: BSD-3-Clause
// Sustained bandwidth and message rate: bursts of messages, a queue of them under way at a time.
#include "pair.h"

#include "ranks.h"

#include <stdlib.h>

enum { QUEUE_MOST = 4096 };

static const struct option bandwidth_options[] = {
    PAIR_SIZES_ROW,
    {"queue", OPTION_SIZES, "0,1,2,4,8", "", NULL, 0, QUEUE_MOST,
     "messages or parts under way at a time, as a list; 0: blocking operations; else 1 or even"},
    {"split", OPTION_CHOICE, "windows", "", "windows|parts", 0, 0,
     "windows: the queue is of messages, each with a buffer of its own; parts: each message is "
     "cut into as many parts as the queue is long"},
    {"burst", OPTION_SIZES, "0", "", NULL, 0, 1 << 24,
     "messages of a sample, as a list; 0: 1024 up to 1 kB, 512 to 4 kB, 64 to 32 kB, 24 to "
     "128 kB, 16 above"},
    {"mode", OPTION_CHOICE, "standard", "", "standard|synchronous", 0, 0, "send mode"},
    PAIR_CACHE_ROW,
    SAMPLER_START_ROW("loop"),
    {0},
};

// Behind the pair's: the factors of this experiment.
static const struct column columns[] = {
    PAIR_COLUMN_ROWS,
    {"queue", "", "messages or parts under way at a time; 0: blocking"},
    {"burst", "", "messages of a sample as asked for; 0: by size, see calls"},
    {0},
};

struct burst {
    size_t queue, half, messages;
    bool parts;            // messages are cut
    size_t *begins;        // of the parts of a message, and its end
    MPI_Request *requests; // one for each place in the queue
};

// What moves at once: a message or a part of one.
struct unit {
    char *bytes;
    int count;
};

// A message's parts are as equal as can be; where they begin is worked out before anything is
// timed.
static void enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    const struct burst *burst = pair->pattern->variant;
    pair_enter(operation);
    for (size_t part = 0; part <= burst->queue && burst->queue > 0; part++)
        burst->begins[part] = operation->bytes * part / burst->queue;
}

// The next unit; of parts the one that `part` says, which moves on.
static struct unit next_unit(struct pair *pair, const struct burst *burst, size_t *part) {
    struct buffer *buffer = pair->rank == 0 ? &pair->out : &pair->in;
    if (!burst->parts)
        return (struct unit){buffer_next(buffer), pair->count};
    size_t from = burst->begins[*part], to = burst->begins[*part + 1];
    char *message = buffer_slot(buffer);
    if (++*part == burst->queue) {
        *part = 0;
        buffer_next(buffer);
    }
    return (struct unit){message + from, (int)(to - from)};
}

static void post(struct pair *pair, struct unit unit, MPI_Request *request) {
    if (pair->rank == 0)
        pair->isend(unit.bytes, unit.count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm, request);
    else
        MPI_Irecv(unit.bytes, unit.count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm, request);
}

static void move_blocking(struct pair *pair, long messages) {
    void (*once)(struct pair *) = pair->rank == 0 ? pair_send_whole : pair_receive;
    for (long i = 0; i < messages; i++)
        once(pair);
}

// One half of the queue is posted, then the other is waited for, and so on by turns.
static void move_queued(struct pair *pair, const struct burst *burst, long messages) {
    size_t units = (size_t)messages * (burst->parts ? burst->queue : 1), part = 0;
    MPI_Request *requests = burst->requests, *other = requests + burst->queue - burst->half;
    for (size_t i = 0; i < units; i += burst->half) {
        MPI_Waitall((int)burst->half, requests, MPI_STATUSES_IGNORE);
        for (size_t k = 0; k < burst->half && i + k < units; k++)
            post(pair, next_unit(pair, burst, &part), &requests[k]);
        MPI_Request *swapped = requests;
        requests = other;
        other = swapped;
    }
    MPI_Waitall((int)burst->queue, burst->requests, MPI_STATUSES_IGNORE);
}

static void run_burst(void *state, long messages) {
    struct pair *pair = state;
    const struct burst *burst = pair->pattern->variant;
    if (burst->queue == 0)
        move_blocking(pair, messages);
    else
        move_queued(pair, burst, messages);
    // The receiver's word that all of it is there.
    if (pair->rank == 0)
        MPI_Recv(NULL, 0, MPI_BYTE, pair->peer, PAIR_TOKEN, pair->comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_BYTE, pair->peer, PAIR_TOKEN, pair->comm);
}

static long calls(const struct pair *pair) {
    static const struct {
        int bytes;
        long messages;
    } by_size[] = {{1024, 1024}, {4096, 512}, {32768, 64}, {131072, 24}};
    const struct burst *burst = pair->pattern->variant;
    if (burst->messages)
        return (long)burst->messages;
    for (size_t i = 0; i < sizeof by_size / sizeof *by_size; i++)
        if (pair->count <= by_size[i].bytes)
            return by_size[i].messages;
    return 16;
}

static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct pair *pair = operation->state;
    const struct burst *burst = pair->pattern->variant;
    pair_describe(operation, timing, sample);
    sample->extra[PAIR_COLUMNS] = (double)burst->queue;
    sample->extra[PAIR_COLUMNS + 1] = (double)burst->messages;
}

// A whole queue, each message with a payload of its own.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct pair *pair = operation->state;
    struct buffer *buffer = pair->rank == 0 ? &pair->out : &pair->in;
    size_t messages = pair->pattern->slots, count = operation->bytes;
    enter(operation);
    size_t at = buffer->at;
    for (size_t i = 0; i < messages; i++) {
        unsigned message = (unsigned)(round * messages + i);
        if (pair->rank == 0)
            payload_fill(buffer_next(buffer), count, pair->self, message);
        else
            payload_poison(buffer_next(buffer), count, pair->peer, message);
    }
    buffer->at = at;
    run_burst(pair, (long)messages);
    buffer->at = at;
    for (size_t i = 0; pair->rank == 1 && i < messages; i++)
        pair_verify(pair, buffer_next(buffer), count, pair->peer, (unsigned)(round * messages + i),
                    failure);
    ranks_agree(pair->comm, failure, false);
}

static void measure(struct bench *bench, size_t queue, size_t messages) {
    struct burst burst = {.queue = queue,
                          .half = queue > 1 ? queue / 2 : queue,
                          .messages = messages,
                          .parts = queue > 1 && options_is(&bench->options, "split", "parts"),
                          .requests = malloc((queue + 1) * sizeof *burst.requests),
                          .begins = malloc((queue + 1) * sizeof *burst.begins)};
    for (size_t i = 0; burst.requests && i < queue; i++)
        burst.requests[i] = MPI_REQUEST_NULL;
    if (!burst.requests || !burst.begins)
        failure_set(&bench->failure, STATUS_FAILED, "no memory for a queue of %zu", queue);
    bool parts = options_is(&bench->options, "split", "parts");
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        pair_run(bench, &(struct pattern){
                            .operation = {.name = parts ? "bandwidth-parts" : "bandwidth-windows",
                                          .own = true,
                                          .enter = enter,
                                          .run = run_burst,
                                          .check = check,
                                          .describe = describe},
                            .share = 1,
                            .slots = parts || queue == 0 ? 1 : queue,
                            .calls = calls,
                            .variant = &burst});
    free(burst.requests);
    free(burst.begins);
}

static void run(struct bench *bench) {
    const struct sizes *queues = options_sizes(&bench->options, "queue");
    const struct sizes *bursts = options_sizes(&bench->options, "burst");
    for (size_t i = 0; i < queues->count; i++)
        if (queues->bytes[i] > 1 && queues->bytes[i] % 2)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--queue %zu cannot be halved; give 0, 1 or an even number",
                        queues->bytes[i]);
    for (size_t i = 0; i < queues->count; i++)
        for (size_t k = 0; k < bursts->count && !failed(&bench->failure); k++)
            measure(bench, queues->bytes[i], bursts->bytes[k]);
}

const struct experiment bandwidth = {
    .name = "bandwidth",
    .summary = "bursts of messages, some under way at a time",
    .what = "Time of one message of a burst: rank 0 keeps a queue of sends under way, rank 1 of "
            "receives,\none half being posted while the other is waited for; a message of 0 B "
            "from rank 1 ends the burst\nand is in its time. Its inverse is the message rate. "
            "Method: Stival (2006), sustained bandwidth.",
    .options = {bandwidth_options, PAIR_OPTION_TABLES},
    .columns = columns,
    .run = run,
};
