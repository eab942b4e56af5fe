// SPDX-License-Identifier: BSD-3-Clause
// Threads of one rank that do something together, again and again, without being made anew.
#ifndef COTEJO_EXPERIMENTS_TEAM_H
#define COTEJO_EXPERIMENTS_TEAM_H

#include "failure.h"

#include <stddef.h>

struct team;

// Cores that the calling thread may use.
int team_cores(void);

// Makes a team of `threads`, the calling one being number 0; the others sleep. Where each can have
// a core of its own it is bound to it. `work` is what a thread does, with its number. NULL: no
// memory or no thread was to be had (STATUS_USAGE).
struct team *team_open(int threads, void (*work)(void *state, int thread, long calls), void *state,
                       struct failure *failure);

// From here on the threads poll for work, so that the next run begins at once; until they sleep.
void team_wake(struct team *team);
void team_sleep(struct team *team);

// All threads work; back when all are through. They must be awake.
void team_run(struct team *team, long calls);

// Ends the threads; NULL is allowed.
void team_close(struct team *team);

#endif
