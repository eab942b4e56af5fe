// SPDX-License-Identifier: BSD-3-Clause
// Where the threads of a rank may run: entries of the member `threads` of a description.
#ifndef COTEJO_CORE_RANK_THREADS_H
#define COTEJO_CORE_RANK_THREADS_H

#include "json.h"

enum { THREAD_CORES = 256 }; // room for the cores of a thread, in words

// The cores that the calling thread may use, in Linux' syntax of lists; "" where nothing tells.
void thread_own_cores(char cores[THREAD_CORES]);

// Adds a thread of a rank to an open JSON list.
void thread_describe(struct json *json, int rank, int thread, const char *cores);

#endif
