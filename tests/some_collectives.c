// SPDX-License-Identifier: BSD-3-Clause
// Calls of collective operations on a vector of doubles (arguments: the name and the root of each
// call). The first one begins at second 1, and each a second after the one before it.
#include <mpi.h>
#include <string.h>
#include <unistd.h>

// DOUBLES: a multiple of every number of ranks up to 8, and of 12.
enum { DOUBLES = 3360, RANKS = 12 };

static double from[DOUBLES], to[DOUBLES];

static void call(const char *operation, int root) {
    int ranks;
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
}

int main(int arguments, char **argument) {
    MPI_Init(&arguments, &argument);
    for (int i = 1; i + 1 < arguments; i += 2) {
        usleep((useconds_t)(1e6 * ((i + 1) / 2 - MPI_Wtime())));
        call(argument[i], argument[i + 1][0] - '0');
    }
    return MPI_Finalize();
}
