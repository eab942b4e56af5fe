// SPDX-License-Identifier: BSD-3-Clause
// Factors against long double, in the places where cheap ways go wrong: near the axes and far out.
#include "check.h"
#include "fft.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static void exact(size_t n, size_t row, bool backward) {
    struct twiddle twiddle;
    struct failure failure = {0};
    struct point *line = malloc(n * sizeof *line);
    long double turn = 8 * atanl(1), whole = (long double)n * (long double)n;
    double worst = 0;
    twiddle_open(&twiddle, n, &failure);
    CHECK(!failed(&failure) && line);
    for (size_t k = 0; k < n; k++)
        line[k] = (struct point){1, 0};
    twiddle_row(&twiddle, row, backward, line);
    for (size_t k = 0; k < n; k++) {
        long double angle = turn * (long double)(row * k % (n * n)) / whole;
        double re = (double)(line[k].re - cosl(angle));
        double im = (double)(line[k].im - (backward ? sinl(angle) : -sinl(angle)));
        worst = fmax(worst, hypot(re, im));
    }
    CHECK(worst < 6 * DBL_EPSILON); // 12 units of roundoff
    CHECK(line[0].re == 1 && line[0].im == 0);
    twiddle_close(&twiddle);
    free(line);
}

// Multiplies what is there, point by point.
static void multiplies(void) {
    struct twiddle twiddle;
    struct failure failure = {0};
    struct point line[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    twiddle_open(&twiddle, 4, &failure);
    twiddle_row(&twiddle, 2, false, line); // powers of an eighth of a turn backwards
    double r = sqrt(0.5);
    CHECK(line[0].re == 1 && line[0].im == 2);
    CHECK(fabs(line[1].re - r * 7) < 1e-14 && fabs(line[1].im - r * 1) < 1e-14);
    CHECK(fabs(line[2].re - 6) < 1e-14 && fabs(line[2].im + 5) < 1e-14);
    twiddle_close(&twiddle);
}

int main(void) {
    for (size_t n = 2; n <= 4096; n *= 2) {
        exact(n, 1, false);
        exact(n, n - 1, false);
        exact(n, n / 2, true);
    }
    exact(4096, 2731, true);
    multiplies();
    return check_status();
}
