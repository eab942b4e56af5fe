// SPDX-License-Identifier: BSD-3-Clause
// Sustained bandwidth and message rate: bursts of messages, a queue of them under way at a time.
#include "pair.h"

enum { QUEUE_MOST = 4096 };

static const struct option bandwidth_options[] = {
    PAIR_SIZES_ROW,
    {"queue", OPTION_SIZES, "0,1,2,4,8", "", NULL, 0, QUEUE_MOST,
     "messages or parts under way at a time, as a list; 0: blocking operations; else 1 or even"},
    {"split", OPTION_CHOICE, "windows", "", "windows|parts", 0, 0,
     "windows: the queue is of messages, each with a buffer of its own; parts: each message is "
     "cut into as many parts as the queue is long"},
    {"places", OPTION_CHOICE, "each", "", "each|one", 0, 0,
     "each message of a queue has a buffer of its own, or all of them have one (as in OSU's "
     "benchmarks)"},
    {"ways", OPTION_CHOICE, "one", "", "one|both", 0, 0,
     "both: each rank has a queue of sends and one of receives, as long, at the same time"},
    {"requests", OPTION_CHOICE, "new", "", "new|persistent", 0, 0,
     "new: one for each message; persistent: one for each place in the queue, made before "
     "anything is timed, and started again and again (as in OSU's persistent benchmarks)"},
    {"burst", OPTION_SIZES, "0", "", NULL, 0, 1 << 24,
     "messages of a sample, as a list; 0: 1024 up to 1 kB, 512 to 4 kB, 64 to 32 kB, 24 to "
     "128 kB, 16 above"},
    {"mode", OPTION_CHOICE, "standard", "", "standard|synchronous", 0, 0, "send mode"},
    {"errors", OPTION_CHOICE, "no", "", "no|yes", 0, 0,
     "yes: beside it the same with the errors of the source in the appendix of Stival (2006): the "
     "clock starts when half of the queue is posted (-late), or stops when the sends are over "
     "(-undelivered), or the parts begin one byte apart (-shifted)"},
    CACHE_ROW,
    SAMPLER_START_ROW("loop"),
    {0},
};

// Behind the pair's: the factors of this experiment.
static const struct column columns[] = {
    PAIR_COLUMN_ROWS,
    {"queue", "", "messages or parts under way at a time; 0: blocking"},
    {"burst", "", "messages of a sample as requested; 0: by size, see calls"},
    {0},
};

// How a burst is timed, or cut: rightly, or with an error.
enum { RIGHT, LATE, UNDELIVERED, SHIFTED, ERRORS };

// The sends or the receives of a rank.
struct lane {
    struct buffer *buffer;
    bool sends;
    MPI_Request *requests; // one for each place in the queue
    MPI_Request *now;      // the half whose turn it is
    size_t part;           // of a message, the next
};

struct burst {
    size_t queue, half, messages;
    bool parts;      // messages are cut
    bool both;       // ways at once
    bool persistent; // requests are made in `enter`, and freed in `leave`
    int error;
    const struct clock *clock;
    double begin_s, timed_s; // of a burst that is timed with an error
    size_t *begins, *ends;   // of the parts of a message
    struct lane lanes[2];
    int lanes_count;
    MPI_Request *requests; // of all lanes
};

// A burst of messages, or of their parts: a queue of them is under way at a time.

// The data of one send or receive: a message or a part of one.
struct unit {
    char *bytes;
    int count;
};

// Returns the next message, or, if messages are cut, the part `lane->part` and moves that on.
static struct unit next_unit(struct pair *pair, const struct burst *burst, struct lane *lane) {
    if (!burst->parts)
        return (struct unit){buffer_next(lane->buffer), pair->count};
    size_t from = burst->begins[lane->part], to = burst->ends[lane->part];
    char *message = buffer_slot(lane->buffer);
    if (++lane->part == burst->queue) {
        lane->part = 0;
        buffer_next(lane->buffer);
    }
    return (struct unit){message + from, (int)(to - from)};
}

// A request of each unit of these, started or to be started later.
static void make(struct pair *pair, const struct burst *burst, struct lane *lane, size_t units,
                 MPI_Request *requests) {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        burst->persistent ? pair->send_init : pair->isend;
    int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        burst->persistent ? MPI_Recv_init : MPI_Irecv;
    for (size_t k = 0; k < units; k++) {
        struct unit unit = next_unit(pair, burst, lane);
        if (lane->sends)
            send(unit.bytes, unit.count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm, &requests[k]);
        else
            receive(unit.bytes, unit.count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm,
                    &requests[k]);
    }
}

static void post(struct pair *pair, const struct burst *burst, struct lane *lane, size_t units) {
    if (burst->persistent)
        MPI_Startall((int)units, lane->now);
    else
        make(pair, burst, lane, units, lane->now);
}

