// SPDX-License-Identifier: BSD-3-Clause
// `cotejo machine`: what on this machine can turn a comparison round, with a verdict and a cure.
#ifndef COTEJO_TRAPS_H
#define COTEJO_TRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

// Of the times of `count` stretches, reordered.
void bounce_judge(struct bounce *bounce, double *stretches, size_t count);

#endif
