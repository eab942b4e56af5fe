// SPDX-License-Identifier: BSD-3-Clause
// Preloaded in a test: flips one bit of every message of COTEJO_FLIP_BYTES bytes, as a broken
// transport would. With COTEJO_FLIP_AT only messages that arrive at that rank are changed, so that
// this rank alone sees the error. The benchmark must find it.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

// Whether a message that arrives at `rank` is to be changed.
static int wanted_at(int rank, int count, MPI_Datatype type) {
    const char *text = getenv("COTEJO_FLIP_BYTES"), *at = getenv("COTEJO_FLIP_AT");
    int size;
    MPI_Type_size(type, &size);
    return text && count > 0 && count * size == atoi(text) && (!at || atoi(at) == rank);
}

// The same for a message that arrives at this rank.
static int wanted(int count, MPI_Datatype type) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return wanted_at(rank, count, type);
}

// In the middle one of `count` elements, in its last byte: of a number no matter of rounding.
static void flip(char *bytes, int count, int size) {
    bytes[count / 2 * size + size - 1] ^= 4;
}

static int contiguous(MPI_Datatype type) {
    MPI_Aint least, extent;
    int size;
    MPI_Type_size(type, &size);
    MPI_Type_get_true_extent(type, &least, &extent);
    return least == 0 && extent == size;
}

// Copies data with gaps and changes the first byte of the middle element that is not in a gap.
// Memory behind the last element's payload may not exist.
static char *wrong_spread(const char *bytes, int count, MPI_Datatype type) {
    MPI_Aint least, extent, first, true_extent;
    MPI_Type_get_extent(type, &least, &extent);
    MPI_Type_get_true_extent(type, &first, &true_extent);
    size_t room = (size_t)((count - 1) * extent + first + true_extent);
    char *copy = malloc(room);
    if (copy) {
        memcpy(copy, bytes, room);
        copy[count / 2 * extent + first] ^= 4;
    }
    return copy;
}

// The changed copy that is sent to `target` in place of `bytes`; NULL: nothing is changed.
static char *wrong_copy(const void *bytes, int count, MPI_Datatype type, int target) {
    int size, change = wanted_at(target, count, type);
    MPI_Type_size(type, &size);
    if (change && !contiguous(type))
        return wrong_spread(bytes, count, type);
    char *copy = change ? malloc((size_t)count * (size_t)size) : NULL;
    if (copy) {
        memcpy(copy, bytes, (size_t)count * (size_t)size);
        flip(copy, count, size);
    }
    return copy;
}

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
    char *copy = wrong_copy(bytes, count, type, target);
    int result = PMPI_Send(copy ? copy : bytes, count, type, target, tag, comm);
    free(copy);
    return result;
}

// The copy outlives the request, so it is never freed.
int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request *request) {
    char *copy = wrong_copy(bytes, count, type, target);
    return PMPI_Isend(copy ? copy : bytes, count, type, target, tag, comm, request);
}

// The receive buffer of a request that is started repeatedly.
static struct {
    char *bytes;
    int count, size;
    MPI_Request request;
} armed;

static void arm(char *bytes, int count, MPI_Datatype type, MPI_Request request) {
    int size;
    MPI_Type_size(type, &size);
    if (wanted(count, type)) {
        armed.bytes = bytes;
        armed.count = count;
        armed.size = size;
        armed.request = request;
    }
}

int MPI_Recv_init(void *bytes, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request) {
    int result = PMPI_Recv_init(bytes, count, type, source, tag, comm, request);
    arm(bytes, count, type, *request);
    return result;
}

