// SPDX-License-Identifier: BSD-3-Clause
// Finds the messages for which variants with blocking sends end; other messages deadlock.
#include "deadlock.h"
#include "radix.h"
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The first two ranks send each other messages of all lengths whose receive comes late.
static double between_two(struct bench *bench, MPI_Comm comm, const size_t *bytes, size_t count,
                          double patience_s) {
    struct pair pair = {.comm = comm, .rank = bench->rank, .peer = 1 - bench->rank};
    struct sizes sizes = {0};
    struct layout anywhere = {0}; // they are not those that are measured with
    struct deadlock found = {.least = INFINITY};
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = bytes[i] > most ? bytes[i] : most;
    sizes.bytes = malloc(count * sizeof *sizes.bytes);
    if (sizes.bytes)
        memcpy(sizes.bytes, bytes, count * sizeof *bytes);
    else
        failure_set(&bench->failure, STATUS_USAGE, "no memory for %zu lengths", count);
    sizes.count = count;
    buffer_open(&pair.out, &anywhere, "send", most, false, 0, 1, &bench->failure);
    buffer_open(&pair.in, &anywhere, "receive", most, false, 0, 1, &bench->failure);
    if (ranks_agree(comm, &bench->failure, false) == STATUS_OK) {
        buffer_shape(&pair.out, most);
        buffer_shape(&pair.in, most);
        found = deadlock_find(&pair, &sizes, patience_s);
    }
    buffer_close(&pair.out);
    buffer_close(&pair.in);
    free(sizes.bytes);
    return found.least;
}

double radix_deadlock(struct bench *bench, const size_t *bytes, size_t count, double patience_s) {
    double least = INFINITY;
    MPI_Comm two;
    if (bench->size < 2)
        return least;
    MPI_Comm_split(bench->comm, bench->rank < 2 ? 0 : MPI_UNDEFINED, bench->rank, &two);
    if (two != MPI_COMM_NULL) {
        least = between_two(bench, two, bytes, count, patience_s);
        MPI_Comm_free(&two);
    }
    MPI_Bcast(&least, 1, MPI_DOUBLE, 0, bench->comm);
    ranks_agree(bench->comm, &bench->failure, false);
    return least;
}
