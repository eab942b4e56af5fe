// SPDX-License-Identifier: BSD-3-Clause
// Exchange: both ranks send first. By which primitives, and from which size on it deadlocks.
#include "pair.h"

static const struct option exchange_options[] = {
    PAIR_SIZES_ROW,
    {"primitive", OPTION_CHOICE, "all", "",
     "all|blocking|posted|posted-synchronous|sendrecv|replace", 0, 0,
     "blocking: send, then receive; posted: the receive is posted first; sendrecv, replace: "
     "MPI_Sendrecv, MPI_Sendrecv_replace"},
    {"look", OPTION_CHOICE, "yes", "", "yes|no", 0, 0,
     "no: do the blocking exchange without looking first whether it deadlocks; then it hangs"},
    {"patience", OPTION_REAL, "0.2", "s", NULL, 0.001, 60,
     "a send that has not returned after this time waits for its receive"},
    CACHE_ROW,
    SAMPLER_START_ROW("loop"),
    {0},
};

static void blocking(void *state, long calls) {
    struct pair *pair = state;
    for (long i = 0; i < calls; i++) {
        MPI_Send(buffer_next(&pair->out), pair->count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm);
        pair_receive(pair);
    }
}

static void posted_with(struct pair *pair, long calls,
                        int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm)) {
    for (long i = 0; i < calls; i++) {
        MPI_Request received;
        pair_post(pair, &received);
        send(buffer_next(&pair->out), pair->count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm);
        MPI_Wait(&received, MPI_STATUS_IGNORE);
    }
}

static void posted(void *state, long calls) {
    posted_with(state, calls, MPI_Send);
}

static void posted_synchronous(void *state, long calls) {
    posted_with(state, calls, MPI_Ssend);
}

static void sendrecv(void *state, long calls) {
    struct pair *pair = state;
    for (long i = 0; i < calls; i++)
        MPI_Sendrecv(buffer_next(&pair->out), pair->count, MPI_BYTE, pair->peer, PAIR_TAG,
                     buffer_next(&pair->in), pair->count, MPI_BYTE, pair->peer, PAIR_TAG,
                     pair->comm, MPI_STATUS_IGNORE);
}

static void replace(void *state, long calls) {
    struct pair *pair = state;
    for (long i = 0; i < calls; i++)
        MPI_Sendrecv_replace(buffer_next(&pair->out), pair->count, MPI_BYTE, pair->peer, PAIR_TAG,
                             pair->peer, PAIR_TAG, pair->comm, MPI_STATUS_IGNORE);
}

// One exchange; MPI_Sendrecv_replace puts what it receives where it sent from.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct pair *pair = operation->state;
    size_t count = operation->message.bytes;
    pair_enter(operation);
    char *out = buffer_slot(&pair->out), *in = buffer_slot(&pair->in);
    payload_poison(in, count, pair->peer, round);
    payload_fill(out, count, pair->self, round);
    operation->run(pair, 1);
    payload_verify(operation->run == replace ? out : in, count, pair->peer, round, pair->self,
                   failure);
}

// Leaves the sizes at which the blocking exchange was seen to come to its end.
static void choose(struct bench *bench, struct pair *pair, struct sizes *sizes) {
    struct deadlock *found = pair->pattern->variant;
    struct deadlock now = deadlock_find(bench, pair, sizes);
    if (now.least < found->least)
        *found = now;
    if (isfinite(now.least) && bench->rank == 0)
        printf("# exchange-blocking pairs=%d: deadlocks from %.0f B on, completes up to %.0f B\n",
               pair->pairs, now.least, now.safe);
    size_t kept = 0;
    for (size_t i = 0; i < sizes->count; i++)
        if ((double)sizes->bytes[i] < now.least)
            sizes->bytes[kept++] = sizes->bytes[i];
    sizes->count = kept;
}

static void run(struct bench *bench) {
    static const struct {
        const char *name, *operation;
        void (*run)(void *, long);
    } primitives[] = {
        {"blocking", "exchange-blocking", blocking},
        {"posted", "exchange-posted", posted},
        {"posted-synchronous", "exchange-posted-synchronous", posted_synchronous},
        {"sendrecv", "exchange-sendrecv", sendrecv},
        {"replace", "exchange-replace", replace},
    };
    bool look = options_is(&bench->options, "look", "yes");
    struct deadlock deadlock = {.least = INFINITY, .safe = -1};
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++) {
        bool chosen = options_is(&bench->options, "primitive", "all") ||
                      strcmp(options_text(&bench->options, "primitive"), primitives[i].name) == 0;
        bool looks = look && primitives[i].run == blocking;
        if (!chosen || failed(&bench->failure))
            continue;
        pair_run(bench,
                 &(struct pattern){.operation = {.name = primitives[i].operation,
                                                 .special = {.step = 2},
                                                 .run = primitives[i].run,
                                                 .around = &(const struct around){.check = check}},
                                   .share = 1,
                                   .moved = 2,
                                   .choose = looks ? choose : NULL,
                                   .variant = &deadlock});
        if (looks)
            bench_found(bench, "deadlock_bytes", deadlock.least);
    }
}

const struct experiment exchange = {
    .name = "exchange",
    .summary = "both ranks send first, by five primitives",
    .what = "Time until a rank has sent its message and received the other rank's.\nIf both ranks "
            "send first and a blocking send waits for its receive, they deadlock.\nThe experiment "
            "first finds the smallest such size, by sends whose receive comes only after "
            "--patience.\nThe description records it (observed.found.deadlock_bytes; null: no "
            "deadlock at these sizes).\nBlocking sends are timed only below this size. Method: "
            "Stival (2006), exchange.",
    .options = {exchange_options, PAIR_OPTION_TABLES},
    .columns = pair_columns,
    .reach = REACH_ANY,
    .run = run,
};
