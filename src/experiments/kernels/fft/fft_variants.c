// SPDX-License-Identifier: BSD-3-Clause
// The study's variants of the FFT whose rows lie in the order of their numbers: they send complete
// blocks, or row by row.
#include "fft.h"

#include <string.h>

void fft_swap(struct fft *fft) {
    struct point *data = fft->data;
    fft->data = fft->work;
    fft->work = data;
}

void fft_cut(struct fft *fft, struct point *own, size_t stride) {
    long rows = (long)fft->rows, parts = (long)(fft->n / fft->batch);
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1)
    for (long part = 0; part < parts; part++) {
        long first = part * (long)fft->batch, peer = first / rows, column = first % rows;
        struct point *to = fft->out + first * rows;
        size_t step = fft->rows;
        if (peer == fft->rank) {
            to = own + column * (long)stride;
            step = stride;
        }
        transpose_block(fft->data + first, fft->n, to, step, fft->rows, fft->batch);
    }
}

void fft_cut_row(struct fft *fft, size_t row) {
    if (row % fft->batch) // was cut with the rows before: a cache line is read once
        return;
    for (size_t peer = 0; peer < (size_t)fft->size; peer++) {
        size_t first = peer * fft->rows + row;
        bool own = peer == (size_t)fft->rank;
        transpose_block(fft->data + first, fft->n,
                        own ? fft->work + row * fft->n + first - row
                            : fft->out + first * fft->rows,
                        own ? fft->n : fft->rows, fft->rows, fft->batch);
    }
}

static double spent(const struct fft *fft, double begin) {
    return program_mark(fft->clock) - begin;
}

// Turns the blocks of all ranks, which are contiguous in `work`, into rows of `data`.
static void join_blocks(struct fft *fft) {
    long rows = (long)fft->rows;
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1)
    for (long row = 0; row < rows; row++)
        for (long peer = 0; peer < fft->size; peer++)
            memcpy(fft->data + row * (long)fft->n + peer * rows,
                   fft->work + (peer * rows + row) * rows, fft->rows * sizeof(struct point));
}

// Data types that describe where each point goes: the library transposes.
static void transpose_typed(struct fft *fft) {
    int *ones = fft->counts, *sends = ones + fft->size, *receives = sends + fft->size;
    MPI_Datatype types[2][fft->size];
    fft->counted = (struct blocks){0};
    for (int i = 0; i < fft->size; i++) {
        ones[i] = 1;
        sends[i] = receives[i] = (int)((size_t)i * fft->rows * sizeof(struct point));
        types[0][i] = fft->column;
        types[1][i] = fft->line;
    }
    MPI_Alltoallw(fft->data, ones, sends, types[0], fft->work, ones, receives, types[1],
                  fft->comm);
    fft_sent(fft, fft->size - 1, (double)(fft->size - 1) * (double)(fft->rows * fft->rows));
    fft_swap(fft);
}

static void transpose_whole(struct fft *fft) {
    size_t block = fft->rows * fft->rows;
    struct blocks blocks = {fft->out, fft->work, block, block, (int)block, fft->way->own};
    double begin = program_mark(fft->clock);
    if (!fft->way->whole) {
        transpose_typed(fft);
    } else {
        fft_cut(fft, (fft->way->own ? fft->out : fft->work) + (size_t)fft->rank * block,
                fft->rows);
        fft->way->whole(fft, &blocks);
        join_blocks(fft);
    }
    fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
}

static void original(struct fft *fft) {
    for (int stage = 0; stage < 3; stage++) {
        transpose_whole(fft);
        if (stage < 2)
            transform_rows(fft, fft->data, 0, fft->rows, stage == 0);
    }
}

struct blocks fft_row(const struct fft *fft, size_t row) {
    return (struct blocks){fft->out + row * fft->rows,
                           fft->work + row * fft->n,
                           fft->rows * fft->rows,
                           fft->rows,
                           (int)fft->rows,
                           false};
}

static void by_rows(struct fft *fft) {
    for (int stage = 0; stage < 3; stage++) {
        for (size_t row = 0; row < fft->rows; row++) {
            struct blocks blocks = fft_row(fft, row);
            double begin = program_mark(fft->clock);
            fft_cut_row(fft, row);
            fft->way->whole(fft, &blocks);
            fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
            if (stage < 2)
                transform_rows(fft, fft->work + row * fft->n, row, 1, stage == 0);
        }
        fft_swap(fft);
    }
}

// A row is cut and started, then the one `depth` before it is waited for and computed: so many are
// under way meanwhile.
static void nonblocking(struct fft *fft) {
    size_t depth = (size_t)fft->depth, room = 2 * (size_t)fft->size;
    int counts[depth + 1];
    for (int stage = 0; stage < 3; stage++) {
        for (size_t row = 0; row < fft->rows + depth; row++) {
            size_t slot = row % (depth + 1), before = row - depth, ended = before % (depth + 1);
            double begin = program_mark(fft->clock);
            if (row < fft->rows) {
                struct blocks blocks = fft_row(fft, row);
                fft_cut_row(fft, row);
                counts[slot] = fft->way->start(fft, &blocks, fft->requests + slot * room);
            }
            if (row >= depth)
                MPI_Waitall(counts[ended], fft->requests + ended * room, MPI_STATUSES_IGNORE);
            fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
            if (row >= depth && stage < 2)
                transform_rows(fft, fft->work + before * fft->n, before, 1, stage == 0);
        }
        fft_swap(fft);
    }
}

bool fft_expected(const struct fft *fft, double *messages, double *bytes) {
    double peers = fft->size - 1, stages = 3;
    size_t count = fft->variant->by_rows            ? fft->rows
                   : fft->variant->run == fft_fused ? fft->rows / fft->chunk
                                                    : 1;
    *messages = stages * peers * (double)count;
    *bytes = stages * peers * (double)(fft->rows * fft->rows) * sizeof(struct point);
    return fft->variant->run != peer_run;
}

const struct fft_variant fft_variants[] = {
    {"original", "transpose all, then compute", false, false, true, original},
    {"rows", "transpose a row, then compute it", true, false, true, by_rows},
    {"threaded", "a thread computes rows while another transposes", true, false, true,
     fft_threaded},
    {"nonblocking", "--depth rows are under way while one is computed", true, true, true,
     nonblocking},
    {"fused", "a few rows at once, computed and transposed in the cache", false, false, false,
     fft_fused},
    {"fftw-mpi", "the transform of FFTW's own MPI library", false, false, false, peer_run},
    {0},
};
