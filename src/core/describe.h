// SPDX-License-Identifier: BSD-3-Clause
// The member `observed` of a launch description: what a program sees of its own launch.
#pragma once

#include "bench.h"
#include "surroundings.h"

#include <mpi.h>

// State at the begin of a launch. It is compared with the state at the end.
struct launch {
    struct surroundings surroundings;
    struct interfaces before;
    double tcp_bytes; // of this rank
};

struct launch launch_begin(void);

struct subject {
    const char *program, *version, *experiment;
    int argument_count;
    char *const *arguments;
    const struct clock *clock;
    const struct json *threads;  // value of the member `threads`; NULL or empty: null
    const struct layout *layout; // of the buffers
    const struct bench *bench;   // NULL: another program, whose measuring is not known
};

// Adds `observed` to an open JSON object, on rank 0; collective over MPI_COMM_WORLD.
void describe_launch(const struct launch *launch, const struct subject *subject, struct json *json,
                     struct failure *failure);
