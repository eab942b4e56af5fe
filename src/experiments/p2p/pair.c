// SPDX-License-Identifier: BSD-3-Clause
// Two ranks and what passes between them: modes of sending, buffers, checked payloads.
#include "pair.h"

enum { BUFFERED_AT_ONCE = 4 };

const struct option pair_options[] = {
    PAIR_SIZES_ROW,
    {"mode", OPTION_CHOICE, "standard", "", "standard|synchronous|buffered|ready", 0, 0,
     "send mode; ready posts every receive one message ahead"},
    {"blocking", OPTION_CHOICE, "yes", "", "yes|no", 0, 0,
     "no: non-blocking sends, and receives posted before"},
    {"wildcard", OPTION_CHOICE, "none", "", "none|source|tag|both", 0, 0,
     "what receives leave open: MPI_ANY_SOURCE, MPI_ANY_TAG (IMB's PingPong: tag)"},
    CACHE_ROW,
    {0},
};

const struct column pair_columns[] = {PAIR_COLUMN_ROWS, {0}};

static bool asks(const struct options *options, const char *name, const char *value) {
    return options_have(options, name) && options_is(options, name, value);
}

struct pair pair_of(struct bench *bench, int rank, int peer) {
    static const struct {
        const char *name;
        int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
        int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
        int (*send_init)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    } modes[] = {{"standard", MPI_Send, MPI_Isend, MPI_Send_init},
                 {"synchronous", MPI_Ssend, MPI_Issend, MPI_Ssend_init},
                 {"buffered", MPI_Bsend, MPI_Ibsend, MPI_Bsend_init},
                 {"ready", MPI_Rsend, MPI_Irsend, MPI_Rsend_init}};
    const struct options *options = &bench->options;
    struct pair pair = {.comm = bench->comm,
                        .all = bench->comm,
                        .rank = rank,
                        .self = bench->rank,
                        .peer = peer,
                        .tag = PAIR_TAG,
                        .source = peer,
                        .wanted = PAIR_TAG,
                        .posted = MPI_REQUEST_NULL};
    const char *mode = options_have(options, "mode") ? options_text(options, "mode") : "standard";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0) {
            pair.send = modes[i].send;
            pair.isend = modes[i].isend;
            pair.send_init = modes[i].send_init;
        }
    pair.blocking = !asks(options, "blocking", "no");
    pair.ready = pair.send == MPI_Rsend;
    pair.one = asks(options, "buffer", "one");
    if (pair.one && (pair.ready || !pair.blocking))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--buffer one: a receive is posted ahead into the buffer that is being sent; "
                    "use --blocking yes and another --mode than ready");
    return pair;
}

// Sets the wildcards of the receives, and the order of sends and receives.
static void choose_receive(struct pair *pair, const struct options *options,
                           struct failure *failure) {
    bool both = asks(options, "wildcard", "both");
    if (both || asks(options, "wildcard", "source"))
        pair->source = MPI_ANY_SOURCE;
    if (both || asks(options, "wildcard", "tag"))
        pair->wanted = MPI_ANY_TAG;
    pair->last = asks(options, "receive", "last");
    if (pair->last && (pair->ready || pair->blocking))
        failure_set(failure, STATUS_USAGE,
                    "--receive last: both ranks would wait in their sends, or send to whom does "
                    "not receive yet; use --blocking no and another --mode than ready");
}

// Returns the memory of the next message to send.
static char *next_out(struct pair *pair) {
    return pair->one ? pair->received : buffer_next(&pair->out);
}

void pair_send(struct pair *pair, MPI_Request *sent) {
    if (pair->blocking)
        pair->send(next_out(pair), pair->count, MPI_BYTE, pair->peer, pair->tag, pair->comm);
    else
        pair->isend(next_out(pair), pair->count, MPI_BYTE, pair->peer, pair->tag, pair->comm,
                    sent);
}

