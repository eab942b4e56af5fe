// SPDX-License-Identifier: BSD-3-Clause
// Carriers of messages between ranks below, or beside, MPI.
#pragma once

#include "failure.h"
#include "options.h"

#include <mpi.h>

enum { RANKS_MOST = 16 };

struct carrier;

// The ways of one rank to the others. Every rank can reach rank 0, and rank 0 every rank; each
// direction keeps its order.
struct ways {
    MPI_Comm comm; // the ranks that take part, which need not be all
    int rank, size;
    const struct options *options;
    const struct carrier *carrier;
    struct failure *failure; // once it is set, nothing is sent or received any more
    bool grouped;            // the ranks join the library's group, in the order of their numbers
    int to[RANKS_MOST];      // sockets; -1: none
    bool polls;              // receivers over sockets do not sleep
    void *own;               // the carrier's own
};

struct carrier {
    const char *name, *summary;
    size_t most; // the largest message, B; 0: any
    bool echo;   // the other host's kernel answers, not its rank
    // Collective. Sets the failure of any rank where it is not to be had.
    void (*open)(struct ways *ways);
    void (*close)(struct ways *ways);
    void (*send)(struct ways *ways, int to, const char *bytes, size_t count);
    void (*receive)(struct ways *ways, int from, char *bytes, size_t count);
    // Sends one message from rank 0 to all others with the library's own broadcast; the other
    // ranks call `receive_all`. NULL: the library has none.
    void (*send_all)(struct ways *ways, const char *bytes, size_t count);
    void (*receive_all)(struct ways *ways, char *bytes, size_t count);
    // The same, addressed to a group that the ranks have joined, not to the ranks.
    void (*send_group)(struct ways *ways, const char *bytes, size_t count);
    bool lossy; // what is sent faster than it is received is lost
};

// The carriers of this program; ends with NULL. The first one is the default.
extern const struct carrier *const carriers[];

// Declares --transport and what else the carriers of this program take.
extern const struct option carrier_options[];

// Name and version of the measured library, in place of MPI_Get_library_version.
const char *library_version(void);

// The rank that the library's own launcher gave this process; -1: it has none.
int library_rank(void);

// Notes what the system said of a message from or to rank `other`.
void ways_fail(struct ways *ways, const char *what, int other);
