// SPDX-License-Identifier: BSD-3-Clause
// Memory of the buffers: the host's, a device's, or memory that a device's driver manages. The
// library of a device is loaded at run time, only when it is needed; a build does not need it.
#pragma once

#include "failure.h"

#include <mpi.h>

// The row of --memory, for the table of options that says where buffers are.
#define DEVICE_ROW                                                                                \
    {                                                                                             \
        "memory", OPTION_CHOICE, "host", "", "host|cuda|hip|managed", 0, 0,                       \
            "whose memory buffers are in: the host's, a device's by CUDA or HIP, or memory that " \
            "the driver of a device moves (managed: by whichever of the two libraries is there)"  \
    }

// The kinds of memory outside the host's that an experiment supports. REACH_HOST: none.
// REACH_MANAGED: managed memory, because the timed code reads or writes the buffers itself.
// REACH_ANY: all kinds; only MPI touches the buffers, all other accesses use device_copy().
enum reach { REACH_HOST, REACH_MANAGED, REACH_ANY };

// Places all later buffers in memory of this kind; ranks of one host use its devices in turn.
// Failure (STATUS_USAGE): no library, no device, an MPI that reports that it cannot send from
// there, or an experiment that does not support this kind. Collective over MPI_COMM_WORLD, but
// each rank has its own failure.
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
