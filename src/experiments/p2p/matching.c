// SPDX-License-Identifier: BSD-3-Clause
// Matching: the time of a message that meets a queue of receives for other messages, or of a
// receive that meets a queue of messages. Factors are the queue's length and the place of the
// match in it.
#include "pair.h"

enum { MATCHING_DEPTH_MOST = 4096, POSITIONS = 3, WILDCARDS = 4 };

static const struct option matching_options[] = {
    {"sizes", OPTION_SIZES, "0", "B", NULL, 0, 4096, "message sizes, as a list"},
    {"depth", OPTION_SIZES, "0,1,4,16,64,256,1024,4096", "", NULL, 0, MATCHING_DEPTH_MOST,
     "entries of the queue beside the one that matches, as a list"},
    {"position", OPTION_CHOICE, "all", "", "all|first|middle|last", 0, 0,
     "of the match in the queue"},
    {"wildcard", OPTION_CHOICE, "all", "", "all|none|source|tag|both", 0, 0,
     "what receives leave open: MPI_ANY_SOURCE, MPI_ANY_TAG. With an open tag, a receive "
     "takes the first message of an unexpected queue"},
    {0},
};

static const struct option posted_options[] = {SAMPLER_START_ROW("loop"), {0}};
static const struct option unexpected_options[] = {SAMPLER_START_ROW("barrier"), {0}};

static const struct column columns[] = {
    PAIR_COLUMN_ROWS,
    {"depth", "", "entries of the queue beside the match"},
    {"before", "", "of them before the match"},
    {"any_source", "", "1: receives with MPI_ANY_SOURCE"},
    {"any_tag", "", "1: receives with MPI_ANY_TAG"},
    {"resident_bytes", "B",
     "by how much the receiver's resident set grew when its first queue of this depth was made, "
     "after all shorter ones"},
    {0},
};

// The queue is a row of `before` entries that no call touches, and behind it a ring: each call
// takes the ring's first entry out, and it is put in again at the end of the queue.

// State of a pattern (pair.h: `variant`), the same on both ranks; rank 0 sends, rank 1 has the
// queue.
struct matching {
    bool posted; // receives, which a message looks through; else messages that nobody expects
    bool any_source, any_tag;
    MPI_Comm comm;        // of its messages alone: an open tag takes whatever comes
    size_t depth, before; // entries beside the match; of them before it
    size_t ring, next;    // entries that take turns; whose it is
    bool owed;            // rank 0 has yet to send what the last call took
    double resident_bytes;
    MPI_Request *requests; // owned by the experiment: depth + 1
};

enum { TAG_RING = 16, TAG_BEFORE = TAG_RING + MATCHING_DEPTH_MOST + 1 };

static char *place(const struct pair *pair, size_t entry) {
    return pair->in.pool + entry * pair->in.step;
}

static size_t entries(const struct matching *queue) {
    return queue->depth + 1;
}

static size_t entry_of(const struct matching *queue, size_t ring) {
    return queue->before + ring;
}

static void advance(struct matching *queue) {
    if (++queue->next == queue->ring)
        queue->next = 0;
    queue->owed = false;
}

static int tag_of(const struct matching *queue, size_t entry) {
    return entry < queue->before ? TAG_BEFORE + (int)entry
                                 : TAG_RING + (int)(entry - queue->before);
}

// Receives before the match must not take its messages. With an open tag their source sends
// nothing: it is this rank itself. With both open their tag is another one.
static bool from_itself(const struct matching *queue, size_t entry) {
    return queue->posted && entry < queue->before && queue->any_tag && !queue->any_source;
}

static int source_of(const struct pair *pair, const struct matching *queue, size_t entry) {
    if (from_itself(queue, entry))
        return pair->self;
    return queue->any_source ? MPI_ANY_SOURCE : pair->peer;
}

static int wanted_tag(const struct matching *queue, size_t entry) {
    bool open = queue->any_tag && (entry >= queue->before || from_itself(queue, entry));
    return open ? MPI_ANY_TAG : tag_of(queue, entry);
}

static void post(struct pair *pair, struct matching *queue, size_t entry) {
    MPI_Irecv(place(pair, entry), pair->count, MPI_BYTE, source_of(pair, queue, entry),
              wanted_tag(queue, entry), queue->comm, &queue->requests[entry]);
}

