// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the NAS kernels. Bailey et al., The NAS Parallel Benchmarks, RNR-94-007 (1994):
// written from that specification; classes W, B, C and operation counts as NAS publishes them.
#pragma once

#include "experiment.h"

// Columns of a kernel's own, behind those of all.
enum { NAS_COLUMNS = SAMPLER_COLUMNS + 3, NAS_OWN_MOST = COLUMNS_MOST - NAS_COLUMNS };

// One run of one kernel of one class on the ranks of `comm`, `threads` OpenMP threads each.
struct nas {
    const struct nas_kernel *kernel;
    MPI_Comm comm;
    int rank, size, threads;
    int class; // index into NAS_CLASSES
    const struct clock *clock;
    struct failure *failure;
    double mop;               // millions of operations of a run, as NAS counts them
    double received;          // B that this rank got from others
    void *state;              // of the kernel, owned by it
    double own[NAS_OWN_MOST]; // what the last run found for the kernel's own columns, on rank 0
    void **owned;             // by nas_owned
    int owned_count;
};

#define NAS_CLASSES "SWABCD"

struct nas_kernel {
    const char *name;
    const void *variant; // of those that several kernels share
    char largest;        // class that it has; 0: C
    // Makes the input, untimed, and sets `mop`. Impossible options are a failure, agreed by the
    // caller.
    void (*open)(struct nas *nas);
    // Puts back what a run changes; NULL: nothing. Untimed.
    void (*reset)(struct nas *nas);
    // The run that NAS times, or a part of it, so that nothing in a run is the first of its kind.
    void (*run)(struct nas *nas, bool complete);
    // Returns the error of the last run's result against the published one, over the allowed
    // error: right up to 1. Collective; the same on all ranks.
    double (*departure)(struct nas *nas);
};

// Declares --class, --threads, --schedule and --chunk.
extern const struct option nas_options[];
extern const struct column nas_columns[];
#define NAS_COMMON_COLUMNS                                                                        \
    SAMPLER_COLUMN_ROWS, {"threads", "", "threads of each rank"},                                 \
        {"mop", "",                                                                               \
         "operations of a run in millions, as NAS counts them, of all ranks together"},           \
    {                                                                                             \
        "rate_mops", "Mop/s", "operations a second"                                               \
    }
// The level of threads that a kernel needs of MPI.
int nas_threads(const struct options *options);

// Takes samples of a kernel, each one run; the slowest rank's time. Each run is verified, and a
// wrong one is a failure, never a sample. Collective over bench->comm.
void nas_measure(struct bench *bench, const struct nas_kernel *kernel);

// measure(), the run of an experiment whose kernel has functions of these names, and the members
// that all these experiments have alike.
#define NAS_MEASURE(kernel, reset_of)                                                             \
    static void measure(struct bench *bench) {                                                    \
        nas_measure(bench, &(struct nas_kernel){.name = (kernel),                                 \
                                                .open = set_up,                                   \
                                                .reset = reset_of,                                \
                                                .run = run,                                       \
                                                .departure = departure});                         \
    }
#define NAS_MEMBERS(columns_of)                                                                   \
    .least = 1, .options = {nas_options, PROGRAM_OPTIONS}, .columns = columns_of,                 \
    .threads = nas_threads, .run = measure

// Memory of a kernel, touched by the threads that will use it; NULL: failure set. nas_owned: of
// the kernel's state, freed after its last run.
void *nas_memory(struct nas *nas, size_t bytes);
void *nas_owned(struct nas *nas, size_t bytes);

// x(k+1) = 5^13 x(k) mod 2^46, the generator of the specification. `x` is the state.
enum { NAS_BITS = 46 };
#define NAS_MULTIPLIER UINT64_C(1220703125)
#define NAS_MASK ((UINT64_C(1) << NAS_BITS) - 1)

static inline double nas_real(uint64_t x) { // in (0, 1)
    return (double)(int64_t)x * 0x1p-46;
}

static inline uint64_t nas_step(uint64_t x, uint64_t multiplier) {
    return (x * multiplier) & NAS_MASK; // products mod 2^64 are right mod 2^46
}

// multiplier^n mod 2^46: what jumps n steps at once.
uint64_t nas_power(uint64_t multiplier, uint64_t n);

// Sum over all ranks.
double nas_sum(const struct nas *nas, double mine);

// The share of `n` things that part `i` of `parts` has: [*first, *end).
void nas_share(long n, int i, int parts, long *first, long *end);

// The keys of IS: the buckets at which the parts of `size` ranks begin, and IS_BUCKETS behind the
// last, so that all get about as many keys; `below` are the keys in lower buckets.
enum { IS_BUCKETS = 1 << 10 };
void is_cuts(const long *below, long total, int size, int *cuts);
