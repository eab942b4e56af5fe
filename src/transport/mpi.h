// SPDX-License-Identifier: BSD-3-Clause
// The few calls of MPI by which the core's ranks agree, over TCP connections to rank 0.
//
// So the core measures programs that have no MPI, or another library than MPI. Nothing that is
// timed goes this way. Names are macros: a real mpi.h of another library can be in the program.
#pragma once

#include "standard.h"

// A communicator is the number of its ranks, which are the first ones of the world.
typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Info;

enum { MPI_COMM_NULL = 0, MPI_COMM_WORLD = -1, MPI_UNDEFINED = -32766 };
enum { MPI_BYTE, MPI_CHAR, MPI_INT, MPI_LONG, MPI_DOUBLE };
enum { MPI_SUCCESS };
enum { MPI_MAX, MPI_MIN, MPI_SUM };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_INFO_NULL, MPI_COMM_TYPE_SHARED, MPI_WTIME_IS_GLOBAL, MPI_STATUS_IGNORE };
enum { MPI_MAX_LIBRARY_VERSION_STRING = 256, MPI_VERSION = 0, MPI_SUBVERSION = 0 };

// The values that a rank reduces are those that it has in the result.
#define MPI_IN_PLACE ((void *)-1)

#define MPI_Init world_init
#define MPI_Get_library_version world_library
#define MPI_Comm_rank world_rank
#define MPI_Comm_size world_size
#define MPI_Comm_split world_split
#define MPI_Comm_split_type world_split_type
#define MPI_Send world_send
#define MPI_Recv world_receive
#define MPI_Barrier world_barrier
#define MPI_Bcast world_bcast
#define MPI_Allreduce world_allreduce
#define MPI_Reduce world_reduce
#define MPI_Allgather world_allgather
#define MPI_Alltoall world_alltoall
#define MPI_Wtime monotonic_s
// Calls that need no other rank. Connections end with the process, which the others notice.
#define MPI_Finalize() ((void)0)
#define MPI_Abort(comm, status) exit(status)
#define MPI_Alloc_mem(bytes, info, memory)                                                        \
    ((*(memory) = malloc((size_t)(bytes))) ? MPI_SUCCESS : !MPI_SUCCESS)
#define MPI_Init_thread(count, words, wanted, given)                                              \
    (*(given) = (wanted), world_init(count, words))
#define MPI_Get_version(version, subversion) (*(version) = *(subversion) = 0)
#define MPI_Query_thread(level) (*(level) = MPI_THREAD_SINGLE)
#define MPI_Comm_get_attr(comm, key, value, found) (*(value) = NULL, *(found) = 0)
#define MPI_Comm_free(comm) (*(comm) = MPI_COMM_NULL)
#define MPI_Free_mem(memory) free(memory)
// By these the core talks where nothing that is preloaded may come between.
#define PMPI_Send world_send
#define PMPI_Recv world_receive
#define PMPI_Barrier world_barrier
#define PMPI_Bcast world_bcast
#define PMPI_Allreduce world_allreduce
#define PMPI_Gather world_gather
#define PMPI_Scan world_scan

// Ranks meet as COTEJO_WORLD describes, which cotejo-start sets (meeting.h). Any error between
// ranks ends the process; the others notice it by their connections.
int world_init(int *count, char ***arguments);
int world_library(char *text, int *length);
int world_rank(MPI_Comm comm, int *rank);
int world_size(MPI_Comm comm, int *size);
// The ranks of one colour must be the first ones.
int world_split(MPI_Comm comm, int colour, int key, MPI_Comm *part);
// All ranks, where they are on one host; else only the own one, as a count.
int world_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part);
// One of the two ranks is rank 0.
int world_send(const void *bytes, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm);
int world_receive(void *bytes, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                  int status);
int world_barrier(MPI_Comm comm);
int world_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int world_allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm);
int world_reduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm);
int world_gather(const void *mine, int count, MPI_Datatype type, void *all, int counts,
                 MPI_Datatype types, int root, MPI_Comm comm);
int world_allgather(const void *mine, int count, MPI_Datatype type, void *all, int counts,
                    MPI_Datatype types, MPI_Comm comm);
// No experiment below MPI calls them.
int world_scan(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm);
int world_alltoall(const void *mine, int count, MPI_Datatype type, void *all, int counts,
                   MPI_Datatype types, MPI_Comm comm);
