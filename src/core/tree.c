// SPDX-License-Identifier: BSD-3-Clause
// A binomial tree of ranks with rank 0 at its root.
#include "tree.h"

int tree_rounds(int size) {
    int rounds = 0;
    for (long reached = 1; reached < size; reached *= 2)
        rounds++;
    return rounds;
}

struct tree_turn tree_turn(int rank, int size, int round) {
    long step = 1L << (tree_rounds(size) - 1 - round);
    if (rank % (2 * step) == step)
        return (struct tree_turn){(int)(rank - step), true};
    if (rank % (2 * step) == 0 && rank + step < size)
        return (struct tree_turn){(int)(rank + step), false};
    return (struct tree_turn){-1, false};
}
