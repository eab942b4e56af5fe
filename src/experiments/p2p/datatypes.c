// SPDX-License-Identifier: BSD-3-Clause
// Data with gaps between two ranks: sent as a derived datatype, packed by MPI, packed by hand; and
// messages larger than an int can count.
#include "coll.h"
#include "pair.h"

static const struct option datatypes_options[] = {
    SIZES_ROW("64:1Mi:x4", 64, 64.0 * INT_MAX, "payload of a message, in multiples of 64"),
    {"datatype", OPTION_TEXT, "contiguous,vector,indexed,struct,subarray", "", NULL, 0, 0,
     "how 64 B of payload lie in memory, joined by commas"},
    {"transfer", OPTION_TEXT, "typed,packed,hand", "", NULL, 0, 0,
     "joined by commas: typed (the library knows the datatype), packed (MPI_Pack before and "
     "MPI_Unpack after), hand (a loop of cotejo does both), count (contiguous bytes by "
     "MPI_Send_c; beside others left out where the library has none). Packed and by hand a "
     "message has less than 2 GiB"},
    SAMPLER_START_ROW("loop"),
    {0},
};

struct transfer;

struct typed {
    const struct transfer *transfer;
    struct form form;
    struct buffer out,
        in;    // where data lie as the form has them; unused where that is what is sent
    int count; // of forms in a message
    size_t bytes;
};

// How a message goes between where the data lie and the other rank.
struct transfer {
    const char *name;
    bool plain; // contiguous data only
    bool once;  // a message is one piece of bytes: what an int counts is its bound
    void (*send)(struct pair *pair, struct typed *typed, char *from);
    void (*receive)(struct pair *pair, struct typed *typed, char *into);
};

static void send_typed(struct pair *pair, struct typed *typed, char *from) {
    MPI_Send(from, typed->count, typed->form.type, pair->peer, pair->tag, pair->comm);
}

static void receive_typed(struct pair *pair, struct typed *typed, char *into) {
    MPI_Recv(into, typed->count, typed->form.type, pair->peer, pair->tag, pair->comm,
             MPI_STATUS_IGNORE);
}

static void send_packed(struct pair *pair, struct typed *typed, char *from) {
    int at = 0;
    char *packed = buffer_slot(&pair->out);
    MPI_Pack(from, typed->count, typed->form.type, packed, (int)typed->bytes, &at, pair->comm);
    MPI_Send(packed, at, MPI_PACKED, pair->peer, pair->tag, pair->comm);
}

static void receive_packed(struct pair *pair, struct typed *typed, char *into) {
    int at = 0;
    char *packed = buffer_slot(&pair->in);
    MPI_Recv(packed, (int)typed->bytes, MPI_PACKED, pair->peer, pair->tag, pair->comm,
             MPI_STATUS_IGNORE);
    MPI_Unpack(packed, (int)typed->bytes, &at, into, typed->count, typed->form.type, pair->comm);
}

static void send_by_hand(struct pair *pair, struct typed *typed, char *from) {
    char *packed = buffer_slot(&pair->out);
    form_gather(&typed->form, packed, from, (size_t)typed->count);
    MPI_Send(packed, (int)typed->bytes, MPI_BYTE, pair->peer, pair->tag, pair->comm);
}

static void receive_by_hand(struct pair *pair, struct typed *typed, char *into) {
    char *packed = buffer_slot(&pair->in);
    MPI_Recv(packed, (int)typed->bytes, MPI_BYTE, pair->peer, pair->tag, pair->comm,
             MPI_STATUS_IGNORE);
    form_spread(&typed->form, into, packed, (size_t)typed->count);
}

#ifdef COTEJO_LARGE_COUNTS
static void send_count(struct pair *pair, struct typed *typed, char *from) {
    MPI_Send_c(from, (MPI_Count)typed->bytes, MPI_BYTE, pair->peer, pair->tag, pair->comm);
}

static void receive_count(struct pair *pair, struct typed *typed, char *into) {
    MPI_Recv_c(into, (MPI_Count)typed->bytes, MPI_BYTE, pair->peer, pair->tag, pair->comm,
               MPI_STATUS_IGNORE);
}
#else
#define send_count NULL
#define receive_count NULL
#endif

static const struct transfer transfers[] = {
    {"typed", false, false, send_typed, receive_typed},
    {"packed", false, true, send_packed, receive_packed},
    {"hand", false, true, send_by_hand, receive_by_hand},
    {"count", true, false, send_count, receive_count},
};
enum { TRANSFERS = sizeof transfers / sizeof *transfers };

static const char *const form_names[] = {"contiguous", "vector", "indexed", "struct", "subarray"};
enum { FORMS = sizeof form_names / sizeof *form_names };

// Whether data lie elsewhere than what is sent: they have gaps, or are copied first.
static bool apart(const struct typed *typed) {
    return typed->form.unit != typed->form.extent || typed->transfer->once;
}

static char *place_out(const struct pair *pair, const struct typed *typed) {
    return buffer_slot(apart(typed) ? &typed->out : &pair->out);
}

static char *place_in(const struct pair *pair, const struct typed *typed) {
    return buffer_slot(apart(typed) ? &typed->in : &pair->in);
}

static void run_calls(void *state, long calls) {
    struct pair *pair = state;
    struct typed *typed = pair->pattern->variant;
    char *out = place_out(pair, typed), *in = place_in(pair, typed);
    for (long i = 0; i < calls; i++) {
        if (pair->rank == 0)
            typed->transfer->send(pair, typed, out);
        typed->transfer->receive(pair, typed, in);
        if (pair->rank == 1)
            typed->transfer->send(pair, typed, out);
    }
}

