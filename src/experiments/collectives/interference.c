// SPDX-License-Identifier: BSD-3-Clause
// Interference: a victim's messages and collectives, alone and beside an aggressor.
#include "coll.h"

enum { LOAD_TAG = PINGPONG_TAG + 1, LAST_TAG, STOP_TAG };

static const struct option interference_options[] = {
    SIZES_ROW("8,64Ki", 0, INT_MAX - (1 << 20), "message sizes of the victim"),
    {"victim", OPTION_CHOICE, "all", "", "all|pingpong|allreduce", 0, 0,
     "pingpong: between the ranks of each of its pairs; allreduce: a sum of double over its "
     "ranks"},
    {"load", OPTION_SIZES, "1Mi", "B", NULL, 1, INT_MAX - (1 << 20),
     "size of the messages that the two ranks of an aggressor's pair exchange"},
    SAMPLER_START_ROW("loop"),
    {0},
};

static const struct column columns[] = {
    SAMPLER_COLUMN_ROWS,
    {"aggressors", "", "ranks that exchanged messages at the same time; 0: the victim was alone"},
    {0},
};

// State of one rank. Ranks r and r + pairs are a pair. Pairs 0, 2, 4, ... are the victim, the
// others the aggressor. If the number of ranks is uneven, the last rank is in no pair.
struct crowd {
    struct bench *bench;
    MPI_Comm comm;   // of all messages: receives of the aggressor leave the tag open
    MPI_Comm victim; // MPI_COMM_NULL on other ranks
    int rank, ranks; // in it, of it
    int self, pairs, pair, peer;
    bool first, victims; // the first rank of a pair; a rank of the victim
    bool beside;         // the aggressor works
    bool reduces;        // the victim
    int count, load;     // elements of the victim's operation; B of the aggressor's messages
    const struct reduction *sum;
    struct buffer out, in;
};

static int aggressors(const struct crowd *crowd) {
    return crowd->pairs / 2 * 2;
}

// One aggressor's pair passes the message that the victim's calls are over to the next pair.
static void pass_stop(const struct crowd *crowd, int pair) {
    if (pair < crowd->pairs)
        MPI_Send(NULL, 0, MPI_BYTE, pair, STOP_TAG, crowd->comm);
}

// Messages both ways at once, the last of which has a tag of its own.
static void exchange(const struct crowd *crowd, int tag, MPI_Status *status) {
    MPI_Sendrecv(crowd->out.pool, crowd->load, MPI_BYTE, crowd->peer, tag, crowd->in.pool,
                 crowd->load, MPI_BYTE, crowd->peer, MPI_ANY_TAG, crowd->comm, status);
}

// Exchanges messages until the victim's calls are over; without a load only waits for that.
static void run_aggressor(const struct crowd *crowd) {
    MPI_Status status = {.MPI_TAG = LOAD_TAG};
    MPI_Request stop;
    int over = 0, before = crowd->pair == 1 ? 0 : crowd->pair - 2;
    if (!crowd->first) {
        while (crowd->beside && status.MPI_TAG != LAST_TAG)
            exchange(crowd, LOAD_TAG, &status);
        return;
    }
    MPI_Irecv(NULL, 0, MPI_BYTE, before, STOP_TAG, crowd->comm, &stop);
    while (crowd->beside && !over) {
        MPI_Test(&stop, &over, MPI_STATUS_IGNORE);
        exchange(crowd, over ? LAST_TAG : LOAD_TAG, &status);
    }
    MPI_Wait(&stop, MPI_STATUS_IGNORE);
    pass_stop(crowd, crowd->pair + 2);
}

static void run_victim(const struct crowd *crowd, long calls) {
    if (!crowd->reduces)
        pingpong_calls(crowd->comm, crowd->peer, crowd->first, crowd->out.pool, crowd->in.pool,
                       crowd->count, calls);
    for (; crowd->reduces && calls > 0; calls--)
        MPI_Allreduce(crowd->out.pool, crowd->in.pool, crowd->count, crowd->sum->type,
                      crowd->sum->op, crowd->victim);
}

static void run_calls(void *state, long calls) {
    const struct crowd *crowd = state;
    if (crowd->victims)
        run_victim(crowd, calls);
    else if (crowd->pair >= 0)
        run_aggressor(crowd);
    if (crowd->self == 0)
        pass_stop(crowd, 1);
}

static void enter(const struct operation *operation) {
    struct crowd *crowd = operation->state;
    size_t bytes = operation->message.bytes;
    buffer_shape(&crowd->out, crowd->victims ? bytes : (size_t)crowd->load);
    buffer_shape(&crowd->in, crowd->victims ? bytes : (size_t)crowd->load);
    crowd->count = (int)(crowd->reduces ? bytes / crowd->sum->bytes : bytes);
}

static void fill_summands(const struct crowd *crowd) {
    reduction_fill(crowd->sum, crowd->out.pool, 0, (size_t)crowd->count, crowd->rank,
                   crowd->ranks);
}

