// SPDX-License-Identifier: BSD-3-Clause
// Separates sources of the variance between launches: interleaves messages and cache lines.
//
// All rounds of a launch have the same process, so differences between rounds do not come from the
// process. If cache lines also pass more slowly between the two cores, the cores are slow then.
// The time of a single line depends on its place, too: its physical address, which is different in
// each launch, selects the part of a shared cache that keeps it. So many lines take turns.
#include "experiment.h"

#include <stdatomic.h>

// APART: B from one line to the next: another page, and another set of the nearest cache.
enum { OPERATIONS_MOST = 16, LINE = 128, APART = 4096 + LINE };

static const struct option spells_options[] = {
    {"sizes", OPTION_SIZES, "1,64Ki", "B", NULL, 0, 1 << 28,
     "message sizes: a list (1,8,4Ki) or ranges (1:1Mi:x2); at most 15"},
    {"rounds", OPTION_INTEGER, "200", "", NULL, 2, 1e6,
     "rounds, in each of which every operation has a stage of samples"},
    {"lines", OPTION_INTEGER, "64", "", NULL, 1, 4096,
     "lines of the cache that take turns; of few their places are in the time"},
    {"start", OPTION_CHOICE, "loop", "", "loop|barrier|mpi-barrier", 0, 0,
     "how ranks start: in a loop (one row of calls, cut into samples), or after a barrier of "
     "cotejo or of the library"},
    {0},
};

static const struct column spells_columns[] = {
    SAMPLER_COLUMN_ROWS, {"round", "rounds", "rounds of all operations before this one"}, {0}};

struct lane {
    const struct bench *bench;
    long stage;            // samples of a round
    int count;             // B of the message
    struct buffer out, in; // of the message
    char *lines;           // of both ranks, APART from each other, with a ball on each
    long count_lines, at;  // at: the line whose turn it is
    long number;           // that the last ball had
};

static void pass_message(void *state, long calls) {
    struct lane *lane = state;
    int rank = lane->bench->rank;
    pingpong_calls(lane->bench->comm, 1 - rank, rank == 0, lane->out.pool, lane->in.pool,
                   lane->count, calls);
}

static atomic_long *ball_of(const struct lane *lane, long line) {
    return (atomic_long *)(lane->lines + line * APART);
}

static void pass_line(void *state, long calls) {
    struct lane *lane = state;
    long mine = lane->number + lane->bench->rank + 1, awaited = mine - 1 + 2 * !lane->bench->rank;
    for (long i = 0; i < calls; i++, mine += 2, awaited += 2) {
        atomic_long *ball = ball_of(lane, lane->at);
        lane->at = lane->at + 1 < lane->count_lines ? lane->at + 1 : 0;
        if (lane->bench->rank == 0)
            atomic_store_explicit(ball, mine, memory_order_release);
        while (atomic_load_explicit(ball, memory_order_acquire) != awaited)
            continue;
        if (lane->bench->rank == 1)
            atomic_store_explicit(ball, mine, memory_order_release);
    }
    lane->number += 2 * calls;
}

static void check_message(const struct operation *operation, unsigned round,
                          struct failure *failure) {
    struct lane *lane = operation->state;
    size_t count = (size_t)lane->count;
    int peer = 1 - lane->bench->rank;
    payload_fill(lane->out.pool, count, lane->bench->rank, round);
    payload_poison(lane->in.pool, count, peer, round);
    pass_message(lane, 1);
    payload_verify(lane->in.pool, count, peer, round, lane->bench->rank, failure);
}

// Every operation has a stage of samples in each round.
static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct lane *lane = operation->state;
    (void)timing;
    sample->extra[SAMPLER_COLUMNS] = (double)(sample->repetition / lane->stage);
}

static const struct around message = {.check = check_message, .describe = describe},
                           line = {.describe = describe};

struct study {
    struct sampler sampler;
    struct lane lanes[OPERATIONS_MOST];
    struct turn turns[OPERATIONS_MOST];
    int count;
    MPI_Win window; // of the line
};

