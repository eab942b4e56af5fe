// SPDX-License-Identifier: BSD-3-Clause
// Tests that no rank leaves cotejo's barrier before all ranks have entered it, and its tree with
// numbers of ranks that no machine here has. Launched on ranks of one host, whose clock is one.
#include "ranks.h"

#include "check.h"

#include <mpi.h>
#include <stdint.h>
#include <time.h>

enum { MOST = 100000 };

// Every rank but 0 asks once. The rank that it asks knows already, and serves no other rank in
// this round. A rank has at most one turn a round, and there is one question for each rank but 0.
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

// On the way up, a rank holds the data of itself and of the ranks directly behind it. A rank that
// receives appends the data of the next ranks, so that all data are in the order of ranks.
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

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int count, char **arguments) {
    static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 1000, 1024, 65537, MOST};
    int rank, size;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && rank == 0; i++) {
        reaches_all(sizes[i]);
        comes_together_in_order(sizes[i]);
    }
    for (int round = 0; round < 4 * size; round++) {
        if (round % size == rank)
            nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        int64_t entered = now(), last;
        barrier_enter(MPI_COMM_WORLD);
        int64_t left = now();
        MPI_Allreduce(&entered, &last, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        CHECK(left >= last);
    }
    MPI_Finalize();
    return check_status();
}
