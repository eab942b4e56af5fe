// SPDX-License-Identifier: BSD-3-Clause
// A barrier and an announcement of our own, the same under every MPI: what starts a measurement
// must not be what is measured.
#ifndef COTEJO_CORE_BARRIER_H
#define COTEJO_CORE_BARRIER_H

#include <mpi.h>

// Returns on each rank of `comm` when all have entered. Dissemination (Hensgen, Finkel and
// Manber 1988): in round k every rank tells the one 2^k above it and hears the one 2^k below,
// so any number of ranks needs ceil(log2) rounds of empty messages. Collective; tag 0x7b of
// `comm` is taken.
void barrier_enter(MPI_Comm comm);

// Rank 0's `count` values become those of all ranks of `comm`, down a binomial tree. Collective;
// tag 0x7d of `comm` is taken.
void announce(MPI_Comm comm, double *values, int count);

#endif
