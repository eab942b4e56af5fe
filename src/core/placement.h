// SPDX-License-Identifier: BSD-3-Clause
// Finds the places of ranks and of their threads, and the places available to them, by hwloc.
#pragma once

#include "failure.h"
#include "json.h"

#include <mpi.h>

// The name of this rank's host.
enum { HOST_ROOM = 256 };
void placement_host(char host[HOST_ROOM]);

// Number of this rank of `comm` among those of its machine. Simulated ranks are all on one.
// Collective.
int placement_on_machine(MPI_Comm comm);

// Adds this rank's cpus and cores to an open JSON object, and numa, package and policy, which
// other ranks have too, to another one. Collective.
void placement_observe(struct json *own, struct json *place, struct failure *failure);

// Prints the placements that this machine offers to `ranks` ranks, one line each: name, blank,
// operating system's number of the core of each rank, separated by commas.
//   near    neighbours: the first cores of the first package, in order
//   far     as far apart as the machine allows: spread over packages, NUMA domains, cores
//   packed  both hardware threads of one core, then of the next core
//   spare   two cores each, joined by +: one more for the library's own thread
// Cores are of one kind, the fastest one that has room. Only placements that exist are printed.
// Only processing units that this process may use count.
void placement_list(int ranks, FILE *out, struct failure *failure);

// Cores as a list in Linux' syntax, such as "0-3,8", of any length; to be freed. NULL: no memory.
char *cores_text(const int *cores, int count);

// The list of the cores that the calling thread may use, for any number of cores; to be freed.
// NULL: the kernel does not report them, or no memory.
char *thread_own_cores(void);

// Adds a thread of a rank to an open JSON list (`threads` in a description); `cores` may be NULL.
void thread_describe(struct json *json, int rank, int thread, const char *cores);
