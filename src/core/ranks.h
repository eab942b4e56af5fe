// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks outside every timed zone: failures, and quiet waiting.
#pragma once

#include "failure.h"

#include <mpi.h>

// Makes the failure of the lowest failing rank of `comm` the failure of all its ranks.
// Collective; tag 0x79 of `comm` is taken. A `quiet` rank sleeps between looks instead of polling,
// so that it does not disturb ranks that are measuring meanwhile. Returns the agreed status.
int ranks_agree(MPI_Comm comm, struct failure *failure, bool quiet);
