// SPDX-License-Identifier: BSD-3-Clause
// The six-step FFT on a square of sqrt(N) x sqrt(N) complex points, a block of rows a rank.
#pragma once

#include "kernel.h"

#include <complex.h>
#include <fftw3.h>

struct point {
    double re, im;
};

enum { FFT_TRANSPOSITION, FFT_ROWS, FFT_TWIDDLE }; // the phases
enum { FFT_TAG = 3, FFT_LINE = 4 };                // points of a cache line

// Powers of the root of unity exp(-2 pi i / N), N = n * n, as products of two tables of n.
struct twiddle {
    size_t n;
    int half;                    // n = 2^half
    struct point *coarse, *fine; // coarse[i]: power i * n; fine[i]: power i. Owned
};

struct fft;

// How blocks go from every rank to every other.
struct blocks {
    const struct point *out; // block for rank q: `count` points from out + q * out_step
    struct point *in;        // block of rank p: to in + p * in_step
    size_t out_step, in_step;
    int count;
    bool own; // the own block is among them, and all are contiguous
};

struct fft_way {
    const char *name;
    bool own; // the own block of a complete transposition takes this way too
    // One of both: sends all ranks' blocks, or starts to send them; returns the number of requests
    // that it takes in `requests`.
    void (*whole)(struct fft *fft, const struct blocks *blocks);
    int (*start)(struct fft *fft, const struct blocks *blocks, MPI_Request *requests);
};

struct fft_variant {
    const char *name;
    bool by_rows, needs_start; // messages of one row; the way must be one that can be started
    bool any_way;              // false: the variant has only its own way to send
    void (*run)(struct fft *fft);
};

struct fft {
    MPI_Comm comm;
    int rank, size, threads, depth;
    size_t n, rows; // n x n points, `rows` lines of them here
    size_t batch;   // rows that are computed together: a cache line, where there are so many
    size_t chunk;   // rows in one message of the fused variant
    bool compared;  // with FFTW's own result
    const struct clock *clock;
    struct account account;
    const struct fft_variant *variant;
    const struct fft_way *way;
    bool backward;
    struct point *data, *work, *out;  // of rows * n points each; the result is in `data`. Owned
    struct point *scratch;            // a batch of rows a thread, padded. Owned
    MPI_Request *requests;            // 2 * (depth + 1) * size. Owned
    int *counts;                      // 3 * size, of collectives with displacements. Owned
    struct blocks counted;            // whose shape they are of
    MPI_Datatype point, column, line; // a point; and of alltoallw: a block to send, to receive
    fftw_plan plans[2];               // of one row in place, or of all: forward, backward
    struct twiddle twiddle;
};

// fft_local.c: within one rank, in the cache.
// The error of an entry is at most one unit in the last place of either part.
void twiddle_open(struct twiddle *twiddle, size_t n, struct failure *failure);
void twiddle_close(struct twiddle *twiddle);
// line[k] *= w^(row * k), k < n; backward: by the conjugates. Each factor is the product of at
// most four entries: its relative error is below 12 units of roundoff.
void twiddle_row(const struct twiddle *twiddle, size_t row, bool backward, struct point *line);
// The block of `rows` x `columns` at `from` to its transposed at `to`; strides in points.
void transpose_block(const struct point *from, size_t from_stride, struct point *to,
                     size_t to_stride, size_t rows, size_t columns);
// Rows [first, first + count) of `lines`: transformed, and multiplied by the twiddle factors.
void transform_rows(struct fft *fft, struct point *lines, size_t first, size_t count,
                    bool twiddle);

// fft_exchange.c
enum { FFT_WAYS = 7, FFT_VARIANTS = 6 };
extern const struct fft_way fft_ways[FFT_WAYS];
// Sends all blocks by the chosen way, until all have come.
void fft_exchange(struct fft *fft, const struct blocks *blocks);
void fft_sent(struct fft *fft, double messages, double points);
// Start receives of all others' blocks, and sends; return their number.
int fft_post(struct fft *fft, const struct blocks *blocks, MPI_Request *requests);
int fft_send(struct fft *fft, const struct blocks *blocks, MPI_Request *requests);

// fft_variants.c
extern const struct fft_variant fft_variants[FFT_VARIANTS];
void fft_fused(struct fft *fft);
// Messages and bytes that a rank sends in one run, by the formula of the study's table 4.13:
// blocks of N / P^2 points, by rows of sqrt(N) / P points. False: the variant has none.
bool fft_expected(const struct fft *fft, double *messages, double *bytes);
void fft_swap(struct fft *fft);

// fft_study.c: FFTW's own MPI transform.
void peer_run(struct fft *fft);

// fft_check.c
struct point fft_input(uint64_t index); // both parts in [-0.5, 0.5)
void fft_fill(void *fft);
void fft_check(void *fft, struct failure *failure);
