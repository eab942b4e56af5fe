// SPDX-License-Identifier: BSD-3-Clause
// Ends the launch when the MPI library reports an error, with one line that names the operation.
#include "errors.h"

#include "failure.h"
#include "payload.h"

#include <mpi.h>

// A handler of MPI is given no more than its object and a code.
static struct {
    const char *program, *experiment, *operation;
    size_t bytes;
} now;

void errors_text(int code, char said[MPI_MAX_ERROR_STRING]) {
    int length = 0;
    *said = '\0';
    MPI_Error_string(code, said, &length);
    for (char *c = said; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

// The default handlers differ between libraries, and do not name the operation.
static void tell(int code) {
    static bool told;
    if (told) // the end of the launch may be an error, too
        return;
    told = true;
    char said[MPI_MAX_ERROR_STRING], during[120] = "outside of all operations";
    int rank, size;
    errors_text(code, said);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (now.operation)
        snprintf(during, sizeof during, "%s of %zu B", now.operation, now.bytes);
    fprintf(stderr,
            "%s %s: rank %d of %d, during %s: the MPI library reports '%s'; nothing is reported, "
            "try another size, transport or version of it\n",
            now.program, now.experiment, rank, size, during, said);
    // A launcher that notices the end first may lose the message.
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
}

// A handler for one kind of object. The kinds differ in their types only.
#define HANDLER(Kind)                                                                             \
    static void tell_of_##Kind(MPI_##Kind *object, int *code, ...) {                              \
        (void)object;                                                                             \
        tell(*code);                                                                              \
    }

// The same, and a function that sets it. It is freed with the last object.
#define HANDLED(function, Kind)                                                                   \
    HANDLER(Kind)                                                                                 \
    function(MPI_##Kind object) {                                                                 \
        MPI_Errhandler handler;                                                                   \
        MPI_##Kind##_create_errhandler(tell_of_##Kind, &handler);                                 \
        MPI_##Kind##_set_errhandler(object, handler);                                             \
        MPI_Errhandler_free(&handler);                                                            \
    }
HANDLED(static void of_communicator, Comm)
HANDLED(void errors_of_window, Win)
HANDLED(void errors_of_file, File)

#ifdef COTEJO_SESSIONS
HANDLER(Session)

MPI_Errhandler errors_of_sessions(void) {
    MPI_Errhandler handler;
    MPI_Session_create_errhandler(tell_of_Session, &handler);
    return handler;
}
#endif

MPI_Win errors_window(MPI_Comm comm, const struct buffer *buffer) {
    MPI_Win window;
    size_t before = (size_t)(buffer->pool - buffer->memory);
    MPI_Win_create(buffer->pool, (MPI_Aint)(buffer->room - before), 1, MPI_INFO_NULL, comm,
                   &window);
    errors_of_window(window);
    return window;
}

void errors_open(const char *program, const char *experiment) {
    now.program = program;
    now.experiment = experiment;
    of_communicator(MPI_COMM_WORLD);
}

void errors_during(const char *operation, size_t bytes) {
    now.operation = operation;
    now.bytes = bytes;
}
