// SPDX-License-Identifier: BSD-3-Clause
// The member `observed` of a launch description: what a program sees of its own launch.
#pragma once

#include "clock.h"
#include "host.h"
#include "layout.h"
#include "options.h"
#include "order.h"
#include "overhead.h"
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
    const struct options *options; // NULL: not known
    int argument_count;
    char *const *arguments;
    const struct clock *clock;
    double payload_bytes; // negative: not known
    bool payload_checked;
    const struct json *sync;         // value of the member `sync`; NULL or empty: null
    const struct json *arrival;      // value of the member `arrival`; NULL or empty: null
    const struct json *threads;      // value of the member `threads`; NULL or empty: null
    const struct order *order;       // of what was measured; NULL: not known
    const struct overhead *overhead; // of the measuring, by `clock`; NULL: not known
    const char *found;               // a JSON object; NULL: nothing was looked for
    const struct layout *layout;     // of the buffers; NULL: not known; on all ranks or on none
};

// Adds `observed` to an open JSON object, on rank 0; collective over MPI_COMM_WORLD.
void describe_launch(const struct launch *launch, const struct subject *subject, struct json *json,
                     struct failure *failure);