void pair_send_whole(struct pair *pair) {
    MPI_Request sent;
    pair_send(pair, &sent);
    if (!pair->blocking)
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

void pair_post(struct pair *pair, MPI_Request *received) {
    MPI_Irecv(buffer_next(&pair->in), pair->count, MPI_BYTE, pair->source, pair->wanted,
              pair->comm, received);
}

void pair_receive(struct pair *pair) {
    pair->received = buffer_next(&pair->in);
    MPI_Recv(pair->received, pair->count, MPI_BYTE, pair->source, pair->wanted, pair->comm,
             MPI_STATUS_IGNORE);
}

void pair_confirm(const struct pair *pair) {
    if (pair->rank == 0)
        MPI_Recv(NULL, 0, MPI_BYTE, pair->peer, pair->tag + 1, pair->comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_BYTE, pair->peer, pair->tag + 1, pair->comm);
}

// One message in the chosen mode, from one of the two (0 or 1) to the other, into a place that
// held the complement of what must arrive.
static void check_one(struct pair *pair, int sender, unsigned message, struct failure *failure) {
    MPI_Request request;
    size_t count = (size_t)pair->count;
    if (pair->rank == sender) {
        payload_fill(pair->one ? pair->received : buffer_slot(&pair->out), count, pair->self,
                     message);
        // The receive is posted for sure: ready mode needs it, the others may have it.
        MPI_Recv(NULL, 0, MPI_BYTE, pair->peer, PAIR_TOKEN, pair->comm, MPI_STATUS_IGNORE);
        pair_send_whole(pair);
        return;
    }
    char *place = buffer_slot(&pair->in);
    payload_poison(place, count, pair->peer, message);
    pair_post(pair, &request);
    MPI_Send(NULL, 0, MPI_BYTE, pair->peer, PAIR_TOKEN, pair->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    payload_verify(place, count, pair->peer, message, pair->self, failure);
}

void pair_enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    size_t bytes = operation->message.bytes;
    pair->count = (int)bytes;
    buffer_shape(&pair->out, bytes);
    buffer_shape(&pair->in, bytes);
    pair->received = buffer_slot(&pair->in);
}

void pair_check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct pair *pair = operation->state;
    pair_enter(operation);
    for (int sender = 0; sender < 2; sender++)
        check_one(pair, sender, 2 * round + (unsigned)sender, failure);
}

void pair_describe(const struct operation *operation, const struct timing *timing,
                   struct sample *sample) {
    const struct pair *pair = operation->state;
    sample->time_s *= pair->pattern->share;
    sample->extra[SAMPLER_COLUMNS] = pair->pairs;
    sample->extra[SAMPLER_COLUMNS + 1] = timing->fastest_s * pair->pattern->share;
    for (int i = 0; i < pair->pattern->factors_count; i++)
        sample->extra[PAIR_COLUMNS + i] = pair->pattern->factors[i];
}

// Sets the calls of a sample, which may follow from the size of a message.
static void fit(struct operation *operation) {
    struct pair sized = *(const struct pair *)operation->state;
    sized.count = (int)operation->message.bytes;
    if (sized.pattern->calls)
        operation->special.calls = sized.pattern->calls(&sized);
}

// Room for messages under way; one of them may not be seen as finished at once.
static void attach(struct pair *pair, size_t bytes, struct failure *failure) {
    double room = BUFFERED_AT_ONCE * ((double)bytes + MPI_BSEND_OVERHEAD);
    if (room <= INT_MAX)
        pair->attached = malloc((size_t)room);
    if (pair->attached)
        MPI_Buffer_attach(pair->attached, (int)room);
    else
        failure_set(failure, STATUS_USAGE,
                    "buffered mode: no room of %.0f B for messages of %zu B; ask for smaller "
                    "--sizes",
                    room, bytes);
}

