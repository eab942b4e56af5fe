// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: the library refuses every MPI_Allgather on rank 1.
#include <mpi.h>

int MPI_Allgather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        PMPI_Comm_call_errhandler(comm, MPI_ERR_COUNT);
        return MPI_ERR_COUNT;
    }
    return PMPI_Allgather(out, out_count, out_type, in, in_count, in_type, comm);
}
