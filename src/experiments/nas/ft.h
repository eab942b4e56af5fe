// SPDX-License-Identifier: BSD-3-Clause
// One-dimensional transforms of NAS FT, and its published checksums.
#ifndef COTEJO_NAS_FT_H
#define COTEJO_NAS_FT_H

#include <complex.h>
#include <stdbool.h>

enum { FT_LANES = 8, FT_ITERATIONS_MOST = 20, FT_POINTS_MOST = 512 };

// A transform of n points, a power of 2 up to FT_POINTS_MOST.
struct ft_plan {
    int n;
    double re[FT_POINTS_MOST], im[FT_POINTS_MOST]; // roots of one: e^(-2 pi i k / n)
};

// Points of FT_LANES interleaved lines; real and imaginary parts are in separate arrays.
struct ft_block {
    double re[FT_POINTS_MOST * FT_LANES], im[FT_POINTS_MOST * FT_LANES];
};

void ft_plan(struct ft_plan *plan, int n);

// Transforms all lines of `a`; `b` is room. Backwards: the other sign, neither is normalised.
// Returns which of the two has the result.
struct ft_block *ft_lines(const struct ft_plan *plan, struct ft_block *a, struct ft_block *b,
                          bool backwards);

// By class and iteration (RNR-94-007 and NAS's own of later classes).
extern const double complex ft_published[][FT_ITERATIONS_MOST];

#endif
