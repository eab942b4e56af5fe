// SPDX-License-Identifier: BSD-3-Clause
// Persistent and partitioned messages: from their start to their end, and what is gained when
// parts of a message leave as soon as they are made.
#include "compute.h"
#include "pair.h"

enum { PARTITIONS_MOST = 1024, COMPUTE_BYTES = 1 << 17 };

static const struct option partitioned_options[] = {
    SIZES_ROW("1Ki:4Mi:x4", 1, INT_MAX - (1 << 20), "message sizes"),
    {"way", OPTION_TEXT, "all", "", NULL, 0, 0,
     "names, joined by commas: message (MPI_Send), persistent (MPI_Send_init), partitioned "
     "(MPI_Psend_init); or all of them that the library has"},
    {"partitions", OPTION_SIZES, "1,4,16", "", NULL, 1, PARTITIONS_MOST,
     "parts of a message, as a list; a size that they do not divide is left out"},
    {"compute", OPTION_REAL, "0", "ns/B", NULL, 0, 1e6,
     "computation that makes each byte of a message; a partition is ready after its own"},
    {"answer", OPTION_CHOICE, "empty", "", "empty|same", 0, 0,
     "what the receiver sends back: a message of 0 B, or one of the same size in the same way, "
     "and the time is half of a round trip (OSU's latency of persistent messages)"},
    SAMPLER_START_ROW("loop"),
    {0},
};

static const struct column columns[] = {
    PAIR_COLUMN_ROWS,
    {"partitions", "", "parts of the message that are made ready one after the other"},
    {"compute_s", "s", "computation of a message, which is in its time; known beforehand"},
    {0},
};

struct way;

// A message's way from one rank to the other; the second one is the answer's.
struct leg {
    bool sends; // this rank
    MPI_Request request;
};

struct parts {
    const struct way *way;
    int count;
    struct leg legs[2];
    int legs_count; // 1: the answer is empty
    struct compute compute;
    double multiply_add_s, compute_s_per_byte;
    long multiply_adds; // that make one part
    double factors[2];  // count, and the seconds of all parts
};

// How a message goes. `open` makes what stays from call to call, for messages of this size; NULL:
// nothing stays. `send` is NULL where the library has no such messages.
struct way {
    const char *name, *operation;
    void (*open)(struct pair *pair, const struct parts *parts, struct leg *leg);
    void (*send)(struct pair *pair, struct parts *parts, struct leg *leg);
    void (*receive)(struct pair *pair, struct parts *parts, struct leg *leg);
};

static void make_part(struct parts *parts) {
    compute_do(&parts->compute, parts->multiply_adds);
}

static void make_all(struct parts *parts) {
    for (int i = 0; i < parts->count; i++)
        make_part(parts);
}

static void send_message(struct pair *pair, struct parts *parts, struct leg *leg) {
    (void)leg;
    make_all(parts);
    pair_send_whole(pair);
}

static void receive_message(struct pair *pair, struct parts *parts, struct leg *leg) {
    (void)parts;
    (void)leg;
    pair_receive(pair);
}

static void open_persistent(struct pair *pair, const struct parts *parts, struct leg *leg) {
    (void)parts;
    if (leg->sends)
        pair->send_init(buffer_slot(&pair->out), pair->count, MPI_BYTE, pair->peer, pair->tag,
                        pair->comm, &leg->request);
    else
        MPI_Recv_init(buffer_slot(&pair->in), pair->count, MPI_BYTE, pair->peer, pair->tag,
                      pair->comm, &leg->request);
}

static void start_and_wait(struct pair *pair, struct parts *parts, struct leg *leg) {
    (void)pair;
    (void)parts;
    MPI_Start(&leg->request);
    MPI_Wait(&leg->request, MPI_STATUS_IGNORE);
}

static void send_persistent(struct pair *pair, struct parts *parts, struct leg *leg) {
    make_all(parts);
    start_and_wait(pair, parts, leg);
}

#ifdef COTEJO_PARTITIONED
static void open_partitioned(struct pair *pair, const struct parts *parts, struct leg *leg) {
    MPI_Count each = pair->count / parts->count;
    if (leg->sends)
        MPI_Psend_init(buffer_slot(&pair->out), parts->count, each, MPI_BYTE, pair->peer,
                       pair->tag, pair->comm, MPI_INFO_NULL, &leg->request);
    else
        MPI_Precv_init(buffer_slot(&pair->in), parts->count, each, MPI_BYTE, pair->peer, pair->tag,
                       pair->comm, MPI_INFO_NULL, &leg->request);
}

static void send_partitioned(struct pair *pair, struct parts *parts, struct leg *leg) {
    (void)pair;
    MPI_Start(&leg->request);
    for (int i = 0; i < parts->count; i++) {
        make_part(parts);
        MPI_Pready(i, leg->request);
    }
    MPI_Wait(&leg->request, MPI_STATUS_IGNORE);
}
#endif

static const struct way ways[] = {
    {"message", "partitioned-message", NULL, send_message, receive_message},
    {"persistent", "partitioned-persistent", open_persistent, send_persistent, start_and_wait},
#ifdef COTEJO_PARTITIONED
    {"partitioned", "partitioned", open_partitioned, send_partitioned, start_and_wait},
#else
    {"partitioned", "partitioned", NULL, NULL, NULL},
#endif
};
enum { WAYS = sizeof ways / sizeof *ways };

