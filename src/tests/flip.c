// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: one bit of every message of COTEJO_FLIP_BYTES bytes arrives wrong, as
// over a broken transport. The benchmark must find it.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int wanted(int count) {
    const char *bytes = getenv("COTEJO_FLIP_BYTES");
    return bytes && count > 0 && count == atoi(bytes);
}

static void flip(char *bytes, int count) {
    bytes[count / 2] ^= 4;
}

// What is sent instead of `bytes`; NULL: nothing else.
static char *wrong_copy(const void *bytes, int count) {
    char *copy = wanted(count) ? malloc((size_t)count) : NULL;
    if (copy) {
        memcpy(copy, bytes, (size_t)count);
        flip(copy, count);
    }
    return copy;
}

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
    char *copy = wrong_copy(bytes, count);
    int result = PMPI_Send(copy ? copy : bytes, count, type, target, tag, comm);
    free(copy);
    return result;
}

// The copy outlives the request, so it is never freed.
int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request *request) {
    char *copy = wrong_copy(bytes, count);
    return PMPI_Isend(copy ? copy : bytes, count, type, target, tag, comm, request);
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int target, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int source, int in_tag,
                 MPI_Comm comm, MPI_Status *status) {
    char *copy = wrong_copy(out, out_count);
    int result = PMPI_Sendrecv(copy ? copy : out, out_count, out_type, target, out_tag, in,
                               in_count, in_type, source, in_tag, comm, status);
    free(copy);
    return result;
}

int MPI_Sendrecv_replace(void *bytes, int count, MPI_Datatype type, int target, int out_tag,
                         int source, int in_tag, MPI_Comm comm, MPI_Status *status) {
    int result =
        PMPI_Sendrecv_replace(bytes, count, type, target, out_tag, source, in_tag, comm, status);
    if (wanted(count))
        flip(bytes, count);
    return result;
}

int MPI_Alltoall(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                 MPI_Datatype in_type, MPI_Comm comm) {
    int result = PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, comm);
    if (wanted(in_count))
        flip(in, in_count);
    return result;
}
