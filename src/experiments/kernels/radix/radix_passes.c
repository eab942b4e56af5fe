// SPDX-License-Identifier: BSD-3-Clause
// Variants of the radix sort that send keys in every pass.
#include "radix.h"

#include <pthread.h>

// Most variants have a buffer for each rank, which is sent when it is full. The study's variants
// block in sends and look for arrivals at each key; the others are cotejo's own. Keys are handled
// in their order, so that keys of one rank and one digit arrive in order.

// State of one peer in one pass.
struct peer {
    uint64_t due;  // keys that are still to come
    size_t filled; // keys in the buffer for it
};

// One pass of this rank.
struct deal {
    struct radix *radix;
    struct peer *peers;
    uint64_t due_all;      // keys that are still to come from all ranks
    MPI_Request *arrivals; // posted receives by rank, of the variant that posts them
    struct dealing by;
};

// First the buffers to send, one for each rank, then those to receive.
static char *buffer_of(const struct radix *radix, int index) {
    return radix->buffers + (size_t)index * radix->room * radix_width(radix);
}

static void take(struct deal *deal, int source, const void *keys, MPI_Status *status) {
    int count;
    MPI_Get_count(status, radix_type(deal->radix), &count);
    radix_place(deal->radix, source, keys, (size_t)count);
    deal->peers[source].due -= (uint64_t)count;
    deal->due_all -= (uint64_t)count;
}

// Receives probed for.
static bool serve_probed(struct deal *deal) {
    struct radix *radix = deal->radix;
    MPI_Status status;
    int there;
    MPI_Iprobe(MPI_ANY_SOURCE, RADIX_TAG + radix->pass, radix->comm, &there, &status);
    if (!there)
        return false;
    char *buffer = buffer_of(radix, radix->size);
    MPI_Recv(buffer, (int)radix->room, radix_type(radix), status.MPI_SOURCE, status.MPI_TAG,
             radix->comm, &status);
    take(deal, status.MPI_SOURCE, buffer, &status);
    return true;
}

static void post(struct deal *deal, int source) {
    struct radix *radix = deal->radix;
    MPI_Irecv(buffer_of(radix, radix->size + source), (int)radix->room, radix_type(radix), source,
              RADIX_TAG + radix->pass, radix->comm, &deal->arrivals[source]);
}

// One receive for each rank is always posted, as long as it has keys for this rank.
static bool serve_posted(struct deal *deal) {
    struct radix *radix = deal->radix;
    MPI_Status status;
    int source, there;
    MPI_Testany(radix->size, deal->arrivals, &source, &there, &status);
    if (!there || source == MPI_UNDEFINED)
        return false;
    take(deal, source, buffer_of(radix, radix->size + source), &status);
    if (deal->peers[source].due)
        post(deal, source);
    return true;
}

static void serve_all(struct deal *deal) {
    while (deal->by.serve(deal)) {
    }
}

