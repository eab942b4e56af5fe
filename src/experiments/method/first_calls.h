// SPDX-License-Identifier: BSD-3-Clause
// First calls of collective operations, in which a library sets things up.
#ifndef COTEJO_EXPERIMENTS_FIRST_CALLS_H
#define COTEJO_EXPERIMENTS_FIRST_CALLS_H

#include "sampler.h"

// Declares --communicators.
extern const struct option first_calls_options[];

// Samples NAME-first and NAME-second of seven operations with `bytes` B a message, on a new
// communicator for each repetition; repetition 0 is the first call of its size in the launch. A
// time is the longest of the ranks' own, after a barrier. Collective; failure agreed.
void first_calls_measure(struct bench *bench, size_t bytes);

#endif