static void run_calls(void *state, long calls) {
    struct pair *pair = state;
    struct parts *parts = pair->pattern->variant;
    for (long i = 0; i < calls; i++) {
        for (struct leg *leg = parts->legs; leg < parts->legs + parts->legs_count; leg++)
            (leg->sends ? parts->way->send : parts->way->receive)(pair, parts, leg);
        if (parts->legs_count == 1)
            pair_confirm(pair);
    }
}

static void enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    struct parts *parts = pair->pattern->variant;
    pair_enter(operation);
    double part_s = parts->compute_s_per_byte * (double)operation->message.bytes / parts->count;
    parts->multiply_adds = part_s > 0 ? lround(part_s / parts->multiply_add_s) : 0;
    parts->factors[0] = parts->count;
    parts->factors[1] = (double)parts->multiply_adds * parts->count * parts->multiply_add_s;
    for (int l = 0; l < parts->legs_count; l++) {
        parts->legs[l] = (struct leg){pair->rank == l, MPI_REQUEST_NULL};
        if (parts->way->open)
            parts->way->open(pair, parts, &parts->legs[l]);
    }
}

static void leave(const struct operation *operation) {
    const struct pair *pair = operation->state;
    struct parts *parts = pair->pattern->variant;
    for (int l = 0; l < parts->legs_count; l++)
        if (parts->legs[l].request != MPI_REQUEST_NULL)
            MPI_Request_free(&parts->legs[l].request);
}

// The operation itself, between a fill and a look.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct pair *pair = operation->state;
    char *out = buffer_slot(&pair->out), *in = buffer_slot(&pair->in);
    payload_fill(out, operation->message.bytes, pair->self, round);
    payload_poison(in, operation->message.bytes, pair->peer, round);
    enter(operation);
    run_calls(pair, 1);
    leave(operation);
    if (pair->rank == 1 || ((const struct parts *)pair->pattern->variant)->legs_count == 2)
        payload_verify(in, operation->message.bytes, pair->peer, round, pair->self, failure);
}

// Partitions are of one size.
static void choose(struct bench *bench, struct pair *pair, struct sizes *sizes) {
    const struct parts *parts = pair->pattern->variant;
    size_t kept = 0;
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->bytes[i] % (size_t)parts->count == 0)
            sizes->bytes[kept++] = sizes->bytes[i];
    sizes->count = kept;
    (void)bench;
}

static void measure(struct bench *bench, struct parts *parts) {
    pair_run(bench,
             &(struct pattern){.operation = {.name = parts->way->operation,
                                             .around = &(const struct around){.enter = enter,
                                                                              .leave = leave,
                                                                              .check = check},
                                             .run = run_calls},
                               .share = 1.0 / parts->legs_count,
                               .moved = parts->legs_count,
                               .choose = choose,
                               .variant = parts,
                               .factors = parts->factors,
                               .factors_count = 2});
}

// Measures one way. A way that the library lacks is left out with a message; if it is requested by
// name, it is a failure.
static void measure_way(struct bench *bench, struct parts *parts, const struct way *way) {
    const struct sizes *counts = options_sizes(&bench->options, "partitions");
    const char *list = options_text(&bench->options, "way");
    bool named = words_have(list, way->name);
    if (!named && !words_have(list, "all"))
        return;
    if (!way->send && named)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--way %s: this MPI has no partitioned messages (MPI 4); use another, or "
                    "--way message,persistent",
                    way->name);
    else if (!way->send && bench->rank == 0)
        printf("# %s left out: this MPI has no partitioned messages\n", way->operation);
    parts->way = way;
    for (size_t i = 0; i < counts->count && way->send && !failed(&bench->failure); i++) {
        parts->count = (int)counts->bytes[i];
        measure(bench, parts);
    }
}

static void run(struct bench *bench) {
    struct parts parts = {.compute_s_per_byte = 1e-9 * options_real(&bench->options, "compute"),
                          .legs_count = options_is(&bench->options, "answer", "same") ? 2 : 1};
    const char *known[WAYS + 1] = {"all"};
    for (int w = 0; w < WAYS; w++)
        known[w + 1] = ways[w].name;
    words_check("way", options_text(&bench->options, "way"), known, WAYS + 1, &bench->failure);
    if (!failed(&bench->failure))
        compute_open(&parts.compute, COMPUTE_BYTES, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK) {
        parts.compute.chain = true;
        parts.multiply_add_s = compute_calibrate(&parts.compute, &bench->clock);
        bench_found(bench, "multiply_add_s", parts.multiply_add_s);
    }
    for (int w = 0; w < WAYS && !failed(&bench->failure); w++)
        measure_way(bench, &parts, &ways[w]);
    compute_close(&parts.compute);
}

const struct experiment partitioned = {
    .name = "partitioned",
    .summary = "persistent and partitioned messages, made part by part",
    .what =
        "Time from the first computation of a message until the receiver's empty answer is "
        "there. The parts\nof a message are computed one after the other. The message leaves "
        "after the last part\n(partitioned-message, partitioned-persistent), or each part leaves "
        "when it is made (partitioned). With\n--compute 0 it is start to completion; "
        "with more, what the early parts gain is the difference. With --answer same it is "
        "half of a round trip.\nMethod: Temucin, Grant, "
        "Afsahi, \"Micro-Benchmarking MPI Partitioned Point-to-Point Communication\", "
        "2022.",
    .options = {partitioned_options, PAIR_OPTION_TABLES},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
