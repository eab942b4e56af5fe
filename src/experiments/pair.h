// SPDX-License-Identifier: BSD-3-Clause
// Two ranks and what passes between them: modes of sending, buffers, checked payloads.
#ifndef COTEJO_EXPERIMENTS_PAIR_H
#define COTEJO_EXPERIMENTS_PAIR_H

#include "bench.h"
#include "payload.h"
#include "repeat.h"

struct pair {
    MPI_Comm comm;
    int rank, peer, count;
    bool blocking; // of the send; its receive is posted before when it is not
    bool ready;
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    struct buffer out, in;
    MPI_Request posted; // a receive that outlives the call that posted it
    void *attached;     // room of buffered sends
    double *payload_bytes;
};

// Declares --sizes, --mode, --blocking and --cache.
extern const struct option pair_options[];

// An exchange between two ranks, once for each size of the options: checked, repeated, checked
// again. `begin` and `end` (may be NULL) post and drain what `go` keeps posted between calls.
struct pattern {
    const char *operation;
    double share; // as of struct work
    void (*begin)(struct pair *pair);
    void (*go)(void *pair, long calls);
    void (*end)(struct pair *pair);
};

void pair_run(struct bench *bench, const struct pattern *pattern);

// The pieces of a pattern: a send in the chosen mode, a receive posted, a blocking receive.
void pair_send(struct pair *pair, MPI_Request *sent); // *sent is MPI_REQUEST_NULL when blocking
void pair_post(struct pair *pair, MPI_Request *received);
void pair_receive(struct pair *pair);

#endif
