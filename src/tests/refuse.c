// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: the library refuses every MPI_Allgather, every MPI_Get, every
// MPI_File_read_at and all memory on rank 1.
#include <mpi.h>

static int refused(MPI_Comm comm, int code) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 1)
        return MPI_SUCCESS;
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

int MPI_Allgather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm) {
    int code = refused(comm, MPI_ERR_COUNT);
    if (code != MPI_SUCCESS)
        return code;
    return PMPI_Allgather(out, out_count, out_type, in, in_count, in_type, comm);
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *begin) {
    int code = refused(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    return code != MPI_SUCCESS ? code : PMPI_Alloc_mem(size, info, begin);
}

static int here(void) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 1;
}

int MPI_Get(void *bytes, int count, MPI_Datatype type, int target, MPI_Aint at, int at_count,
            MPI_Datatype at_type, MPI_Win window) {
    if (here())
        PMPI_Win_call_errhandler(window, MPI_ERR_COUNT);
    return PMPI_Get(bytes, count, type, target, at, at_count, at_type, window);
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *bytes, int count, MPI_Datatype type,
                     MPI_Status *status) {
    if (here())
        PMPI_File_call_errhandler(file, MPI_ERR_COUNT);
    return PMPI_File_read_at(file, at, bytes, count, type, status);
}