// Buffers for messages of up to `most` B.
static void open_pair(struct bench *bench, struct pair *pair, size_t most) {
    bool buffered = pair->send == MPI_Bsend;
    size_t cache = bench_cache(bench), slots = pair->pattern->slots ? pair->pattern->slots : 1;
    // Ready mode has two receives posted at a time.
    size_t slots_in = pair->ready ? slots + 1 : slots;
    memory_ask(bench->comm,
               buffer_room(most, cache, slots) + buffer_room(most, cache, slots_in) +
                   (buffered ? BUFFERED_AT_ONCE * most : 0),
               &bench->failure);
    if (failed(&bench->failure))
        return;
    bench_buffer(bench, &pair->out, "send", most, cache, slots);
    bench_buffer(bench, &pair->in, "receive", most, cache, slots_in);
    if (buffered)
        attach(pair, most, &bench->failure);
    // Wildcard receives would also take the messages by which ranks start and agree.
    if (pair->source == MPI_ANY_SOURCE || pair->wanted == MPI_ANY_TAG)
        MPI_Comm_dup(pair->all, &pair->comm);
    ranks_agree(bench->comm, &bench->failure, false);
}

// Frees the buffers, the memory of buffered sends, and the communicator if the pair has its own.
static void close_pair(struct pair *pair) {
    if (pair->attached) {
        void *address;
        int size;
        MPI_Buffer_detach(&address, &size);
        free(pair->attached);
    }
    buffers_close(&pair->out, &pair->in);
    if (pair->comm != pair->all)
        MPI_Comm_free(&pair->comm);
}

// The pattern's operation, with what the pattern leaves out in `around`.
static struct operation operation_of(struct pair *pair, struct around *around) {
    const struct pattern *pattern = pair->pattern;
    struct operation operation = pattern->operation;
    *around = operation.around ? *operation.around : (struct around){0};
    operation.around = around;
    operation.state = pair;
    operation.special.bystander = pattern->timed != PAIR_BOTH && pair->rank != pattern->timed;
    if (!around->enter)
        around->enter = pair_enter;
    if (!around->check)
        around->check = pair_check;
    if (!around->describe)
        around->describe = pair_describe;
    return operation;
}

static void measure(struct bench *bench, const struct pairs *pairs,
                    const struct pattern *pattern) {
    struct pair pair = pair_of(bench, pairs->role, pairs->peer);
    struct around around;
    struct curve curve = {.fit = fit,
                          .messages = (pattern->moved ? pattern->moved : 1) * pairs->count};
    struct sampler sampler;
    struct sizes sizes = curve_sizes(&bench->options, &bench->failure);
    if (pattern->only && !failed(&bench->failure)) {
        sizes.bytes[0] = pattern->only;
        sizes.count = 1;
    }
    pair.pairs = pairs->count;
    pair.pattern = pattern;
    curve.operation = operation_of(&pair, &around);
    choose_receive(&pair, &bench->options, &bench->failure);
    sampler_open(&sampler, bench, false);
    if (!failed(&bench->failure))
        open_pair(bench, &pair, sizes_largest(&sizes));
    if (!failed(&bench->failure) && pattern->choose)
        pattern->choose(bench, &pair, &sizes);
    if (!failed(&bench->failure) && pattern->open)
        pattern->open(bench, &pair, sizes_largest(&sizes));
    if (!failed(&bench->failure))
        curve_run(&sampler, &curve, &sizes);
    sampler_close(&sampler);
    if (pattern->close)
        pattern->close(&pair);
    close_pair(&pair);
    sizes_free(&sizes);
}

const struct option pairs_options[] = {
    {"pairs", OPTION_SIZES, "1", "", NULL, 1, 1 << 20,
     "pairs that work at once: a list (1,2,4) is measured one after the other"},
    {"pairing", OPTION_CHOICE, "halves", "", "halves|neighbours|random", 0, 0,
     "halves: one half of the ranks talks to the other, i with i + pairs (bisection); "
     "neighbours: 2i with 2i + 1; random: drawn from --seed"},
    {0},
};

