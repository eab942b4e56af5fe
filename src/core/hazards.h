// SPDX-License-Identifier: BSD-3-Clause
// Properties of a host that may distort comparisons, each with a verdict and a cure: judged in one
// place, for `cotejo machine` and for the description of every launch.
#pragma once

#include "host.h"
#include "json.h"

struct hazard {
    char name[40], found[64];
    const char *verdict; // "sound", why it is not known, or what to do
    bool caught;         // it is one here
};

// Judges the copies of one size.
struct hazard hazard_pit(const struct pit *pit);
struct hazard hazard_huge_pages(const char *setting);
// Judge the time that was taken from the cores of a host in the last `in_s` seconds.
struct hazard hazard_steal(double stolen_s, double in_s, long cores);
struct hazard hazard_throttled(double throttled_s, double in_s);
struct hazard hazard_quota(double quota_cores, long cores);
struct hazard hazard_load(double load);

// Adds `trap`, `found` and `cure` to an open list if this is a hazard here.
void hazard_describe(const struct hazard *hazard, struct json *json);

// Prints what was found, a line each, within about a second. The exit status.
int machine_command(FILE *out);

// Round trips of a line of the cache between two cores, taken in stretches. `spell` is how many
// times as long the slow stretches took as the fast ones (their 90th and 10th percentiles).
struct bounce {
    int cores[2];
    double round_trip_s; // of the median stretch
    double spell;
    bool known; // false: the threads could not be bound, or did not run at the same time
};

// Takes at most about `limit_s`.
struct bounce bounce_between(int one, int other, double limit_s);

// Judges the times of `count` stretches; reorders them.
void bounce_judge(struct bounce *bounce, double *stretches, size_t count);