// Sends and, while it waits, receives: no size of buffers leads to a deadlock.
static void send_serving(struct deal *deal, int peer, const void *keys, int count) {
    struct radix *radix = deal->radix;
    MPI_Request request;
    int done = 0;
    MPI_Isend(keys, count, radix_type(radix), peer, RADIX_TAG + radix->pass, radix->comm,
              &request);
    while (!done) {
        serve_all(deal);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

static void send_plain(struct deal *deal, int peer, const void *keys, int count) {
    struct radix *radix = deal->radix;
    MPI_Send(keys, count, radix_type(radix), peer, RADIX_TAG + radix->pass, radix->comm);
}

static void flush(struct deal *deal, int peer) {
    if (!deal->peers[peer].filled)
        return;
    radix_sent(deal->radix, 1, (double)deal->peers[peer].filled);
    deal->by.send(deal, peer, buffer_of(deal->radix, peer), (int)deal->peers[peer].filled);
    deal->peers[peer].filled = 0;
}

// Every key to its place or into the buffer for the rank that has its place.
RADIX_ALWAYS void deal_keys(struct deal *deal, bool polled) {
    struct radix *radix = deal->radix;
    const uint32_t *narrow = radix->in;
    const uint64_t *wide = radix->in;
    int shift = radix->digits.low + radix->pass * radix->digits.digit;
    uint64_t mask = radix_mask(&radix->digits, radix->pass);
    uint64_t low = (uint64_t)radix->rank * radix->keys;
    for (size_t i = 0; i < radix->keys; i++) {
        uint64_t key = radix->wide ? wide[i] : narrow[i];
        uint64_t place = radix->plan.starts[key >> shift & mask]++;
        void *to = radix->out;
        uint64_t at = place - low;
        int peer = -1;
        if (at >= radix->keys) { // below `low` it is huge
            peer = (int)(place / radix->keys);
            to = buffer_of(radix, peer);
            at = deal->peers[peer].filled++;
        }
        radix_put(to, at, key, radix->wide);
        if (peer >= 0 && deal->peers[peer].filled == radix->room)
            flush(deal, peer);
        if (polled)
            deal->by.serve(deal);
    }
}

static void deal_out(struct deal *deal) {
    const struct radix *radix = deal->radix;
    if (deal->by.polled)
        deal_keys(deal, true);
    else
        deal_keys(deal, false);
    for (int step = 1; step < radix->size; step++)
        flush(deal, (radix->rank + step) % radix->size);
}

// The part of a pass that all have: count, share the counts, find the places.
static void begin_pass(struct deal *deal) {
    struct radix *radix = deal->radix;
    double begin = program_mark(radix->clock);
    radix_histogram(radix->in, radix->keys, radix->wide, &radix->digits, radix->pass,
                    radix->plan.counts);
    radix->account.phase_s[RADIX_HISTOGRAM] += program_mark(radix->clock) - begin;
    radix_plan_pass(radix);
    begin = program_mark(radix->clock);
    deal->due_all = 0;
    for (int source = 0; source < radix->size; source++) {
        deal->peers[source].due = source == radix->rank ? 0 : radix_comes(radix, source);
        deal->due_all += deal->peers[source].due;
        deal->peers[source].filled = 0;
        deal->arrivals[source] = MPI_REQUEST_NULL;
    }
    radix->account.phase_s[RADIX_SCAN] += program_mark(radix->clock) - begin;
}

// Peers and requests in one piece.
static void deal_open(struct radix *radix, struct failure *failure) {
    radix->own = malloc((size_t)radix->size * (sizeof(struct peer) + sizeof(MPI_Request)));
    if (!radix->own)
        failure_set(failure, STATUS_USAGE, "no memory for %d peers", radix->size);
}

static void deal_passes(struct radix *radix) {
    struct deal deal = {.radix = radix, .by = radix->variant->dealing, .peers = radix->own};
    deal.arrivals = (MPI_Request *)(deal.peers + radix->size);
    for (radix->pass = 0; radix->pass < radix_passes(&radix->digits); radix->pass++) {
        begin_pass(&deal);
        double begin = program_mark(radix->clock);
        deal.by.pass(&deal);
        radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - begin;
        radix_swap(radix);
    }
}

static void until_all_came(struct deal *deal) {
    deal_out(deal);
    while (deal->due_all)
        serve_all(deal);
}

static void with_posted(struct deal *deal) {
    for (int source = 0; source < deal->radix->size; source++)
        if (deal->peers[source].due)
            post(deal, source);
    until_all_came(deal);
}

static void *receive(void *argument) {
    struct deal *deal = argument;
    struct radix *radix = deal->radix;
    while (deal->due_all) {
        MPI_Status status;
        char *buffer = buffer_of(radix, radix->size);
        MPI_Recv(buffer, (int)radix->room, radix_type(radix), MPI_ANY_SOURCE,
                 RADIX_TAG + radix->pass, radix->comm, &status);
        take(deal, status.MPI_SOURCE, buffer, &status);
    }
    return NULL;
}

// The helper touches the keys that are still to come, this thread all else.
static void with_helper(struct deal *deal) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, receive, deal) != 0)
        MPI_Abort(deal->radix->comm, STATUS_FAILED);
    deal_out(deal);
    pthread_join(thread, NULL);
}

