// SPDX-License-Identifier: BSD-3-Clause
// A barrier of our own, the same under every MPI.
#ifndef COTEJO_CORE_BARRIER_H
#define COTEJO_CORE_BARRIER_H

#include <mpi.h>

// Returns on each rank of `comm` when all have entered. Dissemination (Hensgen, Finkel and
// Manber 1988): in round k every rank tells the one 2^k above it and hears the one 2^k below,
// so any number of ranks needs ceil(log2) rounds of empty messages. Collective; tag 0x7b of
// `comm` is taken.
void barrier_enter(MPI_Comm comm);

#endif
