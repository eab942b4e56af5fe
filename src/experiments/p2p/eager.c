// SPDX-License-Identifier: BSD-3-Clause
// Eager limit by its effect: up to which size a send is complete before its receive is posted.
#include "experiment.h"

#include <time.h>

enum { TAG = 1, READY = 2, NEVER_SENT = 3, WRONG_A_TRY = 19, STAY_WINDOWS = 8 };

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
     "undisturbed sends of each size; one that is complete shows that all can be"},
    {0},
};

struct eager {
    struct bench *bench;
    struct sampler sampler;
    bool polling;
    double window_s;
    int tries;
    struct buffer buffer;
    int count; // B of the present message
    unsigned message;
    size_t right; // bytes of the last wrong message before its first wrong one
    bool wrong;
    // State of the last send, on the sender:
    double asked_s; // the receiver begins to stay away no earlier than this
    bool alone;     // it was complete within the window, before the receive was posted
    bool any_alone; // a send of the present size
    int counted;    // sends of the present size
    bool counts;    // a sender that lost its core may have met a receiver that was back
};

static double seconds(const struct eager *eager) {
    return clock_now(&eager->bench->clock);
}

// The receiver is back from the message before, and so is the buffer.
static void prepare(const struct operation *operation, long repetition) {
    struct eager *eager = operation->state;
    (void)repetition;
    (eager->bench->rank == 0 ? payload_fill : payload_poison)(
        eager->buffer.pool, (size_t)eager->count, 0, eager->message);
    barrier_enter(eager->bench->comm);
    eager->asked_s = seconds(eager);
}

// The start: a receiver that waited in a barrier may have lost its core there, a receiver that has
// just answered has not.
static double meet(const struct start_line *line) {
    MPI_Comm comm = line->comm;
    int rank;
    MPI_Comm_rank(comm, &rank);
    int sender = rank == 0;
    if (sender)
        MPI_Send(NULL, 0, MPI_BYTE, 1, READY, comm);
    MPI_Recv(NULL, 0, MPI_BYTE, sender, READY, comm, MPI_STATUS_IGNORE);
    if (!sender)
        MPI_Send(NULL, 0, MPI_BYTE, 0, READY, comm);
    return 0;
}

// The receiver from the start until the receive. It stays away longer than the sender ever takes
// to decide, so that neither has to wait for a message of the other.
static void stay_away(const struct eager *eager) {
    double end = seconds(eager) + STAY_WINDOWS * eager->window_s;
    while (seconds(eager) < end) {
        const struct timespec pause = {.tv_nsec = 50000};
        int found;
        if (eager->polling)
            MPI_Iprobe(0, NEVER_SENT, eager->bench->comm, &found, MPI_STATUS_IGNORE);
        else
            nanosleep(&pause, NULL);
    }
}

static void watch_send(struct eager *eager) {
    MPI_Request request;
    int done = 0;
    double watched = seconds(eager);
    MPI_Isend(eager->buffer.pool, eager->count, MPI_BYTE, 1, TAG, eager->bench->comm, &request);
    do {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    } while (!done && seconds(eager) < watched + eager->window_s);
    eager->alone = done;
    eager->counts = seconds(eager) < eager->asked_s + (STAY_WINDOWS - 1) * eager->window_s;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_calls(void *state, long calls) {
    struct eager *eager = state;
    for (; calls > 0; calls--)
        if (eager->bench->rank == 0) {
            watch_send(eager);
        } else {
            stay_away(eager);
            MPI_Recv(eager->buffer.pool, eager->count, MPI_BYTE, 0, TAG, eager->bench->comm,
                     MPI_STATUS_IGNORE);
        }
}

// Lets the receiver check the message of a stage and note how many bytes are right before a wrong
// byte. Then the number of the message rises on both ranks.
static void leave(const struct operation *operation) {
    struct eager *eager = operation->state;
    size_t count = (size_t)eager->count;
    if (eager->bench->rank == 1) {
        size_t right = payload_check(eager->buffer.pool, count, 0, eager->message);
        if (right < count) {
            eager->right = right;
            eager->wrong = true;
        }
    }
    eager->message++;
}

static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    struct eager *eager = operation->state;
    (void)timing;
    eager->any_alone |= eager->counts && eager->alone;
    eager->counted += eager->counts;
    sample->operation = eager->alone ? "eager-alone" : "eager-held";
    sample->valid = eager->counts;
}

// After the samples of a size. A send that is held does not complete before its receive, so one
// that is complete is proof; a busy machine can delay any other.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    const struct eager *eager = operation->state;
    if (round == 1 && eager->bench->rank == 0 && eager->counted < eager->tries)
        failure_set(failure, STATUS_FAILED,
                    "the sender lost its core too often to watch a send of %d B for %g s; use "
                    "quieter cores or a longer --window",
                    eager->count, eager->window_s);
    if (eager->wrong)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a message of %d B; do not trust this MPI's "
                    "transport",
                    eager->right, eager->count);
}

// Whether messages of `bytes` are complete without their receiver; collective, agreed.
static bool goes_alone(struct eager *eager, size_t bytes) {
    struct bench *bench = eager->bench;
    struct turn turn = {{.name = "eager",
                         .message = {.bytes = bytes, .payload = (double)bytes},
                         .special = {.bystander = bench->rank == 1, .program = true, .own = true},
                         .around = &(const struct around){.prepare = prepare,
                                                          .leave = leave,
                                                          .check = check,
                                                          .describe = describe},
                         .run = run_calls,
                         .state = eager},
                        {0}};
    eager->any_alone = false;
    eager->counted = 0;
    eager->count = (int)bytes;
    sampler_turns(&eager->sampler, &turn, 1, stop_next, &bench->order);
    sampler_check(&eager->sampler, &turn.operation, 1);
    double alone = eager->any_alone;
    announce(bench->comm, &alone, 1);
    bench_print(bench);
    return alone != 0;
}

// The result of a scan: sends of `most` B go alone, sends of `least` B do not; 0: no such size.
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
    long tries = options_integer(&bench->options, "tries");
    struct stop stop = {.min = tries, .max = tries, .wrong = WRONG_A_TRY, .budget_s = INFINITY};
    struct start answered = *start_find("barrier");
    struct eager eager = {.bench = bench,
                          .sampler = sampler_plain(bench, stop),
                          .polling = options_is(&bench->options, "receiver", "polling"),
                          .window_s = options_real(&bench->options, "window"),
                          .tries = (int)tries};
    answered.meet = meet;
    eager.sampler.start = &answered;
    if (!rising(sizes)) {
        failure_set(&bench->failure, STATUS_USAGE, "--sizes must rise; sort them");
        return;
    }
    memory_ask(bench->comm, most, &bench->failure);
    if (!failed(&bench->failure)) {
        bench_buffer(bench, &eager.buffer, "message", most, 0, 1);
        ranks_agree(bench->comm, &bench->failure, false);
    }
    if (!failed(&bench->failure)) {
        struct limit limit = scan(&eager, sizes);
        bisect(&eager, &limit);
        if (!failed(&bench->failure))
            tell(bench, &limit);
    }
    sampler_close(&eager.sampler);
    buffer_close(&eager.buffer);
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
    .columns = sampler_columns,
    .reach = REACH_ANY,
    .run = run,
};
