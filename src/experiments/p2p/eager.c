// SPDX-License-Identifier: BSD-3-Clause
// Eager limit by its effect: up to which size a send is complete before its receive is posted.
#include "bench.h"
#include "payload.h"
#include "ranks.h"

#include <limits.h>
#include <time.h>

enum { TAG = 1, READY = 2, NEVER_SENT = 3, ATTEMPTS_A_TRY = 20, STAY_WINDOWS = 8 };

static const struct option eager_options[] = {
    {"sizes", OPTION_SIZES, "1:4Mi:x2", "B", NULL, 1, INT_MAX,
     "message sizes to begin with, rising; the limit between two of them is then found by "
     "bisection"},
    {"receiver", OPTION_CHOICE, "polling", "", "polling|idle", 0, 0,
     "what the receiver does before it posts the receive. polling: it is inside MPI, which makes "
     "progress; idle: it is not"},
    {"window", OPTION_REAL, "0.003", "s", NULL, 1e-5, 1,
     "how long a send is watched; one that is not complete then waits for its receiver"},
    {"tries", OPTION_INTEGER, "3", "", NULL, 1, 1001,
     "undisturbed sends of each size; the majority decides"},
    {0},
};

struct eager {
    struct bench *bench;
    bool polling;
    double window_s;
    int tries;
    struct buffer buffer;
    unsigned message;
};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The receiver, from its word that it goes away until the receive. It stays away longer than a
// sender that watches ever takes to decide, so that neither has to wait for a word.
static void stay_away(const struct eager *eager) {
    MPI_Comm comm = eager->bench->comm;
    double end = seconds() + STAY_WINDOWS * eager->window_s;
    MPI_Send(NULL, 0, MPI_BYTE, 0, READY, comm);
    while (seconds() < end) {
        const struct timespec pause = {.tv_nsec = 50000};
        int found;
        if (eager->polling)
            MPI_Iprobe(0, NEVER_SENT, comm, &found, MPI_STATUS_IGNORE);
        else
            nanosleep(&pause, NULL);
    }
}

static void receive(struct eager *eager, int count) {
    char *place = eager->buffer.pool;
    MPI_Comm comm = eager->bench->comm;
    payload_poison(place, (size_t)count, 0, eager->message);
    MPI_Barrier(comm);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, READY, comm, MPI_STATUS_IGNORE);
    stay_away(eager);
    MPI_Recv(place, count, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
    size_t wrong = payload_check(place, (size_t)count, 0, eager->message);
    if (wrong < (size_t)count)
        failure_set(&eager->bench->failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a message of %d B; do not trust this MPI's "
                    "transport",
                    wrong, count);
}

// One watched send. *alone: it was complete within the window, before the receive was posted.
// Returns whether it counts: a sender that lost its core may have met a receiver that was back.
static bool send(struct eager *eager, int count, bool *alone) {
    struct bench *bench = eager->bench;
    MPI_Request request;
    int done = 0;
    payload_fill(eager->buffer.pool, (size_t)count, 0, eager->message);
    MPI_Barrier(bench->comm); // the receiver is back from the message before
    double asked = seconds(); // the receiver goes away later than this
    MPI_Send(NULL, 0, MPI_BYTE, 1, READY, bench->comm);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, READY, bench->comm, MPI_STATUS_IGNORE);
    double begin = clock_now(&bench->clock), watched = seconds();
    MPI_Isend(eager->buffer.pool, count, MPI_BYTE, 1, TAG, bench->comm, &request);
    do {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    } while (!done && seconds() < watched + eager->window_s);
    *alone = done;
    bool counts = seconds() < asked + (STAY_WINDOWS - 1) * eager->window_s;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    double time = clock_now(&bench->clock) - begin;
    samples_add(&bench->samples,
                (struct sample){.operation = *alone ? "eager-alone" : "eager-held",
                                .bytes = (size_t)count,
                                .repetition = eager->message,
                                .calls = 1,
                                .time_s = time,
                                .valid = counts},
                &bench->failure);
    return counts;
}

