// SPDX-License-Identifier: BSD-3-Clause
// Finds the message size from which on two blocking sends that meet never end.
#pragma once

#include "pair.h"

struct deadlock {
    double least; // size in B from which on it deadlocks; infinite: at none of the sizes
    double safe;  // the largest size that was seen to complete; -1: none
};

// Finds the limit, to the byte, among `sizes` (which it sorts); collective over pair->comm,
// agreed.
//
// The exchange deadlocks when MPI_Send of a size returns only once its receive is posted, as
// neither rank gets to its receive. This is tried without ever hanging: one of the two calls
// MPI_Send and then sends a token. The other delays the receive until it sees the token or
// `patience_s` is over. A token seen before the receive is posted proves that the send completed
// by itself. Meanwhile the other rank has a send of the same size under way, as in the exchange,
// and probes, which makes progress as its own blocking send would. Both directions are tried. A
// size counts as deadlocking when it failed twice, since patience can also end because a rank lost
// its core. Sizes are assumed to behave monotonically, as protocols do.
struct deadlock deadlock_find(struct pair *pair, struct sizes *sizes, double patience_s);
