// SPDX-License-Identifier: BSD-3-Clause
// What of a machine is a trap for comparisons, and what to do about it: judged in one place, for
// `cotejo machine` and for the description of every launch.
#ifndef COTEJO_CORE_TRAP_H
#define COTEJO_CORE_TRAP_H

#include "json.h"
#include "machine.h"

struct trap {
    char name[40], found[64];
    const char *verdict; // "sound", why it is not known, or what to do
    bool caught;         // it is one here
};

// Of copies of one size.
struct trap trap_pit(const struct pit *pit);
struct trap trap_huge_pages(const char *setting);
// What was taken from the cores of a host in the last `in_s` seconds.
struct trap trap_steal(double stolen_s, double in_s, long cores);
struct trap trap_throttled(double throttled_s, double in_s);
struct trap trap_quota(double quota_cores, long cores);
struct trap trap_load(double load);

// Adds `trap`, `found` and `cure` to an open list where it is one.
void trap_describe(const struct trap *trap, struct json *json);

#endif
