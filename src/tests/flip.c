// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: one bit of every message or result of COTEJO_FLIP_BYTES bytes arrives
// wrong, as over a broken transport or from a broken collective. The benchmark must find it.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int wanted(int count, MPI_Datatype type) {
    const char *text = getenv("COTEJO_FLIP_BYTES");
    int size;
    MPI_Type_size(type, &size);
    return text && count > 0 && count * size == atoi(text);
}

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
    char *copy = wanted(count, type) && type == MPI_BYTE ? malloc((size_t)count) : NULL;
    if (!copy)
        return PMPI_Send(bytes, count, type, target, tag, comm);
    memcpy(copy, bytes, (size_t)count);
    copy[count / 2] ^= 4;
    int result = PMPI_Send(copy, count, type, target, tag, comm);
    free(copy);
    return result;
}

// On the last rank alone, so that the others have to learn of it.
static void spoil(char *bytes, int count, MPI_Datatype type, MPI_Comm comm) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == size - 1 && wanted(count, type))
        bytes[atoi(getenv("COTEJO_FLIP_BYTES")) / 2] ^= 4;
}

int MPI_Bcast(void *bytes, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int result = PMPI_Bcast(bytes, count, type, root, comm);
    spoil(bytes, count, type, comm);
    return result;
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    int result = PMPI_Allreduce(from, into, count, type, op, comm);
    spoil(into, count, type, comm);
    return result;
}

// A result that never comes: the memory stays as it was.
int MPI_Scan(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
             MPI_Comm comm) {
    return wanted(count, type) ? MPI_SUCCESS : PMPI_Scan(from, into, count, type, op, comm);
}

// A result that is right, with a byte written where none belongs: behind the first block.
int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *into, const int *counts,
                   const int *starts, MPI_Datatype into_type, MPI_Comm comm) {
    int result = PMPI_Allgatherv(from, count, type, into, counts, starts, into_type, comm);
    if (wanted(counts[0], into_type))
        ((char *)into)[starts[0] + counts[0]] ^= 4;
    return result;
}
