// SPDX-License-Identifier: BSD-3-Clause
// The work of the FFT within one rank: twiddle factors, transpositions in the cache, and rows.
#include "fft.h"

// Twiddle factors come from two small exact tables instead of a large one or a drifting
// recurrence.

enum { LINE = 64, STEP_MOST = 1 << 10 };

// Returns exp(-2 pi i `part` / `whole`). The angle is first reduced to an eighth of a turn, so
// that neither component loses digits.
static struct point root(size_t part, size_t whole) {
    static const long double turn = 6.283185307179586476925286766559005768L;
    size_t eighth = 8 * part / whole;
    bool mirrored = eighth % 2;
    size_t near = (eighth + mirrored) * whole, far = 8 * part;
    long double angle = (long double)(mirrored ? near - far : far - near) / (long double)whole;
    angle *= turn / 8;
    double c = (double)cosl(angle), s = (double)sinl(angle);
    switch ((eighth + mirrored) / 2 % 4) { // quarter turns; the angle goes back when mirrored
    case 0:
        return (struct point){c, mirrored ? s : -s};
    case 1:
        return (struct point){mirrored ? s : -s, -c};
    case 2:
        return (struct point){-c, mirrored ? -s : s};
    default:
        return (struct point){mirrored ? -s : s, c};
    }
}

static struct point times(struct point a, struct point b) {
    return (struct point){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

void twiddle_open(struct twiddle *twiddle, size_t n, struct failure *failure) {
    size_t room = (n * sizeof(struct point) + LINE - 1) / LINE * LINE;
    *twiddle = (struct twiddle){.n = n};
    for (size_t i = n; i > 1; i /= 2)
        twiddle->half++;
    twiddle->coarse = aligned_alloc(LINE, room);
    twiddle->fine = aligned_alloc(LINE, room);
    if (!twiddle->coarse || !twiddle->fine) {
        failure_set(failure, STATUS_USAGE, "no memory for tables of %zu twiddle factors", n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        twiddle->coarse[i] = root(i, n);
        twiddle->fine[i] = root(i, n * n);
    }
}

void twiddle_close(struct twiddle *twiddle) {
    free(twiddle->coarse);
    free(twiddle->fine);
    *twiddle = (struct twiddle){0};
}

static struct point power(const struct twiddle *t, size_t exponent, bool backward) {
    struct point w =
        times(t->coarse[exponent >> t->half & (t->n - 1)], t->fine[exponent & (t->n - 1)]);
    return (struct point){w.re, backward ? -w.im : w.im};
}

void twiddle_row(const struct twiddle *twiddle, size_t row, bool backward, struct point *line) {
    struct point steps[STEP_MOST];
    size_t step = (size_t)1 << (twiddle->half + 1) / 2;
    for (size_t i = 0; i < step; i++)
        steps[i] = power(twiddle, row * i, backward);
    for (size_t k = 0; k < twiddle->n; k += step) {
        struct point base = power(twiddle, row * k, backward);
        for (size_t i = 0; i < step; i++)
            line[k + i] = times(line[k + i], times(base, steps[i]));
    }
}

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