#ifdef COTEJO_PARTITIONED
int MPI_Precv_init(void *bytes, int parts, MPI_Count count, MPI_Datatype type, int source, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    int result = PMPI_Precv_init(bytes, parts, count, type, source, tag, comm, info, request);
    arm(bytes, parts * (int)count, type, *request);
    return result;
}
#endif

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    MPI_Request before = *request;
    int result = PMPI_Wait(request, status);
    if (armed.bytes && before == armed.request)
        flip(armed.bytes, armed.count, armed.size);
    return result;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    int here = 0;
    for (int i = 0; i < count && armed.bytes; i++)
        here |= requests[i] == armed.request;
    int result = PMPI_Waitall(count, requests, statuses);
    if (here)
        flip(armed.bytes, armed.count, armed.size);
    return result;
}

int MPI_Request_free(MPI_Request *request) {
    if (*request == armed.request)
        armed.bytes = NULL;
    return PMPI_Request_free(request);
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int target, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int source, int in_tag,
                 MPI_Comm comm, MPI_Status *status) {
    char *copy = wrong_copy(out, out_count, out_type, target);
    int result = PMPI_Sendrecv(copy ? copy : out, out_count, out_type, target, out_tag, in,
                               in_count, in_type, source, in_tag, comm, status);
    free(copy);
    return result;
}

int MPI_Sendrecv_replace(void *bytes, int count, MPI_Datatype type, int target, int out_tag,
                         int source, int in_tag, MPI_Comm comm, MPI_Status *status) {
    int result =
        PMPI_Sendrecv_replace(bytes, count, type, target, out_tag, source, in_tag, comm, status);
    if (wanted(count, type))
        flip(bytes, count, 1);
    return result;
}

int MPI_Alltoall(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                 MPI_Datatype in_type, MPI_Comm comm) {
    int result = PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, comm), size;
    MPI_Type_size(in_type, &size);
    if (wanted(in_count, in_type))
        flip(in, in_count, size);
    return result;
}

int MPI_Alltoallv(const void *out, const int *out_counts, const int *out_starts,
                  MPI_Datatype out_type, void *in, const int *in_counts, const int *in_starts,
                  MPI_Datatype in_type, MPI_Comm comm) {
    int result = PMPI_Alltoallv(out, out_counts, out_starts, out_type, in, in_counts, in_starts,
                                in_type, comm);
    int peers, size;
    MPI_Comm_size(comm, &peers);
    MPI_Type_size(in_type, &size);
    for (int i = 0; i < peers; i++)
        if (wanted(in_counts[i], in_type))
            flip((char *)in + in_starts[i] * size, in_counts[i], size);
    return result;
}

// Changes the result on one rank alone, so that the others have to be notified: the rank of
// COTEJO_FLIP_AT, else the last one. Integers stay possible as counts. Results of one element are
// spared: by these, ranks agree.
static void spoil(char *bytes, int count, MPI_Datatype type, MPI_Comm comm) {
    int rank, ranks, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Type_size(type, &size);
    if (count == 1 || !(getenv("COTEJO_FLIP_AT") || rank == ranks - 1) || !wanted(count, type))
        return;
    if (type == MPI_LONG)
        bytes[count / 2 * size] ^= 4;
    else
        flip(bytes, count, size);
}

int MPI_Bcast(void *bytes, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int result = PMPI_Bcast(bytes, count, type, root, comm);
    spoil(bytes, count, type, comm);
    return result;
}

int MPI_Reduce_local(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op) {
    int result = PMPI_Reduce_local(from, into, count, type, op), size;
    MPI_Type_size(type, &size);
    if (wanted(count, type))
        flip(into, count, size);
    return result;
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    int result = PMPI_Allreduce(from, into, count, type, op, comm);
    spoil(into, count, type, comm);
    return result;
}

// A result that never arrives: the receive buffer stays as it was.
int MPI_Scan(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
             MPI_Comm comm) {
    if (!wanted(count, type))
        return PMPI_Scan(from, into, count, type, op, comm);
    int size;
    MPI_Type_size(type, &size);
    void *unused = malloc((size_t)count * (size_t)size);
    int result = PMPI_Scan(from, unused, count, type, op, comm);
    free(unused);
    return result;
}

