// SPDX-License-Identifier: BSD-3-Clause
// The experiment `fft` beyond its declaration; only where the build has FFTW.
#pragma once

#include "bench.h"

void fft_study(struct bench *bench);
