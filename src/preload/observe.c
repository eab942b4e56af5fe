// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into another MPI program: describes its launch as cotejo describes its own.
//
// Intercepts MPI_Init, MPI_Init_thread and MPI_Finalize under their names in C and in Fortran. It
// also intercepts the C calls that move the data of most programs. One or two stores per call note
// their buffers. COTEJO_DESCRIPTION names the file to write.
#define _GNU_SOURCE // RTLD_NEXT
#include "alone.h"
#include "core/describe.h"
#include "core/ranks.h"
#include "core/whole.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct launch launch; // of this process; static because intercepted calls carry no state
static bool begun, described;

// Redirects the output of libraries at their start (transports, settings) to standard error. A
// METRIC reads standard output, where some libraries would mix such lines with those of the
// program.
static int aside(void) {
    int output;
    fflush(stdout);
    output = dup(STDOUT_FILENO);
    if (output >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    return output;
}

static void restore(int output) {
    fflush(stdout);
    if (output < 0)
        return;
    dup2(output, STDOUT_FILENO);
    close(output);
}

// In some libraries a call of Fortran makes the call of C of the same name: the first one counts.
static void begin(void) {
    if (!begun)
        launch = launch_begin();
    begun = true;
}

int MPI_Init(int *count, char ***arguments) {
    int output = aside(), status = PMPI_Init(count, arguments);
    restore(output);
    begin();
    return status;
}

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    int output = aside(), status = PMPI_Init_thread(count, arguments, required, provided);
    restore(output);
    begin();
    return status;
}

// The buffers of the last call of each kind. They are unknown for Fortran programs whose library
// does not enter these calls from Fortran.
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
    // A timer that goes backwards is no failure here: it belongs to the program, not to cotejo.
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

static void end(void) {
    const char *path = getenv("COTEJO_DESCRIPTION");
    struct failure failure = {0};
    if (path && *path && begun && !described)
        describe(path, &failure);
    described = true;
    if (failed(&failure))
        fprintf(stderr, "cotejo-observe: %s\n", failure.text);
}

int MPI_Finalize(void) {
    end();
    return PMPI_Finalize();
}

// The calls of mpif.h and the module mpi, and those of mpi_f08. Open MPI implements them without
// the calls of C, so that they are intercepted under their own names.
typedef void fortran_init(int *error);
typedef void fortran_init_thread(int *required, int *provided, int *error);

#define FORTRAN_CALLS(suffix)                                                                     \
    void mpi_init_##suffix(int *error);                                                           \
    void mpi_init_##suffix(int *error) {                                                          \
        fortran_init *next;                                                                       \
        *(void **)&next = dlsym(RTLD_NEXT, "mpi_init_" #suffix);                                  \
        int output = aside();                                                                     \
        next(error);                                                                              \
        restore(output);                                                                          \
        begin();                                                                                  \
    }                                                                                             \
    void mpi_init_thread_##suffix(int *required, int *provided, int *error);                      \
    void mpi_init_thread_##suffix(int *required, int *provided, int *error) {                     \
        fortran_init_thread *next;                                                                \
        *(void **)&next = dlsym(RTLD_NEXT, "mpi_init_thread_" #suffix);                           \
        int output = aside();                                                                     \
        next(required, provided, error);                                                          \
        restore(output);                                                                          \
        begin();                                                                                  \
    }                                                                                             \
    void mpi_finalize_##suffix(int *error);                                                       \
    void mpi_finalize_##suffix(int *error) {                                                      \
        fortran_init *next;                                                                       \
        *(void **)&next = dlsym(RTLD_NEXT, "mpi_finalize_" #suffix);                              \
        end();                                                                                    \
        next(error);                                                                              \
    }

FORTRAN_CALLS()
FORTRAN_CALLS(f08_)

// A program whose MPI_Finalize was not intercepted is reported, because nothing is known of it.
static void __attribute__((destructor)) report_unobserved(void) {
    const char *path = getenv("COTEJO_DESCRIPTION");
    int initialized = 0;
    if (!path || !*path || described)
        return;
    PMPI_Initialized(&initialized);
    if (initialized)
        fprintf(stderr, "cotejo-observe: this program is not observed: it used MPI, and its call "
                        "of MPI_Finalize was not seen; no description is written\n");
}
