// SPDX-License-Identifier: BSD-3-Clause
// The tree of the clocks' checks, with numbers of ranks that no machine here has.
#include "barrier.h"
#include "check.h"

#include <stdlib.h>

enum { MOST = 100000 };

// Every rank but 0 asks once, whom it asks knows already and serves just it; what a rank takes
// part in is as little as the number of rounds, and all of it together grows with the ranks.
static void reaches_all(int size) {
    static char knows[MOST];
    int rounds = tree_rounds(size), most = 0;
    long asked = 0, wrong = 0;
    for (int rank = 0; rank < size; rank++)
        knows[rank] = rank == 0;
    for (int round = 0; round < rounds; round++) {
        for (int rank = 0; rank < size; rank++) {
            struct tree_turn turn = tree_turn(rank, size, round);
            if (turn.peer < 0 || !turn.asks)
                continue;
            struct tree_turn other = tree_turn(turn.peer, size, round);
            wrong += other.asks || other.peer != rank || !knows[turn.peer] || knows[rank];
            asked++;
        }
        for (int rank = 0; rank < size; rank++) {
            struct tree_turn turn = tree_turn(rank, size, round);
            wrong += turn.peer >= size;
            if (turn.peer >= 0 && turn.asks)
                knows[rank] = 1;
        }
    }
    for (int rank = 0; rank < size; rank++) {
        int turns = 0;
        for (int round = 0; round < rounds; round++)
            turns += tree_turn(rank, size, round).peer >= 0;
        most = turns > most ? turns : most;
        wrong += !knows[rank];
    }
    CHECK(wrong == 0);
    CHECK(asked == size - 1);
    CHECK(most <= rounds && (1L << rounds) < 2L * size);
}

// Going up, each rank has what stands for itself and for those that follow it, up to where the
// next one's begins: what is put behind each other is in the order of ranks.
static void comes_together_in_order(int size) {
    static int last[MOST];
    long wrong = 0;
    for (int rank = 0; rank < size; rank++)
        last[rank] = rank;
    for (int round = tree_rounds(size) - 1; round >= 0; round--)
        for (int rank = 0; rank < size; rank++) {
            struct tree_turn turn = tree_turn(rank, size, round);
            if (turn.peer < 0 || !turn.asks)
                continue;
            wrong += last[turn.peer] + 1 != rank;
            last[turn.peer] = last[rank];
        }
    CHECK(wrong == 0);
    CHECK(last[0] == size - 1);
}

int main(void) {
    static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 1000, 1024, 65537, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        reaches_all(sizes[i]);
        comes_together_in_order(sizes[i]);
    }
    return check_status();
}