// Compares what arrived, byte by byte: a message of the peer, or the sum over the victim's ranks.
static void compare(const struct crowd *crowd, size_t bytes, bool sum, unsigned round,
                    struct failure *failure) {
    size_t wrong = payload_check(crowd->in.pool, bytes, crowd->peer, round);
    if (sum) {
        reduction_expect(crowd->sum, crowd->out.pool, 0, (size_t)crowd->count, crowd->ranks,
                         crowd->ranks);
        for (wrong = 0; wrong < bytes && crowd->in.pool[wrong] == crowd->out.pool[wrong];)
            wrong++;
        fill_summands(crowd);
    }
    if (wrong < bytes)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of %zu B at rank %d of the %s; do not trust this "
                    "MPI's transport",
                    wrong, bytes, crowd->self, crowd->victims ? "victim" : "aggressor");
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct crowd *crowd = operation->state;
    bool sum = crowd->victims && crowd->reduces;
    enter(operation);
    size_t bytes = crowd->victims ? operation->message.bytes : (size_t)crowd->load;
    payload_fill(crowd->out.pool, bytes, crowd->self, round);
    payload_poison(crowd->in.pool, bytes, crowd->peer, round);
    if (sum)
        fill_summands(crowd);
    operation->run(crowd, 1);
    if (crowd->victims || (crowd->pair >= 0 && crowd->beside))
        compare(crowd, bytes, sum, round, failure);
}

// Both of an operation, alone and beside the aggressor, in the order that is drawn.
static void measure(struct sampler *sampler, struct crowd *crowd, const struct sizes *sizes) {
    static const char *const victims[] = {"pingpong", "allreduce"};
    static const char *const names[] = {"victim-pingpong", "victim-allreduce"};
    struct bench *bench = sampler->bench;
    int ways = aggressors(crowd) ? 4 : 2;
    for (struct walk walk = bench_walk(bench, ways); walk_on(&walk);) {
        int victim = walk.at % 2;
        bool timed = victim ? crowd->victims : crowd->self < crowd->pairs && crowd->victims;
        if (!options_is(&bench->options, "victim", "all") &&
            !options_is(&bench->options, "victim", victims[victim]))
            continue;
        crowd->beside = walk.at >= 2;
        crowd->reduces = victim;
        struct curve curve = {
            {.name = names[victim],
             .special = {.bystander = !timed,
                         .share = victim ? 1 : 0.5, // one way
                         .factors = &(double){crowd->beside ? aggressors(crowd) : 0},
                         .factors_count = 1},
             .around = &(const struct around){.enter = enter, .check = check},
             .run = run_calls,
             .state = crowd},
            .messages = 2.0 * ((crowd->pairs + 1) / 2)}; // to the victim's ranks, at least
        curve_run(sampler, &curve, sizes);
    }
}

static void place(struct crowd *crowd) {
    int size = crowd->bench->size, rank = crowd->bench->rank;
    crowd->self = rank;
    crowd->pairs = size / 2;
    crowd->first = rank < crowd->pairs;
    crowd->pair = rank < 2 * crowd->pairs ? rank % crowd->pairs : -1;
    crowd->peer = crowd->first ? rank + crowd->pairs : rank - crowd->pairs;
    crowd->victims = crowd->pair >= 0 && crowd->pair % 2 == 0;
    MPI_Comm_dup(crowd->bench->comm, &crowd->comm);
    MPI_Comm_split(crowd->bench->comm, crowd->victims ? 0 : MPI_UNDEFINED, rank, &crowd->victim);
    if (crowd->victims) {
        MPI_Comm_rank(crowd->victim, &crowd->rank);
        MPI_Comm_size(crowd->victim, &crowd->ranks);
    }
    if (aggressors(crowd) == 0 && rank == 0)
        printf(
            "# %d ranks have no aggressor: only the victim alone is measured; start 4 or more\n",
            size);
}

static void check_sizes(const struct bench *bench, const struct sizes *sizes, size_t element,
                        struct failure *failure) {
    if (options_sizes(&bench->options, "load")->count != 1)
        failure_set(failure, STATUS_USAGE, "--load: give one number of bytes");
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->bytes[i] % element && !options_is(&bench->options, "victim", "pingpong"))
            failure_set(failure, STATUS_USAGE,
                        "--sizes %zu: the sum has elements of %zu B; give multiples of that, or "
                        "--victim pingpong",
                        sizes->bytes[i], element);
}

static void run(struct bench *bench) {
    struct sizes sizes = curve_sizes(&bench->options, &bench->failure);
    struct crowd crowd = {.bench = bench};
    struct reduction sum;
    struct sampler sampler;
    reduction_open(&sum, "sum", "double", &bench->failure);
    check_sizes(bench, &sizes, sum.bytes, &bench->failure);
    crowd.sum = &sum;
    crowd.load = (int)options_sizes(&bench->options, "load")->bytes[0];
    place(&crowd);
    size_t most = crowd.victims ? sizes_largest(&sizes) : (size_t)crowd.load;
    sampler_open(&sampler, bench, false);
    if (bench_buffers(bench, &crowd.out, &crowd.in, most, 0, 1))
        measure(&sampler, &crowd, &sizes);
    sampler_close(&sampler);
    buffers_close(&crowd.out, &crowd.in);
    reduction_close(&sum);
    if (crowd.victim != MPI_COMM_NULL)
        MPI_Comm_free(&crowd.victim);
    MPI_Comm_free(&crowd.comm);
    sizes_free(&sizes);
}

const struct experiment interference = {
    .name = "interference",
    .summary = "a victim's ping-pong and allreduce, alone and beside an aggressor",
    .what = "Time of one message of a ping-pong, one way, and of an allreduce, on every second "
            "pair of ranks: alone, and\nwhile the other pairs (the aggressor) exchange messages "
            "of --load without a pause. A pair consists of ranks\nr and r + half of the ranks. "
            "The victim ends the aggressor's messages after each sample. Method: Chunduri et\n"
            "al., GPCNeT (2019).",
    .options = {interference_options, curve_options, sampler_options, stop_options, sync_options},
    .columns = columns,
    .reach = REACH_HOST,
    .run = run,
};
