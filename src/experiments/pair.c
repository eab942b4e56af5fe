// SPDX-License-Identifier: BSD-3-Clause
// Two ranks and what passes between them: modes of sending, buffers, checked payloads.
#include "pair.h"

#include "node.h"
#include "ranks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, TOKEN = 2, BUFFERED_AT_ONCE = 4 };

const struct option pair_options[] = {
    {"sizes", OPTION_SIZES, "1:4Mi:x4", "B", NULL, 0, INT_MAX,
     "message sizes: a list (1,8,4Ki) or ranges (1:1Mi:x2, 0:64:+8)"},
    {"mode", OPTION_CHOICE, "standard", "", "standard|synchronous|buffered|ready", 0, 0,
     "send mode; ready posts every receive one message ahead"},
    {"blocking", OPTION_CHOICE, "yes", "", "yes|no", 0, 0,
     "no: non-blocking sends, and receives posted before"},
    {"cache", OPTION_CHOICE, "warm", "", "warm|cold", 0, 0,
     "cold: every message has a buffer that has left the caches"},
    {0},
};

static void choose_mode(struct pair *pair, const struct options *options) {
    static const struct {
        const char *name;
        int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
        int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    } modes[] = {{"standard", MPI_Send, MPI_Isend},
                 {"synchronous", MPI_Ssend, MPI_Issend},
                 {"buffered", MPI_Bsend, MPI_Ibsend},
                 {"ready", MPI_Rsend, MPI_Irsend}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (options_is(options, "mode", modes[i].name)) {
            pair->send = modes[i].send;
            pair->isend = modes[i].isend;
        }
    pair->blocking = options_is(options, "blocking", "yes");
    pair->ready = options_is(options, "mode", "ready");
}

void pair_send(struct pair *pair, MPI_Request *sent) {
    *sent = MPI_REQUEST_NULL;
    if (pair->blocking)
        pair->send(buffer_next(&pair->out), pair->count, MPI_BYTE, pair->peer, TAG, pair->comm);
    else
        pair->isend(buffer_next(&pair->out), pair->count, MPI_BYTE, pair->peer, TAG, pair->comm,
                    sent);
}

void pair_post(struct pair *pair, MPI_Request *received) {
    MPI_Irecv(buffer_next(&pair->in), pair->count, MPI_BYTE, pair->peer, TAG, pair->comm,
              received);
}

void pair_receive(struct pair *pair) {
    MPI_Recv(buffer_next(&pair->in), pair->count, MPI_BYTE, pair->peer, TAG, pair->comm,
             MPI_STATUS_IGNORE);
}

// One message in the chosen mode, from `sender` to the other, into a place that held the
// complement of what must arrive.
static void check_one(struct pair *pair, int sender, unsigned message, struct failure *failure) {
    MPI_Request request;
    size_t count = (size_t)pair->count;
    if (pair->rank == sender) {
        payload_fill(pair->out.pool + pair->out.at * pair->out.step, count, sender, message);
        // The receive is posted for sure: ready mode needs it, the others may have it.
        MPI_Recv(NULL, 0, MPI_BYTE, pair->peer, TOKEN, pair->comm, MPI_STATUS_IGNORE);
        pair_send(pair, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    char *place = pair->in.pool + pair->in.at * pair->in.step;
    payload_poison(place, count, sender, message);
    pair_post(pair, &request);
    MPI_Send(NULL, 0, MPI_BYTE, pair->peer, TOKEN, pair->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    size_t wrong = payload_check(place, count, sender, message);
    if (wrong < count)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a message of %zu B from rank %d to rank %d; do "
                    "not trust this MPI's transport",
                    wrong, count, sender, pair->rank);
}

static void check(struct pair *pair, unsigned message, struct failure *failure) {
    for (int sender = 0; sender < 2; sender++)
        check_one(pair, sender, 2 * message + (unsigned)sender, failure);
    ranks_agree(pair->comm, failure, false);
}

// Room for messages under way; one of them may not be seen as finished at once.
static void attach(struct pair *pair, struct failure *failure) {
    double room = BUFFERED_AT_ONCE * ((double)pair->count + MPI_BSEND_OVERHEAD);
    if (room <= INT_MAX)
        pair->attached = malloc((size_t)room);
    if (pair->attached)
        MPI_Buffer_attach(pair->attached, (int)room);
    else
        failure_set(failure, STATUS_USAGE,
                    "buffered mode: no room of %.0f B for messages of %d B; ask for smaller "
                    "--sizes",
                    room, pair->count);
}

static void open_size(struct pair *pair, const struct bench *bench, size_t bytes,
                      struct failure *failure) {
    bool cold = options_is(&bench->options, "cache", "cold");
    pair->count = (int)bytes;
    pair->posted = MPI_REQUEST_NULL;
    pair->attached = NULL;
    buffer_open(&pair->out, bytes, cold, node_cache(), 1, failure);
    // Ready mode has two receives posted at a time.
    buffer_open(&pair->in, bytes, cold, node_cache(), pair->ready ? 2 : 1, failure);
    if (options_is(&bench->options, "mode", "buffered"))
        attach(pair, failure);
    ranks_agree(pair->comm, failure, false);
}

static void close_size(struct pair *pair) {
    if (pair->attached) {
        void *address;
        int size;
        MPI_Buffer_detach(&address, &size);
        free(pair->attached);
    }
    buffer_close(&pair->out);
    buffer_close(&pair->in);
}

static void run_size(struct bench *bench, struct pair *pair, const struct pattern *pattern,
                     const struct repeat *rule, size_t bytes) {
    open_size(pair, bench, bytes, &bench->failure);
    if (!failed(&bench->failure))
        check(pair, 0, &bench->failure);
    if (!failed(&bench->failure)) {
        pattern->begin(pair);
        MPI_Barrier(pair->comm);
        repeat_work(bench, rule,
                    &(struct work){.operation = pattern->operation,
                                   .bytes = bytes,
                                   .share = pattern->share,
                                   .go = pattern->go,
                                   .state = pair});
        pattern->end(pair);
        check(pair, 1, &bench->failure);
        bench_print(bench);
    }
    close_size(pair);
}

static size_t largest(const struct sizes *sizes) {
    size_t most = 0;
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->bytes[i] > most)
            most = sizes->bytes[i];
    return most;
}

void pair_run(struct bench *bench, const struct pattern *pattern) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    struct pair pair = {.comm = bench->comm,
                        .rank = bench->rank,
                        .peer = 1 - bench->rank,
                        .payload_bytes = &bench->payload_bytes};
    struct repeat rule = repeat_read(&bench->options, &bench->failure);
    choose_mode(&pair, &bench->options);
    bool cold = options_is(&bench->options, "cache", "cold");
    bool buffered = options_is(&bench->options, "mode", "buffered");
    size_t most = largest(sizes);
    memory_ask(bench->comm,
               buffer_room(most, cold, node_cache(), 1) +
                   buffer_room(most, cold, node_cache(), 2) +
                   (buffered ? BUFFERED_AT_ONCE * most : 0),
               &bench->failure);
    for (size_t i = 0; i < sizes->count && !failed(&bench->failure); i++)
        run_size(bench, &pair, pattern, &rule, sizes->bytes[i]);
    bench->payload_checked = !failed(&bench->failure);
}
