// SPDX-License-Identifier: BSD-3-Clause
// Ends the launch when the MPI library reports an error, with one line that names the operation.
#include "errors.h"

#include "failure.h"
#include "payload.h"

#include <mpi.h>
#include <time.h>

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

static void tell_of_communicator(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    tell(*code);
}

static void tell_of_window(MPI_Win *window, int *code, ...) {
    (void)window;
    tell(*code);
}

static void tell_of_file(MPI_File *file, int *code, ...) {
    (void)file;
    tell(*code);
}

#ifdef COTEJO_SESSIONS
static void tell_of_session(MPI_Session *session, int *code, ...) {
    (void)session;
    tell(*code);
}

MPI_Errhandler errors_of_sessions(void) {
    MPI_Errhandler handler;
    MPI_Session_create_errhandler(tell_of_session, &handler);
    return handler;
}
#endif

void errors_of_window(MPI_Win window) {
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(tell_of_window, &handler);
    MPI_Win_set_errhandler(window, handler);
    MPI_Errhandler_free(&handler);
}

MPI_Win errors_window(MPI_Comm comm, const struct buffer *buffer) {
    MPI_Win window;
    size_t before = (size_t)(buffer->pool - buffer->memory);
    MPI_Win_create(buffer->pool, (MPI_Aint)(buffer->room - before), 1, MPI_INFO_NULL, comm,
                   &window);
    errors_of_window(window);
    return window;
}

void errors_of_file(MPI_File file) {
    MPI_Errhandler handler;
    MPI_File_create_errhandler(tell_of_file, &handler);
    MPI_File_set_errhandler(file, handler);
    MPI_Errhandler_free(&handler);
}

void errors_open(const char *program, const char *experiment) {
    MPI_Errhandler handler;
    now.program = program;
    now.experiment = experiment;
    MPI_Comm_create_errhandler(tell_of_communicator, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler); // goes with the communicators
}

void errors_during(const char *operation, size_t bytes) {
    now.operation = operation;
    now.bytes = bytes;
}
