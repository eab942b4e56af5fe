// SPDX-License-Identifier: BSD-3-Clause
// NAS EP: pairs of Gaussian deviates, counted by square annuli. No messages but the last sums.
#include "nas.h"

enum { ANNULI = 10, CHUNK = 1 << 10 }; // pairs of a chunk stay in the first cache

static const struct {
    int log2_pairs;
    double x, y; // the published sums
} problems[] = {
    {24, -3.247834652034740e3, -6.958407078382297e3},
    {25, -2.863319731645753e3, -6.320053679109499e3},
    {28, -4.295875165629892e3, -1.580732573678431e4},
    {30, 4.033815542441498e4, -2.660669192809235e4},
    {32, 4.764367927995374e4, -8.084072988043731e4},
};

struct ep {
    double sums[2 + ANNULI]; // of x, of y, pairs in each annulus
};

// Adds the chunk of pairs that begins at pair number `chunk` * CHUNK.
static void add_chunk(long chunk, double *sums) {
    const uint64_t twice = nas_step(NAS_MULTIPLIER, NAS_MULTIPLIER);
    double numbers[2 * CHUNK];
    uint64_t even =
        nas_step(UINT64_C(271828183), nas_power(NAS_MULTIPLIER, 2 * (uint64_t)chunk * CHUNK + 1));
    uint64_t odd = nas_step(even, NAS_MULTIPLIER);
    for (int i = 0; i < 2 * CHUNK; i += 2) {
        numbers[i] = 2 * nas_real(even) - 1;
        numbers[i + 1] = 2 * nas_real(odd) - 1;
        even = nas_step(even, twice);
        odd = nas_step(odd, twice);
    }
    for (int i = 0; i < 2 * CHUNK; i += 2) {
        double x = numbers[i], y = numbers[i + 1], square = x * x + y * y;
        if (square <= 1) {
            double scale = sqrt(-2 * log(square) / square), u = x * scale, v = y * scale;
            sums[0] += u;
            sums[1] += v;
            sums[2 + (int)fmax(fabs(u), fabs(v))]++;
        }
    }
}

static void count(struct nas *nas, long chunks) {
    struct ep *ep = nas->state;
    long first, end;
    nas_share(chunks, nas->rank, nas->size, &first, &end);
    double sums[2 + ANNULI] = {0};
#pragma omp parallel
    {
        double mine[2 + ANNULI] = {0};
#pragma omp for schedule(runtime)
        for (long chunk = first; chunk < end; chunk++)
            add_chunk(chunk, mine);
#pragma omp critical
        for (int i = 0; i < 2 + ANNULI; i++)
            sums[i] += mine[i];
    }
    MPI_Allreduce(sums, ep->sums, 2 + ANNULI, MPI_DOUBLE, MPI_SUM, nas->comm);
}

static void set_up(struct nas *nas) {
    int log2 = problems[nas->class].log2_pairs;
    nas->mop = ldexp(1e-6, log2 + 1);
    nas->state = nas_owned(nas, sizeof(struct ep));
}

static void run(struct nas *nas, bool complete) {
    count(nas, complete ? (1L << problems[nas->class].log2_pairs) / CHUNK
                        : 64L * nas->size * nas->threads);
}

static double departure(struct nas *nas) {
    const struct ep *ep = nas->state;
    double x = problems[nas->class].x, y = problems[nas->class].y, pairs = 0;
    for (int i = 0; i < ANNULI; i++)
        pairs += ep->sums[2 + i];
    // The share of a circle in its square is pi / 4; six standard errors of that many draws.
    double n = ldexp(1, problems[nas->class].log2_pairs), share = atan(1);
    double lost = fabs(pairs - n * share) / (6 * sqrt(n * share * (1 - share)));
    return fmax(lost, fmax(fabs((ep->sums[0] - x) / x), fabs((ep->sums[1] - y) / y)) / 1e-8);
}

NAS_MEASURE("ep", NULL)

const struct experiment nas_ep = {
    .name = "nas-ep",
    .summary = "NAS EP: Gaussian deviates, without communication",
    .what = "Time of one run, from the first number to the sums that every rank has; Mop are 2 "
            "for each pair.\nMethod: Bailey et al., NAS Parallel Benchmarks, RNR-94-007 (1994), "
            "ch. 2; verified by its sums.",
    NAS_MEMBERS(nas_columns),
};
