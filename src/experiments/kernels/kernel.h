// SPDX-License-Identifier: BSD-3-Clause
// The common parts of FFT and radix sort: repetitions of a program, its phases, and its messages.
#pragma once

#include "experiment.h"

enum { KERNEL_PHASES = 3 };

// Measurements of one rank during one run. A kernel adds to them; the time of a phase is wall
// time.
struct account {
    double phase_s[KERNEL_PHASES];
    double messages, bytes; // sent to other ranks by this one
};

// The columns behind those of a kernel's own factor and its three phases.
#define KERNEL_COLUMN_ROWS                                                                        \
    {"messages", "messages", "messages that one rank sent, the most of any"},                     \
        {"sent_bytes", "B", "bytes that one rank sent, the most of any"}, {                       \
        "peak_bytes", "B",                                                                        \
            "memory that the operation took on the rank where it took most, its data too"         \
    }

struct kernel {
    const char *operation;
    size_t bytes;           // of one message
    double factor;          // value of the first column
    double resident_before; // B in memory before the kernel's buffers were made
    struct account *account;
    void (*prepare)(void *state); // before each run, untimed: the same input every time
    void (*run)(void *state);
    // Whether the last run was right; may run more, agrees among the ranks.
    void (*check)(void *state, struct failure *failure);
    void *state;
    // Set by kernel_measure.
    struct bench *bench;
    size_t from; // its first sample
    bool peak_known;
};

// Takes samples of a kernel, a run each. A sample's phases are those of the rank that took
// longest, so that they belong to its time. The first run and the last one are checked, and the
// first is never a sample. Collective; failure agreed.
void kernel_measure(struct sampler *sampler, struct kernel *kernel);

// Memory of this process that is resident now, B; NaN where the operating system has no value.
double kernel_resident(void);

// The experiment `fft` beyond its declaration; only where the build has FFTW.
void fft_study(struct bench *bench);