static void send(struct pair *pair, const struct matching *queue, size_t entry) {
    MPI_Send(buffer_slot(&pair->out), pair->count, MPI_BYTE, pair->peer, tag_of(queue, entry),
             queue->comm);
}

// A message of the queue, which is there already.
static void take(struct pair *pair, const struct matching *queue, size_t entry) {
    MPI_Recv(place(pair, entry), pair->count, MPI_BYTE, source_of(pair, queue, entry),
             wanted_tag(queue, entry), queue->comm, MPI_STATUS_IGNORE);
}

// Makes the queue. Collective.
static void matching_fill(struct pair *pair, struct matching *queue) {
    queue->ring = entries(queue) - queue->before;
    queue->next = 0;
    for (size_t entry = 0; entry < entries(queue); entry++)
        if (queue->posted && pair->rank == 1)
            post(pair, queue, entry);
        else if (!queue->posted && pair->rank == 0)
            send(pair, queue, entry);
    barrier_enter(pair->comm); // what comes behind the messages shows that they are there
}

static void put_back(struct pair *pair, struct matching *queue) {
    if (queue->owed && pair->rank == 0) {
        send(pair, queue, entry_of(queue, queue->next));
        advance(queue);
    }
    queue->owed = false;
}

// For messages that have arrived: puts back the one that the last call took.
static void matching_put_back(const struct operation *operation, long repetition) {
    struct pair *pair = operation->state;
    (void)repetition;
    put_back(pair, pair->pattern->variant);
}

// Empties the queue from the oldest entry on, so that no search is needed. Collective.
static void matching_drain(struct pair *pair, struct matching *queue) {
    put_back(pair, queue);
    for (size_t i = 0; i < entries(queue); i++) {
        size_t entry = i;
        if (i >= queue->before) {
            entry = entry_of(queue, queue->next);
            advance(queue);
        }
        bool itself = from_itself(queue, entry);
        if (queue->posted && (itself ? pair->rank == 1 : pair->rank == 0)) {
            if (itself)
                MPI_Send(NULL, 0, MPI_BYTE, pair->self, tag_of(queue, entry), queue->comm);
            else
                send(pair, queue, entry);
        }
        if (queue->posted && pair->rank == 1)
            MPI_Wait(&queue->requests[entry], MPI_STATUS_IGNORE);
        else if (!queue->posted && pair->rank == 1)
            take(pair, queue, entry);
    }
    barrier_enter(pair->comm);
}

static void serve(struct pair *pair, struct matching *queue) {
    send(pair, queue, entry_of(queue, queue->next));
    MPI_Recv(NULL, 0, MPI_BYTE, pair->peer, PAIR_TOKEN, pair->comm, MPI_STATUS_IGNORE);
}

static void answer(struct pair *pair, struct matching *queue) {
    size_t entry = entry_of(queue, queue->next);
    MPI_Wait(&queue->requests[entry], MPI_STATUS_IGNORE);
    post(pair, queue, entry);
    MPI_Send(NULL, 0, MPI_BYTE, pair->peer, PAIR_TOKEN, pair->comm);
}

// For posted receives: sends messages that each match, and an answer to each.
static void matching_answer(void *state, long calls) {
    struct pair *pair = state;
    struct matching *queue = pair->pattern->variant;
    void (*once)(struct pair *, struct matching *) = pair->rank == 0 ? serve : answer;
    for (; calls > 0; calls--) {
        once(pair, queue);
        advance(queue);
    }
}

// Rank 0 puts back the messages that all calls but the last one take.
static void matching_take(void *state, long calls) {
    struct pair *pair = state;
    struct matching *queue = pair->pattern->variant;
    void (*once)(struct pair *, const struct matching *, size_t) = pair->rank == 0 ? send : take;
    for (long left = pair->rank == 0 ? calls - 1 : calls; left > 0; left--) {
        once(pair, queue, entry_of(queue, queue->next));
        advance(queue);
    }
    queue->owed = true;
}

// Returns the destination of the next match's message, on rank 1.
static char *matching_place(const struct pair *pair, const struct matching *queue) {
    return place(pair, entry_of(queue, queue->next));
}

