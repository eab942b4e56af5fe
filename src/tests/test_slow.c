// SPDX-License-Identifier: BSD-3-Clause
// Prints quantiles of the times (s) that rank 0 waits for a message: 0.02, 0.25, 0.5, 0.75 and
// 0.97. Its peer sends a message a known time after each request. A library that is preloaded to
// slow rank 0 must increase these times by the amount that it is set to.
#include "clock.h"
#include "moments.h"

#include <mpi.h>
#include <stdio.h>

int main(int count, char **arguments) {
    enum { MESSAGES = 100 };
    const double pause_s = 1e-3, at[] = {0.02, 0.25, 0.5, 0.75, 0.97};
    int rank;
    double taken[MESSAGES];
    struct failure failure = {0};
    struct clock clock;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    clock_open(&clock, "monotonic-raw", &failure);
    for (int i = 0; i < MESSAGES && !failed(&failure); i++) {
        if (rank == 1) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            clock_wait(&clock, clock_now(&clock) + pause_s);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        } else if (rank == 0) {
            MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            double begin = clock_now(&clock);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            taken[i] = clock_now(&clock) - begin;
        }
    }
    if (rank == 0 && !failed(&failure))
        for (size_t i = 0; i < sizeof at / sizeof *at; i++)
            printf("%.9f%s", values_at(taken, MESSAGES, at[i]),
                   i + 1 < sizeof at / sizeof *at ? " " : "\n");
    MPI_Finalize();
    return failure.status;
}
