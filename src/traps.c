// SPDX-License-Identifier: BSD-3-Clause
// `cotejo machine`: what on this machine can turn a comparison round, with a verdict and a cure.
#define _GNU_SOURCE // affinity of threads
#include "traps.h"

#include "core/machine.h"
#include "core/moments.h"
#include "core/node.h"
#include "core/trap.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STRETCHES = 64, STRETCH_TRIPS = 200, SPINS = 1024, PAIRS_MOST = 4, STRETCHES_LEAST = 8 };

// What two threads pass to and fro, each number on a line of its own.
struct table {
    _Alignas(128) atomic_long ball;
    _Alignas(128) atomic_int over;
    int cores[2];
    double until_s;
    double stretches[STRETCHES];
    size_t count;
    bool bound[2];
};

static bool bind_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

// Waits for the ball to be `number`; false: it is over, or the time is up.
static bool waited(struct table *table, long number) {
    for (long spin = 1; atomic_load_explicit(&table->ball, memory_order_acquire) != number; spin++)
        if (spin % SPINS == 0 && (atomic_load(&table->over) || machine_seconds() > table->until_s))
            return false;
    return true;
}

static void *answer(void *state) {
    struct table *table = state;
    table->bound[1] = bind_to(table->cores[1]);
    for (long number = 1; waited(table, number); number += 2)
        atomic_store_explicit(&table->ball, number + 1, memory_order_release);
    return NULL;
}

static void *ask(void *state) {
    struct table *table = state;
    long number = 0;
    table->bound[0] = bind_to(table->cores[0]);
    while (table->count < STRETCHES && machine_seconds() < table->until_s) {
        double begin = machine_seconds();
        for (int i = 0; i < STRETCH_TRIPS; i++, number += 2) {
            atomic_store_explicit(&table->ball, number + 1, memory_order_release);
            if (!waited(table, number + 2))
                goto end;
        }
        table->stretches[table->count++] = (machine_seconds() - begin) / STRETCH_TRIPS;
    }
end:
    atomic_store(&table->over, 1);
    return NULL;
}

void bounce_judge(struct bounce *bounce, double *stretches, size_t count) {
    bounce->known = count >= STRETCHES_LEAST;
    if (!bounce->known)
        return;
    values_sort(stretches, count);
    bounce->round_trip_s = stretches[count / 2];
    bounce->spell = stretches[count * 9 / 10] / stretches[count / 10];
}

struct bounce bounce_between(int one, int other, double limit_s) {
    struct bounce bounce = {.cores = {one, other}};
    struct table *table = aligned_alloc(128, sizeof *table);
    pthread_t threads[2];
    if (!table)
        return bounce;
    memset(table, 0, sizeof *table);
    table->cores[0] = one;
    table->cores[1] = other;
    table->until_s = machine_seconds() + limit_s;
    if (pthread_create(&threads[1], NULL, answer, table) == 0) {
        if (pthread_create(&threads[0], NULL, ask, table) == 0)
            pthread_join(threads[0], NULL);
        else
            atomic_store(&table->over, 1);
        pthread_join(threads[1], NULL);
        if (table->bound[0] && table->bound[1])
            bounce_judge(&bounce, table->stretches, table->count);
    }
    free(table);
    return bounce;
}

static void line(FILE *out, const char *what, const char *found, const char *verdict) {
    fprintf(out, "%-22s %-38s %s\n", what, found, verdict);
}

static void tell(FILE *out, struct trap trap) {
    line(out, trap.name, trap.found, trap.verdict);
}

// Each size at every 8 bytes of a page; sizes that libraries copy in one piece.
static void tell_copies(FILE *out) {
    static const size_t sizes[] = {1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pit pit = pit_find(memcpy, &sizes[i], 1, 8, false);
        if (pit.size)
            tell(out, trap_pit(&pit));
        else
            line(out, "memcpy", "-", "not known: no memory");
    }
}

static void tell_cache_line(FILE *out, int one, int other) {
    const double limit_s = 0.1, spells = 1.5;
    char what[40], found[64];
    struct bounce bounce = bounce_between(one, other, limit_s);
    snprintf(what, sizeof what, "cache line, %d and %d", one, other);
    snprintf(found, sizeof found, "%.0f ns to and fro, spells %.2f times",
             bounce.round_trip_s * 1e9, bounce.spell);
    if (!bounce.known)
        line(out, what, "-", "not known: the cores did not run together; is the machine busy?");
    else
        line(out, what, found,
             bounce.spell < spells
                 ? "sound"
                 : "comes in spells: take many launches in blocks, on a quiet machine");
}

static void tell_cache_lines(FILE *out) {
    cpu_set_t set;
    int cores[PAIRS_MOST + 1], count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int core = 0; core < CPU_SETSIZE && count <= PAIRS_MOST; core++)
        if (CPU_ISSET(core, &set))
            cores[count++] = core;
    for (int i = 1; i < count; i++)
        tell_cache_line(out, cores[0], cores[i]);
    if (count < 2)
        line(out, "cache line", "-", "not known: this process has one core");
}

static void tell_system(FILE *out, const struct machine_counts *before, double since_s) {
    struct machine_counts now = machine_counts_read("");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char setting[16];
    machine_huge_pages("", setting, sizeof setting);
    tell(out, trap_huge_pages(setting));
    tell(out, trap_steal(now.steal_s - before->steal_s, since_s, cores));
    tell(out, trap_throttled(now.throttled_s - before->throttled_s, since_s));
    tell(out, trap_quota(machine_quota(""), cores));
    tell(out, trap_load(node_load()));
}

int machine_command(FILE *out) {
    struct machine_counts before = machine_counts_read("");
    double begin_s = machine_seconds();
    fprintf(out, "%-22s %-38s %s\n", "trap", "found", "verdict");
    tell_copies(out);
    tell_cache_lines(out);
    tell_system(out, &before, machine_seconds() - begin_s);
    return 0;
}
