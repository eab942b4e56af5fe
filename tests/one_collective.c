// SPDX-License-Identifier: BSD-3-Clause
// One call of a collective operation (arguments: its name and the root) on a vector of doubles.
#include <mpi.h>
#include <string.h>

// DOUBLES: a multiple of every number of ranks up to 8, and of 12.
enum { DOUBLES = 3360, RANKS = 12 };

static double from[DOUBLES], to[DOUBLES];

int main(int arguments, char **argument) {
    MPI_Init(&arguments, &argument);
    const char *operation = argument[1];
    int root = argument[2][0] - '0', ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!strcmp(operation, "bcast")) {
        MPI_Bcast(from, DOUBLES, MPI_DOUBLE, root, MPI_COMM_WORLD);
    } else if (!strcmp(operation, "reduce")) {
        MPI_Reduce(from, to, DOUBLES, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    } else if (!strcmp(operation, "allreduce")) {
        MPI_Allreduce(from, to, DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (!strcmp(operation, "allgather")) {
        int count = DOUBLES / ranks;
        MPI_Allgather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, MPI_COMM_WORLD);
    } else if (!strcmp(operation, "reduce_scatter")) {
        int counts[RANKS];
        for (int rank = 0; rank < ranks; rank++) {
            counts[rank] = DOUBLES / ranks;
        }
        MPI_Reduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