// Whether messages of `bytes` are complete without their receiver; collective, agreed.
static bool goes_alone(struct eager *eager, size_t bytes) {
    struct bench *bench = eager->bench;
    int votes = 0, counted = 0, more = 1;
    for (int attempt = 1; more; attempt++, eager->message++) {
        bool alone = false;
        if (bench->rank == 1)
            receive(eager, (int)bytes);
        else if (send(eager, (int)bytes, &alone)) {
            counted++;
            votes += alone;
        }
        bench->payload_bytes += (double)bytes;
        more = counted < eager->tries && attempt < ATTEMPTS_A_TRY * eager->tries;
        MPI_Bcast(&more, 1, MPI_INT, 0, bench->comm);
    }
    if (bench->rank == 0 && counted < eager->tries)
        failure_set(&bench->failure, STATUS_FAILED,
                    "the sender lost its core too often to watch a send of %zu B for %g s; use "
                    "quieter cores or a longer --window",
                    bytes, eager->window_s);
    ranks_agree(bench->comm, &bench->failure, false);
    int alone = 2 * votes > counted;
    MPI_Bcast(&alone, 1, MPI_INT, 0, bench->comm);
    bench_print(bench);
    return alone;
}

// What is found: `most` B go alone, `least` B do not. 0: no size was seen that does (does not).
struct limit {
    size_t most, least, beyond; // beyond: the largest that goes alone although `least` does not
};

static struct limit scan(struct eager *eager, const struct sizes *sizes) {
    struct limit limit = {0};
    for (size_t i = 0; i < sizes->count && !failed(&eager->bench->failure); i++) {
        size_t bytes = sizes->bytes[i];
        if (!goes_alone(eager, bytes))
            limit.least = limit.least ? limit.least : bytes;
        else if (limit.least)
            limit.beyond = bytes;
        else
            limit.most = bytes;
    }
    return limit;
}

static void bisect(struct eager *eager, struct limit *limit) {
    while (limit->least > limit->most + 1 && !failed(&eager->bench->failure)) {
        size_t middle = limit->most + (limit->least - limit->most) / 2;
        if (goes_alone(eager, middle))
            limit->most = middle;
        else
            limit->least = middle;
    }
}

static void tell(struct bench *bench, const struct limit *limit) {
    bench_found(bench, "eager_limit_bytes", (double)limit->most);
    bench_found(bench, "held_from_bytes", (double)limit->least);
    bench_found(bench, "alone_beyond_bytes", (double)limit->beyond);
    if (bench->rank != 0)
        return;
    if (limit->least)
        printf("# messages of up to %zu B are sent without waiting for their receiver\n",
               limit->most);
    else
        printf("# no size up to %zu B waited for its receiver\n", limit->most);
}

static bool rising(const struct sizes *sizes) {
    for (size_t i = 1; i < sizes->count; i++)
        if (sizes->bytes[i] <= sizes->bytes[i - 1])
            return false;
    return true;
}

static void run(struct bench *bench) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    size_t most = sizes->bytes[sizes->count - 1];
    struct eager eager = {.bench = bench,
                          .polling = options_is(&bench->options, "receiver", "polling"),
                          .window_s =
                              options_real(&bench->options, "window") * bench->clock.dilation,
                          .tries = (int)options_integer(&bench->options, "tries")};
    if (!rising(sizes)) {
        failure_set(&bench->failure, STATUS_USAGE, "--sizes must rise; sort them");
        return;
    }
    memory_ask(bench->comm, most, &bench->failure);
    if (!failed(&bench->failure)) {
        buffer_open(&eager.buffer, &bench->layout, "message", most, false, 0, 1, &bench->failure);
        ranks_agree(bench->comm, &bench->failure, false);
    }
    if (!failed(&bench->failure)) {
        struct limit limit = scan(&eager, sizes);
        bisect(&eager, &limit);
        if (!failed(&bench->failure))
            tell(bench, &limit);
    }
    buffer_close(&eager.buffer);
    bench->payload_checked = !failed(&bench->failure);
}

const struct experiment eager_limit = {
    .name = "eager-limit",
    .summary = "the largest message that is sent before its receive is posted",
    .what =
        "Watches standard sends to a rank that posts the receive late, and bisects the size up "
        "to which\nthey are complete before: the eager limit by its effect. A sample is the "
        "time until a send is\ncomplete; eager-alone: within --window, eager-held: only after "
        "the receive was posted.",
    .ranks = 2,
    .ordered = true,
    .options = {eager_options},
    .run = run,
};
