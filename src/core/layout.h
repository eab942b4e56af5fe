// SPDX-License-Identifier: BSD-3-Clause
// Where in their pages the buffers of an operation begin: by that alone its time may change.
#ifndef COTEJO_CORE_LAYOUT_H
#define COTEJO_CORE_LAYOUT_H

#include "json.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { LAYOUT_BUFFERS_MOST = 32, LAYOUT_NAME_ROOM = 40 };

// Of one rank.
struct layout {
    const char *name; // "page", "malloc" or the bytes of shift; NULL: it is the program's own
    int count;
    struct {
        char buffer[LAYOUT_NAME_ROOM];
        size_t offset; // B, of its address modulo the page
    } at[LAYOUT_BUFFERS_MOST];
};

// A buffer of that name is at that address. The last word on a name holds; more names than there
// is room for are left out.
void layout_note(struct layout *layout, const char *buffer, const void *address);

// The value of `observed.layout`, on rank 0: buffers with the ranks that have them there. False,
// on all ranks: no memory. Collective.
bool layout_describe(const struct layout *layout, MPI_Comm comm, struct json *json);

#endif
