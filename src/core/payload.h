// SPDX-License-Identifier: BSD-3-Clause
// Message buffers: touched by the rank that uses them, filled and checked byte by byte.
#ifndef COTEJO_CORE_PAYLOAD_H
#define COTEJO_CORE_PAYLOAD_H

#include "failure.h"
#include "layout.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

// Slots of one message each, in a pool. A warm buffer has few. A cold one has as many as
// the last cache holds, visited in an order that no prefetcher follows, so that a slot has left
// the caches when its turn comes again.
struct buffer {
    char *memory; // owned
    bool by_mpi;  // it is the MPI's
    size_t room;  // of it, B
    char *pool;   // the slots, where the layout puts them
    size_t bytes, step, slots, leap, at;
    bool cold;
    size_t cache_bytes, least;
};

// Allocates and touches a buffer of messages of up to `bytes` B where `layout` has it, and notes
// there where that is. Failure: STATUS_USAGE. `least` is the number of slots that are in use at a
// time.
void buffer_open(struct buffer *buffer, struct layout *layout, const char *name, size_t bytes,
                 bool cold, size_t cache_bytes, size_t least, struct failure *failure);
void buffer_close(struct buffer *buffer);

// Cuts the pool into slots for messages of `bytes` B, at most what it was opened for.
void buffer_shape(struct buffer *buffer, size_t bytes);

// Gives the buffer's whole pages back to the system: until something is written they are all one,
// of zeros.
void buffer_forget(const struct buffer *buffer);

// The slot to use now; buffer_next moves on.
char *buffer_slot(const struct buffer *buffer);
char *buffer_next(struct buffer *buffer);

// What a pool takes of memory, B; a larger message never takes less.
size_t buffer_room(size_t bytes, bool cold, size_t cache_bytes, size_t least);

// Refuses (STATUS_USAGE) when what the ranks of a host want together, `bytes` of this one, is more
// than its memory has available. Collective over `comm`, agreed.
void memory_ask(MPI_Comm comm, size_t bytes, struct failure *failure);

// The same question for `count` sets of buffers, of which one exists at a time: sets fits[i] to 0,
// on all ranks, if set i takes more than `limit` B (0: no limit) on a rank, or more than a host
// has available. `bytes` becomes what all ranks of this host need. Collective.
void memory_fit(MPI_Comm comm, double *bytes, int count, double limit, int *fits);

// Fills a buffer with bytes that depend on sender, message number and position, for any of them.
// The receiver first puts the complement in place (poison), so that a missing byte is found.
void payload_fill(char *bytes, size_t count, int sender, unsigned message);
void payload_poison(char *bytes, size_t count, int sender, unsigned message);

// Position of the first wrong byte, or `count` when all are right.
size_t payload_check(const char *bytes, size_t count, int sender, unsigned message);

#endif
