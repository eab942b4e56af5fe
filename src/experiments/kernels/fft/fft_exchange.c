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

// The own block stays out of it: it is in its place already. Lists of the same shape are left as
// they are, since exchanges that are under way still read them.
static void displace(struct fft *fft, const struct blocks *b, int **lists) {
    for (int i = 0; i < 4; i++)
        lists[i] = fft->counts + i * fft->size;
    fft_sent(fft, fft->size - 1, (double)b->count * (fft->size - 1));
    if (fft->counted.count == b->count && fft->counted.out_step == b->out_step &&
        fft->counted.in_step == b->in_step)
        return;
    fft->counted = *b;
    for (int i = 0; i < fft->size; i++) {
        lists[0][i] = lists[2][i] = i == fft->rank ? 0 : b->count;
        lists[1][i] = (int)((size_t)i * b->out_step);
        lists[3][i] = (int)((size_t)i * b->in_step);
    }
}

static void alltoall(struct fft *fft, const struct blocks *b) {
    int *lists[4];
    if (b->own) {
        fft_sent(fft, fft->size - 1, (double)b->count * (fft->size - 1));
        MPI_Alltoall(b->out, b->count, fft->point, b->in, b->count, fft->point, fft->comm);
        return;
    }
    displace(fft, b, lists);
    MPI_Alltoallv(b->out, lists[0], lists[1], fft->point, b->in, lists[2], lists[3], fft->point,
                  fft->comm);
}

static int start_ialltoall(struct fft *fft, const struct blocks *b, MPI_Request *requests) {
    int *lists[4];
    if (b->own) {
        fft_sent(fft, fft->size - 1, (double)b->count * (fft->size - 1));
        MPI_Ialltoall(b->out, b->count, fft->point, b->in, b->count, fft->point, fft->comm,
                      requests);
        return 1;
    }
    displace(fft, b, lists);
    MPI_Ialltoallv(b->out, lists[0], lists[1], fft->point, b->in, lists[2], lists[3], fft->point,
                   fft->comm, requests);
    return 1;
}

static void finish(struct fft *fft, const struct blocks *b,
                   int (*start)(struct fft *, const struct blocks *, MPI_Request *)) {
    int count = start(fft, b, fft->requests);
    MPI_Waitall(count, fft->requests, MPI_STATUSES_IGNORE);
}

static void isend(struct fft *fft, const struct blocks *b) {
    finish(fft, b, start_isend);
}

static void ialltoall(struct fft *fft, const struct blocks *b) {
    finish(fft, b, start_ialltoall);
}

const struct fft_way fft_ways[] = {
    {"sendrecv", false, sendrecv, NULL},
    {"separate", false, separate, NULL},
    {"posted", false, posted, NULL},
    {"isend", false, isend, start_isend},
    {"alltoall", true, alltoall, NULL},
    {"ialltoall", true, ialltoall, start_ialltoall},
    {"alltoallw", true, NULL, NULL}, // its data types transpose: see fft_variants.c
    {0},
};
