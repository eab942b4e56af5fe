// SPDX-License-Identifier: BSD-3-Clause
// Places the buffers of an operation at given offsets within their pages. A shift by sixteen bytes
// alone may change its time several times over.
#pragma once

#include "failure.h"
#include "json.h"
#include "options.h"

#include <mpi.h>

enum { LAYOUT_BUFFERS_MOST = 32, LAYOUT_NAME_ROOM = 40, LAYOUT_SHIFTS_MOST = 8 };

// The layout of one rank's buffers.
struct layout {
    const char *name;   // "page", "malloc", "mpi" or the bytes of shift; NULL: the program's own
    const char *memory; // "host", "cuda", "hip", "managed"; NULL: not known
    bool by_malloc;     // buffers lie where consecutive calls of malloc put them,
    bool by_mpi;        // or of MPI_Alloc_mem
    size_t shifts[LAYOUT_SHIFTS_MOST]; // B, of the first buffer, the second, ...
    int shifts_count;
    int count;
    struct {
        char buffer[LAYOUT_NAME_ROOM];
        size_t offset; // B, of its address modulo the page
    } at[LAYOUT_BUFFERS_MOST];
};

// Declares --layout and --memory.
extern const struct option layout_options[];

// Reads both; what it cannot mean is a failure (STATUS_USAGE).
void layout_read(struct layout *layout, const struct options *options, struct failure *failure);

// Returns by how many bytes of its page the buffer of that name is shifted. Buffers are counted in
// the order in which they are first named; the option's last shift holds for all later ones.
size_t layout_shift(const struct layout *layout, const char *buffer);

// Whether every shift is a multiple of `unit` bytes.
bool layout_aligned(const struct layout *layout, size_t unit);

// Notes that a buffer of that name is at that address. A later call replaces an earlier one for
// the same name; names beyond the available room are left out.
void layout_note(struct layout *layout, const char *buffer, const void *address);

// The value of `observed.layout`, on rank 0: buffers with the ranks that have them there. False,
// on all ranks: no memory. Collective.
bool layout_describe(const struct layout *layout, MPI_Comm comm, struct json *json);