// State that all queues of a launch share.
struct store {
    bool posted;
    double grown[MATCHING_DEPTH_MOST + 1]; // B, of the process by depth
    MPI_Request *requests;
};

static void enter(const struct operation *operation) {
    struct pair *pair = operation->state;
    pair_enter(operation);
    matching_fill(pair, pair->pattern->variant);
}

static void leave(const struct operation *operation) {
    struct pair *pair = operation->state;
    matching_drain(pair, pair->pattern->variant);
}

static void open_queue(struct bench *bench, struct pair *pair, size_t most) {
    struct matching *queue = pair->pattern->variant;
    (void)bench;
    (void)most;
    MPI_Comm_dup(pair->comm, &queue->comm);
}

static void close_queue(struct pair *pair) {
    struct matching *queue = pair->pattern->variant;
    if (queue->comm != MPI_COMM_NULL)
        MPI_Comm_free(&queue->comm);
}

// Sends one message through the complete queue.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct pair *pair = operation->state;
    struct matching *queue = pair->pattern->variant;
    size_t bytes = operation->message.bytes;
    pair_enter(operation);
    queue->next = 0;
    char *landing = matching_place(pair, queue);
    if (pair->rank == 0)
        payload_fill(buffer_slot(&pair->out), bytes, pair->self, round);
    else
        payload_poison(landing, bytes, pair->peer, round);
    matching_fill(pair, queue);
    operation->run(pair, 1);
    if (pair->rank == 1)
        payload_verify(landing, bytes, pair->peer, round, pair->self, failure);
    matching_drain(pair, queue);
}

static void measure(struct bench *bench, struct matching *queue) {
    pair_run(bench,
             &(struct pattern){
                 .operation = {.name = queue->posted ? "matching-posted" : "matching-unexpected",
                               .special = {.own = true, .calls = queue->posted ? 0 : 1},
                               .around = &(const struct around){.enter = enter,
                                                                .leave = leave,
                                                                .prepare = queue->posted
                                                                               ? NULL
                                                                               : matching_put_back,
                                                                .check = check},
                               .run = queue->posted ? matching_answer : matching_take},
                 .share = 1,
                 .timed = queue->posted ? 0 : 1,
                 .moved = 1,
                 .slots = queue->depth + 1,
                 .open = open_queue,
                 .close = close_queue,
                 .variant = queue,
                 .factors = (double[]){(double)queue->depth, (double)queue->before,
                                       queue->any_source, queue->any_tag, queue->resident_bytes},
                 .factors_count = 5});
}

// Queues of all depths, the shortest first, made once each before anything is measured: what they
// take of memory is what the library had not had before.
static void weigh(struct bench *bench, const struct pairs *pairs, struct store *store) {
    const struct sizes *depths = options_sizes(&bench->options, "depth");
    struct pair pair = pair_of(bench, pairs->role, pairs->peer);
    size_t *sorted = malloc(depths->count * sizeof *sorted), slots = sizes_largest(depths) + 1;
    pair.count = (int)sizes_largest(options_sizes(&bench->options, "sizes"));
    if (!sorted)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for %zu depths", depths->count);
    bench_buffer(bench, &pair.out, "send", (size_t)pair.count, 0, 1);
    bench_buffer(bench, &pair.in, "receive", (size_t)pair.count, 0, slots);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK) {
        memcpy(sorted, depths->bytes, depths->count * sizeof *sorted);
        sizes_sort(&(struct sizes){sorted, depths->count});
        struct matching queue = {
            .posted = store->posted, .comm = bench->comm, .requests = store->requests};
        double before = usage_read().resident;
        for (size_t d = 0; d < depths->count; d++) {
            double *grown = &store->grown[sorted[d]];
            queue.depth = queue.before = sorted[d];
            matching_fill(&pair, &queue);
            *grown = usage_read().resident - before;
            matching_drain(&pair, &queue);
            MPI_Sendrecv_replace(grown, 1, MPI_DOUBLE, pair.peer, PAIR_TOKEN, pair.peer,
                                 PAIR_TOKEN, pair.comm, MPI_STATUS_IGNORE);
        }
    }
    buffers_close(&pair.out, &pair.in);
    free(sorted);
}

