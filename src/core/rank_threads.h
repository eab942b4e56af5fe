// SPDX-License-Identifier: BSD-3-Clause
// The cores on which the threads of a rank may run: entries of `threads` in a description.
#ifndef COTEJO_CORE_RANK_THREADS_H
#define COTEJO_CORE_RANK_THREADS_H

#include "json.h"

#include <stddef.h>

// The set bits of `words` words as a list in Linux' syntax, such as "0-3,8", of any length; to be
// freed. NULL: no memory.
char *cores_text(const unsigned long *set, size_t words);

// The list of the cores that the calling thread may use, for any number of cores; to be freed.
// NULL: the kernel does not report them, or no memory.
char *thread_own_cores(void);

// Adds a thread of a rank to an open JSON list; `cores` may be NULL.
void thread_describe(struct json *json, int rank, int thread, const char *cores);

#endif
