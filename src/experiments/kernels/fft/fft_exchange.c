// SPDX-License-Identifier: BSD-3-Clause
// The ways in which the blocks of a transposition go from every rank to every other.
#include "fft.h"

void fft_sent(struct fft *fft, double messages, double points) {
    fft->account.messages += messages;
    fft->account.bytes += points * sizeof(struct point);
}

static const struct point *block_for(const struct blocks *b, int rank) {
    return b->out + (size_t)rank * b->out_step;
}

static struct point *block_of(const struct blocks *b, int rank) {
    return b->in + (size_t)rank * b->in_step;
}

// Ranks are a power of two, so in each round all are in pairs.
static void sendrecv(struct fft *fft, const struct blocks *b) {
    for (int round = 1; round < fft->size; round++) {
        int peer = fft->rank ^ round;
        MPI_Sendrecv(block_for(b, peer), b->count, fft->point, peer, FFT_TAG, block_of(b, peer),
                     b->count, fft->point, peer, FFT_TAG, fft->comm, MPI_STATUS_IGNORE);
        fft_sent(fft, 1, b->count);
    }
}

// One of each pair sends first, so that no message needs the library's memory.
static void separate(struct fft *fft, const struct blocks *b) {
    for (int round = 1; round < fft->size; round++) {
        int peer = fft->rank ^ round;
        for (int half = 0; half < 2; half++) {
            if ((fft->rank < peer) == (half == 0))
                MPI_Send(block_for(b, peer), b->count, fft->point, peer, FFT_TAG, fft->comm);
            else
                MPI_Recv(block_of(b, peer), b->count, fft->point, peer, FFT_TAG, fft->comm,
                         MPI_STATUS_IGNORE);
        }
        fft_sent(fft, 1, b->count);
    }
}

int fft_post(struct fft *fft, const struct blocks *b, MPI_Request *requests) {
    int count = 0;
    for (int step = 1; step < fft->size; step++) {
        int peer = (fft->rank + fft->size - step) % fft->size;
        MPI_Irecv(block_of(b, peer), b->count, fft->point, peer, FFT_TAG, fft->comm,
                  &requests[count++]);
    }
    return count;
}

// The study's: all receives are posted, then sends that block.
static void posted(struct fft *fft, const struct blocks *b) {
    int count = fft_post(fft, b, fft->requests);
    for (int step = 1; step < fft->size; step++) {
        int peer = (fft->rank + step) % fft->size;
        MPI_Send(block_for(b, peer), b->count, fft->point, peer, FFT_TAG, fft->comm);
        fft_sent(fft, 1, b->count);
    }
    MPI_Waitall(count, fft->requests, MPI_STATUSES_IGNORE);
}

int fft_send(struct fft *fft, const struct blocks *b, MPI_Request *requests) {
    int count = 0;
    for (int step = 1; step < fft->size; step++) {
        int peer = (fft->rank + step) % fft->size;
        MPI_Isend(block_for(b, peer), b->count, fft->point, peer, FFT_TAG, fft->comm,
                  &requests[count++]);
        fft_sent(fft, 1, b->count);
    }
    return count;
}

static int start_isend(struct fft *fft, const struct blocks *b, MPI_Request *requests) {
    int count = fft_post(fft, b, requests);
    return count + fft_send(fft, b, requests + count);
}

// Fills the lists of an exchange: counts, then places of what is sent and of what comes. The own
// block stays out of it: it is in its place already. Lists of the same shape are left as they are,
// since exchanges that are under way still read them.
static void displace(struct fft *fft, const struct blocks *b) {
    int *counts = fft->counts, *sends = counts + fft->size, *receives = sends + fft->size;
    fft_sent(fft, fft->size - 1, (double)b->count * (fft->size - 1));
    if (b->own || (fft->counted.count == b->count && fft->counted.out_step == b->out_step &&
                   fft->counted.in_step == b->in_step))
        return;
    fft->counted = *b;
    for (int i = 0; i < fft->size; i++) {
        counts[i] = i == fft->rank ? 0 : b->count;
        sends[i] = (int)((size_t)i * b->out_step);
        receives[i] = (int)((size_t)i * b->in_step);
    }
}

// The arguments where the own block is among the blocks, and where it is not.
#define EVEN b->out, b->count, fft->point, b->in, b->count, fft->point, fft->comm
#define DISPLACED                                                                                 \
    b->out, fft->counts, fft->counts + fft->size, fft->point, b->in, fft->counts,                 \
        fft->counts + 2 * fft->size, fft->point, fft->comm

static void alltoall(struct fft *fft, const struct blocks *b) {
    displace(fft, b);
    if (b->own)
        MPI_Alltoall(EVEN);
    else
        MPI_Alltoallv(DISPLACED);
}

static int start_ialltoall(struct fft *fft, const struct blocks *b, MPI_Request *requests) {
    displace(fft, b);
    if (b->own)
        MPI_Ialltoall(EVEN, requests);
    else
        MPI_Ialltoallv(DISPLACED, requests);
    return 1;
}

void fft_exchange(struct fft *fft, const struct blocks *b) {
    if (fft->way->whole)
        fft->way->whole(fft, b);
    else
        MPI_Waitall(fft->way->start(fft, b, fft->requests), fft->requests, MPI_STATUSES_IGNORE);
}

const struct fft_way fft_ways[FFT_WAYS] = {
    {"sendrecv", false, sendrecv, NULL}, {"separate", false, separate, NULL},
    {"posted", false, posted, NULL},     {"isend", false, NULL, start_isend},
    {"alltoall", true, alltoall, NULL},  {"ialltoall", true, NULL, start_ialltoall},
    {"alltoallw", true, NULL, NULL}, // its data types transpose: see fft_variants.c
};
