// SPDX-License-Identifier: BSD-3-Clause
// A binomial tree of ranks with rank 0 at its root: log2 of the ranks are enough rounds, and in
// each of them a rank exchanges messages with at most one other.
#ifndef COTEJO_CORE_TREE_H
#define COTEJO_CORE_TREE_H

#include <stdbool.h>

// One rank's part in one round. A rank asks once, in its own round. Its peer then serves: it is
// rank 0, or its own round was earlier.
struct tree_turn {
    int peer; // -1: nothing to do in this round
    bool asks;
};

int tree_rounds(int size);
struct tree_turn tree_turn(int rank, int size, int round); // rounds from 0 on

#endif
