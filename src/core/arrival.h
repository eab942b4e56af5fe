// SPDX-License-Identifier: BSD-3-Clause
// When each rank arrives at an operation: how long after the common start it begins.
//
// In programs ranks do not arrive together, and which algorithm is the quickest depends on who is
// late (A. Faraj, P. Patarasuk, X. Yuan, "A Study of Process Arrival Patterns for MPI Collective
// Operations", 2008).
#pragma once

#include "failure.h"
#include "json.h"
#include "options.h"

#include <mpi.h>

struct arrival {
    const char *pattern; // "together", "ramp", "one-late", "random" or "file"; NULL: together
    const char *file;
    double own_s, last_s; // after the common start: this rank, and the one that comes last
    double error_s;       // that the file states of its offsets; NaN: it states none
    double *offsets;      // of each rank, on rank 0; NULL: all 0
    int ranks;
};

// Declares --arrival and --spread; belongs beside the options of a start that can be clocked.
extern const struct option arrival_options[];

// Fills the offsets of `ranks` ranks, s: a pattern of that name with `spread_s` from the first to
// the last one, `random` drawn evenly from `seed`; false: no such pattern.
bool arrival_fill(const char *pattern, double spread_s, long seed, double *offsets, int ranks);

// Reads a file: after any lines that begin with '#', the header `rank,offset_s` and one line for
// each rank from 0 to `ranks` - 1, in any order. A line `# error_s X` states by how much offsets
// may be wrong. Any other content is a failure (STATUS_USAGE) that names the line.
void arrival_read(const char *path, double *offsets, int ranks, double *error_s,
                  struct failure *failure);

// Whether ranks are to arrive apart; false where --arrival is not declared, too.
bool arrival_asked(const struct options *options);

// Reads the options, which must be declared. Collective; failure agreed.
void arrival_open(struct arrival *arrival, MPI_Comm comm, const struct options *options,
                  struct failure *failure);
void arrival_close(struct arrival *arrival);

// The value of `observed.arrival`, on rank 0.
void arrival_describe(const struct arrival *arrival, struct json *json);