// Puts the match at position number `position` of a queue, and returns whether that is measured:
// every position, except those that are the same place in a short queue.
static bool place_match(const struct options *options, struct matching *queue, int position) {
    static const char *const names[POSITIONS] = {"last", "first", "middle"};
    size_t before[POSITIONS] = {queue->depth, 0, queue->depth / 2}, here = before[position];
    bool another = (position > 0 && here == before[0]) || (position > 1 && here == before[1]);
    bool one = queue->any_tag && !queue->posted; // place, where the match can be
    queue->before = here;
    queue->ring = queue->depth + 1 - here;
    return (options_is(options, "position", names[position]) ||
            (!another && options_is(options, "position", "all"))) &&
           !(one && here > 0);
}

// All wildcards, depths and positions, in the order that is drawn.
static void measure_all(struct bench *bench, const struct store *store) {
    static const char *const names[WILDCARDS] = {"none", "source", "tag", "both"};
    const struct options *options = &bench->options;
    const struct sizes *depths = options_sizes(options, "depth");
    int each = POSITIONS * (int)depths->count;
    bool measured = false;
    for (struct walk walk = bench_walk(bench, WILDCARDS * each); walk_on(&walk);) {
        int open = walk.at / each;
        size_t depth = depths->bytes[walk.at % each / POSITIONS];
        struct matching queue = {.posted = store->posted,
                                 .comm = MPI_COMM_NULL,
                                 .any_source = open & 1,
                                 .any_tag = open & 2,
                                 .depth = depth,
                                 .resident_bytes = store->grown[depth],
                                 .requests = store->requests};
        bool wanted =
            options_is(options, "wildcard", "all") || options_is(options, "wildcard", names[open]);
        if (!wanted || !place_match(options, &queue, walk.at % POSITIONS))
            continue;
        measured = true;
        measure(bench, &queue);
    }
    if (!measured)
        failure_set(&bench->failure, STATUS_USAGE,
                    "nothing is left to measure: of an unexpected queue an open tag takes the "
                    "first message; use --position first");
}

static void run(struct bench *bench, bool posted) {
    struct failure *failure = &bench->failure;
    struct store *store = calloc(1, sizeof *store);
    if (!posted && options_is(&bench->options, "start", "loop"))
        failure_set(failure, STATUS_USAGE,
                    "--start loop: in a row of calls a message may not have come yet; use --start "
                    "barrier");
    if (store) {
        store->posted = posted;
        store->requests = malloc((MATCHING_DEPTH_MOST + 1) * sizeof(MPI_Request));
    }
    if (!store || !store->requests)
        failure_set(failure, STATUS_USAGE, "no memory for queues");
    if (ranks_agree(bench->comm, failure, false) == STATUS_OK)
        for (struct pairs pairs = {0}; pairs_next(bench, &pairs);)
            if (pairs.active && !failed(failure))
                weigh(bench, &pairs, store);
    if (!failed(failure))
        measure_all(bench, store);
    free(store ? store->requests : NULL);
    free(store);
}

static void run_posted(struct bench *bench) {
    run(bench, true);
}

static void run_unexpected(struct bench *bench) {
    run(bench, false);
}

const struct experiment matching_posted = {
    .name = "matching-posted",
    .summary = "messages that meet a long queue of posted receives",
    .what = "Time of a message and its answer, at its sender. The receiver has --depth receives "
            "posted beside the one\nthat matches, which is posted again before the answer. The "
            "cost of an entry is the increase in time,\nover the number of entries. Entries "
            "before the match never match: with open tags their source is the\nreceiver itself, "
            "with both open they have other tags.",
    .options = {matching_options, posted_options, PAIR_OPTION_TABLES},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run_posted,
};

const struct experiment matching_unexpected = {
    .name = "matching-unexpected",
    .summary = "receives that meet a long queue of messages which have come",
    .what =
        "Time of a receive of a message that has come already, beside --depth messages without "
        "a receive,\ntaken at the receiver after a barrier. The received message is sent again "
        "before the next start. The cost\nof an entry is the increase in time, over the number "
        "of entries.\nlibfabric's TCP keeps 64 such messages, then waits for ever: set "
        "FI_TCP_MAX_SAVED.",
    .options = {matching_options, unexpected_options, PAIR_OPTION_TABLES},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run_unexpected,
};