static void enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    struct typed *typed = pair->pattern->variant;
    typed->bytes = operation->message.bytes;
    typed->count = (int)(operation->message.bytes / typed->form.unit);
    buffer_shape(&pair->out, operation->message.bytes);
    buffer_shape(&pair->in, operation->message.bytes);
}

// A round trip, after which payload is where the map of the form, written out by hand, says.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct pair *pair = operation->state;
    struct typed *typed = pair->pattern->variant;
    enter(operation);
    char *out = place_out(pair, typed), *in = place_in(pair, typed);
    char *packed_out = buffer_slot(&pair->out), *packed_in = buffer_slot(&pair->in);
    size_t count = (size_t)typed->count;
    payload_fill(packed_out, typed->bytes, pair->self, round);
    payload_poison(packed_in, typed->bytes, pair->peer, round);
    if (apart(typed)) {
        form_spread(&typed->form, out, packed_out, count);
        form_spread(&typed->form, in, packed_in, count);
    }
    run_calls(pair, 1);
    if (apart(typed))
        form_gather(&typed->form, packed_in, in, count);
    payload_verify(packed_in, typed->bytes, pair->peer, round, pair->self, failure);
}

// Drops sizes that a transfer cannot do, and makes room for the data.
static void choose(struct bench *bench, struct pair *pair, struct sizes *sizes) {
    struct typed *typed = pair->pattern->variant;
    size_t kept = 0, largest = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        size_t bytes = sizes->bytes[i];
        if (bytes % typed->form.unit)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--sizes %zu: data are pieces of %zu B; give multiples of that", bytes,
                        typed->form.unit);
        if (typed->transfer->once && bytes > INT_MAX)
            continue;
        largest = bytes > largest ? bytes : largest;
        sizes->bytes[kept++] = bytes;
    }
    sizes->count = kept;
    if (failed(&bench->failure) || !apart(typed))
        return;
    size_t room = largest / typed->form.unit * typed->form.extent;
    memory_ask(bench->comm, 2 * buffer_room(room, 0, 1), &bench->failure);
    if (failed(&bench->failure))
        return;
    bench_buffer(bench, &typed->out, "send data", room, 0, 1);
    bench_buffer(bench, &typed->in, "receive data", room, 0, 1);
    ranks_agree(bench->comm, &bench->failure, false);
}

static void close_typed(struct pair *pair) {
    struct typed *typed = pair->pattern->variant;
    buffers_close(&typed->out, &typed->in);
}

static void measure(struct bench *bench, const char *form, const struct transfer *transfer) {
    struct typed typed = {.transfer = transfer};
    char name[80];
    form_open(&typed.form, form);
    snprintf(name, sizeof name, "datatype-%s-%s", form, transfer->name);
    const char *kept = samples_name(&bench->samples, name, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        pair_run(bench,
                 &(struct pattern){.operation = {.name = kept ? kept : "",
                                                 .around = &(const struct around){.enter = enter,
                                                                                  .check = check},
                                                 .run = run_calls},
                                   .share = 0.5,
                                   .moved = 2,
                                   .choose = choose,
                                   .close = close_typed,
                                   .variant = &typed});
    form_close(&typed.form);
}

static void measure_transfer(struct bench *bench, const struct transfer *transfer) {
    const char *list = options_text(&bench->options, "datatype");
    if (!transfer->send && strchr(options_text(&bench->options, "transfer"), ',')) {
        if (bench->rank == 0)
            printf("# %s left out: this MPI has no calls with large counts\n", transfer->name);
        return;
    }
    if (!transfer->send)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--transfer %s: this MPI has no calls with large counts (MPI_Send_c, MPI 4); "
                    "--transfer typed sends as much, as many pieces of 64 B",
                    transfer->name);
    for (int f = 0; f < FORMS && !failed(&bench->failure); f++)
        if (words_have(list, form_names[f]) && !(transfer->plain && f > 0))
            measure(bench, form_names[f], transfer);
}

static void run(struct bench *bench) {
    const char *list = options_text(&bench->options, "transfer");
    const char *names[TRANSFERS];
    for (int t = 0; t < TRANSFERS; t++)
        names[t] = transfers[t].name;
    words_check("transfer", list, names, TRANSFERS, &bench->failure);
    words_check("datatype", options_text(&bench->options, "datatype"), form_names, FORMS,
                &bench->failure);
    for (int t = 0; t < TRANSFERS && !failed(&bench->failure); t++)
        if (words_have(list, names[t]))
            measure_transfer(bench, &transfers[t]);
}

const struct experiment datatypes = {
    .name = "datatypes",
    .summary = "data with gaps: as a derived datatype, packed by MPI, packed by hand",
    .what = "Time of one message, one way: half of a round trip in which data lie with gaps on "
            "both ranks. typed: the\nlibrary gets the datatype; packed: MPI_Pack, a message of "
            "bytes, MPI_Unpack; hand: a loop copies the\npieces into a buffer and out of it. "
            "`bytes` is the payload. Sizes over 2 GiB go where memory allows.\nMethod: Schneider, "
            "Gerstenberger, Hoefler, \"Micro-applications for communication data access "
            "patterns\", 2012.",
    .options = {datatypes_options, PAIR_OPTION_TABLES},
    .columns = pair_columns,
    .reach = REACH_MANAGED,
    .run = run,
};