static struct lane *next_lane(struct study *study, struct bench *bench) {
    struct lane *lane = &study->lanes[study->count];
    *lane = (struct lane){.bench = bench, .stage = options_integer(&bench->options, "stage")};
    return lane;
}

static void add_line(struct study *study, struct bench *bench) {
    struct lane *lane = next_lane(study, bench);
    MPI_Aint bytes;
    int unit;
    void *memory;
    lane->count_lines = options_integer(&bench->options, "lines");
    MPI_Win_allocate_shared(bench->rank == 0 ? (lane->count_lines + 1) * APART : 0, 1,
                            MPI_INFO_NULL, bench->comm, &memory, &study->window);
    errors_of_window(study->window);
    MPI_Win_shared_query(study->window, 0, &bytes, &unit, &memory);
    lane->lines = (char *)memory + LINE - (size_t)memory % LINE;
    for (long i = 0; i < lane->count_lines && bench->rank == 0; i++)
        atomic_init(ball_of(lane, i), 0);
    study->turns[study->count++].operation =
        (struct operation){.name = "cache-line", .around = &line, .run = pass_line, .state = lane};
    ranks_agree(bench->comm, &bench->failure, false); // it is there before anybody waits for it
}

static void add_message(struct study *study, struct bench *bench, size_t bytes) {
    struct lane *lane = next_lane(study, bench);
    lane->count = (int)bytes;
    bench_buffers(bench, &lane->out, &lane->in, bytes, 0, 1);
    study->turns[study->count++].operation =
        (struct operation){.name = "pingpong",
                           .message = {.bytes = bytes, .payload = 2 * (double)bytes},
                           .special = {.share = 0.5}, // of the line a round trip is one
                           .around = &message,
                           .run = pass_message,
                           .state = lane};
}

static void measure(struct study *study, struct bench *bench) {
    long samples = options_integer(&bench->options, "rounds") * study->sampler.stage;
    study->sampler.stop = (struct stop){.min = samples, .max = samples};
    sampler_turns(&study->sampler, study->turns, study->count, stop_next, &bench->order);
    for (int i = 0; i < study->count; i++)
        sampler_check(&study->sampler, &study->turns[i].operation, 1);
    bench_print(bench);
}

// Both ranks on one host, whose memory they can share.
static void check_host(struct bench *bench) {
    int size = 0;
#ifndef COTEJO_SIMULATED
    MPI_Comm host;
    MPI_Comm_split_type(bench->comm, MPI_COMM_TYPE_SHARED, bench->rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
#endif
    if (size < bench->size)
        failure_set(&bench->failure, STATUS_USAGE,
                    "a cache line passes between cores of one host: place both ranks on one that "
                    "is not simulated");
    ranks_agree(bench->comm, &bench->failure, false);
}

static void run(struct bench *bench) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    struct study study = {.window = MPI_WIN_NULL};
    if (sizes->count >= OPERATIONS_MOST)
        failure_set(&bench->failure, STATUS_USAGE, "--sizes: at most %d, %zu are requested",
                    OPERATIONS_MOST - 1, sizes->count);
    check_host(bench);
    if (failed(&bench->failure))
        return;
    add_line(&study, bench);
    for (size_t i = 0; i < sizes->count && !failed(&bench->failure); i++)
        add_message(&study, bench, sizes->bytes[i]);
    sampler_open(&study.sampler, bench, false);
    if (!failed(&bench->failure))
        measure(&study, bench);
    sampler_close(&study.sampler);
    for (int i = 0; i < study.count; i++) {
        buffers_close(&study.lanes[i].out, &study.lanes[i].in);
    }
    if (study.window != MPI_WIN_NULL)
        MPI_Win_free(&study.window);
}

const struct experiment spells = {
    .name = "spells",
    .summary = "messages and cache lines, interleaved: sources of variance between launches",
    .what =
        "cache-line: a line of memory to the other core and back, without MPI, of --lines in\n"
        "turn; pingpong: one message, one way. Every round has a stage of each. Differences\n"
        "between rounds do not come from the process. If cache lines slow down too, the cores\n"
        "are slow.",
    .ranks = 2,
    .options = {spells_options, sampler_options, sync_options},
    .columns = spells_columns,
    .run = run,
};
