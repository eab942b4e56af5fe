// SPDX-License-Identifier: BSD-3-Clause
// The experiment `fft` beyond its declaration; only where the build has FFTW.
#ifndef COTEJO_EXPERIMENTS_FFT_STUDY_H
#define COTEJO_EXPERIMENTS_FFT_STUDY_H

#include "bench.h"

void fft_study(struct bench *bench);

#endif
