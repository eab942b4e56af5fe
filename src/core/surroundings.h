// SPDX-License-Identifier: BSD-3-Clause
// Writes the surroundings of a launch as members of its description: hosts, disturbances of the
// ranks, properties of the machine that can distort a comparison, and variables of the libraries.
#pragma once

#include "failure.h"
#include "host.h"
#include "json.h"

#include <mpi.h>

// State of this rank and its host at the begin of a launch.
struct surroundings {
    double at_s; // monotonic_s()
    double load;
    struct machine_counts counts;
    struct disturbance disturbance;
};

struct surroundings surroundings_begin(void);

// Adds `nodes`, `disturbed`, `machine`, `environment` and `control_variables` to an open object on
// rank 0. Collective; failure agreed.
void surroundings_describe(const struct surroundings *begin, MPI_Comm comm, struct json *json,
                           struct failure *failure);

// Whether a variable of the environment could steer an MPI library, what it stands on, or threads;
// numbers that a launcher gives its ranks could not.
bool surroundings_steers(const char *name);

// Whether an environment variable is among `names`, which are joined by commas; a study gives its
// own names in COTEJO_TELL. NULL: none.
bool surroundings_named(const char *setting, const char *names);
