// SPDX-License-Identifier: BSD-3-Clause
// Properties of a host that may distort comparisons, each with a verdict and a cure.
#include "hazards.h"

#include "cores.h"
#include "host.h"
#include "moments.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

enum { STRINGS_LEAST = 4096 }; // less the C library never copies by the string instruction

// As a share of the time of all cores: one tick in a second is no hazard.
static const double TAKEN_SHARE = 0.01;

// A property that is not known has `found` "-"; else that is the formatted text.
__attribute__((format(printf, 5, 6))) static struct hazard
hazard_of(const char *name, bool known, bool caught, const char *cure, const char *found, ...) {
    struct hazard hazard = {.found = "-",
                            .verdict = !known   ? "not known"
                                       : caught ? cure
                                                : "sound",
                            .caught = known && caught};
    va_list values;
    snprintf(hazard.name, sizeof hazard.name, "%s", name);
    va_start(values, found);
    if (known)
        vsnprintf(hazard.found, sizeof hazard.found, found, values);
    va_end(values);
    return hazard;
}

struct hazard hazard_pit(const struct pit *pit) {
    char name[40];
    snprintf(name, sizeof name, "memcpy of %zu KiB", pit->size >> 10);
    return hazard_of(name, pit->size > 0, pit->ratio >= PIT_RATIO,
                     pit->size < STRINGS_LEAST
                         ? "slow relative address: compare at equal layouts only"
                         : "slow relative address: compare at equal layouts only; try "
                           "GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1073741824",
                     "%.2f times as long at offset %zu B", pit->ratio, pit->offset);
}

struct hazard hazard_huge_pages(const char *setting) {
    return hazard_of("transparent huge pages", true, strcmp(setting, "always") == 0,
                     "large buffers get them by luck: set `madvise` in "
                     "/sys/kernel/mm/transparent_hugepage/enabled",
                     "%s", setting);
}

struct hazard hazard_steal(double stolen_s, double in_s, long cores) {
    return hazard_of("steal", !isnan(stolen_s), stolen_s > TAKEN_SHARE * in_s * (double)cores,
                     "other virtual machines use the cores: take many launches in blocks, or "
                     "cores of your own",
                     "%.2f s in %.2f s", stolen_s, in_s);
}

struct hazard hazard_throttled(double throttled_s, double in_s) {
    return hazard_of("throttled", !isnan(throttled_s), throttled_s > TAKEN_SHARE * in_s,
                     "the quota stops the ranks: ask for more cores, or fewer ranks",
                     "%.2f s in %.2f s", throttled_s, in_s);
}

struct hazard hazard_quota(double quota_cores, long cores) {
    if (isinf(quota_cores))
        return hazard_of("quota", true, false, NULL, "none");
    return hazard_of("quota", true, quota_cores < (double)cores,
                     "less than the cores that are seen: ranks that wait actively use it up; "
                     "request complete cores",
                     "%.2f cores", quota_cores);
}

struct hazard hazard_load(double load) {
    return hazard_of("load of the last minute", load >= 0, load >= 1,
                     "others are running: wait for them, or measure elsewhere", "%.2f", load);
}

void hazard_describe(const struct hazard *hazard, struct json *json) {
    if (!hazard->caught)
        return;
    json_open(json, '{');
    json_member(json, "trap", string, hazard->name);
    json_member(json, "found", string, hazard->found);
    json_member(json, "cure", string, hazard->verdict);
    json_close(json, '}');
}

#ifndef COTEJO_SIMULATED // simulated ranks have no threads and cores of their own
enum { STRETCHES = 64, STRETCH_TRIPS = 200, SPINS = 1024, PAIRS_MOST = 4, STRETCHES_LEAST = 8 };

// State that two threads share. Each number that they exchange has its own cache line.
struct table {
    _Alignas(128) atomic_long ball;
    _Alignas(128) atomic_int over;
    int cores[2];
    double until_s;
    double stretches[STRETCHES];
    size_t count;
    bool bound[2];
};

// Waits for the ball to be `number`; false: it is over, or the time is up.
static bool waited(struct table *table, long number) {
    for (long spin = 1; atomic_load_explicit(&table->ball, memory_order_acquire) != number; spin++)
        if (spin % SPINS == 0 && (atomic_load(&table->over) || monotonic_s() > table->until_s))
            return false;
    return true;
}

static void *answer(void *state) {
    struct table *table = state;
    table->bound[1] = cores_bind(&table->cores[1], 1);
    for (long number = 1; waited(table, number); number += 2)
        atomic_store_explicit(&table->ball, number + 1, memory_order_release);
    return NULL;
}

static void *ask(void *state) {
    struct table *table = state;
    long number = 0;
    table->bound[0] = cores_bind(&table->cores[0], 1);
    while (table->count < STRETCHES && monotonic_s() < table->until_s) {
        double begin = monotonic_s();
        for (int i = 0; i < STRETCH_TRIPS; i++, number += 2) {
            atomic_store_explicit(&table->ball, number + 1, memory_order_release);
            if (!waited(table, number + 2))
                goto end;
        }
        table->stretches[table->count++] = (monotonic_s() - begin) / STRETCH_TRIPS;
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
    table->until_s = monotonic_s() + limit_s;
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

static void tell(FILE *out, struct hazard hazard) {
    line(out, hazard.name, hazard.found, hazard.verdict);
}

// Each size at every 8 bytes of a page; sizes that libraries copy in one piece.
static void tell_copies(FILE *out) {
    static const size_t sizes[] = {1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pit pit = pit_find(memcpy, &sizes[i], 1, 8, false);
        if (pit.size)
            tell(out, hazard_pit(&pit));
        else
            line(out, "memcpy", "-", "not known: no memory");
    }
}

static void tell_cache_line(FILE *out, int one, int other) {
    const double limit_s = 0.1, spells = 1.5;
    char what[40], found[64];
    struct bounce bounce = bounce_between(one, other, limit_s);
    snprintf(what, sizeof what, "cache line, %d and %d", one, other);
    snprintf(found, sizeof found, "%.0f ns to and fro, varies %.2f times",
             bounce.round_trip_s * 1e9, bounce.spell);
    if (!bounce.known)
        line(out, what, "-", "not known: the cores did not run together; is the machine busy?");
    else
        line(out, what, found,
             bounce.spell < spells
                 ? "sound"
                 : "varies over seconds: take many launches in blocks, on a quiet machine");
}

static void tell_cache_lines(FILE *out) {
    int count, *cores = cores_own(&count);
    for (int i = 1; i < count && i <= PAIRS_MOST; i++)
        tell_cache_line(out, cores[0], cores[i]);
    free(cores);
    if (count == 1)
        line(out, "cache line", "-", "not known: this process has one core");
}

static void tell_system(FILE *out, const struct machine_counts *before, double since_s) {
    struct machine_counts now = machine_counts_read("");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char setting[16];
    machine_huge_pages("", setting, sizeof setting);
    tell(out, hazard_huge_pages(setting));
    tell(out, hazard_steal(now.steal_s - before->steal_s, since_s, cores));
    tell(out, hazard_throttled(now.throttled_s - before->throttled_s, since_s));
    tell(out, hazard_quota(machine_quota(""), cores));
    tell(out, hazard_load(node_load()));
}

int machine_command(FILE *out) {
    struct machine_counts before = machine_counts_read("");
    double begin_s = monotonic_s();
    fprintf(out, "%-22s %-38s %s\n", "trap", "found", "verdict");
    tell_copies(out);
    tell_cache_lines(out);
    tell_system(out, &before, monotonic_s() - begin_s);
    return 0;
}
#endif
