// SPDX-License-Identifier: BSD-3-Clause
// Whose memory buffers are in: the host's, a device's, or managed by a device's driver. A device's
// library is loaded when it is asked for, so that nothing of it is needed to build.
#ifndef COTEJO_CORE_DEVICE_H
#define COTEJO_CORE_DEVICE_H

#include "failure.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

// The row of --memory, for the table of options that says where buffers are.
#define DEVICE_ROW                                                                                \
    {                                                                                             \
        "memory", OPTION_CHOICE, "host", "", "host|cuda|hip|managed", 0, 0,                       \
            "whose memory buffers are in: the host's, a device's by CUDA or HIP, or memory that " \
            "the driver of a device moves (managed: by whichever of the two libraries is there)"  \
    }

// What an experiment can do with buffers outside of the host's memory. None: they are its own.
// Managed ones: what is timed reads or writes them itself. Any: only MPI does, all else goes by
// device_copy().
enum reach { REACH_HOST, REACH_MANAGED, REACH_ANY };

// From here on buffers are in memory of that kind; ranks of one host take its devices in turn.
// Failure (STATUS_USAGE): no library, no device, an MPI that says that it cannot send from there,
// or an experiment that does not reach so far. Collective over MPI_COMM_WORLD, but the failure is
// each rank's own.
void device_open(const char *kind, enum reach reach, const char *experiment,
                 struct failure *failure);

// The device whose memory this rank's buffers are in; -1: the host's.
int device_number(void);

// Whether the processor reaches a buffer's bytes by device_copy() only.
bool device_far(void);

// Memory for a buffer, which begins at a page, or, `by_malloc`, where the allocator has it; NULL:
// there is none. To be freed by device_free.
void *device_allocate(size_t bytes, bool by_malloc);
void device_free(void *memory);

// Copies between any two places, and ends when it is done; what fails ends the launch.
void device_copy(void *to, const void *from, size_t bytes);

#endif