// Before and after a stage: of persistent requests, where they are made and freed. A message's
// parts are as equal as can be; where they begin is worked out here, before anything is timed.
// Receives are posted before sends.
static void burst_enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    struct burst *burst = pair->pattern->variant;
    pair_enter(operation);
    for (size_t part = 0, shift = 0; part < burst->queue; part++) {
        size_t bytes = operation->message.bytes, from = bytes * part / burst->queue;
        size_t length = bytes * (part + 1) / burst->queue - from;
        if (burst->error == SHIFTED) {
            from = shift + length < bytes ? shift : bytes - length;
            shift += length > 0; // small messages have parts of 0 B
        }
        burst->begins[part] = from;
        burst->ends[part] = from + length;
    }
    burst->lanes_count = 0;
    for (int sends = 0; sends < 2; sends++)
        if (burst->both || (pair->rank == 0) == (sends == 1))
            burst->lanes[burst->lanes_count++] =
                (struct lane){.buffer = sends ? &pair->out : &pair->in,
                              .sends = sends == 1,
                              .requests = burst->requests + (size_t)sends * burst->queue};
    for (struct lane *lane = burst->lanes; lane < burst->lanes + burst->lanes_count; lane++)
        if (burst->persistent)
            make(pair, burst, lane, burst->queue, lane->requests);
}

static void burst_leave(const struct operation *operation) {
    struct burst *burst = ((struct pair *)operation->state)->pattern->variant;
    for (size_t i = 0; burst->persistent && i < 2 * burst->queue; i++)
        if (burst->requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&burst->requests[i]);
}

// Moves all messages: posts one half of the queue and waits for the other, alternately.
static void burst_move(struct pair *pair, struct burst *burst, long messages) {
    size_t units = (size_t)messages * (burst->parts ? burst->queue : 1);
    size_t half = burst->half, further = burst->queue - half;
    struct lane *last = burst->lanes + burst->lanes_count;
    for (struct lane *lane = burst->lanes; lane < last; lane++) {
        lane->now = lane->requests;
        lane->part = 0;
    }
    for (size_t i = 0; i < units; i += half)
        for (struct lane *lane = burst->lanes; lane < last; lane++) {
            if (i >= burst->queue) // posted before
                MPI_Waitall((int)half, lane->now, MPI_STATUSES_IGNORE);
            post(pair, burst, lane, units - i < half ? units - i : half);
            lane->now = lane->now == lane->requests ? lane->requests + further : lane->requests;
            if (i == 0 && burst->error == LATE)
                burst->begin_s = program_mark(burst->clock);
        }
    // In a burst that is shorter than the queue, only the first places have requests.
    size_t posted = units < burst->queue ? units : burst->queue;
    for (struct lane *lane = burst->lanes; lane < last; lane++)
        MPI_Waitall((int)posted, lane->requests, MPI_STATUSES_IGNORE);
}

static const char *const errors[ERRORS] = {"", "-late", "-undelivered", "-shifted"};

static void move_blocking(struct pair *pair, long messages) {
    void (*once)(struct pair *) = pair->rank == 0 ? pair_send_whole : pair_receive;
    for (long i = 0; i < messages; i++)
        once(pair);
}

static void run_burst(void *state, long messages) {
    struct pair *pair = state;
    struct burst *burst = pair->pattern->variant;
    bool wrongly = burst->error == LATE || burst->error == UNDELIVERED;
    if (wrongly)
        burst->begin_s = program_mark(burst->clock);
    if (burst->queue == 0)
        move_blocking(pair, messages);
    else
        burst_move(pair, burst, messages);
    if (burst->error == UNDELIVERED)
        burst->timed_s = program_mark(burst->clock) - burst->begin_s;
    if (burst->both) // a rank that has received all knows that its peer has sent all
        return;
    pair_confirm(pair);
    if (burst->error == LATE)
        burst->timed_s = program_mark(burst->clock) - burst->begin_s;
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
    if (operation->special.notes_count)
        sample->time_s = timing->notes[timing->slowest * timing->stride] / (double)sample->calls;
    pair_describe(operation, timing, sample);
    sample->extra[PAIR_COLUMNS] = (double)burst->queue;
    sample->extra[PAIR_COLUMNS + 1] = (double)burst->messages;
}

// Parts that begin one byte apart end before the message does.
static size_t reached(const struct pair *pair, size_t count) {
    const struct burst *burst = pair->pattern->variant;
    return burst->error == SHIFTED ? burst->ends[burst->queue - 1] : count;
}

// Handles a complete queue, each message with its own payload: fills, poisons or checks it.
static void each_payload(struct pair *pair, const struct lane *lane, size_t count, unsigned first,
                         struct failure *verify) {
    struct buffer *buffer = lane->buffer;
    size_t at = buffer->at;
    for (unsigned i = 0; i < pair->pattern->slots; i++) {
        char *bytes = buffer_next(buffer);
        if (lane->sends && !verify)
            payload_fill(bytes, count, pair->self, first + i);
        else if (!verify)
            payload_poison(bytes, count, pair->peer, first + i);
        else if (!lane->sends)
            payload_verify(bytes, reached(pair, count), pair->peer, first + i, pair->self, verify);
    }
    buffer->at = at;
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct pair *pair = operation->state;
    const struct burst *burst = pair->pattern->variant;
    size_t messages = pair->pattern->slots, count = operation->message.bytes;
    unsigned first = (unsigned)(round * messages);
    size_t at[2];
    burst_enter(operation);
    for (int l = 0; l < burst->lanes_count; l++) {
        each_payload(pair, &burst->lanes[l], count, first, NULL);
        at[l] = burst->lanes[l].buffer->at;
    }
    run_burst(pair, (long)messages);
    burst_leave(operation);
    for (int l = 0; l < burst->lanes_count; l++) {
        burst->lanes[l].buffer->at = at[l];
        each_payload(pair, &burst->lanes[l], count, first, failure);
    }
}

