// SPDX-License-Identifier: BSD-3-Clause
// Twiddle factors: two small exact tables instead of a large one or a drifting recurrence.
#include "fft.h"

#include <math.h>
#include <stdlib.h>

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
