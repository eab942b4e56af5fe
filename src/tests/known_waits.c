// SPDX-License-Identifier: BSD-3-Clause
// A program whose ranks arrive late by known times. Rank r waits r times the first argument (s)
// after a barrier and then calls MPI_Allreduce; the second argument is the number of repetitions.
// It prints each rank's real lateness by its own clock, the median, which a recorder must find.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    int rank, size, calls = count > 2 ? atoi(arguments[2]) : 50;
    double step_s = count > 1 ? atof(arguments[1]) : 1e-3;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *at = malloc((size_t)calls * sizeof *at), *all = malloc((size_t)(size * calls) * 8);
    for (int i = 0; i < calls; i++) {
        double one = 1, sum;
        MPI_Barrier(MPI_COMM_WORLD);
        double until = now() + rank * step_s;
        while (now() < until)
            ;
        at[i] = now();
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Gather(at, calls, MPI_DOUBLE, all, calls, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    // The monotonic clock is one for all ranks of a host.
    for (int r = 0; rank == 0 && r < size; r++) {
        for (int i = 0; i < calls; i++)
            at[i] = all[r * calls + i] - all[i];
        qsort(at, (size_t)calls, sizeof *at, rising);
        printf("late %d %.9f\n", r, at[calls / 2]);
    }
    free(at);
    free(all);
    MPI_Finalize();
    return 0;
}
