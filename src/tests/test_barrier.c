// SPDX-License-Identifier: BSD-3-Clause
// Tests that no rank leaves cotejo's barrier before all ranks have entered it. Launched on ranks
// of one host, whose clock is one.
#include "barrier.h"
#include "check.h"

#include <mpi.h>
#include <stdint.h>
#include <time.h>

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int count, char **arguments) {
    int rank, size;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
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