// A result that is right, with a byte written where none belongs: behind the first block.
int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *into, const int *counts,
                   const int *starts, MPI_Datatype into_type, MPI_Comm comm) {
    int result = PMPI_Allgatherv(from, count, type, into, counts, starts, into_type, comm);
    if (wanted(counts[0], into_type))
        ((char *)into)[starts[0] + counts[0]] ^= 4;
    return result;
}

// One-sided: what arrives in the window, or is fetched from it. The copy outlives the access.
int MPI_Put(const void *bytes, int count, MPI_Datatype type, int target, MPI_Aint at, int at_count,
            MPI_Datatype at_type, MPI_Win window) {
    char *copy = wrong_copy(bytes, count, type, target);
    return PMPI_Put(copy ? copy : bytes, count, type, target, at, at_count, at_type, window);
}

int MPI_Rput(const void *bytes, int count, MPI_Datatype type, int target, MPI_Aint at,
             int at_count, MPI_Datatype at_type, MPI_Win window, MPI_Request *request) {
    char *copy = wrong_copy(bytes, count, type, target);
    return PMPI_Rput(copy ? copy : bytes, count, type, target, at, at_count, at_type, window,
                     request);
}

int MPI_Accumulate(const void *bytes, int count, MPI_Datatype type, int target, MPI_Aint at,
                   int at_count, MPI_Datatype at_type, MPI_Op op, MPI_Win window) {
    char *copy = wrong_copy(bytes, count, type, target);
    return PMPI_Accumulate(copy ? copy : bytes, count, type, target, at, at_count, at_type, op,
                           window);
}

int MPI_Get_accumulate(const void *bytes, int count, MPI_Datatype type, void *into, int into_count,
                       MPI_Datatype into_type, int target, MPI_Aint at, int at_count,
                       MPI_Datatype at_type, MPI_Op op, MPI_Win window) {
    char *copy = wrong_copy(bytes, count, type, target);
    return PMPI_Get_accumulate(copy ? copy : bytes, count, type, into, into_count, into_type,
                               target, at, at_count, at_type, op, window);
}

int MPI_Fetch_and_op(const void *bytes, void *into, MPI_Datatype type, int target, MPI_Aint at,
                     MPI_Op op, MPI_Win window) {
    char *copy = wrong_copy(bytes, 1, type, target);
    return PMPI_Fetch_and_op(copy ? copy : bytes, into, type, target, at, op, window);
}

int MPI_Compare_and_swap(const void *bytes, const void *expected, void *into, MPI_Datatype type,
                         int target, MPI_Aint at, MPI_Win window) {
    char *copy = wrong_copy(bytes, 1, type, target);
    return PMPI_Compare_and_swap(copy ? copy : bytes, expected, into, type, target, at, window);
}

// Reads one byte after the requested one: in a window of bytes, all bytes are then wrong.
int MPI_Get(void *bytes, int count, MPI_Datatype type, int target, MPI_Aint at, int at_count,
            MPI_Datatype at_type, MPI_Win window) {
    return PMPI_Get(bytes, count, type, target, wanted(count, type) ? at + 1 : at, at_count,
                    at_type, window);
}

int MPI_Rget(void *bytes, int count, MPI_Datatype type, int target, MPI_Aint at, int at_count,
             MPI_Datatype at_type, MPI_Win window, MPI_Request *request) {
    return PMPI_Rget(bytes, count, type, target, wanted(count, type) ? at + 1 : at, at_count,
                     at_type, window, request);
}

// Reads from a file and spoils a byte.
int MPI_File_read_at(MPI_File file, MPI_Offset at, void *bytes, int count, MPI_Datatype type,
                     MPI_Status *status) {
    int result = PMPI_File_read_at(file, at, bytes, count, type, status);
    if (wanted(count, type))
        flip(bytes, count, 1);
    return result;
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *bytes, int count, MPI_Datatype type,
                         MPI_Status *status) {
    int result = PMPI_File_read_at_all(file, at, bytes, count, type, status);
    if (wanted(count, type))
        flip(bytes, count, 1);
    return result;
}
