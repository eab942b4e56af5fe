// SPDX-License-Identifier: BSD-3-Clause
// Several threads of two ranks at once: each thread of one rank exchanges messages with the thread
// of its number in the other.
#include "cores.h"
#include "pair.h"

#include <pthread.h>
#include <sched.h> // sched_yield
#include <stdatomic.h>

enum { THREADS_MOST = 256, QUEUE_MOST = 4096, TAGS = 2 }; // tags of a thread

static const struct option threads_options[] = {
    PAIR_SIZES_ROW,
    {"threads", OPTION_SIZES, "1,2", "", NULL, 1, THREADS_MOST,
     "threads of each rank that work at once, as a list"},
    {"pattern", OPTION_CHOICE, "both", "", "pingpong|window|both", 0, 0,
     "pingpong: a message and one back; window: --queue messages one way and a message of 0 B "
     "back when all are there, whose inverse is the message rate of a thread"},
    {"queue", OPTION_INTEGER, "64", "", NULL, 1, QUEUE_MOST, "messages of a window"},
    {"places", OPTION_CHOICE, "each", "", "each|one", 0, 0,
     "each message of a window has a buffer of its own, or all of them have one (as in OSU's and "
     "Intel's benchmarks)"},
    {"communicators", OPTION_CHOICE, "one", "", "one|each|hints", 0, 0,
     "one for all threads, which tags distinguish; each thread its own; hints: its own, made with "
     "what libraries take as a wish for an endpoint of its own"},
    CACHE_ROW,
    SAMPLER_START_ROW("loop"),
    {0},
};

static const struct column columns[] = {
    PAIR_COLUMN_ROWS,
    {"threads", "", "threads of each rank that worked at once"},
    {"queue", "", "messages of a thread's window; 0: ping-pong"},
    {"thread_cores", "",
     "cores that the rank with fewest may use; where they are fewer than threads, these take "
     "turns"},
    {0},
};

// State of one thread.
struct lane {
    struct pair pair;
    MPI_Request *requests;
    bool own; // communicator
};

struct lanes {
    int count, queue;  // queue 0: ping-pong
    double factors[3]; // count, queue, cores
    struct team *team;
    struct lane *at;
};

static void pingpong_once(struct pair *pair) {
    if (pair->rank == 0)
        pair_send_whole(pair);
    pair_receive(pair);
    if (pair->rank == 1)
        pair_send_whole(pair);
}

static void window_once(struct lane *lane, int queue) {
    struct pair *pair = &lane->pair;
    for (int i = 0; i < queue; i++)
        if (pair->rank == 0)
            MPI_Isend(buffer_next(&pair->out), pair->count, MPI_BYTE, pair->peer, pair->tag,
                      pair->comm, &lane->requests[i]);
        else
            pair_post(pair, &lane->requests[i]);
    MPI_Waitall(queue, lane->requests, MPI_STATUSES_IGNORE);
    pair_confirm(pair);
}

// Does the calls of one thread.
static void work(const struct lanes *lanes, int thread, long calls) {
    struct lane *lane = &lanes->at[thread];
    for (long i = 0; i < calls; i++)
        if (lanes->queue == 0)
            pingpong_once(&lane->pair);
        else
            window_once(lane, lanes->queue);
}

// Threads of one rank that work together, again and again, without being created anew.
//
// A waiting thread polls, and yields its core now and then: where threads outnumber cores, a
// thread that polls without a break would keep the others from working.

enum { LOOKS = 256 };

struct member {
    struct team *team;
    pthread_t thread;
    int number;
};

struct team {
    int threads, started;
    const struct lanes *lanes;
    long calls;
    _Alignas(64) atomic_long round;  // of work, counted from 0
    _Alignas(64) atomic_int working; // threads that have not ended this round yet
    atomic_bool over;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool awake;
    int *cores, core_count; // of the calling thread before
    struct member members[];
};

// Cores that the calling thread may use.
static int team_cores(void) {
    int count;
    free(cores_own(&count));
    return count > 0 ? count : 1;
}

// Between two looks at what another thread changes.
static void look_again(int *looks) {
    if (++*looks < LOOKS) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
        return;
    }
    *looks = 0;
    sched_yield();
}

