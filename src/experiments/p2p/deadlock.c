// SPDX-License-Identifier: BSD-3-Clause
// Finds the message size from which on two blocking sends that meet never end.
#include "pair.h"

enum { TRIES = 2 };

// The rank whose send is looked at.
static void send_first(struct pair *pair) {
    MPI_Send(buffer_slot(&pair->out), pair->count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm);
    MPI_Send(NULL, 0, MPI_BYTE, pair->peer, PAIR_TOKEN, pair->comm);
    MPI_Recv(buffer_slot(&pair->in), pair->count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm,
             MPI_STATUS_IGNORE);
}

// The other: true when the token came while the message had no receive.
static bool hold_back(struct pair *pair, double patience_s) {
    MPI_Request sent;
    int seen = 0;
    MPI_Isend(buffer_slot(&pair->out), pair->count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm,
              &sent);
    for (double begin = MPI_Wtime(); !seen && MPI_Wtime() - begin < patience_s;)
        MPI_Iprobe(pair->peer, PAIR_TOKEN, pair->comm, &seen, MPI_STATUS_IGNORE);
    MPI_Recv(buffer_slot(&pair->in), pair->count, MPI_BYTE, pair->peer, PAIR_TAG, pair->comm,
             MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, pair->peer, PAIR_TOKEN, pair->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    return seen;
}

// Whether sends of `bytes` B complete by themselves in both directions, of all pairs.
static bool completes(struct pair *pair, size_t bytes, double patience_s) {
    pair->count = (int)bytes;
    for (int first = 0; first < 2; first++) {
        int complete = 1;
        if (pair->rank == first)
            send_first(pair);
        else
            complete = hold_back(pair, patience_s);
        MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT, MPI_MIN, pair->comm);
        if (!complete)
            return false;
    }
    return true;
}

static bool completes_once(struct pair *pair, size_t bytes, double patience_s) {
    for (int i = 0; i < TRIES; i++)
        if (completes(pair, bytes, patience_s))
            return true;
    return false;
}

// The smallest of the sizes above `size`; infinite: there is none.
static double next_size(const struct sizes *sizes, double size) {
    double next = INFINITY;
    for (size_t i = 0; i < sizes->count; i++)
        if ((double)sizes->bytes[i] > size)
            next = fmin(next, (double)sizes->bytes[i]);
    return next;
}

struct deadlock deadlock_find(struct bench *bench, struct pair *pair, const struct sizes *sizes) {
    struct deadlock found = {.least = next_size(sizes, -1), .safe = -1};
    double patience_s = options_real(&bench->options, "patience") * bench->clock.dilation;
    while (isfinite(found.least) && completes_once(pair, (size_t)found.least, patience_s)) {
        found.safe = found.least;
        found.least = next_size(sizes, found.safe);
    }
    // To the byte: at most as many steps as a size has bits.
    while (isfinite(found.least) && found.least - found.safe > 1) {
        size_t middle = (size_t)((found.safe + found.least) / 2);
        if (completes_once(pair, middle, patience_s))
            found.safe = (double)middle;
        else
            found.least = (double)middle;
    }
    return found;
}
