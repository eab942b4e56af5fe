// SPDX-License-Identifier: BSD-3-Clause
// The six systematic errors of measuring collectives, each as two operations: with and without.
#include "first_calls.h"
#include "node.h"
#include "payload.h"
#include "ranks.h"
#include "skew.h"
#include "start.h"

#include <limits.h>
#include <stdio.h>

static const struct option systematic_options[] = {
    {"sizes", OPTION_SIZES, "8,8Ki", "B", NULL, 1, INT_MAX, "message sizes"},
    {0},
};

struct broadcast {
    bool unwritten; // nothing, when the timing begins
    MPI_Comm comm;
    int rank, size, count, root;
    struct buffer buffer;
    double *payload_bytes;
};

// Before each start: the counting is not in the time.
static void count_payload(void *state, long repetition) {
    struct broadcast *b = state;
    (void)repetition;
    *b->payload_bytes += (double)b->count * (b->size - 1);
}

static void fixed_root(void *state) {
    struct broadcast *b = state;
    MPI_Bcast(buffer_next(&b->buffer), b->count, MPI_BYTE, b->root, b->comm);
}

static void rotate(void *state, long repetition) {
    struct broadcast *b = state;
    count_payload(state, repetition);
    b->root = repetition < 0 ? 0 : (int)(repetition % b->size);
}

// Linear: the root sends to one rank after the other, so that rank i has it after i messages.
static void linear(void *state) {
    struct broadcast *b = state;
    char *place = buffer_next(&b->buffer);
    for (int r = 1; b->rank == 0 && r < b->size; r++)
        MPI_Send(place, b->count, MPI_BYTE, r, 0, b->comm);
    if (b->rank != 0)
        MPI_Recv(place, b->count, MPI_BYTE, 0, 0, b->comm, MPI_STATUS_IGNORE);
}

// One broadcast whose bytes are known; wrong ones are a failure, agreed.
static void check(struct broadcast *b, void (*call)(void *), struct failure *failure) {
    size_t count = (size_t)b->count;
    char *place = buffer_slot(&b->buffer);
    b->root = 0;
    if (b->rank == 0)
        payload_fill(place, count, 0, 0);
    else
        payload_poison(place, count, 0, 0);
    call(b);
    size_t wrong = payload_check(place, count, 0, 0);
    if (wrong < count)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a broadcast of %zu B at rank %d; do not trust "
                    "this MPI's transport",
                    wrong, count, b->rank);
    ranks_agree(b->comm, failure, false);
}

static void measure(struct bench *bench, struct schedule *schedule, const struct act *act) {
    const struct broadcast *b = act->state;
    check(act->state, act->call, &bench->failure);
    if (b->unwritten)
        buffer_forget(&b->buffer);
    if (!failed(&bench->failure))
        schedule_work(bench, schedule, act);
    bench_print(bench);
}

static struct broadcast broadcast_of(struct bench *bench, size_t bytes) {
    return (struct broadcast){.comm = bench->comm,
                              .rank = bench->rank,
                              .size = bench->size,
                              .count = (int)bytes,
                              .payload_bytes = &bench->payload_bytes};
}

// Errors 3 and 4: arguments that change between repetitions, buffers that stay in the cache; and
// buffers that were never written. The warm broadcast from a fixed root is what the others are
// held against; with `per_rank` error 2, one rank's time for all, is in it too.
static void broadcasts(struct bench *bench, struct schedule *schedule, size_t bytes) {
    static const struct {
        const char *operation;
        bool cold, per_rank, unwritten;
        void (*prepare)(void *, long);
    } ways[] = {{"bcast", false, true, false, count_payload},
                {"bcast-rotating-root", false, false, false, rotate},
                {"bcast-cold", true, false, false, count_payload},
                {"bcast-unwritten", false, false, true, count_payload}};
    for (int i = 0; i < 4 && !failed(&bench->failure); i++) {
        struct broadcast b = broadcast_of(bench, bytes);
        bool per_rank = schedule->per_rank;
        b.unwritten = ways[i].unwritten;
        schedule->per_rank |= ways[i].per_rank;
        memory_ask(bench->comm, buffer_room(bytes, ways[i].cold, node_cache(), 1),
                   &bench->failure);
        buffer_open(&b.buffer, bytes, ways[i].cold, node_cache(), 1, &bench->failure);
        if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
            measure(bench, schedule,
                    &(struct act){ways[i].operation, bytes, ways[i].prepare, fixed_root, &b});
        buffer_close(&b.buffer);
        schedule->per_rank = per_rank;
    }
}

