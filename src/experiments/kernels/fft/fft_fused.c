// SPDX-License-Identifier: BSD-3-Clause
// The FFT as few times through memory as it can: a batch of rows is gathered, transformed and
// transposed while it is in the cache, and sent while it is still in a shared one.
#include "fft.h"

#include <string.h>

// Between passes the square lies in tiles. For each rank p and each of its chunks c, a tile holds,
// for each row of this rank, `chunk` points from column p * rows + c * chunk on.
struct pass {
    struct fft *fft;
    const struct point *from;
    struct point *to; // tiles
    bool tiled;       // so is `from`
    bool transform, twiddle;
    size_t chunk; // the present one
};

static struct point *tile(const struct fft *fft, struct point *tiles, int peer, size_t chunk) {
    size_t number = (size_t)peer * (fft->rows / fft->chunk) + chunk;
    return tiles + number * fft->rows * fft->chunk;
}

static struct point *slot(const struct fft *fft, size_t chunk) {
    return fft->out + chunk % ((size_t)fft->depth + 1) * fft->n * fft->chunk;
}

// Rows [row, row + count) out of tiles.
static void gather(const struct fft *fft, const struct point *tiles, size_t row, size_t count,
                   struct point *to, size_t stride) {
    size_t width = fft->chunk, tall = fft->n / width;
    for (size_t t = 0; t < tall; t++) {
        const struct point *from = tiles + (t * fft->rows + row) * width;
        for (size_t r = 0; r < count; r++)
            memcpy(to + r * stride + t * width, from + r * width, width * sizeof *to);
    }
}

// One rank's columns of a batch of rows become pieces of its rows.
static void scatter(const struct fft *fft, const struct point *from, size_t stride,
                    struct point *to) {
    size_t count = fft->rows, to_stride = fft->chunk;
    if (fft->batch != FFT_LINE) {
        transpose_block(from, stride, to, to_stride, fft->batch, count);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const struct point *column = from + k;
        struct point *piece = to + k * to_stride;
        for (size_t r = 0; r < FFT_LINE; r++)
            piece[r] = column[r * stride];
    }
}

// A batch of rows, `at` within the chunk.
static void batch(struct pass *pass, size_t at, struct point *scratch, double phase_s[]) {
    struct fft *fft = pass->fft;
    size_t row = pass->chunk * fft->chunk + at, stride = fft->n + FFT_LINE;
    const struct point *lines = scratch;
    double begin = program_mark(fft->clock);
    if (pass->tiled) {
        gather(fft, pass->from, row, fft->batch, scratch, stride);
    } else {
        lines = pass->from + row * fft->n;
        stride = fft->n;
    }
    double gathered = program_mark(fft->clock), transformed = gathered, turned = gathered;
    if (pass->transform) {
        for (size_t r = 0; r < fft->batch; r++) {
            fftw_complex *line = (fftw_complex *)(scratch + r * stride);
            fftw_execute_dft(fft->plans[fft->backward], line, line);
        }
        turned = transformed = program_mark(fft->clock);
    }
    if (pass->twiddle) {
        for (size_t r = 0; r < fft->batch; r++)
            twiddle_row(&fft->twiddle, (size_t)fft->rank * fft->rows + row + r, fft->backward,
                        scratch + r * stride);
        turned = program_mark(fft->clock);
    }
    for (int peer = 0; peer < fft->size; peer++) {
        struct point *to = peer == fft->rank
                               ? tile(fft, pass->to, peer, pass->chunk)
                               : slot(fft, pass->chunk) + (size_t)peer * fft->rows * fft->chunk;
        scatter(fft, lines + (size_t)peer * fft->rows, stride, to + at);
    }
    phase_s[FFT_TRANSPOSITION] += gathered - begin + program_mark(fft->clock) - turned;
    phase_s[FFT_ROWS] += transformed - gathered;
    phase_s[FFT_TWIDDLE] += turned - transformed;
}

// Computes all batches of a chunk. With several threads the times of the first thread count.
static void compute(struct pass *pass) {
    struct fft *fft = pass->fft;
    long batches = (long)(fft->chunk / fft->batch);
    size_t room = fft->batch * (fft->n + FFT_LINE);
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1) schedule(static, 1)
    for (long b = 0; b < batches; b++) {
        size_t thread = (size_t)(b % fft->threads);
        double phase_s[KERNEL_PHASES] = {0};
        batch(pass, (size_t)b * fft->batch, fft->scratch + thread * room, phase_s);
        for (int i = 0; thread == 0 && i < KERNEL_PHASES; i++)
            fft->account.phase_s[i] += phase_s[i];
    }
}

static int post(struct pass *pass, MPI_Request *requests) {
    struct fft *fft = pass->fft;
    int count = 0, points = (int)(fft->rows * fft->chunk);
    for (int step = 1; step < fft->size; step++) {
        int peer = (fft->rank + fft->size - step) % fft->size;
        MPI_Irecv(tile(fft, pass->to, peer, pass->chunk), points, fft->point, peer, FFT_TAG,
                  fft->comm, &requests[count++]);
    }
    return count;
}

static int sent(struct pass *pass, MPI_Request *requests) {
    struct fft *fft = pass->fft;
    int count = 0, points = (int)(fft->rows * fft->chunk);
    for (int step = 1; step < fft->size; step++) {
        int peer = (fft->rank + step) % fft->size;
        MPI_Isend(slot(fft, pass->chunk) + (size_t)peer * (size_t)points, points, fft->point, peer,
                  FFT_TAG, fft->comm, &requests[count++]);
        fft_sent(fft, 1, points);
    }
    return count;
}

// `depth` chunks are under way while one is computed.
static void through(struct pass *pass) {
    struct fft *fft = pass->fft;
    size_t chunks = fft->rows / fft->chunk, slots = (size_t)fft->depth + 1;
    int each = 2 * (fft->size - 1);
    for (size_t c = 0; c < chunks + slots; c++) {
        MPI_Request *requests = fft->requests + c % slots * 2 * (size_t)fft->size;
        double begin = program_mark(fft->clock);
        if (c >= slots && c - slots < chunks)
            MPI_Waitall(each, requests, MPI_STATUSES_IGNORE);
        if (c < chunks) {
            pass->chunk = c;
            int posted = post(pass, requests);
            fft->account.phase_s[FFT_TRANSPOSITION] += program_mark(fft->clock) - begin;
            compute(pass);
            begin = program_mark(fft->clock);
            sent(pass, requests + posted);
        }
        fft->account.phase_s[FFT_TRANSPOSITION] += program_mark(fft->clock) - begin;
    }
}

void fft_fused(struct fft *fft) {
    struct pass passes[] = {
        {fft, fft->data, fft->work, false, false, false, 0},
        {fft, fft->work, fft->data, true, true, true, 0},
        {fft, fft->data, fft->work, true, true, false, 0},
    };
    for (int i = 0; i < 3; i++)
        through(&passes[i]);
    double begin = program_mark(fft->clock);
    long parts = (long)(fft->rows / fft->batch);
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1)
    for (long part = 0; part < parts; part++)
        gather(fft, fft->work, (size_t)part * fft->batch, fft->batch,
               fft->data + (size_t)part * fft->batch * fft->n, fft->n);
    fft->account.phase_s[FFT_TRANSPOSITION] += program_mark(fft->clock) - begin;
}
