// SPDX-License-Identifier: BSD-3-Clause
// What the MPI library reports as wrong ends the launch, with one line that says during what.
#ifndef COTEJO_CORE_ERRORS_H
#define COTEJO_CORE_ERRORS_H

#include <stddef.h>

// From here on errors of MPI_COMM_WORLD, and of all communicators that are made of it, come to
// us. Both names must stay. To be called once, after MPI_Init.
void errors_open(const char *program, const char *experiment);

// What this rank does now: a name that stays, and the size of its messages; NULL: nothing.
void errors_during(const char *operation, size_t bytes);

#endif
