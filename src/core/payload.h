// SPDX-License-Identifier: BSD-3-Clause
// Message buffers: touched by the rank that uses them, filled and checked byte by byte.
#pragma once

#include "failure.h"
#include "layout.h"

#include <mpi.h>

// A pool of slots of one message each. A warm buffer has few slots. A cold buffer has as many as
// the last-level cache holds. They are visited in an order that no prefetcher follows, so that a
// slot has left the caches when its turn comes again.
struct buffer {
    char *memory; // the MPI library allocated it
    bool by_mpi;  // it is the MPI's
    size_t room;  // of it, B
    char *pool;   // the slots, where the layout puts them
    size_t bytes, step, slots, leap, at;
    size_t cache, least;
};

// Allocates and touches a buffer of messages of up to `bytes` B where `layout` has it, and notes
// there where that is. Failure: STATUS_USAGE. `least` is the number of slots that are in use at a
// time. `cache`: B of the caches that a message shall have left when it is used again; 0: it is
// warm.
void buffer_open(struct buffer *buffer, struct layout *layout, const char *name, size_t bytes,
                 size_t cache, size_t least, struct failure *failure);
void buffer_close(struct buffer *buffer);

// Cuts the pool into slots for messages of `bytes` B, at most what it was opened for.
void buffer_shape(struct buffer *buffer, size_t bytes);

// Gives the buffer's complete pages back to the system. Until they are written again, all of them
// map to one page of zeros.
void buffer_forget(const struct buffer *buffer);

// The slot to use now; buffer_next moves on.
char *buffer_slot(const struct buffer *buffer);
char *buffer_next(struct buffer *buffer);

// Returns the memory that a pool needs, B; a larger message never needs less.
size_t buffer_room(size_t bytes, size_t cache, size_t least);

// Refuses (STATUS_USAGE) when the ranks of a host together need more memory than the host has
// available; this rank needs `bytes`. Collective over `comm`, agreed.
void memory_ask(MPI_Comm comm, size_t bytes, struct failure *failure);

// Checks the same for `count` sets of buffers, of which one exists at a time. Sets fits[i] to 0,
// on all ranks, if set i takes more than `limit` B (0: no limit) on a rank, or more than a host
// has available. `bytes` becomes the need of all ranks of this host. Collective.
void memory_fit(MPI_Comm comm, double *bytes, int count, double limit, int *fits);

// Fills a buffer with bytes that depend on sender, message number and position, for any of them.
// The receiver first puts the complement in place (poison), so that a missing byte is found.
void payload_fill(char *bytes, size_t count, int sender, unsigned message);
void payload_poison(char *bytes, size_t count, int sender, unsigned message);

// Position of the first wrong byte, or `count` when all are right.
size_t payload_check(const char *bytes, size_t count, int sender, unsigned message);
// The same as a failure (STATUS_FAILED) of the rank that received it.
void payload_verify(const char *bytes, size_t count, int sender, unsigned message, int receiver,
                    struct failure *failure);
