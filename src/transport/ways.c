// SPDX-License-Identifier: BSD-3-Clause
// Opens the chosen carrier between the ranks, and keeps a failed one from being used further.
#include "carrier.h"
#include "ranks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void ways_fail(struct ways *ways, const char *what, int other) {
    const char *said = errno == EAGAIN || errno == EWOULDBLOCK ? "nothing within 5 s; it was lost"
                       : errno                                 ? strerror(errno)
                                                               : "the connection was closed";
    if (!failed(ways->failure))
        failure_set(ways->failure, STATUS_FAILED, "%s: %s rank %d: %s", ways->carrier->name, what,
                    other, said);
}

void ways_open(struct ways *ways, MPI_Comm comm, const struct options *options, bool grouped,
               struct failure *failure) {
    *ways =
        (struct ways){.comm = comm, .options = options, .grouped = grouped, .failure = failure};
    MPI_Comm_rank(comm, &ways->rank);
    MPI_Comm_size(comm, &ways->size);
    for (int i = 0; i < RANKS_MOST; i++)
        ways->to[i] = -1;
    for (const struct carrier *const *c = carriers; *c; c++)
        if (options_is(options, "transport", (*c)->name))
            ways->carrier = *c;
    if (grouped && !ways->carrier->send_group)
        failure_set(failure, STATUS_USAGE, "--broadcast group: --transport %s has no groups",
                    ways->carrier->name);
    else
        ways->carrier->open(ways);
    if (ranks_agree(comm, failure, false) == STATUS_OK && ways->rank == 0)
        printf("transport %s: %s\n", ways->carrier->name, ways->carrier->summary);
}

void ways_close(struct ways *ways) {
    if (ways->carrier)
        ways->carrier->close(ways);
}

void ways_send(struct ways *ways, int to, const char *bytes, size_t count) {
    if (!failed(ways->failure))
        ways->carrier->send(ways, to, bytes, count);
}

void ways_receive(struct ways *ways, int from, char *bytes, size_t count) {
    if (!failed(ways->failure))
        ways->carrier->receive(ways, from, bytes, count);
}
