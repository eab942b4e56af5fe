// SPDX-License-Identifier: BSD-3-Clause
// A queue of receives or of messages, in which the match is always at the same place.
#include "matching.h"

#include "barrier.h"

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

// Receives before the match must not take what is for it: with an open tag they are of a source
// that sends nothing, which is this rank itself; with both open their tag is another one.
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

void matching_fill(struct pair *pair, struct matching *queue) {
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

void matching_put_back(const struct operation *operation, long repetition) {
    struct pair *pair = operation->state;
    (void)repetition;
    put_back(pair, pair->pattern->variant);
}

// From the oldest entry on, so that none is looked for.
void matching_drain(struct pair *pair, struct matching *queue) {
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

void matching_answer(void *state, long calls) {
    struct pair *pair = state;
    struct matching *queue = pair->pattern->variant;
    void (*once)(struct pair *, struct matching *) = pair->rank == 0 ? serve : answer;
    for (; calls > 0; calls--) {
        once(pair, queue);
        advance(queue);
    }
}

// Of several calls rank 0 puts back what all but the last one take.
void matching_take(void *state, long calls) {
    struct pair *pair = state;
    struct matching *queue = pair->pattern->variant;
    void (*once)(struct pair *, const struct matching *, size_t) = pair->rank == 0 ? send : take;
    for (long left = pair->rank == 0 ? calls - 1 : calls; left > 0; left--) {
        once(pair, queue, entry_of(queue, queue->next));
        advance(queue);
    }
    queue->owed = true;
}

char *matching_place(const struct pair *pair, const struct matching *queue) {
    return place(pair, entry_of(queue, queue->next));
}
