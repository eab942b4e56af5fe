// SPDX-License-Identifier: BSD-3-Clause
// Preloaded in a test: changes the first byte that each collective operation leaves on the rank
// COTEJO_FLIP_AT, so that this rank alone sees the error. Operations on one element are spared:
// by these, ranks agree. Persistent operations have one request at a time, too. Communicators have
// another number of ranks there while a session is open.
#include <mpi.h>
#include <stdlib.h>

// A parameter with one of these names hides them. The data of a broadcast are not constant.
static const int n = 0;
static const void *const data = NULL;
static void *const into = NULL;
#define RESULT _Generic(data, void * : data, const void * : into)

static struct {
    char *result;
    MPI_Request request;
} started;

static void spoil(char *result) {
    const char *at = getenv("COTEJO_FLIP_AT");
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (result && at && atoi(at) == rank)
        *result ^= 4;
}

#ifdef COTEJO_SESSIONS
static int sessions;

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
    sessions++;
    return PMPI_Session_init(info, handler, session);
}

int MPI_Session_finalize(MPI_Session *session) {
    sessions--;
    return PMPI_Session_finalize(session);
}

int MPI_Comm_size(MPI_Comm comm, int *size) {
    int status = PMPI_Comm_size(comm, size);
    spoil(sessions ? (char *)size : NULL);
    return status;
}
#endif

#define OPEN(...) __VA_ARGS__
#ifdef COTEJO_PERSISTENT
#define PERSISTENT(Name, parameters, on)                                                          \
    int MPI_##Name##_init(OPEN parameters, MPI_Info info, MPI_Request *request) {                 \
        int status = PMPI_##Name##_init(OPEN on, info, request);                                  \
        started.result = (char *)RESULT;                                                          \
        started.request = *request;                                                               \
        return status;                                                                            \
    }
#else
#define PERSISTENT(Name, parameters, on)
#endif
#define CALL(...)
#define CALL_C(...)
#define COLLECTIVE(Name, name, parameters, on)                                                    \
    int MPI_##Name parameters {                                                                   \
        int status = PMPI_##Name on;                                                              \
        spoil(n == 1 ? NULL : (char *)RESULT);                                                    \
        return status;                                                                            \
    }                                                                                             \
    PERSISTENT(Name, parameters, on)                                                              \
    int MPI_I##name(OPEN parameters, MPI_Request *request) {                                      \
        int status = PMPI_I##name(OPEN on, request);                                              \
        started.result = (char *)RESULT;                                                          \
        started.request = *request;                                                               \
        return status;                                                                            \
    }
#define COLLECTIVE_C(...)
#include "../preload/calls.def"

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    int ours = started.result && *request == started.request;
    int result = PMPI_Wait(request, status);
    if (ours)
        spoil(started.result);
    if (ours && *request == MPI_REQUEST_NULL) // a persistent one would be started again
        started.result = NULL;
    return result;
}

int MPI_Request_free(MPI_Request *request) {
    if (*request == started.request)
        started.result = NULL;
    return PMPI_Request_free(request);
}
