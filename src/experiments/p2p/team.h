// SPDX-License-Identifier: BSD-3-Clause
// Threads of one rank that work together, again and again, without being created anew.
#pragma once

#include "failure.h"

struct team;

// Cores that the calling thread may use.
int team_cores(void);

// Makes a team of `threads` threads; the calling thread is number 0, the others sleep. If there
// are enough cores, each thread is bound to its own. `work` is the work of a thread, given its
// number. NULL: not enough memory, or a thread could not be created (STATUS_USAGE).
struct team *team_open(int threads, void (*work)(void *state, int thread, long calls), void *state,
                       struct failure *failure);

// team_wake makes the threads poll for work until team_sleep, so that the next run begins at once.
void team_wake(struct team *team);
void team_sleep(struct team *team);

// All threads work; back when all are through. They must be awake.
void team_run(struct team *team, long calls);

// Ends the threads; NULL is allowed.
void team_close(struct team *team);
