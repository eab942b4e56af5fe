// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a foreign MPI program: describes its launch as ours describe themselves.
//
// It stands between the program and MPI_Init, MPI_Init_thread and MPI_Finalize, and before the
// calls that move most programs' data, of which it keeps where their buffers were: a store or two
// a call. COTEJO_DESCRIPTION names the file to write.
#include "alone.h"
#include "core/describe.h"
#include "core/ranks.h"
#include "core/whole.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct launch launch; // of this process: the hooks have no argument to carry it in

int MPI_Init(int *count, char ***arguments) {
    int status = PMPI_Init(count, arguments);
    launch = launch_begin();
    return status;
}

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    int status = PMPI_Init_thread(count, arguments, required, provided);
    launch = launch_begin();
    return status;
}

// Where the buffers of the last call of each kind were. Programs in Fortran may enter the library
// below these names: then nothing is known of theirs.
enum kind {
    SEND,
    RECEIVE,
    BCAST,
    REDUCE_FROM,
    REDUCE_INTO,
    ALLREDUCE_FROM,
    ALLREDUCE_INTO,
    ALLTOALL_FROM,
    ALLTOALL_INTO,
    ALLGATHER_FROM,
    ALLGATHER_INTO,
    KINDS
};
static const void *volatile seen[KINDS];

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    seen[SEND] = bytes;
    return PMPI_Send(bytes, count, type, to, tag, comm);
}

int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    seen[SEND] = bytes;
    return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}

int MPI_Recv(void *bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    seen[RECEIVE] = bytes;
    return PMPI_Recv(bytes, count, type, from, tag, comm, status);
}

int MPI_Irecv(void *bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    seen[RECEIVE] = bytes;
    return PMPI_Irecv(bytes, count, type, from, tag, comm, request);
}

int MPI_Bcast(void *bytes, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    seen[BCAST] = bytes;
    return PMPI_Bcast(bytes, count, type, root, comm);
}

int MPI_Reduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
    seen[REDUCE_FROM] = from;
    seen[REDUCE_INTO] = into;
    return PMPI_Reduce(from, into, count, type, op, root, comm);
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    seen[ALLREDUCE_FROM] = from;
    seen[ALLREDUCE_INTO] = into;
    return PMPI_Allreduce(from, into, count, type, op, comm);
}

int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *into, int counts,
                 MPI_Datatype types, MPI_Comm comm) {
    seen[ALLTOALL_FROM] = from;
    seen[ALLTOALL_INTO] = into;
    return PMPI_Alltoall(from, count, type, into, counts, types, comm);
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *into, int counts,
                  MPI_Datatype types, MPI_Comm comm) {
    seen[ALLGATHER_FROM] = from;
    seen[ALLGATHER_INTO] = into;
    return PMPI_Allgather(from, count, type, into, counts, types, comm);
}

// Before the description's own calls come by.
static void note_buffers(struct layout *layout) {
    static const char *const names[KINDS] = {"send",           "receive",       "bcast",
                                             "reduce from",    "reduce into",   "allreduce from",
                                             "allreduce into", "alltoall from", "alltoall into",
                                             "allgather from", "allgather into"};
    for (int kind = 0; kind < KINDS; kind++)
        if (seen[kind] && seen[kind] != MPI_IN_PLACE && seen[kind] != MPI_BOTTOM)
            layout_note(layout, names[kind], seen[kind]);
}

// This process's own arguments, as the kernel keeps them; returns how many.
static int own_arguments(char *text, size_t room, char **arguments, int most) {
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(text, 1, room - 1, file) : 0;
    int count = 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *at = text; at < text + length && count < most; at += strlen(at) + 1)
        arguments[count++] = at;
    return count;
}

static void describe(const char *path, struct failure *failure) {
    char text[4096], *arguments[128];
    int rank, count = own_arguments(text, sizeof text, arguments, 128);
    struct clock clock;
    struct layout layout = {0};
    struct json json = {0};
    note_buffers(&layout);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    clock_open(&clock, "wtime", failure);
    // A timer that goes backwards is for the reader to judge: it is the program's, not ours.
    *failure = (struct failure){0};
    struct subject subject = {.program = count ? arguments[0] : "unknown",
                              .version = "unknown",
                              .experiment = count > 1 ? arguments[1] : "",
                              .argument_count = count,
                              .arguments = arguments,
                              .clock = &clock,
                              .payload_bytes = -1,
                              .threads = alone_threads(),
                              .layout = &layout};
    json_open(&json, '{');
    json_name(&json, "schema");
    json_string(&json, "cotejo-launch/2");
    describe_launch(&launch, &subject, &json, failure);
    json_close(&json, '}');
    if (rank == 0 && !failed(failure) && !json.lost)
        write_whole(path, json.text, json.length, failure);
    json_free(&json);
}

int MPI_Finalize(void) {
    const char *path = getenv("COTEJO_DESCRIPTION");
    struct failure failure = {0};
    if (path && *path)
        describe(path, &failure);
    if (failed(&failure))
        fprintf(stderr, "cotejo-observe: %s\n", failure.text);
    return PMPI_Finalize();
}
