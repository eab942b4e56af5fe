// SPDX-License-Identifier: BSD-3-Clause
// Fast Fourier transforms of a block of lines: Stockham's, which needs no reordering, by four.
#include "ft.h"

#include <math.h>

void ft_plan(struct ft_plan *plan, int n) {
    plan->n = n;
    for (int k = 0; k < n; k++) {
        double angle = 8 * atan(1) * k / n;
        plan->re[k] = cos(angle);
        plan->im[k] = -sin(angle);
    }
}

struct parts {
    double *re, *im;
};

static void by_four(const struct ft_plan *plan, int n, int s, struct parts x, struct parts y) {
    int quarter = n / 4, step = plan->n / n;
    long run = (long)s * FT_LANES, leap = quarter * run;
    for (int p = 0; p < quarter; p++) {
        double c1 = plan->re[p * step], s1 = plan->im[p * step], c2 = plan->re[2 * p * step],
               s2 = plan->im[2 * p * step], c3 = plan->re[3 * p * step],
               s3 = plan->im[3 * p * step];
        const double *xr = x.re + p * run, *xi = x.im + p * run;
        double *yr = y.re + 4 * p * run, *yi = y.im + 4 * p * run;
#pragma omp simd
        for (long q = 0; q < run; q++) {
            double sum_r = xr[q] + xr[q + 2 * leap], sum_i = xi[q] + xi[q + 2 * leap];
            double dif_r = xr[q] - xr[q + 2 * leap], dif_i = xi[q] - xi[q + 2 * leap];
            double odd_r = xr[q + leap] + xr[q + 3 * leap],
                   odd_i = xi[q + leap] + xi[q + 3 * leap];
            // i times the difference of points 1 and 3.
            double turn_r = xi[q + 3 * leap] - xi[q + leap],
                   turn_i = xr[q + leap] - xr[q + 3 * leap];
            double a_r = dif_r - turn_r, a_i = dif_i - turn_i;
            double b_r = sum_r - odd_r, b_i = sum_i - odd_i;
            double d_r = dif_r + turn_r, d_i = dif_i + turn_i;
            yr[q] = sum_r + odd_r;
            yi[q] = sum_i + odd_i;
            yr[q + run] = c1 * a_r - s1 * a_i;
            yi[q + run] = c1 * a_i + s1 * a_r;
            yr[q + 2 * run] = c2 * b_r - s2 * b_i;
            yi[q + 2 * run] = c2 * b_i + s2 * b_r;
            yr[q + 3 * run] = c3 * d_r - s3 * d_i;
            yi[q + 3 * run] = c3 * d_i + s3 * d_r;
        }
    }
}

static void by_two(int s, struct parts x, struct parts y) {
    long run = (long)s * FT_LANES;
#pragma omp simd
    for (long q = 0; q < run; q++) {
        double r = x.re[q], i = x.im[q], other_r = x.re[q + run], other_i = x.im[q + run];
        y.re[q] = r + other_r;
        y.im[q] = i + other_i;
        y.re[q + run] = r - other_r;
        y.im[q + run] = i - other_i;
    }
}

struct ft_block *ft_lines(const struct ft_plan *plan, struct ft_block *a, struct ft_block *b,
                          bool backwards) {
    int s = 1;
    for (int n = plan->n; n > 1; n /= n > 2 ? 4 : 2) {
        // With real and imaginary parts in each other's place the sign is the other one.
        struct parts x = backwards ? (struct parts){a->im, a->re} : (struct parts){a->re, a->im};
        struct parts y = backwards ? (struct parts){b->im, b->re} : (struct parts){b->re, b->im};
        struct ft_block *was = a;
        if (n > 2)
            by_four(plan, n, s, x, y);
        else
            by_two(s, x, y);
        s *= n > 2 ? 4 : 2;
        a = b;
        b = was;
    }
    return a;
}
