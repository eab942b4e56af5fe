// SPDX-License-Identifier: BSD-3-Clause
// Threads of one rank that work together, again and again, without being created anew.
//
// A waiting thread polls, and yields its core now and then: where threads outnumber cores, a
// thread that polls without a break would keep the others from working.
#include "team.h"

#include "cores.h"

#include <pthread.h>
#include <sched.h> // sched_yield
#include <stdatomic.h>

enum { LOOKS = 256 };

struct member {
    struct team *team;
    pthread_t thread;
    int number;
};

struct team {
    int threads, started;
    void (*work)(void *state, int thread, long calls);
    void *state;
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

int team_cores(void) {
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
        team->work(team->state, member->number, team->calls);
        atomic_fetch_sub_explicit(&team->working, 1, memory_order_release);
    }
}

struct team *team_open(int threads, void (*work)(void *state, int thread, long calls), void *state,
                       struct failure *failure) {
    size_t room = sizeof(struct team) + (size_t)threads * sizeof(struct member);
    struct team *team = aligned_alloc(64, (room + 63) / 64 * 64);
    if (!team) {
        failure_set(failure, STATUS_USAGE, "no memory for %d threads", threads);
        return NULL;
    }
    *team = (struct team){.threads = threads, .started = 1, .work = work, .state = state};
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

static void set_awake(struct team *team, bool awake) {
    pthread_mutex_lock(&team->lock);
    team->awake = awake;
    pthread_cond_broadcast(&team->woken);
    pthread_mutex_unlock(&team->lock);
}

void team_wake(struct team *team) {
    set_awake(team, true);
}

void team_sleep(struct team *team) {
    set_awake(team, false);
}

static void begin_round(struct team *team) {
    atomic_store_explicit(&team->working, team->started - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&team->round, 1, memory_order_release);
}

void team_run(struct team *team, long calls) {
    int looks = 0;
    team->calls = calls;
    begin_round(team);
    team->work(team->state, 0, calls);
    while (atomic_load_explicit(&team->working, memory_order_acquire) > 0)
        look_again(&looks);
}

void team_close(struct team *team) {
    if (!team)
        return;
    atomic_store(&team->over, true);
    team_wake(team);
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
