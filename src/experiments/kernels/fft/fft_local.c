// SPDX-License-Identifier: BSD-3-Clause
// The local steps of the FFT: transposition in blocks that stay in the cache, and rows.
#include "fft.h"

// Edge length of a tile, points. A tile and its transpose fit the first-level cache, even if all
// their rows fall into the same sets.
enum { TILE = 8 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

void transpose_block(const struct point *from, size_t from_stride, struct point *to,
                     size_t to_stride, size_t rows, size_t columns) {
    for (size_t r = 0; r < rows; r += TILE) {
        size_t height = least(TILE, rows - r);
        for (size_t c = 0; c < columns; c += TILE) {
            size_t width = least(TILE, columns - c);
            for (size_t j = 0; j < width; j++) {
                const struct point *source = from + r * from_stride + c + j;
                struct point *target = to + (c + j) * to_stride + r;
                for (size_t i = 0; i < height; i++)
                    target[i] = source[i * from_stride];
            }
        }
    }
}

void transform_rows(struct fft *fft, struct point *lines, size_t first, size_t count,
                    bool twiddle) {
    fftw_plan plan = fft->plans[fft->backward];
    long rows = (long)count, n = (long)fft->n;
    double begin = program_mark(fft->clock);
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1)
    for (long i = 0; i < rows; i++) {
        fftw_complex *line = (fftw_complex *)(lines + i * n);
        fftw_execute_dft(plan, line, line);
    }
    double middle = program_mark(fft->clock);
    fft->account.phase_s[FFT_ROWS] += middle - begin;
    if (!twiddle)
        return;
    size_t global = (size_t)fft->rank * fft->rows + first;
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1)
    for (long i = 0; i < rows; i++)
        twiddle_row(&fft->twiddle, global + (size_t)i, fft->backward, lines + i * n);
    fft->account.phase_s[FFT_TWIDDLE] += program_mark(fft->clock) - middle;
}
