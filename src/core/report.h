// SPDX-License-Identifier: BSD-3-Clause
// Report lines of one launch in the manner of MPIPerf (Kurnosov 2012): trimmed means with
// intervals. They serve for reading and for comparison with that tool; the analysis uses the
// samples.
#pragma once

#include "bench.h"

// Declares --report and --trim.
extern const struct option report_options[];

// Mean of n values without the g smallest and the g largest.
struct trimmed {
    size_t n, kept;           // kept = n - 2 g
    double mean, least, most; // of those kept
    double error;             // standard error of the mean, by the Winsorised variance
};

// `trim` is the share left out, both ends together, as in MPIPerf. The standard error is that of
// Yuen, Biometrika 61 (1974): sqrt(SSD_w / (h (h - 1))), h kept, SSD_w the Winsorised sum of
// squared deviations; NaN for h < 2. Sorts `values`.
struct trimmed trimmed_mean(double *values, size_t n, double trim);

// Quantile of Student's distribution for the two-sided interval of probability p in (0, 1);
// freedom >= 1.
double student(double p, long freedom);

// Prints the lines that --report asks for: one for each operation and size. Only rank 0 prints.
void report_print(const struct bench *bench);
