// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a test: the library refuses every MPI_Allgather, every MPI_Get, every
// MPI_File_read_at, every group of a session and all memory on rank 1. COTEJO_REFUSE names one
// more: `place`, the MPI_Sendrecv of an address, or `gather`, a PMPI_Gather of more than one
// element that is not the program's own.
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

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

static int asked(const char *name) {
    const char *more = getenv("COTEJO_REFUSE");
    return more && strcmp(more, name) == 0;
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status) {
    int code = out_type == MPI_AINT && asked("place") ? refused(comm, MPI_ERR_COUNT) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                         in_tag, comm, status);
}

typedef int gather_function(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int,
                            MPI_Comm);

int PMPI_Gather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm) {
    gather_function *next;
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Gather");
    if (out_count > 1 && comm != MPI_COMM_WORLD && asked("gather"))
        PMPI_Abort(comm, 3);
    return next(out, out_count, out_type, in, in_count, in_type, root, comm);
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

#ifdef COTEJO_SESSIONS
int MPI_Group_from_session_pset(MPI_Session session, const char *name, MPI_Group *group) {
    // MPI_Session_call_errhandler of Intel MPI ends the program.
    return PMPI_Group_from_session_pset(session, here() ? "mpi://NOWHERE" : name, group);
}
#endif

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *bytes, int count, MPI_Datatype type,
                     MPI_Status *status) {
    if (here())
        PMPI_File_call_errhandler(file, MPI_ERR_COUNT);
    return PMPI_File_read_at(file, at, bytes, count, type, status);
}