static void wait_awake(struct team *team) {
    pthread_mutex_lock(&team->lock);
    while (!team->awake)
        pthread_cond_wait(&team->woken, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

// The lock is taken only when a poll was long: a round that comes soon finds the thread polling.
static void wait_round(struct team *team, long seen) {
    int looks = 0;
    while (atomic_load_explicit(&team->round, memory_order_acquire) == seen) {
        look_again(&looks);
        if (looks == 0)
            wait_awake(team);
    }
}

// Gives the calling thread the core of its number among those of the team.
static void bind_member(const struct team *team, int number) {
    if (team->core_count >= team->threads)
        cores_bind(&team->cores[number], 1);
}

static void *serve(void *state) {
    const struct member *member = state;
    struct team *team = member->team;
    bind_member(team, member->number);
    for (long round = 0;; round++) {
        wait_round(team, round);
        if (atomic_load_explicit(&team->over, memory_order_relaxed))
            return NULL;
        work(team->lanes, member->number, team->calls);
        atomic_fetch_sub_explicit(&team->working, 1, memory_order_release);
    }
}

// Makes a team with a thread for each lane; the calling thread is number 0, the others sleep. If
// there are enough cores, each thread is bound to its own. NULL: not enough memory, or a thread
// could not be created (STATUS_USAGE).
static struct team *team_open(const struct lanes *lanes, struct failure *failure) {
    int threads = lanes->count;
    size_t room = sizeof(struct team) + (size_t)threads * sizeof(struct member);
    struct team *team = aligned_alloc(64, (room + 63) / 64 * 64);
    if (!team) {
        failure_set(failure, STATUS_USAGE, "no memory for %d threads", threads);
        return NULL;
    }
    *team = (struct team){.threads = threads, .started = 1, .lanes = lanes};
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->woken, NULL);
    team->cores = cores_own(&team->core_count);
    for (; team->started < threads; team->started++) {
        struct member *member = &team->members[team->started];
        *member = (struct member){.team = team, .number = team->started};
        if (pthread_create(&member->thread, NULL, serve, member) != 0)
            break;
    }
    if (team->started < threads)
        failure_set(failure, STATUS_USAGE, "the system gives no more than %d of %d threads",
                    team->started, threads);
    bind_member(team, 0);
    return team;
}

// Threads that are awake poll for work, so that the next run begins at once.
static void team_wake(struct team *team, bool awake) {
    pthread_mutex_lock(&team->lock);
    team->awake = awake;
    pthread_cond_broadcast(&team->woken);
    pthread_mutex_unlock(&team->lock);
}

static void begin_round(struct team *team) {
    atomic_store_explicit(&team->working, team->started - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&team->round, 1, memory_order_release);
}

// All threads work; back when all are through. They must be awake.
static void team_run(struct team *team, long calls) {
    int looks = 0;
    team->calls = calls;
    begin_round(team);
    work(team->lanes, 0, calls);
    while (atomic_load_explicit(&team->working, memory_order_acquire) > 0)
        look_again(&looks);
}

// Ends the threads; NULL is allowed.
static void team_close(struct team *team) {
    if (!team)
        return;
    atomic_store(&team->over, true);
    team_wake(team, true);
    begin_round(team);
    for (int i = 1; i < team->started; i++)
        pthread_join(team->members[i].thread, NULL);
    if (team->core_count > 0)
        cores_bind(team->cores, team->core_count);
    free(team->cores);
    pthread_cond_destroy(&team->woken);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

static struct lanes *lanes_of(const struct operation *operation) {
    const struct pair *pair = operation->state;
    return pair->pattern->variant;
}

static void run_calls(void *state, long calls) {
    const struct pair *pair = state;
    const struct lanes *lanes = pair->pattern->variant;
    team_run(lanes->team, calls);
}

static void enter(const struct operation *operation) {
    struct lanes *lanes = lanes_of(operation);
    for (int i = 0; i < lanes->count; i++) {
        struct operation own = *operation;
        own.state = &lanes->at[i].pair;
        pair_enter(&own);
    }
    team_wake(lanes->team, true);
}

static void leave(const struct operation *operation) {
    team_wake(lanes_of(operation)->team, false);
}

// The number of message `i` of a thread, for its payload.
static unsigned message(const struct lanes *lanes, unsigned round, int thread, size_t i) {
    size_t each = lanes->at[thread].pair.in.least;
    return (unsigned)((round * (size_t)lanes->count + (size_t)thread) * each + i);
}

static void fill(const struct lanes *lanes, unsigned round, int thread) {
    struct pair *pair = &lanes->at[thread].pair;
    size_t bytes = (size_t)pair->count;
    for (size_t i = 0; i < pair->out.slots; i++)
        payload_fill(pair->out.pool + i * pair->out.step, bytes, pair->self,
                     message(lanes, round, thread, i));
    for (size_t i = 0; i < pair->in.slots; i++)
        payload_poison(pair->in.pool + i * pair->in.step, bytes, pair->peer,
                       message(lanes, round, thread, i));
}

// All threads at once, each message with a payload of its own.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct lanes *lanes = lanes_of(operation);
    enter(operation);
    for (int t = 0; t < lanes->count; t++)
        fill(lanes, round, t);
    MPI_Barrier(lanes->at[0].pair.comm); // no message of a thread before all buffers are made
    team_run(lanes->team, 1);
    leave(operation);
    for (int t = 0; t < lanes->count; t++) {
        const struct pair *pair = &lanes->at[t].pair;
        size_t arrived = lanes->queue == 0 ? 1 : pair->rank == 1 ? pair->in.least : 0;
        size_t at = 0; // slots are visited in leaps
        for (size_t i = 0; i < arrived; i++, at = (at + pair->in.leap) % pair->in.slots)
            payload_verify(pair->in.pool + at * pair->in.step, operation->message.bytes,
                           pair->peer, message(lanes, round, t, at), pair->self, failure);
    }
}

// Hints for an endpoint of a communicator's own: the number of the thread, then promises.
enum { OF_A_THREAD = 2, HINTS = 4 };
static const char *const hints_names[HINTS] = {"vci", "thread_id", "mpi_assert_no_any_source",
                                               "mpi_assert_no_any_tag"};

// Makes a communicator for one thread, with the hints by which libraries give it its own endpoint:
// MPICH `vci` (and as many as MPIR_CVAR_CH4_NUM_VCIS allows), Intel MPI `thread_id` (with
// I_MPI_THREAD_SPLIT=1), Open MPI and MPICH that no wildcard will be used. MPI drops keys that a
// library does not know.
static MPI_Comm own_comm(MPI_Comm parent, int thread, bool hints) {
    MPI_Comm comm;
    MPI_Info info;
    char number[16];
    if (!hints) {
        MPI_Comm_dup(parent, &comm);
        return comm;
    }
    snprintf(number, sizeof number, "%d", thread);
    MPI_Info_create(&info);
    for (int i = 0; i < HINTS; i++)
        MPI_Info_set(info, hints_names[i], i < OF_A_THREAD ? number : "true");
    MPI_Comm_dup_with_info(parent, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

// Returns how many of the hints the library reports that it keeps.
static int hints_kept(MPI_Comm comm) {
    MPI_Info info;
    int kept = 0;
    MPI_Comm_get_info(comm, &info);
    for (int i = 0; i < HINTS; i++) {
        int length, there;
        MPI_Info_get_valuelen(info, hints_names[i], &length, &there);
        kept += there != 0;
    }
    MPI_Info_free(&info);
    return kept;
}

// Room for `count` threads; the first one has the pair's own buffers.
static void open_lanes(struct bench *bench, struct pair *pair, size_t most) {
    struct lanes *lanes = pair->pattern->variant;
    bool apart = !options_is(&bench->options, "communicators", "one");
    bool hints = options_is(&bench->options, "communicators", "hints");
    size_t cache = bench_cache(bench), slots = pair->pattern->slots;
    memory_ask(bench->comm, 2 * (size_t)(lanes->count - 1) * buffer_room(most, cache, slots),
               &bench->failure);
    if (failed(&bench->failure))
        return;
    for (int i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->at[i];
        *lane = (struct lane){.pair = *pair, .own = apart};
        lane->pair.tag = lane->pair.wanted = PAIR_TAG + TAGS * i;
        lane->requests = malloc((size_t)(lanes->queue + 1) * sizeof *lane->requests);
        if (!lane->requests)
            failure_set(&bench->failure, STATUS_USAGE, "no memory for a queue of %d",
                        lanes->queue);
        if (apart)
            lane->pair.comm = own_comm(pair->comm, i, hints);
        if (i == 0)
            continue;
        bench_buffer(bench, &lane->pair.out, "send", most, cache, slots);
        bench_buffer(bench, &lane->pair.in, "receive", most, cache, slots);
    }
    if (hints)
        bench_found(bench, "endpoint_hints_kept", hints_kept(lanes->at[0].pair.comm));
}

static void choose(struct bench *bench, struct pair *pair, struct sizes *sizes) {
    struct lanes *lanes = pair->pattern->variant;
    int cores = team_cores(), fewest;
    open_lanes(bench, pair, sizes_largest(sizes));
    if (failed(&bench->failure))
        return; // agreed: of memory
    MPI_Allreduce(&cores, &fewest, 1, MPI_INT, MPI_MIN, bench->comm);
    lanes->factors[2] = fewest;
    lanes->team = team_open(lanes, &bench->failure);
    ranks_agree(bench->comm, &bench->failure, false);
}

static void close_lanes(struct pair *pair) {
    struct lanes *lanes = pair->pattern->variant;
    team_close(lanes->team);
    for (int i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->at[i];
        if (lane->own)
            MPI_Comm_free(&lane->pair.comm);
        if (i > 0) {
            buffers_close(&lane->pair.out, &lane->pair.in);
        }
        free(lane->requests);
        *lane = (struct lane){0};
    }
    lanes->team = NULL;
}

static void measure(struct bench *bench, int threads, int queue) {
    struct lanes lanes = {.count = threads, .queue = queue, .factors = {threads, queue}};
    bool each = options_is(&bench->options, "places", "each");
    lanes.at = calloc((size_t)threads, sizeof *lanes.at);
    if (!lanes.at)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for %d threads", threads);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        pair_run(bench, &(struct pattern){
                            .operation = {.name = queue ? "threads-window" : "threads-pingpong",
                                          .around = &(const struct around){.enter = enter,
                                                                           .leave = leave,
                                                                           .check = check},
                                          .run = run_calls},
                            .share = queue ? 1 / (double)queue : 0.5,
                            .moved = threads * (queue ? queue : 2),
                            .slots = queue && each ? (size_t)queue : 1,
                            .choose = choose,
                            .close = close_lanes,
                            .variant = &lanes,
                            .factors = lanes.factors,
                            .factors_count = 3});
    free(lanes.at);
}

static void run(struct bench *bench) {
    const struct options *options = &bench->options;
    const struct sizes *threads = options_sizes(options, "threads");
    int queue = (int)options_integer(options, "queue");
#ifdef COTEJO_SIMULATED
    failure_set(&bench->failure, STATUS_USAGE,
                "a simulated rank has no threads of its own; use a real machine");
#endif
    for (size_t i = 0; i < threads->count && !failed(&bench->failure); i++) {
        if (!options_is(options, "pattern", "window") && !failed(&bench->failure))
            measure(bench, (int)threads->bytes[i], 0);
        if (!options_is(options, "pattern", "pingpong") && !failed(&bench->failure))
            measure(bench, (int)threads->bytes[i], queue);
    }
}

static int level(const struct options *options) {
    (void)options;
    return MPI_THREAD_MULTIPLE;
}

const struct experiment threads = {
    .name = "threads",
    .summary = "several threads of each rank at once",
    .what =
        "Time of one message of a thread, while the others of its rank exchange messages, too, "
        "with\nMPI_THREAD_MULTIPLE: half of a round trip (threads-pingpong), or the time of a "
        "window over its messages\n(threads-window); until the last thread is through. "
        "Threads over time is the message rate of a rank.\nThreads are made before anything "
        "is timed. If the rank has fewer cores than threads (column\n`thread_cores`), threads "
        "share cores; the time then shows this sharing, not the speed of the library.\nMethod: "
        "Thakur and Gropp, \"Test suite for evaluating performance of multithreaded MPI "
        "communication\", 2009.",
    .options = {threads_options, PAIR_OPTION_TABLES},
    .columns = columns,
    .threads = level,
    .reach = REACH_ANY,
    .run = run,
};