static void measure(struct bench *bench, size_t queue, size_t messages, int error) {
    bool parts = options_is(&bench->options, "split", "parts");
    bool one = parts || queue == 0 || options_is(&bench->options, "places", "one");
    bool timed = error == LATE || error == UNDELIVERED;
    char name[64];
    struct burst burst = {.queue = queue,
                          .half = queue > 1 ? queue / 2 : queue,
                          .messages = messages,
                          .parts = queue > 1 && parts,
                          .both = options_is(&bench->options, "ways", "both"),
                          .persistent = options_is(&bench->options, "requests", "persistent"),
                          .error = error,
                          .clock = &bench->clock,
                          .requests = malloc(2 * (queue + 1) * sizeof *burst.requests),
                          .begins = malloc((queue + 1) * sizeof *burst.begins),
                          .ends = malloc((queue + 1) * sizeof *burst.ends)};
    snprintf(name, sizeof name, "bandwidth%s-%s%s%s", burst.both ? "-both" : "",
             parts ? "parts" : "windows", burst.persistent ? "-persistent" : "", errors[error]);
    const char *operation = samples_name(&bench->samples, name, &bench->failure);
    for (size_t i = 0; burst.requests && i < 2 * queue; i++)
        burst.requests[i] = MPI_REQUEST_NULL;
    if (!burst.requests || !burst.begins || !burst.ends)
        failure_set(&bench->failure, STATUS_FAILED, "no memory for a queue of %zu", queue);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        pair_run(bench, &(struct pattern){
                            .operation = {.name = operation,
                                          .special = {.own = true,
                                                      .notes = &burst.timed_s,
                                                      .notes_count = timed},
                                          .around = &(const struct around){.enter = burst_enter,
                                                                           .leave = burst_leave,
                                                                           .check = check,
                                                                           .describe = describe},
                                          .run = run_burst},
                            .share = 1,
                            .moved = burst.both ? 2 : 1,
                            .timed = burst.both ? PAIR_BOTH : 0,
                            .slots = one ? 1 : queue,
                            .calls = calls,
                            .variant = &burst});
    free(burst.requests);
    free(burst.begins);
    free(burst.ends);
}

static void run(struct bench *bench) {
    const struct sizes *queues = options_sizes(&bench->options, "queue");
    const struct sizes *bursts = options_sizes(&bench->options, "burst");
    bool both = options_is(&bench->options, "ways", "both");
    bool persistent = options_is(&bench->options, "requests", "persistent");
    bool wrong = options_is(&bench->options, "errors", "yes");
    for (size_t i = 0; i < queues->count; i++)
        if (both && queues->bytes[i] == 0)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--ways both --queue 0: two blocking sends that meet may wait for each "
                        "other for ever; give a --queue of 1 or an even number");
        else if (persistent && queues->bytes[i] == 0)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--requests persistent --queue 0: blocking operations have no requests; "
                        "give a --queue of 1 or an even number");
        else if (queues->bytes[i] > 1 && queues->bytes[i] % 2)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--queue %zu cannot be halved; give 0, 1 or an even number",
                        queues->bytes[i]);
    if (persistent && options_is(&bench->options, "cache", "cold"))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--requests persistent --cache cold: a persistent request keeps its buffer, "
                    "which stays in the caches; use --cache warm");
    if (wrong && (options_is(&bench->options, "start", "loop") || both ||
                  options_is(&bench->options, "split", "windows")))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--errors yes: they are of --split parts --ways one, and of a --start but "
                    "loop, which has no begin of a burst");
    for (size_t i = 0; i < queues->count; i++)
        for (size_t k = 0; k < bursts->count; k++)
            for (int e = 0; e < (wrong && queues->bytes[i] > 1 ? ERRORS : 1); e++)
                if (!failed(&bench->failure))
                    measure(bench, queues->bytes[i], bursts->bytes[k], e);
}

const struct experiment bandwidth = {
    .name = "bandwidth",
    .summary = "bursts of messages, some under way at a time",
    .what =
        "Time of one message of a burst: rank 0 keeps a queue of sends under way, rank 1 of "
        "receives,\none half being posted while the other is waited for; a message of 0 B "
        "from rank 1 ends the burst\nand is in its time. Its inverse is the message rate. "
        "With --requests persistent\neach place in the queue keeps a request that was made "
        "before: timed are its start and its end.\nMethod: Stival (2006), sustained bandwidth.",
    .options = {bandwidth_options, PAIR_OPTION_TABLES},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