// The other variant sorts at home in every pass, exchanges all at once, and puts runs together.

// Keys sorted by digit on this rank are in the order of their final places, so that the keys for
// one rank are contiguous.
static void count_sends(const struct radix *radix, const struct lists *lists) {
    const uint64_t *starts = radix->plan.starts, *mine = radix->plan.counts;
    size_t values = radix_values(&radix->digits);
    memset(lists->sends, 0, (size_t)radix->size * sizeof *lists->sends);
    for (size_t d = 0; d < values; d++) {
        for (uint64_t at = starts[d], left = mine[d]; left;) {
            uint64_t peer = at / radix->keys, room = (peer + 1) * radix->keys - at;
            uint64_t some = left < room ? left : room;
            lists->sends[peer] += (int)some;
            at += some;
            left -= some;
        }
    }
}

// The keys from one source come sorted by digit: a run for each.
static void place_runs(struct radix *radix, int source, const char *from) {
    size_t count = radix->plan.windows[radix->rank].count, width = radix_width(radix);
    const uint64_t *next = radix->plan.next + (size_t)source * count;
    const uint64_t *comes = radix->plan.comes + (size_t)source * count;
    for (size_t d = 0; d < count; d++) {
        if (!comes[d])
            continue;
        memcpy((char *)radix->out + next[d] * width, from, comes[d] * width);
        from += comes[d] * width;
    }
}

static void one_pass(struct radix *radix) {
    struct lists lists = radix_lists(radix); // the counts are exchanged already
    size_t width = radix_width(radix);
    uint64_t *mine = radix->plan.counts, *starts = radix->plan.starts;
    double begin = program_mark(radix->clock);
    radix_histogram(radix->in, radix->keys, radix->wide, &radix->digits, radix->pass, mine);
    radix->account.phase_s[RADIX_HISTOGRAM] += program_mark(radix->clock) - begin;
    radix_plan_pass(radix);
    begin = program_mark(radix->clock);
    count_sends(radix, &lists);
    radix_begins(mine, radix_values(&radix->digits), starts);
    double counted = program_mark(radix->clock);
    radix->account.phase_s[RADIX_SCAN] += counted - begin;
    radix_scatter(radix->in, radix->spare, radix->keys, radix->wide, &radix->digits, radix->pass,
                  starts);
    for (int i = 0; i < radix->size; i++)
        lists.receives[i] = (int)radix_comes(radix, i);
    radix_exchange(radix, &lists);
    for (int i = 0; i < radix->size; i++)
        place_runs(radix, i,
                   i == radix->rank ? (char *)radix->spare + (size_t)lists.send_at[i] * width
                                    : (char *)radix->in + (size_t)lists.receive_at[i] * width);
    radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - counted;
}

static void alltoallv(struct radix *radix) {
    for (radix->pass = 0; radix->pass < radix_passes(&radix->digits); radix->pass++) {
        one_pass(radix);
        radix_swap(radix);
    }
}

#define DEALT(name, ...)                                                                          \
    {                                                                                             \
        name, false, deal_open, deal_passes, {                                                    \
            __VA_ARGS__                                                                           \
        }                                                                                         \
    }
const struct radix_variant radix_variants[RADIX_VARIANTS] = {
    DEALT("polled", send_plain, serve_probed, until_all_came, true),
    DEALT("polled-posted", send_plain, serve_posted, with_posted, true),
    DEALT("serving", send_serving, serve_probed, until_all_came, false),
    DEALT("serving-posted", send_serving, serve_posted, with_posted, false),
    DEALT("threaded", send_plain, NULL, with_helper, false),
    {.name = "alltoallv", .run = alltoallv},
    {.name = "split", .open = radix_split_open, .run = radix_split},
    {.name = "alone", .alone = true, .run = radix_alone},
};