// The places of pairs in a random order of their ranks, the same on each of them.
static void draw_place(struct bench *bench, struct pairs *pairs) {
    int count = pairs->count;
    uint64_t state = (uint64_t)bench->order.seed;
    int *list = malloc(2 * (size_t)count * sizeof *list);
    if (!list)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for a list of %d pairs", count);
    for (int i = 0; list && i < 2 * count; i++) {
        int j = (int)(random_next(&state) % (uint64_t)(i + 1));
        list[i] = list[j];
        list[j] = i;
    }
    for (int i = 0; list && i < 2 * count; i++)
        if (list[i] == bench->rank) {
            pairs->role = i % 2;
            pairs->peer = list[i ^ 1];
        }
    free(list);
}

static void find_place(struct bench *bench, struct pairs *pairs) {
    bool halves = options_is(&bench->options, "pairing", "halves");
    int count = pairs->count, rank = bench->rank;
    pairs->role = halves ? rank / count : rank % 2;
    pairs->peer = !halves ? rank ^ 1 : rank < count ? rank + count : rank - count;
    if (options_is(&bench->options, "pairing", "random"))
        draw_place(bench, pairs);
}

// Makes bench->comm of the ranks that are in `count` pairs.
static void enter_pairs(struct bench *bench, struct pairs *pairs, int count) {
    int rank = bench->rank;
    MPI_Comm part;
    pairs->all = bench->comm;
    pairs->size = bench->size;
    // Ranks that sit out draw nothing: each number of pairs begins where all of them are.
    pairs->drawn = bench->order.state;
    pairs->active = rank < 2 * count;
    MPI_Comm_split(pairs->all, pairs->active ? 0 : MPI_UNDEFINED, rank, &part);
    if (!pairs->active)
        return;
    pairs->count = count;
    find_place(bench, pairs);
    bench->comm = part;
    bench->size = 2 * count; // the ranks keep their numbers
    ranks_agree(part, &bench->failure, false);
}

static void leave_pairs(struct bench *bench, struct pairs *pairs) {
    if (pairs->active) {
        MPI_Comm_free(&bench->comm);
        bench->comm = pairs->all;
        bench->size = pairs->size;
        bench->order.state = pairs->drawn;
    }
    ranks_agree(pairs->all, &bench->failure, !pairs->active);
}

bool pairs_next(struct bench *bench, struct pairs *pairs) {
    const struct sizes *counts = options_sizes(&bench->options, "pairs");
    size_t most = sizes_largest(counts);
    if (pairs->next > 0)
        leave_pairs(bench, pairs);
    else if (2 * most > (size_t)bench->size)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--pairs %zu needs %zu ranks and was started with %d; use mpiexec -n %zu",
                    most, 2 * most, bench->size, 2 * most);
    if (failed(&bench->failure) || pairs->next == counts->count)
        return false;
    enter_pairs(bench, pairs, (int)counts->bytes[pairs->next++]);
    return true;
}

// The lead is that of the most ranks that start together in this launch.
static void fix_lead(struct bench *bench, const struct sizes *counts) {
    struct pairs widest;
    enter_pairs(bench, &widest, (int)sizes_largest(counts));
    if (widest.active && !failed(&bench->failure)) {
        struct sampler sampler;
        sampler_open(&sampler, bench, false);
        sampler_close(&sampler);
    }
    leave_pairs(bench, &widest);
    announce(bench->comm, &bench->lead_s, 1);
}

void pair_run(struct bench *bench, const struct pattern *pattern) {
    const struct sizes *counts = options_sizes(&bench->options, "pairs");
    bool fits = 2 * sizes_largest(counts) <= (size_t)bench->size;
    if (fits && counts->count > 1 && bench->lead_s == 0)
        fix_lead(bench, counts);
    for (struct pairs pairs = {0}; pairs_next(bench, &pairs);)
        if (pairs.active && !failed(&bench->failure))
            measure(bench, &pairs, pattern);
}
