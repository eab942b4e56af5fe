// SPDX-License-Identifier: BSD-3-Clause
// Ends the launch when the MPI library reports an error, with one line that names the operation.
#pragma once

#include "standard.h"

#include <mpi.h>

// Installs a handler for the errors of MPI_COMM_WORLD and of all communicators that are later made
// from it. Both strings must stay valid. To be called once, after MPI_Init.
void errors_open(const char *program, const char *experiment);

// Notes the current operation of this rank and the size of its messages; NULL: none. The string
// must stay valid.
void errors_during(const char *operation, size_t bytes);

#ifdef MPI_VERSION // layers without MPI have no windows and files
// The same for a window and for a file, which do not inherit the handler of a communicator.
void errors_of_window(MPI_Win window);
void errors_of_file(MPI_File file);

// A window of a buffer, with that handler. Collective.
struct buffer;
MPI_Win errors_window(MPI_Comm comm, const struct buffer *buffer);

#ifdef COTEJO_SESSIONS
// A handler for sessions, which is the caller's to free.
MPI_Errhandler errors_of_sessions(void);
#endif

// The library's text for an error, without line ends.
void errors_text(int code, char said[MPI_MAX_ERROR_STRING]);
#endif
