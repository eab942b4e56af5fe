// SPDX-License-Identifier: BSD-3-Clause
// What of a machine is a trap for comparisons, and what to do about it.
#include "trap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STRINGS_LEAST = 4096 }; // less the C library never copies by the string instruction

// Of the time of all cores: a tick in a second is no trap.
static const double TAKEN_SHARE = 0.01;

static struct trap trap_of(const char *name, bool known, bool caught, const char *cure) {
    struct trap trap = {.verdict = !known   ? "not known"
                                   : caught ? cure
                                            : "sound",
                        .caught = known && caught};
    snprintf(trap.name, sizeof trap.name, "%s", name);
    snprintf(trap.found, sizeof trap.found, "-");
    return trap;
}

struct trap trap_pit(const struct pit *pit) {
    struct trap trap = trap_of(
        "", pit->size > 0, pit->ratio >= PIT_RATIO,
        pit->size < STRINGS_LEAST ? "a pit: compare at equal layouts only"
                                  : "a pit: compare at equal layouts only; try "
                                    "GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1073741824");
    snprintf(trap.name, sizeof trap.name, "memcpy of %zu KiB", pit->size >> 10);
    if (pit->size)
        snprintf(trap.found, sizeof trap.found, "worst %.2f times, %zu B further", pit->ratio,
                 pit->offset);
    return trap;
}

struct trap trap_huge_pages(const char *setting) {
    struct trap trap = trap_of("transparent huge pages", true, strcmp(setting, "always") == 0,
                               "large buffers get them by luck: set `madvise` in "
                               "/sys/kernel/mm/transparent_hugepage/enabled");
    snprintf(trap.found, sizeof trap.found, "%s", setting);
    return trap;
}

static void tell_taken(struct trap *trap, double taken_s, double in_s) {
    if (!isnan(taken_s))
        snprintf(trap->found, sizeof trap->found, "%.2f s in %.2f s", taken_s, in_s);
}

struct trap trap_steal(double stolen_s, double in_s, long cores) {
    struct trap trap =
        trap_of("steal", !isnan(stolen_s), stolen_s > TAKEN_SHARE * in_s * (double)cores,
                "the hypervisor gives cores to others: take many launches in "
                "blocks, or cores of your own");
    tell_taken(&trap, stolen_s, in_s);
    return trap;
}

struct trap trap_throttled(double throttled_s, double in_s) {
    struct trap trap = trap_of("throttled", !isnan(throttled_s), throttled_s > TAKEN_SHARE * in_s,
                               "the quota stops the ranks: ask for more cores, or fewer ranks");
    tell_taken(&trap, throttled_s, in_s);
    return trap;
}

struct trap trap_quota(double quota_cores, long cores) {
    struct trap trap = trap_of("quota", true, quota_cores < (double)cores,
                               "less than the cores that are seen: ranks that wait actively use "
                               "it up; ask for whole cores");
    if (isinf(quota_cores))
        snprintf(trap.found, sizeof trap.found, "none");
    else
        snprintf(trap.found, sizeof trap.found, "%.2f cores", quota_cores);
    return trap;
}

struct trap trap_load(double load) {
    struct trap trap = trap_of("load of the last minute", load >= 0, load >= 1,
                               "others are running: wait for them, or measure elsewhere");
    snprintf(trap.found, sizeof trap.found, "%.2f", load);
    return trap;
}

void trap_describe(const struct trap *trap, struct json *json) {
    if (!trap->caught)
        return;
    json_open(json, '{');
    json_name(json, "trap");
    json_string(json, trap->name);
    json_name(json, "found");
    json_string(json, trap->found);
    json_name(json, "cure");
    json_string(json, trap->verdict);
    json_close(json, '}');
}
