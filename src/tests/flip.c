// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: one bit of every message of COTEJO_FLIP_BYTES bytes arrives wrong, as
// over a broken transport. The benchmark must find it.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
    const char *wanted = getenv("COTEJO_FLIP_BYTES");
    char *copy = wanted && count > 0 && count == atoi(wanted) ? malloc((size_t)count) : NULL;
    if (!copy)
        return PMPI_Send(bytes, count, type, target, tag, comm);
    memcpy(copy, bytes, (size_t)count);
    copy[count / 2] ^= 4;
    int result = PMPI_Send(copy, count, type, target, tag, comm);
    free(copy);
    return result;
}