// Error 6: a loop without synchronised starts, held against the same operation started together.
static void loops(struct bench *bench, struct schedule *schedule, size_t bytes) {
    struct broadcast b = broadcast_of(bench, bytes);
    const struct start *asked = schedule->start;
    bool per_rank = schedule->per_rank;
    schedule->per_rank = true;
    if (bench->rank == 0 && bench->size == 2)
        printf(
            "# linear-loop: by the formula a loop of 2 ranks has no error; what is seen is that "
            "calls of a loop overlap; start 3 or more ranks to see the formula's error\n");
    buffer_open(&b.buffer, bytes, false, node_cache(), 1, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK) {
        measure(bench, schedule, &(struct act){"linear", bytes, count_payload, linear, &b});
        schedule->start = start_find("none");
        if (!failed(&bench->failure))
            measure(bench, schedule,
                    &(struct act){"linear-loop", bytes, count_payload, linear, &b});
    }
    buffer_close(&b.buffer);
    schedule->start = asked;
    schedule->per_rank = per_rank;
}

static void run(struct bench *bench) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    struct schedule schedule;
    for (size_t i = 0; i < sizes->count && !failed(&bench->failure); i++)
        first_calls_measure(bench, sizes->bytes[i]);
    bench_print(bench);
    schedule_open(bench, &schedule);
    for (size_t i = 0; i < sizes->count && !failed(&bench->failure); i++) {
        broadcasts(bench, &schedule, sizes->bytes[i]);
        if (!failed(&bench->failure))
            loops(bench, &schedule, sizes->bytes[i]);
    }
    // Error 5: a barrier as the start line.
    if (!failed(&bench->failure) && schedule.sync.method) {
        skew_measure(bench, &schedule, "mpi-barrier", "skew-mpi-barrier");
        skew_measure(bench, &schedule, "barrier", "skew-barrier");
        skew_measure(bench, &schedule, "round-time", "skew-deadline");
    }
    schedule_close(bench, &schedule);
    bench->payload_checked = !failed(&bench->failure);
}

const struct experiment systematic_errors = {
    .name = "systematic-errors",
    .summary = "the six usual errors of measuring collectives, and how large each is here",
    .what =
        "1 the first call:           NAME-first against NAME-second, of seven collectives;\n"
        "  repetition 0 is the first of the launch\n"
        "2 one rank's time:          bcast.rank0 against bcast, the maximum over ranks\n"
        "3 arguments that change:    bcast-rotating-root against bcast\n"
        "4 buffers kept in cache:    bcast against bcast-cold\n"
        "5 a barrier as start line:  skew-mpi-barrier, skew-barrier against skew-deadline\n"
        "6 a loop without starts:    linear-loop.rankI against linear.rankI; for n ranks and k\n"
        "  calls wrong by the factor (n - 1)(k - 1) / (ik) + 1/k, at rank 0 by 1. On 2 ranks\n"
        "  that is 1 too: what is seen there is that messages of a loop are under way together\n"
        "And one more: buffers never written, which are one page: bcast-unwritten against bcast\n"
        "Method: MPIPerf (Kurnosov 2012).",
    .options = {systematic_options, first_calls_options, skew_options, schedule_options,
                sync_options},
    .columns = schedule_columns,
    .run = run,
};
