// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks outside every timed zone: a tree of ranks, and a barrier, an announcement
// and an agreement of our own, the same under every MPI: what starts a measurement must not be
// what is measured.
#pragma once

#include "failure.h"

#include <mpi.h>

// Returns on each rank of `comm` when all have entered. The barrier is the dissemination barrier
// of Hensgen, Finkel and Manber (1988). In round k every rank sends to the rank 2^k above it and
// receives from the rank 2^k below it. Any number of ranks thus needs ceil(log2) rounds of empty
// messages. Collective; uses tag 0x7b of `comm`.
void barrier_enter(MPI_Comm comm);

// Gives rank 0's `count` values to all ranks of `comm`, down a binomial tree. Collective; uses tag
// 0x7d of `comm`.
void announce(MPI_Comm comm, double *values, int count);

// The tree is binomial, with rank 0 at its root: log2 of the ranks are enough rounds, and in each
// of them a rank exchanges messages with at most one other.

// One rank's part in one round. A rank asks once, in its own round. Its peer then serves: it is
// rank 0, or its own round was earlier.
struct tree_turn {
    int peer; // -1: nothing to do in this round
    bool asks;
};

int tree_rounds(int size);
struct tree_turn tree_turn(int rank, int size, int round); // rounds from 0 on

// Makes the failure of the lowest failing rank of `comm` the failure of all its ranks.
// Collective; tag 0x79 of `comm` is taken. A `quiet` rank sleeps between looks instead of polling,
// so that it does not disturb ranks that are measuring meanwhile. Returns the agreed status.
int ranks_agree(MPI_Comm comm, struct failure *failure, bool quiet);
