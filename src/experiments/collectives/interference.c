// SPDX-License-Identifier: BSD-3-Clause
// Interference: a victim's messages and collectives, alone and beside an aggressor.
#include "coll.h"

enum { VICTIM_TAG = 1, LOAD_TAG, LAST_TAG, STOP_TAG };

static const struct option interference_options[] = {
    {"sizes", OPTION_SIZES, "8,64Ki", "B", NULL, 0, INT_MAX - (1 << 20),
     "message sizes of the victim: a list (8,4Ki) or ranges (8:1Mi:x8)"},
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
    int self, pairs, pair, peer;
    bool first, victims; // the first rank of a pair; a rank of the victim
    bool beside;         // the aggressor works
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

static void ping(const struct crowd *crowd) {
    MPI_Send(crowd->out.pool, crowd->count, MPI_BYTE, crowd->peer, VICTIM_TAG, crowd->comm);
}

static void pong(const struct crowd *crowd) {
    MPI_Recv(crowd->in.pool, crowd->count, MPI_BYTE, crowd->peer, VICTIM_TAG, crowd->comm,
             MPI_STATUS_IGNORE);
}

static void run_pingpong(void *state, long calls) {
    const struct crowd *crowd = state;
    if (!crowd->victims && crowd->pair >= 0)
        run_aggressor(crowd);
    for (; crowd->victims && calls > 0; calls--) {
        if (crowd->first)
            ping(crowd);
        pong(crowd);
        if (!crowd->first)
            ping(crowd);
    }
    if (crowd->self == 0)
        pass_stop(crowd, 1);
}

static void run_allreduce(void *state, long calls) {
    const struct crowd *crowd = state;
    if (!crowd->victims && crowd->pair >= 0)
        run_aggressor(crowd);
    for (; crowd->victims && calls > 0; calls--)
        MPI_Allreduce(crowd->out.pool, crowd->in.pool, crowd->count, crowd->sum->type,
                      crowd->sum->op, crowd->victim);
    if (crowd->self == 0)
        pass_stop(crowd, 1);
}

static bool reduces(const struct operation *operation) {
    return operation->run == run_allreduce;
}

static void enter(const struct operation *operation) {
    struct crowd *crowd = operation->state;
    size_t bytes = operation->message.bytes;
    buffer_shape(&crowd->out, crowd->victims ? bytes : (size_t)crowd->load);
    buffer_shape(&crowd->in, crowd->victims ? bytes : (size_t)crowd->load);
    crowd->count = (int)(reduces(operation) ? bytes / crowd->sum->bytes : bytes);
}

// Compares what arrived, byte by byte: a message of the peer, or the sum over the victim's ranks.
static void compare(const struct crowd *crowd, size_t bytes, bool sum, unsigned round,
                    struct failure *failure) {
    size_t wrong = payload_check(crowd->in.pool, bytes, crowd->peer, round);
    if (sum) {
        int rank, size;
        MPI_Comm_rank(crowd->victim, &rank);
        MPI_Comm_size(crowd->victim, &size);
        reduction_expect(crowd->sum, crowd->out.pool, 0, (size_t)crowd->count, size, size);
        for (wrong = 0; wrong < bytes && crowd->in.pool[wrong] == crowd->out.pool[wrong];)
            wrong++;
        reduction_fill(crowd->sum, crowd->out.pool, 0, (size_t)crowd->count, rank, size);
    }
    if (wrong < bytes)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of %zu B at rank %d of the %s; do not trust this "
                    "MPI's transport",
                    wrong, bytes, crowd->self, crowd->victims ? "victim" : "aggressor");
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct crowd *crowd = operation->state;
    bool sum = crowd->victims && reduces(operation);
    enter(operation);
    size_t bytes = crowd->victims ? operation->message.bytes : (size_t)crowd->load;
    payload_fill(crowd->out.pool, bytes, crowd->self, round);
    payload_poison(crowd->in.pool, bytes, crowd->peer, round);
    if (sum) {
        int rank, size;
        MPI_Comm_rank(crowd->victim, &rank);
        MPI_Comm_size(crowd->victim, &size);
        reduction_fill(crowd->sum, crowd->out.pool, 0, (size_t)crowd->count, rank, size);
    }
    operation->run(crowd, 1);
    if (crowd->victims || (crowd->pair >= 0 && crowd->beside))
        compare(crowd, bytes, sum, round, failure);
}

// Halves the time of a ping-pong, so that it is the time one way. Adds the number of aggressor
// ranks to the sample: 0 when the victim was alone.
static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct crowd *crowd = operation->state;
    (void)timing;
    if (!reduces(operation))
        sample->time_s *= 0.5;
    sample->extra[SAMPLER_COLUMNS] = crowd->beside ? aggressors(crowd) : 0;
}

// Sets the least bytes that the victim's ranks receive.
static void fit(struct operation *operation) {
    const struct crowd *crowd = operation->state;
    int pairs = (crowd->pairs + 1) / 2;
    operation->message.payload = 2.0 * pairs * (double)operation->message.bytes;
}

// Both of an operation, alone and beside the aggressor, in the order that is drawn.
static void measure(struct sampler *sampler, struct crowd *crowd, const struct sizes *sizes) {
    static const struct {
        const char *victim, *name;
        void (*run)(void *state, long calls);
    } victims[] = {{"pingpong", "victim-pingpong", run_pingpong},
                   {"allreduce", "victim-allreduce", run_allreduce}};
    struct bench *bench = sampler->bench;
    int ways = aggressors(crowd) ? 4 : 2, *order = bench_order(bench, ways);
    for (int i = 0; i < ways && !failed(&bench->failure); i++) {
        int victim = order[i] % 2;
        bool timed = victim ? crowd->victims : crowd->self < crowd->pairs && crowd->victims;
        if (!options_is(&bench->options, "victim", "all") &&
            !options_is(&bench->options, "victim", victims[victim].victim))
            continue;
        crowd->beside = order[i] >= 2;
        struct curve curve = {
            {.name = victims[victim].name,
             .special = {.bystander = !timed},
             .around =
                 &(const struct around){.enter = enter, .check = check, .describe = describe},
             .run = victims[victim].run,
             .state = crowd},
            fit};
        curve_run(sampler, &curve, sizes);
    }
    free(order);
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
    buffer_close(&crowd.out);
    buffer_close(&crowd.in);
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
